// SPDX-License-Identifier: MIT OR Apache-2.0
// The Gstd rows: tiles decoded, decoded with their filters undone, and what of the time each pass
// takes.
#include <algorithm>

#include <sluice/sluice_filter.h>
#include <sluice/sluice_gstd.h>

#include "api/backend.h"
#include "api/plan_gstd.h"
#include "bench_rows.h"
#include "bench_scene.h"

namespace sluice {
namespace {

constexpr uint32_t kFewTiles = 16; // as many bytes as the few tiles of the GDeflate rows

// The tiles with filters of a batch, whose list depends on the batch: statuses are counted from its
// first tile.
class FilterList {
public:
    FilterList(const Scene& on, uint32_t tileCount);

    uint32_t count() const { return perCopy_ * scene_.copiesOf(tileCount_); }
    uint64_t bytes() const; // of output
    void record(SluiceCommands commands, uint32_t firstCopy) const;
    SluiceFilterInfo info(uint32_t firstCopy) const;

private:
    const Scene& scene_;
    uint32_t tileCount_, perCopy_ = 0, maxTileSize_ = 4;
    BenchBuffer tiles_, descriptions_, scratch_;
};

FilterList::FilterList(const Scene& on, uint32_t tileCount) : scene_(on), tileCount_(tileCount)
{
    const TileSet& set = scene_.set;
    const uint32_t batchCopies = scene_.copiesOf(tileCount),
                   tilesOfCopy = std::min(tileCount, scene_.tilesOf(1));
    const uint64_t output = scene_.destination.address(), filtered = output + scene_.filteredOffset;
    std::vector<SluiceFilterTile> list;
    for (uint32_t copy = 0; copy < scene_.copies; ++copy) {
        for (uint32_t i = 0; i < tilesOfCopy; ++i) {
            const TileSet::Tile& tile = set.tiles[i];
            if (tile.filterSize == 0) continue;
            const uint64_t place = copy * scene_.outputStride + tile.outputOffset;
            list.push_back({filtered + place, output + place, tile.size, tile.filterOffset,
                            tile.filterSize, scene_.tilesOf(copy % batchCopies) + i});
            maxTileSize_ = std::max(maxTileSize_, (tile.size + 3) / 4 * 4);
        }
    }
    if (list.empty()) return;
    perCopy_ = static_cast<uint32_t>(list.size()) / scene_.copies;
    tiles_ = scene_.device.allocate(list.size() * sizeof list[0]);
    scene_.device.upload(tiles_.whole(), list.data(), list.size() * sizeof list[0]);
    descriptions_ = scene_.device.allocate(set.filters.size());
    scene_.device.upload(descriptions_.whole(), set.filters.data(), set.filters.size());
    SluiceRequirements requirements = {};
    const SluiceFilterInfo all = info(0);
    require(sluiceGetFilterRequirements(scene_.device.context(), &all, &requirements),
            "filter requirements");
    if (requirements.scratchSize != 0) scratch_ = scene_.device.allocate(requirements.scratchSize);
}

uint64_t FilterList::bytes() const
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < std::min(tileCount_, scene_.tilesOf(1)); ++i)
        if (scene_.set.tiles[i].filterSize != 0) sum += scene_.set.tiles[i].size;
    return sum * scene_.copiesOf(tileCount_);
}

SluiceFilterInfo FilterList::info(uint32_t firstCopy) const
{
    const uint64_t begin = uint64_t{firstCopy} * perCopy_ * sizeof(SluiceFilterTile);
    SluiceFilterInfo result = {};
    result.maxTileCount = count();
    result.maxTileSize = maxTileSize_;
    result.statusCount = tileCount_;
    result.tiles = tiles_.part(begin, uint64_t{count()} * sizeof(SluiceFilterTile));
    result.descriptions = descriptions_.whole();
    result.source = result.destination = scene_.destination.whole();
    result.status = scene_.status.part(0, (uint64_t{tileCount_} + 2) * 4);
    result.scratch = scratch_.whole();
    return result;
}

void FilterList::record(SluiceCommands commands, uint32_t firstCopy) const
{
    if (count() == 0) return;
    const SluiceFilterInfo command = info(firstCopy);
    require(sluiceCmdFilter(scene_.device.context(), commands, &command), "filter");
}

class Decode {
public:
    Decode(const Scene& on, uint32_t tilesAtOnce);

    uint32_t tilesAtOnce() const { return tilesAtOnce_; }
    void record(SluiceCommands commands, uint32_t firstCopy, uint32_t tileCount) const
    {
        const SluiceGstdInfo command = info(firstCopy, tileCount);
        require(sluiceCmdGstd(scene_.device.context(), commands, &command), "gstd");
    }
    // Of tiles that are at least those of the list, and their filters undone.
    void record(SluiceCommands commands, uint32_t firstCopy, uint32_t tileCount,
                const FilterList& filters) const
    {
        if (filters.count() == 0) return record(commands, firstCopy, tileCount);
        const SluiceGstdInfo command = info(firstCopy, tileCount);
        const SluiceFilterInfo undo = filters.info(firstCopy);
        require(sluiceCmdGstdFilter(scene_.device.context(), commands, &command, &undo),
                "gstd filters");
    }
    // The first of its two passes alone; only the backends of GPUs have two.
    void recordSymbols(SluiceCommands commands, uint32_t firstCopy, uint32_t tileCount) const
    {
        SluiceGstdInfo command = info(firstCopy, tileCount);
        command.flags |= kGstdSymbolsOnly;
        require(scene_.device.context()->backend->cmdGstd(commands, command), "gstd symbols");
    }

private:
    SluiceGstdInfo info(uint32_t firstCopy, uint32_t tileCount) const
    {
        SluiceGstdInfo result = {};
        result.maxRegionCount = tileCount;
        result.regionStride = Scene::stride;
        result.tilesAtOnce = tilesAtOnce_;
        result.regions = scene_.regionsFrom(firstCopy, tileCount);
        result.regionCount = scene_.count.whole();
        result.source = scene_.source.whole();
        result.destination = scene_.destination.whole();
        result.status = scene_.status.whole();
        result.scratch = scratch_.whole();
        return result;
    }

    const Scene& scene_;
    uint32_t tilesAtOnce_;
    BenchBuffer scratch_;
};

Decode::Decode(const Scene& on, uint32_t tilesAtOnce) : scene_(on), tilesAtOnce_(tilesAtOnce)
{
    SluiceRequirements requirements = {};
    const SluiceGstdInfo all = info(0, scene_.allTiles());
    require(sluiceGetGstdRequirements(scene_.device.context(), &all, &requirements),
            "gstd requirements");
    if (requirements.scratchSize != 0) scratch_ = scene_.device.allocate(requirements.scratchSize);
}

void decodeAll(const Scene& scene, const Decode& decode)
{
    const FilterList filters(scene, scene.allTiles());
    scene.setCount(scene.allTiles());
    scene.device.runOnce([&](SluiceCommands commands, uint32_t) {
        decode.record(commands, 0, scene.allTiles(), filters);
    });
    scene.checkStatus("sluice gstd");
}

// The rows of one batch.
class Batch {
public:
    Batch(const Scene& on, uint32_t tileCount)
        : scene_(on), tileCount_(tileCount), filters_(on, tileCount)
    {
        scene_.setCount(tileCount);
    }

    void addDecode(const Decode& decode, const Wanted& wanted)
    {
        const bool passes =
            scene_.device.properties().backend != SLUICE_BACKEND_CPU && wanted("gstd passes");
        const uint32_t atOnce = std::min(decode.tilesAtOnce(), tileCount_);
        const std::string who = "sluice, " + std::to_string(atOnce) + " tiles at once";
        const BenchRow whole = time("gstd", who, [&](SluiceCommands commands, uint32_t first) {
            decode.record(commands, first, tileCount_);
        });
        if (wanted("gstd")) rows_.push_back(whole);
        if (wanted("gstd filters") && filters_.count() != 0) {
            rows_.push_back(time("gstd filters", who, [&](SluiceCommands commands, uint32_t first) {
                decode.record(commands, first, tileCount_, filters_);
            }));
        }
        if (!passes) return;
        rows_.push_back(
            time("gstd passes", "symbols of that", [&](SluiceCommands commands, uint32_t first) {
                decode.recordSymbols(commands, first, tileCount_);
            }));
        BenchRow expand = whole;
        expand.kernel = "gstd passes";
        expand.who = "expand: the rest of that";
        expand.timing.median = std::max(whole.timing.median - rows_.back().timing.median, 0.0);
        expand.timing.fastest = expand.timing.slowest = expand.timing.median;
        rows_.push_back(expand);
    }

    // Filters alone.
    void addFilters(const Decode& decode)
    {
        if (filters_.count() == 0) return;
        decodeAll(scene_, decode); // a pass by itself leaves nothing that could be filtered
        scene_.setCount(tileCount_);
        const double share =
            static_cast<double>(filters_.bytes()) / static_cast<double>(scene_.bytesOf(tileCount_));
        rows_.push_back(time(
            "filter", formatText("sluice, %.3f of the bytes", share),
            [&](SluiceCommands commands, uint32_t first) { filters_.record(commands, first); }));
        rows_.back().bytes = filters_.bytes();
    }

    const std::vector<BenchRow>& rows() const { return rows_; }

private:
    template <typename Record>
    BenchRow time(const char* kernel, const std::string& who, const Record& record) const
    {
        BenchRow row;
        row.kernel = kernel;
        row.bytes = scene_.bytesOf(tileCount_);
        row.size = sizeText(row.bytes);
        row.who = who;
        row.timing = scene_.device.time(1, [&](SluiceCommands commands, uint32_t run) {
            record(commands, scene_.firstOf(run, tileCount_));
        });
        return row;
    }

    const Scene& scene_;
    uint32_t tileCount_;
    FilterList filters_;
    std::vector<BenchRow> rows_;
};

} // namespace

void benchGstd(const BenchDevice& device, const TileSet& tiles, std::vector<uint32_t> tilesAtOnce,
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
    for (const uint32_t tileCount : scene.batches(kFewTiles)) {
        Batch batch(scene, tileCount);
        for (const Decode& decode : decodes) {
            batch.addDecode(decode, wanted);
            if (decode.tilesAtOnce() >= tileCount) break; // more of them change nothing
        }
        if (wanted("filter")) batch.addFilters(decodes.front());
        report.addGroup(batch.rows());
    }
}

} // namespace sluice
