// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Asset streaming: from files on disk to host memory, buffers and images. Library: sluice_stream,
// which links sluice. docs/streaming.md is its manual: states, threads, memory, examples.
//
// An engine submits groups of requests. A request names bytes of an archive's asset, of a plain
// file or of memory, and where they go. A group is the unit of priority, cancellation, completion
// and error. Once a frame the engine calls sluiceStreamPoll, reacts to events, and has
// sluiceStreamRecord put as much decoding and copying into its own command buffer as a budget
// allows.
//
//   Owns      threads, file descriptors, and host memory of a size that is fixed when it is created
//             or a file is opened. No device memory and no queue: those are the engine's.
//   Blocks    never. A full streamer returns NOT_READY, and has taken nothing. No lock is held
//             across a system or driver call.
//   Allocates in sluiceCreateStreamer and while a file is opened, and nowhere else.
//   Threads   Submit, SetPriority, Cancel, Open, Close, Pump, GetCounters and the questions about
//             files may be called from any thread at any time. Record, Discard, Complete and Poll:
//             one thread at a time, one of them at a time.
//   Hostile   No size from a file decides an allocation after its index was checked; nothing is
//   files     written outside the destinations that requests name; damage is found by checksums.
#ifndef SLUICE_STREAM_H
#define SLUICE_STREAM_H

#include <sluice/sluice.h>
#include <sluice/sluice_formats.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SluiceStreamer_T* SluiceStreamer;
typedef struct SluiceStreamFile_T* SluiceStreamFile;
typedef uint64_t SluiceStreamGroup; // never 0, never used again

// -----------------------------------------------------------------------------------------------
// Creation

// A buffer and the host's view of the same bytes. host is coherent, or the engine flushes it before
// each submit and invalidates it before each poll.
typedef struct SluiceStreamMemory {
    SluiceBuffer buffer;
    void* host;
} SluiceStreamMemory;

struct SluiceStreamGpu; // sluice_stream_vulkan.h, sluice_stream_cuda.h

// How files that sluiceStreamOpen opens by path are read. An engine's own files are its own matter.
// A way that the system, the file or its memory does not take is given up for the next one below,
// as soon as that is seen, for good; sluiceStreamGetIoReport says so.
typedef enum SluiceStreamIo {
    SLUICE_STREAM_IO_AUTO = 0,   // PREAD, for what was measured: docs/notes/streaming.md
    SLUICE_STREAM_IO_PREAD = 1,  // the streamer's threads, through the page cache
    SLUICE_STREAM_IO_DIRECT = 2, // the same, past it (O_DIRECT): for archives that are read once
    SLUICE_STREAM_IO_MAX_ENUM = 0x7fffffff
} SluiceStreamIo;

#define SLUICE_STREAM_READ_SIZE 1048576u   // bytes that one read has at most
#define SLUICE_STREAM_BLOCK_SIZE 4194304u  // bytes of output that one unit takes at most
#define SLUICE_STREAM_MIN_SOURCE 4194304u  // the least that the ring of stored bytes has
#define SLUICE_STREAM_MIN_OUTPUT 16777216u // the least that the ring of decoded bytes has
// A zero in these members of SluiceStreamerInfo stands for:
#define SLUICE_STREAM_BATCH_TILES 1024u       // maxBatchTiles
#define SLUICE_STREAM_GSTD_TILES 256u         // gstdTilesAtOnce: 128 MiB of scratch
#define SLUICE_STREAM_FILTERED_SIZE 67108864u // maxFilteredSize: so many bytes of scratch

// How a streamer works.
//   context        decodes for buffers and images: a context of the gpu's API, or one of the CPU,
//                  with which threads of the streamer (or sluiceStreamPump) decode and the GPU only
//                  copies. Host memory is always decoded into by the CPU. It outlives the streamer
//   gpu            sluice_stream_vulkan.h or sluice_stream_cuda.h makes it. NULL: there are no
//                  images, and a buffer's handle is a host pointer
//   source         ring of stored bytes, read into by the host, read from by the device;
//                  SLUICE_STREAM_MIN_SOURCE bytes or more, host 64-byte aligned. Usage: transfer
//                  source, and storage where the GPU decodes. Its host view is cached memory best:
//                  the kernel writes it, and the CPU may decode from it
//   output         ring of decoded bytes on their way to images, and to places in buffers where a
//                  tile cannot be decoded directly; SLUICE_STREAM_MIN_OUTPUT bytes or more. Usage:
//                  transfer source, and storage where the GPU decodes. host is needed where the CPU
//                  decodes (context is of the CPU); else it may be NULL. Neither is needed without
//                  gpu
//   control, results, scratch  as sluiceGetStreamerRequirements says; only where the GPU decodes.
//                  results is cached best: the host reads it
//   maxGroups      groups under way, 1 .. 65,536; a group is under way until its END event is
//                  polled
//   maxRequests    requests of groups under way
//   maxUnits       reads and decodes under way, together; 0: 1,024
//   maxBatches     batches recorded and not complete, 1 .. 16: frames in flight + 1
//   maxBatchTiles  tiles of one batch, 256 .. 65,536; 0: SLUICE_STREAM_BATCH_TILES
//   gstdTilesAtOnce, as in SluiceTilesInfo; 0: SLUICE_STREAM_GSTD_TILES
//   maxFilteredSize  bytes of filtered tiles in one batch; 0: SLUICE_STREAM_FILTERED_SIZE
//   threads        that read and decode, 1 .. 64; 0: none, and the engine calls sluiceStreamPump
//   reserveAbove   groups of a priority below this one leave a quarter of the rings, of the units
//                  and of maxGroups and maxRequests to others
//   io             how files are read
//   wake, wakeUser may be NULL: called, from any thread, when sluiceStreamPump has something to do
//                  that it had not before. It must return soon and call nothing of the streamer
typedef struct SluiceStreamerInfo {
    SluiceContext context;
    const struct SluiceStreamGpu* gpu;
    SluiceStreamMemory source;
    SluiceStreamMemory output;
    SluiceStreamMemory control;
    SluiceStreamMemory results;
    SluiceBuffer scratch;
    uint32_t maxGroups;
    uint32_t maxRequests;
    uint32_t maxUnits;
    uint32_t maxBatches;
    uint32_t maxBatchTiles;
    uint32_t gstdTilesAtOnce;
    uint64_t maxFilteredSize;
    uint32_t threads;
    int32_t reserveAbove;
    void (*wake)(void* user);
    void* wakeUser;
    SluiceStreamIo io;
} SluiceStreamerInfo;

// Bytes of memory that batches need. All are 0 where the CPU decodes.
typedef struct SluiceStreamerRequirements {
    uint64_t controlSize;
    uint64_t resultsSize;
    uint64_t scratchSize;
    uint64_t alignment; // of each of them, in bytes
    uint32_t kernels;   // SluiceKernels that any archive may need, for sluiceCreatePipelines;
                        // sluiceStreamGetKernels says which a file does
} SluiceStreamerRequirements;

// Reads context, maxBatches, maxBatchTiles, gstdTilesAtOnce and maxFilteredSize. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetStreamerRequirements(const SluiceStreamerInfo* info,
                                                      SluiceStreamerRequirements* requirements);

// Creates a streamer and starts its threads. Errors: ARGUMENT, BUFFER_SIZE, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateStreamer(const SluiceStreamerInfo* info,
                                             SluiceStreamer* streamer);

// Waits for reads under way and destroys the streamer, its files and its groups, whose events do
// not come any more. No recorded batch may still run. NULL is allowed.
SLUICE_API void sluiceDestroyStreamer(SluiceStreamer streamer);

// Does up to `jobs` reads and decodes in the calling thread, the most urgent first.
//   done   may be NULL; receives how many there were; fewer than `jobs` if nothing more is to be
//          done now
// Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamPump(SluiceStreamer streamer, uint32_t jobs, uint32_t* done);

// Allocates memory that suits a ring in every respect: anonymous, so that files are read into it
// past the page cache and VK_EXT_external_memory_host imports it; at a multiple of 2 MiB, of huge
// pages where the system has them; zeroed.
//   size   bytes; rounded up to a multiple of 2 MiB, all of which may be used and imported
// Errors: ARGUMENT, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceStreamAllocateHost(uint64_t size, void** memory);
// Frees it, with the size that it was allocated with: after the streamer, and after the
// VkDeviceMemory that imports it. NULL is allowed.
SLUICE_API void sluiceStreamFreeHost(void* memory, uint64_t size);

// -----------------------------------------------------------------------------------------------
// Files

// An engine's own file. read is called from the streamer's threads, several at a time, and from
// sluiceStreamPump; it returns how many bytes it has read, fewer than `size` only at the end, or
// the negative number of an error (an errno).
typedef struct SluiceStreamFileInterface {
    void* user;
    uint64_t size; // bytes
    int64_t (*read)(void* user, uint64_t offset, void* bytes, uint64_t size);
    void (*close)(void* user); // may be NULL; called once, when nothing reads any more
} SluiceStreamFileInterface;

// Opens an archive or a plain file.
//   path       UTF-8; NULL: functions are called instead
//   isArchive  1: a .sluice archive, whose header, index and tile records are read and checked; 0:
//              bytes
//   user       comes back in the event
typedef struct SluiceStreamOpenInfo {
    const char* path;
    const SluiceStreamFileInterface* functions;
    uint32_t isArchive;
    uint64_t user;
} SluiceStreamOpenInfo;

// Starts opening a file; an OPENED event says how it ended. Until then groups cannot name it. Host
// memory of an archive: its index, and 32 bytes a tile. Errors: ARGUMENT, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceStreamOpen(SluiceStreamer streamer, const SluiceStreamOpenInfo* info,
                                         SluiceStreamFile* file);

// Gives a file up, also one that could not be opened or is being opened. Groups that name it go on;
// it is closed when the last of them has ended. No other call may name it from here on. Errors:
// ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamClose(SluiceStreamer streamer, SluiceStreamFile file);

// About an archive that has been opened (NOT_READY before that). Names and parameters point into
// the file's memory. Errors: ARGUMENT, NOT_READY.
SLUICE_API SluiceStatus sluiceStreamGetArchive(SluiceStreamFile file, SluiceArchive* archive);
SLUICE_API SluiceStatus sluiceStreamFindAsset(SluiceStreamFile file, const char* name,
                                              size_t nameLength, uint32_t* asset);
SLUICE_API SluiceStatus sluiceStreamGetAsset(SluiceStreamFile file, uint32_t asset,
                                             SluiceArchiveAsset* info);
// SluiceKernels that the archive's tiles need where the GPU decodes.
SLUICE_API SluiceStatus sluiceStreamGetKernels(SluiceStreamFile file, uint32_t* kernels);

// How a file is read now.
//   io         PREAD or DIRECT; AUTO for an engine's own file
//   alignment  of direct reads in the file and in memory, bytes; 0: there are none. Where the parts
//              of a read do not lie so, its edges go through the page cache; what the ring takes
//              from archives always lies so
//   osError    the errno for which DIRECT was given up, or 0
//   reason     why it is not read in a better way; a text of the library's
typedef struct SluiceStreamIoReport {
    SluiceStreamIo io;
    uint32_t alignment;
    int32_t osError;
    const char* reason;
} SluiceStreamIoReport;

// About a file that has been opened. Errors: ARGUMENT, NOT_READY.
SLUICE_API SluiceStatus sluiceStreamGetIoReport(SluiceStreamFile file,
                                                SluiceStreamIoReport* report);

// -----------------------------------------------------------------------------------------------
// Requests

typedef enum SluiceStreamSource {
    SLUICE_STREAM_FROM_ARCHIVE =
        0,                         // decoded bytes [offset, offset + size) of an asset, also of one
                                   // that shares its tiles (as a part of a tile does, it takes
                                   // the output ring to a buffer)
    SLUICE_STREAM_FROM_FILE = 1,   // bytes of a file as they are, any file
    SLUICE_STREAM_FROM_MEMORY = 2, // bytes at `memory`, which stay until the group has ended
    SLUICE_STREAM_SOURCE_MAX_ENUM = 0x7fffffff
} SluiceStreamSource;

typedef enum SluiceStreamTarget {
    SLUICE_STREAM_TO_HOST = 0,   // `host`, size bytes
    SLUICE_STREAM_TO_BUFFER = 1, // `buffer`, of size bytes. Usage: transfer destination, and
                                 // storage where the GPU decodes; then the VkBuffer's address is a
                                 // multiple of 16, and it reaches to the next multiple of 4
    SLUICE_STREAM_TO_IMAGE = 2,  // `image`
    SLUICE_STREAM_TARGET_MAX_ENUM = 0x7fffffff
} SluiceStreamTarget;

// A box of one level of an image, all of whose bytes the request delivers: layer after layer, slice
// after slice, row after row of blocks, without padding, as KTX2 stores a level. Numbers of Vulkan
// (layouts, stages, accesses, families) stand as they are in vulkan_core.h.
//   image        VkImage; usage: transfer destination
//   blockWidth, blockHeight, blockSize  of the format: texels, texels, bytes (1, 1, 4 for RGBA8; 4,
//                4, 16 for BC7). One plane of color alone
//   level, firstLayer, layerCount       layerCount >= 1
//   offset, extent  texels: offset a multiple of the block, extent too unless it ends at the
//                level's edge
//   oldLayout    of the level's layers before: UNDEFINED lets their contents go
//   newLayout    of them afterwards
//   stages, accesses  that use the level afterwards, for the barrier; 0: ALL_COMMANDS, MEMORY_READ
//   sourceFamily, destinationFamily  equal: no transfer of ownership. Else the batch's queue is of
//                sourceFamily, and the barrier at the end releases the level to destinationFamily,
//                which acquires it with the same layouts (TRANSFER_DST_OPTIMAL to newLayout)
// At most one request of a level's layers is under way at a time, for it changes the layout of all
// of them. If the group does not end OK the contents and the layout of the level are unspecified:
// use UNDEFINED as its old layout afterwards.
typedef struct SluiceStreamImage {
    uint64_t image;
    uint32_t blockWidth, blockHeight, blockSize;
    uint32_t level, firstLayer, layerCount;
    uint32_t offset[3], extent[3];
    uint32_t oldLayout, newLayout;
    uint32_t stages, accesses;
    uint32_t sourceFamily, destinationFamily;
} SluiceStreamImage;

typedef struct SluiceStreamRequest {
    SluiceStreamSource source;
    SluiceStreamTarget target;
    SluiceStreamFile file; // archive, file
    uint32_t asset;        // archive
    const void* memory;    // memory
    uint64_t offset;       // archive, file: bytes
    uint64_t size;         // bytes, 0 .. 2^48; archive: as decoded
    void* host;
    SluiceBuffer buffer; // whose size is `size`
    SluiceStreamImage image;
} SluiceStreamRequest;

// Makes the requests that fill levels of an image asset of an archive (sluice_image.h): one a
// level, or, where layers are apart as in DDS files, one a level and layer.
//   firstLevel, levelCount  of the asset's levels
//   image      what is the same in all requests: image, oldLayout, newLayout, stages, accesses,
//              families; level is the level of the VkImage that firstLevel goes to, and firstLayer
//              the layer that the asset's first one goes to; the rest is not read
//   requests   receives them; the file and the image are all that they refer to
//   count      in: room; out: how many there are (also with BUFFER_SIZE)
// Errors: ARGUMENT (no such level; the asset is no image), NOT_READY, FORMAT, VERSION,
// UNSUPPORTED (UASTC, which has no format of Vulkan), BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceStreamGetImageRequests(SluiceStreamFile file, uint32_t asset,
                                                     uint32_t firstLevel, uint32_t levelCount,
                                                     const SluiceStreamImage* image,
                                                     SluiceStreamRequest* requests,
                                                     uint32_t* count);

// Waits for a timeline semaphore of Vulkan, or signals it; semaphore 0: not. Needs gpu.
typedef struct SluiceStreamSync {
    uint64_t semaphore; // VkSemaphore, of type timeline
    uint64_t value;
} SluiceStreamSync;

typedef enum SluiceStreamGroupFlags {
    SLUICE_STREAM_TELL_RECORDED = 1, // a RECORDED event comes too
    SLUICE_STREAM_GROUP_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceStreamGroupFlags;

// Requests that belong together.
//   requests   read during the call; 1 or more. Their destinations must not overlap, and belong to
//              the streamer until the END event
//   priority   higher goes first; groups of equal priority in the order of submission
//   flags      SluiceStreamGroupFlags, or-ed
//   tag        for sluiceStreamCancelTags
//   user       comes back in events
//   wait       nothing of the group is begun before the semaphore has the value
//   signal     the host signals it when the group has ended, whatever its status. Groups that
//              signal one semaphore do so in the order of submission, with ascending values; nobody
//              else signals it
typedef struct SluiceStreamGroupInfo {
    const SluiceStreamRequest* requests;
    uint32_t requestCount;
    int32_t priority;
    uint32_t flags;
    uint64_t tag;
    uint64_t user;
    SluiceStreamSync wait;
    SluiceStreamSync signal;
} SluiceStreamGroupInfo;

// Submits a group. Errors: ARGUMENT (a range outside its asset, a size that is not the
// destination's, a value that does not ascend ...), NOT_READY (no room, or a file that is not open
// yet; nothing is taken), UNSUPPORTED (an image or a semaphore without gpu; a row of more than 1
// MiB), IO (a file that could not be opened).
SLUICE_API SluiceStatus sluiceStreamSubmit(SluiceStreamer streamer,
                                           const SluiceStreamGroupInfo* info,
                                           SluiceStreamGroup* group);

// Changes what is not recorded yet. A group that has ended is left alone. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamSetPriority(SluiceStreamer streamer, SluiceStreamGroup group,
                                                int32_t priority);

// Cancels a group, or all with (tag & mask) == value: nothing more of it is begun, and it ends with
// CANCELLED after the last access to its destinations, or, if all of it was recorded already, as it
// would have. A group that has ended is left alone. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamCancel(SluiceStreamer streamer, SluiceStreamGroup group);
SLUICE_API SluiceStatus sluiceStreamCancelTags(SluiceStreamer streamer, uint64_t mask,
                                               uint64_t value);

// -----------------------------------------------------------------------------------------------
// Recording

// How much a batch may hold. What goes over is left for later, but the first unit always goes in.
//   milliseconds  of the GPU, as predicted from what earlier batches took; 0: nothing is recorded;
//                 FLT_MAX: no limit
//   bytes         decoded; 0: no limit
//   copies        into buffers and images; 0: no limit
//   minTiles, maxAge  fewer tiles than this are recorded only if the oldest has waited for so many
//                 calls: small batches take almost as long as large ones. 0: no matter
//   semaphore, value  the timeline semaphore that the engine's submit of this command buffer
//                 signals, and the value. Values of successive batches ascend. semaphore 0: the
//                 engine calls sluiceStreamComplete instead
typedef struct SluiceStreamBudget {
    float milliseconds;
    uint64_t bytes;
    uint32_t copies;
    uint32_t minTiles;
    uint32_t maxAge;
    uint64_t semaphore;
    uint64_t value;
} SluiceStreamBudget;

typedef struct SluiceStreamBatch {
    uint64_t
        number; // 0: nothing was recorded; the semaphore need not be signalled for the streamer
    uint32_t tiles;
    uint32_t copies;
    uint64_t bytesIn, bytesOut;
    float predictedMilliseconds;
} SluiceStreamBatch;

// Records decodes and copies into `commands` (a VkCommandBuffer, outside a render pass, on a queue
// with compute, or with graphics where the CPU decodes; NULL without gpu), the most urgent first,
// with every barrier between them and towards the uses that requests name; buffers: towards all
// commands. Batches are submitted in the order in which they were recorded, to one queue. Clobbers
// what sluice commands clobber. Errors: ARGUMENT, DEVICE; NOT_READY: a pipeline is missing
// (sluiceStreamGetKernels), and nothing was recorded.
SLUICE_API SluiceStatus sluiceStreamRecord(SluiceStreamer streamer, SluiceCommands commands,
                                           const SluiceStreamBudget* budget,
                                           SluiceStreamBatch* batch);

// Takes the newest batch back, whose command buffer will never be submitted: it will be recorded
// again, and RECORDED events of it come again if they had been polled. Errors: ARGUMENT (it is not
// the newest of those under way).
SLUICE_API SluiceStatus sluiceStreamDiscard(SluiceStreamer streamer, uint64_t batch);

// The GPU has done all batches up to this one; for engines that use fences. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamComplete(SluiceStreamer streamer, uint64_t batch);

// The device is lost: groups that need it end with DEVICE, also those that come. Calls stay legal.
SLUICE_API SluiceStatus sluiceStreamDeviceLost(SluiceStreamer streamer);

// -----------------------------------------------------------------------------------------------
// Events

typedef enum SluiceStreamEventKind {
    SLUICE_STREAM_OPENED = 0, // a file: status, file, user
    SLUICE_STREAM_RECORDED =
        1,                 // all of a group is recorded: GPU work that waits for `value` may use
                           // its destinations if it ends OK
    SLUICE_STREAM_END = 2, // a group has ended: exactly one for each group, after the last
                           // access to its destinations
    SLUICE_STREAM_EVENT_KIND_MAX_ENUM = 0x7fffffff
} SluiceStreamEventKind;

typedef struct SluiceStreamEvent {
    SluiceStreamEventKind kind;
    SluiceStatus status; // OK; IO, CHECKSUM (a tile is damaged: tileStatus), DEVICE, CANCELLED;
        // UNSUPPORTED or BUFFER_SIZE where an archive has tiles so small, or so many
        // filters, that a row of an image or a unit is more than a batch can hold.
        // OPENED: also FORMAT, VERSION, OUT_OF_MEMORY, BUFFER_SIZE (cut off)
    SluiceStreamGroup group;
    SluiceStreamFile file;
    uint64_t user, tag;
    uint32_t failedRequests; // of the group
    uint32_t firstRequest;   // the first of them; 0xffffffff: none
    uint32_t firstTile;      // of that request's asset, the tile at fault; 0xffffffff: none
    uint32_t tileStatus;     // SluiceTileStatus of it
    int32_t osError;         // errno of the read at fault, or 0
    uint64_t fileOffset;     // of the read or tile at fault
    uint64_t value;          // of the last batch that had a part of the group; 0: none had
} SluiceStreamEvent;

// Looks which batches are complete, signals what ended groups signal, and gives events.
//   count   in: room in events; out: how many were given. The rest come with the next call
// Errors: ARGUMENT, DEVICE (once, when a device is found lost).
SLUICE_API SluiceStatus sluiceStreamPoll(SluiceStreamer streamer, SluiceStreamEvent* events,
                                         uint32_t* count);

// A file descriptor that is readable while groups that need no GPU any more have events to poll
// (an eventfd of Linux, which sluiceStreamPoll resets); -1 where there is none. Completion of
// batches does not make it readable.
SLUICE_API int sluiceStreamEventFd(SluiceStreamer streamer);

// Where everything is. Sizes in bytes.
typedef struct SluiceStreamCounters {
    uint32_t groups;                             // under way
    uint32_t requests;                           // of them
    uint32_t reading, decoding, ready, recorded; // units
    uint64_t sourceUsed, outputUsed;
    // Since creation; tiles that were wanted in parts count as a whole, and once where a thread of
    // the CPU needed the same one for several requests in a row.
    uint64_t bytesRead, bytesDecoded;
    uint64_t wastedBytes;        // read for groups that were cancelled
    uint32_t retriedTiles;       // decoded again by the CPU
    float floorMilliseconds;     // the cost model: of a batch of one tile of 64 KiB
    float millisecondsPerMiB[4]; // in large batches: of decoded GDeflate, Gstd, float; of copies
    float predictionError; // of the last batches: the mean of |predicted - measured| / measured
} SluiceStreamCounters;
SLUICE_API SluiceStatus sluiceStreamGetCounters(SluiceStreamer streamer,
                                                SluiceStreamCounters* counters);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_STREAM_H
