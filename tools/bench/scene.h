// SPDX-License-Identifier: MIT OR Apache-2.0
// Several copies of a set of tiles on a device. Each copy has a source and a destination of its
// own, so that a batch can use data that is in no cache.
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
    // If tiles have filters, the destination has two halves. Tiles with filters are decoded into
    // the second half, at filteredOffset; undoing the filters writes the first half.
    uint64_t sourceStride, outputStride, filteredOffset;
    DeviceBuffer source, destination, regions, status, expected, count;

    uint32_t tilesOf(uint32_t copyCount) const { return copyCount * uint32_t(set.tiles.size()); }
    uint32_t allTiles() const { return tilesOf(copies); }
    uint64_t bytesOf(uint32_t tileCount) const;
    SluiceBuffer regionsFrom(uint32_t copy, uint32_t tileCount) const
    {
        return regions.part(uint64_t{tilesOf(copy)} * kStride, uint64_t{tileCount} * kStride);
    }

    // Returns the numbers of tiles to decode at once in the rows: `few`, where the time is that of
    // the slowest tile; one copy of the set; a few copies; all copies.
    Words batches(uint32_t few) const;
    // copiesOf returns how many copies of the set a batch of this many tiles uses. firstOf returns
    // the first of them. It differs from run to run, so that a batch finds nothing in a cache: a
    // run takes the next copies, and the first ones again when none are left.
    uint32_t copiesOf(uint32_t tileCount) const
    {
        return (tileCount + tilesOf(1) - 1) / tilesOf(1);
    }
    uint32_t firstOf(uint32_t run, uint32_t tileCount) const
    {
        return run % (copies / copiesOf(tileCount)) * copiesOf(tileCount);
    }

    // Writes the number of tiles of the next batches to `count`, from which the decoders read it.
    void setCount(uint32_t tileCount) const
    {
        device.upload(count.whole(), &tileCount, sizeof tileCount);
    }
    void poison() const { device.fill(destination.whole(), 0xee); }
    // checkOutput and checkStatus throw a Failure unless all tiles of all copies are right.
    void checkOutput(const std::string& who) const;
    void checkStatus(const std::string& who) const;

    // Times batches of tileCount tiles, which record(commands, first copy) records.
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
