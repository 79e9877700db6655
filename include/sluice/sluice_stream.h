// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Streams assets from files on disk to host memory, buffers and images. Library: sluice_stream,
// which links sluice. docs/streaming.md is the manual: states, threads, memory, examples.
//
// An engine submits groups of requests. A request names bytes of an archive's asset, of a KTX2
// file's levels, of a plain file or of memory, and their destination. Priority, cancellation,
// completion and errors apply to whole groups. Once per frame the engine calls sluiceStreamPoll and
// reacts to events. It also calls sluiceStreamRecord, which records as much decoding and copying
// into the engine's command buffer as a budget allows.
//
//   Owns      The streamer owns threads, file descriptors and host memory. The size of that memory
//             is fixed when the streamer is created or a file is opened. Device memory and queues
//             belong to the engine.
//   Blocks    No call blocks. A streamer without room returns FULL and takes nothing. No lock
//             is held across a system or driver call.
//   Allocates Memory is allocated when a streamer is created, when a file is opened, and by a
//             thread that decodes a level of more than 1 MiB of a KTX2 file or transcodes UASTC.
//             Such a thread allocates at most the size of a ring.
//   Threads   Submit, SetPriority, Cancel, Open, Close, Pump, GetCounters and the queries about
//             files may be called from any thread at any time. Only one call of Record, Discard,
//             Complete or Poll may run at a time.
//   Hostile   Once a file's index has been checked, no size in the file decides how much memory is
//   files     allocated. Nothing is written outside the destinations that requests name. Checksums
//             detect damage.
#ifndef SLUICE_STREAM_H
#define SLUICE_STREAM_H

#include <sluice/sluice.h>
#include <sluice/sluice_formats.h>
#include <sluice/sluice_image.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SluiceStreamer_T* SluiceStreamer;
typedef struct SluiceStreamFile_T* SluiceStreamFile;
typedef uint64_t SluiceStreamGroup; // never 0, never reused

// -----------------------------------------------------------------------------------------------
// Creation

// A buffer and the host's view of the same bytes.
typedef struct SluiceStreamMemory {
    SluiceBuffer buffer; // the bytes on the device
    // The host address of the buffer's first byte. The memory is coherent, or the engine flushes it
    // before each submit and invalidates it before each poll.
    void* host;
} SluiceStreamMemory;

struct SluiceStreamGpu; // sluice_stream_vulkan.h, sluice_stream_cuda.h

// The way to read files that sluiceStreamOpen opens by path; an engine reads its own files as it
// likes. If the system, the file or its memory does not support a way, the streamer uses the next
// simpler one from then on, and sluiceStreamGetIoReport says so.
typedef enum SluiceStreamIo {
    SLUICE_STREAM_IO_AUTO = 0,   // PREAD, for measured reasons: docs/notes/streaming.md
    SLUICE_STREAM_IO_PREAD = 1,  // reads go through the page cache
    SLUICE_STREAM_IO_DIRECT = 2, // O_DIRECT, no page cache: for archives that are read once
    SLUICE_STREAM_IO_MAX_ENUM = 0x7fffffff
} SluiceStreamIo;

// Says which side decodes what goes to buffers and images. The CPU always decodes what goes to host
// memory. Both sides give the same bytes and statuses.
typedef enum SluiceStreamSides {
    // The GPU decodes. As long as the context does not have the pipelines that a tile needs,
    // threads of the streamer decode the tile, so that streaming does not wait for pipelines. If
    // the context is one of the CPU, only the CPU can decode; if output has no host address, only
    // the GPU can.
    SLUICE_STREAM_GPU_FIRST = 0,
    // The GPU decodes all tiles except those whose pipelines the context has refused.
    SLUICE_STREAM_GPU_ALONE = 1,
    // Threads of the streamer (or calls of sluiceStreamPump) decode, and the GPU only copies.
    SLUICE_STREAM_CPU_ALONE = 2,
    // Each unit (a piece of a request, see SLUICE_STREAM_BLOCK_SIZE) is decoded by the side that is
    // predicted to finish it sooner (docs/streaming.md says how). In all else this is like
    // GPU_FIRST. It suits a GPU that other work keeps busy. With an idle GPU, large amounts take
    // longer than with GPU_FIRST, because threads that decode cannot read meanwhile.
    SLUICE_STREAM_BOTH = 3,
    SLUICE_STREAM_SIDES_MAX_ENUM = 0x7fffffff
} SluiceStreamSides;

// Says which sides of a streamer may decode.
typedef struct SluiceStreamDecoding {
    SluiceStreamSides sides;
    // Largest number of threads that decode at a time, 1 .. 64; the others only read. 0: all of
    // SluiceStreamerInfo::threads or, if that is 0, 16 calls of sluiceStreamPump.
    uint32_t maxThreads;
} SluiceStreamDecoding;

// The streamer cuts requests into units, each of which is read and decoded as a whole. One read has
// at most SLUICE_STREAM_READ_SIZE bytes, but up to SLUICE_STREAM_MIN_SOURCE if the rows of a wide
// image cannot be cut smaller. A level of a KTX2 file that Zstandard has compressed is a unit of
// any size.
#define SLUICE_STREAM_READ_SIZE 1048576u   // usual limit of one read, in bytes
#define SLUICE_STREAM_BLOCK_SIZE 4194304u  // largest output of one unit, in bytes
#define SLUICE_STREAM_MIN_SOURCE 4194304u  // smallest ring of stored bytes, in bytes
#define SLUICE_STREAM_MIN_OUTPUT 16777216u // smallest ring of decoded bytes, in bytes
// Defaults of SluiceStreamerInfo, used for members that are 0:
#define SLUICE_STREAM_BATCH_TILES 1024u       // maxBatchTiles
#define SLUICE_STREAM_GSTD_TILES 256u         // gstdTilesAtOnce: 128 MiB of scratch
#define SLUICE_STREAM_FILTERED_SIZE 67108864u // maxFilteredSize: bytes of scratch

// Says how a streamer works.
typedef struct SluiceStreamerInfo {
    // The context that decodes for buffers and images on the GPU; it must outlive the streamer. It
    // is a context of gpu's API or of the CPU. With a context of the CPU, only the CPU decodes, as
    // with SLUICE_STREAM_CPU_ALONE.
    SluiceContext context;
    // Created by a function of sluice_stream_vulkan.h or sluice_stream_cuda.h. If it is NULL,
    // images are not available, and a buffer's handle is a host pointer.
    const struct SluiceStreamGpu* gpu;
    // The ring of stored bytes, which the host reads files into and the device reads from. Every
    // streamer needs it; without gpu only its host address and its size are read. It has
    // SLUICE_STREAM_MIN_SOURCE bytes or more, and its host address is 64-byte aligned. Usage of the
    // VkBuffer: TRANSFER_SRC; where the GPU decodes also STORAGE_BUFFER and SHADER_DEVICE_ADDRESS.
    // The memory should be cached for the host, because the operating system's kernel writes it and
    // the CPU may decode from it.
    SluiceStreamMemory source;
    // The ring of decoded bytes on their way to images, and to buffers where a tile cannot be
    // decoded directly to its place. It has SLUICE_STREAM_MIN_OUTPUT bytes or more. Usage: as for
    // source. Where the CPU decodes alone, the host address is needed; otherwise a NULL host
    // address means that the GPU decodes alone. If both sides decode, threads only write to the
    // ring, in ascending order, so it need not be cached memory. Without gpu the ring is not needed
    // at all.
    SluiceStreamMemory output;
    // Where the GPU decodes: controlSize bytes (SluiceStreamerRequirements) of lists, which the
    // device reads. Usage of this VkBuffer and of the next two: STORAGE_BUFFER and
    // SHADER_DEVICE_ADDRESS.
    SluiceStreamMemory control;
    // Where the GPU decodes: resultsSize bytes of statuses, which the device writes. The host reads
    // them, so the memory should be cached for the host.
    SluiceStreamMemory results;
    SluiceBuffer scratch; // where the GPU decodes: scratchSize bytes; no host address
    // Largest number of groups under way, 1 .. 65,536. A group is under way until its END event is
    // polled.
    uint32_t maxGroups;
    // Largest number of requests in all groups under way, 1 .. 2^24.
    uint32_t maxRequests;
    // Largest number of reads and decodes under way, counted together, 1 .. 2^20; 0: 1,024.
    uint32_t maxUnits;
    // Largest number of batches that are recorded but not complete, 1 .. 16: frames in flight + 1.
    uint32_t maxBatches;
    // Largest number of tiles per batch, 256 .. 65,536; 0: SLUICE_STREAM_BATCH_TILES.
    uint32_t maxBatchTiles;
    // The number of Gstd tiles of 256 KiB that are decoded at the same time (SluiceTilesInfo); 0:
    // SLUICE_STREAM_GSTD_TILES.
    uint32_t gstdTilesAtOnce;
    // Largest size of a batch's filtered tiles, in bytes; 0: SLUICE_STREAM_FILTERED_SIZE.
    uint64_t maxFilteredSize;
    // Number of threads that read and decode, 1 .. 64. With 0 there are none, and the engine calls
    // sluiceStreamPump.
    uint32_t threads;
    // Groups with a priority below this value leave a quarter of the rings, of maxUnits, of
    // maxGroups and of maxRequests to the other groups.
    int32_t reserveAbove;
    // May be NULL. Called from any thread when sluiceStreamPump has new work to do. The function
    // must return soon and must not call the streamer.
    void (*wake)(void* user);
    void* wakeUser;    // the `user` of `wake`
    SluiceStreamIo io; // how files are read
    // May be NULL. Receives reports of arguments (sluice.h) that are refused by the functions of
    // the streamer and of its files, including sluiceCreateStreamer.
    SluiceReportFunction report;
    void* reportUser;              // the `user` of `report`
    SluiceStreamDecoding decoding; // which sides decode
} SluiceStreamerInfo;

// The memory that batches need. The three sizes are 0 if the CPU decodes alone.
typedef struct SluiceStreamerRequirements {
    uint64_t controlSize; // bytes
    uint64_t resultsSize; // bytes
    uint64_t scratchSize; // bytes
    uint64_t alignment;   // of the three ranges, in bytes
    // SluiceKernels that any archive may need, for sluiceCreatePipelines. Not included are ZSTD,
    // for archives with tiles of that codec, and UASTC, for images in that format.
    // sluiceStreamGetKernels says what a file needs.
    uint32_t kernels;
    // 1: output needs a host address, so that the CPU can decode for buffers and images; 0: the GPU
    // decodes alone.
    uint32_t outputHost;
} SluiceStreamerRequirements;

// Reads context, maxBatches, maxBatchTiles, gstdTilesAtOnce, maxFilteredSize and decoding. Errors:
// ARGUMENT.
SLUICE_API SluiceStatus sluiceGetStreamerRequirements(const SluiceStreamerInfo* info,
                                                      SluiceStreamerRequirements* requirements);

// Fills a SluiceStreamerInfo with values that suit most engines, for buffers of at most `memory`
// bytes all together. It sets the context, all numbers, and the sizes of source, output, control,
// results and scratch (the last three are 0 where the CPU decodes). The other members become 0:
// after the call, set gpu, and the handle, offset and host address of each buffer that has a size.
// If you change a number, ask sluiceGetStreamerRequirements for the sizes of the last three again.
//   memory    bytes; more memory gives larger batches, which are faster. The minimum is about 64
//             MiB if the GPU decodes, and about 20 MiB if the CPU does
//   kernels   may be NULL; receives the SluiceKernels that archives may need, for
//             sluiceCreatePipelines, as SluiceStreamerRequirements has them
// Errors: ARGUMENT, BUFFER_SIZE (memory is too small).
SLUICE_API SluiceStatus sluiceGetStreamerDefaults(SluiceContext context, uint64_t memory,
                                                  SluiceStreamerInfo* info, uint32_t* kernels);

// Creates a streamer and starts its threads. Errors: ARGUMENT, BUFFER_SIZE, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateStreamer(const SluiceStreamerInfo* info,
                                             SluiceStreamer* streamer);

// Waits for reads under way, then destroys the streamer, its files and its groups, which get no
// more events. No recorded batch may still run on the GPU. NULL is allowed.
SLUICE_API void sluiceDestroyStreamer(SluiceStreamer streamer);

// Does up to `jobs` reads and decodes in the calling thread, the most urgent first.
//   done   may be NULL; receives the number of jobs done, which is less than `jobs` if there is
//          nothing more to do at present
// Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamPump(SluiceStreamer streamer, uint32_t jobs, uint32_t* done);

// Allocates zeroed memory that is suitable for a ring. It is anonymous memory, so that files can be
// read into it without the page cache and VK_EXT_external_memory_host can import it. It starts at a
// multiple of 2 MiB and has huge pages where the system offers them.
//   size   bytes, rounded up to a multiple of 2 MiB; all of the rounded size may be used and
//          imported
// Errors: ARGUMENT, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceStreamAllocateHost(uint64_t size, void** memory);
// Frees memory from sluiceStreamAllocateHost. size is the value that was passed to that call.
// Destroy the streamer and free the VkDeviceMemory that imports the memory first. NULL is allowed.
SLUICE_API void sluiceStreamFreeHost(void* memory, uint64_t size);

// -----------------------------------------------------------------------------------------------
// Files

// An engine's own file.
typedef struct SluiceStreamFileInterface {
    void* user;    // the `user` of the two functions
    uint64_t size; // bytes
    // Returns the number of bytes read, which is less than `size` only at the end of the file, or
    // an error as a negative errno. Called from the streamer's threads, several at a time, and from
    // sluiceStreamPump.
    int64_t (*read)(void* user, uint64_t offset, void* bytes, uint64_t size);
    void (*close)(void* user); // may be NULL; called once, after the last read
} SluiceStreamFileInterface;

// A KTX2 file is opened as an archive of one asset: asset 0, of this name and of type
// SLUICE_ASSET_IMAGE, whose bytes are those of the file without supercompression.
// sluiceGetArchiveImage says where its levels are, and a request FROM_ARCHIVE names bytes of one
// level. If sluiceParseImage refuses the file, the OPENED event has its error: FORMAT (for example
// a level outside the file, or a supercompression scheme from 0x20000 on), or VERSION (an
// unsupported format or scheme, such as BasisLZ). For the scheme ZLIB the event has UNSUPPORTED.
// Schemes:
//   0 (none)       levels are read in pieces, like plain bytes
//   2 (Zstandard)  a level is a tile of codec ZSTD, which is read and decoded as a whole; tile 0 is
//                  the smallest level. A request for a level that the rings cannot hold ends with
//                  UNSUPPORTED before anything is read (docs/streaming.md). The build needs the
//                  component `zstd`
#define SLUICE_STREAM_KTX2_NAME "image"

// Names an archive, a KTX2 file or a plain file to open.
typedef struct SluiceStreamOpenInfo {
    const char* path;                           // UTF-8; NULL: functions reads the file
    const SluiceStreamFileInterface* functions; // NULL: path names the file
    // 1: a .sluice archive, whose header and index are read and checked, in two reads; the records
    // of an asset's tiles follow at the first request for it. Or a KTX2 file, which is recognised
    // by its identifier, and whose header and level index are read and checked, in one read. 0:
    // plain bytes.
    uint32_t isArchive;
    uint64_t user; // comes back in the event
} SluiceStreamOpenInfo;

// Starts to open a file; an OPENED event reports the result. Until that event, groups must not name
// the file. An archive takes host memory for its index, plus 80 bytes per asset, plus 32 bytes per
// tile of each requested asset; a KTX2 file takes 6 KiB. Errors: ARGUMENT, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceStreamOpen(SluiceStreamer streamer, const SluiceStreamOpenInfo* info,
                                         SluiceStreamFile* file);

// Releases a file, also one that could not be opened or is still being opened. Groups that name the
// file go on, and the file is closed when the last of them has ended. After this call no other call
// may name the file. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamClose(SluiceStreamer streamer, SluiceStreamFile file);

// The next five functions describe an archive or KTX2 file that has been opened. Names and
// parameters point into the file's memory. Errors: ARGUMENT, NOT_OPEN (the file is still being
// opened), IO (it could not be opened).

// Describes the archive. For a KTX2 file only assetCount, tileCount and fileSize are set, and
// versionMajor is 0.
SLUICE_API SluiceStatus sluiceStreamGetArchive(SluiceStreamFile file, SluiceArchive* archive);
// Finds an asset by its name, of nameLength bytes. If no asset has that name, it returns OK, and
// *asset is 0xffffffff.
SLUICE_API SluiceStatus sluiceStreamFindAsset(SluiceStreamFile file, const char* name,
                                              size_t nameLength, uint32_t* asset);
// Finds an image by its name, of nameLength bytes, and says what it is. For a KTX2 file, *info also
// has the scheme and everything else that archives do not describe.
// Errors: also ARGUMENT (the archive has no asset of this name, or it is no image), FORMAT,
// VERSION.
SLUICE_API SluiceStatus sluiceStreamFindImage(SluiceStreamFile file, const char* name,
                                              size_t nameLength, uint32_t* asset,
                                              SluiceImageInfo* info);
// Errors: also ARGUMENT if the archive has no asset of this number.
SLUICE_API SluiceStatus sluiceStreamGetAsset(SluiceStreamFile file, uint32_t asset,
                                             SluiceArchiveAsset* info);
// Gives the SluiceKernels that the archive's tiles may need where the GPU decodes. The answer comes
// from the index alone. That says whether any tile may have a filter or the codec ZSTD, and whether
// an image is UASTC. It does not say which other codecs the tiles have, so the kernels of all other
// codecs are included. An engine that knows its codecs, or does not let UASTC be transcoded, may
// leave some out.
SLUICE_API SluiceStatus sluiceStreamGetKernels(SluiceStreamFile file, uint32_t* kernels);

// Says how a file is read at present.
typedef struct SluiceStreamIoReport {
    SluiceStreamIo io; // PREAD or DIRECT; AUTO for an engine's own file
    // Direct reads are multiples of this many bytes in the file and in memory; 0: there are no
    // direct reads. The unaligned edges of a read go through the page cache. Reads of archives into
    // the ring are always aligned.
    uint32_t alignment;
    int32_t osError;    // the errno that ended the use of DIRECT, or 0
    const char* reason; // why no better way is used; the text belongs to the library
} SluiceStreamIoReport;

// Reports on a file that has been opened. Errors: ARGUMENT, NOT_OPEN, IO.
SLUICE_API SluiceStatus sluiceStreamGetIoReport(SluiceStreamFile file,
                                                SluiceStreamIoReport* report);

// -----------------------------------------------------------------------------------------------
// Requests

typedef enum SluiceStreamSource {
    // Decoded bytes [offset, offset + size) of an asset. If the asset shares tiles with other
    // assets, or the request is for a part of a tile only, the bytes go to a buffer through the
    // output ring.
    SLUICE_STREAM_FROM_ARCHIVE = 0,
    SLUICE_STREAM_FROM_FILE = 1,   // bytes of any file as they are
    SLUICE_STREAM_FROM_MEMORY = 2, // bytes at `memory`, which must stay valid until the group has
                                   // ended
    SLUICE_STREAM_SOURCE_MAX_ENUM = 0x7fffffff
} SluiceStreamSource;

typedef enum SluiceStreamTarget {
    SLUICE_STREAM_TO_HOST = 0, // `host`, size bytes
    // `buffer`, of size bytes. Usage of the VkBuffer: TRANSFER_DST; where the GPU decodes also
    // STORAGE_BUFFER and SHADER_DEVICE_ADDRESS. Where the GPU decodes, the VkBuffer's address is a
    // multiple of 16, and the VkBuffer reaches to the next multiple of 4 after the range.
    SLUICE_STREAM_TO_BUFFER = 1,
    SLUICE_STREAM_TO_IMAGE = 2, // `image`
    SLUICE_STREAM_TARGET_MAX_ENUM = 0x7fffffff
} SluiceStreamTarget;

// A box of one level of an image. The request delivers all bytes of the box: layer after layer,
// slice after slice, row after row of blocks, without padding, as KTX2 stores a level. The image
// has a single plane, of color. Vulkan's enumerants (layouts, stages, accesses) and queue families
// are given as the numbers that vulkan_core.h defines. At most one request for a level's layers may
// be under way at a time, because a request changes the layout of all of them. If the group does
// not end with OK, the level's contents and layout are unspecified: use UNDEFINED as its old layout
// afterwards.
typedef struct SluiceStreamImage {
    // The VkImage; it has transfer destination usage.
    uint64_t image;
    // The format's block: width and height in texels, size in bytes (1, 1, 4 for RGBA8; 4, 4, 16
    // for BC7).
    uint32_t blockWidth, blockHeight, blockSize;
    // The level, and its first layer and number of layers; layerCount >= 1.
    uint32_t level, firstLayer, layerCount;
    // The box in texels: multiples of the block's width and height, except an extent that ends at
    // the level's edge.
    uint32_t offset[3], extent[3];
    // Layouts of the level's layers before and after the request. The old layout UNDEFINED discards
    // their contents, and the change from it waits for nothing: no command that was submitted
    // earlier may still use the layers. The new layout is neither UNDEFINED nor PREINITIALIZED,
    // because no barrier can change to those.
    uint32_t oldLayout, newLayout;
    // Stages and accesses that use the level afterwards, for the barrier. 0 means ALL_COMMANDS and
    // MEMORY_READ.
    uint32_t stages, accesses;
    // Equal values: queue family ownership is not transferred. Otherwise the batch's queue belongs
    // to sourceFamily, and the barrier at the end releases the level to destinationFamily. That
    // family must acquire it with the same layouts (TRANSFER_DST_OPTIMAL to newLayout).
    uint32_t sourceFamily, destinationFamily;
    // 0: the image's format is that of the request's bytes. Otherwise the request's bytes are UASTC
    // blocks (4 x 4 texels, 16 bytes each), and the image has this VkFormat, one that
    // SluiceUastcInfo::format lists. The blocks are transcoded in the batch that copies them, by
    // the GPU with the pipelines of SLUICE_KERNELS_UASTC or by threads. Invalid blocks become
    // magenta, and the group ends with FORMAT.
    uint32_t format;
    uint32_t formatFlags; // SluiceUastcInfo::flags
} SluiceStreamImage;

typedef struct SluiceStreamRequest {
    SluiceStreamSource source; // where the bytes come from
    SluiceStreamTarget target; // where they go
    SluiceStreamFile file;     // FROM_ARCHIVE, FROM_FILE: the file
    uint32_t asset;            // FROM_ARCHIVE: the asset's index
    const void* memory;        // FROM_MEMORY: the first byte
    uint64_t offset;           // FROM_ARCHIVE, FROM_FILE: offset of the first byte
    uint64_t size;             // bytes, 0 .. 2^48; FROM_ARCHIVE: decoded bytes
    void* host;                // TO_HOST: address for the first byte
    SluiceBuffer buffer;       // TO_BUFFER: the destination; its size is `size`
    // TO_IMAGE: the destination. TO_BUFFER: if format is not 0, the buffer receives the bytes that
    // would be copied to an image, layer after layer without padding: 4 for each texel of R8G8B8A8,
    // or 8 or 16 for each block. buffer.size is the number of these bytes. Only extent, layerCount,
    // format, formatFlags and the block's size are read. The streamer must have a gpu
    // (SluiceStreamerInfo).
    SluiceStreamImage image;
} SluiceStreamRequest;

// Makes the requests that fill levels of an image asset of an archive (sluice_image.h): one per
// level or, where layers are stored apart as in DDS files, one per level and layer.
//   firstLevel, levelCount  the asset's levels to fill
//   image      the members that all requests share: image, oldLayout, newLayout, stages, accesses,
//              families, and format with its flags. `image->level` is the level of the VkImage that
//              receives the asset's level `firstLevel`, and `image->firstLayer` is the layer that
//              receives the asset's layer 0. The other members are not read. For UASTC, format is
//              one of those that sluiceGetUastcFormats lists for the channels of the asset (or its
//              variant that differs only in sRGB); for other assets, it is 0 or the asset's format
//   requests   receives the requests. The file and the VkImage must live until the requests are
//              done; `*image` is not needed after the call
//   count      in: room in requests; out: the number of requests (also with BUFFER_SIZE), at most
//              0xffffffff
// Errors: ARGUMENT (no such level, or the asset is no image), NOT_OPEN, IO, FORMAT, VERSION,
// UNSUPPORTED (format is not the asset's and, for UASTC, is no format that the asset can be
// transcoded to), BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceStreamGetImageRequests(SluiceStreamFile file, uint32_t asset,
                                                     uint32_t firstLevel, uint32_t levelCount,
                                                     const SluiceStreamImage* image,
                                                     SluiceStreamRequest* requests,
                                                     uint32_t* count);

// A timeline semaphore of Vulkan to wait for or to signal. Only a streamer that has a gpu
// (SluiceStreamerInfo) can use one.
typedef struct SluiceStreamSync {
    uint64_t semaphore; // VkSemaphore, of type timeline; 0: no wait and no signal
    uint64_t value;     // the value to wait for or to signal
} SluiceStreamSync;

typedef enum SluiceStreamGroupFlags {
    SLUICE_STREAM_TELL_RECORDED = 1, // the group also gets a RECORDED event
    SLUICE_STREAM_GROUP_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceStreamGroupFlags;

// Requests that belong together.
typedef struct SluiceStreamGroupInfo {
    // Read during the call. The destinations must not overlap. They belong to the streamer until
    // the END event.
    const SluiceStreamRequest* requests;
    uint32_t requestCount; // 1 or more
    int32_t priority;      // higher values go first; equal ones in the order of submission
    uint32_t flags;        // SluiceStreamGroupFlags, or-ed
    uint64_t tag;          // for sluiceStreamCancelTags
    uint64_t user;         // returned in the group's events
    // No work of the group begins before the semaphore has the value. sluiceStreamPoll queries the
    // semaphores. If groups wait for more than 64 semaphores, each call queries the next 64.
    SluiceStreamSync wait;
    // The host signals the semaphore when the group has ended, whatever its status. Groups that
    // signal the same semaphore do so in the order of submission, with ascending values. Nothing
    // else may signal it.
    SluiceStreamSync signal;
} SluiceStreamGroupInfo;

// Submits a group. Errors: ARGUMENT (a range outside its asset, a size that is not the
// destination's, a signal value that does not ascend ...), FULL (there is no room; nothing is
// taken), NOT_OPEN (a file is still being opened; nothing is taken), UNSUPPORTED (an image, a
// semaphore or a format without gpu, a format that UASTC cannot be transcoded to, or a row of more
// than 1 MiB), IO (a file that could not be opened).
SLUICE_API SluiceStatus sluiceStreamSubmit(SluiceStreamer streamer,
                                           const SluiceStreamGroupInfo* info,
                                           SluiceStreamGroup* group);

// Changes the priority of the work that is not recorded yet. A group that has ended is left alone.
// Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamSetPriority(SluiceStreamer streamer, SluiceStreamGroup group,
                                                int32_t priority);

// Cancels a group, or all groups with (tag & mask) == value. No more work of a cancelled group
// begins, and the group ends with CANCELLED after the last access to its destinations. If all of
// its work was recorded already, the group ends as it would have without the call. A group that has
// ended is left alone. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamCancel(SluiceStreamer streamer, SluiceStreamGroup group);
SLUICE_API SluiceStatus sluiceStreamCancelTags(SluiceStreamer streamer, uint64_t mask,
                                               uint64_t value);

// -----------------------------------------------------------------------------------------------
// Recording

// Limits a batch. Units beyond a limit are left for later batches, but the first unit is always
// recorded.
typedef struct SluiceStreamBudget {
    // GPU time of the batch, predicted from the times of earlier batches. 0: nothing is recorded;
    // FLT_MAX: no limit.
    float milliseconds;
    uint64_t bytes;  // decoded bytes; 0: no limit
    uint32_t copies; // copies into buffers and images; 0: no limit
    // Smallest number of tiles worth a batch, because small batches take almost as long as large
    // ones. Fewer tiles are recorded only if the oldest has waited for more than maxAge calls. 0:
    // any number is recorded.
    uint32_t minTiles;
    uint32_t maxAge; // calls of sluiceStreamRecord
    // The timeline semaphore that the engine signals when it submits this command buffer. 0: the
    // engine calls sluiceStreamComplete instead.
    uint64_t semaphore;
    uint64_t value; // the value that is signalled; values of successive batches ascend
} SluiceStreamBudget;

typedef struct SluiceStreamBatch {
    // Number of the batch. 0: nothing was recorded, and the streamer does not need the semaphore to
    // be signalled.
    uint64_t number;
    uint32_t tiles;              // tiles that the batch decodes
    uint32_t copies;             // copies into buffers and images
    uint64_t bytesIn, bytesOut;  // stored bytes, and decoded bytes
    float predictedMilliseconds; // GPU time
} SluiceStreamBatch;

// Records decodes and copies into `commands`, the most urgent first. `commands` is a
// VkCommandBuffer, outside a render pass. Its queue needs compute; if the CPU decodes alone, a
// queue with graphics will do too. `commands` is NULL for a streamer that was created without gpu.
// All needed barriers are recorded: between decodes and copies, and from the copies to the use that
// an image request names, or for buffers to every later command. Submit batches in the order in
// which they were recorded, to one queue. The call changes the same Vulkan state as other sluice
// commands. Errors: ARGUMENT, DEVICE, NOT_READY (a pipeline of sluiceStreamGetKernels is missing,
// and only the GPU may decode; nothing was recorded).
SLUICE_API SluiceStatus sluiceStreamRecord(SluiceStreamer streamer, SluiceCommands commands,
                                           const SluiceStreamBudget* budget,
                                           SluiceStreamBatch* batch);

// Takes back the newest batch, for a command buffer that will never be submitted. The batch's work
// will be recorded again. RECORDED events that were polled for it come again. Errors: ARGUMENT (the
// batch is not the newest of those under way).
SLUICE_API SluiceStatus sluiceStreamDiscard(SluiceStreamer streamer, uint64_t batch);

// Says that the GPU has completed all batches up to the one with this number. It is for engines
// that use fences instead of a timeline semaphore. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceStreamComplete(SluiceStreamer streamer, uint64_t batch);

// Says that the device is lost. Groups that need the device end with DEVICE, including those
// submitted later. All calls stay legal.
SLUICE_API SluiceStatus sluiceStreamDeviceLost(SluiceStreamer streamer);

// -----------------------------------------------------------------------------------------------
// Events

typedef enum SluiceStreamEventKind {
    // A file is open, or could not be opened; see status, file and user.
    SLUICE_STREAM_OPENED = 0,
    // All of a group's work is recorded. GPU work that waits until the semaphore of the batches has
    // the event's `value` may use the destinations if the group ends with OK.
    SLUICE_STREAM_RECORDED = 1,
    // A group has ended. Each group gets exactly one such event, after the last access to its
    // destinations.
    SLUICE_STREAM_END = 2,
    SLUICE_STREAM_EVENT_KIND_MAX_ENUM = 0x7fffffff
} SluiceStreamEventKind;

typedef struct SluiceStreamEvent {
    SluiceStreamEventKind kind; // what has happened
    // OK; IO; CHECKSUM (a tile is damaged, see tileStatus); FORMAT (the records of the asset's
    // tiles are damaged; or, with tileStatus BAD_CODE, blocks of UASTC are invalid); VERSION (the
    // asset's tiles need a newer version); DEVICE; CANCELLED; UNSUPPORTED or BUFFER_SIZE where an
    // archive has tiles too small, or too many filters, for a unit or a row of an image to fit into
    // a batch; UNSUPPORTED and OUT_OF_MEMORY for a level of a KTX2 file that is too large. OPENED
    // has FORMAT, CHECKSUM and VERSION for the whole file, OUT_OF_MEMORY, BUFFER_SIZE (the file is
    // cut off), and UNSUPPORTED (the supercompression scheme of a KTX2 file).
    SluiceStatus status;
    SluiceStreamGroup group; // RECORDED, END
    SluiceStreamFile file;   // OPENED
    uint64_t user, tag;      // as the caller gave them; files have no tag
    uint32_t failedRequests; // requests of the group that failed
    uint32_t firstRequest;   // index of the first failed request; 0xffffffff: none
    uint32_t firstTile;      // index, in that request's asset, of the tile at fault; 0xffffffff:
                             // none
    uint32_t tileStatus;     // SluiceTileStatus of that tile
    int32_t osError;         // IO: errno of the failed open or read; 0: the file ended too early
    uint64_t fileOffset;     // offset of the failed read, tile or records in the file
    uint64_t value; // SluiceStreamBudget::value of the last batch with work of the group; 0: none
} SluiceStreamEvent;

// Finds out which batches are complete and which groups have nothing left to wait for, signals the
// semaphores of groups that have ended, and returns events.
//   count   in: room in events; out: the number of events returned. The next call returns the rest
// Errors: ARGUMENT, DEVICE (once, when the device is found to be lost).
SLUICE_API SluiceStatus sluiceStreamPoll(SluiceStreamer streamer, SluiceStreamEvent* events,
                                         uint32_t* count);

// Returns a file descriptor (an eventfd of Linux) that is readable while there are events to poll
// of groups that no longer need the GPU. sluiceStreamPoll resets it. It does not become readable
// when a batch completes. -1: the system has none.
SLUICE_API int sluiceStreamEventFd(SluiceStreamer streamer);

// The reason why a unit of an archive was decoded by the CPU or by the GPU.
typedef enum SluiceStreamReason {
    SLUICE_STREAM_CPU_HOST = 0, // CPU: it goes to host memory, or there is no gpu
    // CPU: the GPU may not decode it, because of SluiceStreamerInfo::context or decoding, because
    // the context has refused a pipeline that it needs, or because scratch is too small for it.
    SLUICE_STREAM_CPU_ONLY = 1,
    SLUICE_STREAM_CPU_RETRIED = 2,   // CPU: the GPU tried, but left a tile undecoded
    SLUICE_STREAM_CPU_PIPELINES = 3, // CPU: a pipeline that it needs does not exist yet
    SLUICE_STREAM_CPU_SOONER = 4,    // CPU: threads decode all that waits sooner than a batch does
    // CPU: the budget is too small for all units that wait. The unit would have waited for a later
    // batch, or even a batch with only this unit would have exceeded the budget.
    SLUICE_STREAM_CPU_BUDGET = 5,
    SLUICE_STREAM_CPU_BEHIND = 6,   // CPU: the GPU still has batches to do
    SLUICE_STREAM_CPU_TRIED = 7,    // CPU: to measure threads that have decoded nothing for a while
    SLUICE_STREAM_GPU = 8,          // GPU: it decodes sooner, or only it may
    SLUICE_STREAM_GPU_CPU_BUSY = 9, // GPU: threads would have been sooner, but were busy
    SLUICE_STREAM_GPU_TRIED = 10,   // GPU: to measure it after it has decoded nothing for a while
    SLUICE_STREAM_REASON_MAX_ENUM = 0x7fffffff
} SluiceStreamReason;
#define SLUICE_STREAM_REASONS 11u

// Counts the units that were decoded for one SluiceStreamReason.
typedef struct SluiceStreamShare {
    uint64_t units; // units, including units with damaged tiles
    uint64_t bytes; // decoded bytes of their tiles
} SluiceStreamShare;

// The streamer's state in numbers. Sizes are in bytes.
typedef struct SluiceStreamCounters {
    uint32_t groups;   // groups under way
    uint32_t requests; // requests of those groups
    // The numbers of units that are being read, that a thread decodes, that wait to be recorded or
    // decoded, and that are recorded in a batch (docs/streaming.md).
    uint32_t reading, decoding, ready, recorded;
    uint64_t sourceUsed, outputUsed; // bytes of the two rings in use
    // Totals since creation. A tile counts with all its bytes, even if only a part of it was
    // needed. It is decoded and counted once if a CPU thread needs it for several requests in a
    // row, or if several units of one batch share it.
    uint64_t bytesRead, bytesDecoded;
    uint64_t wastedBytes;    // bytes read for groups that were cancelled
    uint32_t retriedTiles;   // tiles that the CPU decoded again
    float floorMilliseconds; // the cost model's time for a batch of one 64 KiB tile
    // The cost model's time per MiB in large batches, for decoded GDeflate, Gstd and float, and for
    // copies.
    float millisecondsPerMiB[4];
    // The mean of |predicted - measured| / measured over the last batches.
    float predictionError;
    // A thread's predicted time per MiB decoded of GDeflate, Gstd and float, without filters. It is
    // learnt where both sides decode, and from data that goes to host memory.
    float threadMillisecondsPerMiB[3];
    SluiceStreamShare shares[SLUICE_STREAM_REASONS]; // totals since creation, by SluiceStreamReason
} SluiceStreamCounters;
SLUICE_API SluiceStatus sluiceStreamGetCounters(SluiceStreamer streamer,
                                                SluiceStreamCounters* counters);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_STREAM_H
