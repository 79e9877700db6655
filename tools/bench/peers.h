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

// The driver's own GDeflate decoder (VK_NV_memory_decompression or VK_EXT_memory_decompression). It
// reads its list of regions and their number from GPU memory.
struct DriverPeer {
    const char* name;
    std::function<void(SluiceCommands commands, uint64_t regionsAddress, uint64_t countAddress,
                       uint32_t maxCount)>
        record;
};

// A region as VK_NV_memory_decompression has it. It begins with a SluiceRegion, and with a
// VkDecompressMemoryRegionEXT. So one list with a stride of 40 bytes serves us and both extensions.
struct DriverRegion {
    SluiceRegion region;
    uint64_t method;
};
static_assert(sizeof(DriverRegion) == 40, "the layout of VkDecompressMemoryRegionNV");
constexpr uint64_t kMethodGdeflate = 1; // ..._GDEFLATE_1_0_BIT_NV and _EXT

// Returns the device's decoders for lists of `regionCount` regions; none if it has no such
// extension.
std::vector<DriverPeer> makeDriverDecoders(const BenchDevice& device, uint32_t regionCount);

enum class CubKind {
    ExclusiveScan,     // sums, maxima of u32 and u64, minima of i32 and f32
    InclusiveScan,     // of sums
    ScanByKey,         // exclusive sums of u32 or f32; a u32 key of each element in `selectors`
    Reduce,            // of the operations of ExclusiveScan; one value in `output`
    SelectFlags,       // of u32 with a u8 flag each
    SelectMask,        // elements of elementSize bytes with a bit each
    SelectMaskInPlace, // u32; the output replaces the input
    SelectMaskIndices, // as SelectMask, but the indices of elements
    SelectMaskBoth,    // u32, and their indices
    SelectLess,        // elements below a bound; of f32 those below 0
    SelectNonZero,     // of u32
    SelectUnique,      // u32 that differ from the one before
    PartitionLess,     // u32 below a bound, then the others in reverse
    Copies,            // DeviceMemcpy::Batched; input, output: u64 addresses; selectors: u32 sizes
    // DeviceCopy::Batched of repeated elements; input: the elements; selectors: where each begins,
    // and where the last ends, u32.
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
// it. cubScratchSize ignores call.scratch.
bool cubIsBuiltIn();
uint64_t cubScratchSize(const CubCall& call);
void recordCub(SluiceCommands commands, const CubCall& call);

// Builds rANS tables of 2^log slots (log is at most 9) for 33 .. 64 symbols, on a CUDA device. Each
// table has a description of its own: `list` says where it begins in `source`, in units of 4 bytes,
// and how many 2-byte words it has. A table takes 512 bytes of slots and 64 words of 4 bytes for
// symbols.
constexpr uint32_t kRansTableBytes = 768;
void recordRansTables(SluiceCommands commands, uint32_t count, uint32_t symbols, uint32_t log,
                      SluiceBuffer list, SluiceBuffer source, SluiceBuffer tables);

// Captures what `record` enqueues on a CUDA stream into a graph. Returns a function that launches
// the graph.
BenchDevice::RecordRun captureCudaGraph(const BenchDevice::RecordRun& record);

} // namespace sluice
