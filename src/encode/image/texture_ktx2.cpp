// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes KTX2 files. The descriptor is that of the Khronos Data Format Specification 1.3.
#include <algorithm>
#include <string>

#include "formats/image.h"
#include "encode/image/texture.h"

namespace sluice {
namespace {

constexpr u32 kAlphaChannel = 15, kLinearSample = 16; // a sample's type, and its qualifier

struct Sample {
    u32 bit, bits, channel;
    u32 upper; // the value of 1.0
};

struct Descriptor {
    u32 model;
    std::vector<Sample> samples;
};

// The descriptor's values for a format that textures are made in.
Descriptor descriptorOf(const SluiceImageFormat& format)
{
    constexpr u32 all = 0xffffffff;
    const u32 alpha = kAlphaChannel | (format.srgb != 0 ? kLinearSample : 0);
    switch (format.format) {
    case 131:
    case 132: return {128, {{0, 64, 0, all}}}; // BC1 without alpha
    case 133:
    case 134: return {128, {{0, 64, 1, all}}}; // with it
    case 137:
    case 138: return {130, {{0, 64, alpha, all}, {64, 64, 0, all}}}; // BC3
    case 139: return {131, {{0, 64, 0, all}}};                       // BC4
    case 141: return {132, {{0, 64, 0, all}, {64, 64, 1, all}}};     // BC5
    default:
        return {1, {{0, 8, 0, 255}, {8, 8, 1, 255}, {16, 8, 2, 255}, {24, 8, alpha, 255}}}; // RGBA8
    }
}

std::vector<u8> describe(const SluiceImageFormat& format)
{
    const Descriptor descriptor = descriptorOf(format);
    const u32 size = dfdBasicBytes + u32(descriptor.samples.size()) * dfdSampleBytes;
    constexpr u32 versionOf13 = 2, primariesOfBt709 = 1, transferLinear = 1, transferSrgb = 2;
    std::vector<u8> dfd(size);
    storeLe32(&dfd[0], size);
    storeLe16(&dfd[dfdVersion], versionOf13);
    storeLe16(&dfd[dfdBlockSize], size - dfdVendorAndType);
    dfd[dfdModel] = u8(descriptor.model);
    dfd[dfdPrimaries] = primariesOfBt709;
    dfd[dfdTransfer] = format.srgb != 0 ? transferSrgb : transferLinear;
    dfd[dfdExtents] = u8(format.blockWidth - 1);
    dfd[dfdExtents + 1] = u8(format.blockHeight - 1);
    dfd[dfdPlanes] = u8(format.blockBytes);
    u8* at = &dfd[dfdBasicBytes];
    for (const Sample& sample : descriptor.samples) {
        storeLe16(at, sample.bit);
        at[2] = u8(sample.bits - 1);
        at[3] = u8(sample.channel);
        storeLe32(at + 12, sample.upper);
        at += dfdSampleBytes;
    }
    return dfd;
}

void addPair(std::vector<u8>& pairs, const std::string& key, const std::string& value)
{
    const std::string pair = key + '\0' + value + '\0';
    const size_t at = pairs.size();
    pairs.resize(size_t(alignUp(at + 4 + pair.size(), 4)));
    storeLe32(&pairs[at], u32(pair.size()));
    std::copy(pair.begin(), pair.end(), pairs.begin() + ptrdiff_t(at) + 4);
}

} // namespace

std::vector<u8> makeKtx2(const SluiceImageInfo& info, const char* swizzle, SluiceImageLevel* levels)
{
    SluiceImageFormat format;
    (void)sluiceGetImageFormat(info.format, &format); // one of the table
    const std::vector<u8> dfd = describe(format);
    std::vector<u8> pairs; // in the order of their keys
    addPair(pairs, "KTXorientation", "rd");
    if (*swizzle != 0) addPair(pairs, "KTXswizzle", swizzle);
    addPair(pairs, "KTXwriter", "sluice");

    const u64 dfdAt = ktx2HeaderBytes + u64(info.levels) * ktx2LevelBytes,
              pairsAt = dfdAt + dfd.size(), alignment = ktx2Alignment(format.blockBytes);
    u64 end = pairsAt + pairs.size();
    SluiceImageInfo shape = {};
    shape.format = info.format;
    shape.width = info.width;
    shape.height = info.height;
    shape.depth = shape.layers = shape.faces = 1;
    for (u32 i = info.levels; i-- != 0;) {
        (void)sluiceGetImageLevel(&shape, i, &levels[i]); // extents are small enough
        levels[i].offset = divideUp(end, alignment) * alignment;
        end = levels[i].offset + levels[i].size;
    }
    std::vector<u8> file(static_cast<size_t>(end));
    writeKtx2Magic(file.data());
    const struct {
        u32 field, value;
    } fields[] = {{ktx2Format, info.format},
                  {ktx2TypeSize, format.unitBytes},
                  {ktx2Width, info.width},
                  {ktx2Height, info.height},
                  {ktx2Faces, 1},
                  {ktx2Levels, info.levels},
                  {ktx2DfdOffset, u32(dfdAt)},
                  {ktx2DfdSize, u32(dfd.size())},
                  {ktx2KvdOffset, u32(pairsAt)},
                  {ktx2KvdSize, u32(pairs.size())}};
    for (const auto& one : fields)
        storeLe32(&file[one.field], one.value);
    for (u32 i = 0; i < info.levels; ++i) {
        u8* const entry = &file[ktx2HeaderBytes + size_t(i) * ktx2LevelBytes];
        storeLe64(entry, levels[i].offset);
        storeLe64(entry + 8, levels[i].size);
        storeLe64(entry + 16, levels[i].size);
    }
    std::copy(dfd.begin(), dfd.end(), file.begin() + ptrdiff_t(dfdAt));
    std::copy(pairs.begin(), pairs.end(), file.begin() + ptrdiff_t(pairsAt));
    return file;
}

} // namespace sluice
