// SPDX-License-Identifier: MIT OR Apache-2.0
// A model of how long a thread takes to decode tiles, learnt from the times of units. A tile costs
// time for each of its bytes, which depends on its codec and on whether it has a filter. The fixed
// cost of a tile is counted as additional bytes.
#pragma once

#include <array>
#include <cstdint>

#include "stream/recent.h"

namespace sluice::stream {

enum CpuCodec : uint32_t {
    kCpuStored,
    kCpuGdeflate,
    kCpuGstd,
    kCpuZstd,
    kCpuFloat,
    kCpuTileCodecs,
    kCpuUastc = kCpuTileCodecs, // transcoding; counts bytes of UASTC blocks, not of tiles
    kCpuCodecs
};

// A sum of bytes or of milliseconds for each codec and for the transcoder, [0] of tiles without
// filters and [1] of tiles with filters.
struct CpuSums {
    double of[kCpuCodecs][2] = {};
};

// The decoded bytes of tiles. Each tile counts kBytesOfTile additional bytes, for its fixed cost.
class CpuInputs {
public:
    static double sizeOf(uint32_t size) { return double(size) + kBytesOfTile; }
    void addTile(CpuCodec codec, uint32_t size, bool isFiltered)
    {
        m_bytes.of[codec][isFiltered] += sizeOf(size);
    }
    // work: the time for a block, relative to transcoding it to BC7.
    void addTranscode(uint64_t size, double work)
    {
        m_bytes.of[kCpuUastc][0] += work * double(size);
    }
    const CpuSums& bytes() const { return m_bytes; }

private:
    static constexpr double kBytesOfTile = 2048;

    CpuSums m_bytes;
};

class CpuCostModel {
public:
    // Predicts how many milliseconds one thread needs.
    double predict(const CpuInputs& inputs) const
    {
        double sum = 0;
        for (uint32_t codec = 0; codec < kCpuCodecs; ++codec)
            for (uint32_t filtered = 0; filtered < 2; ++filtered)
                sum += inputs.bytes().of[codec][filtered] * costOf(codec, filtered);
        return sum;
    }
    // Learns from a unit: how many milliseconds its bytes of each codec took.
    void learn(const CpuInputs& inputs, const CpuSums& milliseconds)
    {
        for (uint32_t codec = 0; codec < kCpuCodecs; ++codec) {
            for (uint32_t filtered = 0; filtered < 2; ++filtered) {
                const double bytes = inputs.bytes().of[codec][filtered];
                const double cost = milliseconds.of[codec][filtered] / bytes;
                if (bytes > 0 && cost > kLeast && cost < kMost) m_costs[codec][filtered].add(cost);
            }
        }
    }
    double millisecondsPerMiB(CpuCodec codec) const { return 1048576 * costOf(codec, 0); }

private:
    static constexpr double kLeast = 1e-9, kMost = 1e3; // plausible milliseconds a byte
    // Milliseconds a byte that are assumed before the first measurement.
    static constexpr double kStart[kCpuCodecs][2] = {{1e-7, 1e-6}, {1.5e-6, 2.5e-6}, {1e-6, 2e-6},
                                                     {3e-6, 4e-6}, {1e-6, 2e-6},     {4e-6, 4e-6}};

    double costOf(uint32_t codec, uint32_t filtered) const
    {
        return m_costs[codec][filtered].median(kStart[codec][filtered]);
    }

    Recent<9> m_costs[kCpuCodecs][2];
};

} // namespace sluice::stream
