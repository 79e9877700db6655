// SPDX-License-Identifier: MIT OR Apache-2.0
// The case for the decoder of Zstandard frames. libzstd makes the frames.
#include "selftest/cases.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include <sluice/sluice_zstd.h>

namespace sluice::selftest {
namespace {

constexpr uint32_t kLargest = 24000, kSmall = 60; // most bytes of a region

// Returns text of few symbols, near and far repeats with and without changes, runs, and noise. Its
// blocks have literals of every kind, and use all repeated offsets.
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

// Encodes `bytes` as a frame. smallBlocks: the window has 4 KiB, which also limits blocks to 4 KiB.
// Returns no bytes after an error.
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

// Frames for a command. Addresses in `regions` are offsets from the start of the source or the
// destination.
struct Frames {
    Bytes source;
    std::vector<SluiceRegion> regions;
    uint64_t output = 0;

    void add(const Bytes& frame, uint64_t size)
    {
        source.push_back(0); // so that sources are not aligned
        regions.push_back({source.size(), output, frame.size(), size});
        source.insert(source.end(), frame.begin(), frame.end());
        output += (size + 3) / 4 * 4;
    }
};

void decode(CaseBuffers& on, Frames frames, uint32_t regionsAtOnce, uint32_t maxRegionSize,
            uint32_t maxBlocks)
{
    frames.source.resize((frames.source.size() + 8) / 4 * 4);
    SluiceZstdInfo info = {};
    info.maxRegionCount = uint32_t(frames.regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.flags = SLUICE_ZSTD_CHECKSUMS;
    info.regionsAtOnce = regionsAtOnce;
    info.maxRegionSize = maxRegionSize;
    info.maxBlocks = maxBlocks;
    info.source = on.input(frames.source);
    info.destination = on.output(frames.output);
    std::vector<SluiceRegion> list = frames.regions;
    for (SluiceRegion& region : list) {
        region.srcAddress += on.address(info.source);
        region.dstAddress += on.address(info.destination);
    }
    info.regions = on.input(list);
    info.status = on.output((uint64_t(info.maxRegionCount) + 2) * 4);
    // Zeros lead to no address outside the buffers, which poison would do if a faulty step had not
    // written what later steps read.
    on.addScratch(info, sluiceGetZstdRequirements, 0);
    on.run(sluiceCmdZstd, info);
    on.take(info.status);
    const Bytes words = on.read(info.status);
    if (on.status != SLUICE_OK) return;
    Words statuses(list.size());
    std::memcpy(statuses.data(), words.data(), statuses.size() * 4);
    on.take(info.destination, [&](uint8_t* bytes) {
        for (size_t i = 0; i < list.size(); ++i)
            if (statuses[i] != SLUICE_TILE_OK && statuses[i] != SLUICE_TILE_BAD_CHECKSUM)
                std::fill_n(bytes + frames.regions[i].dstAddress, list[i].decompressedSize,
                            CaseBuffers::kPoison);
    });
}

} // namespace

template <>
void SelfTestCases::test<SelfTestCase::zstd>(CaseBuffers& on)
{
    Frames large, small;
    for (uint32_t i = 0; i < 10; ++i) {
        const uint32_t size = i % 3 == 2 ? kLargest : 900 + 2111 * i;
        Bytes frame = encoded(content(size, i), i % 2 == 0 ? 19 : 1, i % 3 != 0, i % 4 != 3);
        if (frame.empty()) {
            on.status = SLUICE_ERROR_OUT_OF_MEMORY;
            return;
        }
        large.add(frame, size);
        if (i == 5) {
            frame.back() ^= 1; // damage the checksum
            large.add(frame, size);
        }
        if (i < 6) continue;
        frame[frame.size() / 2] ^= 16; // damage the middle of the frame
        large.add(frame, size);
        large.add(frame, size - 1);
    }
    for (uint32_t i = 0; i < 2100; ++i) {
        const uint32_t size = i % (kSmall + 1);
        Bytes frame = encoded(content(size, i), 1, false, true);
        if (frame.empty()) {
            on.status = SLUICE_ERROR_OUT_OF_MEMORY;
            return;
        }
        if (i % 5 == 0) frame.back() ^= 1;
        small.add(frame, size);
    }
    decode(on, large, 2, kLargest, 64); // in several turns, each of as many as have room
    decode(on, small, 1100, kSmall, 1); // in two turns, whose statuses and slots are many
}

} // namespace sluice::selftest
