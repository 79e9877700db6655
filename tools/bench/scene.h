// SPDX-License-Identifier: MIT OR Apache-2.0
// Several copies of a tile set on a device, each with its own source and destination addresses.
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
    // The destination has two halves if the set has filters: filtered tiles are decoded into the
    // second half, and all output ends up in the first.
    uint64_t sourceStride, outputStride, filteredOffset;
    DeviceBuffer source, destination, regions, status, expected, count;

    uint32_t tilesOf(uint32_t copyCount) const { return copyCount * uint32_t(set.tiles.size()); }
    uint32_t allTiles() const { return tilesOf(copies); }
    uint64_t bytesOf(uint32_t tileCount) const;
    SluiceBuffer regionsFrom(uint32_t copy, uint32_t tileCount) const
    {
        return regions.part(uint64_t{tilesOf(copy)} * kStride, uint64_t{tileCount} * kStride);
    }

    // Returns the numbers of tiles per batch to time: `few` tiles, whose time is that of the
    // slowest one; the set once; the set a few times; all copies of the set.
    Words batches(uint32_t few) const;
    // copiesOf returns how many copies a batch uses, and firstOf the first of them. Each run uses
    // the next copies.
    uint32_t copiesOf(uint32_t tileCount) const
    {
        return (tileCount + tilesOf(1) - 1) / tilesOf(1);
    }
    uint32_t firstOf(uint32_t run, uint32_t tileCount) const
    {
        return run % (copies / copiesOf(tileCount)) * copiesOf(tileCount);
    }

    // Tells the device the number of regions of the next batches.
    void setCount(uint32_t tileCount) const
    {
        device.upload(count.whole(), &tileCount, sizeof tileCount);
    }
    void poison() const { device.fill(destination.whole(), 0xee); }
    // Throw a Failure unless all tiles of all copies are right.
    void checkOutput(const std::string& who) const;
    void checkStatus(const std::string& who) const;

    // Times record(commands, first copy) for a batch; each run uses other copies.
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

// Throws a Failure unless every copy in the destination holds the set's bytes.
void checkCopies(const BenchDevice& device, const TileSet& set, const DeviceBuffer& destination,
                 uint32_t copies, uint64_t stride, const std::string& who);

} // namespace sluice
