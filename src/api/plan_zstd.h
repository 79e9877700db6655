// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of the Zstandard decode. Regions are decoded in turns. A turn has as many regions as
// scratch has slots; shaders/lib/layout/zstd.h says what a slot holds. All dispatches of a turn are
// known from the sizes alone, since each of them does a bounded amount of work and those that have
// nothing left to do end at once.
#pragma once

#include <sluice/sluice_zstd.h>

#include "layout/zstd.h"
#include "api/plan_regions.h"
#include "api/tuning_text.h"

#include <algorithm>

namespace sluice {

// The numbers of a backend's tuning table.
struct ZstdTuning {
    // A workgroup makes the bytes of a region in order if regions have up to this many. Larger ones
    // are made all at once by following links, which moves some 100 bytes for each of them, but
    // keeps a GPU busy with a single region.
    uint32_t expandBytes;
    // regionsAtOnce = 0 stands for as many regions as take this many MiB of scratch.
    uint32_t scratchMegabytes;
    // Where a turn has at least this many blocks with sequences, teams of lane groups decode
    // several at once, as many as they have memory for where it has four times as many blocks.
    uint32_t spread;
    // How many of the decode's steps are recorded, the first ones, so that the benchmark can time
    // them; kZstdSteps: all.
    uint32_t steps;
};
constexpr uint32_t kZstdSteps = 8;
#define SLUICE_ZSTD_TUNING_FIELDS(Row)                                                             \
    SLUICE_TUNING_FIELD(Row, zstd.expandBytes, 0, UINT32_MAX),                                     \
        SLUICE_TUNING_FIELD(Row, zstd.scratchMegabytes, 0, 1u << 20),                              \
        SLUICE_TUNING_FIELD(Row, zstd.spread, 1, UINT32_MAX),                                      \
        SLUICE_TUNING_FIELD(Row, zstd.steps, 1, kZstdSteps)

inline uint32_t zstdMaxBlocks(const SluiceZstdInfo& info)
{
    return info.maxBlocks != 0
               ? info.maxBlocks
               : std::min(SLUICE_ZS_MAX_BLOCKS,
                          SLUICE_ZS_EXTRA_BLOCKS + info.maxRegionSize / SLUICE_ZS_BYTES_PER_BLOCK);
}

// Returns whether the bytes of regions are made in order.
inline bool zstdExpands(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    return info.maxRegionSize <= tuning.expandBytes;
}

// Returns how many lane groups a region would have in a turn of its own.
inline uint32_t zstdMostGroups(const SluiceZstdInfo& info)
{
    constexpr uint32_t least = 64, bytesPerGroup = 4096, blocksPerGroup = 16;
    return std::min(zstdMaxBlocks(info), std::max(least + info.maxRegionSize / bytesPerGroup,
                                                  zstdMaxBlocks(info) / blocksPerGroup));
}

inline uint64_t zstdSlotSize(const SluiceZstdInfo& info, const ZstdTuning& tuning, uint32_t groups)
{
    const uint64_t words = (uint64_t(info.maxRegionSize) + 3) / 4,
                   size = SLUICE_ZS_ENTRIES_AT(zstdMaxBlocks(info)) +
                          2 * uint64_t(SLUICE_ZS_ENTRY_BYTES) * groups + 4 * words +
                          uint64_t(SLUICE_ZS_LITERALS_EXTRA) * zstdMaxBlocks(info) +
                          8 * (uint64_t(info.maxRegionSize) / SLUICE_ZS_MIN_MATCH + 1) +
                          (zstdExpands(info, tuning) ? 0 : 16 * words);
    return (size + 15) / 16 * 16;
}

inline uint32_t zstdSlots(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    // These bound the work of a turn (docs/notes/zstd.md), and numbers of blocks to 31 bits.
    constexpr uint64_t words = 1u << 28, blocks = 1u << 31;
    const uint64_t byDefault = (uint64_t(tuning.scratchMegabytes) << 20) /
                               zstdSlotSize(info, tuning, zstdMostGroups(info));
    return uint32_t(
        std::min({uint64_t(info.maxRegionCount),
                  info.regionsAtOnce == 0 ? std::max<uint64_t>(byDefault, 1) : info.regionsAtOnce,
                  std::max<uint64_t>(words / (info.maxRegionSize / 4 + 1), 1),
                  blocks / zstdMaxBlocks(info)}));
}

// Returns how many lane groups share the blocks of a region. Those of all regions are limited,
// which bounds a dispatch; a region of more than 2^28 bytes has fewer.
inline uint32_t zstdGroups(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    const uint32_t most =
        info.maxRegionSize > 1u << 28 ? 1024 : (1u << 15) / std::max(zstdSlots(info, tuning), 1u);
    return std::min(zstdMostGroups(info), std::max(most, 1u));
}

inline uint64_t zstdSlotSize(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    return zstdSlotSize(info, tuning, zstdGroups(info, tuning));
}

inline SluiceRequirements zstdScratch(const SluiceZstdInfo& info, const ZstdTuning& tuning)
{
    if (info.maxRegionCount == 0) return {0, 16, 0};
    return {SLUICE_ZS_DICTIONARY_BYTES + SLUICE_ZS_TURN_BYTES +
                zstdSlots(info, tuning) * zstdSlotSize(info, tuning),
            16, 0};
}

// addressOf is as in plan_regions.h.
template <typename AddressOf>
ZstdParams zstdParams(const SluiceZstdInfo& info, const ZstdTuning& tuning,
                      const AddressOf& addressOf)
{
    ZstdParams params = {};
    setRegionList(params, info, addressOf);
    params.scratch = pair(addressOf(info.scratch));
    params.slotBytes = pair(zstdSlotSize(info, tuning));
    params.dictionary = pair(addressOf(info.dictionary));
    params.dictionarySize = uint32_t(info.dictionary.size);
    params.maxRegionBytes = info.maxRegionSize;
    params.maxBlocks = zstdMaxBlocks(info);
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

// Returns how many lane groups a dispatch takes that decodes blocks.
inline uint64_t zstdLaneGroups(const ZstdParams& params)
{
    return uint64_t(params.slots) * params.groups;
}
// Returns how many words all regions of a turn have.
inline uint64_t zstdWords(const ZstdParams& params)
{
    return uint64_t(params.slots) * ((params.maxRegionBytes + 3) / 4);
}
constexpr uint64_t kZstdWordsAtOnce = 1u << 24;
// Returns how many invocations a dispatch takes that makes bytes.
inline uint32_t zstdThreads(const ZstdParams& params)
{
    return uint32_t(std::min(zstdWords(params) - params.begin, kZstdWordsAtOnce));
}

// Returns how many invocations the steps `order` and `place` take, which are one kernel.
inline uint32_t zstdPlaceThreads(const ZstdParams& params)
{
    return params.pass < SLUICE_ZS_CLEAR    ? params.slots
           : params.pass == SLUICE_ZS_CLEAR ? SLUICE_ZS_TURN_BYTES / 4
                                            : params.slots * params.maxBlocks;
}

// Calls run(step, params) for each dispatch, in order. Each must wait for the one before, but for
// the literals, which need not wait for the sequences. `group` is how many bytes a workgroup of the
// step `expand` makes at a time.
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
        return uint32_t(turns / each + 1); // one turn may be needed to see that nothing is left
    };
    const auto repeat = [&](ZstdStep step, uint32_t times) {
        for (uint32_t i = 0; i < times; ++i) {
            params.pass = (i == 0 ? SLUICE_ZS_FIRST : 0) | (i + 1 == times ? SLUICE_ZS_LAST : 0);
            run(step, params);
        }
    };
    const bool checksums = (info.flags & SLUICE_ZSTD_CHECKSUMS) != 0;
    const uint32_t slots = zstdSlots(info, tuning);
    if (info.dictionary.size != 0 && info.maxRegionCount != 0) {
        ZstdParams reads = params;
        reads.pass = SLUICE_ZS_READ_DICTIONARY;
        reads.slots = reads.groups = 1;
        run(ZstdStep::literals, reads);
    }
    for (uint64_t first = 0; first < info.maxRegionCount; first += slots) {
        params.firstRegion = uint32_t(first);
        params.slots = uint32_t(std::min<uint64_t>(slots, info.maxRegionCount - first));
        repeat(ZstdStep::walk, dispatches(blocks + frames, SLUICE_ZS_SERIAL_TURNS));
        for (const uint32_t pass : {SLUICE_ZS_CLEAR, SLUICE_ZS_COUNT, SLUICE_ZS_ORDER}) {
            params.pass = pass;
            run(ZstdStep::order, params);
        }
        params.pass = 0;
        for (uint64_t block = 0; block < blocks; block += params.groups * SLUICE_ZS_BLOCK_TURNS) {
            params.begin = uint32_t(block);
            run(ZstdStep::sequences, params);
            run(ZstdStep::literals, params);
        }
        params.begin = 0;
        repeat(ZstdStep::place, dispatches(blocks, SLUICE_ZS_SERIAL_TURNS));
        const auto runBytes = [&](uint32_t pass) {
            params.pass = pass;
            const uint64_t words = zstdWords(params);
            for (uint64_t word = 0; word < words; word += kZstdWordsAtOnce) {
                params.begin = uint32_t(word);
                run(ZstdStep::bytes, params);
            }
            params.begin = 0;
        };
        if (zstdExpands(info, tuning)) {
            // A group begins at a word and ends with its block.
            repeat(ZstdStep::expand,
                   dispatches(blocks + size / (group - 3), SLUICE_ZS_EXPAND_TURNS));
        } else {
            runBytes(SLUICE_ZS_LINK);
            // A chain of copies has fewer hops than the region has bytes, and each pass makes 8
            // times as many hops as the one before.
            for (uint64_t hops = 1; hops < size; hops *= SLUICE_ZS_HOPS)
                runBytes(SLUICE_ZS_FOLLOW);
            runBytes(SLUICE_ZS_FINISH);
        }
        repeat(ZstdStep::hash, checksums ? dispatches(2 * blocks + size / SLUICE_ZS_HASH_BYTES,
                                                      SLUICE_ZS_HASH_TURNS)
                                         : 1);
    }
}

} // namespace sluice
