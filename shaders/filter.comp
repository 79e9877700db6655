// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters (docs/format.md, 8), one tile per workgroup, section after section:
//   the description  is read by one invocation (lib/filter_columns.glsl)
//   packets          are counted, and their headers found (lib/filter_packets.glsl)
//   predictions      are undone, several columns at a time, each by a team of lanes or by several
//                    (lib/filter_team.glsl): sums (lib/filter_differences.glsl) and wavefronts
//                    (lib/filter_wavefront.glsl). The values go to scratch, a plane for each byte
//   columns          that are rotated or of blocks, and wide ones with a base, are finished there
//   records          are put together (lib/filter_records.glsl) from those planes and, for columns
//                    without a prediction, from the tile's; bases of bytes are added on the way
// src/cuda/filter.cu does the same with warps, and in addition undoes pixels of bytes in a single
// pass.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/filter_columns.glsl"
#include "lib/filter_differences.glsl"
#include "lib/filter_wavefront.glsl"
#include "lib/filter_records.glsl"
#include "lib/filter_packets.glsl"

layout(push_constant, std430) uniform Push { FilterParams p; };

shared uint sNext; // the next tile of the workgroup
shared uint sDone; // how many invocations have done all of their part of the tile

// -----------------------------------------------------------------------------------------------
// Predictions

// A team undoes the prediction of a column, unless undoWaves does.
void undoColumn(uint column) {
    uint predictor = predictorOf(column);
    if (sgUniform(SLUICE_PREDICTOR_IS_SUM(predictor))) {
        bool isUp = predictor == SLUICE_PREDICTOR_UP;
        undoDifferences(column, isUp ? min(gWidth, gCount) : gCount, isUp ? 1u : predictor);
        return;
    }
    if (sgUniform(isWaveOfBytes(column))) undoByteWave(predictor, column);
}

// Copies to scratch the residuals of byte columns that are not contiguous, so that they become
// contiguous, and the residuals of waves.
void gatherResiduals() {
    for (uint n = 0u; n < sWaveCount; n++)
        gatherWave(sWaves[n]);
    for (uint n = 0u; n < sPredictedCount; n++) {
        uint column = sPredicted[n], step = sStep[column], lead = sValues[column] & 3u;
        if (isGathered(column)) {
            uint words = (lead + gCount + 3u) / 4u;
            for (uint w = wgInvocation(); w < words; w += gl_WorkGroupSize.x) {
                uvec4 value;
                // The bytes of the first and the last word that are not residuals may have any
                // value.
                SLUICE_UNROLL
                for (uint k = 0u; k < 4u; k++)
                    value[k] = sourceByte(sFrom[column] +
                                          min(max(4u * w + k, lead) - lead, gCount - 1u) * step);
                storeScratchWord(sValues[column] - lead + 4u * w, packBytes(value));
            }
        }
    }
}

void undoPredictions() {
    gatherResiduals();
    wgBarrierAll();
    // Each team that undoes a wave of bytes needs space for a row, which limits the number of
    // teams.
    uint teams = kTeams;
    if (gAnyByteWave) teams = clamp(kRowWords / ((gWidth + 3u) / 4u), 1u, kTeams);
    for (uint n = teamIndex(); sgUniform(teamIndex() < teams && n < sPredictedCount); n += teams)
        undoColumn(sPredicted[n]);
    undoWaves();
    wgBarrierAll();
    if (gAnyUp) { // their first rows are in scratch
        undoByteUps();
        undoWideUps();
    }
    wgBarrierAll();
}

// Finishes columns whose bytes are not those of the record. Columns with a base come first, because
// they need the base before it is finished itself.
void finishColumns() {
    for (uint i = wgInvocation(); i < gCount; i += gl_WorkGroupSize.x) {
        SLUICE_DONT_UNROLL
        for (uint c = 0u; c < 2u * sSection.columns; c++) {
            bool second = c >= sSection.columns;
            uint column = second ? c - sSection.columns : c, word = sColumn[column],
                 base = word >> 24, bytes = bytesOf(column);
            if (needsFinal(column) && (base == 0u) == second) {
                uint value = 0u, parts = second ? 1u : 2u;
                SLUICE_DONT_UNROLL
                for (uint part = 0u; part < parts; part++)
                    value += valueOf(mix(column, base - 1u, part != 0u), i);
                value &= maskOf(bytes);
                if ((word & kRotated) != 0u) value = value >> 1 | value << (8u * bytes - 1u);
                if ((word & kBlock) != 0u) value = filterUnmapBlock(value, bytes == 2u);
                storeValue(column, i, value);
            }
        }
    }
}

// -----------------------------------------------------------------------------------------------
// Sections and tiles

// Turns the section that readSection found into bytes of the tile. Returns a status.
uint undoSection() {
    uint size = sSection.size, packets = 0u;
    bool hasPackets = sSection.hasPackets != 0u;
    gStride = sSection.stride;
    // If rows have one record, only the previous record matters, as in a single row: the median and
    // the gradient equal it, and the average is half of it.
    gWidth = sSection.width == 1u ? SLUICE_FILTER_MAX_WIDTH : sSection.width;
    gFirst = sSection.first;
    gPlanes = gPosition;
    if (sgUniform(gStride == 0u || size == 0u)) {
        copyBytes(size);
        return SLUICE_ST_OK;
    }
    wgBarrierAll(); // the previous section no longer uses scratch
    if (sgUniform(hasPackets)) {
        packets = countPackets(size);
        if (sgUniform(packets == 0u && size != 0u)) return SLUICE_ST_BAD_FILTER;
        gPlanes += packets;
    }
    gCount = recordOf(size - packets);
    placeColumns();
    if (sgUniform(gCount != 0u)) {
        undoPredictions();
        if (gAnyFinal) finishColumns();
        wgBarrierAll();
    }
    writeRecords(size, hasPackets);
    return SLUICE_ST_OK;
}

bool readTile(WordsIn tile) {
    uvec2 source = uvec2(tile.w[0], tile.w[1]), target = uvec2(tile.w[2], tile.w[3]);
    gTileSize = tile.w[4];
    uint offset = tile.w[5], bytes = tile.w[6];
    gSource = source;
    gTarget = target;
    gDescription = add64(p.descriptions, offset);
    gDescriptionWords = bytes / 4u;
    return gTileSize - 1u < p.maxTileBytes && ((source.x | target.x | offset | bytes) & 3u) == 0u &&
           inside64(source, uvec2(gTileSize, 0u), p.source, p.sourceSize) &&
           inside64(target, uvec2(gTileSize, 0u), p.destination, p.destinationSize) &&
           inside64(gDescription, uvec2(bytes, 0u), p.descriptions, p.descriptionsSize);
}

uint undoTile(bool goodRegion) {
    if (wgInvocation() == 0u) {
        bool hasWords = goodRegion && gDescriptionWords != 0u;
        sReading = beginDescription(gDescriptionWords, hasWords ? WordsIn(gDescription).w[0] : 0u);
        sDone = 0u;
        sIsRest = false;
        bool good = sReading.fault == SLUICE_FILTER_GOOD;
        sStatus = !goodRegion ? SLUICE_ST_BAD_REGION : good ? SLUICE_ST_OK : SLUICE_ST_BAD_FILTER;
    }
    wgBarrierShared();
    gPosition = 0u;
    uint status = sStatus;
    for (uint s = 0u; sgUniform(s <= SLUICE_FILTER_MAX_SECTIONS && status == SLUICE_ST_OK &&
                                (sReading.sections != 0u || (gPosition < gTileSize && !sIsRest)));
         s++) {
        loadWindow();
        wgBarrierShared();
        if (wgInvocation() == 0u) {
            if (sReading.sections != 0u)
                readSection();
            else
                readRest();
        }
        wgBarrierShared();
        bool isBad = wgInvocation() < sSection.columns && hasBadBase(wgInvocation());
        status = wgOr(isBad ? 1u : 0u) != 0u ? SLUICE_ST_BAD_FILTER : sStatus;
        if (sgUniform(status == SLUICE_ST_OK)) {
            status = undoSection();
            gPosition += sSection.size;
        }
        wgBarrierShared();
    }
    return status;
}

// If the driver has left the loop over tiles early, the tiles that the workgroup has not reached
// still have their initial status. They become INTERNAL, one tile per invocation. Some subgroups
// may never get here (lavapipe ends a workgroup with the first subgroup that ends), so a list for
// which a workgroup has more turns than a subgroup has lanes is recorded as several dispatches.
void refuseTiles(uint from, uint count) {
    uint index = from + wgInvocation() * p.workgroups;
    if (p.tickets != 0u || from >= count || index >= count) return;
    uint word = WordsIn(add64(p.tiles, mul64(index, 4u * SLUICE_FILTER_TILE_WORDS))).w[7];
    if (word >= p.statusCount) return;
    WordsOut list = WordsOut(p.status);
    // Several invocations may reach a tile, which must be counted once.
    if (atomicCompSwap(list.w[word], SLUICE_ST_OK, SLUICE_ST_INTERNAL) == SLUICE_ST_OK ||
        atomicCompSwap(list.w[word], SLUICE_ST_UNVERIFIED, SLUICE_ST_INTERNAL) ==
            SLUICE_ST_UNVERIFIED)
        writeStatus(p.status, p.statusCount, word, SLUICE_ST_INTERNAL);
}

void main() {
    uint group = wgIndex();
    wgOrBegin();
    uint count = countOf(p.tileCount, p.maxTileCount);
    gScratch = add64(p.scratch, mul64(group, p.scratchBytes));
    uvec2 ticket = add64(p.scratch, mul64(p.workgroups, p.scratchBytes));
    // The conditions of branches and loops that contain subgroup operations come from a ballot. A
    // single condition that does not would make NVIDIA's compiler (580) match lanes before every
    // subgroup operation of the shader.
    uint index = group < p.workgroups ? p.firstTile + group : count;
    for (uint turn = 0u; sgUniform(turn < count && index < count); turn++) {
        WordsIn tile = WordsIn(add64(p.tiles, mul64(index, 4u * SLUICE_FILTER_TILE_WORDS)));
        uint word = tile.w[7];
        if (wgInvocation() == 0u) // only one reads, since another tile may write the same word
            sStatus = word < p.statusCount ? WordsIn(p.status).w[word] : SLUICE_ST_PENDING;
        wgBarrierShared();
        bool decoded = sStatus == SLUICE_ST_OK || sStatus == SLUICE_ST_UNVERIFIED;
        wgBarrierShared();
        if (sgUniform(decoded)) {
            uint result = undoTile(readTile(tile));
            if (sgLoopsGoOn(min(p.maxTileBytes, 2u))) atomicAdd(sDone, 1u);
            wgBarrierShared();
            result = sDone == gl_WorkGroupSize.x ? result : SLUICE_ST_INTERNAL;
            if (result != SLUICE_ST_OK && wgInvocation() == 0u)
                writeStatus(p.status, p.statusCount, word, result);
        }
        if (wgInvocation() == 0u)
            sNext = p.workgroups + (p.tickets != 0u ? atomicAdd(WordsOut(ticket).w[0], 1u) : index);
        wgBarrierShared();
        index = sNext;
    }
    refuseTiles(index, count);
}
