// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/image/uastc_image.h"

#include <algorithm>
#include <memory>

#include <sluice/sluice_uastc.h>

#include "api/plan_uastc.h"
#include "encode/image/texture.h"
#include "formats/little_endian.h"

namespace sluice {
namespace {

// Describes how a block of each mode begins: with the mode's code, hints for transcoders, and the
// number of a pattern, which is below `patterns`. Mode 8 has 32 bits of colour before the hints.
struct Mode {
    uint32_t codeBits, code, hintBits, patternBits, patterns;
};
constexpr Mode kModes[kUastcModeCount] = {
    {4, 0x01, 15, 0, 0},  {6, 0x35, 15, 0, 0},  {5, 0x1d, 15, 5, 30}, {5, 0x03, 15, 4, 11},
    {5, 0x13, 15, 5, 30}, {5, 0x0b, 15, 0, 0},  {5, 0x1b, 15, 0, 0},  {5, 0x07, 15, 5, 19},
    {5, 0x17, 21, 0, 0},  {5, 0x0f, 23, 5, 30}, {3, 0x02, 17, 0, 0},  {2, 0x00, 17, 0, 0},
    {3, 0x06, 17, 0, 0},  {5, 0x1f, 23, 0, 0},  {5, 0x0d, 23, 0, 0},  {7, 0x05, 23, 0, 0},
    {6, 0x15, 23, 5, 30}, {6, 0x25, 23, 0, 0},  {4, 0x09, 15, 0, 0}};
constexpr uint32_t kSolid = 8, kColourBits = 32, kNoMode = kUastcModeCount, kBlockBytes = 16;

uint32_t hintsAt(uint32_t mode)
{
    return kModes[mode].codeBits + (mode == kSolid ? kColourBits : 0);
}

// Returns the mode of a block, or kNoMode if the block is invalid. low: the block's first 8 bytes;
// no other bytes decide the mode or the validity.
uint32_t modeOf(uint64_t low)
{
    for (uint32_t mode = 0; mode < kUastcModeCount; ++mode) {
        const Mode& is = kModes[mode];
        if ((low & ((1u << is.codeBits) - 1)) != is.code) continue;
        const uint64_t pattern =
            low >> (hintsAt(mode) + is.hintBits) & ((1u << is.patternBits) - 1);
        return is.patternBits == 0 || pattern < is.patterns ? mode : kNoMode;
    }
    return kNoMode;
}

SluiceBuffer memory(const void* bytes, uint64_t size)
{
    return {uint64_t(reinterpret_cast<uintptr_t>(bytes)), 0, size};
}

// Transcodes a level slice by slice. Slices are stored without gaps in source and destination. Adds
// the number of invalid blocks to `invalid`. Returns false if a slice is too large.
bool transcodeLevel(SluiceContext context, const SluiceUastcInfo& how, const SluiceImageLevel& from,
                    const SluiceImageLevel& to, uint64_t slices, uint64_t& invalid)
{
    for (uint64_t i = 0; i < slices; ++i) {
        const SluiceUastcRegion region = {how.source.handle + from.offset + i * from.sliceSize,
                                          how.destination.handle + to.offset + i * to.sliceSize,
                                          from.width, from.height};
        uint32_t status[3] = {};
        SluiceUastcInvalid found = {};
        SluiceUastcInfo info = how;
        info.regions = memory(&region, sizeof region);
        info.status = memory(status, sizeof status);
        info.invalid = memory(&found, sizeof found);
        if (sluiceCmdUastc(context, nullptr, &info) != SLUICE_OK ||
            (status[0] != SLUICE_TILE_OK && status[0] != SLUICE_TILE_BAD_CODE))
            return false;
        invalid += found.blocks;
    }
    return true;
}

} // namespace

void countUastc(const uint8_t* blocks, uint64_t size, UastcCounts& counts)
{
    for (uint64_t at = 0; at + kBlockBytes <= size; at += kBlockBytes) {
        const uint32_t mode = modeOf(loadLe64(blocks + at));
        ++counts.blocks;
        ++(mode == kNoMode ? counts.invalid : counts.modes[mode]);
    }
}

void zeroUastcHints(uint8_t* blocks, uint64_t size)
{
    for (uint64_t at = 0; at + kBlockBytes <= size; at += kBlockBytes) {
        const uint64_t low = loadLe64(blocks + at);
        const uint32_t mode = modeOf(low);
        if (mode == kNoMode) continue;
        const uint64_t hints = ((uint64_t(1) << kModes[mode].hintBits) - 1) << hintsAt(mode);
        storeLe64(blocks + at, low & ~hints);
    }
}

uint32_t uastcFormatNamed(const std::string& name, bool isSrgb)
{
    return uastcFormat(name == "bc7"    ? SLUICE_UA_BC7
                       : name == "astc" ? SLUICE_UA_ASTC
                                        : SLUICE_UA_RGBA8,
                       isSrgb);
}

std::vector<uint8_t> transcodeKtx2(const std::vector<uint8_t>& file, const ImageFile& image,
                                   uint32_t format, uint64_t& invalid)
{
    SluiceImageInfo info = image.info;
    info.format = format;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    const std::vector<uint8_t> pairs(
        file.begin() + ptrdiff_t(image.info.keyValueOffset),
        file.begin() + ptrdiff_t(image.info.keyValueOffset + image.info.keyValueSize));
    std::vector<uint8_t> made = makeKtx2File(info, pairs, levels);
    SluiceContext context = nullptr;
    if (sluiceCreateCpuContext(&context) != SLUICE_OK) throw std::bad_alloc();
    const auto destroy = [](SluiceContext one) { sluiceDestroyContext(one); };
    const std::unique_ptr<SluiceContext_T, decltype(destroy)> owner(context, destroy);
    SluiceUastcInfo how = {};
    how.maxRegionCount = 1;
    how.regionStride = sizeof(SluiceUastcRegion);
    how.maxRegionBlocks = SLUICE_UASTC_MAX_BLOCKS;
    how.format = format;
    // The command needs aligned addresses. Both vectors begin at multiples of 16 bytes, and so do
    // the levels in a KTX2 file of UASTC.
    how.source = memory(file.data(), file.size());
    how.destination = memory(made.data(), made.size());
    invalid = 0;
    for (uint32_t i = 0; i < info.levels; ++i)
        if (!transcodeLevel(context, how, image.levels[i], levels[i],
                            uint64_t(info.layers) * info.faces * levels[i].depth, invalid))
            return {};
    return made;
}

} // namespace sluice
