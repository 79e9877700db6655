// SPDX-License-Identifier: MIT OR Apache-2.0
// What the slowest legal tiles take beside typical ones: alone, which is what a GPU cannot be
// interrupted in, and as many as a GPU has work to do with.
#include <sluice/sluice_tiles.h>

#include <cstring>

#include "tools/bench/rows.h"
#include "tools/bench/worst_tiles.h"

namespace sluice {
namespace {

constexpr uint32_t kManyTiles = 1024;

uint64_t aligned16(uint64_t size) { return (size + 15) / 16 * 16; }

// Copies of a tile, decoded as one batch.
class WorstBatch {
public:
    WorstBatch(const BenchDevice& on, const WorstTile& tile, uint32_t count);

    BenchRow measure();

private:
    void record(SluiceCommands commands) const
    {
        require(sluiceCmdTiles(m_device.context(), commands, &m_info), m_tile.name);
    }
    void check();

    const BenchDevice& m_device;
    const WorstTile& m_tile;
    std::vector<SluiceTile> m_tiles;
    SluiceTilesInfo m_info = {};
    DeviceBuffer m_source, m_destination, m_control, m_results, m_scratch;
    // Units of 16 bytes align the memory.
    struct Unit {
        alignas(16) uint8_t bytes[16];
    };
    std::vector<Unit> m_controlHost, m_resultsHost;
    Bytes m_sourceHost;
};

WorstBatch::WorstBatch(const BenchDevice& on, const WorstTile& tile, uint32_t count)
    : m_device(on), m_tile(tile)
{
    const uint64_t sourceStep = aligned16(tile.stored.size() + 4),
                   destinationStep = aligned16(tile.decoded.size());
    m_sourceHost.resize(sourceStep * count);
    SluiceTileTotals totals = {};
    for (uint32_t i = 0; i < count; ++i) {
        std::memcpy(&m_sourceHost[i * sourceStep], tile.stored.data(), tile.stored.size());
        m_tiles.push_back({i * sourceStep, i * destinationStep, uint32_t(tile.stored.size()),
                           uint32_t(tile.decoded.size()), tile.codec, 0,
                           tile.filter.empty() ? nullptr : tile.filter.data(),
                           uint32_t(4 * tile.filter.size())});
        require(sluiceAddTile(&totals, &m_tiles.back()), tile.name);
    }
    m_info.tiles = m_tiles.data();
    m_info.tileCount = count;
    m_info.flags = SLUICE_TILES_UNCHECKED;
    SluiceTilesRequirements needs = {};
    require(sluiceGetTilesRequirements(on.context(), &m_info, &totals, &needs), tile.name);
    m_controlHost.resize(aligned16(needs.controlSize) / 16);
    m_resultsHost.resize(aligned16(needs.resultsSize) / 16);
    m_source = on.allocate(m_sourceHost);
    m_destination = on.allocate(destinationStep * count);
    m_control = on.allocate(16 * m_controlHost.size());
    m_results = on.allocate(16 * m_resultsHost.size());
    m_scratch = on.allocate(needs.scratchSize);
    m_info.source = m_source.whole();
    m_info.sourceHost = m_sourceHost.data();
    m_info.destination = m_destination.whole();
    m_info.control = m_control.whole();
    m_info.controlHost = m_controlHost.data();
    m_info.results = m_results.whole();
    m_info.resultsHost = m_resultsHost.data();
    m_info.scratch = m_scratch.whole();
    require(sluicePrepareTiles(on.context(), &m_info), tile.name);
    on.upload(m_info.control, m_controlHost.data(), 16 * m_controlHost.size());
}

void WorstBatch::check()
{
    m_device.upload(m_info.results, m_resultsHost.data(), 16 * m_resultsHost.size());
    m_device.fill(m_info.destination, 0xee);
    m_device.runOnce([&](SluiceCommands commands, uint32_t) { record(commands); });
    m_device.download(m_info.results, m_resultsHost.data(), 16 * m_resultsHost.size());
    Words statuses(m_tiles.size());
    require(sluiceGetTileResults(&m_info, statuses.data(), nullptr), m_tile.name);
    Bytes out(m_tile.decoded.size());
    for (size_t i = 0; i < m_tiles.size(); i += m_tiles.size() - 1 + (m_tiles.size() == 1)) {
        m_device.download(m_destination.part(m_tiles[i].destinationOffset, out.size()), out.data(),
                          out.size());
        if (statuses[i] != SLUICE_TILE_OK && statuses[i] != SLUICE_TILE_UNVERIFIED)
            throw Failure{exitDevice, m_tile.name + formatText(": status %u", statuses[i])};
        if (out != m_tile.decoded) throw Failure{exitDevice, m_tile.name + ": wrong bytes"};
    }
}

BenchRow WorstBatch::measure()
{
    check();
    const uint32_t count = uint32_t(m_tiles.size());
    const Timing timing = m_device.time(1, [&](SluiceCommands commands, uint32_t) {
        // Statuses are those of the run before, which every command sets first.
        record(commands);
    });
    return {m_tile.kernel, count == 1 ? "1 tile" : formatText("%u tiles", count), m_tile.name,
            count * uint64_t(m_tile.decoded.size()), timing};
}

} // namespace

void benchWorst(const BenchDevice& device, BenchReport& report)
{
    const uint32_t many = device.isGpu() ? kManyTiles : 4;
    const auto measureAll = [&](const char* kernel, std::vector<WorstTile> (*make)()) {
        const std::vector<WorstTile> tiles = make();
        for (const uint32_t count : {1u, many}) {
            double typical = 0, worst = 0;
            for (const WorstTile& tile : tiles) {
                BenchRow row = WorstBatch(device, tile, count).measure();
                typical = tile.isTypical ? row.timing.median : typical;
                worst = std::max(worst, row.timing.median);
                report.addGroup({row});
            }
            report.say(formatText("%s, %u at once: the slowest takes %.4f ms a tile, %.1f times a "
                                  "typical one",
                                  kernel, count, worst / count, worst / typical));
        }
    };
    measureAll("worst gdeflate", worstGdeflateTiles);
    measureAll("worst gstd", worstGstdTiles);
    measureAll("worst float", worstFloatTiles);
    measureAll("worst filters", worstFilterTiles);
}

} // namespace sluice
