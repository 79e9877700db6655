// SPDX-License-Identifier: MIT OR Apache-2.0
// A tile set on a device, several times over, each copy at source and destination addresses of its
// own.
#pragma once

#include "tools/bench/input.h"
#include "tools/bench/peers.h"
#include "tools/bench/report.h"

namespace sluice {

class Scene {
public:
    static constexpr uint32_t kStride = sizeof(DriverRegion);

    Scene(const BenchDevice& on, const TileSet& tiles);

    const BenchDevice& device;
    const TileSet& set;
    uint32_t copies;
    // Tiles with filters are decoded into the second half of the destination, which is there if the
    // set has filters; outputs come to lie in the first.
    uint64_t sourceStride, outputStride, filteredOffset;
    DeviceBuffer source, destination, regions, status, expected, count;

    uint32_t tilesOf(uint32_t copyCount) const { return copyCount * uint32_t(set.tiles.size()); }
    uint32_t allTiles() const { return tilesOf(copies); }
    uint64_t bytesOf(uint32_t tileCount) const;
    SluiceBuffer regionsFrom(uint32_t copy, uint32_t tileCount) const
    {
        return regions.part(uint64_t{tilesOf(copy)} * kStride, uint64_t{tileCount} * kStride);
    }

    // The batches to time, in tiles: `few` of them, whose slowest one is what takes time; the set
    // once, a few times, as often as it is there.
    Words batches(uint32_t few) const;
    // Copies that a batch takes from, and the first of them: run after run takes the next ones.
    uint32_t copiesOf(uint32_t tileCount) const
    {
        return (tileCount + tilesOf(1) - 1) / tilesOf(1);
    }
    uint32_t firstOf(uint32_t run, uint32_t tileCount) const
    {
        return run % (copies / copiesOf(tileCount)) * copiesOf(tileCount);
    }

    // Tells the device how many regions the following batches have.
    void setCount(uint32_t tileCount) const
    {
        device.upload(count.whole(), &tileCount, sizeof tileCount);
    }
    void poison() const { device.fill(destination.whole(), 0xee); }
    // Throw a Failure unless all tiles of all copies came out right.
    void checkOutput(const std::string& who) const;
    void checkStatus(const std::string& who) const;

    // Times record(commands, first copy) on the copies that a batch takes, run after run others.
    template <class Record>
    BenchRow time(const char* kernel, const std::string& who, uint32_t tileCount,
                  const Record& record) const
    {
        const auto recordRun = [&](SluiceCommands commands, uint32_t run) {
            record(commands, firstOf(run, tileCount));
        };
        const uint64_t bytes = bytesOf(tileCount);
        return {kernel, sizeText(bytes), who, bytes, device.time(1, recordRun)};
    }
};

// Throws a Failure unless the destination holds the set's bytes in each of the copies.
void checkCopies(const BenchDevice& device, const TileSet& set, const DeviceBuffer& destination,
                 uint32_t copies, uint64_t stride, const std::string& who);

} // namespace sluice
