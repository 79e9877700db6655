// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/images.h"

#include <doctest/doctest.h>

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

#include "formats/little_endian.h"
#include "tests/support/image_ranges.h"

namespace sluice::test {
namespace {

void append(Bytes& to, const Bytes& from) { to.insert(to.end(), from.begin(), from.end()); }

SluiceImageFormat rowOf(uint32_t format)
{
    SluiceImageFormat row;
    REQUIRE(sluiceGetImageFormat(format, &row) == SLUICE_OK);
    return row;
}

// Returns a basic data format descriptor with at most one sample.
Bytes descriptorOf(const TestImage& image, bool packed)
{
    const SluiceImageFormat row = rowOf(image.format);
    Bytes dfd(28);
    storeLe32(&dfd[0], 28);
    storeLe16(&dfd[8], 2);
    storeLe16(&dfd[10], 24);
    dfd[12] = image.format == 0 ? 166 : 1; // UASTC, or any other
    dfd[13] = 1;
    dfd[14] = uint8_t(row.srgb != 0 ? 2 : 1);
    dfd[15] = image.premultiplied ? 1 : 0;
    dfd[16] = uint8_t(row.blockWidth - 1);
    dfd[17] = uint8_t(row.blockHeight - 1);
    dfd[20] = uint8_t(packed ? 0 : row.blockBytes);
    if (image.channel < 0) return dfd;
    dfd.resize(44);
    storeLe32(&dfd[0], 44);
    storeLe16(&dfd[10], 40);
    dfd[30] = uint8_t(8 * row.blockBytes - 1);
    dfd[31] = uint8_t(image.channel);
    return dfd;
}

Bytes ddsHeader(const TestImage& image, const uint32_t (&pixelFormat)[8])
{
    Bytes header(128);
    const auto put = [&](size_t at, uint32_t value) { storeLe32(&header[at], value); };
    std::memcpy(header.data(), "DDS ", 4);
    put(4, 124);
    put(8, 0x1007 | (image.levels > 1 ? 0x20000 : 0) | (image.depth != 0 ? 0x800000 : 0));
    put(12, image.height);
    put(16, image.width);
    put(24, image.depth);
    put(28, image.levels);
    for (size_t i = 0; i < 8; ++i)
        put(76 + 4 * i, pixelFormat[i]);
    put(108, 0x1000);
    put(112, (image.faces == 6 ? 0xfe00 : 0) | (image.depth != 0 ? 0x200000 : 0));
    return header;
}

Bytes ddsData(const TestImage& image)
{
    Bytes data;
    for (size_t i = 0; i < image.slices[0].size(); ++i)
        for (const auto& level : image.slices)
            for (const Bytes& slice : level[i])
                append(data, slice);
    return data;
}

} // namespace

TestImage::TestImage(uint32_t vkFormat, uint32_t w, uint32_t h, uint32_t d, uint32_t layerCount,
                     uint32_t faceCount, uint32_t levelCount)
    : format(vkFormat), width(w), height(h), depth(d), layers(layerCount), faces(faceCount),
      levels(levelCount)
{
    const SluiceImageFormat row = rowOf(format);
    std::mt19937 random(w + 31 * h + 17 * levelCount + vkFormat);
    slices.resize(std::max(1u, levels));
    for (uint32_t i = 0; i < slices.size(); ++i) {
        const auto blocks = [&](uint32_t extent, uint32_t block) {
            return (std::max(1u, extent >> i) + block - 1) / block;
        };
        const size_t size = size_t(blocks(width, row.blockWidth)) *
                            blocks(height, row.blockHeight) * row.blockBytes;
        slices[i].resize(size_t(std::max(1u, layers)) * faces);
        for (auto& one : slices[i]) {
            one.resize(std::max(1u, depth >> i));
            for (Bytes& slice : one) {
                slice.resize(size);
                for (uint8_t& byte : slice)
                    byte = uint8_t(random() % 16);
            }
        }
    }
}

Bytes TestImage::level(uint32_t i) const
{
    Bytes bytes;
    for (const auto& one : slices[i])
        for (const Bytes& slice : one)
            append(bytes, slice);
    return bytes;
}

std::string TestImage::text() const
{
    std::string all = rowOf(format).name;
    for (const uint32_t number : {width, height, depth, layers, faces, levels})
        all += " " + std::to_string(number);
    return all;
}

Bytes packZstd(const Bytes& bytes)
{
    Bytes out(ZSTD_compressBound(bytes.size()));
    const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3);
    REQUIRE(!ZSTD_isError(size));
    out.resize(size);
    return out;
}

Bytes packZlib(const Bytes& bytes)
{
    uLongf size = compressBound(uLong(bytes.size()));
    Bytes out(size);
    REQUIRE(compress2(out.data(), &size, bytes.data(), uLong(bytes.size()), 6) == Z_OK);
    out.resize(size);
    return out;
}

Bytes makeKtx2(const TestImage& image, uint32_t scheme, const Packer& pack)
{
    const SluiceImageFormat row = rowOf(image.format);
    const uint32_t levels = uint32_t(image.slices.size());
    const Bytes dfd = descriptorOf(image, scheme != 0);
    const std::string pair = std::string("KTXwriter") + '\0' + "a test" + '\0';
    const size_t dfdAt = 80 + 24 * size_t(levels), pairsAt = dfdAt + dfd.size(),
                 pairBytes = (4 + pair.size() + 3) / 4 * 4;
    Bytes file(pairsAt + pairBytes);
    const uint8_t magic[12] = {0xab, 0x4b, 0x54, 0x58, 0x20, 0x32,
                               0x30, 0xbb, 0x0d, 0x0a, 0x1a, 0x0a};
    std::copy(std::begin(magic), std::end(magic), file.begin());
    const uint32_t header[] = {
        image.format,         row.unitBytes,     image.width,        image.height, image.depth,
        image.layers,         image.faces,       image.levels,       scheme,       uint32_t(dfdAt),
        uint32_t(dfd.size()), uint32_t(pairsAt), uint32_t(pairBytes)};
    for (size_t i = 0; i < std::size(header); ++i)
        storeLe32(&file[12 + 4 * i], header[i]);
    std::copy(dfd.begin(), dfd.end(), file.begin() + ptrdiff_t(dfdAt));
    storeLe32(&file[pairsAt], uint32_t(pair.size()));
    std::copy(pair.begin(), pair.end(), file.begin() + ptrdiff_t(pairsAt) + 4);
    for (uint32_t i = levels; i-- != 0;) {
        while (scheme == 0 && (file.size() % row.blockBytes != 0 || file.size() % 4 != 0))
            file.push_back(0);
        const Bytes plain = image.level(i), packed = pack ? pack(plain) : plain;
        const size_t entry = 80 + 24 * size_t(i);
        storeLe64(&file[entry], file.size());
        storeLe64(&file[entry + 8], packed.size());
        storeLe64(&file[entry + 16], plain.size());
        append(file, packed);
    }
    return file;
}

Bytes makeDds10(const TestImage& image, uint32_t dxgi)
{
    Bytes file = ddsHeader(image, {32, 4, fourCC("DX10"), 0, 0, 0, 0, 0});
    const uint32_t more[] = {dxgi,
                             image.depth != 0    ? 4u
                             : image.height != 0 ? 3u
                                                 : 2u,
                             image.faces == 6 ? 4u : 0u, std::max(1u, image.layers),
                             image.premultiplied ? 2u : 0u};
    file.resize(148);
    for (size_t i = 0; i < std::size(more); ++i)
        storeLe32(&file[128 + 4 * i], more[i]);
    append(file, ddsData(image));
    return file;
}

Bytes makeDds(const TestImage& image, const uint32_t (&pixelFormat)[8])
{
    Bytes file = ddsHeader(image, pixelFormat);
    append(file, ddsData(image));
    return file;
}

std::vector<uint32_t> allFormats()
{
    std::vector<uint32_t> formats;
    SluiceImageFormat row;
    const auto look = [&](uint32_t first, uint32_t last) {
        for (uint32_t format = first; format <= last; ++format)
            if (sluiceGetImageFormat(format, &row) == SLUICE_OK) formats.push_back(format);
    };
    look(0, 300);
    // Extensions of Vulkan have such numbers.
    for (uint32_t extension = 0; extension < 600; ++extension)
        look(1000000000 + 1000 * extension, 1000000000 + 1000 * extension + 50);
    return formats;
}

ParsedImage parseImage(const Bytes& file, uint64_t fileSize)
{
    // The copy has exactly the file's size, so that sanitizers notice reads outside of it.
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[file.size()]);
    std::copy(file.begin(), file.end(), exact.get());
    ParsedImage parsed;
    uint64_t needed = 0;
    parsed.status =
        sluiceParseImage(exact.get(), file.size(), fileSize, &parsed.info, parsed.levels, &needed);
    if (parsed.status == SLUICE_OK) {
        const char* bad = badRanges(parsed.info, parsed.levels, fileSize);
        CHECK_MESSAGE(bad == nullptr, bad);
    }
    if (parsed.status == SLUICE_ERROR_BUFFER_SIZE) {
        CHECK(needed > file.size());
        CHECK(needed <= std::min<uint64_t>(fileSize, SLUICE_IMAGE_START_SIZE));
    } else {
        CHECK(needed == 0);
    }
    return parsed;
}

void checkSlices(const Bytes& file, const TestImage& image)
{
    const ParsedImage parsed = parseImage(file);
    REQUIRE(parsed.status == SLUICE_OK);
    const SluiceImageInfo& info = parsed.info;
    CHECK(info.format == image.format);
    CHECK(info.width == image.width);
    CHECK(info.height == std::max(1u, image.height));
    CHECK(info.depth == std::max(1u, image.depth));
    CHECK(info.layers == std::max(1u, image.layers));
    CHECK(info.faces == image.faces);
    REQUIRE(info.levels == image.slices.size());
    CHECK(((info.flags & SLUICE_IMAGE_CUBE) != 0) == (image.faces == 6));
    CHECK(((info.flags & SLUICE_IMAGE_3D) != 0) == (image.depth != 0));
    CHECK(((info.flags & SLUICE_IMAGE_1D) != 0) == (image.height == 0));
    CHECK(((info.flags & SLUICE_IMAGE_TRANSCODE) != 0) == (image.format == 0));
    CHECK(((info.flags & SLUICE_IMAGE_SRGB) != 0) == (rowOf(image.format).srgb != 0));
    CHECK(((info.flags & SLUICE_IMAGE_PREMULTIPLIED) != 0) == image.premultiplied);
    size_t wrong = 0;
    for (uint32_t i = 0; i < info.levels; ++i) {
        const SluiceImageLevel& level = parsed.levels[i];
        for (uint32_t layer = 0; layer < info.layers; ++layer)
            for (uint32_t face = 0; face < info.faces; ++face)
                for (uint32_t slice = 0; slice < level.depth; ++slice) {
                    uint64_t offset = 0;
                    REQUIRE(sluiceGetImageOffset(&info, &level, layer, face, slice, &offset) ==
                            SLUICE_OK);
                    const Bytes& expected = image.slices[i][layer * info.faces + face][slice];
                    REQUIRE(expected.size() == level.sliceSize);
                    REQUIRE(level.offset + offset + expected.size() <= file.size());
                    wrong += std::equal(expected.begin(), expected.end(),
                                        file.begin() + ptrdiff_t(level.offset + offset))
                                 ? 0
                                 : 1;
                }
    }
    CHECK(wrong == 0);
}

void checkMutations(const Bytes& file, size_t count)
{
    size_t accepted = 0, refused = 0;
    Bytes changed = file;
    for (size_t at = 0; at < count; ++at) {
        for (uint32_t value = 0; value < 256; ++value) {
            changed[at] = uint8_t(value);
            (parseImage(changed).status == SLUICE_OK ? accepted : refused) += 1;
        }
        changed[at] = file[at];
    }
    CHECK(accepted >= count); // each byte was also set to its own value
    CHECK(refused > count);
}

void checkTruncations(const Bytes& file)
{
    for (size_t size = 0; size <= file.size(); ++size) {
        const Bytes start(file.begin(), file.begin() + ptrdiff_t(size));
        CAPTURE(size);
        CHECK(parseImage(start).status == (size < file.size() ? SLUICE_ERROR_FORMAT : SLUICE_OK));
    }
}

uint32_t checkNeeded(const Bytes& file)
{
    uint32_t calls = 0;
    for (size_t size = 0; calls < 10;) {
        SluiceImageInfo info;
        SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
        uint64_t needed = 0;
        const SluiceStatus status =
            sluiceParseImage(file.data(), size, file.size(), &info, levels, &needed);
        ++calls;
        if (status == SLUICE_OK) break;
        REQUIRE(status == SLUICE_ERROR_BUFFER_SIZE);
        REQUIRE(needed > size);
        // One byte less must not be enough.
        const Bytes less(file.begin(), file.begin() + ptrdiff_t(needed - 1));
        CHECK(parseImage(less, file.size()).status == SLUICE_ERROR_BUFFER_SIZE);
        size = size_t(needed);
    }
    const Bytes start(file.begin(), file.begin() + ptrdiff_t(std::min<size_t>(file.size(), 1024)));
    CHECK(parseImage(start, file.size()).status == SLUICE_OK);
    return calls;
}

std::vector<TestImage> allShapes(uint32_t format)
{
    return {{format, 37, 21, 0, 0, 1, 6}, // width, height, depth, layers, faces, levels
            {format, 16, 16, 0, 0, 1, 1}, {format, 64, 3, 0, 0, 1, 4},  {format, 8, 16, 0, 5, 1, 5},
            {format, 13, 13, 0, 0, 6, 4}, {format, 16, 16, 0, 3, 6, 2}, {format, 9, 5, 6, 0, 1, 4},
            {format, 4, 4, 16, 0, 1, 5}};
}

} // namespace sluice::test
