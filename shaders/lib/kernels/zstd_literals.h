// SPDX-License-Identifier: MIT OR Apache-2.0
// The step of the Zstandard decode that decodes literals: their Huffman trees and their streams
// (phases 2 and 3 in docs/format.md, 12.3). A lane group takes one block at a time. It builds a
// table with an entry for each value of the next bits, and decodes the streams with it
// (zstd_streams.h). If a block uses the tree of an earlier block, its table is built again.
//
// In a dispatch before all other steps, one lane group reads the dictionary.
//
// The includer includes zstd_tree.h and then provides what fse.h needs.
#ifndef SLUICE_KERNELS_ZSTD_LITERALS_H
#define SLUICE_KERNELS_ZSTD_LITERALS_H

#include "zstd_slot.h"
#include "zstd_streams.h"

SLUICE_KERNEL_BEGIN

SLUICE_SHARED u32 sZstdWeights[kGroupsPerWorkgroup * 64u]; // a byte for each symbol
// For each weight: in bits 0-15 the least value of the next bits that begins with one of its
// codewords, from bit 16 on the number of symbols with smaller weights, not counting weight 0.
SLUICE_SHARED u32 sZstdStarts[kGroupsPerWorkgroup * 16u];
SLUICE_CONSTANT u32 kGiven = 5u; // words that lane 0 passes to the other lanes
SLUICE_SHARED u32 sZstdGiven[kGroupsPerWorkgroup * kGiven];

// One lane calls this. Reads weights from the `size` bytes at offset `at` of the source. Their FSE
// table of 2^log states is in the first words of the lane group's sZstdTable. Two states alternate.
// When one of them needs more bits than are left, its symbol and then the symbol of the other state
// are the last weights. Returns the number of weights, or 0 if they are invalid.
SLUICE_DEVICE u32 zstdFseWeights(SLUICE_IN(ZstdSlot) z, u32 groupHere, u32 log, u32 at, u32 size) {
    ZstdBits bits = zstdBits(z, at, size);
    int position = bits.end - int(2u * log);
    if (!bits.valid || position < bits.begin) return 0u;
    u32 window = zstdWindow(bits, position), own = lowBits(window >> log, log),
        other = lowBits(window, log), count = 0u, word = 0u;
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < SLUICE_ZS_MAX_WEIGHTS && position >= bits.begin; i += 4u) {
        // Four weights take 24 bits at most, so one window of 32 bits serves them.
        window = zstdWindow(bits, position - 32);
        word = 0u;
        SLUICE_UNROLL
        for (u32 k = 0u; k < 4u; ++k) {
            if (position >= bits.begin && count < SLUICE_ZS_MAX_WEIGHTS) {
                u32 state = sZstdTable[groupHere * kZstdTable + own], n = state >> 16;
                word |= (state >> 8 & 255u) << 8u * k;
                own = other;
                other = (state & 255u) + (window >> 1 >> (31u - n));
                window <<= n;
                position -= int(n);
                ++count;
            }
        }
        sZstdWeights[groupHere * 64u + (i >> 2)] = word;
    }
    if (position >= bits.begin || count == SLUICE_ZS_MAX_WEIGHTS) return 0u;
    if ((count & 3u) == 0u) word = 0u;
    word |= (sZstdTable[groupHere * kZstdTable + own] >> 8 & 255u) << (count & 3u) * 8u;
    sZstdWeights[groupHere * 64u + (count >> 2)] = word;
    return count + 1u;
}

// Holds what zstdWeights reads in a tree's description.
struct ZstdTree {
    u32 status;
    u32 log;
    u32 bytes; // of the description
};

// Puts the weights of the tree at offset `at` of the source into sZstdWeights; `count` receives
// their number. maxLog: the most bits of a codeword. entries: scratch in which fseRead stores a
// description.
SLUICE_DEVICE ZstdTree zstdWeights(SLUICE_IN(ZstdSlot) z, u32 groupHere, bool on, u32 at, u32 size,
                                   u32 maxLog, u64 entries, SLUICE_OUT(u32, count)) {
    u32 lane = lgLane(), given = groupHere * kGiven,
        header = on && size != 0u ? zstdByte(z, at) : 0u;
    ZstdTree tree;
    tree.bytes = 1u + (header < 128u ? header : (header - 126u) >> 1);
    tree.log = 0u;
    tree.status = size == 0u || tree.bytes > size ? SLUICE_ST_TRUNCATED : SLUICE_ST_OK;
    count = header - 127u;
    bool coded = on && tree.status == SLUICE_ST_OK && header < 128u;
    lgBarrierShared();
    SLUICE_UNROLL
    for (u32 k = 0u; k < 2u; ++k) {
        // Weights without an FSE code have 4 bits each, the higher half of a byte first.
        u32 first = lane * 8u + 4u * k, word = 0u;
        if (on && header >= 128u && tree.status == SLUICE_ST_OK && first < count)
            word = zstdWord(z, at + 1u + first / 2u);
        u32 weights = (word >> 4 & 15u) | (word & 15u) << 8 | (word >> 12 & 15u) << 16 |
                      (word >> 8 & 15u) << 24;
        u32 there = first < count ? min(count - first, 4u) : 0u;
        sZstdWeights[groupHere * 64u + lane * 2u + k] =
            there < 4u ? lowBits(weights, 8u * there) : weights;
    }
    lgBarrierShared();
    if (!wgAny(coded)) return tree;
    if (coded && lane == 0u) {
        FseDescription d;
        d.status = SLUICE_ST_TRUNCATED;
        d.log = d.entries = d.bytes = 0u;
        if (header != 0u)
            d = fseRead(add64(z.words, wide(z.shift + at + 1u)), header, maxLog + 1u,
                        SLUICE_ZS_WEIGHT_LOG, 1u << SLUICE_ZS_WEIGHT_LOG, entries);
        sZstdGiven[given] = d.status;
        sZstdGiven[given + 1u] = d.log;
        sZstdGiven[given + 2u] = d.entries;
        sZstdGiven[given + 3u] = d.bytes;
    }
    lgBarrierAll();
    if (coded) tree.status = sZstdGiven[given];
    bool builds = coded && tree.status == SLUICE_ST_OK;
    u32 log = builds ? sZstdGiven[given + 1u] : SLUICE_FSE_LOG_MIN,
        rows = builds ? sZstdGiven[given + 2u] : 0u, read = sZstdGiven[given + 3u];
    if (!wgAny(builds)) return tree;
    FseTable table = fseBegin(slotMemory(groupHere), groupHere, builds, log);
    bool has = lane < rows;
    u32 entry = has ? loadStoredWord(entries, lane) : 0u;
    fseRow(table, has, entry & 255u, entry >> 8 & 1023u, entry >> 31 != 0u);
    fseStates(table, builds, 4u, wide(groupHere * kZstdTable));
    lgBarrierShared();
    if (builds && lane == 0u)
        sZstdGiven[given + 4u] = zstdFseWeights(z, groupHere, log, at + 1u + read, header - read);
    lgBarrierShared();
    if (builds) {
        count = sZstdGiven[given + 4u];
        if (count == 0u) tree.status = SLUICE_ST_BAD_CODE;
    }
    return tree;
}

// Returns weight i, 0 to 7, of the eight weights in the bytes of `low` and `high`.
SLUICE_DEVICE u32 zstdWeightOf(u32 low, u32 high, u32 i) {
    return (i < 4u ? low : high) >> (i & 3u) * 8u & 255u;
}

// Returns the first codeword of `value`, the next `log` bits of a stream: its length from bit 0 on,
// its symbol from bit 8 on.
SLUICE_DEVICE u32 zstdCode(u32 groupHere, u32 log, u32 value) {
    u32 starts = groupHere * 16u, weight = 0u;
    SLUICE_UNROLL
    for (u32 step = 8u; step != 0u; step >>= 1)
        weight += (sZstdStarts[starts + weight + step] & 0xffffu) <= value ? step : 0u;
    u32 from = sZstdStarts[starts + weight],
        at = (from >> 16) + ((value - (from & 0xffffu)) >> ((weight - 1u) & 31u));
    return (log + 1u - weight) | symbolAt(slotMemory(groupHere), at & 255u) << 8;
}

// Builds the table that zstdEntry reads, from `count` weights. The last symbol's weight is not in
// the stream: it is the one that makes the sum of all 2^(weight - 1) a power of 2. `log` receives
// the length of the longest codeword. Returns whether the weights are valid.
SLUICE_DEVICE bool zstdBuild(u32 groupHere, bool on, u32 count, u32 maxLog, SLUICE_OUT(u32, log)) {
    SlotMemory memory = slotMemory(groupHere);
    u32 lane = lgLane(), starts = groupHere * 16u, before, sum;
    u32 low = sZstdWeights[groupHere * 64u + 2u * lane],
        high = sZstdWeights[groupHere * 64u + 2u * lane + 1u], own = 0u;
    bool bad = false;
    SLUICE_UNROLL
    for (u32 i = 0u; i < 8u; ++i) {
        u32 weight = zstdWeightOf(low, high, i);
        own += 1u << weight >> 1;
        bad = bad || weight > maxLog;
    }
    lgScan(own, before, sum);
    u32 wrong = lgBallot(bad); // all lane groups must take part, whatever `on` is
    on = on && wrong == 0u && sum != 0u;
    u32 highest = u32(findMSB(max(sum, 1u))), rest = (2u << highest) - sum;
    log = highest + 1u;
    on = on && log <= maxLog && (rest & (rest - 1u)) == 0u;
    if (count >> 3 == lane) {
        u32 weight = (u32(findMSB(max(rest, 1u))) + 1u) << (count & 3u) * 8u;
        low |= (count & 4u) == 0u ? weight : 0u;
        high |= (count & 4u) != 0u ? weight : 0u;
    }
    // The longest codewords have the least values; those of one length are in order of symbols.
    u32 start = 0u, rank = 0u,
        lengths = SLUICE_ZS_MAX_CODE_LENGTH + (wgAny(maxLog > SLUICE_ZS_MAX_CODE_LENGTH) ? 1u : 0u);
    bool longest = false;
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < lengths; ++k) {
        u32 weight = k + 1u, total;
        own = 0u;
        SLUICE_UNROLL
        for (u32 i = 0u; i < 8u; ++i)
            own += zstdWeightOf(low, high, i) == weight ? 1u : 0u;
        lgScan(own, before, total);
        u32 at = rank + before;
        SLUICE_UNROLL
        for (u32 i = 0u; i < 8u; ++i) {
            bool here = on && zstdWeightOf(low, high, i) == weight;
            if (here) setSymbol(memory, at & 255u, lane * 8u + i);
            at += here ? 1u : 0u;
        }
        if (lane == 0u) sZstdStarts[starts + weight] = start | rank << 16;
        longest = longest || (k == 0u && total != 0u);
        start += total << k;
        rank += total;
    }
    // Sentinels for unused weights: zstdCode compares them with values that are always smaller.
    if (lane == 0u || (lane > lengths && lane < 16u))
        sZstdStarts[starts + lane] = lane == 0u ? 0u : 0xffffu;
    lgBarrierShared();
    on = on && longest;
    u32 tableLog = min(log, SLUICE_ZS_MAX_CODE_LENGTH), words = on ? 1u << tableLog >> 1 : 0u;
    // Unrolled, so that the searches of several rows overlap.
    SLUICE_UNROLL_BY(4)
    for (u32 row = 0u; row < words; row += 32u) {
        u32 word = 0u;
        if (row + lane >= words) continue;
        SLUICE_UNROLL
        for (u32 k = 0u; k < 2u; ++k)
            word |= zstdCode(groupHere, log, (2u * (row + lane) + k) << (log - tableLog))
                    << 16u * k;
        sZstdTable[groupHere * kZstdTable + row + lane] = word;
    }
    lgBarrierShared();
    return on;
}

// One lane calls this. Reads what follows the tree of a trained dictionary, and stores the words
// SLUICE_ZS_DICTIONARY_* of this or of a raw dictionary.
SLUICE_DEVICE void zstdReadDictionary(SLUICE_IN(ZstdSlot) z, bool trained, SLUICE_IN(ZstdTree) tree,
                                      u64 entries) {
    u32 status = trained ? tree.status : SLUICE_ST_OK,
        at = trained ? SLUICE_ZS_DICTIONARY_HEADER + tree.bytes : 0u;
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < SLUICE_ZS_TABLES && trained && status == SLUICE_ST_OK; ++i) {
        u32 kind = i == 0u   ? SLUICE_ZS_OFFSETS
                   : i == 1u ? SLUICE_ZS_MATCH_LENGTHS
                             : SLUICE_ZS_LITERAL_LENGTHS;
        FseDescription d = fseRead(add64(z.words, wide(at)), z.size - at, zstdSymbols(kind),
                                   zstdMostLog(kind), SLUICE_ZS_MAX_STATES, entries);
        storeWord(z.dictionaryHead, SLUICE_ZS_DICTIONARY_TABLES + kind, at);
        status = d.status;
        at += d.bytes;
    }
    trained = trained && status == SLUICE_ST_OK;
    if (trained && z.size - at < 4u * SLUICE_ZS_REPEATS) status = SLUICE_ST_TRUNCATED;
    u32 content = z.size - at - 4u * SLUICE_ZS_REPEATS;
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < SLUICE_ZS_REPEATS; ++i) {
        u32 offset = trained ? zstdWord(z, at + 4u * i) : SLUICE_ZS_FIRST_REPEATS >> 8u * i & 255u;
        storeWord(z.dictionaryHead, SLUICE_ZS_DICTIONARY_REPEATS + i, offset);
        if (trained && status == SLUICE_ST_OK && offset - 1u >= content)
            status = SLUICE_ST_BAD_OFFSET;
    }
    bool good = status == SLUICE_ST_OK;
    storeWord(z.dictionaryHead, SLUICE_ZS_DICTIONARY_STATUS, status);
    storeWord(z.dictionaryHead, SLUICE_ZS_DICTIONARY_ID, trained ? zstdWord(z, 4u) : 0u);
    storeWord(z.dictionaryHead, SLUICE_ZS_DICTIONARY_HAS_TABLES, trained ? 1u : 0u);
    storeWord(z.dictionaryHead, SLUICE_ZS_DICTIONARY_CONTENT,
              good && trained ? at + 4u * SLUICE_ZS_REPEATS : 0u);
}

// Builds the table of a block's Huffman code and decodes its literals. With `reads`, which is the
// same for all lane groups, a lane group reads the dictionary instead. Then there are no blocks yet.
SLUICE_DEVICE void zstdBlockLiterals(SLUICE_IN(ZstdSlot) z, u32 groupHere, bool on, bool reads,
                                     u32 block, u64 entries) {
    u32 owner =
        reads ? SLUICE_ZS_OWNER_DICTIONARY : zstdBlockWord(z, block, SLUICE_ZS_BLOCK_OWNERS);
    bool own = owner == block, given = owner == SLUICE_ZS_OWNER_DICTIONARY;
    u32 treeAt = SLUICE_ZS_DICTIONARY_HEADER, treeBytes = z.dictionarySize - treeAt,
        maxLog = given ? SLUICE_ZS_DICTIONARY_CODE_LENGTH : SLUICE_ZS_MAX_CODE_LENGTH, count, log;
    ZstdSlot from = z;
    if (given) {
        from = zstdDictionarySlot(z);
    } else {
        treeAt = zstdBlockWord(z, owner, SLUICE_ZS_BLOCK_LITERALS);
        treeBytes = zstdBlockWord(z, owner, SLUICE_ZS_BLOCK_LITERAL_BYTES);
    }
    bool trained = reads && z.dictionarySize >= SLUICE_ZS_DICTIONARY_HEADER &&
                   zstdWord(from, 0u) == SLUICE_ZS_DICTIONARY_MAGIC;
    bool here = on;
    if (reads) on = on && trained;
    ZstdTree tree = zstdWeights(from, groupHere, on, treeAt, treeBytes, maxLog, entries, count);
    bool builds = on && tree.status == SLUICE_ST_OK;
    bool built = zstdBuild(groupHere, builds, builds ? count : 0u, maxLog, log);
    if (builds && !built) tree.status = SLUICE_ST_BAD_CODE;
    if (reads) {
        if (here && lgLane() == 0u) zstdReadDictionary(from, trained, tree, entries);
        on = false;
    }
    // If the tree belongs to another block, that block reports the fault.
    if (on && own && tree.status != SLUICE_ST_OK && lgLane() == 0u)
        zstdFault(z, SLUICE_ZS_PHASE_TABLES, block, 0u, tree.status);
    u32 decodes = on && tree.status == SLUICE_ST_OK ? 1u : 0u;
    on = lgUniform(decodes) != 0u;
    if (!wgAny(on)) return;
    u32 skipped = own ? tree.bytes : 0u, streams = (zstdBlockWord(z, block, SLUICE_ZS_BLOCK_INFO) &
                                                    SLUICE_ZS_INFO_FOUR_STREAMS) != 0u
                                                       ? 4u
                                                       : 1u;
    if (zstdStreams(
            z, groupHere, on, log, zstdBlockWord(z, block, SLUICE_ZS_BLOCK_LITERALS) + skipped,
            zstdBlockWord(z, block, SLUICE_ZS_BLOCK_LITERAL_BYTES) - skipped,
            zstdBlockWord(z, block, SLUICE_ZS_BLOCK_LITERALS_AT),
            min(zstdBlockWord(z, block, SLUICE_ZS_BLOCK_SIZE), SLUICE_ZS_BLOCK_BYTES), streams))
        zstdFault(z, SLUICE_ZS_PHASE_SYMBOLS, block, 0u, SLUICE_ST_BAD_CODE);
}

// Gives the region of entry `at` of the turn's list of blocks the status INTERNAL.
SLUICE_DEVICE void zstdLiteralsStopped(SLUICE_IN(ZstdParams) p, u32 at, u32 total) {
    u32 own = at < total ? zstdOrdered(p, at) : SLUICE_ZS_NO_BLOCK;
    if (own == SLUICE_ZS_NO_BLOCK) return;
    ZstdSlot z = zstdSlot(p, own / p.maxBlocks);
    zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
}

// `group` is the lane group's number in the dispatch, groupHere its number in the workgroup.
SLUICE_DEVICE void zstdLiterals(SLUICE_IN(ZstdParams) p, u32 group, u32 groupHere) {
    u32 groups = p.slots * p.groups, first = p.begin * SLUICE_ZS_BLOCK_TURNS * groups + group,
        before, total;
    lgScan(loadStoredWord(zstdTurn(p), SLUICE_ZS_TURN_BINS + lgLane()), before, total);
    bool reads = p.pass == SLUICE_ZS_READ_DICTIONARY;
    if (reads) total = 1u;
    if (group >= groups) total = 0u;
    u64 entries = zstdEntries(p, groups + min(group, groups - 1u));
    SLUICE_DONT_UNROLL
    for (u32 turn = 0u; turn < SLUICE_ZS_BLOCK_TURNS; ++turn) {
        u32 at = first + turn * groups;
        if (!wgAny(at < total)) break;
        u32 own = at < total && !reads ? zstdOrdered(p, at) : 0u;
        bool here = at < total && own != SLUICE_ZS_NO_BLOCK;
        if (!here) own = 0u;
        u32 block = own % p.maxBlocks;
        ZstdSlot z = zstdSlot(p, own / p.maxBlocks);
        bool on =
            here && (reads || (zstdGoesOn(z, SLUICE_ZS_PHASE_TABLES) && zstdHasHuffman(z, block)));
        // A fault of another lane group may come between the loads of two lanes.
        on = lgBallot(on) != 0u;
        if (wgAny(on)) zstdBlockLiterals(z, groupHere, on, reads, on ? block : 0u, entries);
    }
    if (lgLoopsGoOn() || lgLane() != 0u) return;
    // A driver has left a loop early, and so perhaps the loop over blocks too. There is no loop
    // here: a lane group has SLUICE_ZS_BLOCK_TURNS blocks, which are two.
    if (!reads) {
        zstdLiteralsStopped(p, first, total);
        zstdLiteralsStopped(p, first + groups, total);
    } else if (group == 0u) { // regions have no heads yet that could take a fault
        storeWord(u64Of(p.scratch), SLUICE_ZS_DICTIONARY_STATUS, SLUICE_ST_INTERNAL);
    }
}

SLUICE_KERNEL_END
#endif
