// SPDX-License-Identifier: MIT OR Apache-2.0
// The columns of a section of a filter, on which the whole workgroup works. This file reads the
// section's description, finds where its columns are, and loads and stores their values.
// layout/filter.h numbers predictors and flags; formulas/filter.h has their arithmetic.
//
// Words of the filter_*.glsl files (docs/format.md, 8):
// - section: a piece of the tile that is filtered by itself. It has gCount records of gStride
//   bytes, and perhaps a few bytes after them that are too few for a record.
// - column: integers of 1, 2 or 4 bytes, one in each record, at the same place in every record.
//   Integer i belongs to record i. Its `value` is the integer itself. Its `residual` is what the
//   filter has stored for it: the difference from a prediction.
// - base: another column, whose value is added to a column's value.
// - row: gWidth records, if the records are an image. The section's first record has number gFirst
//   in its row.
// - plane: byte b of each of a column's integers, side by side in memory. In scratch every column
//   has a plane for each of its bytes.
// - group: columns whose residuals stand side by side in the filtered tile, record by record.
// - wave: a column that is predicted from the row above, and undone by a wavefront
//   (filter_wavefront.glsl).
#ifndef SLUICE_FILTER_COLUMNS_GLSL
#define SLUICE_FILTER_COLUMNS_GLSL

#include "loops.glsl"
#include "filter_team.glsl"
#include "formulas/filter.h"
#include "memory.glsl"
#include "scan.glsl"

// This flag in a column's word says that the column's values are completed in scratch, before
// records are put together (becomesFinal). In descriptions its bit is reserved, and therefore 0.
const uint kFinal = 1u << 15;
const uint kStride = SLUICE_FILTER_MAX_STRIDE;
// The size of sWindow in words, enough for the description of any valid section: its head, two
// words about rows, and a word for each run of columns. There are at most kStride runs, since a
// record has at most kStride bytes.
const uint kWindow = kStride + 4u;
const uint kPerLane = 16u; // values of a lane in one step of undoDifferences
// The size in words of sRow, in which undoByteWave keeps rows (filter_wavefront.glsl).
const uint kRowWords = 1024u;

// The words of the description from the head of the current section on, copied from memory.
shared uint sWindow[kWindow];
shared FilterReading sReading;
shared FilterSectionWords sSection; // `size` is in bytes, never SLUICE_FILTER_REST
// A word for each column: its place in the record in the lowest byte, then its size, flags,
// predictor and base (kernels/filter_description.h).
shared uint sColumn[kStride];
shared uint sGroup[kStride];    // the byte of a record at which the column's group begins
shared uint sGroupEnd[kStride]; // entry b is the end of the group that begins at byte b of a record
// Byte b of residual i is at byte sFrom + i * sStep + b * sByteStep of the filtered tile.
shared uint sFrom[kStride], sStep[kStride], sByteStep[kStride];
shared uint sValues[kStride];    // the byte of scratch at which the column's planes begin
shared uint sPredicted[kStride]; // the columns with a prediction
shared uint sWaves[kStride];     // the waves that undoWave undoes, in any order
shared uint sWaveCount;
// Says for each byte of a record where it comes from. In record i it is byte x + i * (y >> 1) of
// scratch if bit 0 of y is set, otherwise of the filtered tile. If the column has a base, a byte of
// the base is added, which z and w locate in the same way. z is kNothing if no byte is added.
shared uvec4 sBytes[kStride];
const uint kNothing = ~0u;
shared uint sPredictedCount;
// The columns with the predictor UP. sByteUps columns of one byte are at the front of sUps, and
// sWideUps wider ones at its end, from the last element down.
shared uint sUps[kStride], sByteUps, sWideUps;
shared uint sStrideReciprocal; // reciprocalOf(gStride)
// True if the current section is the rest of the tile, after the description's last section.
shared bool sIsRest;
shared uint sStatus;

// The following variables have the same values in the whole workgroup.

// The addresses of the description, the filtered tile, the output, and the workgroup's scratch.
uvec2 gDescription, gSource, gTarget, gScratch;
uint gDescriptionWords, gTileSize;
uint gPosition; // the byte of the tile at which the section begins
uint gPlanes;   // the byte at which the section's residuals begin, after the headers of packets
uint gCount, gStride, gWidth, gFirst, gPlaneBytes;
bool gAnyBase, gAnyUp, gAnyFinal, gAnyByteWave;

// wgOr returns the OR of what all invocations pass to it. Calls use the three words of sOr in turn.
// Each call clears the word of the call before, so one barrier per call is enough.
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

// Returns 2^32 / divisor, rounded up, by which `quotient` multiplies.
uint reciprocalOf(uint divisor) { return 0xffffffffu / max(divisor, 1u) + 1u; }
// Returns at / divisor, rounded down: exact for `at` below 2^25 and divisors up to 128.
// `reciprocal` is reciprocalOf(divisor).
uint quotient(uint at, uint divisor, uint reciprocal) {
    uint high, low;
    umulExtended(at, reciprocal, high, low);
    return divisor == 1u ? at : high;
}

// -----------------------------------------------------------------------------------------------
// The description. All lanes load its words; one invocation interprets them.

void loadWindow() {
    for (uint k = wgInvocation(); k < kWindow; k += gl_WorkGroupSize.x)
        if (sReading.next + k < sReading.words)
            sWindow[k] = WordsIn(gDescription).w[sReading.next + k];
}

// Holds what addColumn needs to know while a section is read.
struct Columns {
    uint window; // sWindow[0] is the description's word of this number
    // How many columns have a prediction; how many of them have the predictor UP and one byte; and
    // how many have UP and more bytes.
    uint predicted, byteUps, wideUps;
};

// kernels/filter_description.h calls these two functions: descriptionWord returns word `at` of the
// description, and addColumn stores a column.
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

// Reads the next section into sSection and the columns' arrays. One invocation calls this.
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

// Returns whether the column's base breaks a rule of the format. When a section has been read, each
// invocation calls this for one column.
bool hasBadBase(uint column) {
    uint word = sColumn[column];
    return isBaseBad(word, sColumn[baseColumn(word, sSection.columns)], sSection.columns);
}

// Makes the bytes after the last section a section without columns, which is copied.
void readRest() {
    sIsRest = true;
    sSection = FilterSectionWords(gTileSize - gPosition, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
}

// -----------------------------------------------------------------------------------------------
// Memory: words and bytes of the tile and of scratch

// Returns word `index` of the tile or of scratch; `base` is the address of one of them. After a
// barrier, the load sees the earlier stores of other lanes of the workgroup.
uint loadFrom(uvec2 base, uint index) {
#if !defined(SLUICE_EMU) && !defined(SLUICE_NARROW)
    if (kPlainHistory) return WordsPlain(base).w[index];
#endif
    return WordsOut(base).w[index];
}

// Returns byte `at` of the filtered tile.
uint sourceByte(uint at) { return WordsIn(gSource).w[at >> 2] >> 8u * (at & 3u) & 0xffu; }
// Returns byte `at` of scratch.
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

// Returns the low word of (high, low) shifted right by 0 .. 31 bits.
uint shiftedWord(uint low, uint high, uint shift) {
    return low >> shift | high << 1 << (31u - shift);
}

// Loads four bytes at any byte offset `at`. Reads only words that have some of these bytes.
uint loadBytes4(uvec2 base, uint at) {
    uint shift = 8u * (at & 3u), word = at >> 2;
    return shiftedWord(loadFrom(base, word), loadFrom(base, word + min(shift, 1u)), shift);
}

// Returns the low bytes of four words as one word.
uint packBytes(uvec4 value) {
    return value.x & 0xffu | (value.y & 0xffu) << 8 | (value.z & 0xffu) << 16 | value.w << 24;
}

// Transposes 4 x 4 bytes: byte b of component r of the result is byte r of component b of `row`.
uvec4 transposed(uvec4 row) {
    uvec4 even = uvec4(row.x & 0x00ff00ffu | (row.y & 0x00ff00ffu) << 8,
                       row.x >> 8 & 0x00ff00ffu | row.y & 0xff00ff00u,
                       row.z & 0x00ff00ffu | (row.w & 0x00ff00ffu) << 8,
                       row.z >> 8 & 0x00ff00ffu | row.w & 0xff00ff00u);
    // even.x has bytes 0 and 2 of rows 0 and 1, even.y has bytes 1 and 3 of these rows; even.z and
    // even.w have these bytes of rows 2 and 3.
    return uvec4(even.x & 0xffffu | even.z << 16, even.y & 0xffffu | even.w << 16,
                 even.x >> 16 | even.z & 0xffff0000u, even.y >> 16 | even.w & 0xffff0000u);
}

// -----------------------------------------------------------------------------------------------
// Columns and values

uint bytesOf(uint column) { return filterWordBytes(sColumn[column]); }
uint predictorOf(uint column) { return filterWordPredictor(sColumn[column]); }
uint baseOf(uint column) { return filterWordBase(sColumn[column]); }
// Returns a mask with ones in the bits of a value of `bytes` bytes.
uint maskOf(uint bytes) { return 0xffffffffu >> (32u - 8u * bytes); }

// Returns whether undoByteWave undoes the column, four neighbouring bytes (a *quad*) at once;
// undoWave would undo it value by value. Its rows must fit in sRow, which several teams share if
// many columns are undone at once. If the width is not a multiple of 4, quads are stored byte by
// byte, and undoWave is faster as long as there are four teams to share each column.
bool isWaveOfBytes(uint column) {
    uint room = sSection.waveBytes <= SLUICE_FILTER_STEP_BYTES
                    ? kRowWords
                    : kRowWords / SLUICE_FILTER_STEP_BYTES;
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && bytesOf(column) == 1u &&
           gWidth <= 4u * room && gWidth >= SLUICE_FILTER_QUAD_WIDTH && gWidth < gCount &&
           ((gWidth & 3u) == 0u || 4u * sSection.waveBytes > kTeams);
}
// Returns whether undoWave undoes the column, value by value.
bool isWaveOfValues(uint column) {
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && !isWaveOfBytes(column);
}
// Returns whether gatherResiduals first copies the column's residuals to scratch, side by side.
// This is for columns of bytes that are undone a word at a time, but whose residuals are not
// neighbours.
bool isGathered(uint column) {
    return predictorOf(column) != SLUICE_PREDICTOR_NONE && bytesOf(column) == 1u &&
           sStep[column] != 1u &&
           (SLUICE_PREDICTOR_IS_SUM(predictorOf(column)) || isWaveOfBytes(column));
}
// Returns whether the column's values, before a base is added, are something else than the bytes in
// its planes: rotated, part of a compressed block, or in zigzag form.
bool isChanged(uint column) {
    uint word = sColumn[column];
    return (word & (kRotated | kBlock)) != 0u ||
           ((word & kZigzag) != 0u && predictorOf(column) == SLUICE_PREDICTOR_NONE);
}
// Returns whether the column's values are completed in scratch (kFinal). They are if they are
// changed (isChanged), or if adding the base carries from byte to byte or needs a changed column's
// value.
bool becomesFinal(uint column) {
    uint base = baseOf(column);
    return isChanged(column) ||
           (base != 0u && (bytesOf(column) != 1u || isChanged(max(base, 1u) - 1u)));
}
bool needsFinal(uint column) { return (sColumn[column] & kFinal) != 0u; }

// Returns where byte b of a column is, in the form of components x and y of sBytes.
uvec2 placeOf(uint column, uint b) {
    if (predictorOf(column) != SLUICE_PREDICTOR_NONE || needsFinal(column))
        return uvec2(sValues[column] + b * gPlaneBytes, 3u);
    return uvec2(sFrom[column] + b * sByteStep[column], sStep[column] << 1);
}

// Fills the arrays that say where columns and the bytes of a record are in memory (sFrom to
// sBytes). Each invocation takes one column.
void placeColumns() {
    uint c = wgInvocation(), columns = sSection.columns, area = 0u, word = 0u, total;
    bool isColumn = c < columns, isFinal = false;
    gPlaneBytes = (gCount + 3u + kPerLane - 1u) / kPerLane * kPerLane;
    if (isColumn) {
        word = sColumn[c];
        uint place = word & 0xffu, group = sGroup[c], groupBytes = sGroupEnd[group] - group;
        // In a section that is a single row, the median and the gradient equal the value to the
        // left. So LEFT gives the same values, and prefix sums undo it faster than a wavefront.
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
    // wgExclusiveAdd also serves as a barrier. Until here, invocations have read the words of other
    // columns (becomesFinal). Only after it are these words changed.
    uint values = wgExclusiveAdd(area, total);
    if (isColumn) {
        sColumn[c] = word;
        // A wave of bytes is stored a word at a time. Its values begin gFirst % 4 bytes after the
        // start of a word, so that its rows begin at words if their width is a multiple of 4.
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

// If `inScratch` is set, returns value i of a column from scratch. Otherwise returns residual i
// from the filtered tile, with its zigzag form undone.
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
// Returns value i of a column whose values are not yet completed (kFinal): from scratch if the
// column has a prediction, which has been undone there, otherwise from the filtered tile.
uint valueOf(uint column, uint i) {
    return valueIn(column, i, predictorOf(column) != SLUICE_PREDICTOR_NONE);
}

// Loads value i of a column with a prediction from scratch.
uint loadValue(uint column, uint i) {
    uint value = 0u;
    SLUICE_DONT_UNROLL
    for (uint b = 0u; b < bytesOf(column); b++)
        value |= scratchByte(sValues[column] + i + b * gPlaneBytes) << 8u * b;
    return value;
}

// Stores value i of a column in scratch.
void storeValue(uint column, uint i, uint value) {
    SLUICE_DONT_UNROLL
    for (uint b = 0u; b < bytesOf(column); b++)
        storeScratchByte(sValues[column] + i + b * gPlaneBytes, value >> 8u * b);
}

#endif // SLUICE_FILTER_COLUMNS_GLSL
