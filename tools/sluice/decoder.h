// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes tiles on a device, in batches of bounded size, and gives the bytes back in order.
#pragma once

#include <functional>
#include <vector>

#include "tile_decode.h"

namespace sluice {

struct DecodeTile {
    uint32_t compressedSize;
    uint32_t size;    // decoded
    uint32_t codec;   // SluiceCodec
    bool hasChecksum; // tile streams have none
    uint32_t checksum;
    uint32_t asset; // tags, given back
    uint32_t number;
    const void* filter; // its description, which stays until the tile is given back; NULL: none
    uint32_t filterSize;
};

struct DecodeStats {
    uint64_t bytesIn = 0, bytesOut = 0, tiles = 0;
    double gpuMilliseconds = 0; // decode, filters and checksums; without the copies to and from the
                                // device
};

class Decoder {
public:
    // done is called for every tile, in the order of add; status is a SluiceTileStatus, bytes are
    // valid during the call.
    using Done = std::function<void(const DecodeTile& tile, uint32_t status, const uint8_t* bytes)>;

    // What the device must have.
    static constexpr uint32_t kernels = SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_GSTD |
                                        SLUICE_KERNELS_FLOAT | SLUICE_KERNELS_FILTER;

    Decoder(const ToolDevice& device, Done done);

    // Room for the compressed bytes of the tile; the caller fills it before the next call.
    uint8_t* add(const DecodeTile& tile);
    // Decodes what has been added since.
    void flush();

    const DecodeStats& stats() const { return stats_; }

private:
    // GDeflate and small stored tiles; Gstd and larger stored ones; FLOAT; the largest stored ones
    enum class Way {
        region,
        gstdRegion,
        tensor,
        host
    };
    struct Entry {
        DecodeTile tile;
        uint64_t source, destination; // offsets in the batch
        uint64_t filtered;            // offset among the filtered tiles, if it has a filter that
                                      // the device undoes
        Way way;
        uint32_t status; // SluiceTileStatus
    };

    void decodeOnDevice(std::vector<Entry>& entries);
    static uint32_t groupOf(const Entry& entry);
    static bool isCheckedOnDevice(const Entry& entry);
    void addRegion(const Entry& entry, TileList& list) const;
    bool addTensor(const Entry& entry, TileList& list) const;
    uint32_t checkedOnHost(const DecodeTile& tile, uint32_t status, const uint8_t* bytes) const;

    const ToolDevice& device_;
    Done done_;
    uint64_t batchBytes_;
    std::vector<Entry> entries_;
    std::vector<uint8_t> source_, destination_;
    std::vector<uint32_t> status_[kTileGroups], tensorStatus_;
    uint64_t sourceSize_ = 0, destinationSize_ = 0, filteredSize_ = 0;
    TileDecode tileDecode_;
    DecodeStats stats_;
};

} // namespace sluice
