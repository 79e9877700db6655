// SPDX-License-Identifier: MIT OR Apache-2.0
//
// sluice: compressed assets in, bytes on the GPU out.
//
// This header is the backend-neutral contract that all commands share: status values, buffers,
// lists of regions, contexts, barriers and checksums. Each family of commands has its own header
// (sluice_gdeflate.h, sluice_gstd.h, sluice_filter.h, sluice_scan.h ...); sluice_all.h includes all
// of them. The header is plain C11 (and C++11 or later), needs neither Vulkan nor CUDA headers and
// includes only <stddef.h> and <stdint.h>. sluice_vulkan.h and sluice_cuda.h create contexts of
// their APIs; sluiceCreateCpuContext below creates a context of the CPU.
//
// Rules that hold for every function
//
//   Ownership      The caller owns all memory. Ask sluiceGet...Requirements for the scratch size,
//                  allocate, then record with sluiceCmd.... A sluiceCmd... call allocates nothing,
//                  submits nothing, waits for nothing and keeps no pointer to its info structure.
//   Backends       The same sluiceCmd... functions serve all backends. `commands` is
//                    Vulkan  a VkCommandBuffer in the recording state, outside a render pass, on a
//                            queue family with compute support (sluiceVulkanCommands); the call
//                            records;
//                    CUDA    a stream (sluiceCudaCommands); the call enqueues, may be captured into
//                            a graph, and never synchronizes;
//                    CPU     NULL; the work is done when the call returns.
//   Clobbered      On Vulkan a call overwrites the bound compute pipeline and the push constants of
//                  the compute bind point. It neither uses nor changes descriptor sets, and leaves
//                  all other state of the command buffer as it is.
//   Barriers       Before a call, the caller makes the memory that the call reads visible to
//                  COMPUTE_SHADER / SHADER_READ (counts in GPU memory are read, too), and the
//                  memory that the call writes to COMPUTE_SHADER / SHADER_WRITE as well. After the
//                  call, its results are writes of COMPUTE_SHADER / SHADER_WRITE. sluiceCmdBarrier
//                  is enough between two sluice commands, and between a sluice command and
//                  transfers or indirect reads, in either order. The call itself records the
//                  barriers between its own dispatches.
//   Threads        Any number of threads may use a context at the same time. `commands` follows the
//                  rules of its own API (one thread at a time). No function blocks, holds a lock
//                  across a driver call, starts a thread, prints, throws, or depends on the locale.
//   Errors         A call that fails records nothing. A call cannot know whether the data are
//                  valid, so it never reports errors of the data (a damaged tile). The device
//                  reports them in status words.
//   Hostile data   The following holds for any contents of source buffers, region lists, counts and
//                  offsets. No byte outside the buffers named in the call is read or written. No
//                  destination byte outside the documented range changes. The work is bounded by
//                  the limits in docs/format.md.
//   Buffers        VkBuffers need VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT (and STORAGE_BUFFER).
//                  Offsets are in bytes and must respect the alignment that each member states.
//                  Tiers without 8-bit stores (SluiceContextInfo::byteStores is 0) write the last
//                  word of a destination atomically as a whole word if the destination's size is
//                  not a multiple of 4. The word's other bytes keep their values. The VkBuffer must
//                  then reach to the end of that word, and nothing else may write the word at the
//                  same time.
#ifndef SLUICE_H
#define SLUICE_H

#include <stddef.h>
#include <stdint.h>

#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 2
#define SLUICE_VERSION_PATCH 0

#if defined(SLUICE_STATIC)
#define SLUICE_API
#elif defined(_WIN32)
#if defined(SLUICE_BUILD)
#define SLUICE_API __declspec(dllexport)
#else
#define SLUICE_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define SLUICE_API __attribute__((visibility("default")))
#else
#define SLUICE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// -----------------------------------------------------------------------------------------------
// Status

// Functions return one of these on the host. Values are stable; new ones are appended.
typedef enum SluiceStatus {
    SLUICE_OK = 0,
    SLUICE_ERROR_ARGUMENT = 1,      // a NULL, or an alignment, range or enum value that the
                                    // contract does not allow
    SLUICE_ERROR_OUT_OF_MEMORY = 2, // host memory (contexts, the convenience layer, and
                                    // sluiceCmdZstd on the CPU)
    SLUICE_ERROR_UNSUPPORTED = 3,   // the device, its enabled features or this build lack something
                                    // that the report names
    SLUICE_ERROR_DEVICE = 4,        // a driver call failed
    SLUICE_ERROR_FORMAT = 5,        // parsers: the bytes are not what the format allows
    SLUICE_ERROR_VERSION = 6,       // parsers: well-formed, but of a newer version, or with an
                                    // unknown codec or filter
    SLUICE_ERROR_BUFFER_SIZE = 7,   // an output or scratch buffer is smaller than required
    SLUICE_ERROR_IO = 8,            // convenience layer: a file could not be read or written
    SLUICE_ERROR_CHECKSUM = 9,      // parsers: a checksum of a header or table does not match
    SLUICE_ERROR_NOT_READY = 10,    // the context does not have the command's pipelines (yet): call
                                    // sluiceCreatePipelines. Nothing was recorded
    SLUICE_ERROR_CANCELLED = 11,    // streaming: the group was cancelled before it was done
    SLUICE_ERROR_FULL = 12,     // streaming: there is no room. Nothing was taken: poll for events,
                                // which make room, and try again
    SLUICE_ERROR_NOT_OPEN = 13, // streaming: the file is still being opened: wait for its OPENED
                                // event
    SLUICE_STATUS_MAX_ENUM = 0x7fffffff
} SluiceStatus;

// Returns one line of English for a status, or "unknown status" for an unknown value. The text is
// never NULL and never freed. Thread-safe.
SLUICE_API const char* sluiceGetStatusText(SluiceStatus status);

// The device writes one of these per tile or region, as one u32. A command first sets all of its
// status words to PENDING; only its kernels write other values. The same bytes give the same status
// on every backend and tier.
typedef enum SluiceTileStatus {
    SLUICE_TILE_PENDING = 0,    // not decoded: the command did not run, or not to its end
    SLUICE_TILE_OK = 1,         // decoded, exactly the expected number of bytes
    SLUICE_TILE_BAD_REGION = 2, // the region is outside its buffer, unaligned, empty, or larger
                                // than a tile may be; the tile is skipped
    SLUICE_TILE_TRUNCATED = 3,  // the compressed bytes end too early
    SLUICE_TILE_BAD_CODE = 4,   // reserved block type, over-subscribed or incomplete code, bad
                                // code length, undefined symbol
    SLUICE_TILE_BAD_OFFSET = 5, // a match reaches before the start of the tile
    SLUICE_TILE_TOO_LONG = 6,   // more output than the region's decompressed size
    SLUICE_TILE_TOO_SHORT = 7,  // less output than the region's decompressed size
    SLUICE_TILE_LIMIT = 8,      // the tile needs more work than is allowed (GDeflate: over 256
                                // blocks; Gstd: too many sequences, or copies nested too deeply)
    SLUICE_TILE_INTERNAL = 9,   // the kernel stopped early for a reason that is not in the data (a
                                // loop limit of the driver)
    SLUICE_TILE_BAD_CHECKSUM = 10, // decoded, but the bytes do not have the expected checksum
    SLUICE_TILE_UNVERIFIED = 11,   // passed to the driver's decoder, which reports no errors; not
                                   // counted as failed
    SLUICE_TILE_BAD_INDEX = 12,    // the index of a block contradicts itself or the block's codes
                                   // (sluice_df11.h)
    SLUICE_TILE_BAD_FILTER = 13,   // the filter's description breaks a rule, or its sections do not
                                   // fit the tile
    SLUICE_TILE_UNSUPPORTED = 14,  // a Zstandard frame names a dictionary that was not given
    SLUICE_TILE_STATUS_MAX_ENUM = 0x7fffffff
} SluiceTileStatus;

// Returns one line of English for a tile status. The text is never NULL. Thread-safe.
SLUICE_API const char* sluiceGetTileStatusText(uint32_t tileStatus);

// sluiceGetVersion returns the version of the library as built: major << 22 | minor << 12 | patch.
#define SLUICE_MAKE_VERSION(major, minor, patch)                                                   \
    ((((uint32_t)(major)) << 22) | (((uint32_t)(minor)) << 12) | ((uint32_t)(patch)))
SLUICE_API uint32_t sluiceGetVersion(void);

// Says why a function refused an argument. Reports are made only if there is a
// SluiceReportFunction.
typedef struct SluiceReport {
    const char* function; // the function's name: "sluiceCmdScan"
    // The argument, or the member of an argument's structure: "info", "heads", "image.newLayout".
    const char* member;
    // The rule that was broken, in English; `member` is its subject: "is a multiple of the limit".
    const char* rule;
    // The member's value: for a buffer the size, offset or address that the rule is about, for a
    // pointer its address, for other structures 0.
    uint64_t value;
    uint64_t limit;      // the number that the rule calls the limit; 0 if it names none
    uint32_t index;      // index of the request or tile that has the member; 0xffffffff: none
    SluiceStatus status; // the status that the function returns
} SluiceReport;

// Receives reports, for a debugger or a log. A function that refuses an argument calls it once, in
// the thread that called the function, before it returns the error. So several threads may call it
// at the same time. The report's texts are constants. If the context, streamer, submitter or file
// is NULL, there is no function to call, and nothing is reported. If NULL is passed instead of this
// function, there are no reports, and checks take no additional time.
typedef void (*SluiceReportFunction)(void* user, const SluiceReport* report);

// -----------------------------------------------------------------------------------------------
// Buffers and commands

// A range of device memory.
typedef struct SluiceBuffer {
    // Vulkan: the VkBuffer (sluiceVulkanBuffer); CUDA: the device pointer; CPU: the host pointer.
    uint64_t handle;
    // Bytes from the start of that VkBuffer, or from that pointer, to the start of the range.
    uint64_t offset;
    // Bytes in the range. 0 is a valid, empty range for members that allow it.
    uint64_t size;
} SluiceBuffer;

typedef struct SluiceCommands_T* SluiceCommands;
typedef struct SluiceContext_T* SluiceContext;

// sluiceGet...Requirements returns the scratch that a command needs. Commands that may run at the
// same time must not share scratch. Commands that run one after the other, with a barrier between
// them, may share it.
typedef struct SluiceRequirements {
    uint64_t scratchSize;      // bytes; 0: the command ignores scratch
    uint64_t scratchAlignment; // bytes, a power of two; applies to the device address
    // 1: The first scratchSize bytes must be zero when the command starts, and the command leaves
    // them zero. So clear the scratch once after allocating it; any number of such commands can use
    // it one after the other, and none needs a dispatch that clears it. If the bytes are not zero,
    // the command's results are undefined, but it still stays inside its own buffers and still
    // ends. 0: The scratch needs no initialisation, and its contents are undefined afterwards.
    uint32_t zeroedScratch;
} SluiceRequirements;

// -----------------------------------------------------------------------------------------------
// Contexts

typedef enum SluiceBackend {
    SLUICE_BACKEND_CPU = 0,
    SLUICE_BACKEND_VULKAN = 1,
    SLUICE_BACKEND_CUDA = 2,
    SLUICE_BACKEND_MAX_ENUM = 0x7fffffff
} SluiceBackend;

// Sets of pipelines; values can be or-ed. Each set holds everything that its commands dispatch,
// including the kernels for statuses and checksums. Creating a pipeline takes time, so the larger
// families are split into several sets.
typedef enum SluiceKernels {
    // sluiceCmdScan and sluiceCmdReduce of 32-bit values, without heads, except sums of f32.
    SLUICE_KERNELS_SCAN_WORDS = 1,
    // sluiceCmdCompact of 4-byte elements, or of indices only.
    SLUICE_KERNELS_COMPACT_WORDS = 2,
    SLUICE_KERNELS_INTERVAL = 4,                  // sluiceCmdInterval..., sluiceCmdBulk...
    SLUICE_KERNELS_GDEFLATE_LINEAR = 8,           // sluiceCmdGdeflate with rowBytes 0
    SLUICE_KERNELS_TILE_STREAMS = 16,             // sluiceCmdTileStreams
    SLUICE_KERNELS_GSTD = 32,                     // sluiceCmdGstd
    SLUICE_KERNELS_FILTER = 64,                   // sluiceCmdFilter
    SLUICE_KERNELS_FLOAT = 128,                   // sluiceCmdFloatDecode
    SLUICE_KERNELS_DF11 = 256,                    // sluiceCmdDf11
    SLUICE_KERNELS_FSE = 512,                     // sluiceCmdFseTables
    SLUICE_KERNELS_CHECKSUM = 1024,               // sluiceCmdChecksum
    SLUICE_KERNELS_SCAN_F32 = 2048,               // sums of f32, without heads
    SLUICE_KERNELS_SCAN_U64 = 4096,               // scans and reductions of u64, without heads
    SLUICE_KERNELS_SCAN_SEGMENTS = 8192,          // sluiceCmdScan with heads, of every type
    SLUICE_KERNELS_COMPACT_SIZES = 16384,         // sluiceCmdCompact of elements of other sizes
    SLUICE_KERNELS_GDEFLATE_ROWS = 32768,         // sluiceCmdGdeflate into a pitched destination
    SLUICE_KERNELS_SCAN = 1 | 2048 | 4096 | 8192, // sluiceCmdScan, sluiceCmdReduce
    SLUICE_KERNELS_COMPACT = 2 | 16384,           // sluiceCmdCompact
    SLUICE_KERNELS_GDEFLATE = 8 | 32768,          // sluiceCmdGdeflate
    // All of the above. The sets below are not included and must be requested by name.
    SLUICE_KERNELS_ALL = 65535,
    SLUICE_KERNELS_ZSTD = 65536,   // sluiceCmdZstd
    SLUICE_KERNELS_UASTC = 131072, // sluiceCmdUastc
    SLUICE_KERNELS_MAX_ENUM = 0x7fffffff
} SluiceKernels;

typedef struct SluiceContextInfo {
    SluiceBackend backend; // where the context's commands run
    // "base", "ext", "emu4" ... "emu128", "native" (CUDA), "fast" and "ref" (CPU). The text lives
    // as long as the context.
    const char* tier;
    uint32_t subgroupSize; // lanes that run together, in hardware or emulated; 1 on the CPU
    // 1: Destinations are written byte by byte. 0: The words at a destination's edges are written
    // atomically.
    uint32_t byteStores;
    // Says why this tier was chosen and not a better one, with one reason per line. The text lives
    // as long as the context.
    const char* report;
    // The largest number of regions that a command with SLUICE_DECODE_BY_DRIVER accepts; 0: the
    // driver's decoder is not available.
    uint32_t driverRegionLimit;
    // SluiceKernels whose commands can be called now. On CUDA and the CPU these are all that the
    // library was built with.
    uint32_t kernels;
    // SluiceKernels for which the driver failed to create a necessary pipeline, or whose results
    // were wrong in a self-test (sluice_self_test.h). Their commands return UNSUPPORTED on this
    // context.
    uint32_t refusedKernels;
} SluiceContextInfo;

// Creates a context that runs every command in the calling thread, with decoders optimised for
// speed. Commands that write different memory may run in any number of threads at the same time. To
// decode a long list of tiles on all cores, give each thread a part of the list.
//   context   receives the context; destroy it with sluiceDestroyContext
// Errors: ARGUMENT (context is NULL), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateCpuContext(SluiceContext* context);

// Creates a context of the CPU like sluiceCreateCpuContext, with a choice of decoders.
//   tier   "fast" (the default, also for NULL) or "ref", the plain code that every other tier and
//          backend is compared with. "fast" and "ref" give the same bytes and statuses
// Errors: ARGUMENT (including an unknown tier), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateCpuContextOfTier(const char* tier, SluiceContext* context);

// Destroys a context of any backend; NULL is allowed. On Vulkan no command buffer that was recorded
// with the context may be pending.
SLUICE_API void sluiceDestroyContext(SluiceContext context);

// Fills *info. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetContextInfo(SluiceContext context, SluiceContextInfo* info);

// Sets the function that receives reports of arguments that the context's functions refuse. For
// Vulkan and CUDA it can also be set when the context is created. No other thread may use the
// context during the call.
//   report   NULL: no reports
//   user     the `user` of `report`
// Errors: ARGUMENT (context is NULL).
SLUICE_API SluiceStatus sluiceSetReport(SluiceContext context, SluiceReportFunction report,
                                        void* user);

typedef enum SluicePipelineFlags {
    // Leaves out variants that only serve speed, such as those for few tiles, for many tiles or for
    // short runs. Until a variant is created, another pipeline does its work.
    SLUICE_PIPELINES_NECESSARY = 1,
    SLUICE_PIPELINE_FLAGS_MAX_ENUM = 0x7fffffff
} SluicePipelineFlags;
// Names the pipelines that sluiceCreatePipelines creates.
typedef struct SluicePipelinesInfo {
    uint32_t kernels; // SluiceKernels, or-ed; 0: none
    uint32_t flags;   // SluicePipelineFlags, or-ed
    uint32_t most;    // one call creates at most this many, which keeps a job short; 0: no limit
} SluicePipelinesInfo;

// Creates pipelines in the calling thread. A Vulkan context has none at first, and no command ever
// creates one: a command returns NOT_READY until the pipelines of its set exist. CUDA and the CPU
// need no pipelines.
//
// Any number of threads may call this at the same time, also while others record commands. Each
// pipeline is created once, by one of the threads; those that take longest come first. A call
// returns when every pipeline of the set exists or is being created by another thread. So N jobs
// that make the same call share the work, and the set is complete when all of them have returned
// OK. sluiceGetContextInfo says which sets are complete. A pipeline that the driver fails to
// compile is not tried again. The rest of the set is still created, and only the commands that need
// the failed pipeline are lost. If that pipeline was a necessary one, the call that leaves nothing
// to create returns UNSUPPORTED.
//   left   may be NULL; receives the number of the set's pipelines that no thread has begun to
//          create
// Errors: ARGUMENT (bits that are no SluiceKernels or flags), UNSUPPORTED (this build leaves out
// the component of some of the kernels, or some are in SluiceContextInfo::refusedKernels),
// OUT_OF_MEMORY, DEVICE (the device is lost). After OUT_OF_MEMORY or DEVICE the call may be made
// again.
SLUICE_API SluiceStatus sluiceCreatePipelines(SluiceContext context,
                                              const SluicePipelinesInfo* info, uint32_t* left);

// Records a memory barrier that orders all earlier sluice commands, transfers and indirect reads in
// `commands` before all later ones. On Vulkan both scopes are the reads and writes of
// COMPUTE_SHADER | TRANSFER | DRAW_INDIRECT, and the second one also has the reads of HOST. So the
// host can read status words in mapped memory once a fence or a semaphore says that the submission
// has ended; memory that is not HOST_COHERENT must be invalidated, too. On CUDA and on the CPU
// nothing is recorded. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceCmdBarrier(SluiceContext context, SluiceCommands commands);

// -----------------------------------------------------------------------------------------------
// Lists of tiles

// One tile to decode, laid out exactly like VkDecompressMemoryRegionEXT. The structure of
// VK_NV_memory_decompression has the same members and one more at its end, so a list of those can
// be used with a regionStride of 40. Addresses are device addresses (Vulkan: of the VkBuffer; CUDA:
// device pointers; CPU: host pointers). The ranges below are those of GDeflate; commands with other
// ranges state them.
typedef struct SluiceRegion {
    uint64_t srcAddress;       // of the compressed bytes, a multiple of 4
    uint64_t dstAddress;       // of the decoded bytes, a multiple of 4
    uint64_t compressedSize;   // bytes, 1 .. 131,072
    uint64_t decompressedSize; // bytes, 1 .. 65,536; exactly what the tile decodes to
} SluiceRegion;

typedef enum SluiceDecodeFlags {
    // A region with compressedSize == decompressedSize holds plain bytes, which are copied. Without
    // this flag such a region is decoded like any other.
    SLUICE_DECODE_STORED_IF_EQUAL = 1,
    // The Vulkan driver decodes instead of sluice, with VK_EXT_memory_decompression or, where only
    // that is enabled, VK_NV_memory_decompression. sluice never chooses this by itself. The call
    // returns UNSUPPORTED if the context's enabled extensions do not offer it. sluice_gdeflate.h
    // describes what the driver does.
    SLUICE_DECODE_BY_DRIVER = 2,
    SLUICE_DECODE_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceDecodeFlags;

// -----------------------------------------------------------------------------------------------
// Checksum

// Compares decoded tiles with their expected checksums, on the device. Run it after the decode,
// with a barrier between them, on the same list, destination and status words. It checks the tiles
// whose status is OK or UNVERIFIED. If the bytes match, the status becomes OK; otherwise it becomes
// BAD_CHECKSUM, and the tile is added to the summary. Tiles with another status are left alone.
// SluiceGdeflateInfo::expected does the same as part of the decode.
//
// The checksum of a tile of n bytes is defined as follows. Let W = ceil(n / 4) words and
// P = ceil(W / 32). The bytes are cut into 32 pieces of P words; piece k is this range of bytes:
//   [min(n, 4 * P * k), min(n, 4 * P * (k + 1)))
// Each piece has an XXH32 value (seed 0), stored as 4 bytes little-endian. The checksum is the
// XXH32 (seed 0) of these 32 values. github.com/Cyan4973/xxHash, doc/xxhash_spec.md, describes
// XXH32.
typedef struct SluiceChecksumInfo {
    // The list has at most this many regions, 0 .. 2^24.
    uint32_t maxRegionCount;
    // Bytes from one region to the next: a multiple of 4, at least 32.
    uint32_t regionStride;
    // Bytes per row of a pitched destination (sluice_gdeflate.h): a multiple of 4, 4 .. 2^30. 0
    // means that the destination is linear.
    uint32_t rowBytes;
    // Bytes from one row to the next: a multiple of 4, at least rowBytes. It is 0 if rowBytes is 0.
    uint32_t rowPitch;
    // (maxRegionCount - 1) * regionStride + 32 bytes or more, 8-byte aligned: SluiceRegions, of
    // which only dstAddress and decompressedSize are read. A tile may have 1 .. 1,048,576 bytes,
    // more than any decode allows per region, because the float tiles of an archive are that large.
    // A tile that is larger, not 4-byte aligned or not inside destination becomes BAD_CHECKSUM.
    SluiceBuffer regions;
    // 4 bytes in GPU memory, 4-byte aligned: the number of regions to compare, clamped to
    // maxRegionCount. If this range is empty (size 0), maxRegionCount regions are compared.
    SluiceBuffer regionCount;
    // The decoded bytes, which are only read. A pitched destination must be 4-byte aligned.
    SluiceBuffer destination;
    // maxRegionCount * 4 bytes, 4-byte aligned: word i is the checksum that region i must have.
    SluiceBuffer expected;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned, as the decode has written them: a
    // SluiceTileStatus per region, then the number of regions that failed, and the index of the
    // first failed region or 0xffffffff.
    SluiceBuffer status;
} SluiceChecksumInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdChecksum(SluiceContext context, SluiceCommands commands,
                                          const SluiceChecksumInfo* info);

// Computes the same checksum on the host.
//   bytes   size readable bytes, any alignment
//   size    0 .. 2^32 - 1
// Never fails. Thread-safe.
SLUICE_API uint32_t sluiceTileChecksum(const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif // SLUICE_H
