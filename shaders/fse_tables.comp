// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables from descriptions or counts, a lane group for tablesPerGroup of them: first each lane
// reads one description, then the group builds the tables one by one (lib/fse.glsl). In between the
// symbols stand where the states will be.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"

const uint kSlotWords = 128u, kSlotSymbols = 256u;
#include "lib/fse.glsl"

layout(push_constant, std430) uniform Push { FseTablesParams p; };

const uint kHeader = 4u; // bytes: those of the description, log << 16, last symbol << 24

uvec2 gSource, gDestination;
uint gSourceBytes, gRoom;

bool counts() { return (p.flags & SLUICE_FSE_FLAG_COUNTS) != 0u; }

// Reads a region. Returns OK, or what is wrong with it.
uint loadRegion(uint index) {
    WordsIn region = WordsIn(add64(p.regions, mul64(index, p.regionStride)));
    gSource = uvec2(region.w[0], region.w[1]);
    gDestination = uvec2(region.w[2], region.w[3]);
    uvec2 sourceSize = uvec2(region.w[4], region.w[5]), room = uvec2(region.w[6], region.w[7]);
    gSourceBytes = sourceSize.x;
    gRoom = room.x;
    bool good = (gDestination.x & 3u) == 0u && (sourceSize.y | room.y) == 0u &&
                sourceSize.x != 0u && room.x != 0u &&
                inside64(gSource, sourceSize, p.source, p.sourceSize) &&
                inside64(gDestination, room, p.destination, p.destinationSize) &&
                !(counts() && ((gSource.x | sourceSize.x) & 1u) != 0u);
    return !good                                          ? SLUICE_ST_BAD_REGION
           : counts() && gSourceBytes / 2u > p.maxSymbols ? SLUICE_ST_BAD_CODE
                                                          : SLUICE_ST_OK;
}

uint statesIn(uint room) { return room < kHeader ? 0u : (room - kHeader) / 4u; }

// Count of a symbol, from the 16-bit numbers at gSource.
int countAt(uint symbol) {
    uint at = (gSource.x & 2u) / 2u + symbol;
    uint word = WordsIn(uvec2(gSource.x & ~3u, gSource.y)).w[at >> 1];
    return int(word << 16u * (1u - (at & 1u))) >> 16;
}

// The log that the counts add up to. One symbol a lane and row; all lanes of the group.
uint checkCounts(bool on, out uint log, out uint lastSymbol) {
    uint symbols = on ? gSourceBytes / 2u : 0u, sum = 0u, bad = 0u;
    lastSymbol = 0u;
    for (uint row = 0u; wgAny(row < symbols); row += 32u) {
        int count = row + lgLane() < symbols ? countAt(row + lgLane()) : 0;
        uint before, total;
        uvec3 votes = lgBallot3Scan(count < -1, count != 0, false, uint(abs(count)), before, total);
        bad |= votes.x;
        lastSymbol = votes.y != 0u ? row + uint(findMSB(votes.y)) : lastSymbol;
        sum += total;
    }
    log = uint(findMSB(max(sum, 1u)));
    bool good = bad == 0u && sum == 1u << log && log >= SLUICE_FSE_LOG_MIN && log <= p.maxLog;
    return !good                         ? SLUICE_ST_BAD_CODE
           : 1u << log > statesIn(gRoom) ? SLUICE_ST_TOO_LONG
                                         : SLUICE_ST_OK;
}

void main() {
    uint group = wgIndex() * kGroupsPerWorkgroup + lgIndex();
    uint first = group * p.tablesPerGroup, last = p.maxRegionCount,
         symbolBits = uint(findMSB(p.maxSymbols - 1u | 1u)) + 1u;
    if (p.regionCount != uvec2(0u)) last = min(last, WordsIn(p.regionCount).w[0]);
    // Each lane reads a description: entries, log << 9, status << 13.
    uint known = 0u;
    if (!counts() && lgLane() < p.tablesPerGroup && first + lgLane() < last) {
        uint status = loadRegion(first + lgLane());
        known = status << 13;
        if (status == SLUICE_ST_OK) {
            FseDescription d = fseRead(gSource, gSourceBytes, p.maxSymbols, p.maxLog,
                                       statesIn(gRoom), add64(gDestination, kHeader));
            known = d.entries | (d.log & 15u) << 9 | d.status << 13;
            if (d.status == SLUICE_ST_OK)
                WordsOut(gDestination).w[0] = d.bytes | d.log << 16 | d.lastSymbol << 24;
        }
    }
    lgBarrierAll();
    for (uint t = 0u; t < p.tablesPerGroup && wgAny(first + t < last); ++t) {
        uint index = first + t;
        bool enabled = index < last;
        uint status = enabled ? loadRegion(index) : SLUICE_ST_BAD_REGION, log, entries;
        if (counts()) {
            uint lastSymbol;
            bool good = status == SLUICE_ST_OK;
            uint checked = checkCounts(good, log, lastSymbol);
            status = good ? checked : status;
            entries = gSourceBytes / 2u;
            if (status == SLUICE_ST_OK && lgLane() == 0u)
                WordsOut(gDestination).w[0] = gSourceBytes | log << 16 | lastSymbol << 24;
        } else {
            lgShare(known);
            uint read = lgShared(t);
            entries = read & 511u;
            log = read >> 9 & 15u;
            status = enabled ? read >> 13 : status;
        }
        bool on = enabled && status == SLUICE_ST_OK;
        log = on ? log : SLUICE_FSE_LOG_MIN;
        entries = on ? entries : 0u;
        uvec2 states = add64(gDestination, kHeader);
        fseTable(on, log);
        for (uint row = 0u; wgAny(row < entries); row += 32u) {
            uint at = row + lgLane(), symbol = at, count = 0u;
            bool has = at < entries, low = false;
            if (has && counts()) {
                int signed_ = countAt(at);
                low = signed_ < 0;
                count = uint(signed_);
                has = count != 0u;
            } else if (has) {
                uint entry = WordsOut(states).w[at];
                symbol = entry & 255u;
                count = entry >> 8 & 1023u;
                low = entry >> 31 != 0u;
            }
            fseRow(has, log, symbol, count, low);
        }
        fseStates(on, log, symbolBits, states);
        if (enabled && lgLane() == 0u) writeStatus(p.status, p.maxRegionCount, index, status);
    }
}
