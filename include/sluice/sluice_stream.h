// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Streams assets from files on disk to host memory, buffers and images. Library: sluice_stream,
// which links sluice. docs/streaming.md is its manual: states, threads, memory, examples.
//
// An engine submits groups of requests. A request names bytes of an archive's asset, of a plain
// file or of memory, and where they go. A group is the unit of priority, cancellation, completion
// and error. Once a frame the engine calls sluiceStreamPoll, reacts to events, and has
// sluiceStreamRecord put as much decoding and copying into its own command buffer as a budget
// allows.
//
//   Owns      It owns threads, file descriptors, and host memory of a size that is fixed when it is
//             created or a file is opened. Device memory and queues are the engine's.
//   Blocks    It never blocks. A full streamer returns NOT_READY, and has taken nothing. No lock is
//             held across a system or driver call.
//   Allocates It allocates in sluiceCreateStreamer and while a file is opened, and nowhere else.
//   Threads   Submit, SetPriority, Cancel, Open, Close, Pump, GetCounters and the questions about
//             files may be called from any thread at any time. Record, Discard, Complete and Poll
//             are called by one thread at a time, one of them at a time.
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

// A buffer and the host's view of the same bytes.
typedef struct SluiceStreamMemory {
    SluiceBuffer buffer; // the bytes on the device
    // The first of those bytes. They are coherent, or the engine flushes them before each submit
    // and invalidates them before each poll.
    void* host;
} SluiceStreamMemory;

struct SluiceStreamGpu; // sluice_stream_vulkan.h, sluice_stream_cuda.h

// Says how files that sluiceStreamOpen opens by path are read; an engine reads its own files as it
// likes. If the system, the file or its memory does not support a way, the next simpler one is used
// from then on; sluiceStreamGetIoReport says so.
typedef enum SluiceStreamIo {
    SLUICE_STREAM_IO_AUTO = 0,   // PREAD, for reasons that were measured: docs/notes/streaming.md
    SLUICE_STREAM_IO_PREAD = 1,  // the streamer's threads, through the page cache
    SLUICE_STREAM_IO_DIRECT = 2, // the same, past it (O_DIRECT): for archives that are read once
    SLUICE_STREAM_IO_MAX_ENUM = 0x7fffffff
} SluiceStreamIo;

#define SLUICE_STREAM_READ_SIZE 1048576u   // bytes that one read has at most
#define SLUICE_STREAM_BLOCK_SIZE 4194304u  // bytes of output that one unit takes at most
#define SLUICE_STREAM_MIN_SOURCE 4194304u  // bytes that the ring of stored bytes has at least
#define SLUICE_STREAM_MIN_OUTPUT 16777216u // bytes that the ring of decoded bytes has at least
// A zero in these members of SluiceStreamerInfo stands for:
#define SLUICE_STREAM_BATCH_TILES 1024u       // maxBatchTiles
#define SLUICE_STREAM_GSTD_TILES 256u         // gstdTilesAtOnce: 128 MiB of scratch
#define SLUICE_STREAM_FILTERED_SIZE 67108864u // maxFilteredSize: this many bytes of scratch

// Says how a streamer works.
typedef struct SluiceStreamerInfo {
    // It decodes for buffers and images, and outlives the streamer. It is a context of gpu's API,
    // or one of the CPU, with which threads of the streamer (or sluiceStreamPump) decode and the
    // GPU only copies. The CPU always decodes what goes to host memory.
    SluiceContext context;
    // sluice_stream_vulkan.h or sluice_stream_cuda.h makes it. With NULL there are no images, and a
    // buffer's handle is a host pointer.
    const struct SluiceStreamGpu* gpu;
    // The ring of stored bytes, which the host reads into and the device reads from:
    // SLUICE_STREAM_MIN_SOURCE bytes or more, host 64-byte aligned. Its usage is transfer source,
    // and storage where the GPU decodes. Its host view should be cached memory: the kernel writes
    // it, and the CPU may decode from it.
    SluiceStreamMemory source;
    // The ring of decoded bytes on their way to images, and to places in buffers where a tile
    // cannot be decoded directly: SLUICE_STREAM_MIN_OUTPUT bytes or more. Its usage is transfer
    // source, and storage where the GPU decodes. host is needed where the CPU decodes (context is
    // of the CPU); else it may be NULL. Without gpu neither is needed.
    SluiceStreamMemory output;
    // Where the GPU decodes: controlSize bytes (SluiceStreamerRequirements), which the device
    // reads: lists.
    SluiceStreamMemory control;
    // Where the GPU decodes: resultsSize bytes, which the device writes: statuses. They should be
    // cached memory, because the host reads them.
    SluiceStreamMemory results;
    SluiceBuffer scratch; // where the GPU decodes: scratchSize bytes
    // At most this many groups are under way, 1 .. 65,536; a group is under way until its END event
    // is polled.
    uint32_t maxGroups;
    // Groups under way have at most this many requests, 1 .. 2^24.
    uint32_t maxRequests;
    // At most this many reads and decodes are under way, together, 1 .. 2^20; 0: 1,024.
    uint32_t maxUnits;
    // At most this many batches are recorded and not complete, 1 .. 16: frames in flight + 1.
    uint32_t maxBatches;
    // One batch has at most this many tiles, 256 .. 65,536; 0: SLUICE_STREAM_BATCH_TILES.
    uint32_t maxBatchTiles;
    // As in SluiceTilesInfo; 0: SLUICE_STREAM_GSTD_TILES.
    uint32_t gstdTilesAtOnce;
    // The filtered tiles of one batch have at most this many bytes; 0: SLUICE_STREAM_FILTERED_SIZE.
    uint64_t maxFilteredSize;
    // This many threads read and decode, 1 .. 64. With 0 there are none, and the engine calls
    // sluiceStreamPump.
    uint32_t threads;
    // Groups of a priority below this one leave a quarter of the rings, of the units and of
    // maxGroups and maxRequests to others.
    int32_t reserveAbove;
    // It may be NULL. It is called, from any thread, when sluiceStreamPump has something to do that
    // it had not before. It must return soon and call nothing of the streamer.
    void (*wake)(void* user);
    void* wakeUser;    // the `user` of `wake`
    SluiceStreamIo io; // how files are read
} SluiceStreamerInfo;

// The memory that batches need. All but alignment are 0 where the CPU decodes.
typedef struct SluiceStreamerRequirements {
    uint64_t controlSize; // bytes
    uint64_t resultsSize; // bytes
    uint64_t scratchSize; // bytes
    uint64_t alignment;   // of each of them, in bytes
    // SluiceKernels that any archive may need, for sluiceCreatePipelines; sluiceStreamGetKernels
    // says which a file does.
    uint32_t kernels;
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

// Allocates zeroed memory that suits a ring in every respect. It is anonymous, so that files can be
// read into it past the page cache and VK_EXT_external_memory_host can import it. It starts at a
// multiple of 2 MiB and has huge pages where the system offers them.
//   size   bytes; rounded up to a multiple of 2 MiB, all of which may be used and imported
// Errors: ARGUMENT, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceStreamAllocateHost(uint64_t size, void** memory);
// Frees it, with the size that it was allocated with: after the streamer, and after the
// VkDeviceMemory that imports it. NULL is allowed.
SLUICE_API void sluiceStreamFreeHost(void* memory, uint64_t size);

// -----------------------------------------------------------------------------------------------
// Files

// An engine's own file.
typedef struct SluiceStreamFileInterface {
    void* user;    // the `user` of the two functions
    uint64_t size; // bytes
    // It returns how many bytes it has read, fewer than `size` only at the end, or the negative
    // number of an error (an errno). It is called from the streamer's threads, several at a time,
    // and from sluiceStreamPump.
    int64_t (*read)(void* user, uint64_t offset, void* bytes, uint64_t size);
    void (*close)(void* user); // may be NULL; called once, when nothing reads any more
} SluiceStreamFileInterface;

// Names an archive or a plain file to open.
typedef struct SluiceStreamOpenInfo {
    const char* path;                           // UTF-8; NULL: functions are called instead
    const SluiceStreamFileInterface* functions; // NULL: the file has a path
    // 1: a .sluice archive, whose header, index and tile records are read and checked; 0: bytes.
    uint32_t isArchive;
    uint64_t user; // comes back in the event
} SluiceStreamOpenInfo;

// Starts opening a file; an OPENED event says how it ended. Until then groups cannot name it. An
// archive takes host memory for its index, and 32 bytes a tile. Errors: ARGUMENT, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceStreamOpen(SluiceStreamer streamer, const SluiceStreamOpenInfo* info,
                                         SluiceStreamFile* file);

// Gives a file up, also one that could not be opened or is being opened. Groups that name it go on;
// it is closed when the last of them has ended. No other call may name it from here on. Errors:
// ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamClose(SluiceStreamer streamer, SluiceStreamFile file);

// These describe an archive that has been opened (NOT_READY before that). Names and parameters
// point into the file's memory. Errors: ARGUMENT, NOT_READY.
SLUICE_API SluiceStatus sluiceStreamGetArchive(SluiceStreamFile file, SluiceArchive* archive);
SLUICE_API SluiceStatus sluiceStreamFindAsset(SluiceStreamFile file, const char* name,
                                              size_t nameLength, uint32_t* asset);
SLUICE_API SluiceStatus sluiceStreamGetAsset(SluiceStreamFile file, uint32_t asset,
                                             SluiceArchiveAsset* info);
// Gives the SluiceKernels that the archive's tiles need where the GPU decodes.
SLUICE_API SluiceStatus sluiceStreamGetKernels(SluiceStreamFile file, uint32_t* kernels);

// Says how a file is read now.
typedef struct SluiceStreamIoReport {
    SluiceStreamIo io; // PREAD or DIRECT; AUTO for an engine's own file
    // Direct reads are multiples of this many bytes in the file and in memory; 0: there are none.
    // If parts of a read are not aligned to it, its edges go through the page cache; reads of
    // archives into the ring always are aligned.
    uint32_t alignment;
    int32_t osError;    // the errno for which DIRECT was given up, or 0
    const char* reason; // why it is not read in a better way; a text of the library's
} SluiceStreamIoReport;

// Reports on a file that has been opened. Errors: ARGUMENT, NOT_READY.
SLUICE_API SluiceStatus sluiceStreamGetIoReport(SluiceStreamFile file,
                                                SluiceStreamIoReport* report);

// -----------------------------------------------------------------------------------------------
// Requests

typedef enum SluiceStreamSource {
    // Decoded bytes [offset, offset + size) of an asset. If it shares its tiles with others, its
    // bytes go through the output ring to a buffer, as a part of a tile does.
    SLUICE_STREAM_FROM_ARCHIVE = 0,
    SLUICE_STREAM_FROM_FILE = 1,   // bytes of a file as they are, any file
    SLUICE_STREAM_FROM_MEMORY = 2, // bytes at `memory`, which stay until the group has ended
    SLUICE_STREAM_SOURCE_MAX_ENUM = 0x7fffffff
} SluiceStreamSource;

typedef enum SluiceStreamTarget {
    SLUICE_STREAM_TO_HOST = 0, // `host`, size bytes
    // `buffer`, of size bytes. Its usage is transfer destination, and storage where the GPU
    // decodes; then the VkBuffer's address is a multiple of 16, and it reaches to the next multiple
    // of 4.
    SLUICE_STREAM_TO_BUFFER = 1,
    SLUICE_STREAM_TO_IMAGE = 2, // `image`
    SLUICE_STREAM_TARGET_MAX_ENUM = 0x7fffffff
} SluiceStreamTarget;

// A box of one level of an image, all of whose bytes the request delivers: layer after layer, slice
// after slice, row after row of blocks, without padding, as KTX2 stores a level. It has one plane
// of color alone. Numbers of Vulkan (layouts, stages, accesses, families) stand as they are in
// vulkan_core.h. At most one request for a level's layers is under way at a time, because it
// changes the layout of all of them. If the group does not end OK the contents and the layout of
// the level are unspecified: use UNDEFINED as its old layout afterwards.
typedef struct SluiceStreamImage {
    // The VkImage; its usage is transfer destination.
    uint64_t image;
    // The format's: texels, texels, bytes (1, 1, 4 for RGBA8; 4, 4, 16 for BC7).
    uint32_t blockWidth, blockHeight, blockSize;
    // The level and its layers: layerCount >= 1.
    uint32_t level, firstLayer, layerCount;
    // Texels: offset is a multiple of the block, and extent is too unless the box ends at the
    // level's edge.
    uint32_t offset[3], extent[3];
    // Layouts of the level's layers before and afterwards. The old one UNDEFINED lets their
    // contents go. The new one is neither UNDEFINED nor PREINITIALIZED, which no barrier can change
    // to.
    uint32_t oldLayout, newLayout;
    // Stages and accesses that use the level afterwards, for the barrier; 0: ALL_COMMANDS,
    // MEMORY_READ.
    uint32_t stages, accesses;
    // If they are equal, ownership is not transferred. Else the batch's queue is of sourceFamily,
    // and the barrier at the end releases the level to destinationFamily, which acquires it with
    // the same layouts (TRANSFER_DST_OPTIMAL to newLayout).
    uint32_t sourceFamily, destinationFamily;
} SluiceStreamImage;

typedef struct SluiceStreamRequest {
    SluiceStreamSource source; // where the bytes come from
    SluiceStreamTarget target; // where they go
    SluiceStreamFile file;     // FROM_ARCHIVE, FROM_FILE: the file
    uint32_t asset;            // FROM_ARCHIVE: its number
    const void* memory;        // FROM_MEMORY: the first byte
    uint64_t offset;           // FROM_ARCHIVE, FROM_FILE: of the first byte
    uint64_t size;             // bytes, 0 .. 2^48; FROM_ARCHIVE: as decoded
    void* host;                // TO_HOST: the place of the first byte
    SluiceBuffer buffer;       // TO_BUFFER: the place; its size is `size`
    SluiceStreamImage image;   // TO_IMAGE: the place
} SluiceStreamRequest;

// Makes the requests that fill levels of an image asset of an archive (sluice_image.h): one a
// level, or, where layers are apart as in DDS files, one a level and layer.
//   firstLevel, levelCount  of the asset's levels
//   image      what is the same in all requests: image, oldLayout, newLayout, stages, accesses,
//              families; level is the level of the VkImage that firstLevel goes to, and firstLayer
//              the layer that the asset's first one goes to; the rest is not read
//   requests   receives them; the file and the image are all that they refer to
//   count      in: room; out: how many there are (also with BUFFER_SIZE)
// Errors: ARGUMENT (no such level; the asset is no image), NOT_READY, FORMAT, VERSION, UNSUPPORTED
// (UASTC, which has no format of Vulkan), BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceStreamGetImageRequests(SluiceStreamFile file, uint32_t asset,
                                                     uint32_t firstLevel, uint32_t levelCount,
                                                     const SluiceStreamImage* image,
                                                     SluiceStreamRequest* requests,
                                                     uint32_t* count);

// Waits for a timeline semaphore of Vulkan, or signals it. It needs gpu.
typedef struct SluiceStreamSync {
    uint64_t semaphore; // VkSemaphore, of type timeline; 0: nothing is waited for or signalled
    uint64_t value;     // that it is to have, or gets
} SluiceStreamSync;

typedef enum SluiceStreamGroupFlags {
    SLUICE_STREAM_TELL_RECORDED = 1, // a RECORDED event comes too
    SLUICE_STREAM_GROUP_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceStreamGroupFlags;

// Requests that belong together.
typedef struct SluiceStreamGroupInfo {
    // They are read during the call. Their destinations must not overlap, and belong to the
    // streamer until the END event.
    const SluiceStreamRequest* requests;
    uint32_t requestCount; // 1 or more
    int32_t priority;      // higher goes first; equal ones go in the order of submission
    uint32_t flags;        // SluiceStreamGroupFlags, or-ed
    uint64_t tag;          // for sluiceStreamCancelTags
    uint64_t user;         // comes back in events
    // Nothing of the group is begun before the semaphore has the value. Poll asks semaphores for
    // their values, and where groups wait for more than 64 of them, each call asks the next 64.
    SluiceStreamSync wait;
    // The host signals it when the group has ended, whatever its status. Groups that signal one
    // semaphore do so in the order of submission, with ascending values; nobody else signals it.
    SluiceStreamSync signal;
} SluiceStreamGroupInfo;

// Submits a group. Errors: ARGUMENT (a range outside its asset, a size that is not the
// destination's, a value that does not ascend ...), NOT_READY (no room, or a file that is not open
// yet; nothing is taken), UNSUPPORTED (an image or a semaphore without gpu; a row of more than
// 1 MiB), IO (a file that could not be opened).
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

// Limits a batch. Units that exceed it are left for later, but the first unit always goes in.
typedef struct SluiceStreamBudget {
    // Time of the GPU, as predicted from what earlier batches took. 0: nothing is recorded;
    // FLT_MAX: no limit.
    float milliseconds;
    uint64_t bytes;  // decoded; 0: no limit
    uint32_t copies; // into buffers and images; 0: no limit
    // Fewer tiles than this are recorded only if the oldest has waited for more than maxAge calls,
    // because small batches take almost as long as large ones. 0: any number is recorded.
    uint32_t minTiles;
    uint32_t maxAge; // calls of sluiceStreamRecord
    // The timeline semaphore that the engine's submit of this command buffer signals; 0: the engine
    // calls sluiceStreamComplete instead.
    uint64_t semaphore;
    uint64_t value; // that is signalled; values of successive batches ascend
} SluiceStreamBudget;

typedef struct SluiceStreamBatch {
    // Number of the batch. 0: nothing was recorded; the semaphore need not be signalled for the
    // streamer.
    uint64_t number;
    uint32_t tiles;              // that it decodes
    uint32_t copies;             // into buffers and images
    uint64_t bytesIn, bytesOut;  // stored, and decoded
    float predictedMilliseconds; // of the GPU
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

// Says that the GPU has done all batches up to this one; for engines that use fences. Errors:
// ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamComplete(SluiceStreamer streamer, uint64_t batch);

// Says that the device is lost: groups that need it end with DEVICE, also those that come. Calls
// stay legal.
SLUICE_API SluiceStatus sluiceStreamDeviceLost(SluiceStreamer streamer);

// -----------------------------------------------------------------------------------------------
// Events

typedef enum SluiceStreamEventKind {
    // A file is open, or could not be opened: status, file and user say which and how.
    SLUICE_STREAM_OPENED = 0,
    // All of a group is recorded: GPU work that waits for `value` may use its destinations if it
    // ends OK.
    SLUICE_STREAM_RECORDED = 1,
    // A group has ended. Exactly one comes for each group, after the last access to its
    // destinations.
    SLUICE_STREAM_END = 2,
    SLUICE_STREAM_EVENT_KIND_MAX_ENUM = 0x7fffffff
} SluiceStreamEventKind;

typedef struct SluiceStreamEvent {
    SluiceStreamEventKind kind; // what has happened
    // OK; IO; CHECKSUM (a tile is damaged: tileStatus); DEVICE; CANCELLED; UNSUPPORTED or
    // BUFFER_SIZE where the tiles of an archive are so small, or its filters so many, that a row of
    // an image or a unit is more than a batch can hold. OPENED: also FORMAT, VERSION,
    // OUT_OF_MEMORY, BUFFER_SIZE (cut off).
    SluiceStatus status;
    SluiceStreamGroup group; // RECORDED, END
    SluiceStreamFile file;   // OPENED
    uint64_t user, tag;      // as they were given; files have no tag
    uint32_t failedRequests; // of the group
    uint32_t firstRequest;   // the first of them; 0xffffffff: none
    uint32_t firstTile;      // of that request's asset, the tile at fault; 0xffffffff: none
    uint32_t tileStatus;     // SluiceTileStatus of it
    int32_t osError;         // errno of the open or read at fault, or 0
    uint64_t fileOffset;     // of the read or tile at fault
    uint64_t value;          // of the last batch that had a part of the group; 0: none had
} SluiceStreamEvent;

// Finds out which batches are complete and which groups need not wait any longer, signals the
// semaphores of groups that have ended, and gives events.
//   count   in: room in events; out: how many were given. The rest come with the next call
// Errors: ARGUMENT, DEVICE (once, when a device is found lost).
SLUICE_API SluiceStatus sluiceStreamPoll(SluiceStreamer streamer, SluiceStreamEvent* events,
                                         uint32_t* count);

// Returns a file descriptor that is readable while groups that need no GPU any more have events to
// poll (an eventfd of Linux, which sluiceStreamPoll resets); -1 where there is none. Completion of
// batches does not make it readable.
SLUICE_API int sluiceStreamEventFd(SluiceStreamer streamer);

// Counts what is in each state. Sizes are in bytes.
typedef struct SluiceStreamCounters {
    uint32_t groups;   // under way
    uint32_t requests; // of them
    // Units in each of these states (docs/streaming.md).
    uint32_t reading, decoding, ready, recorded;
    uint64_t sourceUsed, outputUsed; // of the two rings
    // Since creation; tiles that were wanted in parts count as a whole, and once where a thread of
    // the CPU needed the same one for several requests in a row.
    uint64_t bytesRead, bytesDecoded;
    uint64_t wastedBytes;    // read for groups that were cancelled
    uint32_t retriedTiles;   // decoded again by the CPU
    float floorMilliseconds; // the cost model's time for a batch of one tile of 64 KiB
    // Its time for 1 MiB in large batches: decoded GDeflate, Gstd, float; copies.
    float millisecondsPerMiB[4];
    // The mean of |predicted - measured| / measured over the last batches.
    float predictionError;
} SluiceStreamCounters;
SLUICE_API SluiceStatus sluiceStreamGetCounters(SluiceStreamer streamer,
                                                SluiceStreamCounters* counters);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_STREAM_H
