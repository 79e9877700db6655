// SPDX-License-Identifier: MIT OR Apache-2.0
// The peers, with which our kernels are compared: plain copies, the driver's own decoder, and CUB.
#pragma once

#include <sluice/sluice_scan.h>

#include "tools/bench/bench_device.h"

namespace sluice {

// A plain copy inside device memory. Sizes and addresses are multiples of 16.
struct Copier {
    const char* name;
    std::function<void(SluiceCommands commands, SluiceBuffer from, SluiceBuffer to)> record;
};

std::vector<Copier> makeVulkanCopiers(const BenchDevice& device);
std::vector<Copier> makeCudaCopiers(); // none in a build without CUDA
// Returns a function that records a barrier between two compute dispatches.
std::function<void(SluiceCommands)> makeVulkanBarrier(const BenchDevice& device);

// The driver's own GDeflate decoder (VK_NV_memory_decompression or VK_EXT_memory_decompression).
// The addresses are those of its list of regions and of their number, which it reads from GPU
// memory.
struct DriverPeer {
    const char* name;
    std::function<void(SluiceCommands commands, uint64_t regionsAddress, uint64_t countAddress,
                       uint32_t maxCount)>
        record;
};

// The layout of VkDecompressMemoryRegionNV. Its first members have the layout of a SluiceRegion and
// that of a VkDecompressMemoryRegionEXT, so one list with a stride of 40 bytes serves us and both
// extensions.
struct DriverRegion {
    SluiceRegion region;
    uint64_t method;
};
static_assert(sizeof(DriverRegion) == 40, "the layout of VkDecompressMemoryRegionNV");
constexpr uint64_t kMethodGdeflate = 1; // VK_MEMORY_DECOMPRESSION_METHOD_GDEFLATE_1_0_BIT_NV, _EXT

// Returns the driver's decoders that take lists of `regionCount` regions. The result is empty if
// the device has neither extension.
std::vector<DriverPeer> makeDriverDecoders(const BenchDevice& device, uint32_t regionCount);

enum class CubKind {
    ExclusiveScan,     // sum of u32, u64, f32; maximum of u32, u64; minimum of i32, f32
    InclusiveScan,     // sum of u32, u64, f32
    ScanByKey,         // exclusive sum of u32 or f32; selectors: a u32 key for each element
    Reduce,            // with the operations of ExclusiveScan; writes one value to `output`
    SelectFlags,       // u32 elements; selectors: a u8 flag for each
    SelectMask,        // elements of elementSize bytes; selectors: a bit for each
    SelectMaskInPlace, // u32; the output replaces the input
    SelectMaskIndices, // as SelectMask, but writes the indices of kept elements
    SelectMaskBoth,    // as SelectMask, but u32; writes kept elements and their indices
    SelectLess,        // elements below `bound`; f32: below 0
    SelectNonZero,     // u32 elements that are not 0
    SelectUnique,      // u32 elements that differ from the element before
    PartitionLess,     // u32 elements below `bound`, then the others in reverse order
    Copies,            // DeviceMemcpy::Batched; input, output: u64 addresses; selectors: u32 sizes
    // DeviceCopy::Batched, which repeats elements; input: one element a run; selectors: u32 indices
    // in `output` at which the runs begin, then the end of the last run.
    Fills,
};

struct CubCall {
    CubKind kind = CubKind::ExclusiveScan;
    SluiceOperation operation = SLUICE_OPERATION_SUM;
    SluiceValueType type = SLUICE_VALUE_U32;
    uint32_t elementSize = 4;
    uint32_t count = 0;
    uint64_t bound = 0;
    SluiceBuffer input = {}, selectors = {}, output = {}, indices = {}, resultCount = {},
                 scratch = {};
};

// CUB runs on a CUDA device, on the stream `commands`. cubIsBuiltIn returns whether this build has
// CUB. cubScratchSize ignores call.scratch.
bool cubIsBuiltIn();
uint64_t cubScratchSize(const CubCall& call);
void recordCub(SluiceCommands commands, const CubCall& call);

// Builds rANS tables of 2^log slots (log is at most 9) for 33 .. 64 symbols, on a CUDA device. For
// each table, `list` says where its description begins in `source`, in units of 4 bytes, and how
// many 2-byte words it has. A table takes 512 bytes of slots and 64 words of 4 bytes for symbols.
constexpr uint32_t kRansTableBytes = 768;
void recordRansTables(SluiceCommands commands, uint32_t count, uint32_t symbols, uint32_t log,
                      SluiceBuffer list, SluiceBuffer source, SluiceBuffer tables);

// Captures what `record` enqueues on a CUDA stream into a graph. Returns a function that launches
// the graph.
BenchDevice::RecordRun captureCudaGraph(const BenchDevice::RecordRun& record);

} // namespace sluice
