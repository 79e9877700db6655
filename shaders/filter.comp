// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters (docs/format.md, 8), a workgroup a tile, section after section:
//   the description  is read by one invocation (lib/filter_columns.glsl)
//   packets          are counted, and their headers found (lib/filter_packets.glsl)
//   predictions      are undone, several columns at a time, each by a team of lanes
//                    (lib/filter_team.glsl): sums (lib/filter_differences.glsl) and wavefronts
//                    (lib/filter_wavefront.glsl). The values go to scratch, a plane for each byte
//   columns          that are rotated or of blocks, and wide ones with a base, are finished there
//   records          are put together (lib/filter_records.glsl) from those planes and, for columns
//                    without a prediction, from the tile's; bases of bytes are added on the way
// src/cuda/filter.cu does the same with warps, and undoes pixels of bytes in one go besides.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/filter_columns.glsl"
#include "lib/filter_differences.glsl"
#include "lib/filter_wavefront.glsl"
#include "lib/filter_records.glsl"
#include "lib/filter_packets.glsl"

layout(push_constant, std430) uniform Push { FilterParams p; };

shared uint sNext; // the tile that the workgroup does next

// -----------------------------------------------------------------------------------------------
// Predictions

// By a team. False, here and below: the driver ended a loop.
bool undoColumn(uint column) {
    uint predictor = predictorOf(column);
    bool ended = true;
    if (sgUniform(SLUICE_PREDICTOR_IS_SUM(predictor))) {
        bool isUp = predictor == SLUICE_PREDICTOR_UP;
        ended = undoDifferences(column, isUp ? min(gWidth, gCount) : gCount, isUp ? 1u : predictor);
        if (sgUniform(isUp && bytesOf(column) == 1u)) {
            teamBarrierAll(); // the first row is in scratch
            ended = undoByteUp(column) && ended;
        }
        return ended;
    }
    bool isWave = isWaveOfBytes(column);
    if (sgUniform(!isWave)) ended = undoWave(column);
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW) // other compilers take long for three copies
    if (isWave) ended = undoByteWave(predictor, column);
#else
    if (sgUniform(isWave && predictor == SLUICE_PREDICTOR_MEDIAN))
        ended = undoByteWave(SLUICE_PREDICTOR_MEDIAN, column);
    if (sgUniform(isWave && predictor == SLUICE_PREDICTOR_AVERAGE))
        ended = undoByteWave(SLUICE_PREDICTOR_AVERAGE, column);
    if (sgUniform(isWave && predictor == SLUICE_PREDICTOR_GRADIENT))
        ended = undoByteWave(SLUICE_PREDICTOR_GRADIENT, column);
#endif
    return ended;
}

// Brings residuals of bytes that do not stand side by side into a row, in scratch.
bool gatherResiduals() {
    bool ended = true;
    for (uint n = 0u; n < sPredictedCount; n++) {
        uint column = sPredicted[n], step = sStep[column], lead = sValues[column] & 3u, done = 0u;
        if (isGathered(column)) {
            uint words = (lead + gCount + 3u) / 4u;
            for (uint w = wgInvocation(); w < words; w += gl_WorkGroupSize.x) {
                uvec4 value;
                // Bytes of the first and the last word that are no residuals may have any value.
                [[unroll]] for (uint k = 0u; k < 4u; k++) value[k] = sourceByte(
                    sFrom[column] + min(max(4u * w + k, lead) - lead, gCount - 1u) * step);
                storeScratchWord(sValues[column] - lead + 4u * w, packBytes(value));
                done = w;
            }
            ended = ended && done + gl_WorkGroupSize.x >= words;
        }
    }
    return ended;
}

bool undoPredictions() {
    bool ended = gatherResiduals();
    wgBarrierAll();
    // As many teams work at once as have room for a row.
    uint teams = clamp(kRowWords / max((gWidth + 3u) / 4u, 1u), 1u, kTeams);
    for (uint n = teamIndex(); sgUniform(teamIndex() < teams && n < sPredictedCount); n += teams) {
        bool one = undoColumn(sPredicted[n]);
        ended = ended && one;
    }
    wgBarrierAll();
    if (gAnyUp) {
        for (uint n = 0u; n < sPredictedCount; n++)
            if (predictorOf(sPredicted[n]) == SLUICE_PREDICTOR_UP && bytesOf(sPredicted[n]) != 1u) {
                bool one = undoUp(sPredicted[n]);
                ended = ended && one;
            }
    }
    wgBarrierAll();
    return ended;
}

// Finishes columns whose bytes are not those of the record. Columns with a base come first, because
// they need the base as it stands.
bool finishColumns() {
    uint done = 0u;
    for (uint i = wgInvocation(); i < gCount; i += gl_WorkGroupSize.x) {
        for (uint c = 0u; c < 2u * sColumns; c++) {
            bool second = c >= sColumns;
            uint column = second ? c - sColumns : c, word = sColumn[column], base = word >> 24,
                 bytes = bytesOf(column);
            if (needsFinal(column) && (base == 0u) == second) {
                uint value = valueOf(column, i);
                if (base != 0u) value += valueOf(base - 1u, i);
                value &= maskOf(bytes);
                if ((word & kRotated) != 0u) value = value >> 1 | value << 8u * bytes - 1u;
                if ((word & kBlock) != 0u) value = filterUnmapBlock(value, bytes == 2u);
                storeValue(column, i, value);
            }
        }
        done = i;
    }
    return done + gl_WorkGroupSize.x >= gCount;
}

// -----------------------------------------------------------------------------------------------
// Sections and tiles

// Turns the section that readSection found into bytes of the tile. Returns a status.
uint undoSection() {
    uint size = sSize, packets = 0u;
    bool hasPackets = sPackets != 0u, ended = true;
    gStride = sStride;
    gWidth = sWidth;
    gFirst = sFirst;
    gPlanes = gPosition;
    if (sgUniform(gStride == 0u || size == 0u))
        return copyBytes(size) ? SLUICE_ST_OK : SLUICE_ST_INTERNAL;
    wgBarrierAll(); // sPackets has been read, and the section before is done with scratch
    if (sgUniform(hasPackets)) {
        packets = countPackets(size);
        if (sgUniform(packets == 0u && size != 0u)) return SLUICE_ST_BAD_FILTER;
        gPlanes += packets;
    }
    gCount = (size - packets) / gStride;
    placeColumns();
    if (sgUniform(gCount != 0u)) {
        ended = undoPredictions();
        if (gAnyFinal) ended = finishColumns() && ended;
        wgBarrierAll();
    }
    bool written;
    if (hasPackets) written = writePackets(size);
    if (sgUniform(!hasPackets)) written = writeRecords(size);
    return ended && written ? SLUICE_ST_OK : SLUICE_ST_INTERNAL;
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
        bool sized = goodRegion && gDescriptionWords - 1u < SLUICE_FILTER_DESCRIPTION_BYTES / 4u;
        uint head = sized ? WordsIn(gDescription).w[0] : 0u;
        sCursor = 1u;
        sSections = head >> 16;
        bool good = sized && (head & 0xffffu) == SLUICE_FILTER_VERSION &&
                    sSections - 1u < SLUICE_FILTER_MAX_SECTIONS;
        sStatus = !goodRegion ? SLUICE_ST_BAD_REGION : good ? SLUICE_ST_OK : SLUICE_ST_BAD_FILTER;
    }
    wgBarrierShared();
    gPosition = 0u;
    uint status = sStatus;
    for (uint s = 0u;
         sgUniform(s < SLUICE_FILTER_MAX_SECTIONS && status == SLUICE_ST_OK && sSections != 0u);
         s++) {
        loadWindow();
        wgBarrierShared();
        if (wgInvocation() == 0u) readSection();
        wgBarrierShared();
        bool bad = wgAnyInvocation(wgInvocation() < sColumns && isBaseBad(wgInvocation()));
        status = bad ? SLUICE_ST_BAD_FILTER : sStatus;
        if (sgUniform(status == SLUICE_ST_OK)) {
            status = undoSection();
            gPosition += sSize;
        }
        // Where the driver ended a loop, lanes have different results.
        status = wgAnyInvocation(status == SLUICE_ST_INTERNAL) ? SLUICE_ST_INTERNAL : status;
        wgBarrierShared();
    }
    if (status != SLUICE_ST_OK) return status;
    bool ended = copyBytes(gTileSize - gPosition);
    return ended && sSections == 0u ? SLUICE_ST_OK : SLUICE_ST_INTERNAL;
}

void main() {
    uint group = wgIndex();
    uint count = countOf(p.tileCount, p.maxTileCount);
    gScratch = add64(p.scratch, mul64(group, p.scratchBytes));
    uvec2 ticket = add64(p.scratch, mul64(p.workgroups, p.scratchBytes));
    // The conditions of branches and loops with subgroup operations come from a ballot: a single
    // one that does not has NVIDIA's compiler (580) match lanes before every such operation of the
    // shader.
    uint index = group < p.workgroups ? group : count;
    for (uint turn = 0u; sgUniform(turn < count && index < count); turn++) {
        WordsIn tile = WordsIn(add64(p.tiles, mul64(index, 4u * SLUICE_FILTER_TILE_WORDS)));
        uint word = tile.w[7];
        if (wgInvocation() == 0u) // only one reads, for another tile may write the same word
            sStatus = word < p.statusCount ? WordsIn(p.status).w[word] : SLUICE_ST_PENDING;
        wgBarrierShared();
        bool decoded = sStatus == SLUICE_ST_OK || sStatus == SLUICE_ST_UNVERIFIED;
        wgBarrierShared();
        if (sgUniform(decoded)) {
            uint result = undoTile(readTile(tile)), bad;
            // Where the driver ended a loop, lanes have different results.
            wgExclusiveAdd(result == SLUICE_ST_OK ? 0u : 1u, bad);
            if (bad != 0u && wgInvocation() == 0u)
                writeStatus(p.status, p.statusCount, word,
                            result == SLUICE_ST_OK ? SLUICE_ST_INTERNAL : result);
        }
        if (wgInvocation() == 0u)
            sNext = p.workgroups + (p.tickets != 0u ? atomicAdd(WordsOut(ticket).w[0], 1u) : index);
        wgBarrierShared();
        index = sNext;
    }
}
