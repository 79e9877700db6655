// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters (docs/format.md, 8). A workgroup takes a tile and undoes its sections one after
// the other; lib/filter_columns.glsl explains section, record, column and plane. A section takes
// these steps:
// - description: one invocation reads what the filter has done (lib/filter_columns.glsl).
// - packets: in a section of run-length packets the headers are found (lib/filter_packets.glsl).
// - predictions: several columns are undone at the same time, each by one team of lanes or by
//   several teams (lib/filter_team.glsl), as sums (lib/filter_differences.glsl) or as wavefronts
//   (lib/filter_wavefront.glsl). The values go to scratch, a plane for each byte.
// - columns: values get their final form in scratch if the filter has rotated them, if they belong
//   to compressed blocks of pixels, or if they are wider than a byte and have a base.
// - records: the tile's bytes are put together (lib/filter_records.glsl) from the planes in scratch
//   and, for columns without a prediction, from the filtered tile. Bases of one byte are added on
//   the way.
//
// src/cuda/filter.cu undoes filters in the same steps, with warps as teams. In addition it undoes
// pixels of single bytes in one pass, without scratch.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/filter_columns.glsl"
#include "lib/filter_differences.glsl"
#include "lib/filter_wavefront.glsl"
#include "lib/filter_records.glsl"
#include "lib/filter_packets.glsl"

layout(push_constant, std430) uniform Push { FilterParams p; };

shared uint sNext; // the next tile that the workgroup takes
// How many invocations have completed all loops of the tile. Some drivers leave loops early
// (sgLoopsGoOn); if an invocation is missing here, the tile gets the status INTERNAL.
shared uint sDone;

// -----------------------------------------------------------------------------------------------
// Predictions

// A team of lanes (filter_team.glsl) undoes the prediction of a column. Some columns with a
// wavefront are left to undoWaves.
void undoColumn(uint column) {
    uint predictor = predictorOf(column);
    if (sgUniform(SLUICE_PREDICTOR_IS_SUM(predictor))) {
        bool isUp = predictor == SLUICE_PREDICTOR_UP;
        undoDifferences(column, isUp ? min(gWidth, gCount) : gCount, isUp ? 1u : predictor);
        return;
    }
    if (sgUniform(isWaveOfBytes(column))) undoByteWave(predictor, column);
}

// Copies the residuals of two kinds of columns to scratch, so that the bytes of each plane are
// neighbours there: the columns that undoWave undoes, and columns of bytes whose residuals
// alternate with those of other columns.
void gatherResiduals() {
    for (uint n = 0u; n < sWaveCount; n++)
        gatherWave(sWaves[n]);
    for (uint n = 0u; n < sPredictedCount; n++) {
        uint column = sPredicted[n], step = sStep[column], lead = sValues[column] & 3u;
        if (isGathered(column)) {
            uint words = (lead + gCount + 3u) / 4u;
            for (uint w = wgInvocation(); w < words; w += gl_WorkGroupSize.x) {
                uvec4 value;
                // Bytes of the first and last word that belong to no residual may get any value.
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
    // The size of sRow limits the teams: one that undoes a wave of bytes keeps a row there.
    uint teams = kTeams;
    if (gAnyByteWave) teams = clamp(kRowWords / ((gWidth + 3u) / 4u), 1u, kTeams);
    for (uint n = teamIndex(); sgUniform(teamIndex() < teams && n < sPredictedCount); n += teams)
        undoColumn(sPredicted[n]);
    undoWaves();
    wgBarrierAll();
    // For columns with UP, undoColumn has undone only the first row.
    if (gAnyUp) {
        undoByteUps();
        undoWideUps();
    }
    wgBarrierAll();
}

// Brings the values of columns to their final form in scratch, if they need one (needsFinal). The
// first half of the loop does columns with a base: they add the base's value, which the second half
// overwrites with the final form of the base.
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

// Undoes the section that readSection or readRest has put in sSection. Returns a status.
uint undoSection() {
    uint size = sSection.size, packets = 0u;
    bool hasPackets = sSection.hasPackets != 0u;
    gStride = sSection.stride;
    // A section with rows of one record is treated as a single row. That gives the same values,
    // because in both cases only the record before matters: the median and the gradient equal that
    // record, and the average is half of it.
    gWidth = sSection.width == 1u ? SLUICE_FILTER_MAX_WIDTH : sSection.width;
    gFirst = sSection.first;
    gPlanes = gPosition;
    if (sgUniform(gStride == 0u || size == 0u)) {
        copyBytes(size);
        return SLUICE_ST_OK;
    }
    // This barrier waits until no invocation uses the scratch of the previous section.
    wgBarrierAll();
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

// Reads an entry of the list of tiles (SluiceFilterTile). Returns whether its addresses and sizes
// are allowed.
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

// Undoes all sections of the tile. Returns a status.
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

// If the driver has left the loop over tiles early, the tiles from number `from` on, which the
// workgroup has not reached, still have their initial status. This sets them to INTERNAL, one tile
// per invocation. Some subgroups may never get here, since lavapipe ends a workgroup with the first
// subgroup that ends. One subgroup must therefore be enough: if a workgroup would have to take more
// tiles than a subgroup has lanes, the list is recorded as several dispatches.
void refuseTiles(uint from, uint count) {
    uint index = from + wgInvocation() * p.workgroups;
    if (p.tickets != 0u || from >= count || index >= count) return;
    uint word = WordsIn(add64(p.tiles, mul64(index, 4u * SLUICE_FILTER_TILE_WORDS))).w[7];
    if (word >= p.statusCount) return;
    WordsOut list = WordsOut(p.status);
    // Several tiles may have the same status word, which must be counted once as a failure.
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
    // All conditions of branches and loops around subgroup operations come from a ballot
    // (sgUniform). A single condition without a ballot would make NVIDIA's compiler (driver 580)
    // put a MATCH.ANY instruction before every subgroup operation of the shader.
    uint index = group < p.workgroups ? p.firstTile + group : count;
    for (uint turn = 0u; sgUniform(turn < count && index < count); turn++) {
        WordsIn tile = WordsIn(add64(p.tiles, mul64(index, 4u * SLUICE_FILTER_TILE_WORDS)));
        uint word = tile.w[7];
        // One invocation reads the status for all, because another workgroup may change it between
        // two reads: several tiles may have the same status word.
        if (wgInvocation() == 0u)
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
