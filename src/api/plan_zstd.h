// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of the Zstandard decode. Regions are decoded in rounds, and those of a round in turns.
// The regions of a turn are decoded at the same time, with memory from a pool in scratch;
// shaders/lib/layout/zstd.h says what is in it. The number of dispatches depends only on the sizes
// in the info, not on the frames: there are as many turns as regions that need the most would take.
// Each dispatch does a bounded amount of work, and a dispatch that finds no work ends at once.
#pragma once

#include <sluice/sluice_zstd.h>

#include "layout/zstd.h"
#include "api/plan_regions.h"
#include "api/tuning_text.h"

#include <algorithm>

namespace sluice {

// The members of a backend's tuning table for the Zstandard decode.
struct ZstdTuning {
    // Up to this maxRegionSize, one workgroup makes all bytes of a region, in order. In larger
    // regions all bytes are made at the same time: each byte of a copy has a link to its source,
    // and links are followed until they end. That moves about 100 bytes per byte of output, but a
    // single region keeps the GPU busy.
    uint32_t expandBytes;
    // If regionsAtOnce is 0, as many regions are decoded at once as fit into this many MiB of
    // scratch.
    uint32_t scratchMegabytes;
    // A team of lane groups decodes the sequences of blocks. If all regions of a turn together have
    // fewer than this many blocks with sequences, a team decodes one block at a time. With n times
    // as many, it decodes n + 1 at once, as far as memory allows.
    uint32_t spread;
    // Only the first `steps` steps of the decode are recorded, so that the benchmark can time them;
    // kZstdSteps: all.
    uint32_t steps;
};
constexpr uint32_t kZstdSteps = 8;
// The most regions of a round that begins by measuring them: by walking over their headers to find
// how much scratch each needs. Each of these regions has a head, its state, in scratch.
constexpr uint32_t kZstdRoundRegions = 4096;
#define SLUICE_ZSTD_TUNING_FIELDS(Row)                                                             \
    SLUICE_TUNING_FIELD(Row, zstd.expandBytes, 0, UINT32_MAX),                                     \
        SLUICE_TUNING_FIELD(Row, zstd.scratchMegabytes, 0, 1u << 20),                              \
        SLUICE_TUNING_FIELD(Row, zstd.spread, 1, UINT32_MAX),                                      \
        SLUICE_TUNING_FIELD(Row, zstd.steps, 1, kZstdSteps)

inline uint32_t zstdMaxBlocks(const SluiceZstdInfo& info)
{
    return info.maxBlocks != 0 ? info.maxBlocks : SLUICE_ZS_FRAME_BLOCKS(info.maxRegionSize);
}

// Returns whether one workgroup makes the bytes of a region, in order (ZstdTuning::expandBytes).
inline bool zstdExpands(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    return info.maxRegionSize <= tuning.expandBytes;
}

// The flags of ZstdParams.
inline uint32_t zstdFlags(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    return ((info.flags & SLUICE_ZSTD_CHECKSUMS) != 0 ? SLUICE_ZS_FLAG_CHECKSUMS : 0u) |
           (zstdExpands(info, tuning) ? 0u : SLUICE_ZS_FLAG_LINKS);
}
// Returns the most that a region may need of the pool, in units of SLUICE_ZS_UNIT bytes.
static_assert(SLUICE_ZS_HEAD_BYTES == SLUICE_ZS_UNIT && SLUICE_ZS_ENTRY_BYTES == SLUICE_ZS_UNIT);
inline uint32_t zstdUnits(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    return SLUICE_ZS_MOST_UNITS(info.maxRegionSize, zstdMaxBlocks(info), zstdFlags(info, tuning));
}

// Returns how many lane groups decode the blocks of a region that is the only one of its turn.
inline uint32_t zstdMostGroups(const SluiceZstdInfo& info)
{
    constexpr uint32_t least = 64, bytesPerGroup = 4096, blocksPerGroup = 16;
    return std::min(zstdMaxBlocks(info), std::max(least + info.maxRegionSize / bytesPerGroup,
                                                  zstdMaxBlocks(info) / blocksPerGroup));
}

// Returns the most bytes of scratch that a region may need, including those of its lane groups.
inline uint64_t zstdRegionSize(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    return uint64_t(zstdUnits(info, tuning)) * SLUICE_ZS_UNIT + SLUICE_ZS_HEAD_BYTES +
           4 * uint64_t(zstdMaxBlocks(info)) +
           2 * uint64_t(SLUICE_ZS_ENTRY_BYTES) * zstdMostGroups(info);
}

// Returns the most regions that a turn may have even if scratch has room for more.
inline uint64_t zstdMostSlots(const SluiceZstdInfo& info)
{
    // Limits of a turn, whose regions are decoded side by side. `words` limits its output and so
    // the time that its dispatches take (docs/notes/zstd.md). With `blocks` and `regions`, indices
    // of blocks and of invocations have at most 31 bits.
    constexpr uint64_t words = 1u << 28, blocks = 1u << 31, regions = 1u << 20;
    return std::min({uint64_t(info.maxRegionCount), regions,
                     std::max<uint64_t>(words / (info.maxRegionSize / 4 + 1), 1),
                     blocks / zstdMaxBlocks(info)});
}
// Returns how many regions a turn can have if each needs as much of the pool as a region can.
inline uint32_t zstdFullSlots(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    const uint64_t byDefault =
        (uint64_t(tuning.scratchMegabytes) << 20) / zstdRegionSize(info, tuning);
    return uint32_t(std::min(zstdMostSlots(info), info.regionsAtOnce == 0
                                                      ? std::max<uint64_t>(byDefault, 1)
                                                      : info.regionsAtOnce));
}
// Returns whether the decode measures how much of the pool each region needs, so that a turn can
// have more than zstdFullSlots regions. Regions with links (ZstdTuning::expandBytes) are not
// measured: the links take most of the pool, and none of them can be saved. Nor are they if a round
// would hardly have more regions than have room anyway.
inline bool zstdMeasures(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    const uint32_t full = zstdFullSlots(info, tuning);
    return zstdExpands(info, tuning) && full < info.maxRegionCount &&
           full <= kZstdRoundRegions / 2 && full < zstdMostSlots(info);
}
// Returns the most regions of a round. If regions are measured, that is a multiple of
// zstdFullSlots, so that rounds need no more turns than the same regions in one list.
inline uint32_t zstdRoundRegions(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    const uint32_t full = zstdFullSlots(info, tuning);
    return zstdMeasures(info, tuning)
               ? std::min(info.maxRegionCount, kZstdRoundRegions / full * full)
               : full;
}
// Returns the most regions of a turn. Regions of textures and levels need about a sixth of the most
// that they could need, so eight times zstdFullSlots suffices.
inline uint32_t zstdSlots(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    const uint32_t full = zstdFullSlots(info, tuning);
    if (!zstdMeasures(info, tuning)) return full;
    return uint32_t(std::min(
        {uint64_t(8) * full, zstdMostSlots(info), uint64_t(zstdRoundRegions(info, tuning))}));
}

// Returns how many lane groups decode the blocks of a turn, divided by the most regions of a turn.
// All together are at most 2^15, or one for each region if there are more regions, so that a
// dispatch does not take too long. If regions are measured, they are at most half as many, because
// the scratch of the others is better used for more regions. For a region of more than 2^28 bytes
// they are at most 1,024.
inline uint32_t zstdGroups(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    const uint32_t all = zstdMeasures(info, tuning) ? 1u << 14 : 1u << 15,
                   most = info.maxRegionSize > 1u << 28
                              ? 1024
                              : all / std::max(zstdSlots(info, tuning), 1u);
    return std::min(zstdMostGroups(info), std::max(most, 1u));
}

// Returns the offset of the pool in scratch, in bytes.
inline uint64_t zstdPoolOffset(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    const uint64_t full = zstdFullSlots(info, tuning), blocks = zstdMaxBlocks(info),
                   laneGroups = uint64_t(zstdSlots(info, tuning)) * zstdGroups(info, tuning);
    return SLUICE_ZS_DICTIONARY_BYTES + SLUICE_ZS_TURN_BYTES +
           (SLUICE_ZS_ORDER_UNITS(full, blocks) + 2 * laneGroups) * SLUICE_ZS_UNIT;
}
inline SluiceRequirements zstdScratch(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    if (info.maxRegionCount == 0) return {0, 16, 0};
    const uint64_t pool = uint64_t(zstdFullSlots(info, tuning)) * zstdUnits(info, tuning),
                   heads = zstdRoundRegions(info, tuning);
    return {zstdPoolOffset(info, tuning) + (pool + heads) * SLUICE_ZS_UNIT, 16, 0};
}

// Returns the kernels' parameters. addressOf(buffer) returns a device address, 0 for an empty
// range.
template <typename AddressOf>
ZstdParams zstdParams(const SluiceZstdInfo& info, const ZstdTuning& tuning,
                      const AddressOf& addressOf)
{
    ZstdParams params = {};
    setRegionList(params, info, addressOf);
    params.scratch = pair(addressOf(info.scratch));
    params.dictionary = pair(addressOf(info.dictionary));
    params.dictionarySize = uint32_t(info.dictionary.size);
    params.maxRegionBytes = info.maxRegionSize;
    params.maxBlocks = zstdMaxBlocks(info);
    params.flags = zstdFlags(info, tuning);
    params.fullSlots = zstdFullSlots(info, tuning);
    params.groups = zstdGroups(info, tuning);
    params.spread = tuning.spread;
    return params;
}

enum class ZstdStep {
    walk,
    order,
    sequences,
    literals,
    place,
    expand,
    bytes,
    hash
};

// Returns the invocations of a dispatch of the step `walk`, in which each reads the headers of one
// region.
inline uint32_t zstdWalkThreads(const ZstdParams& params)
{
    return (params.pass & SLUICE_ZS_MEASURE) != 0 ? params.roundRegions : params.slots;
}
// Returns the number of lane groups of a dispatch that decodes sequences or literals.
inline uint64_t zstdLaneGroups(const ZstdParams& params)
{
    return uint64_t(params.slots) * params.groups;
}
// Returns the words of output of a turn, if each region has its largest size.
inline uint64_t zstdWords(const ZstdParams& params)
{
    return uint64_t(params.slots) * ((params.maxRegionBytes + 3) / 4);
}
constexpr uint64_t kZstdWordsAtOnce = 1u << 24;
// Returns the invocations of a dispatch of the step `bytes`: one per word from params.begin on.
inline uint32_t zstdThreads(const ZstdParams& params)
{
    return uint32_t(std::min(zstdWords(params) - params.begin, kZstdWordsAtOnce));
}

// Returns the invocations of a dispatch of the steps `order` and `place`. Both are passes of the
// kernel zstd_place.
inline uint32_t zstdPlaceThreads(const ZstdParams& params)
{
    if ((params.pass & SLUICE_ZS_BEGIN) != 0) // one workgroup if regions have been measured
        return params.roundRegions > params.fullSlots ? 1 : std::max(params.slots, 32u);
    return params.pass >= SLUICE_ZS_COUNT ? params.slots * SLUICE_ZS_ORDER_THREADS(params.maxBlocks)
                                          : params.slots;
}

// Calls runAll(step, params) for each dispatch, in order. Each dispatch must wait for the one
// before, with one exception: `literals` need not wait for `sequences`. group: the bytes that a
// workgroup of the step `expand` makes at a time.
template <typename Run>
void forEachZstdStep(const SluiceZstdInfo& info, const ZstdTuning& tuning, uint32_t group,
                     ZstdParams params, const Run& runAll)
{
    const auto run = [&](ZstdStep step, const ZstdParams& of) {
        if (uint32_t(step) < tuning.steps) runAll(step, of);
    };
    const uint64_t blocks = params.maxBlocks, size = info.maxRegionSize,
                   frames = std::min<uint64_t>(SLUICE_ZS_MAX_FRAMES, info.source.size / 8) + 1;
    const auto dispatches = [](uint64_t turns, uint32_t each) {
        return uint32_t(turns / each + 1); // the last iteration may only find that nothing is left
    };
    const auto repeat = [&](ZstdStep step, uint32_t times, uint32_t flags = 0) {
        for (uint32_t i = 0; i < times; ++i) {
            params.pass =
                flags | (i == 0 ? SLUICE_ZS_FIRST : 0) | (i + 1 == times ? SLUICE_ZS_LAST : 0);
            run(step, params);
        }
    };
    const auto runPass = [&](ZstdStep step, uint32_t pass) {
        params.pass = pass;
        run(step, params);
    };
    const auto runBytes = [&](uint32_t pass) {
        const uint64_t words = zstdWords(params);
        for (uint64_t word = 0; word < words; word += kZstdWordsAtOnce) {
            params.begin = uint32_t(word);
            runPass(ZstdStep::bytes, pass);
        }
        params.begin = 0;
    };
    const auto runTurn = [&] {
        repeat(ZstdStep::walk, dispatches(blocks + frames, SLUICE_ZS_SERIAL_TURNS));
        runPass(ZstdStep::order, SLUICE_ZS_COUNT);
        runPass(ZstdStep::order, SLUICE_ZS_ORDER);
        params.pass = 0;
        const uint64_t turnBlocks = std::min(params.slots, params.fullSlots) * blocks,
                       atOnce = zstdLaneGroups(params) * SLUICE_ZS_BLOCK_TURNS;
        for (uint64_t block = 0; block < turnBlocks; block += atOnce, ++params.begin) {
            run(ZstdStep::sequences, params);
            run(ZstdStep::literals, params);
        }
        params.begin = 0;
        repeat(ZstdStep::place, dispatches(blocks, SLUICE_ZS_SERIAL_TURNS));
        if (zstdExpands(info, tuning)) {
            // A workgroup makes the region's bytes in groups. Each group begins at a multiple of 4,
            // which costs up to 3 of its bytes, and ends at the latest where its block ends. So
            // this bounds the number of groups.
            repeat(ZstdStep::expand,
                   dispatches(blocks + size / (group - 3), SLUICE_ZS_EXPAND_TURNS));
        } else {
            runBytes(SLUICE_ZS_LINK);
            // A chain of copies has fewer links than the region has bytes. Each pass follows 8
            // times as many links as the pass before.
            for (uint64_t hops = 1; hops < size; hops *= SLUICE_ZS_HOPS)
                runBytes(SLUICE_ZS_FOLLOW);
            runBytes(SLUICE_ZS_FINISH);
        }
        const bool checksums = (params.flags & SLUICE_ZS_FLAG_CHECKSUMS) != 0;
        repeat(ZstdStep::hash, checksums ? dispatches(2 * blocks + size / SLUICE_ZS_HASH_BYTES,
                                                      SLUICE_ZS_HASH_TURNS)
                                         : 1);
    };
    if (info.dictionary.size != 0 && info.maxRegionCount != 0) {
        ZstdParams reads = params;
        reads.pass = SLUICE_ZS_READ_DICTIONARY;
        reads.roundRegions = reads.slots = reads.groups = 1;
        run(ZstdStep::literals, reads);
    }
    const uint32_t round = zstdRoundRegions(info, tuning), slots = zstdSlots(info, tuning);
    for (uint64_t first = 0; first < info.maxRegionCount; first += round) {
        params.firstRegion = uint32_t(first);
        params.roundRegions = uint32_t(std::min<uint64_t>(round, info.maxRegionCount - first));
        params.slots = std::min(slots, params.roundRegions);
        if (params.roundRegions > params.fullSlots)
            repeat(ZstdStep::walk, dispatches(blocks + frames, SLUICE_ZS_SERIAL_TURNS),
                   SLUICE_ZS_MEASURE);
        for (uint32_t done = 0; done < params.roundRegions; done += params.fullSlots) {
            params.pass = SLUICE_ZS_BEGIN | (done == 0 ? SLUICE_ZS_FIRST : 0);
            runAll(ZstdStep::order, params);
            runTurn();
        }
    }
}

} // namespace sluice
