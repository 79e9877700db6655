// SPDX-License-Identifier: MIT OR Apache-2.0
// One decode of a list of tiles: the buffers that it needs, filled, and its commands.
#pragma once

#include <vector>

#include <sluice/sluice_filter.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>

#include "device.h"

namespace sluice {

// GDeflate, the same with filters, Gstd, the same with filters; of the float codec the checksums
// only: its tiles are tensors.
constexpr uint32_t kTileGroups = 5, kTensorGroup = 4;

struct TileGroup {
    std::vector<SluiceRegion> regions;     // addresses count from the start of source and of
                                           // destination
    std::vector<uint32_t> expected;        // a checksum for each; may be empty without filters
    std::vector<SluiceFilterTile> filters; // one for each region, or none; sources count from the
                                           // start of the filtered tiles
};

struct TileList {
    const void* source; // compressed bytes
    uint64_t sourceSize;
    uint64_t destinationSize;
    uint64_t filteredSize; // of all tiles with filters, as they are decoded
    TileGroup groups[kTileGroups];
    std::vector<uint8_t> descriptions;      // of filters
    uint32_t flags;                         // SluiceDecodeFlags
    std::vector<SluiceFloatTensor> tensors; // addresses as those of the regions
    uint32_t tensorTiles;                   // of all of them
};

struct TileCommands {
    SluiceBuffer destination;
    SluiceBuffer status[kTileGroups];
    SluiceGdeflateInfo gdeflate[2]; // without filters, with filters
    SluiceGstdInfo gstd[2];
    SluiceFilterInfo filter[kTileGroups];
    SluiceChecksumInfo checksum[kTileGroups]; // after a filter, and of float tiles
    SluiceFloatDecodeInfo floats;
};

class TileDecode {
public:
    explicit TileDecode(const ToolDevice& device);

    // Uploads the list. What is returned is good until the next call.
    const TileCommands& prepare(const TileList& list);
    // Records everything that the list wants.
    void record(SluiceCommands commands) const;

private:
    struct GroupBuffers {
        explicit GroupBuffers(const ToolDevice& device)
            : regions(device), expected(device), status(device), scratch(device),
              finalRegions(device), tiles(device), filterScratch(device)
        {
        }
        DeviceBuffer regions, expected, status, scratch, finalRegions, tiles, filterScratch;
    };

    SluiceBuffer upload(DeviceBuffer& buffer, const void* bytes, uint64_t size);
    SluiceBuffer uploadRegions(DeviceBuffer& buffer, std::vector<SluiceRegion> regions,
                               const SluiceBuffer& destination);
    // Info: SluiceGdeflateInfo or SluiceGstdInfo.
    template <typename Info, typename GetRequirements>
    void prepareGroup(const TileList& list, uint32_t number, Info& info,
                      GetRequirements getRequirements);
    void prepareFilter(const TileGroup& group, uint32_t number);
    void prepareTensorChecks(const TileGroup& group);
    void prepareChecksum(const TileGroup& group, uint32_t number, const SluiceBuffer& expected);
    void prepareTensors(const TileList& list, SluiceFloatDecodeInfo& info);

    const ToolDevice& device_;
    DeviceBuffer source_, destination_, filtered_, descriptions_;
    SluiceBuffer sourceRange_ = {}, filteredRange_ = {}, descriptionRange_ = {};
    GroupBuffers groups_[kTileGroups];
    DeviceBuffer tensors_, tensorStatus_, tensorScratch_;
    TileCommands commands_ = {};
};

} // namespace sluice
