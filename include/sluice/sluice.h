// SPDX-License-Identifier: MIT OR Apache-2.0
//
// sluice: compressed assets in, bytes on the GPU out.
//
// This header is the backend-neutral contract that all commands share: status values, buffers,
// lists of regions, contexts, barriers and checksums. Each family of commands has a header of its
// own (sluice_gdeflate.h, sluice_gstd.h, sluice_filter.h, sluice_scan.h ...), and sluice_all.h has
// them all. It is plain C11 (C++11 and later too), needs neither Vulkan nor CUDA headers and pulls
// in <stddef.h> and <stdint.h> only. A context comes from sluice_vulkan.h, sluice_cuda.h or, for
// the CPU, from sluiceCreateCpuContext below.
//
// Rules that hold for every function
//
//   Ownership      The caller owns all memory. Ask sluiceGet...Requirements for the scratch size,
//                  allocate, then record with sluiceCmd.... A sluiceCmd... call allocates nothing,
//                  submits nothing, waits for nothing and keeps no pointer to its info structure.
//   Backends       One set of sluiceCmd... functions serves all of them. `commands` is
//                    Vulkan  a VkCommandBuffer in the recording state, outside a render pass, on a
//                            queue family with compute support (sluiceVulkanCommands); the call
//                            records;
//                    CUDA    a stream (sluiceCudaCommands); the call enqueues, may be captured into
//                            a graph, and never synchronizes;
//                    CPU     NULL; the work is done when the call returns.
//   Clobbered      On Vulkan a call overwrites the bound compute pipeline and the push constants of
//                  the compute bind point. Descriptor sets are neither used nor changed. Nothing
//                  else is touched.
//   Barriers       Before: what the call reads must be visible to COMPUTE_SHADER / SHADER_READ (and
//                  SHADER_WRITE for memory it writes); GPU-side counts too. After: results are made
//                  by COMPUTE_SHADER / SHADER_WRITE. sluiceCmdBarrier is enough on both sides
//                  between two sluice commands and towards transfer and indirect reads. Barriers
//                  between the dispatches of one call are recorded by the call itself.
//   Threads        A context may be used from any number of threads at once; `commands` follows the
//                  rules of its own API (one thread at a time). No function blocks, takes a lock
//                  that is held across a driver call, starts a thread, prints, throws, or depends
//                  on the locale.
//   Errors         A call that fails records nothing. Errors of the data (a damaged tile) are never
//                  reported by the call, which cannot know them, but by the status words that the
//                  device writes.
//   Hostile data   Whatever the contents of source buffers, region lists, counts and offsets: no
//                  byte outside the buffers named in the call is read or written, no destination
//                  byte outside the range it documents changes, and the work is bounded by the
//                  limits in docs/format.md.
//   Buffers        VkBuffers need VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT (and STORAGE_BUFFER).
//                  Offsets are in bytes and must respect the alignment that each member states. On
//                  tiers without 8-bit stores (see sluiceGetContextInfo) the last word of a
//                  destination whose size is not a multiple of 4 is updated atomically as a whole
//                  word, its other bytes unchanged: the VkBuffer must reach to that word's end, and
//                  nobody else may write that word meanwhile.
#ifndef SLUICE_H
#define SLUICE_H

#include <stddef.h>
#include <stdint.h>

#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
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

// A host call returns one of these. Values are stable; new ones are appended.
typedef enum SluiceStatus {
    SLUICE_OK = 0,
    SLUICE_ERROR_ARGUMENT = 1,      // a NULL, an alignment, a range or an enum value outside its
                                    // contract
    SLUICE_ERROR_OUT_OF_MEMORY = 2, // host memory (contexts and the convenience layer only)
    SLUICE_ERROR_UNSUPPORTED = 3,   // the device, its enabled features or this build lack something
                                    // named by the report
    SLUICE_ERROR_DEVICE = 4,        // a driver call failed
    SLUICE_ERROR_FORMAT = 5,        // parsers: the bytes are not what the format allows
    SLUICE_ERROR_VERSION = 6,       // parsers: well-formed, but of a newer version or an unknown
                                    // codec or filter
    SLUICE_ERROR_BUFFER_SIZE = 7,   // an output or scratch buffer is smaller than required
    SLUICE_ERROR_IO = 8,            // convenience layer: a file could not be read or written
    SLUICE_ERROR_CHECKSUM = 9,      // parsers: a checksum of a header or table does not match
    SLUICE_ERROR_NOT_READY = 10,    // the context does not have the command's pipelines (yet):
                                    // sluiceCreatePipelines. Nothing was recorded
    SLUICE_ERROR_CANCELLED = 11,    // streaming: the group was cancelled before it was done
    SLUICE_STATUS_MAX_ENUM = 0x7fffffff
} SluiceStatus;

// Returns one line of English for a status; never NULL, never freed. Unknown values give "unknown
// status". Thread-safe.
SLUICE_API const char* sluiceGetStatusText(SluiceStatus status);

// The device writes one of these for each tile or region, as one u32. A command first sets all of
// its words to PENDING; any other value comes from the kernel alone. The same bytes give the same
// status on every backend and tier.
typedef enum SluiceTileStatus {
    SLUICE_TILE_PENDING = 0,    // not decoded: the command did not run (to its end)
    SLUICE_TILE_OK = 1,         // decoded, exactly the expected number of bytes
    SLUICE_TILE_BAD_REGION = 2, // region outside its buffer, unaligned, empty, or larger than a
                                // tile may be; skipped
    SLUICE_TILE_TRUNCATED = 3,  // the compressed bytes end too early
    SLUICE_TILE_BAD_CODE = 4,   // reserved block type, over-subscribed or incomplete code, bad
                                // code length, undefined symbol
    SLUICE_TILE_BAD_OFFSET = 5, // a match reaches before the start of the tile
    SLUICE_TILE_TOO_LONG = 6,   // more output than the region's decompressed size
    SLUICE_TILE_TOO_SHORT = 7,  // less output than the region's decompressed size
    SLUICE_TILE_LIMIT = 8,      // more work than a tile may ask for (GDeflate: over 256 blocks;
                                // Gstd: too many sequences, or copies nested too deeply)
    SLUICE_TILE_INTERNAL = 9,   // the kernel stopped early for a reason that is not in the data (a
                                // driver's loop limit)
    SLUICE_TILE_BAD_CHECKSUM = 10, // decoded, but the bytes do not have the expected checksum
    SLUICE_TILE_UNVERIFIED = 11,   // given to the driver's decoder, which reports nothing; not
                                   // counted as failed
    SLUICE_TILE_BAD_INDEX = 12,    // the index of a block contradicts itself or its codes
                                   // (sluice_df11.h)
    SLUICE_TILE_BAD_FILTER = 13,   // the description of a filter breaks a rule, or its sections do
                                   // not fit the tile
    SLUICE_TILE_UNSUPPORTED = 14,  // a Zstandard frame names a dictionary that was not given
    SLUICE_TILE_STATUS_MAX_ENUM = 0x7fffffff
} SluiceTileStatus;

// Returns one line of English for a tile status; never NULL. Thread-safe.
SLUICE_API const char* sluiceGetTileStatusText(uint32_t tileStatus);

// sluiceGetVersion returns the version of the library as built: major << 22 | minor << 12 | patch.
#define SLUICE_MAKE_VERSION(major, minor, patch)                                                   \
    ((((uint32_t)(major)) << 22) | (((uint32_t)(minor)) << 12) | ((uint32_t)(patch)))
SLUICE_API uint32_t sluiceGetVersion(void);

// -----------------------------------------------------------------------------------------------
// Buffers and commands

// A range of device memory.
typedef struct SluiceBuffer {
    // Vulkan: the VkBuffer (sluiceVulkanBuffer); CUDA: the device pointer; CPU: the host pointer.
    uint64_t handle;
    // Bytes from the start of the handle to the range.
    uint64_t offset;
    // Bytes in the range; 0 is a valid, empty range where the member allows it.
    uint64_t size;
} SluiceBuffer;

typedef struct SluiceCommands_T* SluiceCommands;
typedef struct SluiceContext_T* SluiceContext;

// sluiceGet...Requirements returns the scratch that a command needs. Commands that may run at the
// same time need scratch of their own; one after the other (with a barrier between) they may share
// it.
typedef struct SluiceRequirements {
    uint64_t scratchSize;      // bytes; 0: scratch is ignored
    uint64_t scratchAlignment; // bytes, a power of two; applies to the device address
    // 1: The first scratchSize bytes must be zero when the command starts, and it leaves them zero:
    // clear scratch once after allocating it, and any number of such commands can use it in turn.
    // This saves a clear and further dispatches. If they are not zero the command's results are
    // undefined, still inside its own buffers, and it still ends. 0: The contents need no
    // initialisation and are undefined afterwards.
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

// These are sets of pipelines, or-ed. Each holds all that its commands dispatch, statuses and
// checksums included. The larger families can be asked for in parts, because making each pipeline
// takes time.
typedef enum SluiceKernels {
    // sluiceCmdScan and sluiceCmdReduce of 32-bit values, without heads, but not sums of f32.
    SLUICE_KERNELS_SCAN_WORDS = 1,
    // sluiceCmdCompact of elements of 4 bytes, or of indices alone.
    SLUICE_KERNELS_COMPACT_WORDS = 2,
    SLUICE_KERNELS_INTERVAL = 4,          // sluiceCmdInterval..., sluiceCmdBulk...
    SLUICE_KERNELS_GDEFLATE_LINEAR = 8,   // sluiceCmdGdeflate with rowBytes 0
    SLUICE_KERNELS_TILE_STREAMS = 16,     // sluiceCmdTileStreams
    SLUICE_KERNELS_GSTD = 32,             // sluiceCmdGstd
    SLUICE_KERNELS_FILTER = 64,           // sluiceCmdFilter
    SLUICE_KERNELS_FLOAT = 128,           // sluiceCmdFloatDecode
    SLUICE_KERNELS_DF11 = 256,            // sluiceCmdDf11
    SLUICE_KERNELS_FSE = 512,             // sluiceCmdFseTables
    SLUICE_KERNELS_CHECKSUM = 1024,       // sluiceCmdChecksum
    SLUICE_KERNELS_SCAN_F32 = 2048,       // sums of f32, without heads
    SLUICE_KERNELS_SCAN_U64 = 4096,       // scans and reductions of u64, without heads
    SLUICE_KERNELS_SCAN_SEGMENTS = 8192,  // sluiceCmdScan with heads, of every type
    SLUICE_KERNELS_COMPACT_SIZES = 16384, // sluiceCmdCompact of elements of 1, 2, 8 and 16 bytes
    SLUICE_KERNELS_GDEFLATE_ROWS = 32768, // sluiceCmdGdeflate into a pitched destination
    SLUICE_KERNELS_SCAN = 1 | 2048 | 4096 | 8192, // sluiceCmdScan, sluiceCmdReduce
    SLUICE_KERNELS_COMPACT = 2 | 16384,           // sluiceCmdCompact
    SLUICE_KERNELS_GDEFLATE = 8 | 32768,          // sluiceCmdGdeflate
    SLUICE_KERNELS_ALL = 65535,
    SLUICE_KERNELS_MAX_ENUM = 0x7fffffff
} SluiceKernels;

typedef struct SluiceContextInfo {
    SluiceBackend backend; // where the context's commands run
    // "base", "ext", "emu4" ... "emu128", "native" (CUDA), "fast" and "ref" (CPU). It lives as long
    // as the context.
    const char* tier;
    uint32_t subgroupSize; // lanes that run together: hardware or emulated; 1 on the CPU
    // 1: destinations are written byte by byte; 0: edge words are updated atomically.
    uint32_t byteStores;
    // Says why this tier was taken and not a better one, one reason a line. It lives as long as the
    // context.
    const char* report;
    // A command with SLUICE_DECODE_BY_DRIVER can take this many regions; 0: it is not available.
    uint32_t driverRegionLimit;
    // SluiceKernels whose commands can be called now; on CUDA and the CPU all that the library was
    // built with.
    uint32_t kernels;
    // SluiceKernels of which the driver could not make a pipeline that is necessary: their commands
    // are UNSUPPORTED on this context.
    uint32_t refusedKernels;
} SluiceContextInfo;

// Creates a context that runs every command in the calling thread, with decoders made for speed.
// Commands that write different memory may run in any number of threads at the same time, so a long
// list of tiles is decoded on all cores by giving each thread a part of it.
//   context   receives the context; destroy it with sluiceDestroyContext
// Errors: ARGUMENT (context is NULL), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateCpuContext(SluiceContext* context);

// Creates a context of the CPU, as sluiceCreateCpuContext does, with a choice of decoders.
//   tier   "fast", which NULL stands for too, or "ref": the plain code that every other tier and
//          backend is compared with. Both give the same bytes and statuses
// Errors: ARGUMENT (also: another tier), OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateCpuContextOfTier(const char* tier, SluiceContext* context);

// Destroys a context of any backend; NULL is allowed. On Vulkan no command buffer recorded with it
// may be pending.
SLUICE_API void sluiceDestroyContext(SluiceContext context);

// Fills *info. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetContextInfo(SluiceContext context, SluiceContextInfo* info);

typedef enum SluicePipelineFlags {
    // Leaves out the variants for few tiles, for many, for short runs and the like, which only
    // serve speed: another pipeline does their work until they are made.
    SLUICE_PIPELINES_NECESSARY = 1,
    SLUICE_PIPELINE_FLAGS_MAX_ENUM = 0x7fffffff
} SluicePipelineFlags;
// Names the pipelines that sluiceCreatePipelines makes.
typedef struct SluicePipelinesInfo {
    uint32_t kernels; // SluiceKernels, or-ed; 0: none
    uint32_t flags;   // SluicePipelineFlags, or-ed
    uint32_t most;    // one call makes at most this many, so that a job stays short; 0: no limit
} SluicePipelinesInfo;

// Makes pipelines, in the calling thread. A Vulkan context has none at first, and no command ever
// makes one: it returns NOT_READY until those of its set are there. On CUDA and the CPU nothing
// needs to be made.
//
// Any number of threads may call this at the same time, also while others record commands. Each
// pipeline is made once, by one of them, those that take longest first, and a call returns when all
// of the set are made or under way elsewhere. So N jobs that make the same call share the work;
// when all of them have returned OK the set is there. sluiceGetContextInfo says which sets are. A
// pipeline that the driver fails to compile is not tried again, and only its own commands are lost:
// the rest of the set is made, and if it was a necessary pipeline the call that leaves nothing
// returns UNSUPPORTED.
//   left   may be NULL; receives how many pipelines of the set nobody has begun to make
// Errors: ARGUMENT (bits that are no SluiceKernels or flags), UNSUPPORTED (this build leaves out
// the component of some kernels, or SluiceContextInfo::refusedKernels has some of them),
// OUT_OF_MEMORY, DEVICE (it is lost). After the latter two the call may be made again.
SLUICE_API SluiceStatus sluiceCreatePipelines(SluiceContext context,
                                              const SluicePipelinesInfo* info, uint32_t* left);

// Records a memory barrier that orders all earlier sluice commands, transfers and indirect reads in
// `commands` before all later ones: Vulkan COMPUTE_SHADER | TRANSFER | DRAW_INDIRECT, reads and
// writes, both sides, and HOST, reads, behind it. So status words in mapped memory can be read when
// a fence or a semaphore says that the submission has ended (memory that is not HOST_COHERENT must
// be invalidated, too). Nothing is recorded on CUDA and on the CPU. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceCmdBarrier(SluiceContext context, SluiceCommands commands);

// -----------------------------------------------------------------------------------------------
// Lists of tiles

// One tile to decode, laid out exactly like VkDecompressMemoryRegionEXT.
// VK_NV_memory_decompression's region is this followed by the method, so lists of that kind pass
// too with a stride of 40. Addresses are device addresses (Vulkan: of the VkBuffer; CUDA: device
// pointers; CPU: host pointers). The ranges are those of GDeflate; commands with other ranges state
// them.
typedef struct SluiceRegion {
    uint64_t srcAddress;       // of the compressed bytes, a multiple of 4
    uint64_t dstAddress;       // of the decoded bytes, a multiple of 4
    uint64_t compressedSize;   // bytes, 1 .. 131,072
    uint64_t decompressedSize; // bytes, 1 .. 65,536; exactly what the tile decodes to
} SluiceRegion;

typedef enum SluiceDecodeFlags {
    // A region with compressedSize == decompressedSize holds plain bytes, to be copied. Without
    // this flag such a region is decoded like any other.
    SLUICE_DECODE_STORED_IF_EQUAL = 1,
    // The Vulkan driver decodes (VK_EXT_memory_decompression or, where only that is enabled,
    // VK_NV_memory_decompression), not sluice. Never chosen by itself; UNSUPPORTED where the
    // context's enabled extensions do not have it. sluice_gdeflate.h says what it does.
    SLUICE_DECODE_BY_DRIVER = 2,
    SLUICE_DECODE_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceDecodeFlags;

// -----------------------------------------------------------------------------------------------
// Checksum

// Compares decoded tiles with their expected checksums, on the device. Run it after the decode,
// with a barrier between, on the same list, destination and status words: a tile whose status is OK
// or UNVERIFIED becomes BAD_CHECKSUM and is added to the summary if its bytes do not match, and OK
// if they do. Tiles with another status are left alone. SluiceGdeflateInfo::expected does the same
// as part of the decode.
//
// The checksum of a tile of n bytes: with W = ceil(n / 4) words and P = ceil(W / 32), the bytes are
// cut into 32 pieces of P words, of which piece k is this range of bytes:
//   [min(n, 4 * P * k), min(n, 4 * P * (k + 1)))
// The value is XXH32 (seed 0) of the 32 XXH32 values (seed 0) of the pieces, each as 4 bytes
// little-endian. github.com/Cyan4973/xxHash, doc/xxhash_spec.md, describes XXH32.
typedef struct SluiceChecksumInfo {
    // The list has at most this many regions, 0 .. 2^24.
    uint32_t maxRegionCount;
    // Bytes from one region to the next: a multiple of 4, at least 32.
    uint32_t regionStride;
    // Bytes of a row of a pitched destination (sluice_gdeflate.h): a multiple of 4, 4 .. 2^30. 0
    // means that the destination is linear.
    uint32_t rowBytes;
    // Bytes from one row to the next: a multiple of 4, at least rowBytes. It is 0 if rowBytes is 0.
    uint32_t rowPitch;
    // (maxRegionCount - 1) * regionStride + 32 bytes or more, 8-byte aligned: SluiceRegions, of
    // which only dstAddress and decompressedSize are read. A tile may have 1 .. 1,048,576 bytes,
    // more than any decode gives one region (float tiles of an archive are of that size); one that
    // is larger, not 4-byte aligned or not inside destination becomes BAD_CHECKSUM.
    SluiceBuffer regions;
    // 4 bytes in GPU memory, 4-byte aligned: how many regions are compared, clamped to
    // maxRegionCount. If its size is 0, maxRegionCount regions are.
    SluiceBuffer regionCount;
    // The decoded bytes, which are only read. It is 4-byte aligned if it is pitched.
    SluiceBuffer destination;
    // maxRegionCount * 4 bytes, 4-byte aligned: word i is the checksum that region i must have.
    SluiceBuffer expected;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned: a SluiceTileStatus for each region and the
    // two summary words, as the decode has written them.
    SluiceBuffer status;
} SluiceChecksumInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdChecksum(SluiceContext context, SluiceCommands commands,
                                          const SluiceChecksumInfo* info);

// Computes the same checksum on the host. bytes: size readable bytes, any alignment; size 0 ..
// 2^32 - 1. Never fails. Thread-safe.
SLUICE_API uint32_t sluiceTileChecksum(const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif // SLUICE_H
