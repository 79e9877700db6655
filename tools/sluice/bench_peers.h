// SPDX-License-Identifier: MIT OR Apache-2.0
// What the benchmark measures ours against: plain copies, the driver's own decoder, CUB.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench_device.h"

namespace sluice {

// A plain copy in device memory. Sizes and addresses are multiples of 16.
class Copier {
public:
    virtual ~Copier() = default;
    virtual const char* name() const = 0;
    virtual void record(SluiceCommands commands, SluiceBuffer from, SluiceBuffer to) = 0;
};

std::vector<std::unique_ptr<Copier>> makeVulkanCopiers(const BenchDevice& device);
// Records a barrier from one compute dispatch to the next, as an engine would; sluiceCmdBarrier has wider scopes.
BenchDevice::Record makeVulkanBarrier(const BenchDevice& device);
std::vector<std::unique_ptr<Copier>> makeCudaCopiers(); // none if built without CUDA

// The driver's GDeflate decoder (VK_NV_memory_decompression or VK_EXT_memory_decompression), with the list and its
// length in GPU memory.
class DriverDecoder {
public:
    virtual ~DriverDecoder() = default;
    virtual const char* name() const = 0;
    virtual void record(SluiceCommands commands, uint64_t regionsAddress, uint64_t countAddress, uint32_t maxCount) = 0;
};

// A region as VK_NV_memory_decompression has it. Its start is a SluiceRegion and a VkDecompressMemoryRegionEXT, so one
// list with a stride of 40 serves all three.
struct DriverRegion {
    SluiceRegion region;
    uint64_t method;
};
static_assert(sizeof(DriverRegion) == 40, "the layout of VkDecompressMemoryRegionNV");
constexpr uint64_t kMethodGdeflate = 1; // ..._GDEFLATE_1_0_BIT_NV and _EXT

// The decoders that the device offers for lists of `regionCount` regions; none if it has no such extension.
std::vector<std::unique_ptr<DriverDecoder>> makeDriverDecoders(const BenchDevice& device, uint32_t regionCount);

enum class CubKind {
    ExclusiveSum,
    SelectBytes,   // keep input[i] where its u8 flag is not 0
    SelectLess,    // keep what is below a bound (Select::If)
    SelectUnique,  // drop equal neighbours
    PartitionLess, // what is below a bound first; the rest behind it in reverse
};

struct CubCall {
    CubKind kind = CubKind::ExclusiveSum;
    uint32_t count = 0;
    uint32_t bound = 0;
    SluiceBuffer input = {}; // u32, as the output
    SluiceBuffer flags = {};
    SluiceBuffer output = {};
    SluiceBuffer resultCount = {};
    SluiceBuffer scratch = {};
};

// CUB on a CUDA device; `commands` is its stream.
bool cubIsBuiltIn();
uint64_t cubScratchSize(CubKind kind, uint32_t count);
void recordCub(SluiceCommands commands, const CubCall& call);

// CUB's DeviceMemcpy::Batched: `count` copies; sources and targets are lists of u64 addresses, sizes of u32 bytes.
uint64_t cubBatchedScratchSize(uint32_t count);
void recordCubBatched(SluiceCommands commands, uint32_t count, SluiceBuffer sources, SluiceBuffer targets,
                      SluiceBuffer sizes, SluiceBuffer scratch);

// rANS tables of 2^log slots (9 at most) for 33 .. 64 symbols on a CUDA device, each from its own description: list has for each
// where its words begin, in units of 4 bytes, and how many of 2 bytes there are. A table: 512 bytes of slots, 64 words of symbols.
constexpr uint32_t kRansTableBytes = 768;
void recordRansTables(SluiceCommands commands, uint32_t count, uint32_t symbols, uint32_t log, SluiceBuffer list,
                      SluiceBuffer source, SluiceBuffer tables);

// What `record` enqueues on a CUDA stream, captured into a graph once: the returned one launches that graph.
BenchDevice::Record captureCudaGraph(const BenchDevice::Record& record);

} // namespace sluice
