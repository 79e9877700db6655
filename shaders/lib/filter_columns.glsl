// SPDX-License-Identifier: MIT OR Apache-2.0
// The columns of a section of a filter: their description, their places in the tile, in scratch and
// in a record, and their values. The whole workgroup works on one section.
//
// layout/filter.h defines the numbers of predictors and flags; formulas/filter.h defines what they
// compute.
#ifndef SLUICE_FILTER_COLUMNS_GLSL
#define SLUICE_FILTER_COLUMNS_GLSL

#include "loops.glsl"
#include "filter_team.glsl"
#include "formulas/filter.h"
#include "memory.glsl"
#include "scan.glsl"

// In a column's word, the reserved bit of a run marks a column that is finished in scratch
// (placeColumns).
const uint kFinal = 1u << 15;
const uint kStride = SLUICE_FILTER_MAX_STRIDE;
// The largest number of words in the description of a valid section: head, rows and runs.
const uint kWindow = kStride + 4u;
const uint kPerLane = 16u;    // values of a lane in a step of a scan
const uint kRowWords = 1024u; // for the rows that wavefronts of bytes pass on to the next band

shared uint sWindow[kWindow];
shared FilterReading sReading;
shared FilterSectionWords sSection; // its size is never SLUICE_FILTER_REST
shared uint sColumn[kStride];       // the columns' words: kernels/filter_description.h
shared uint sGroup[kStride];        // where its group begins in the record
shared uint sGroupEnd[kStride];     // index: where a group begins; value: where it ends
// Byte b of value i is at sFrom + i * sStep + b * sByteStep in the tile.
shared uint sFrom[kStride], sStep[kStride], sByteStep[kStride];
shared uint sValues[kStride];    // where its values are in scratch: a plane for each byte
shared uint sPredicted[kStride]; // the columns with a prediction
shared uint sWaves[kStride];     // the columns that undoWave undoes, in any order
shared uint sWaveCount;
// The source of each byte of a record. x is its place for the first record. y is the step from
// record to record << 1, plus 1 if the place is in scratch and 0 if it is in the tile. z and w
// describe in the same way the byte of the base that is added to it; z is kNothing if it has no
// base.
shared uvec4 sBytes[kStride];
const uint kNothing = ~0u;
shared uint sPredictedCount;
// Columns with UP: columns of bytes fill the array from the front, wider ones from the end.
shared uint sUps[kStride], sByteUps, sWideUps;
shared uint sStrideReciprocal; // see reciprocalOf
shared bool sIsRest;           // the section is the data after all sections of the description
shared uint sStatus;

// These are the same in the whole workgroup.
uvec2 gDescription, gSource, gTarget, gScratch;
uint gDescriptionWords, gTileSize;
uint gPosition; // of the section in the tile
uint gPlanes;   // where its planes begin in the tile, behind the headers of packets
uint gCount, gStride, gWidth, gFirst, gPlaneBytes;
bool gAnyBase, gAnyUp, gAnyFinal, gAnyByteWave;

// wgOr combines the bits of all invocations. Three words rotate: while one is read, the word before
// it is cleared, so that it is 0 before it is written again.
shared uint sOr[3];
uint gOrTurn = 0u;

void wgOrBegin() {
    if (wgInvocation() < 3u) sOr[wgInvocation()] = 0u;
}
uint wgOr(uint bits) {
    if (bits != 0u) atomicOr(sOr[gOrTurn], bits);
    wgBarrierShared();
    uint result = sOr[gOrTurn], before = mix(gOrTurn - 1u, 2u, gOrTurn == 0u);
    if (wgInvocation() == 0u) sOr[before] = 0u;
    gOrTurn = mix(gOrTurn + 1u, 0u, gOrTurn == 2u);
    return result;
}

// at / divisor, for `at` below 2^25 and divisors up to 128, by the reciprocal.
uint reciprocalOf(uint divisor) { return 0xffffffffu / max(divisor, 1u) + 1u; }
uint quotient(uint at, uint divisor, uint reciprocal) {
    uint high, low;
    umulExtended(at, reciprocal, high, low);
    return divisor == 1u ? at : high;
}

// -----------------------------------------------------------------------------------------------
// The description. All lanes load its words; one invocation parses them.

void loadWindow() {
    for (uint k = wgInvocation(); k < kWindow; k += gl_WorkGroupSize.x)
        if (sReading.next + k < sReading.words)
            sWindow[k] = WordsIn(gDescription).w[sReading.next + k];
}

struct Columns {
    uint window; // the first word there
    uint predicted, byteUps, wideUps;
};

uint descriptionWord(Columns columns, uint at) {
    return sWindow[min(at - columns.window, kWindow - 1u)];
}

void addColumn(inout Columns columns, uint column, uint word, uint group) {
    uint predictor = filterWordPredictor(word), bytes = filterWordBytes(word);
    sColumn[column] = word;
    sGroup[column] = group;
    sGroupEnd[group] = (word & 0xffu) + bytes;
    if (predictor != SLUICE_PREDICTOR_NONE) sPredicted[columns.predicted++] = column;
    if (predictor == SLUICE_PREDICTOR_UP)
        sUps[bytes == 1u ? columns.byteUps++ : kStride - ++columns.wideUps] = column;
}

#include "kernels/filter_description.h"

void readSection() {
    FilterReading reading = sReading;
    Columns columns = Columns(reading.next, 0u, 0u, 0u);
    uint left = gTileSize - gPosition;
    FilterSectionWords section = readSectionWords(left, columns, reading);
    if (section.size == SLUICE_FILTER_REST) section.size = left;
    countSteps(section, section.size, reading);
    endSections(reading);
    if (reading.fault != SLUICE_FILTER_GOOD) sStatus = SLUICE_ST_BAD_FILTER;
    sReading = reading;
    sSection = section;
    sPredictedCount = columns.predicted;
    sByteUps = columns.byteUps;
    sWideUps = columns.wideUps;
    sWaveCount = 0u;
    sStrideReciprocal = reciprocalOf(section.stride);
}

// Each invocation tests one column of a section that has been read.
bool hasBadBase(uint column) {
    uint word = sColumn[column];
    return isBaseBad(word, sColumn[baseColumn(word, sSection.columns)], sSection.columns);
}

// What the sections leave of the tile is not filtered.
void readRest() {
    sIsRest = true;
    sSection = FilterSectionWords(gTileSize - gPosition, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
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
    return low >> shift | high << 1 << (31u - shift);
}

// Loads four bytes at any byte offset `at`. No word is read that holds none of these bytes.
uint loadBytes4(uvec2 base, uint at) {
    uint shift = 8u * (at & 3u), word = at >> 2;
    return shiftedWord(loadFrom(base, word), loadFrom(base, word + min(shift, 1u)), shift);
}

// The low bytes of four words.
uint packBytes(uvec4 value) {
    return value.x & 0xffu | (value.y & 0xffu) << 8 | (value.z & 0xffu) << 16 | value.w << 24;
}

// Transposes a square of bytes.
uvec4 transposed(uvec4 row) {
    uvec4 even = uvec4(row.x & 0x00ff00ffu | (row.y & 0x00ff00ffu) << 8,
                       row.x >> 8 & 0x00ff00ffu | row.y & 0xff00ff00u,
                       row.z & 0x00ff00ffu | (row.w & 0x00ff00ffu) << 8,
                       row.z >> 8 & 0x00ff00ffu | row.w & 0xff00ff00u);
    // even.x has records 0 and 2 of columns 0 and 1, even.y records 1 and 3; even.z and even.w have
    // the same of columns 2 and 3.
    return uvec4(even.x & 0xffffu | even.z << 16, even.y & 0xffffu | even.w << 16,
                 even.x >> 16 | even.z & 0xffff0000u, even.y >> 16 | even.w & 0xffff0000u);
}

// -----------------------------------------------------------------------------------------------
// Columns and values

uint bytesOf(uint column) { return filterWordBytes(sColumn[column]); }
uint predictorOf(uint column) { return filterWordPredictor(sColumn[column]); }
uint baseOf(uint column) { return filterWordBase(sColumn[column]); }
uint maskOf(uint bytes) { return 0xffffffffu >> (32u - 8u * bytes); }

// Returns whether a wavefront of quads undoes the column. Teams that undo many columns at once have
// room for short rows only. Quads of rows that do not begin at words are stored byte by byte, so
// with teams to spare a wave of values, which several share, is faster.
bool isWaveOfBytes(uint column) {
    uint room = sSection.waveBytes <= SLUICE_FILTER_STEP_BYTES
                    ? kRowWords
                    : kRowWords / SLUICE_FILTER_STEP_BYTES;
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && bytesOf(column) == 1u &&
           gWidth <= 4u * room && gWidth >= SLUICE_FILTER_QUAD_WIDTH && gWidth < gCount &&
           ((gWidth & 3u) == 0u || 4u * sSection.waveBytes > kTeams);
}
bool isWaveOfValues(uint column) {
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && !isWaveOfBytes(column);
}
// Returns whether the column's residuals are brought into a row first.
bool isGathered(uint column) {
    return predictorOf(column) != SLUICE_PREDICTOR_NONE && bytesOf(column) == 1u &&
           sStep[column] != 1u &&
           (SLUICE_PREDICTOR_IS_SUM(predictorOf(column)) || isWaveOfBytes(column));
}
// Returns whether a column's bytes in the planes or in scratch differ from those of the record,
// less those of its base.
bool isChanged(uint column) {
    uint word = sColumn[column];
    return (word & (kRotated | kBlock)) != 0u ||
           ((word & kZigzag) != 0u && predictorOf(column) == SLUICE_PREDICTOR_NONE);
}
// Returns whether the column is finished in scratch. Changed columns are, and so are those whose
// sum with the base carries from byte to byte.
bool becomesFinal(uint column) {
    uint base = baseOf(column);
    return isChanged(column) ||
           (base != 0u && (bytesOf(column) != 1u || isChanged(max(base, 1u) - 1u)));
}
bool needsFinal(uint column) { return (sColumn[column] & kFinal) != 0u; }

// The first half of sBytes for byte b of a column.
uvec2 placeOf(uint column, uint b) {
    if (predictorOf(column) != SLUICE_PREDICTOR_NONE || needsFinal(column))
        return uvec2(sValues[column] + b * gPlaneBytes, 3u);
    return uvec2(sFrom[column] + b * sByteStep[column], sStep[column] << 1);
}

// Finds the places of columns and of a record's bytes, one column per invocation.
void placeColumns() {
    uint c = wgInvocation(), columns = sSection.columns, area = 0u, word = 0u, total;
    bool isColumn = c < columns, isFinal = false;
    gPlaneBytes = (gCount + 3u + kPerLane - 1u) / kPerLane * kPerLane;
    if (isColumn) {
        word = sColumn[c];
        uint place = word & 0xffu, group = sGroup[c], groupBytes = sGroupEnd[group] - group;
        // In a single row, the median and the gradient equal the value to the left.
        if (gFirst + gCount <= gWidth && SLUICE_PREDICTOR_IS_WAVE(predictorOf(c)) &&
            predictorOf(c) != SLUICE_PREDICTOR_AVERAGE)
            word = word & ~(0xffu << 16) | SLUICE_PREDICTOR_LEFT << 16;
        bool split = (word & kSplit) != 0u;
        sFrom[c] = gPlanes + (split ? place * gCount : group * gCount + place - group);
        sStep[c] = split ? 1u : groupBytes;
        sByteStep[c] = split ? gCount : 1u;
        area = gPlaneBytes * bytesOf(c);
        isFinal = becomesFinal(c);
        if (isFinal) word |= kFinal;
    }
    uint values = wgExclusiveAdd(area, total); // after its barrier nobody reads the old words
    if (isColumn) {
        sColumn[c] = word;
        // A row of quads that starts at a multiple of 4 records starts at a word.
        sValues[c] = values + (isWaveOfBytes(c) ? gFirst & 3u : 0u);
    }
    wgBarrierShared();
    bool hasBase = false, isUp = false, isByteWave = false;
    if (isColumn) {
        hasBase = baseOf(c) != 0u && !isFinal;
        isUp = predictorOf(c) == SLUICE_PREDICTOR_UP;
        isByteWave = isWaveOfBytes(c);
        if (isWaveOfValues(c)) sWaves[atomicAdd(sWaveCount, 1u)] = c;
        for (uint b = 0u; b < bytesOf(c); b++) {
            uvec2 base = uvec2(kNothing, 0u);
            if (hasBase) base = placeOf(baseOf(c) - 1u, b);
            sBytes[(sColumn[c] & 0xffu) + b] = uvec4(placeOf(c, b), base);
        }
    }
    uint any =
        wgOr((isUp ? 1u : 0u) | (isFinal ? 2u : 0u) | (hasBase ? 4u : 0u) | (isByteWave ? 8u : 0u));
    gAnyUp = (any & 1u) != 0u;
    gAnyFinal = (any & 2u) != 0u;
    gAnyBase = (any & 4u) != 0u;
    gAnyByteWave = (any & 8u) != 0u;
}

// Returns value i of a column: its residual in the tile, or the decoded value in scratch if
// `inScratch` is set.
uint valueIn(uint column, uint i, bool inScratch) {
    uvec2 base = mix(gSource, gScratch, bvec2(inScratch));
    uint bytes = bytesOf(column), byteStep = mix(sByteStep[column], gPlaneBytes, inScratch),
         at =
             mix(sFrom[column], sValues[column], inScratch) + i * mix(sStep[column], 1u, inScratch),
         value = 0u;
    SLUICE_UNROLL
    for (uint b = 0u; b < 4u; b++)
        if (b < bytes) {
            uint from = at + b * byteStep;
            value |= (loadFrom(base, from >> 2) >> 8u * (from & 3u) & 0xffu) << 8u * b;
        }
    bool hasZigzag = (sColumn[column] & kZigzag) != 0u && !inScratch;
    return hasZigzag ? filterUnzigzag(value, maskOf(bytes)) : value;
}
uint valueOf(uint column, uint i) {
    return valueIn(column, i, predictorOf(column) != SLUICE_PREDICTOR_NONE);
}

// The values of columns with a prediction are in scratch.
uint loadValue(uint column, uint i) {
    uint value = 0u;
    SLUICE_DONT_UNROLL
    for (uint b = 0u; b < bytesOf(column); b++)
        value |= scratchByte(sValues[column] + i + b * gPlaneBytes) << 8u * b;
    return value;
}

void storeValue(uint column, uint i, uint value) {
    SLUICE_DONT_UNROLL
    for (uint b = 0u; b < bytesOf(column); b++)
        storeScratchByte(sValues[column] + i + b * gPlaneBytes, value >> 8u * b);
}

#endif // SLUICE_FILTER_COLUMNS_GLSL
