// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the slowest legal tiles beside typical ones: one tile alone, since a GPU cannot be
// interrupted inside a tile, and a batch large enough to keep a GPU busy.
#include <cstring>

#include "tools/bench/rows.h"
#include "tools/bench/worst_tiles.h"
#include "tools/common/tile_batch.h"

namespace sluice {
namespace {

constexpr uint32_t kManyTiles = 1024;

uint64_t aligned16(uint64_t size) { return (size + 15) / 16 * 16; }

// Copies of one tile, decoded as a batch.
class WorstBatch {
public:
    WorstBatch(const BenchDevice& on, const WorstTile& tile, uint32_t count);

    BenchRow measure();

private:
    void record(SluiceCommands commands) const { require(m_batch.record(commands), m_tile.name); }
    void check();

    const BenchDevice& m_device;
    const WorstTile& m_tile;
    TileBatch m_batch;
    DeviceBuffer m_source, m_destination;
    Bytes m_sourceHost;
};

WorstBatch::WorstBatch(const BenchDevice& on, const WorstTile& tile, uint32_t count)
    : m_device(on), m_tile(tile), m_batch(on)
{
    const uint64_t sourceStep = aligned16(tile.stored.size() + 4),
                   destinationStep = aligned16(tile.decoded.size());
    m_sourceHost.resize(sourceStep * count);
    for (uint32_t i = 0; i < count; ++i) {
        std::memcpy(&m_sourceHost[i * sourceStep], tile.stored.data(), tile.stored.size());
        m_batch.add({i * sourceStep, i * destinationStep, uint32_t(tile.stored.size()),
                     uint32_t(tile.decoded.size()), tile.codec, 0,
                     tile.filter.empty() ? nullptr : tile.filter.data(),
                     uint32_t(4 * tile.filter.size())});
    }
    m_source = on.allocate(m_sourceHost);
    m_destination = on.allocate(destinationStep * count);
    m_batch.info.flags = SLUICE_TILES_UNCHECKED;
    m_batch.info.source = m_source.whole();
    m_batch.info.sourceHost = m_sourceHost.data();
    m_batch.info.destination = m_destination.whole();
    m_batch.prepare();
}

void WorstBatch::check()
{
    m_device.fill(m_destination.whole(), 0xee);
    m_device.runOnce([&](SluiceCommands commands, uint32_t) { record(commands); });
    const std::vector<SluiceTile>& tiles = m_batch.tiles();
    Words statuses(tiles.size());
    m_batch.takeResults(statuses.data());
    Bytes out(m_tile.decoded.size());
    for (size_t i = 0; i < tiles.size(); i += tiles.size() - 1 + (tiles.size() == 1)) {
        m_device.download(m_destination.part(tiles[i].destinationOffset, out.size()), out.data(),
                          out.size());
        if (statuses[i] != SLUICE_TILE_OK && statuses[i] != SLUICE_TILE_UNVERIFIED)
            throw Failure{exitDevice, m_tile.name + formatText(": status %u", statuses[i])};
        if (out != m_tile.decoded) throw Failure{exitDevice, m_tile.name + ": wrong bytes"};
    }
}

BenchRow WorstBatch::measure()
{
    check();
    const uint32_t count = uint32_t(m_batch.tiles().size());
    const Timing timing =
        m_device.time(1, [&](SluiceCommands commands, uint32_t) { record(commands); });
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
