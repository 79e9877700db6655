// SPDX-License-Identifier: MIT OR Apache-2.0
// One decode of a list of tiles: the buffers that it needs, filled, and its commands.
#pragma once

#include <array>
#include <vector>

#include <sluice/sluice_filter.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>

#include "codecs.h"
#include "device.h"

namespace sluice {

inline std::array<uint64_t*, 4> addressesOf(SluiceFloatTensor& tensor)
{
    return {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw};
}

// Addresses count from the start of source, of the filtered tiles and of destination.
struct TileList {
    // kFloatTiles has checksums alone: its tiles are decoded as tensors.
    struct Group {
        std::vector<SluiceRegion> regions;
        Words expected;                        // a checksum for each; without filters maybe none
        std::vector<SluiceFilterTile> filters; // one a region, or none
    };

    const void* source; // compressed bytes
    uint64_t sourceSize;
    uint64_t destinationSize;
    uint64_t filteredSize; // bytes of tiles whose filters are still to be undone
    Group groups[kTileGroupCount];
    Bytes descriptions; // filters have these
    uint32_t flags;     // SluiceDecodeFlags
    std::vector<SluiceFloatTensor> tensors;
    uint32_t tensorTiles; // all tensors have together
};

struct TileCommands {
    struct Group {
        SluiceBuffer status;
        SluiceGdeflateInfo gdeflate; // only the two groups of GDeflate have it
        SluiceGstdInfo gstd;         // only the two groups of Gstd have it
        SluiceFilterInfo filter;
        SluiceChecksumInfo checksum; // float tiles and filtered ones need it
    };

    SluiceBuffer destination;
    Group groups[kTileGroupCount];
    SluiceFloatDecodeInfo floats;
};

class TileDecode {
public:
    explicit TileDecode(const ToolDevice& device);

    // Uploads the list. What is returned is good until the next call.
    const TileCommands& prepare(const TileList& list);
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

    SluiceBuffer uploadRegions(DeviceBuffer& buffer, std::vector<SluiceRegion> regions,
                               const SluiceBuffer& destination);
    // Info: SluiceGdeflateInfo or SluiceGstdInfo.
    template <typename Info, typename GetRequirements>
    void prepareGroup(const TileList& list, TileGroup group, Info& info,
                      GetRequirements getRequirements);
    void prepareFilter(const TileList& list, TileGroup group);
    void prepareFloatChecks(const TileList& list);
    void prepareChecksum(const TileList& list, TileGroup group, const SluiceBuffer& expected);
    void prepareTensors(const TileList& list);

    const ToolDevice& m_device;
    DeviceBuffer m_source, m_destination, m_filtered, m_descriptions;
    SluiceBuffer m_sourceRange = {}, m_filteredRange = {}, m_descriptionRange = {};
    std::vector<GroupBuffers> m_buffers;
    DeviceBuffer m_tensors, m_tensorStatus, m_tensorScratch;
    TileCommands m_commands = {};
};

} // namespace sluice
