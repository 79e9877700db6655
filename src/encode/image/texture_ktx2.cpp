// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes KTX2 files. A file describes its texels in a data format descriptor (Khronos Data Format
// Specification 1.3). A sample in it is a channel of a texel or half of a compressed block.
#include <algorithm>
#include <string>

#include "formats/image.h"
#include "encode/image/texture.h"

namespace sluice {
namespace {

// Numbers for the channel field of a sample in KTX2's data format descriptor. kLinearSample is a
// flag beside kAlphaChannel: alpha is linear although the colours are sRGB.
constexpr uint32_t kAlphaChannel = 15, kLinearSample = 16;

struct Sample {
    uint32_t bit, bits, channel;
    uint32_t upper; // the stored number that means 1.0
};

struct Descriptor {
    uint32_t model;
    std::vector<Sample> samples;
};

// Returns the colour model and the samples of a format. Formats are VkFormat numbers, as in KTX2.
Descriptor descriptorOf(const SluiceImageFormat& format)
{
    constexpr uint32_t all = 0xffffffff;
    const uint32_t alpha = kAlphaChannel | (format.srgb != 0 ? kLinearSample : 0);
    switch (format.format) {
    case 131:
    case 132: return {128, {{0, 64, 0, all}}}; // BC1 without alpha
    case 133:
    case 134: return {128, {{0, 64, 1, all}}}; // BC1 with alpha
    case 137:
    case 138: return {130, {{0, 64, alpha, all}, {64, 64, 0, all}}}; // BC3
    case 139: return {131, {{0, 64, 0, all}}};                       // BC4
    case 141: return {132, {{0, 64, 0, all}, {64, 64, 1, all}}};     // BC5
    case 145:
    case 146: return {134, {{0, 128, 0, all}}}; // BC7
    case 157:
    case 158: return {162, {{0, 128, 0, all}}}; // ASTC
    default:
        return {1, {{0, 8, 0, 255}, {8, 8, 1, 255}, {16, 8, 2, 255}, {24, 8, alpha, 255}}}; // RGBA8
    }
}

std::vector<uint8_t> describe(const SluiceImageFormat& format, bool premultiplied)
{
    const Descriptor descriptor = descriptorOf(format);
    const uint32_t size = dfdBasicBytes + uint32_t(descriptor.samples.size()) * dfdSampleBytes;
    constexpr uint32_t versionOf13 = 2, primariesOfBt709 = 1, transferLinear = 1, transferSrgb = 2,
                       flagPremultiplied = 1;
    std::vector<uint8_t> dfd(size);
    storeLe32(&dfd[0], size);
    storeLe16(&dfd[dfdVersion], versionOf13);
    storeLe16(&dfd[dfdBlockSize], size - dfdVendorAndType);
    dfd[dfdModel] = uint8_t(descriptor.model);
    dfd[dfdPrimaries] = primariesOfBt709;
    dfd[dfdTransfer] = uint8_t(format.srgb != 0 ? transferSrgb : transferLinear);
    dfd[dfdFlags] = uint8_t(premultiplied ? flagPremultiplied : 0);
    dfd[dfdExtents] = uint8_t(format.blockWidth - 1);
    dfd[dfdExtents + 1] = uint8_t(format.blockHeight - 1);
    dfd[dfdPlanes] = uint8_t(format.blockBytes);
    uint8_t* at = &dfd[dfdBasicBytes];
    for (const Sample& sample : descriptor.samples) {
        storeLe16(at, sample.bit);
        at[2] = uint8_t(sample.bits - 1);
        at[3] = uint8_t(sample.channel);
        storeLe32(at + 12, sample.upper);
        at += dfdSampleBytes;
    }
    return dfd;
}

void addPair(std::vector<uint8_t>& pairs, const std::string& key, const std::string& value)
{
    const std::string pair = key + '\0' + value + '\0';
    const size_t at = pairs.size();
    pairs.resize(size_t(alignUp(at + 4 + pair.size(), 4)));
    storeLe32(&pairs[at], uint32_t(pair.size()));
    std::copy(pair.begin(), pair.end(), pairs.begin() + ptrdiff_t(at) + 4);
}

} // namespace

std::vector<uint8_t> makeKtx2(const SluiceImageInfo& info, const char* swizzle,
                              SluiceImageLevel* levels)
{
    std::vector<uint8_t> pairs; // KTX2 wants the keys in ascending order
    addPair(pairs, "KTXorientation", "rd");
    if (*swizzle != 0) addPair(pairs, "KTXswizzle", swizzle);
    addPair(pairs, "KTXwriter", "sluice");
    SluiceImageInfo flat = info;
    flat.depth = flat.layers = flat.faces = 1;
    return makeKtx2File(flat, pairs, levels);
}

std::vector<uint8_t> makeKtx2File(const SluiceImageInfo& info, const std::vector<uint8_t>& pairs,
                                  SluiceImageLevel* levels)
{
    SluiceImageFormat format;
    (void)sluiceGetImageFormat(info.format, &format); // cannot fail: the table has the format
    const std::vector<uint8_t> dfd =
        describe(format, (info.flags & SLUICE_IMAGE_PREMULTIPLIED) != 0);

    const uint64_t dfdAt = ktx2HeaderBytes + uint64_t(info.levels) * ktx2LevelBytes,
                   pairsAt = dfdAt + dfd.size(), alignment = ktx2Alignment(format.blockBytes);
    uint64_t end = pairsAt + pairs.size();
    for (uint32_t i = info.levels; i-- != 0;) {
        (void)sluiceGetImageLevel(&info, i, &levels[i]); // cannot fail: the image is in memory
        levels[i].offset = divideUp(end, alignment) * alignment;
        end = levels[i].offset + levels[i].size;
    }
    const auto has = [&](SluiceImageFlags flag) { return (info.flags & flag) != 0; };
    std::vector<uint8_t> file(static_cast<size_t>(end));
    std::copy_n(kKtx2Magic, kKtx2MagicSize, file.data());
    const struct {
        uint32_t field, value;
    } fields[] = {{ktx2Format, info.format},
                  {ktx2TypeSize, format.unitBytes},
                  {ktx2Width, info.width},
                  {ktx2Height, has(SLUICE_IMAGE_1D) ? 0 : info.height},
                  {ktx2Depth, has(SLUICE_IMAGE_3D) ? info.depth : 0},
                  {ktx2Layers, has(SLUICE_IMAGE_ARRAY) ? info.layers : 0},
                  {ktx2Faces, info.faces},
                  {ktx2Levels, has(SLUICE_IMAGE_MAKE_LEVELS) ? 0 : info.levels},
                  {ktx2DfdOffset, uint32_t(dfdAt)},
                  {ktx2DfdSize, uint32_t(dfd.size())},
                  {ktx2KvdOffset, pairs.empty() ? 0 : uint32_t(pairsAt)},
                  {ktx2KvdSize, uint32_t(pairs.size())}};
    for (const auto& one : fields)
        storeLe32(&file[one.field], one.value);
    for (uint32_t i = 0; i < info.levels; ++i) {
        uint8_t* const entry = &file[ktx2HeaderBytes + size_t(i) * ktx2LevelBytes];
        storeLe64(entry, levels[i].offset);
        storeLe64(entry + 8, levels[i].size);
        storeLe64(entry + 16, levels[i].size);
    }
    std::copy(dfd.begin(), dfd.end(), file.begin() + ptrdiff_t(dfdAt));
    std::copy(pairs.begin(), pairs.end(), file.begin() + ptrdiff_t(pairsAt));
    return file;
}

} // namespace sluice
