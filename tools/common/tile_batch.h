// SPDX-License-Identifier: MIT OR Apache-2.0
// Tiles that one command decodes, with the memory that it takes beside source and destination.
#pragma once

#include <vector>

#include <sluice/sluice_tiles.h>

#include "tools/common/device.h"

namespace sluice {

class TileBatch {
public:
    explicit TileBatch(const ToolDevice& device)
        : m_device(&device), m_controlBuffer(device), m_resultsBuffer(device), m_scratch(device)
    {
    }

    // Of it flags, source, sourceHost and destination are the caller's.
    SluiceTilesInfo info = {};

    const std::vector<SluiceTile>& tiles() const { return m_tiles; }
    void clear();
    void add(const SluiceTile& tile);
    // Uploads the tiles' lists, and what results are before a command.
    void prepare();
    SluiceStatus record(SluiceCommands commands) const
    {
        return sluiceCmdTiles(m_device->context(), commands, &info);
    }
    // statuses: one a tile.
    void takeResults(uint32_t* statuses);

private:
    const ToolDevice* m_device;
    std::vector<SluiceTile> m_tiles;
    SluiceTileTotals m_totals = {};
    Bytes m_control, m_results;
    DeviceBuffer m_controlBuffer, m_resultsBuffer, m_scratch;
};

} // namespace sluice
