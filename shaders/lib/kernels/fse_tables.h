// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds FSE tables from descriptions or from counts. A lane group builds tablesPerGroup tables.
// First each lane reads one description and stores the symbols where the table's states will be.
// Then the whole lane group builds the tables one by one (fse.h).
//
// The includer provides what fse.h needs, and regions (region_params.glsl, region.cuh). It also
// defines slotMemory(group), which returns where a lane group's slots are in shared memory;
// countAt(source, symbol), which reads a count; and writeStates, which calls fseStates.
#ifndef SLUICE_KERNELS_FSE_TABLES_H
#define SLUICE_KERNELS_FSE_TABLES_H

#include "fse.h"

SLUICE_KERNEL_BEGIN

// A table begins with a word (fseHeader): in its low half the number of bytes of the description,
// from bit 16 on log2 of the number of states, from bit 24 on the last symbol. The states follow.
SLUICE_CONSTANT u32 kFseHeader = 4u;

SLUICE_DEVICE u32 fseHeader(u32 bytes, u32 log, u32 lastSymbol) {
    return bytes | log << 16 | lastSymbol << 24;
}

// Returns how many states fit into `room` bytes behind the header.
SLUICE_DEVICE u32 statesIn(u64 room) {
    u32 bytes = lowWord(room);
    return bytes < kFseHeader ? 0u : (bytes - kFseHeader) / 4u;
}

// Returns SLUICE_ST_OK if the region is allowed, otherwise its status. `counts` says that its
// source is a list of 16-bit counts.
SLUICE_DEVICE u32 checkRegion(SLUICE_IN(FseTablesParams) p, SLUICE_IN(Region) region, bool counts) {
    bool good = sourceInside(p, region, 0xffffffffu) &&
                destinationAllowed(p, region, 0xffffffffu) &&
                !(counts && ((lowWord(region.source) | lowWord(region.sourceSize)) & 1u) != 0u);
    if (!good) return SLUICE_ST_BAD_REGION;
    return counts && lowWord(region.sourceSize) / 2u > p.maxSymbols ? SLUICE_ST_BAD_CODE
                                                                    : SLUICE_ST_OK;
}

// Checks the counts and finds log2 of their sum and the last symbol that occurs. All lanes of the
// lane group call it; each looks at every 32nd count. Returns a status.
SLUICE_DEVICE u32 checkCounts(SLUICE_IN(FseTablesParams) p, SLUICE_IN(Region) region, bool on,
                              SLUICE_OUT(u32, log), SLUICE_OUT(u32, lastSymbol)) {
    u32 symbols = on ? lowWord(region.sourceSize) / 2u : 0u, sum = 0u, bad = 0u;
    lastSymbol = 0u;
    for (u32 row = 0u; wgAny(row < symbols); row += 32u) {
        u32 symbol = row + lgLane(), total;
        int count = symbol < symbols ? countAt(region.source, symbol) : 0;
        u32x2 votes = lgBallot2Sum(count < -1, count != 0, u32(abs(count)), total);
        bad |= votes.x;
        if (votes.y != 0u) lastSymbol = row + u32(findMSB(votes.y));
        sum += total;
    }
    sum = lgUniform(sum);
    log = u32(findMSB(max(sum, 1u)));
    if (bad != 0u || sum != 1u << log || log < SLUICE_FSE_LOG_MIN || log > p.maxLog)
        return SLUICE_ST_BAD_CODE;
    return 1u << log > statesIn(region.size) ? SLUICE_ST_TOO_LONG : SLUICE_ST_OK;
}

// Reads the description of table `index`. Returns a word with the number of its entries in the
// lowest 9 bits, log2 of its number of states from bit 9 on, and a status from bit 13 on.
SLUICE_DEVICE u32 readDescription(SLUICE_IN(FseTablesParams) p, u32 index) {
    Region region = loadRegion(p, index);
    u32 status = checkRegion(p, region, false);
    if (status != SLUICE_ST_OK) return status << 13;
    FseDescription d = fseRead(region.source, lowWord(region.sourceSize), p.maxSymbols, p.maxLog,
                               statesIn(region.size), add64(region.destination, kFseHeader));
    if (d.status == SLUICE_ST_OK)
        storeWord(region.destination, 0u, fseHeader(d.bytes, d.log, d.lastSymbol));
    return d.entries | (d.log & 15u) << 9 | d.status << 13;
}

// Builds the tables of one lane group. `group` is the lane group's number in the dispatch,
// groupHere its number in the workgroup. With `counts`, a source is an array of the symbols'
// normalized counts instead of an encoded description of them.
SLUICE_DEVICE void fseTables(SLUICE_IN(FseTablesParams) p, u32 group, u32 groupHere, bool counts) {
    u32 first = group * p.tablesPerGroup, last = regionCount(p), known = 0u;
    u32 symbolBits = u32(findMSB((p.maxSymbols - 1u) | 1u)) + 1u;
    if (!counts && lgLane() < p.tablesPerGroup && first + lgLane() < last)
        known = readDescription(p, first + lgLane());
    lgBarrierAll();
    for (u32 t = 0u; t < p.tablesPerGroup && wgAny(first + t < last); ++t) {
        u32 index = first + t, status = SLUICE_ST_BAD_REGION, log, entries;
        bool enabled = index < last;
        Region region = loadRegion(p, enabled ? index : 0u);
        if (counts) {
            u32 lastSymbol;
            if (enabled) status = checkRegion(p, region, true);
            bool good = status == SLUICE_ST_OK;
            u32 checked = checkCounts(p, region, good, log, lastSymbol);
            status = good ? checked : status;
            u32 bytes = lowWord(region.sourceSize);
            entries = bytes / 2u;
            if (status == SLUICE_ST_OK && lgLane() == 0u)
                storeWord(region.destination, 0u, fseHeader(bytes, log, lastSymbol));
        } else {
            lgShare(known);
            u32 read = lgShared(known, t);
            entries = read & 511u;
            log = read >> 9 & 15u;
            if (enabled) status = read >> 13;
        }
        bool on = status == SLUICE_ST_OK;
        if (wgAny(on)) {
            log = on ? log : SLUICE_FSE_LOG_MIN;
            entries = on ? entries : 0u;
            u64 states = add64(region.destination, kFseHeader);
            FseTable table = fseBegin(slotMemory(groupHere), groupHere, on, log);
            SLUICE_DONT_UNROLL
            for (u32 row = 0u; wgAny(row < entries); row += 32u) {
                u32 at = row + lgLane(), symbol = at, count = 0u;
                bool has = at < entries, low = false;
                if (has && counts) {
                    int signedCount = countAt(region.source, at);
                    low = signedCount < 0;
                    count = u32(signedCount);
                    has = count != 0u;
                } else if (has) {
                    u32 entry = loadStoredWord(states, at);
                    symbol = entry & 255u;
                    count = entry >> 8 & 1023u;
                    low = entry >> 31 != 0u;
                }
                fseRow(table, has, symbol, count, low);
            }
            writeStates(table, on, symbolBits, states);
        }
        if (!lgLoopsGoOn()) status = SLUICE_ST_INTERNAL;
        if (enabled && lgLane() == 0u) writeStatus(p.status, p.maxRegionCount, index, status);
    }
}

SLUICE_KERNEL_END
#endif
