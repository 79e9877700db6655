// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/registry.h"

#include <algorithm>
#include <iterator>

#include <sluice/sluice.h>

#include "layout/constants.h"

namespace sluice {
namespace {

using Device = DeviceTraits;
using Tuning = VulkanTuning;
using Constants = PipelineConstants;

// -----------------------------------------------------------------------------------------------
// When a pipeline applies

bool always(const Device&, const Tuning&) { return true; }
bool paired(const Device& device, const Tuning&) { return device.runsPairedTiles(); }
bool gdeflateFew(const Device& device, const Tuning& tuning)
{
    return device.runsPairedTiles() && tuning.gdeflate.fewTiles != 0;
}
bool gdeflateMany(const Device& device, const Tuning& tuning)
{
    return device.runsPairedTiles() && device.hasNativeLaneGroups() &&
           tuning.gdeflate.manyTiles != 0;
}
bool gstdFew(const Device& device, const Tuning& tuning)
{
    return device.runsGstdExpandFew() && tuning.gstd.fewTiles != 0;
}
bool filterFew(const Device& device, const Tuning& tuning)
{
    return device.runsFilterFew() && tuning.filter.fewTiles != 0;
}
bool compactRing(const Device& device, const Tuning& tuning)
{
    return device.runsRings() && tuning.compact.ringWorkgroups != 0;
}
bool scanRing(const Device& device, const Tuning& tuning)
{
    return device.runsRings() && tuning.scan.ringWorkgroups != 0;
}
bool specializedIntervals(const Device&, const Tuning& tuning)
{
    return tuning.intervalSpecialized != 0;
}

// -----------------------------------------------------------------------------------------------
// Invocations of a workgroup

uint32_t minimum(const Device&, const Tuning&) { return 128; } // what every device allows
uint32_t laneGroup(const Device& device, const Tuning&)
{
    return std::max(32u, device.subgroupSize);
}
uint32_t tilePair(const Device& device, const Tuning& tuning)
{
    return (device.runsPairedTiles() ? 2 : 1) * laneGroup(device, tuning);
}
uint32_t ring(const Device&, const Tuning& tuning) { return tuning.workgroup.ring; }
uint32_t scan(const Device&, const Tuning& tuning) { return tuning.workgroup.scan; }
// A power of two, so that each invocation has as many of a block's 512 windows.
uint32_t df11(const Device&, const Tuning& tuning)
{
    uint32_t size = 128;
    while (size < 512 && 2 * size <= tuning.workgroup.scan)
        size *= 2;
    return size;
}
uint32_t compact(const Device&, const Tuning& tuning) { return tuning.workgroup.compact; }
uint32_t intervals(const Device&, const Tuning& tuning)
{
    return 32 * tuning.workgroup.intervalShares;
}
uint32_t gstdExpand(const Device&, const Tuning& tuning) { return tuning.workgroup.gstdExpand; }
uint32_t gstdExpandFew(const Device&, const Tuning& tuning)
{
    return tuning.workgroup.gstdExpandFew;
}
uint32_t filter(const Device&, const Tuning& tuning) { return tuning.workgroup.filter; }
uint32_t filterFewSize(const Device&, const Tuning& tuning) { return tuning.workgroup.filterFew; }
// A workgroup of float_decode is larger than a lane group only where lane groups are subgroups or
// halves of them.
uint32_t floatDecode(const Device& device, const Tuning& tuning)
{
    return device.runsPairedTiles() ? tuning.workgroup.floatDecode : laneGroup(device, tuning);
}

// -----------------------------------------------------------------------------------------------
// Specialization constants

void none(const Device&, const Tuning&, Constants&) {}

void plainStores(const Device& device, const Tuning&, Constants& constants)
{
    constants.set(SLUICE_CONSTANT_PLAIN_STORES_VISIBLE, device.plainStoresVisible ? 1 : 0);
}

enum class GdeflateKind {
    any,
    pitched,
    few,
    many
};
template <GdeflateKind Kind>
void gdeflate(const Device& device, const Tuning& tuning, Constants& constants)
{
    constexpr uint32_t asksForPitch = 0, neverPitched = 1, pitched = 2, roomOfFew = 2;
    const bool isPaired = device.runsPairedTiles() && Kind != GdeflateKind::many;
    plainStores(device, tuning, constants);
    constants.set(SLUICE_CONSTANT_GDEFLATE_PAIRED, isPaired ? 1 : 0);
    constants.set(SLUICE_CONSTANT_GDEFLATE_PITCH, Kind == GdeflateKind::pitched ? pitched
                                                  : device.runsPairedTiles()    ? neverPitched
                                                                                : asksForPitch);
    constants.set(SLUICE_CONSTANT_GDEFLATE_ROOM, !isPaired ? 0
                                                 : Kind == GdeflateKind::few
                                                     ? roomOfFew
                                                     : tuning.gdeflate.room);
}

template <uint32_t Bytes>
void elementBytes(const Device&, const Tuning&, Constants& constants)
{
    constants.set(SLUICE_CONSTANT_ELEMENT_BYTES, Bytes);
}

template <uint32_t Kind>
void compactCall(const Device& device, const Tuning& tuning, Constants& constants)
{
    elementBytes<4>(device, tuning, constants);
    constants.set(SLUICE_CONSTANT_COMPACT_KIND, Kind);
}

template <uint32_t Kind>
void compactRingTiles(const Device& device, const Tuning& tuning, Constants& constants)
{
    compactCall<Kind>(device, tuning, constants);
    constants.set(SLUICE_CONSTANT_COMPACT_RING_TILES, tuning.compact.ringTiles);
}

template <bool ShortRuns>
void move(const Device&, const Tuning&, Constants& constants)
{
    constants.set(SLUICE_CONSTANT_INTERVAL_UNITS_AT_ONCE, ShortRuns ? 2 : 3);
    constants.set(SLUICE_CONSTANT_INTERVAL_WORDS_AT_ONCE, ShortRuns ? 3 : 2);
    constants.set(SLUICE_CONSTANT_INTERVAL_BYTES_APART, ShortRuns ? 1 : 0);
}

template <uint32_t Operation, bool Segmented = false>
void operation(const Device&, const Tuning&, Constants& constants)
{
    constants.set(SLUICE_CONSTANT_SCAN_OPERATION, Operation);
    constants.set(SLUICE_CONSTANT_SCAN_SEGMENTED, Segmented ? 1 : 0);
}

void scanRingRounds(const Device& device, const Tuning& tuning, Constants& constants)
{
    operation<SLUICE_SCAN_OP_SUM>(device, tuning, constants);
    constants.set(SLUICE_CONSTANT_SCAN_RING_SHARED, tuning.scan.ringSharedRounds);
    constants.set(SLUICE_CONSTANT_SCAN_RING_REGISTERS, tuning.scan.ringRegisterRounds);
}

// -----------------------------------------------------------------------------------------------
// Tunings under which a pipeline is chosen, whatever the size of the work

constexpr uint32_t kAnyCount = UINT32_MAX; // as a limit of `few`: every count is below it

void asItIs(Tuning&) {}
void noVariants(Tuning& tuning)
{
    tuning.gdeflate.fewTiles = tuning.gdeflate.manyTiles = 0;
    tuning.gstd.fewTiles = tuning.filter.fewTiles = 0;
    tuning.scan.ringWorkgroups = tuning.compact.ringWorkgroups = 0;
    tuning.intervalSpecialized = 0;
}
void fewGdeflate(Tuning& tuning) { tuning.gdeflate.fewTiles = kAnyCount; }
void manyGdeflate(Tuning& tuning)
{
    tuning.gdeflate.fewTiles = 0;
    tuning.gdeflate.manyTiles = 1;
}
void fewGstd(Tuning& tuning) { tuning.gstd.fewTiles = kAnyCount; }
void fewFilter(Tuning& tuning) { tuning.filter.fewTiles = kAnyCount; }
// Two workgroups, one of them the scanner: a self-test's list has tiles enough for both.
void ringCompact(Tuning& tuning)
{
    tuning.compact.ringWorkgroups = 2;
    tuning.compact.callTiles = 0;
}
void callCompact(Tuning& tuning)
{
    tuning.compact.ringWorkgroups = kAnyCount; // no list is so long that its ring would be filled
    tuning.compact.callTiles = kAnyCount;
}
void ringScan(Tuning& tuning) { tuning.scan.ringWorkgroups = 2; }
void longRuns(Tuning& tuning) { tuning.interval.shortRunBytes = 0; }
void shortRuns(Tuning& tuning)
{
    tuning.intervalSpecialized = 1;
    tuning.interval.shortRunBytes = kAnyCount;
}
void specialized(Tuning& tuning) { tuning.intervalSpecialized = 1; }

// -----------------------------------------------------------------------------------------------

constexpr uint32_t kGdeflateUsers = SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_TILE_STREAMS;
constexpr uint32_t kScanSumUsers = SLUICE_KERNELS_SCAN | SLUICE_KERNELS_TILE_STREAMS;
constexpr uint32_t kScan = SLUICE_KERNELS_SCAN, kCompact = SLUICE_KERNELS_COMPACT,
                   kInterval = SLUICE_KERNELS_INTERVAL, kAll = SLUICE_KERNELS_ALL;
constexpr uint32_t kSum = SLUICE_SCAN_OP_SUM, kMax = SLUICE_SCAN_OP_MAX,
                   kSumF32 = SLUICE_SCAN_OP_SUM_F32;
using P = Pipeline;
using T = SelfTestCase;

// clang-format off: a table
constexpr PipelineRow kRows[] = {
    {P::status, "status", "status", kAll, always, minimum, none, T::status, asItIs},
    {P::checksum, "checksum", "checksum", kAll, always, laneGroup, none, T::checksum, asItIs},
    {P::gdeflate, "gdeflate", "gdeflate", kGdeflateUsers, always, tilePair,
     gdeflate<GdeflateKind::any>, T::gdeflate, noVariants},
    {P::gdeflate_pitched, "gdeflate_pitched", "gdeflate", kGdeflateUsers, paired, tilePair,
     gdeflate<GdeflateKind::pitched>, T::gdeflate_pitched, asItIs},
    {P::gdeflate_few, "gdeflate_few", "gdeflate", kGdeflateUsers, gdeflateFew, tilePair,
     gdeflate<GdeflateKind::few>, T::gdeflate, fewGdeflate},
    {P::gdeflate_many, "gdeflate_many", "gdeflate", kGdeflateUsers, gdeflateMany, laneGroup,
     gdeflate<GdeflateKind::many>, T::gdeflate, manyGdeflate},
    {P::driver_regions, "driver_regions", "driver_regions", kGdeflateUsers, always, minimum, none,
     T::gdeflate_by_driver, asItIs},
    {P::tile_streams, "tile_streams", "tile_streams", SLUICE_KERNELS_TILE_STREAMS, always, minimum,
     none, T::tile_streams, asItIs},
    {P::gstd_symbols, "gstd_symbols", "gstd_symbols", SLUICE_KERNELS_GSTD, always, laneGroup, none,
     T::gstd, asItIs},
    {P::gstd_expand, "gstd_expand", "gstd_expand", SLUICE_KERNELS_GSTD, always, gstdExpand,
     plainStores, T::gstd, noVariants},
    {P::gstd_expand_few, "gstd_expand_few", "gstd_expand", SLUICE_KERNELS_GSTD, gstdFew,
     gstdExpandFew, plainStores, T::gstd, fewGstd},
    {P::fse_tables, "fse_tables", "fse_tables", SLUICE_KERNELS_FSE, always, laneGroup, none,
     T::fse_tables, asItIs},
    {P::filter, "filter", "filter", SLUICE_KERNELS_FILTER, always, filter, plainStores, T::filter,
     noVariants},
    {P::filter_few, "filter_few", "filter", SLUICE_KERNELS_FILTER, filterFew, filterFewSize,
     plainStores, T::filter, fewFilter},
    {P::compact_1, "compact_1", "compact", kCompact, always, compact, elementBytes<1>, T::compact_1,
     asItIs},
    {P::compact_2, "compact_2", "compact", kCompact, always, compact, elementBytes<2>, T::compact_2,
     asItIs},
    {P::compact_4, "compact_4", "compact", kCompact, always, compact, elementBytes<4>, T::compact_4,
     noVariants},
    {P::compact_8, "compact_8", "compact", kCompact, always, compact, elementBytes<8>, T::compact_8,
     asItIs},
    {P::compact_16, "compact_16", "compact", kCompact, always, compact, elementBytes<16>,
     T::compact_16, asItIs},
    {P::compact_ring, "compact_ring", "compact_ring", kCompact, compactRing, ring,
     compactRingTiles<0>, T::compact_4, ringCompact},
    {P::compact_ring_selectors, "compact_ring_selectors", "compact_ring", kCompact, compactRing,
     ring, compactRingTiles<1>, T::compact_4, ringCompact},
    {P::compact_ring_words, "compact_ring_words", "compact_ring", kCompact, compactRing, ring,
     compactRingTiles<2>, T::compact_4, ringCompact},
    {P::compact_ring_bytes, "compact_ring_bytes", "compact_ring", kCompact, compactRing, ring,
     compactRingTiles<3>, T::compact_4, ringCompact},
    {P::compact_call, "compact_call", "compact_call", kCompact, compactRing, ring, compactCall<0>,
     T::compact_4, callCompact},
    {P::compact_call_selectors, "compact_call_selectors", "compact_call", kCompact, compactRing,
     ring, compactCall<1>, T::compact_4, callCompact},
    {P::interval_plan, "interval_plan", "interval_plan", kInterval, always, minimum, none,
     T::interval_expand, asItIs},
    {P::interval_expand, "interval_expand", "interval_expand", kInterval, always, intervals, none,
     T::interval_expand, noVariants},
    {P::interval_expand_words, "interval_expand_words", "interval_expand", kInterval,
     specializedIntervals, intervals, elementBytes<4>, T::interval_expand, specialized},
    {P::interval_move, "interval_move", "interval_move", kInterval, always, intervals, move<false>,
     T::interval_move, longRuns},
    {P::interval_move_short, "interval_move_short", "interval_move", kInterval,
     specializedIntervals, intervals, move<true>, T::interval_move, shortRuns},
    {P::interval_search, "interval_search", "interval_search", kInterval, always, intervals, none,
     T::interval_search, asItIs},
    {P::scan_sum, "scan_sum", "scan", kScanSumUsers, always, scan, operation<kSum>, T::scan,
     noVariants},
    {P::scan_max, "scan_max", "scan", kScan, always, scan, operation<kMax>, T::scan, asItIs},
    {P::scan_sum_f32, "scan_sum_f32", "scan", kScan, always, scan, operation<kSumF32>, T::scan,
     asItIs},
    {P::scan_sum_segments, "scan_sum_segments", "scan", kScan, always, scan, operation<kSum, true>,
     T::scan, asItIs},
    {P::scan_max_segments, "scan_max_segments", "scan", kScan, always, scan, operation<kMax, true>,
     T::scan, asItIs},
    {P::scan_sum_f32_segments, "scan_sum_f32_segments", "scan", kScan, always, scan,
     operation<kSumF32, true>, T::scan, asItIs},
    {P::scan_sum_ring, "scan_sum_ring", "scan_ring", kScan, scanRing, ring, scanRingRounds, T::scan,
     ringScan},
    {P::scan_sum_u64, "scan_sum_u64", "scan64", kScan, always, scan, operation<kSum>, T::scan,
     asItIs},
    {P::scan_max_u64, "scan_max_u64", "scan64", kScan, always, scan, operation<kMax>, T::scan,
     asItIs},
    {P::scan_sum_u64_segments, "scan_sum_u64_segments", "scan64", kScan, always, scan,
     operation<kSum, true>, T::scan, asItIs},
    {P::scan_max_u64_segments, "scan_max_u64_segments", "scan64", kScan, always, scan,
     operation<kMax, true>, T::scan, asItIs},
    {P::reduce_sum, "reduce_sum", "reduce", kScan, always, scan, operation<kSum>, T::reduce,
     asItIs},
    {P::reduce_max, "reduce_max", "reduce", kScan, always, scan, operation<kMax>, T::reduce,
     asItIs},
    {P::reduce_sum_f32, "reduce_sum_f32", "reduce", kScan, always, scan, operation<kSumF32>,
     T::reduce, asItIs},
    {P::reduce_sum_f32_segments, "reduce_sum_f32_segments", "reduce", kScan, always, scan,
     operation<kSumF32, true>, T::scan, asItIs},
    {P::reduce_sum_u64, "reduce_sum_u64", "reduce64", kScan, always, scan, operation<kSum>,
     T::reduce, asItIs},
    {P::reduce_max_u64, "reduce_max_u64", "reduce64", kScan, always, scan, operation<kMax>,
     T::reduce, asItIs},
    {P::float_decode, "float_decode", "float_decode", SLUICE_KERNELS_FLOAT, always, floatDecode,
     none, T::float_decode, asItIs},
    {P::df11, "df11", "df11", SLUICE_KERNELS_DF11, always, df11, none, T::df11, asItIs},
};
// clang-format on

// Every pipeline has one complete row, at its own place, and a self-test.
constexpr bool rowsAreComplete()
{
    size_t at = 0;
    for (const PipelineRow& row : kRows) {
        if (static_cast<size_t>(row.pipeline) != at++ || row.name == nullptr ||
            row.shader == nullptr || row.kernels == 0 || row.applies == nullptr ||
            row.workgroup == nullptr || row.constants == nullptr || row.choose == nullptr ||
            row.selfTest == SelfTestCase::none)
            return false;
    }
    return at == kPipelineCount;
}
static_assert(rowsAreComplete(), "each pipeline needs a row in the order of the enum, with a test");

} // namespace

const PipelineRow& pipelineRow(Pipeline pipeline) { return kRows[static_cast<size_t>(pipeline)]; }

} // namespace sluice
