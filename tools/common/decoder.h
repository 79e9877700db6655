// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes tiles on a device, in batches of bounded size, and gives the bytes back in order.
#pragma once

#include <functional>
#include <vector>

#include <sluice/sluice_tiles.h>

#include "tools/common/container.h"
#include "tools/common/tile_batch.h"

namespace sluice {

struct DecodeTile {
    ContainerTile tile;
    bool hasChecksum; // tile streams have none
    uint32_t asset;   // tags that `done` gets back
    uint32_t number;
};

struct DecodeStats {
    uint64_t bytesIn = 0, bytesOut = 0, tiles = 0;
    double gpuMilliseconds = 0; // decode, filters and checksums; no copies to and from the device
};

class Decoder {
public:
    // `done` is called for every tile in the order of add; `status` is a SluiceTileStatus, and
    // `bytes` are valid during the call.
    using Done = std::function<void(const DecodeTile& tile, uint32_t status, const uint8_t* bytes)>;

    static uint32_t kernels(); // of every codec

    Decoder(const ToolDevice& device, Done done);

    // Returns room for the tile's compressed bytes, which the caller fills before the next call.
    // The tile's filter must stay until the tile is given back.
    uint8_t* add(const DecodeTile& tile);
    void flush();

    const DecodeStats& stats() const { return m_stats; }

private:
    struct Entry {
        DecodeTile tile;
        uint64_t source, destination; // offsets in the batch
    };

    // A range of the batch's tiles that one command decodes.
    struct Slice {
        size_t first; // tile of the batch
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
    std::vector<Slice> m_slices; // one per thread
    Words m_status;
    DeviceBuffer m_sourceBuffer, m_destinationBuffer;
    SluiceBuffer m_sourceRange = {}, m_destinationRange = {};
    DecodeStats m_stats;
};

} // namespace sluice
