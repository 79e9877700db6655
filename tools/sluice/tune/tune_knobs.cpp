// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/tune/tune_knobs.h"

namespace sluice {
namespace {

using Kind = Knob::Kind;
using Traits = const TuneTraits&;

constexpr uint32_t kAny = UINT32_MAX;
constexpr uint32_t kKiB = 1 << 10, kMiB = 1 << 20;
constexpr uint32_t kScan = SLUICE_KERNELS_SCAN, kCompact = SLUICE_KERNELS_COMPACT,
                   kInterval = SLUICE_KERNELS_INTERVAL, kGdeflate = SLUICE_KERNELS_GDEFLATE,
                   kGstd = SLUICE_KERNELS_GSTD, kFilter = SLUICE_KERNELS_FILTER,
                   kFloat = SLUICE_KERNELS_FLOAT, kDf11 = SLUICE_KERNELS_DF11,
                   kFse = SLUICE_KERNELS_FSE;

const char* unless(bool holds, const char* why) { return holds ? nullptr : why; }

const char* needsProgress(Traits traits)
{
    return unless(!traits.isVulkan || traits.vulkan.forwardProgress,
                  "workgroups are not known to go on");
}
const char* needsNoProgress(Traits traits)
{
    return unless(!traits.isVulkan || !traits.vulkan.forwardProgress, "workgroups go on here");
}
const char* needsRing(Traits traits)
{
    const char* why = needsProgress(traits);
    return why != nullptr ? why
                          : unless(traits.vulkan.runsRings(), "subgroups do not suit the rings");
}
const char* needsDependentLaunch(Traits traits)
{
    return unless(traits.hasDependentLaunch, "needs compute capability 9.0");
}
const char* needsPairs(Traits traits)
{
    return unless(traits.vulkan.runsPairedTiles(), "no two lane groups share a tile");
}
const char* needsNative(Traits traits)
{
    return unless(traits.vulkan.hasNativeLaneGroups(), "lane groups are no subgroups");
}
const char* needsFewGstd(Traits traits)
{
    return unless(!traits.isVulkan || traits.vulkan.runsGstdExpandFew(),
                  "workgroups of 512 do not fit");
}
const char* needsFewFilter(Traits traits)
{
    return unless(!traits.isVulkan || traits.vulkan.runsFilterFew(),
                  "workgroups of 512 do not fit");
}
const char* needsHardware(Traits traits)
{
    return unless(!traits.vulkan.isEmulated(), "emulated subgroups have workgroups of 128");
}
const char* needsWide(Traits traits)
{
    return unless(!traits.vulkan.isEmulated() && traits.subgroupSize >= 32,
                  "a lane group has a workgroup of its own");
}
const char* isLimit(Traits) { return "a limit, which no speed depends on"; }
const char* isForBenchmarks(Traits) { return "for benchmarks"; }
const char* isForZstd(Traits) { return "tried with sluice bench --filter zstd --tuning"; }

double scanTile(const TuneDevice& device) { return device.scanTile(); }
double compactCallTile(const TuneDevice& device) { return device.compactCallTile(); }
// Serves as Knob::elementsEach if the tuned value counts bytes, but the measured work counts words:
// a byte is a quarter of a word.
double quarter(const TuneDevice&) { return 0.25; }

// Returns a knob for a value that is compiled into pipelines.
Knob made(const char* field, uint32_t kernels, std::vector<const char*> works,
          std::vector<uint32_t> values, const char* (*whyNot)(Traits) = nullptr)
{
    Knob knob = {field, Kind::choose, kernels, std::move(works), std::move(values)};
    knob.isMade = true;
    knob.whyNot = whyNot;
    return knob;
}

Knob choose(const char* field, uint32_t kernels, std::vector<const char*> works,
            std::vector<uint32_t> values, const char* (*whyNot)(Traits) = nullptr)
{
    Knob knob = {field, Kind::choose, kernels, std::move(works), std::move(values)};
    knob.whyNot = whyNot;
    return knob;
}

Knob perProcessor(const char* field, uint32_t kernels, std::vector<const char*> works,
                  std::vector<uint32_t> values, const char* (*whyNot)(Traits) = nullptr,
                  const char* row = "")
{
    Knob knob = choose(field, kernels, std::move(works), std::move(values), whyNot);
    knob.perProcessor = true;
    knob.row = row;
    return knob;
}

Knob threshold(Kind kind, const char* field, uint32_t kernels, const char* work, uint32_t on,
               uint32_t off, const char* row, const char* (*whyNot)(Traits) = nullptr,
               double (*elementsEach)(const TuneDevice&) = nullptr)
{
    Knob knob = {field, kind, kernels, {work}, {}};
    knob.on = on;
    knob.off = off;
    knob.row = row;
    knob.whyNot = whyNot;
    knob.elementsEach = elementsEach;
    return knob;
}

Knob leave(const char* field, const char* (*whyNot)(Traits))
{
    Knob knob = {field, Kind::leave, 0, {}, {}};
    knob.whyNot = whyNot;
    return knob;
}

// The knobs in the order of measurement: first values that are compiled into pipelines, then values
// that are measured with these pipelines.
std::vector<Knob> scanKnobs()
{
    return {
        made("workgroup.scan", kScan | kDf11, {"scan maximum", "scan u64", "reduce", "df11"},
             {128, 256, 512, 1024}, needsHardware),
        choose("lookback.polls", kScan, {"scan maximum"}, {16, 64, 256, 1024, 4096, 16384},
               needsProgress),
        threshold(Kind::from, "lookback.scannerTiles", kScan, "scan maximum", 2, kAny, "",
                  needsHardware, scanTile),
        choose("scan.workgroups", kScan, {"scan maximum", "scan u64"}, {64, 128, 256, 512, 1024}),
        choose("scan.tilesPerWorkgroup", kScan, {"scan maximum"}, {8, 16, 32, 64, 128}),
        perProcessor("scan.reduceWorkgroups", kScan, {"reduce"}, {1, 2, 4, 8, 16, 32}),
        perProcessor("scan.ringWorkgroups", kScan, {"scan"}, {0, 1, 2, 3, 4}, needsRing,
                     "scan.ringWorkgroups=2"),
        perProcessor("scan.blocks", kScan, {"scan", "scan maximum"}, {1, 2, 3, 4}),
        choose("scan.ring", kScan, {"scan", "scan maximum"}, {0, 1}, needsDependentLaunch),
        choose("scan.programmaticLaunch", kScan, {"scan"}, {0, 1}, needsDependentLaunch),
        perProcessor("reduce.blocks", kScan, {"reduce"}, {1, 2, 3, 4, 6}),
        threshold(Kind::upTo, "reduce.singleBytes", kScan, "reduce", kAny, 0, "", nullptr, quarter),
        choose("reduce.programmaticLaunch", kScan, {"reduce"}, {0, 1}, needsDependentLaunch),
    };
}

std::vector<Knob> compactKnobs()
{
    return {
        made("workgroup.compact", kCompact, {"compact u64", "partition"},
             {128, 192, 256, 320, 384, 512}, needsHardware),
        choose("compact.workgroups", kCompact, {"compact u64", "partition"},
               {128, 256, 512, 1024, 2048}),
        choose("compact.tilesPerWorkgroup", kCompact, {"compact u64"}, {8, 32, 128},
               needsNoProgress),
        choose("compact.serialTiles", kCompact, {"compact in place"}, {256, 512, 1024, 2048},
               needsNoProgress),
        leave("compact.pollsInPlace", isLimit),
        perProcessor("compact.blocks", kCompact, {"compact u64", "partition"}, {2, 3, 4, 6}),
        choose("compact.ring", kCompact, {"compact", "compact u64"}, {0, 1}, needsDependentLaunch),
        perProcessor("compact.wordBlocks", kCompact, {"compact"}, {0, 1, 2, 3, 4},
                     needsDependentLaunch),
        choose("compact.programmaticLaunch", kCompact, {"compact"}, {0, 1}, needsDependentLaunch),
        made("compact.ringTiles", kCompact, {"compact", "compact by bytes"}, {2, 3}, needsRing),
        perProcessor("compact.ringWorkgroups", kCompact, {"compact", "compact by bytes"},
                     {0, 1, 2, 3, 4, 6}, needsRing, "compact.ringWorkgroups=2"),
        threshold(Kind::upTo, "compact.callTiles", kCompact, "compact", 64, 0, "", needsRing,
                  compactCallTile),
    };
}

std::vector<Knob> intervalKnobs()
{
    return {
        made("workgroup.intervalShares", kInterval, {"expand", "move long runs", "move short runs"},
             {1, 2, 4}, needsWide),
        made("intervalSpecialized", kInterval, {"expand", "move short runs"}, {0, 1}),
        choose("interval.expandBytes", kInterval, {"expand"},
               {8 * kKiB, 12 * kKiB, 16 * kKiB, 24 * kKiB, 32 * kKiB}),
        choose("interval.shareBytes", kInterval, {"interval search"},
               {8 * kKiB, 16 * kKiB, 24 * kKiB, 32 * kKiB}),
        choose("interval.windowBytes", kInterval, {"move long runs"},
               {8 * kKiB, 12 * kKiB, 16 * kKiB, 20 * kKiB, 24 * kKiB}),
        choose("interval.smallBytes", kInterval, {"move long runs", "move short runs"},
               {4 * kKiB, 8 * kKiB, 16 * kKiB}),
        choose("interval.largeBytes", kInterval, {"move long runs", "move short runs"},
               {16 * kKiB, 32 * kKiB, 64 * kKiB, 128 * kKiB, 256 * kKiB}),
        choose("interval.tailBytes", kInterval, {"move long runs"},
               {0, 8 * kMiB, 16 * kMiB, 32 * kMiB, 64 * kMiB, 128 * kMiB}),
        threshold(Kind::upTo, "interval.shortRunBytes", kInterval, "move by run length", kAny, 0,
                  ""),
        choose("interval.shortTailBytes", kInterval, {"move short runs"},
               {0, 8 * kMiB, 16 * kMiB, 32 * kMiB, 64 * kMiB, 128 * kMiB}),
        choose("interval.shortWindowBytes", kInterval, {"move short runs"},
               {8 * kKiB, 12 * kKiB, 16 * kKiB, 20 * kKiB, 24 * kKiB}),
    };
}

std::vector<Knob> codecKnobs()
{
    std::vector<Knob> list = {
        made("gdeflate.room", kGdeflate, {"gdeflate"}, {0, 1}, needsPairs),
        made("gdeflate.pitchApart", kGdeflate, {"gdeflate"}, {0, 1}, needsHardware),
        threshold(Kind::upTo, "gdeflate.fewTiles", kGdeflate, "gdeflate", kAny, 0,
                  "gdeflate.fewTiles=1", needsPairs),
        threshold(Kind::from, "gdeflate.manyTiles", kGdeflate, "gdeflate", 1, 0,
                  "gdeflate.manyTiles=1", needsNative),
        made("workgroup.gstdExpand", kGstd, {"gstd"}, {128, 256}, needsHardware),
        threshold(Kind::upTo, "gstd.fewTiles", kGstd, "gstd", kAny, 0, "gstd.fewTiles=1",
                  needsFewGstd),
        choose("gstd.programmaticLaunch", kGstd, {"gstd"}, {0, 1}, needsDependentLaunch),
        leave("gstd.symbolsOnly", isForBenchmarks),
        made("workgroup.filter", kFilter, {"filter"}, {128, 256}, needsHardware),
        threshold(Kind::upTo, "filter.fewTiles", kFilter, "filter", kAny, 0, "filter.fewTiles=1",
                  needsFewFilter),
        threshold(Kind::from, "filter.takeNextTiles", kFilter, "filter", 1, 0, "", needsProgress),
        made("workgroup.floatDecode", kFloat, {"float"}, {128, 256, 512, 1024}, needsPairs),
        choose("floatDecode.laneGroups", kFloat, {"float"}, {512, 1024, 2048, 4096, 8192, 16384}),
        choose("floatDecode.tilesPerLaneGroup", kFloat, {"float"}, {1, 2, 4, 8, 16}),
        perProcessor("floatDecode.blocks", kFloat, {"float"}, {1, 2, 3, 4}),
        choose("floatDecode.tilesPerWarp", kFloat, {"float"}, {2, 4, 6, 8, 12}),
        perProcessor("floatDecode.fewBlocks", kFloat, {"float"}, {1, 2, 3}),
        choose("floatDecode.fewTiles", kFloat, {"float"}, {1, 2, 4, 8, 16}),
        choose("floatDecode.programmaticLaunch", kFloat, {"float"}, {0, 1}, needsDependentLaunch),
        perProcessor("df11.workgroups", kDf11, {"df11"}, {0, 1, 2, 3, 4}),
        choose("df11.countedWorkgroups", kDf11, {"df11 counted"}, {512, 1024, 2048, 4096}),
        choose("df11.countedBlocks", kDf11, {"df11 counted"}, {2, 4, 8, 16, 32}),
        choose("fseTables.laneGroups", kFse, {"fse tables"}, {512, 1024, 2048, 4096, 8192, 16384}),
        choose("fseTables.warps", kFse, {"fse tables"}, {512, 1024, 2048, 4096, 8192, 16384}),
        leave("workgroup.zstdExpand", isForZstd),
        leave("workgroup.zstdSequences", isForZstd),
        leave("zstd.expandBytes", isForZstd),
        leave("zstd.scratchMegabytes", isForZstd),
        leave("zstd.steps", isForBenchmarks),
        leave("zstd.spread", isForZstd),
        leave("zstdChains", isForZstd),
        leave("zstdLiteralsBeside", isForZstd),
    };
    // gdeflate.manyTiles is a number of tiles, and so large that such a list fits into memory only
    // if its tiles are smaller than usual.
    for (Knob& knob : list)
        if (std::string(knob.field) == "gdeflate.manyTiles") knob.tileBytes = 16 * kKiB;
    return list;
}

} // namespace

const std::vector<Knob>& knobs()
{
    static const std::vector<Knob> all = [] {
        std::vector<Knob> list;
        for (const auto family : {scanKnobs, compactKnobs, intervalKnobs, codecKnobs})
            for (Knob& knob : family())
                list.push_back(std::move(knob));
        return list;
    }();
    return all;
}

} // namespace sluice
