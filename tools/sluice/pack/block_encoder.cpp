// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/block_encoder.h"

#if SLUICE_HAVE_SQUISH

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <squish.h>

namespace sluice {
namespace {

int flagsOf(const SluiceImageFormat& format, bool weighted, bool thorough)
{
    const int fit = thorough ? squish::kColourClusterFit : squish::kColourRangeFit;
    const std::string_view kind = std::string_view(format.name).substr(0, 3);
    if (kind == "BC1") return squish::kDxt1 | fit;
    if (kind == "BC3") return squish::kDxt5 | fit | (weighted ? squish::kWeightColourByAlpha : 0);
    return kind == "BC4" ? squish::kBc4 : squish::kBc5;
}

// Encodes one row of blocks. Texels of a block that lie outside the level do not count.
void encodeRow(const uint8_t* rgba, uint32_t width, uint32_t height, uint32_t row, int flags,
               uint32_t blockBytes, uint8_t* blocks)
{
    for (uint32_t x = 0; x < width; x += 4, blocks += blockBytes) {
        uint8_t texels[64] = {};
        int mask = 0;
        for (uint32_t i = 0; i < 16; ++i) {
            const uint32_t column = x + i % 4, line = 4 * row + i / 4;
            if (column >= width || line >= height) continue;
            mask |= 1 << i;
            std::memcpy(&texels[4 * i], rgba + (size_t(line) * width + column) * 4, 4);
        }
        squish::CompressMasked(texels, mask, blocks, flags);
    }
}

} // namespace

bool hasBlockEncoder() { return true; }

void encodeBlocks(const uint8_t* rgba, uint32_t width, uint32_t height,
                  const SluiceImageFormat& format, bool weighted, bool thorough, uint32_t threads,
                  uint8_t* blocks)
{
    const uint32_t rows = (height + 3) / 4, columns = (width + 3) / 4;
    const int flags = flagsOf(format, weighted, thorough);
    std::atomic<uint32_t> next{0};
    const auto work = [&] {
        for (uint32_t row = next++; row < rows; row = next++)
            encodeRow(rgba, width, height, row, flags, format.blockBytes,
                      blocks + size_t(row) * columns * format.blockBytes);
    };
    constexpr uint32_t blocksWorthAThread = 256;
    std::vector<std::thread> helpers;
    try {
        while (helpers.size() + 1 < std::min({threads, rows, rows * columns / blocksWorthAThread}))
            helpers.emplace_back(work);
    } catch (const std::system_error&) {
        // The system has no more threads, so those that exist do all the work.
    }
    work();
    for (std::thread& helper : helpers)
        helper.join();
}

} // namespace sluice

#else

bool sluice::hasBlockEncoder() { return false; }

void sluice::encodeBlocks(const uint8_t*, uint32_t, uint32_t, const SluiceImageFormat&, bool, bool,
                          uint32_t, uint8_t*)
{
}

#endif
