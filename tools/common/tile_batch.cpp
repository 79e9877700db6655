// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/tile_batch.h"

#include <algorithm>

namespace sluice {

void TileBatch::clear()
{
    info = {};
    m_tiles.clear();
    m_totals = {};
}

void TileBatch::add(const SluiceTile& tile)
{
    m_tiles.push_back(tile);
    m_device->check(sluiceAddTile(&m_totals, &tile), "tile");
}

void TileBatch::prepare()
{
    info.tiles = m_tiles.data();
    info.tileCount = uint32_t(m_tiles.size());
    SluiceTilesRequirements required = {};
    m_device->check(sluiceGetTilesRequirements(m_device->context(), &info, &m_totals, &required),
                    "requirements");
    m_control.resize(std::max<size_t>(m_control.size(), required.controlSize));
    m_results.resize(std::max<size_t>(m_results.size(), required.resultsSize));
    info.control = m_controlBuffer.reserve(required.controlSize);
    info.controlHost = m_control.data();
    info.results = m_resultsBuffer.reserve(required.resultsSize);
    info.resultsHost = m_results.data();
    info.scratch = m_scratch.reserve(required.scratchSize);
    m_device->check(sluicePrepareTiles(m_device->context(), &info), "tiles");
    m_device->upload(info.control, m_control.data(), required.controlSize);
    m_device->upload(info.results, m_results.data(), required.resultsSize);
}

void TileBatch::takeResults(uint32_t* statuses)
{
    m_device->download(info.results, m_results.data(), info.results.size);
    m_device->check(sluiceGetTileResults(&info, statuses, nullptr), "results");
}

} // namespace sluice
