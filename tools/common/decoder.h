// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes tiles on a device, in batches of bounded size, and returns the bytes in the order of the
// tiles.
#pragma once

#include <functional>
#include <vector>

#include <sluice/sluice_tiles.h>

#include "tools/common/container.h"
#include "tools/common/tile_batch.h"

namespace sluice {

struct DecodeTile {
    ContainerTile tile;
    bool hasChecksum; // false for tile streams, which have none
    uint32_t asset;   // the caller gets `asset` and `number` back in Done
    uint32_t number;
};

struct DecodeStats {
    uint64_t bytesIn = 0, bytesOut = 0, tiles = 0;
    // Time for decoding, filters and checksums, without copies to and from the device.
    double gpuMilliseconds = 0;

    void add(const DecodeStats& other)
    {
        bytesIn += other.bytesIn;
        bytesOut += other.bytesOut;
        tiles += other.tiles;
        gpuMilliseconds += other.gpuMilliseconds;
    }
};

// Returns how many decoded bytes a batch may have on this device.
uint64_t batchBytes(const ToolDevice& device);

class Decoder {
public:
    // Called for every tile, in the order in which add() was called. `status` is a
    // SluiceTileStatus. `bytes` are valid during the call.
    using Done = std::function<void(const DecodeTile& tile, uint32_t status, const uint8_t* bytes)>;

    static uint32_t kernels(); // set of all SluiceKernels that tiles may need

    Decoder(const ToolDevice& device, Done done);

    // Adds a tile, and decodes the batch first if the tile does not fit into it. Returns memory for
    // the tile's compressed bytes, which the caller fills before the next call. The tile's filter
    // description must stay valid until Done has been called for the tile.
    uint8_t* add(const DecodeTile& tile);
    void flush();

    const DecodeStats& stats() const { return m_stats; }

private:
    struct Entry {
        DecodeTile tile;
        uint64_t source, destination; // offsets in m_source and in the destination
    };

    // Neighbouring tiles of the batch that one command decodes.
    struct Slice {
        size_t first; // index of its first tile in the batch
        TileBatch tiles;
    };

    SluiceTile tileOf(const Entry& entry) const;
    bool fits(const DecodeTile& added) const;
    void decodeOnDevice();
    void prepare(Slice& slice, size_t first, size_t last);
    double runInThreads(size_t slices);

    const ToolDevice& m_device;
    Done m_done;
    uint64_t m_batchBytes;
    std::vector<Entry> m_entries;
    Bytes m_source, m_destination;
    uint64_t m_sourceSize = 0, m_destinationSize = 0, m_descriptionSize = 0;
    std::vector<Slice> m_slices; // one for each thread
    Words m_status;
    DeviceBuffer m_sourceBuffer, m_destinationBuffer;
    SluiceBuffer m_sourceRange = {}, m_destinationRange = {};
    DecodeStats m_stats;
};

} // namespace sluice
