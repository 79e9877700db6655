// SPDX-License-Identifier: MIT OR Apache-2.0
// The case for the decoder of Zstandard frames. libzstd makes the frames.
#include "selftest/cases.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include <sluice/sluice_zstd.h>

namespace sluice::selftest {
namespace {

constexpr uint32_t kLargest = 24000;

// Text of few symbols, repeats from near and far with and without changes, runs, and noise: a block
// of it has literals of every kind and all repeated offsets.
Bytes content(uint32_t size, uint32_t seed)
{
    Random random(seed);
    Bytes bytes;
    while (bytes.size() < size) {
        const uint32_t kind = random.below(8), length = 3 + random.below(kind == 0 ? 900 : 40),
                       back = bytes.empty() ? 0 : 1 + random.below(uint32_t(bytes.size()));
        const auto noise = uint8_t(random.next());
        for (uint32_t i = 0; i < length; ++i) {
            if (kind < 2)
                bytes.push_back(uint8_t("abcdefgh"[random.below(8)]));
            else if (kind == 2)
                bytes.push_back(uint8_t(random.next()));
            else if (kind == 3 || back == 0)
                bytes.push_back(noise);
            else
                bytes.push_back(uint8_t(bytes[bytes.size() - back] + (i % 16 == 15 ? 1 : 0)));
        }
    }
    bytes.resize(size);
    return bytes;
}

// Encodes `bytes` as a frame. Small blocks have 4 KiB, since the window has no more. Returns no
// bytes after an error.
Bytes encoded(const Bytes& bytes, int level, bool smallBlocks, bool checksum)
{
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
    if (context == nullptr) return {};
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, checksum ? 1 : 0);
    if (smallBlocks) ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, 12);
    Bytes frame(ZSTD_compressBound(bytes.size()));
    const size_t size =
        ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(size) != 0) return {};
    frame.resize(size);
    return frame;
}

} // namespace

template <>
void SelfTestCases::test<SelfTestCase::zstd>(CaseBuffers& on)
{
    Bytes source;
    std::vector<SluiceRegion> regions;
    uint64_t output = 0;
    const auto add = [&](const Bytes& frames, uint64_t size) {
        source.push_back(0); // sources begin at any byte
        regions.push_back({source.size(), output, frames.size(), size});
        source.insert(source.end(), frames.begin(), frames.end());
        output += (size + 3) / 4 * 4;
    };
    for (uint32_t i = 0; i < 10; ++i) {
        const uint32_t size = i % 3 == 2 ? kLargest : 900 + 2111 * i;
        const Bytes bytes = content(size, i);
        Bytes frame = encoded(bytes, i % 2 == 0 ? 19 : 1, i % 3 != 0, i % 4 != 3);
        if (frame.empty()) {
            on.status = SLUICE_ERROR_OUT_OF_MEMORY;
            return;
        }
        add(frame, size);
        if (i == 5) {
            frame.back() ^= 1; // of the checksum
            add(frame, size);
        }
        if (i < 6) continue;
        frame[frame.size() / 2] ^= 16; // damaged somewhere
        add(frame, size);
        add(frame, size - 1);
    }
    for (int k = 0; k < 8; ++k)
        source.push_back(0);
    source.resize(source.size() / 4 * 4);
    SluiceZstdInfo info = {};
    info.maxRegionCount = uint32_t(regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.flags = SLUICE_ZSTD_CHECKSUMS;
    info.regionsAtOnce = 12; // two turns
    info.maxRegionSize = kLargest;
    info.maxBlocks = 64;
    info.source = on.input(source);
    info.destination = on.output(output);
    std::vector<SluiceRegion> list = regions;
    for (SluiceRegion& region : list) {
        region.srcAddress += on.address(info.source);
        region.dstAddress += on.address(info.destination);
    }
    info.regions = on.input(list);
    info.status = on.output((uint64_t(info.maxRegionCount) + 2) * 4);
    on.addScratch(info, sluiceGetZstdRequirements);
    on.run(sluiceCmdZstd, info);
    on.take(info.status);
    const Bytes words = on.read(info.status);
    if (on.status != SLUICE_OK) return;
    Words statuses(regions.size());
    std::memcpy(statuses.data(), words.data(), statuses.size() * 4);
    on.take(info.destination, [&](uint8_t* bytes) {
        for (size_t i = 0; i < regions.size(); ++i)
            if (statuses[i] != SLUICE_TILE_OK && statuses[i] != SLUICE_TILE_BAD_CHECKSUM)
                std::fill_n(bytes + regions[i].dstAddress, regions[i].decompressedSize,
                            CaseBuffers::kPoison);
    });
}

} // namespace sluice::selftest
