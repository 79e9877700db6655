// SPDX-License-Identifier: MIT OR Apache-2.0
// A list of tiles that one command decodes, and the device memory that the command needs besides
// source and destination.
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

    // The caller sets flags, source, sourceHost and destination.
    SluiceTilesInfo info = {};

    const std::vector<SluiceTile>& tiles() const { return m_tiles; }
    void clear();
    void add(const SluiceTile& tile);
    // Allocates device memory for the tiles that were added, and uploads what the command reads:
    // the list of tiles, and the initial values of its results.
    void prepare();
    SluiceStatus record(SluiceCommands commands) const
    {
        return sluiceCmdTiles(m_device->context(), commands, &info);
    }
    // `statuses` receives one SluiceTileStatus for each tile.
    void takeResults(uint32_t* statuses);

private:
    const ToolDevice* m_device;
    std::vector<SluiceTile> m_tiles;
    SluiceTileTotals m_totals = {};
    Bytes m_control, m_results;
    DeviceBuffer m_controlBuffer, m_resultsBuffer, m_scratch;
};

} // namespace sluice
