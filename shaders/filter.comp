// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters undone (docs/format.md, 8), a workgroup a tile. Of each section
//   differences  are a scan along the records, once for each order
//   up           is a sum down each column of the image, a lane a column
//   gradient     is a sum down the columns, then one along each row
//   the others   are a wavefront: lane k does row k, k records behind the row above it
// Values that were predicted stand in scratch, one array a column; the last step puts the records together, a word of
// the destination a lane, and adds base columns on the way.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/scan.glsl"
#include "lib/units.glsl"

layout(push_constant, std430) uniform Push {
    FilterParams p;
};

const uint kNone = 0u, kLeft3 = 3u, kUp = 4u, kGradient = 5u, kMedian = 6u, kAverage = 7u, kPredictors = 8u;
const uint kZigzag = 1u << 10, kSplit = 1u << 11, kJoined = 1u << 12, kRotated = 1u << 13; // in a column's word
const uint kPerLane = 8u; // values of a lane in a step of a scan
const uint kWave = 4u;    // columns in a wavefront

// A column: as in the description (log2 bytes << 8, flags << 10, predictor << 16, base << 24), its place in the record
// in the low 8 bits.
shared uint sColumn[SLUICE_FILTER_MAX_STRIDE];
shared uint sGroup[SLUICE_FILTER_MAX_STRIDE];      // where a column's group begins in the record; its bytes << 8
shared uint sValues[SLUICE_FILTER_MAX_STRIDE];     // where its values are in scratch, in bytes
shared uint sByteColumn[SLUICE_FILTER_MAX_STRIDE]; // the column of each byte of a record
shared uint sColumns, sStride, sSize, sWidth, sFirst, sPackets; // of the section; sPackets: 1, the count of them
shared uint sCursor, sSections, sStatus;                       // next word of the description, sections to come
shared uvec4 sWave[2][gl_WorkGroupSize.x + 1u];
shared uint sPacketEnd[gl_WorkGroupSize.x];

// The same in the whole workgroup.
uvec2 gDescription, gSource, gTarget, gScratch;
uint gDescriptionWords, gTileSize;
uint gPosition; // of the section in the tile
uint gPlanes;   // of its planes: behind the headers, if there are packets
uint gCount, gStride, gWidth, gFirst;

// Shared memory and scratch.
void wgBarrierAll() {
    memoryBarrierBuffer();
    wgBarrierShared();
}

// ---------------------------------------------------------------------------------------------------------------
// The description, read by one invocation

uint nextWord() {
    if (sCursor >= gDescriptionWords) {
        sStatus = SLUICE_ST_BAD_FILTER;
        return 0u;
    }
    return WordsIn(gDescription).w[sCursor++];
}

void readColumns(uint runs) {
    uint columns = 0u, stride = 0u, group = 0u;
    bool good = true;
    for (uint r = 0u; r < runs; r++) {
        uint run = nextWord(), repeat = run & 0xffu, log2Bytes = run >> 8 & 3u, predictor = run >> 16 & 0xffu;
        bool same = columns != 0u && ((sColumn[max(columns, 1u) - 1u] ^ run) & kSplit) == 0u;
        bool bad = log2Bytes == 3u || (run >> 14 & 3u) != 0u || predictor >= kPredictors || repeat == 0u ||
                   repeat > SLUICE_FILTER_MAX_STRIDE - columns || ((run & kJoined) != 0u && !same) ||
                   (predictor >= kUp && sWidth == 0u) || (repeat << log2Bytes) > SLUICE_FILTER_MAX_STRIDE - stride;
        good = good && !bad && sStatus == SLUICE_ST_OK;
        for (uint k = 0u; k < repeat; k++) {
            if (good) {
                if ((run & kJoined) == 0u)
                    group = columns;
                sColumn[columns] = (run & ~0xffu) | stride;
                sGroup[columns] = group;
                for (uint b = 0u; b < 1u << log2Bytes; b++)
                    sByteColumn[stride + b] = columns;
                stride += 1u << log2Bytes;
                columns++;
            }
        }
    }
    for (uint c = 0u; c < columns; c++) {
        uint base = sColumn[c] >> 24;
        if (base != 0u && (base > columns || sColumn[min(base, columns) - 1u] >> 24 != 0u ||
                           ((sColumn[min(base, columns) - 1u] ^ sColumn[c]) & 0x300u) != 0u))
            good = false;
    }
    // Where each group begins and how long it is.
    uint end = stride;
    for (uint k = 0u; k < columns; k++) {
        uint c = columns - 1u - k, begin = sColumn[c] & 0xffu;
        uint first = sGroup[c];
        sGroup[c] = (sColumn[first] & 0xffu) | (end - (sColumn[first] & 0xffu)) << 8;
        if (first == c)
            end = begin;
    }
    sColumns = columns;
    sStride = stride;
    if (!good || (sPackets != 0u && columns == 0u))
        sStatus = SLUICE_ST_BAD_FILTER;
}

void readSection() {
    // size : 21, runs : 8, rows : 1, Targa packets : 1, reserved : 1
    uint head = nextWord(), size = head & 0x1fffffu, left = gTileSize - gPosition;
    bool rest = size == SLUICE_FILTER_REST;
    sSections--;
    sPackets = head >> 30 & 1u;
    sSize = rest ? left : size;
    sWidth = 0u;
    sFirst = 0u;
    bool good = head >> 31 == 0u && (rest ? sSections == 0u : size <= left);
    if ((head >> 29 & 1u) != 0u) {
        sWidth = nextWord();
        sFirst = nextWord();
        good = good && sWidth - 1u < 1u << 20 && sFirst < sWidth && sPackets == 0u;
    }
    if (!good)
        sStatus = SLUICE_ST_BAD_FILTER;
    readColumns(head >> 21 & 0xffu);
    if (sSections == 0u && sCursor != gDescriptionWords)
        sStatus = SLUICE_ST_BAD_FILTER;
}

// ---------------------------------------------------------------------------------------------------------------
// Values

uint bytesOf(uint column) { return 1u << (sColumn[column] >> 8 & 3u); }
uint predictorOf(uint column) { return sColumn[column] >> 16 & 0xffu; }
uint maskOf(uint bytes) { return 0xffffffffu >> (32u - 8u * bytes); }

// A byte of the filtered tile, counted from the section's planes.
uint sourceByte(uint at) {
    uint byte = gPlanes + at;
    return WordsIn(gSource).w[byte >> 2] >> 8u * (byte & 3u) & 0xffu;
}

uint residual(uint column, uint i) {
    uint word = sColumn[column], bytes = bytesOf(column), place = word & 0xffu;
    uint group = sGroup[column] & 0xffu, groupBytes = sGroup[column] >> 8, value = 0u;
    bool split = (word & kSplit) != 0u;
    uint at = split ? place * gCount + i : group * gCount + i * groupBytes + place - group, step = split ? gCount : 1u;
    [[unroll]] for (uint b = 0u; b < 4u; b++)
        if (b < bytes)
            value |= sourceByte(at + b * step) << 8u * b;
    return (word & kZigzag) != 0u ? (value >> 1 ^ (0u - (value & 1u))) & maskOf(bytes) : value;
}

// Values of columns with a prediction, in scratch.
uint loadValue(uint column, uint i) {
    uint bytes = bytesOf(column), at = sValues[column] + i * bytes;
    return WordsOut(gScratch).w[at >> 2] >> 8u * (at & 3u) & maskOf(bytes);
}

void storeValue(uint column, uint i, uint value) {
    uint bytes = bytesOf(column), at = sValues[column] + i * bytes;
    if (bytes == 4u) {
        WordsOut(gScratch).w[at >> 2] = value;
    } else {
#ifdef SLUICE_EXT
        BytesOut(gScratch).b[at] = uint8_t(value);
        if (bytes == 2u)
            BytesOut(gScratch).b[at + 1u] = uint8_t(value >> 8);
#else
        uint shift = 8u * (at & 3u), mask = maskOf(bytes);
        atomicAnd(WordsOut(gScratch).w[at >> 2], ~(mask << shift));
        atomicOr(WordsOut(gScratch).w[at >> 2], (value & mask) << shift);
#endif
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Predictions undone. Called by the whole workgroup; what a function stores is visible after wgBarrierAll.

// The first `count` records of a difference of some order: as many sums in a row.
void undoDifferences(uint column, uint count, uint order) {
    uint carry[3] = uint[3](0u, 0u, 0u);
    uint step = gl_WorkGroupSize.x * kPerLane, steps = (count + step - 1u) / step;
    for (uint s = 0u; s < steps; s++) {
        uint first = s * step + wgInvocation() * kPerLane;
        uint values[kPerLane];
        [[unroll]] for (uint k = 0u; k < kPerLane; k++)
            values[k] = first + k < count ? residual(column, first + k) : 0u;
        for (uint o = 0u; o < order; o++) {
            uint sum = 0u, total;
            [[unroll]] for (uint k = 0u; k < kPerLane; k++)
                sum = values[k] += sum;
            uint before = wgExclusiveAdd(sum, total) + carry[o];
            [[unroll]] for (uint k = 0u; k < kPerLane; k++)
                values[k] += before;
            carry[o] += total;
        }
        [[unroll]] for (uint k = 0u; k < kPerLane; k++)
            if (first + k < count)
                storeValue(column, first + k, values[k]);
    }
}

// Sums down each column of the image. above: the first row's values are there already; else it is as the others.
void undoUp(uint column, bool above) {
    uint columns = min(gWidth, gCount);
    for (uint base = 0u; base < columns; base += gl_WorkGroupSize.x) {
        uint x = base + wgInvocation();
        if (x < columns) {
            uint sum = above ? loadValue(column, x) : residual(column, x);
            if (!above)
                storeValue(column, x, sum);
            uint below = (gCount - 1u - x) / gWidth, i = x;
            for (uint k = 0u; k < below; k++) {
                i += gWidth;
                sum += residual(column, i);
                storeValue(column, i, sum);
            }
        }
    }
}

// Sums along each row, in place.
void undoRows(uint column) {
    uint rows = (gFirst + gCount + gWidth - 1u) / gWidth;
    for (uint base = 0u; base < rows; base += gl_WorkGroupSize.x) {
        uint begin = (base + wgInvocation()) * gWidth; // with the missing records of the first row counted
        if (base + wgInvocation() < rows) {
            uint from = max(begin, gFirst) - gFirst, to = min(begin + gWidth - gFirst, gCount), sum = 0u;
            uint length = to - from;
            for (uint k = 0u; k < length; k++) {
                sum += loadValue(column, from + k);
                storeValue(column, from + k, sum);
            }
        }
    }
}

uint medianOf(uint left, uint up, uint upLeft, uint mask, uint bias) {
    uint a = (left + bias) & mask, b = (up + bias) & mask, c = (upLeft + bias) & mask;
    uint low = min(a, b), high = max(a, b);
    return (c >= high ? low : c <= low ? high : a + b - c) - bias;
}

uint averageOf(uint left, uint up, uint mask, uint bias) {
    uint a = (left + bias) & mask, b = (up + bias) & mask;
    return (a & b) + ((a ^ b) >> 1) - bias;
}

// Up to kWave columns with the median or the average, rows by rows: as many as there are lanes in a band.
void undoWave(uvec4 columns, uint columnCount) {
    uint lane = wgInvocation(), rows = (gFirst + gCount + gWidth - 1u) / gWidth;
    for (uint band = 0u; band < rows; band += gl_WorkGroupSize.x) {
        uint begin = (band + lane) * gWidth, steps = gWidth + min(gl_WorkGroupSize.x, rows - band) - 1u;
        bool inImage = band + lane < rows;
        uvec4 left = uvec4(0u), upLeft = uvec4(0u);
        sWave[0][lane + 1u] = sWave[1][lane + 1u] = uvec4(0u);
        wgBarrierAll(); // the band above is in scratch
        for (uint s = 0u; s < steps; s++) {
            uint x = s - lane, at = begin + x;
            uvec4 up = sWave[s & 1u][lane];
            if (inImage && x < gWidth) {
                bool there = at >= gFirst && at - gFirst < gCount;
                uint i = at - gFirst;
                [[unroll]] for (uint k = 0u; k < kWave; k++)
                    if (k < columnCount) {
                        uint column = columns[k];
                        if (lane == 0u)
                            up[k] = band != 0u && at >= gFirst + gWidth ? loadValue(column, i - gWidth) : 0u;
                        uint mask = maskOf(bytesOf(column)), value = 0u;
                        if (there) {
                            // Bytes without a base are unsigned.
                            uint bias = mask == 0xffu && sColumn[column] >> 24 == 0u ? 0u : (mask >> 1) + 1u;
                            uint guess = predictorOf(column) == kAverage
                                             ? averageOf(left[k], up[k], mask, bias)
                                             : medianOf(left[k], up[k], upLeft[k], mask, bias);
                            value = (residual(column, i) + guess) & mask;
                            storeValue(column, i, value);
                        }
                        left[k] = value;
                    }
                upLeft = up;
            }
            sWave[(s + 1u) & 1u][lane + 1u] = left;
            wgBarrierShared();
        }
    }
}

// All columns of the section. A loop for each way keeps barriers out of the arms of a branch.
void undoPredictions() {
    for (uint c = 0u; c < sColumns; c++) {
        uint predictor = predictorOf(c);
        if (predictor != kNone && predictor <= kUp)
            undoDifferences(c, predictor == kUp ? min(gWidth, gCount) : gCount, predictor == kUp ? 1u : predictor);
    }
    wgBarrierAll();
    for (uint c = 0u; c < sColumns; c++)
        if (predictorOf(c) == kUp || predictorOf(c) == kGradient)
            undoUp(c, predictorOf(c) == kUp);
    wgBarrierAll();
    for (uint c = 0u; c < sColumns; c++)
        if (predictorOf(c) == kGradient)
            undoRows(c);
    uint next = 0u;
    for (uint wave = 0u; wave < SLUICE_FILTER_MAX_STRIDE / kWave && next < sColumns; wave++) {
        uvec4 columns = uvec4(0u);
        uint count = 0u;
        for (; next < sColumns && count < kWave; next++)
            if (predictorOf(next) >= kMedian)
                columns[count++] = next;
        if (count != 0u)
            undoWave(columns, count);
    }
    wgBarrierAll();
}

// ---------------------------------------------------------------------------------------------------------------
// Records put together

uint valueOf(uint column, uint i) { return predictorOf(column) == kNone ? residual(column, i) : loadValue(column, i); }

// Byte `byte` of record i.
uint recordByte(uint i, uint byte) {
    uint column = sByteColumn[byte], word = sColumn[column], bytes = bytesOf(column), base = word >> 24;
    uint value = valueOf(column, i);
    if (base != 0u)
        value += valueOf(base - 1u, i);
    if ((word & kRotated) != 0u) {
        value &= maskOf(bytes);
        value = value >> 1 | value << 8u * bytes - 1u;
    }
    return value >> 8u * (byte - (word & 0xffu)) & 0xffu;
}

// Byte `at` of what the planes hold: records, then bytes that are too few for one.
uint planesByte(uint at) {
    if (gStride == 0u || at >= gCount * gStride)
        return sourceByte(at);
    uint i = at / gStride;
    return recordByte(i, at - i * gStride);
}

// Stores byte b of the word, if the range [begin, end) of the tile has it.
void storeTileWord(uint word, uint value, uint begin, uint end) {
    uint from = max(begin, 4u * word) - 4u * word, to = min(end, 4u * word + 4u) - 4u * word;
    storeWord(add64(gTarget, 4u * word), value, from, to);
}

// Bytes [gPosition, gPosition + size) of the tile. False: the driver ended the loop.
bool writeRecords(uint size) {
    uint begin = gPosition, end = begin + size, first = begin >> 2, words = (end + 3u >> 2) - first;
    uint done = 0u;
    for (uint base = 0u; base < words; base += gl_WorkGroupSize.x) {
        uint word = first + base + wgInvocation(), value = 0u;
        if (base + wgInvocation() < words) {
            [[unroll]] for (uint b = 0u; b < 4u; b++) {
                uint at = 4u * word + b;
                if (at >= begin && at < end)
                    value |= planesByte(at - begin) << 8u * b;
            }
            storeTileWord(word, value, begin, end);
        }
        done = base + gl_WorkGroupSize.x;
    }
    return done >= words;
}

// ---------------------------------------------------------------------------------------------------------------
// Targa packets

// What packet k takes, from its header: with its pixels.
uint packetBytes(uint k) {
    uint at = gPosition + k, header = WordsIn(gSource).w[at >> 2] >> 8u * (at & 3u) & 0xffu;
    return 1u + ((header & 128u) != 0u ? 1u : header + 1u) * gStride;
}

// Counts the packets that take exactly `size` bytes; 0: none do.
uint countPackets(uint size) {
    uint bytes = 0u;
    sPackets = 0u;
    for (uint base = 0u; base < size && bytes < size; base += gl_WorkGroupSize.x) {
        uint k = base + wgInvocation(), own = k < size ? packetBytes(k) : 0u, total;
        uint end = bytes + wgExclusiveAdd(own, total) + own;
        if (own != 0u && end == size)
            sPackets = k + 1u;
        bytes += total;
        wgBarrierShared();
    }
    return sPackets;
}

// The bytes of the packets: headers, and pixels, which planesByte counts on their own.
bool writePackets(uint size, uint packets) {
    uint begin = 0u, done = 0u; // of the packets so far, in the section
    for (uint base = 0u; base < packets; base += gl_WorkGroupSize.x) {
        uint k = base + wgInvocation(), own = k < packets ? packetBytes(k) : 0u, total;
        uint end = begin + wgExclusiveAdd(own, total) + own;
        sPacketEnd[wgInvocation()] = end;
        wgBarrierShared();
        uint first = gPosition + begin >> 2, words = (gPosition + begin + total + 3u >> 2) - first;
        for (uint w = 0u; w < words; w += gl_WorkGroupSize.x) {
            uint word = first + w + wgInvocation(), value = 0u;
            if (w + wgInvocation() < words) {
                for (uint b = 0u; b < 4u; b++) {
                    uint at = 4u * word + b - gPosition; // in the section; wraps below its start
                    if (4u * word + b >= gPosition + begin && at < begin + total) {
                        uint packet = 0u; // how many of these packets end at or before it
                        [[unroll]] for (uint reach = gl_WorkGroupSize.x / 2u; reach != 0u; reach >>= 1)
                            packet += sPacketEnd[packet + reach - 1u] <= at ? reach : 0u;
                        uint start = packet == 0u ? begin : sPacketEnd[packet - 1u];
                        uint header = gPosition + base + packet;
                        value |= (at == start ? WordsIn(gSource).w[header >> 2] >> 8u * (header & 3u) & 0xffu
                                              : planesByte(at - (base + packet) - 1u))
                                 << 8u * b;
                    }
                }
                storeTileWord(word, value, gPosition + begin, gPosition + begin + total);
            }
        }
        begin += total;
        done = base + gl_WorkGroupSize.x;
        wgBarrierShared();
    }
    return done >= packets && begin == size;
}

// ---------------------------------------------------------------------------------------------------------------

// What readSection found becomes bytes of the tile.
uint undoSection() {
    uint size = sSize, packets = 0u;
    bool hasPackets = sPackets != 0u;
    gStride = sStride;
    gWidth = sWidth;
    gFirst = sFirst;
    gPlanes = gPosition;
    wgBarrierShared(); // sPackets has been read
    if (hasPackets) {
        packets = countPackets(size);
        if (packets == 0u && size != 0u)
            return SLUICE_ST_BAD_FILTER;
        gPlanes += packets;
    }
    gCount = gStride == 0u ? 0u : (size - packets) / gStride;
    if (wgInvocation() == 0u) {
        uint end = 0u;
        for (uint c = 0u; c < sColumns; c++) {
            sValues[c] = end;
            end += gCount * bytesOf(c) + 3u & ~3u;
        }
    }
    wgBarrierAll(); // also: the section before is done with scratch
    undoPredictions();
    bool ended = true;
    if (hasPackets)
        ended = writePackets(size, packets);
    if (!hasPackets)
        ended = writeRecords(size);
    return ended ? SLUICE_ST_OK : SLUICE_ST_INTERNAL;
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
        bool sized = goodRegion && gDescriptionWords - 1u < 4096u;
        uint head = sized ? WordsIn(gDescription).w[0] : 0u;
        sCursor = 1u;
        sSections = head >> 16;
        bool good = sized && (head & 0xffffu) == 1u && sSections - 1u < SLUICE_FILTER_MAX_SECTIONS;
        sStatus = !goodRegion ? SLUICE_ST_BAD_REGION : good ? SLUICE_ST_OK : SLUICE_ST_BAD_FILTER;
    }
    wgBarrierShared();
    gPosition = 0u;
    uint status = sStatus;
    for (uint s = 0u; s < SLUICE_FILTER_MAX_SECTIONS && status == SLUICE_ST_OK && sSections != 0u; s++) {
        wgBarrierShared();
        if (wgInvocation() == 0u)
            readSection();
        wgBarrierShared();
        status = sStatus;
        if (status == SLUICE_ST_OK) {
            status = undoSection();
            gPosition += sSize;
        }
        wgBarrierShared();
    }
    if (status != SLUICE_ST_OK)
        return status;
    // What remains is copied.
    gStride = gCount = 0u;
    gPlanes = gPosition;
    bool ended = writeRecords(gTileSize - gPosition);
    return ended && sSections == 0u ? SLUICE_ST_OK : SLUICE_ST_INTERNAL;
}

void main() {
    uint group = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    uint count = p.maxTileCount;
    if (p.tileCount != uvec2(0u))
        count = min(count, WordsIn(p.tileCount).w[0]);
    gScratch = add64(p.scratch, mul64(group, p.scratchBytes));
    if (group >= p.workgroups)
        return; // the whole workgroup
    uint turns = group < count ? (count - group - 1u) / p.workgroups + 1u : 0u;
    for (uint turn = 0u; turn < turns; turn++) {
        uint index = group + turn * p.workgroups;
        WordsIn tile = WordsIn(add64(p.tiles, mul64(index, 4u * SLUICE_FILTER_TILE_WORDS)));
        uint word = tile.w[7];
        if (wgInvocation() == 0u) // one reads: another tile with the same word may write it
            sStatus = word < p.statusCount ? WordsIn(p.status).w[word] : SLUICE_ST_PENDING;
        wgBarrierShared();
        bool decoded = sStatus == SLUICE_ST_OK || sStatus == SLUICE_ST_UNVERIFIED;
        wgBarrierShared();
        if (decoded) {
            uint result = undoTile(readTile(tile)), bad;
            // A loop that the driver ended leaves lanes with different results.
            wgExclusiveAdd(result == SLUICE_ST_OK ? 0u : 1u, bad);
            if (bad != 0u && wgInvocation() == 0u) {
                WordsOut(p.status).w[word] = result == SLUICE_ST_OK ? SLUICE_ST_INTERNAL : result;
                atomicAdd(WordsOut(p.status).w[p.statusCount], 1u);
                atomicMin(WordsOut(p.status).w[p.statusCount + 1u], word);
            }
        }
        wgBarrierShared();
    }
}
