// SPDX-License-Identifier: MIT OR Apache-2.0
// The Gstd rows: decoding tiles, decoding tiles and undoing their filters, and the time of each
// pass.
#include <algorithm>

#include <sluice/sluice_filter.h>
#include <sluice/sluice_gstd.h>

#include "tools/bench/rows.h"
#include "tools/bench/scene.h"
#include "tools/common/backends.h"

namespace sluice {
namespace {

// 16 tiles of 256 KiB have as many bytes as the 64 tiles of 64 KiB in the GDeflate rows.
constexpr uint32_t kFewTiles = 16;

// The list of those tiles of a batch that have filters. An entry says where in the batch's statuses
// the tile's own is, so each batch size needs a list of its own.
class FilterList {
public:
    FilterList(const Scene& on, uint32_t tileCount);

    uint32_t count() const { return m_perCopy * m_scene.copiesOf(m_tileCount); }
    uint64_t bytes() const; // bytes that undoing the filters writes
    void record(SluiceCommands commands, uint32_t firstCopy) const;
    SluiceFilterInfo info(uint32_t firstCopy) const;

private:
    const Scene& m_scene;
    uint32_t m_tileCount, m_perCopy = 0, m_maxTileSize = 4;
    DeviceBuffer m_tiles, m_descriptions, m_scratch;
};

FilterList::FilterList(const Scene& on, uint32_t tileCount) : m_scene(on), m_tileCount(tileCount)
{
    const TileSet& set = m_scene.set;
    const uint32_t batchCopies = m_scene.copiesOf(tileCount),
                   tilesOfCopy = std::min(tileCount, m_scene.tilesOf(1));
    const uint64_t output = m_scene.destination.address(),
                   filtered = output + m_scene.filteredOffset;
    std::vector<SluiceFilterTile> list;
    for (uint32_t copy = 0; copy < m_scene.copies; ++copy) {
        for (uint32_t i = 0; i < tilesOfCopy; ++i) {
            const TileSet::Tile& tile = set.tiles[i];
            if (tile.filterSize == 0) continue;
            const uint64_t place = copy * m_scene.outputStride + tile.outputOffset;
            list.push_back({filtered + place, output + place, tile.size, tile.filterOffset,
                            tile.filterSize, m_scene.tilesOf(copy % batchCopies) + i});
            m_maxTileSize = std::max(m_maxTileSize, (tile.size + 3) / 4 * 4);
        }
    }
    if (list.empty()) return;
    m_perCopy = uint32_t(list.size()) / m_scene.copies;
    m_tiles = m_scene.device.allocate(list);
    m_descriptions = m_scene.device.allocate(set.filters);
    m_scratch = m_scene.device.allocateScratch(sluiceGetFilterRequirements, info(0));
}

uint64_t FilterList::bytes() const
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < std::min(m_tileCount, m_scene.tilesOf(1)); ++i)
        if (m_scene.set.tiles[i].filterSize != 0) sum += m_scene.set.tiles[i].size;
    return sum * m_scene.copiesOf(m_tileCount);
}

SluiceFilterInfo FilterList::info(uint32_t firstCopy) const
{
    const uint64_t begin = uint64_t{firstCopy} * m_perCopy * sizeof(SluiceFilterTile);
    SluiceFilterInfo result = {};
    result.maxTileCount = count();
    result.maxTileSize = m_maxTileSize;
    result.statusCount = m_tileCount;
    result.tiles = m_tiles.part(begin, uint64_t{count()} * sizeof(SluiceFilterTile));
    result.descriptions = m_descriptions.whole();
    result.source = result.destination = m_scene.destination.whole();
    result.status = m_scene.status.part(0, (uint64_t{m_tileCount} + 2) * 4);
    result.scratch = m_scratch.whole();
    return result;
}

void FilterList::record(SluiceCommands commands, uint32_t firstCopy) const
{
    if (count() == 0) return;
    const SluiceFilterInfo command = info(firstCopy);
    require(sluiceCmdFilter(m_scene.device.context(), commands, &command), "filter");
}

class Decode {
public:
    Decode(const Scene& on, uint32_t tilesAtOnce) : m_scene(on), m_tilesAtOnce(tilesAtOnce)
    {
        m_scratch = on.device.allocateScratch(sluiceGetGstdRequirements, info(0, on.allTiles()));
    }

    uint32_t tilesAtOnce() const { return m_tilesAtOnce; }
    void record(SluiceCommands commands, uint32_t firstCopy, uint32_t tileCount) const
    {
        const SluiceGstdInfo command = info(firstCopy, tileCount);
        require(sluiceCmdGstd(m_scene.device.context(), commands, &command), "gstd");
    }
    // Records the decode and the undoing of filters. All tiles of `filters` belong to the batch.
    void record(SluiceCommands commands, uint32_t firstCopy, uint32_t tileCount,
                const FilterList& filters) const
    {
        if (filters.count() == 0) return record(commands, firstCopy, tileCount);
        const SluiceGstdInfo command = info(firstCopy, tileCount);
        const SluiceFilterInfo undo = filters.info(firstCopy);
        require(sluiceCmdGstdFilter(m_scene.device.context(), commands, &command, &undo),
                "gstd filters");
    }
    // Records only the first of the decoder's two passes, so that it can be timed. Only GPUs have
    // two passes.
    void recordSymbols(SluiceCommands commands, uint32_t firstCopy, uint32_t tileCount) const
    {
        const BenchDevice& device = m_scene.device;
        withBackend(device.context(), device.backend(), [&](auto& backend) {
            const auto row = backend.tuning();
            auto symbolsOnly = row;
            symbolsOnly.gstd.symbolsOnly = 1;
            backend.setTuning(symbolsOnly);
            const SluiceGstdInfo command = info(firstCopy, tileCount);
            const SluiceStatus status = sluiceCmdGstd(device.context(), commands, &command);
            backend.setTuning(row);
            require(status, "gstd symbols");
        });
    }

private:
    SluiceGstdInfo info(uint32_t firstCopy, uint32_t tileCount) const
    {
        SluiceGstdInfo result = {};
        result.maxRegionCount = tileCount;
        result.regionStride = Scene::kStride;
        result.tilesAtOnce = m_tilesAtOnce;
        result.regions = m_scene.regionsFrom(firstCopy, tileCount);
        result.regionCount = m_scene.count.whole();
        result.source = m_scene.source.whole();
        result.destination = m_scene.destination.whole();
        result.status = m_scene.status.whole();
        result.scratch = m_scratch.whole();
        return result;
    }

    const Scene& m_scene;
    uint32_t m_tilesAtOnce;
    DeviceBuffer m_scratch;
};

void decodeAll(const Scene& scene, const Decode& decode)
{
    const FilterList filters(scene, scene.allTiles());
    scene.setCount(scene.allTiles());
    scene.device.runOnce([&](SluiceCommands commands, uint32_t) {
        decode.record(commands, 0, scene.allTiles(), filters);
    });
    scene.checkStatus("sluice gstd");
}

class Batch {
public:
    Batch(const Scene& on, uint32_t tileCount)
        : m_scene(on), m_tileCount(tileCount), m_filters(on, tileCount)
    {
        m_scene.setCount(tileCount);
    }

    void addDecode(const Decode& decode, const Wanted& wanted)
    {
        const bool passes = m_scene.device.backend() != SLUICE_BACKEND_CPU && wanted("gstd passes");
        const uint32_t atOnce = std::min(decode.tilesAtOnce(), m_tileCount);
        const std::string who = "sluice, " + std::to_string(atOnce) + " tiles at once";
        const auto time = [&](const char* kernel, const std::string& name, const auto& record) {
            return m_scene.time(kernel, name, m_tileCount, record);
        };
        const BenchRow whole = time("gstd", who, [&](SluiceCommands commands, uint32_t first) {
            decode.record(commands, first, m_tileCount);
        });
        if (wanted("gstd")) m_rows.push_back(whole);
        if (wanted("gstd filters") && m_filters.count() != 0) {
            m_rows.push_back(
                time("gstd filters", who, [&](SluiceCommands commands, uint32_t first) {
                    decode.record(commands, first, m_tileCount, m_filters);
                }));
        }
        if (!passes) return;
        m_rows.push_back(
            time("gstd passes", "symbols of that", [&](SluiceCommands commands, uint32_t first) {
                decode.recordSymbols(commands, first, m_tileCount);
            }));
        BenchRow expand = whole;
        expand.kernel = "gstd passes";
        expand.who = "expand: the rest of that";
        expand.timing.median = std::max(whole.timing.median - m_rows.back().timing.median, 0.0);
        expand.timing.fastest = expand.timing.slowest = expand.timing.median;
        m_rows.push_back(expand);
    }

    // Adds a row about undoing filters alone.
    void addFilters(const Decode& decode)
    {
        if (m_filters.count() == 0) return;
        decodeAll(m_scene, decode); // timing the first pass alone has left no decoded bytes
        m_scene.setCount(m_tileCount);
        const double share = double(m_filters.bytes()) / double(m_scene.bytesOf(m_tileCount));
        m_rows.push_back(m_scene.time(
            "filter", formatText("sluice, %.3f of the bytes", share), m_tileCount,
            [&](SluiceCommands commands, uint32_t first) { m_filters.record(commands, first); }));
        m_rows.back().bytes = m_filters.bytes();
    }

    const std::vector<BenchRow>& rows() const { return m_rows; }

private:
    const Scene& m_scene;
    uint32_t m_tileCount;
    FilterList m_filters;
    std::vector<BenchRow> m_rows;
};

} // namespace

void benchGstd(const BenchDevice& device, const TileSet& tiles, Words tilesAtOnce,
               const Wanted& wanted, BenchReport& report)
{
    const Scene scene(device, tiles);
    std::sort(tilesAtOnce.begin(), tilesAtOnce.end());
    std::vector<Decode> decodes;
    for (const uint32_t atOnce : tilesAtOnce) {
        decodes.emplace_back(scene, atOnce);
        scene.poison();
        decodeAll(scene, decodes.back());
        scene.checkOutput("sluice gstd");
    }
    for (const uint32_t tileCount : report.budget().ordered(scene.batches(kFewTiles))) {
        if (!report.hasTime("gstd", sizeText(scene.bytesOf(tileCount)))) continue;
        Batch batch(scene, tileCount);
        for (const Decode& decode : decodes) {
            batch.addDecode(decode, wanted);
            // If all tiles are decoded at once already, larger values of tilesAtOnce change
            // nothing.
            if (decode.tilesAtOnce() >= tileCount) break;
        }
        if (wanted("filter")) batch.addFilters(decodes.front());
        report.addGroup(batch.rows());
    }
}

} // namespace sluice
