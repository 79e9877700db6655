// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/registry.h"

#include <algorithm>

#include "layout/compact.h"
#include "layout/uastc.h"
#include "api/components.h"

namespace sluice {
namespace {

using Device = DeviceTraits;
using Tuning = VulkanTuning;
using Constants = PipelineConstants;

// --- When a pipeline applies

bool appliesAlways(const Device&, const Tuning&) { return true; }
bool appliesGdeflatePitched(const Device&, const Tuning& tuning)
{
    return tuning.gdeflate.pitchApart != 0;
}
bool appliesDriverRegions(const Device& device, const Tuning&) { return device.driverDecodes; }
bool appliesGdeflateFew(const Device& device, const Tuning& tuning)
{
    return device.runsPairedTiles() && tuning.gdeflate.fewTiles != 0;
}
bool appliesGdeflateMany(const Device& device, const Tuning& tuning)
{
    return device.runsPairedTiles() && device.hasNativeLaneGroups() &&
           tuning.gdeflate.manyTiles != 0;
}
bool appliesGstdFew(const Device& device, const Tuning& tuning)
{
    return device.runsGstdExpandFew() && tuning.gstd.fewTiles != 0;
}
bool appliesFilterFew(const Device& device, const Tuning& tuning)
{
    return device.runsFilterFew() && tuning.filter.fewTiles != 0;
}
bool appliesCompactRing(const Device& device, const Tuning& tuning)
{
    return device.runsRings() && tuning.compact.ringWorkgroups != 0;
}
bool appliesScanRing(const Device& device, const Tuning& tuning)
{
    return device.runsRings() && tuning.scan.ringWorkgroups != 0;
}
bool appliesSpecializedIntervals(const Device&, const Tuning& tuning)
{
    return tuning.intervalSpecialized != 0;
}

// --- Invocations of a workgroup

// Every device allows this size.
uint32_t sizeMinimum(const Device&, const Tuning&) { return 128; }
uint32_t sizeLaneGroup(const Device& device, const Tuning&)
{
    return std::max(32u, device.subgroupSize);
}
uint32_t sizeTilePair(const Device& device, const Tuning& tuning)
{
    return (device.runsPairedTiles() ? 2 : 1) * sizeLaneGroup(device, tuning);
}
uint32_t sizeRing(const Device&, const Tuning&) { return Device::kRingWorkgroup; }
uint32_t sizeFew(const Device&, const Tuning&) { return Device::kFewWorkgroup; }
uint32_t sizeScan(const Device&, const Tuning& tuning) { return tuning.workgroup.scan; }
// Returns a power of two from 128 to 512, so that every invocation decodes the same number of
// windows (pieces of 64 bits). A block has 512 windows.
uint32_t sizeDf11(const Device&, const Tuning& tuning)
{
    uint32_t size = 128;
    while (size < 512 && 2 * size <= tuning.workgroup.scan)
        size *= 2;
    return size;
}
uint32_t sizeCompact(const Device&, const Tuning& tuning) { return tuning.workgroup.compact; }
// Elements of 12 and 20 bytes (WIDE) take more shared memory per invocation than others, so the
// workgroup may have to be smaller.
uint32_t sizeCompactWide(const Device& device, const Tuning& tuning)
{
    constexpr uint32_t others = 1024, each = SLUICE_COMPACT_WIDE_BYTES_PER_INVOCATION;
    const uint32_t lanes = std::max(32u, device.subgroupSize);
    uint32_t size = tuning.workgroup.compact;
    while (size > lanes && others + each * size > device.sharedBytes)
        size -= lanes;
    return size;
}
uint32_t sizeIntervals(const Device&, const Tuning& tuning)
{
    return 32 * tuning.workgroup.intervalShares;
}
uint32_t sizeGstdExpand(const Device&, const Tuning& tuning) { return tuning.workgroup.gstdExpand; }
uint32_t sizeZstdSequences(const Device&, const Tuning& tuning)
{
    return tuning.workgroup.zstdSequences;
}
uint32_t sizeZstdExpand(const Device&, const Tuning& tuning) { return tuning.workgroup.zstdExpand; }
uint32_t sizeFilter(const Device&, const Tuning& tuning) { return tuning.workgroup.filter; }
// A workgroup of float_decode may have several lane groups only if a lane group is a subgroup or
// half of one.
uint32_t sizeFloatDecode(const Device& device, const Tuning& tuning)
{
    return device.runsPairedTiles() ? tuning.workgroup.floatDecode : sizeLaneGroup(device, tuning);
}

// --- Specialization constants

void constantsNone(const Device&, const Tuning&, Constants&) {}

void constantsPlainStores(const Device& device, const Tuning&, Constants& constants)
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
void constantsGdeflate(const Device& device, const Tuning& tuning, Constants& constants)
{
    constexpr uint32_t asksForPitch = 0, neverPitched = 1, pitched = 2, roomOfFew = 2;
    const bool isPaired = device.runsPairedTiles() && Kind != GdeflateKind::many;
    constantsPlainStores(device, tuning, constants);
    constants.set(SLUICE_CONSTANT_GDEFLATE_PAIRED, isPaired ? 1 : 0);
    constants.set(SLUICE_CONSTANT_GDEFLATE_PITCH, Kind == GdeflateKind::pitched     ? pitched
                                                  : tuning.gdeflate.pitchApart != 0 ? neverPitched
                                                                                    : asksForPitch);
    constants.set(SLUICE_CONSTANT_GDEFLATE_ROOM, !isPaired ? 0
                                                 : Kind == GdeflateKind::few
                                                     ? roomOfFew
                                                     : tuning.gdeflate.room);
}

void constantsZstdSequences(const Device&, const Tuning& tuning, Constants& constants)
{
    constants.set(SLUICE_CONSTANT_ZSTD_CHAINS, tuning.zstdChains);
}

template <uint32_t Bytes>
void constantsElementBytes(const Device&, const Tuning&, Constants& constants)
{
    constants.set(SLUICE_CONSTANT_ELEMENT_BYTES, Bytes);
}

template <uint32_t Kind>
void constantsCompactCall(const Device& device, const Tuning& tuning, Constants& constants)
{
    constantsElementBytes<4>(device, tuning, constants);
    constants.set(SLUICE_CONSTANT_COMPACT_KIND, Kind);
}

template <uint32_t Kind>
void constantsCompactRing(const Device& device, const Tuning& tuning, Constants& constants)
{
    constantsCompactCall<Kind>(device, tuning, constants);
    constants.set(SLUICE_CONSTANT_COMPACT_RING_TILES, tuning.compact.ringTiles);
}

template <bool ShortRuns>
void constantsMove(const Device&, const Tuning&, Constants& constants)
{
    constants.set(SLUICE_CONSTANT_INTERVAL_UNITS_AT_ONCE, ShortRuns ? 2 : 3);
    constants.set(SLUICE_CONSTANT_INTERVAL_WORDS_AT_ONCE, ShortRuns ? 3 : 2);
    constants.set(SLUICE_CONSTANT_INTERVAL_BYTES_APART, ShortRuns ? 1 : 0);
}

template <uint32_t Group>
void constantsUastc(const Device&, const Tuning&, Constants& constants)
{
    constants.set(SLUICE_CONSTANT_UASTC_GROUP, Group);
}

template <uint32_t Operation, bool Segmented = false>
void constantsOperation(const Device&, const Tuning&, Constants& constants)
{
    constants.set(SLUICE_CONSTANT_SCAN_OPERATION, Operation);
    constants.set(SLUICE_CONSTANT_SCAN_SEGMENTED, Segmented ? 1 : 0);
}

// In scan_ring.comp a tile waits for its prefix sum for two rounds: one in shared memory and one in
// registers. So scans reach 0.93 of the speed of a copy. If the tile waits two rounds in shared
// memory, they reach 0.88; if it waits in registers alone, 0.60.
void constantsScanRing(const Device& device, const Tuning& tuning, Constants& constants)
{
    constantsOperation<SLUICE_SCAN_OP_SUM>(device, tuning, constants);
    constants.set(SLUICE_CONSTANT_SCAN_RING_SHARED, 1);
    constants.set(SLUICE_CONSTANT_SCAN_RING_REGISTERS, 1);
}

// --- Functions that change a tuning so that a pipeline is chosen, whatever the size of the work

constexpr uint32_t kAnyCount = UINT32_MAX; // as a limit of "few tiles", this includes every number

void chooseAsItIs(Tuning&) {}
void chooseNoVariants(Tuning& tuning)
{
    tuning.gdeflate.fewTiles = tuning.gdeflate.manyTiles = 0;
    tuning.gstd.fewTiles = tuning.filter.fewTiles = 0;
    tuning.scan.ringWorkgroups = tuning.compact.ringWorkgroups = 0;
    tuning.intervalSpecialized = 0;
}
void chooseGdeflateFew(Tuning& tuning) { tuning.gdeflate.fewTiles = kAnyCount; }
void chooseGdeflateMany(Tuning& tuning)
{
    tuning.gdeflate.fewTiles = 0;
    tuning.gdeflate.manyTiles = 1;
}
void chooseGstdFew(Tuning& tuning) { tuning.gstd.fewTiles = kAnyCount; }
void chooseFilterFew(Tuning& tuning) { tuning.filter.fewTiles = kAnyCount; }
// Two workgroups are enough to test the ring kernel: one is the scanner, the other does all tiles.
// The list of a self-test has enough tiles for the ring kernel to be chosen.
void chooseCompactRing(Tuning& tuning)
{
    tuning.compact.ringWorkgroups = 2;
    tuning.compact.callTiles = 0;
}
void chooseCompactCall(Tuning& tuning)
{
    // The ring kernel needs at least as many tiles as it has workgroups. No list has this many, so
    // the call kernel is chosen.
    tuning.compact.ringWorkgroups = kAnyCount;
    tuning.compact.callTiles = kAnyCount;
}
void chooseScanRing(Tuning& tuning) { tuning.scan.ringWorkgroups = 2; }
void chooseZstdLinks(Tuning& tuning) { tuning.zstd.expandBytes = 0; }
void chooseLongRuns(Tuning& tuning) { tuning.interval.shortRunBytes = 0; }
void chooseShortRuns(Tuning& tuning)
{
    tuning.intervalSpecialized = 1;
    tuning.interval.shortRunBytes = kAnyCount;
}
void chooseSpecialized(Tuning& tuning) { tuning.intervalSpecialized = 1; }

// -----------------------------------------------------------------------------------------------

// Sets of kernels (SluiceKernels), by shorter names. Statuses and checksums are part of every set.
constexpr uint32_t kAll = kAllKernels, kInterval = SLUICE_KERNELS_INTERVAL;
constexpr uint32_t kGdeflateLinear = SLUICE_KERNELS_GDEFLATE_LINEAR | SLUICE_KERNELS_TILE_STREAMS,
                   kGdeflateRows = SLUICE_KERNELS_GDEFLATE_ROWS;
constexpr uint32_t kCompactWords = SLUICE_KERNELS_COMPACT_WORDS,
                   kCompactSizes = SLUICE_KERNELS_COMPACT_SIZES;
constexpr uint32_t kWords = SLUICE_KERNELS_SCAN_WORDS, kF32 = SLUICE_KERNELS_SCAN_F32,
                   kU64 = SLUICE_KERNELS_SCAN_U64, kSegments = SLUICE_KERNELS_SCAN_SEGMENTS,
                   kScanSumUsers = kWords | SLUICE_KERNELS_TILE_STREAMS;
constexpr uint32_t kSum = SLUICE_SCAN_OP_SUM, kMax = SLUICE_SCAN_OP_MAX,
                   kSumF32 = SLUICE_SCAN_OP_SUM_F32;
using T = SelfTestCase;

#define SLUICE_ROW(name, ...) {Pipeline::name, #name, __VA_ARGS__},
constexpr PipelineRow kRows[] = {SLUICE_PIPELINES(SLUICE_ROW)};
#undef SLUICE_ROW

// Returns whether every pipeline has one complete row at its index, and a self-test.
[[maybe_unused]] constexpr bool rowsAreComplete()
{
    size_t at = 0;
    for (const PipelineRow& row : kRows) {
        if (size_t(row.pipeline) != at++ || row.name == nullptr || row.shader == nullptr ||
            row.kernels == 0 || row.applies == nullptr || row.workgroup == nullptr ||
            row.constants == nullptr || row.choose == nullptr || row.selfTest == SelfTestCase::none)
            return false;
    }
    return at == kPipelineCount;
}
// With -fsanitize=address,undefined, GCC 12 does not accept comparisons of function addresses in
// constant expressions.
#if !defined(__SANITIZE_ADDRESS__)
static_assert(rowsAreComplete(), "each pipeline needs a row in the order of the enum, with a test");
#endif

} // namespace

const PipelineRow& pipelineRow(Pipeline pipeline) { return kRows[size_t(pipeline)]; }

} // namespace sluice
