// SPDX-License-Identifier: MIT OR Apache-2.0
// One decode of a list of tiles: the buffers that it needs, filled, and the structures of its commands.
#pragma once

#include <vector>

#include "device.h"

namespace sluice {

struct TileList {
    const void* source; // compressed bytes
    uint64_t sourceSize;
    uint64_t destinationSize;
    std::vector<SluiceRegion> regions; // GDeflate; addresses count from the start of source and of destination
    std::vector<uint32_t> expected;    // a checksum for each; may be empty
    uint32_t flags = 0;                // SluiceDecodeFlags
    std::vector<SluiceRegion> gstdRegions = {}; // Gstd, as the others
    std::vector<uint32_t> gstdExpected = {};
    std::vector<SluiceFloatTensor> tensors = {}; // float codec; addresses as those of the regions
    uint32_t tensorTiles = 0;                    // of all of them
};

// Nothing is to be recorded for a list of no regions, or no tensors.
struct TileCommands {
    SluiceGdeflateInfo gdeflate;
    SluiceGstdInfo gstd;
    SluiceFloatDecodeInfo floats;
};

class TileDecode {
public:
    explicit TileDecode(const ToolDevice& device);

    // Uploads the list. What is returned is good until the next call.
    TileCommands prepare(const TileList& list);

private:
    SluiceBuffer upload(DeviceBuffer& buffer, const void* bytes, uint64_t size);
    struct RegionBuffers {
        explicit RegionBuffers(const ToolDevice& device)
            : regions(device), expected(device), status(device), scratch(device)
        {
        }
        DeviceBuffer regions, expected, status, scratch;
    };

    // Info: SluiceGdeflateInfo or SluiceGstdInfo.
    template <typename Info, typename GetRequirements>
    void prepareRegions(std::vector<SluiceRegion> regions, const std::vector<uint32_t>& expected, uint32_t flags,
                        RegionBuffers& buffers, Info& info, GetRequirements getRequirements);
    void prepareTensors(const TileList& list, SluiceFloatDecodeInfo& info);

    const ToolDevice& device_;
    DeviceBuffer source_, destination_;
    RegionBuffers gdeflate_, gstd_;
    DeviceBuffer tensors_, tensorStatus_, tensorScratch_;
};

} // namespace sluice
