// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists of tile streams, decoded on a device and by the CPU reference.
#pragma once

#include <sluice/sluice_tile_streams.h>

#include "tests/support/gdeflate_tiles.h"

namespace sluice::test {

// A tile stream of these tiles, all but the last of which decode to 65,536 bytes.
Bytes makeTileStream(const std::vector<Tile>& tiles);

// Holds what a command gave.
struct StreamOutcome {
    std::vector<SluiceStreamResult> results;
    SluiceStreamSummary summary;
    Words status; // of the tiles, without the two summary words
    Words tileSummary;
    Bytes output; // the logical bytes of the destination
};

// One command, and how it is laid out. Streams and their output have gaps between them.
struct StreamBatch {
    Bytes source = Bytes(8, 0xEE);
    std::vector<SluiceStreamRange> ranges;
    uint64_t destinationSize = 8; // logical bytes
    uint32_t maxTileCount = 64;
    bool countOnDevice = false;
    uint32_t count = 0;
    uint32_t flags = 0;
    uint32_t rowBytes = 0, rowPitch = 0;
    Words expected; // checksums of the tiles; may be empty

    // room: for the decoded bytes.
    void add(const Bytes& stream, uint64_t room);

    StreamOutcome runOnHost() const { return run(nullptr); }
    // Also checks that no byte between the streams changed, none of a stream that failed, and no
    // padding of rows.
    StreamOutcome runOnDevice(Device& device) const { return run(&device); }

    // Runs on both: results, statuses and the bytes of tiles that are OK must agree. Returns what
    // the device gave.
    StreamOutcome runAndCompare(Device& device) const;

private:
    StreamOutcome run(Device* device) const;
    Bytes logicalBytes(const Bytes& memory) const;
    void checkUntouched(const StreamOutcome& outcome) const;
};

} // namespace sluice::test
