// SPDX-License-Identifier: MIT OR Apache-2.0
// What filters are undone with: the description of a section, where its columns stand in the tile,
// in scratch and in a record, and their values. The whole workgroup is at one section.
#ifndef SLUICE_FILTER_COLUMNS_GLSL
#define SLUICE_FILTER_COLUMNS_GLSL

#include "layout/filter.h"
#include "memory.glsl"
#include "scan.glsl"

// The lanes of a workgroup see each other's plain stores behind a barrier. Not a constant to choose
// by where that is never so: branches in code with barriers cost SwiftShader minutes of
// compilation.
#if defined(SLUICE_EMU) || defined(SLUICE_NARROW)
const bool kPlainHistory = false;
#else
layout(constant_id = SLUICE_CONSTANT_PLAIN_STORES_VISIBLE) const bool kPlainHistory = false;
#endif

const uint kNone = 0u, kLeft3 = 3u, kUp = 4u, kGradient = 5u, kMedian = 6u, kAverage = 7u,
           kPredictors = 8u;
const uint kZigzag = 1u << 10, kSplit = 1u << 11, kJoined = 1u << 12, kRotated = 1u << 13,
           kBlock = 1u << 14; // in a column's word
const uint kStride = SLUICE_FILTER_MAX_STRIDE;
const uint kWindow = kStride + 4u; // words of a description that a good section has at most: head,
                                   // rows, runs
const uint kPerLane = 16u;         // values of a lane in a step of a scan
const uint kRowWords = 1024u;      // of the rows that wavefronts of bytes pass to the next band

shared uint sWindow[kWindow];
// A column: as in the description (log2 bytes << 8, flags << 10, predictor << 16, base << 24), its
// place in the record in the low 8 bits.
shared uint sColumn[kStride];
shared uint sLeader[kStride];   // the first column of its group
shared uint sGroupEnd[kStride]; // of a leader's group, in the record
shared uint sFrom[kStride];     // byte b of value i in the tile: from + i * step + b *
                                // byteStep
shared uint sStep[kStride], sByteStep[kStride];
shared uint sValues[kStride];    // where its values are in scratch: a plane for each byte
shared uint sPredicted[kStride]; // the columns with a prediction
// Of a byte of the record: where it is, step << 1, and 1 if in scratch, 0 if in the tile; the same
// of what is added to it, kNothing if nothing is.
shared uvec4 sBytes[kStride];
// of the section; sPackets: 1, the count of them
shared uint sPredictedCount, sColumns, sStride, sSize, sWidth, sFirst, sPackets;
// next word of the description, sections to come
shared uint sCursor, sSections, sStatus;
const uint kNothing = ~0u;

// The same in the whole workgroup.
uvec2 gDescription, gSource, gTarget, gScratch;
uint gDescriptionWords, gTileSize;
uint gPosition; // of the section in the tile
uint gPlanes;   // of its planes: behind the headers, if there are packets
uint gCount, gStride, gWidth, gFirst, gPlaneBytes;
bool gAnyBase, gAnyUp, gAnyFinal;

// Shared memory and scratch.
void wgBarrierAll() { wgBarrierAll(kPlainHistory); }

bool wgAnyInvocation(bool condition) {
    uint total;
    wgExclusiveAdd(condition ? 1u : 0u, total);
    return total != 0u;
}

// -----------------------------------------------------------------------------------------------
// The description: its words by all lanes, their meaning by one

void loadWindow() {
    for (uint k = wgInvocation(); k < kWindow; k += gl_WorkGroupSize.x)
        if (sCursor + k < gDescriptionWords) sWindow[k] = WordsIn(gDescription).w[sCursor + k];
}

// Word k of the section.
uint windowWord(uint k) {
    if (k < kWindow && sCursor + k < gDescriptionWords) return sWindow[k];
    sStatus = SLUICE_ST_BAD_FILTER;
    return 0u;
}

void readColumns(uint at, uint runs) {
    uint columns = 0u, stride = 0u, leader = 0u, predicted = 0u;
    bool good = true;
    for (uint r = 0u; r < runs && good; r++) {
        uint run = windowWord(at + r), repeat = run & 0xffu, log2Bytes = run >> 8 & 3u,
             predictor = run >> 16 & 0xffu;
        bool same = columns != 0u && ((sColumn[max(columns, 1u) - 1u] ^ run) & kSplit) == 0u;
        bool bad = log2Bytes == 3u || (run >> 15 & 1u) != 0u || predictor >= kPredictors ||
                   repeat == 0u || repeat > kStride - columns || ((run & kJoined) != 0u && !same) ||
                   (predictor >= kUp && sWidth == 0u) || (repeat << log2Bytes) > kStride - stride ||
                   ((run & kBlock) != 0u && (log2Bytes == 0u || (run & kRotated) != 0u));
        good = !bad && sStatus == SLUICE_ST_OK;
        for (uint k = 0u; k < repeat && good; k++) {
            if ((run & kJoined) == 0u) leader = columns;
            sColumn[columns] = (run & ~0xffu) | stride;
            sLeader[columns] = leader;
            if (predictor != kNone) sPredicted[predicted++] = columns;
            stride += 1u << log2Bytes;
            sGroupEnd[leader] = stride;
            columns++;
        }
    }
    sColumns = columns;
    sPredictedCount = predicted;
    sStride = stride;
    if (!good || (sPackets != 0u && columns == 0u)) sStatus = SLUICE_ST_BAD_FILTER;
}

void readSection() {
    // size : 21, runs : 8, rows : 1, Targa packets : 1, reserved : 1
    uint head = windowWord(0u), size = head & 0x1fffffu, left = gTileSize - gPosition;
    uint runs = head >> 21 & 0xffu, at = 1u;
    bool rest = size == SLUICE_FILTER_REST;
    sSections--;
    sPackets = head >> 30 & 1u;
    sSize = rest ? left : size;
    sWidth = 0u;
    sFirst = 0u;
    bool good = head >> 31 == 0u && (rest ? sSections == 0u : size <= left);
    if ((head >> 29 & 1u) != 0u) {
        sWidth = windowWord(1u);
        sFirst = windowWord(2u);
        at = 3u;
        good = good && sWidth - 1u < 1u << 20 && sFirst < sWidth && sPackets == 0u;
    }
    if (!good) sStatus = SLUICE_ST_BAD_FILTER;
    readColumns(at, runs);
    sCursor += at + runs;
    if (sSections == 0u && sCursor != gDescriptionWords) sStatus = SLUICE_ST_BAD_FILTER;
}

bool isBaseBad(uint column) {
    uint base = sColumn[column] >> 24, other = min(max(base, 1u), sColumns) - 1u;
    return base != 0u && (base > sColumns || sColumn[other] >> 24 != 0u ||
                          ((sColumn[other] ^ sColumn[column]) & 0x300u) != 0u);
}

// -----------------------------------------------------------------------------------------------
// Memory: words and bytes of the tile and of scratch

uint loadFrom(uvec2 base, uint index) {
#if !defined(SLUICE_EMU) && !defined(SLUICE_NARROW)
    if (kPlainHistory) return WordsPlain(base).w[index];
#endif
    return WordsOut(base).w[index];
}

uint sourceByte(uint at) { return WordsIn(gSource).w[at >> 2] >> 8u * (at & 3u) & 0xffu; }
uint scratchByte(uint at) { return loadFrom(gScratch, at >> 2) >> 8u * (at & 3u) & 0xffu; }

void storeScratchWord(uint at, uint value) {
    if (kPlainHistory)
        WordsPlain(gScratch).w[at >> 2] = value;
    else
        WordsOut(gScratch).w[at >> 2] = value;
}

void storeScratchByte(uint at, uint value) {
#ifdef SLUICE_EXT
    if (kPlainHistory)
        BytesPlain(gScratch).b[at] = int8_t(int(value));
    else
        BytesOut(gScratch).b[at] = uint8_t(value);
#else
    uint shift = 8u * (at & 3u);
    atomicAnd(WordsOut(gScratch).w[at >> 2], ~(0xffu << shift));
    atomicOr(WordsOut(gScratch).w[at >> 2], (value & 0xffu) << shift);
#endif
}

uint shiftedWord(uint low, uint high, uint shift) {
    return low >> shift | high << 1 << 31u - shift;
}

// Four bytes from byte `at` on; no word without any of them is read.
uint loadBytes4(uvec2 base, uint at) {
    uint shift = 8u * (at & 3u), word = at >> 2;
    return shiftedWord(loadFrom(base, word), loadFrom(base, word + min(shift, 1u)), shift);
}

// The low bytes of four words.
uint packBytes(uvec4 value) {
    return value.x & 0xffu | (value.y & 0xffu) << 8 | (value.z & 0xffu) << 16 | value.w << 24;
}

// Four sums of bytes.
uint addBytes(uint a, uint b) {
    return (a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu) ^ (a ^ b) & 0x80808080u;
}

uint unzigzagBytes(uint word) { return word >> 1 & 0x7f7f7f7fu ^ (word & 0x01010101u) * 0xffu; }

// -----------------------------------------------------------------------------------------------
// Columns and values

uint bytesOf(uint column) { return 1u << (sColumn[column] >> 8 & 3u); }
uint predictorOf(uint column) { return sColumn[column] >> 16 & 0xffu; }
uint maskOf(uint bytes) { return 0xffffffffu >> (32u - 8u * bytes); }

bool isWaveOfBytes(uint column) {
    return predictorOf(column) >= kGradient && bytesOf(column) == 1u && gWidth <= 4u * kRowWords &&
           gWidth < gCount;
}
// Whether its residuals are brought into a row first.
bool isGathered(uint column) {
    return predictorOf(column) != kNone && bytesOf(column) == 1u && sStep[column] != 1u &&
           (predictorOf(column) <= kUp || isWaveOfBytes(column));
}
// Whether its bytes in the planes or in scratch are not those of the record, less those of its
// base.
bool isChanged(uint column) {
    uint word = sColumn[column];
    return (word & (kRotated | kBlock)) != 0u ||
           ((word & kZigzag) != 0u && predictorOf(column) == kNone);
}
// Such columns, and those whose sum with the base has carries, are finished in scratch.
bool needsFinal(uint column) {
    uint base = sColumn[column] >> 24;
    return isChanged(column) ||
           (base != 0u && (bytesOf(column) != 1u || isChanged(max(base, 1u) - 1u)));
}

// Byte b of a column: its place in its first value, step << 1 and whether that is in scratch.
uvec2 placeOf(uint column, uint b) {
    if (predictorOf(column) != kNone || needsFinal(column))
        return uvec2(sValues[column] + b * gPlaneBytes, 3u);
    return uvec2(sFrom[column] + b * sByteStep[column], sStep[column] << 1);
}

// The places of columns and of a record's bytes, a lane a column.
void placeColumns() {
    uint c = wgInvocation(), columns = sColumns, area = 0u, total;
    bool isColumn = c < columns;
    gPlaneBytes = (gCount + 3u + kPerLane - 1u) / kPerLane * kPerLane;
    if (isColumn) {
        uint word = sColumn[c], place = word & 0xffu, leader = sLeader[c];
        uint group = sColumn[leader] & 0xffu, groupBytes = sGroupEnd[leader] - group;
        bool split = (word & kSplit) != 0u;
        sFrom[c] = gPlanes + (split ? place * gCount : group * gCount + place - group);
        sStep[c] = split ? 1u : groupBytes;
        sByteStep[c] = split ? gCount : 1u;
        area = gPlaneBytes * bytesOf(c);
    }
    uint values = wgExclusiveAdd(area, total);
    if (isColumn) // a row of quads that starts at a multiple of 4 records starts at a word
        sValues[c] = values + (isWaveOfBytes(c) ? gFirst & 3u : 0u);
    wgBarrierShared();
    bool isFinal = false, hasBase = false, isUp = false;
    if (isColumn) {
        isFinal = needsFinal(c);
        hasBase = sColumn[c] >> 24 != 0u && !isFinal;
        isUp = predictorOf(c) == kUp && bytesOf(c) != 1u;
        for (uint b = 0u; b < bytesOf(c); b++) {
            uvec2 base = uvec2(kNothing, 0u);
            if (hasBase) base = placeOf((sColumn[c] >> 24) - 1u, b);
            sBytes[(sColumn[c] & 0xffu) + b] = uvec4(placeOf(c, b), base);
        }
    }
    gAnyUp = wgAnyInvocation(isUp);
    gAnyFinal = wgAnyInvocation(isFinal);
    gAnyBase = wgAnyInvocation(hasBase);
}

uint residual(uint column, uint i) {
    uint word = sColumn[column], bytes = bytesOf(column), at = sFrom[column] + i * sStep[column],
         value = 0u;
    [[unroll]] for (uint b = 0u; b < 4u; b++) if (b < bytes) value |=
        sourceByte(at + b * sByteStep[column]) << 8u * b;
    return (word & kZigzag) != 0u ? (value >> 1 ^ (0u - (value & 1u))) & maskOf(bytes) : value;
}

// Values of columns with a prediction, in scratch.
uint loadValue(uint column, uint i) {
    uint value = 0u;
    for (uint b = 0u; b < bytesOf(column); b++)
        value |= scratchByte(sValues[column] + i + b * gPlaneBytes) << 8u * b;
    return value;
}

void storeValue(uint column, uint i, uint value) {
    for (uint b = 0u; b < bytesOf(column); b++)
        storeScratchByte(sValues[column] + i + b * gPlaneBytes, value >> 8u * b);
}

// A value of a block column as it was: a colour of 5, 6 and 5 bits, or 4 x 4 indices of 2 bits.
uint unmapBlock(uint value, bool isColour) {
    uint green = (value >> 5) + 2u * (value >> 11) & 63u, near = (value ^ value >> 6) & 0x00cc00ccu;
    uint colour = value & 0xf800u | green << 5 | value + (green >> 1) & 31u;
    uint rows = value ^ near ^ near << 6, far = (rows ^ rows >> 12) & 0x0000f0f0u;
    return mix(rows ^ far ^ far << 12, colour, isColour);
}

uint valueOf(uint column, uint i) {
    return predictorOf(column) == kNone ? residual(column, i) : loadValue(column, i);
}

// The prediction from numbers that are not negative: left, up and what is left of up.
uint guessOf(uint predictor, uint left, uint up, uint corner) {
    uint low = min(left, up), high = max(left, up), plane = left + up - corner;
    uint median = mix(mix(plane, low, corner >= high), high, corner <= low && corner < high);
    uint average = (left & up) + ((left ^ up) >> 1);
    return mix(mix(median, average, predictor == kAverage), plane, predictor == kGradient);
}

#endif // SLUICE_FILTER_COLUMNS_GLSL
