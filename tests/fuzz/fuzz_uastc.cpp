// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes UASTC blocks: in every target the reference and the tier `fast`, which runs the text of
// the kernels, must make the same bytes of a region and find the same blocks invalid. The first
// byte gives the target and the width.
#include <sluice/sluice_uastc.h>

#include <algorithm>
#include <vector>

#include "api/plan_uastc.h"
#include "tests/fuzz/fuzzing.h"

using namespace sluice;
using sluice::fuzz::require;

namespace {

constexpr uint32_t kFormats[] = {145, 157, 37, 131, 137, 139, 141, 147, 151};

struct Outcome {
    std::vector<uint8_t> made;
    uint32_t status[3] = {};
    SluiceUastcInvalid invalid = {};
};

SluiceBuffer rangeOf(const void* bytes, uint64_t size)
{
    return {uint64_t(reinterpret_cast<uintptr_t>(bytes)), 0, size};
}

Outcome transcode(const char* tier, const std::vector<uint8_t>& input, uint32_t format,
                  uint32_t width)
{
    SluiceContext context = nullptr;
    require(sluiceCreateCpuContextOfTier(tier, &context) == SLUICE_OK);
    const uint32_t blocks = uint32_t(input.size() / 16), columns = (width + 3) / 4,
                   height = blocks / columns * 4;
    // Copies of the exact sizes, at multiples of 16, so that sanitizers notice any other access.
    struct alignas(16) Unit {
        uint8_t bytes[16];
    };
    std::vector<Unit> source(blocks), destination(size_t(blocks) * 4);
    std::copy_n(input.data(), size_t(16) * blocks, source.data()->bytes);
    Outcome outcome;
    const SluiceUastcRegion region = {uint64_t(reinterpret_cast<uintptr_t>(source.data())),
                                      uint64_t(reinterpret_cast<uintptr_t>(destination.data())),
                                      width, height};
    SluiceUastcInfo info = {};
    info.maxRegionCount = 1;
    info.regionStride = sizeof region;
    info.maxRegionBlocks = blocks;
    info.format = format;
    info.regions = rangeOf(&region, sizeof region);
    info.source = rangeOf(source.data(), source.size() * 16);
    info.destination = rangeOf(destination.data(), destination.size() * 16);
    info.status = rangeOf(outcome.status, sizeof outcome.status);
    info.invalid = rangeOf(&outcome.invalid, sizeof outcome.invalid);
    require(sluiceCmdUastc(context, nullptr, &info) == SLUICE_OK);
    sluiceDestroyContext(context);
    const uint8_t* made = destination.data()->bytes;
    outcome.made.assign(made, made + destination.size() * 16);
    return outcome;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 17) return 0;
    const uint32_t format = kFormats[data[0] % 9], width = data[0] / 9 % 9 + 1;
    const std::vector<uint8_t> input(data + 1, data + size);
    if (input.size() / 16 < (width + 3) / 4) return 0;
    const Outcome plain = transcode("ref", input, format, width),
                  fast = transcode("fast", input, format, width);
    require(plain.made == fast.made);
    require(std::equal(plain.status, plain.status + 3, fast.status));
    require(plain.invalid.blocks == fast.invalid.blocks &&
            plain.invalid.first == fast.invalid.first);
    require(plain.status[0] ==
            uint32_t(plain.invalid.blocks != 0 ? SLUICE_TILE_BAD_CODE : SLUICE_TILE_OK));
    return 0;
}
