// SPDX-License-Identifier: MIT OR Apache-2.0
// The peers of our kernels: plain copies, the driver's own decoder and CUB.
#pragma once

#include <sluice/sluice_scan.h>

#include "tools/bench/bench_device.h"

namespace sluice {

// A plain copy in device memory. Sizes and addresses are multiples of 16.
struct Copier {
    const char* name;
    std::function<void(SluiceCommands commands, SluiceBuffer from, SluiceBuffer to)> record;
};

std::vector<Copier> makeVulkanCopiers(const BenchDevice& device);
std::vector<Copier> makeCudaCopiers(); // none if built without CUDA
// Records a barrier from one compute dispatch to the next.
std::function<void(SluiceCommands)> makeVulkanBarrier(const BenchDevice& device);

// The driver's GDeflate decoder (VK_NV_memory_decompression or VK_EXT_memory_decompression). The
// list and its length are in GPU memory.
struct DriverPeer {
    const char* name;
    std::function<void(SluiceCommands commands, uint64_t regionsAddress, uint64_t countAddress,
                       uint32_t maxCount)>
        record;
};

// A region in the layout of VK_NV_memory_decompression. It begins with a SluiceRegion and with a
// VkDecompressMemoryRegionEXT, so one list with a stride of 40 serves all three.
struct DriverRegion {
    SluiceRegion region;
    uint64_t method;
};
static_assert(sizeof(DriverRegion) == 40, "the layout of VkDecompressMemoryRegionNV");
constexpr uint64_t kMethodGdeflate = 1; // ..._GDEFLATE_1_0_BIT_NV and _EXT

// Returns the decoders that the device offers for lists of `regionCount` regions; none if it has no
// such extension.
std::vector<DriverPeer> makeDriverDecoders(const BenchDevice& device, uint32_t regionCount);

enum class CubKind {
    ExclusiveScan,     // sums, maxima of u32 and u64, minima of i32 and f32
    InclusiveScan,     // sums
    ScanByKey,         // exclusive sums of u32 or f32; selectors: a u32 key for each element
    Reduce,            // as ExclusiveScan; output: one value
    SelectFlags,       // u32 whose u8 flag is not 0
    SelectMask,        // elements of elementSize bytes whose bit is set
    SelectMaskInPlace, // u32 of input
    SelectMaskIndices, // their indices
    SelectMaskBoth,    // u32 and their indices
    SelectLess,        // elements below a bound (f32: below 0)
    SelectNonZero,     // u32
    SelectUnique,      // u32, dropping equal neighbours
    PartitionLess,     // u32: elements below a bound, then the rest in reverse
    Copies, // DeviceMemcpy::Batched; input, output: addresses of u64; selectors: sizes, u32
    Fills,  // DeviceCopy::Batched of constants; input: values; selectors: where each begins and the
            // last ends, u32
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

// Run CUB on a CUDA device; `commands` is its stream. cubScratchSize ignores call.scratch.
bool cubIsBuiltIn();
uint64_t cubScratchSize(const CubCall& call);
void recordCub(SluiceCommands commands, const CubCall& call);

// Builds rANS tables of 2^log slots (log is at most 9) for 33 .. 64 symbols on a CUDA device. Each
// table has a description of its own; its entry in `list` holds where the description begins, in
// units of 4 bytes, and its number of 2-byte words. A table has 512 bytes of slots and 64 words of
// symbols.
constexpr uint32_t kRansTableBytes = 768;
void recordRansTables(SluiceCommands commands, uint32_t count, uint32_t symbols, uint32_t log,
                      SluiceBuffer list, SluiceBuffer source, SluiceBuffer tables);

// Captures the work that `record` enqueues on a CUDA stream into a graph. The returned function
// launches the graph.
BenchDevice::RecordRun captureCudaGraph(const BenchDevice::RecordRun& record);

} // namespace sluice
