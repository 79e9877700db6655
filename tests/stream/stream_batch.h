// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists of tile streams that a device and the CPU reference decode. Logical bytes are those of a
// destination with rows, without the padding between rows.
#pragma once

#include <sluice/sluice_tile_streams.h>

#include "tests/support/gdeflate_tiles.h"

namespace sluice::test {

// Returns a tile stream of these tiles. All tiles except the last one decode to 65,536 bytes. id:
// the first byte.
Bytes makeTileStream(const std::vector<Tile>& tiles, uint8_t id = 4);

// Holds what a command wrote.
struct StreamOutcome {
    std::vector<SluiceStreamResult> results;
    SluiceStreamSummary summary;
    Words status; // of the tiles, without the two words of the summary
    Words tileSummary;
    Bytes output; // the logical bytes of the destination
};

// Holds the data of one command. There are gaps between the streams, and between their outputs.
struct StreamBatch {
    Bytes source = Bytes(8, 0xEE);
    std::vector<SluiceStreamRange> ranges;
    uint64_t destinationSize = 8; // logical bytes
    uint32_t maxTileCount = 64;
    bool countOnDevice = false;
    uint32_t count = 0;
    // With SLUICE_TILE_STREAMS_PAIRS, the list has the low words of the ranges' offsets.
    uint32_t flags = 0;
    uint32_t pairsLeftOut = 0; // how many pairs there are beyond maxStreamCount
    uint32_t rowBytes = 0, rowPitch = 0;
    bool overlaps = false; // several streams decode to the same bytes, which are unspecified
    Words expected;        // checksums of the tiles, or empty

    // Adds a stream. room: the size of its range in the destination.
    void add(const Bytes& stream, uint64_t room);

    StreamOutcome runOnHost() const { return run(nullptr); }
    // Runs the command on the device. Also checks that no byte between the streams has changed, nor
    // any of a stream that failed, nor the padding of rows.
    StreamOutcome runOnDevice(Device& device) const { return run(&device); }

    // Runs the command on both. Results, statuses and the bytes of tiles that are OK must be the
    // same. Returns what the device gave.
    StreamOutcome runAndCompare(Device& device) const;

private:
    StreamOutcome run(Device* device) const;
    Bytes logicalBytes(const Bytes& memory) const;
    void checkUntouched(const StreamOutcome& outcome) const;
};

} // namespace sluice::test
