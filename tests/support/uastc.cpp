// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/uastc.h"
#include "test_paths.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace sluice::test {

Bytes uastcVectors(const char* name)
{
    std::ifstream file(std::string(SLUICE_TEST_DATA_DIR "/uastc/") + name, std::ios::binary);
    Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    REQUIRE(!bytes.empty());
    return bytes;
}

UastcCode uastcCodeOf(uint32_t mode)
{
    static constexpr UastcCode codes[] = {{4, 0x01}, {6, 0x35}, {5, 0x1d}, {5, 0x03}, {5, 0x13},
                                          {5, 0x0b}, {5, 0x1b}, {5, 0x07}, {5, 0x17}, {5, 0x0f},
                                          {3, 0x02}, {2, 0x00}, {3, 0x06}, {5, 0x1f}, {5, 0x0d},
                                          {7, 0x05}, {6, 0x15}, {6, 0x25}, {4, 0x09}, {7, 0x45}};
    return codes[mode];
}

Bytes uastcBlockOfMode(std::mt19937& random, uint32_t mode)
{
    Bytes block(16);
    for (uint8_t& byte : block)
        byte = uint8_t(random() >> 13);
    const UastcCode code = uastcCodeOf(mode);
    block[0] = uint8_t((block[0] & ~((1u << code.bits) - 1)) | code.code);
    if (const uint32_t patterns = setUastcPattern(block.data(), mode, 0))
        setUastcPattern(block.data(), mode, uint32_t(random() >> 13) % patterns);
    return block;
}

uint32_t setUastcPattern(uint8_t* block, uint32_t mode, uint32_t pattern)
{
    const bool two = mode == 2 || mode == 4 || mode == 9 || mode == 16;
    if (!two && mode != 3 && mode != 7) return 0;
    const uint32_t at = uastcCodeOf(mode).bits + (mode == 9 || mode == 16 ? 23 : 15),
                   bits = mode == 3 ? 4 : 5;
    for (uint32_t i = 0; i < bits; ++i) {
        uint8_t& byte = block[(at + i) / 8];
        const uint32_t bit = 1u << (at + i) % 8;
        byte = uint8_t((byte & ~bit) | ((pattern >> i & 1) != 0 ? bit : 0));
    }
    return two ? 30 : mode == 3 ? 11 : 19;
}

void needUastc(Device& on)
{
    SluicePipelinesInfo pipelines = {};
    pipelines.kernels = SLUICE_KERNELS_UASTC;
    REQUIRE(sluiceCreatePipelines(on.context(), &pipelines, nullptr) == SLUICE_OK);
}

namespace {

constexpr uint64_t kGap = 48; // bytes between outputs

} // namespace

UastcMade uastcMade(const UastcTarget& target, const Bytes& source, const UastcPiece& piece)
{
    const uint32_t columns = (piece.width + 3) / 4, rows = (piece.height + 3) / 4;
    const bool texels = target.number == SLUICE_UA_RGBA8;
    UastcMade expected;
    expected.output.resize(texels ? size_t(4) * piece.width * piece.height
                                  : size_t(columns) * rows * target.bytes);
    for (uint32_t k = 0; k < columns * rows; ++k) {
        uint8_t made[cpu::kUastcMostBytes];
        if (!cpu::transcodeUastc(target.number, &source[piece.offset + size_t(16) * k], made)) {
            ++expected.invalid.blocks;
            expected.invalid.first = std::min(expected.invalid.first, k);
        }
        if (!texels) {
            std::copy_n(made, target.bytes, &expected.output[size_t(k) * target.bytes]);
            continue;
        }
        for (uint32_t i = 0; i < 16; ++i) {
            const uint32_t x = k % columns * 4 + i % 4, y = k / columns * 4 + i / 4;
            if (x < piece.width && y < piece.height)
                std::copy_n(made + 4 * i, 4, &expected.output[4 * (size_t(y) * piece.width + x)]);
        }
    }
    return expected;
}

void checkUastc(Device& on, const UastcTarget& target, const Bytes& source,
                const std::vector<UastcPiece>& pieces, bool inPlace)
{
    CAPTURE(target.number);
    CAPTURE(inPlace);
    needUastc(on);
    const uint32_t count = uint32_t(pieces.size());
    uint32_t most = 1;
    std::vector<UastcMade> expected;
    std::vector<uint64_t> places;
    uint64_t room = 0;
    for (const UastcPiece& piece : pieces) {
        expected.push_back(uastcMade(target, source, piece));
        most = std::max(most, (piece.width + 3) / 4 * ((piece.height + 3) / 4));
        places.push_back(inPlace ? piece.offset : room);
        room += (expected.back().output.size() + 15) / 16 * 16 + kGap;
    }
    Buffer from(on, source), to(on, Bytes(room, Buffer::kPoison)), status(on, (count + 2) * 4),
        invalid(on, uint64_t(count) * 8);
    Buffer& out = inPlace ? from : to;
    std::vector<SluiceUastcRegion> regions;
    for (uint32_t i = 0; i < count; ++i)
        regions.push_back({from.address() + pieces[i].offset, out.address() + places[i],
                           pieces[i].width, pieces[i].height});
    Buffer list(on, bytesOf(regions));
    SluiceUastcInfo info = {};
    info.maxRegionCount = count;
    info.regionStride = sizeof(SluiceUastcRegion);
    info.maxRegionBlocks = most;
    info.format = target.format;
    info.flags = target.flags;
    info.regions = list.range();
    info.source = from.range();
    info.destination = out.range();
    info.status = status.range();
    info.invalid = invalid.range();
    runWithScratch(on, info, sluiceGetUastcRequirements, sluiceCmdUastc);

    Bytes wanted = inPlace ? source : Bytes(room, Buffer::kPoison);
    Words wantedStatus, wantedInvalid;
    uint32_t failed = 0, firstFailed = ~0u;
    for (uint32_t i = 0; i < count; ++i) {
        std::copy(expected[i].output.begin(), expected[i].output.end(),
                  wanted.begin() + ptrdiff_t(places[i]));
        const bool bad = expected[i].invalid.blocks != 0;
        wantedStatus.push_back(bad ? SLUICE_TILE_BAD_CODE : SLUICE_TILE_OK);
        wantedInvalid.push_back(expected[i].invalid.blocks);
        wantedInvalid.push_back(expected[i].invalid.first);
        if (bad && failed++ == 0) firstFailed = i;
    }
    wantedStatus.push_back(failed);
    wantedStatus.push_back(firstFailed);
    CHECK(status.words() == wantedStatus);
    CHECK(invalid.words() == wantedInvalid);
    const Bytes got = out.bytes();
    REQUIRE(got.size() >= wanted.size());
    const auto at = std::mismatch(wanted.begin(), wanted.end(), got.begin()).first;
    const ptrdiff_t firstDifference = at == wanted.end() ? -1 : at - wanted.begin();
    CHECK(firstDifference == -1);
    if (!inPlace) CHECK(from.bytes() == source);
}

} // namespace sluice::test
