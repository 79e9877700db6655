// SPDX-License-Identifier: MIT OR Apache-2.0
// The columns of a section of a filter. The whole workgroup works on one section of one tile. This
// file reads the section's description, finds where its columns stand, and loads and stores their
// values. layout/filter.h has the numbers of predictors and flags, formulas/filter.h what they
// compute.
//
// Words of the filter_*.glsl files (docs/format.md, 8):
// - section: a piece of the tile that is filtered by itself: gCount records of gStride bytes, and
//   perhaps a few bytes at the end, too few for a record.
// - column: integers of 1, 2 or 4 bytes, one in each record, which stand at the same place in every
//   record. Integer i belongs to record i. `value` is the integer itself; `residual` is what the
//   filter has stored for it, its difference from a prediction.
// - base: another column, whose value is added to a column's value.
// - row: gWidth records, if the records are an image. The section's first record has number gFirst
//   in its row.
// - plane: neighbouring bytes, one of each record: byte b of a column's integers. In scratch every
//   column has a plane for each of its bytes.
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

// This flag in a column's word says that the column gets its final form in scratch (becomesFinal).
// It is in the bit that is reserved in descriptions.
const uint kFinal = 1u << 15;
const uint kStride = SLUICE_FILTER_MAX_STRIDE;
// Enough words for the description of any valid section: its head, two words about rows, and a word
// for each run of columns. There are at most kStride runs, since a record has at most kStride
// bytes.
const uint kWindow = kStride + 4u;
const uint kPerLane = 16u; // values that a lane undoes in one step of prefix sums
// The size of sRow in words: room for the rows that wavefronts of bytes hand to the next band
// (filter_wavefront.glsl).
const uint kRowWords = 1024u;

// The words of the description from the section's head on.
shared uint sWindow[kWindow];
shared FilterReading sReading;
shared FilterSectionWords sSection; // `size` is in bytes, never SLUICE_FILTER_REST
// Each column's word, which is explained in kernels/filter_description.h.
shared uint sColumn[kStride];
shared uint sGroup[kStride];    // the byte of the record at which the column's group begins
shared uint sGroupEnd[kStride]; // [b] is the end of the group that begins at byte b of the record
// Byte b of residual i is at byte sFrom + i * sStep + b * sByteStep of the filtered tile.
shared uint sFrom[kStride], sStep[kStride], sByteStep[kStride];
shared uint sValues[kStride];    // the byte of scratch at which the column's planes begin
shared uint sPredicted[kStride]; // the columns with a prediction
shared uint sWaves[kStride];     // the waves that undoWave undoes, in any order
shared uint sWaveCount;
// sBytes says where each byte of a record comes from. x is the byte's place for record 0. y is the
// distance of places from record to record times 2, plus 1 if the place is in scratch and 0 if it
// is in the filtered tile. z and w say the same of the byte of the base that is added; z is
// kNothing if no byte is added.
shared uvec4 sBytes[kStride];
const uint kNothing = ~0u;
shared uint sPredictedCount;
// The columns with UP. Those of one byte fill the array from the front, wider ones from the end.
shared uint sUps[kStride], sByteUps, sWideUps;
shared uint sStrideReciprocal; // reciprocalOf(gStride)
// True if the section is what remains of the tile behind the sections of the description.
shared bool sIsRest;
shared uint sStatus;

// The following variables have the same values in the whole workgroup.

// The addresses of the description, the filtered tile, the output, and the workgroup's scratch.
uvec2 gDescription, gSource, gTarget, gScratch;
uint gDescriptionWords, gTileSize;
uint gPosition; // the byte of the tile at which the section begins
uint gPlanes;   // the byte at which its residuals begin, behind the headers of packets
uint gCount, gStride, gWidth, gFirst, gPlaneBytes;
bool gAnyBase, gAnyUp, gAnyFinal, gAnyByteWave;

// wgOr returns the OR of what all invocations pass. It uses three words in turn. While one word is
// read, the word that was read in the call before is cleared, so that it is 0 when its turn comes
// again.
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

// quotient returns at / divisor, by a multiplication with reciprocalOf(divisor). It is exact for
// `at` below 2^25 and divisors up to 128.
uint reciprocalOf(uint divisor) { return 0xffffffffu / max(divisor, 1u) + 1u; }
uint quotient(uint at, uint divisor, uint reciprocal) {
    uint high, low;
    umulExtended(at, reciprocal, high, low);
    return divisor == 1u ? at : high;
}

// -----------------------------------------------------------------------------------------------
// The description. All lanes load its words; one invocation reads them.

void loadWindow() {
    for (uint k = wgInvocation(); k < kWindow; k += gl_WorkGroupSize.x)
        if (sReading.next + k < sReading.words)
            sWindow[k] = WordsIn(gDescription).w[sReading.next + k];
}

// The numbers that addColumn counts while a section is read.
struct Columns {
    uint window; // the number of the description's word with which sWindow begins
    // The numbers of columns with a prediction, with UP and one byte, and with UP and more bytes.
    uint predicted, byteUps, wideUps;
};

// kernels/filter_description.h calls the next two functions, and explains them.
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

// Reads the next section into sSection and the columns' arrays; one invocation calls this.
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

// Returns whether the column's base breaks a rule. Each invocation tests one column of a section
// that has been read.
bool hasBadBase(uint column) {
    uint word = sColumn[column];
    return isBaseBad(word, sColumn[baseColumn(word, sSection.columns)], sSection.columns);
}

// Makes the bytes behind the last section a section without columns, which is copied.
void readRest() {
    sIsRest = true;
    sSection = FilterSectionWords(gTileSize - gPosition, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
}

// -----------------------------------------------------------------------------------------------
// Memory: words and bytes of the tile and of scratch

// Returns 32-bit word `index` of the tile or of scratch (`base`), as the workgroup has last stored
// it.
uint loadFrom(uvec2 base, uint index) {
#if !defined(SLUICE_EMU) && !defined(SLUICE_NARROW)
    if (kPlainHistory) return WordsPlain(base).w[index];
#endif
    return WordsOut(base).w[index];
}

// sourceByte returns byte `at` of the filtered tile, scratchByte that of scratch.
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
    // even.x has bytes 0 and 2 of rows 0 and 1, even.y has their bytes 1 and 3; even.z and even.w
    // have the same of rows 2 and 3.
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

// Returns whether the column is a wave of bytes, which is undone by quads (undoByteWave). If many
// columns are undone at once, many teams share sRow, so each has room for short rows only. If rows
// do not begin at words, quads are stored byte by byte; a wave of values is then faster, as long as
// there are four teams to share each column.
bool isWaveOfBytes(uint column) {
    uint room = sSection.waveBytes <= SLUICE_FILTER_STEP_BYTES
                    ? kRowWords
                    : kRowWords / SLUICE_FILTER_STEP_BYTES;
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && bytesOf(column) == 1u &&
           gWidth <= 4u * room && gWidth >= SLUICE_FILTER_QUAD_WIDTH && gWidth < gCount &&
           ((gWidth & 3u) == 0u || 4u * sSection.waveBytes > kTeams);
}
// Returns whether the column is a wave that undoWave undoes.
bool isWaveOfValues(uint column) {
    return SLUICE_PREDICTOR_IS_WAVE(predictorOf(column)) && !isWaveOfBytes(column);
}
// Returns whether gatherResiduals copies the column's residuals to scratch. It does so for columns
// of bytes that are undone word by word but whose residuals are not neighbours.
bool isGathered(uint column) {
    return predictorOf(column) != SLUICE_PREDICTOR_NONE && bytesOf(column) == 1u &&
           sStep[column] != 1u &&
           (SLUICE_PREDICTOR_IS_SUM(predictorOf(column)) || isWaveOfBytes(column));
}
// Returns whether the column's values, before a base is added, differ from the bytes in its planes.
bool isChanged(uint column) {
    uint word = sColumn[column];
    return (word & (kRotated | kBlock)) != 0u ||
           ((word & kZigzag) != 0u && predictorOf(column) == SLUICE_PREDICTOR_NONE);
}
// Returns whether the column gets its final form in scratch. That is so if it is changed
// (isChanged), or if adding its base carries from byte to byte or needs the value of a changed
// column.
bool becomesFinal(uint column) {
    uint base = baseOf(column);
    return isChanged(column) ||
           (base != 0u && (bytesOf(column) != 1u || isChanged(max(base, 1u) - 1u)));
}
bool needsFinal(uint column) { return (sColumn[column] & kFinal) != 0u; }

// Returns components x and y of sBytes for byte b of a column.
uvec2 placeOf(uint column, uint b) {
    if (predictorOf(column) != SLUICE_PREDICTOR_NONE || needsFinal(column))
        return uvec2(sValues[column] + b * gPlaneBytes, 3u);
    return uvec2(sFrom[column] + b * sByteStep[column], sStep[column] << 1);
}

// Finds the places of all columns and of all bytes of a record; each invocation takes one column.
void placeColumns() {
    uint c = wgInvocation(), columns = sSection.columns, area = 0u, word = 0u, total;
    bool isColumn = c < columns, isFinal = false;
    gPlaneBytes = (gCount + 3u + kPerLane - 1u) / kPerLane * kPerLane;
    if (isColumn) {
        word = sColumn[c];
        uint place = word & 0xffu, group = sGroup[c], groupBytes = sGroupEnd[group] - group;
        // In a single row, the median and the gradient equal the value to the left, and a sum
        // undoes LEFT faster than a wavefront.
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
    // The columns' words are changed only behind the barrier of this sum, since invocations have
    // read those of other columns until here (becomesFinal).
    uint values = wgExclusiveAdd(area, total);
    if (isColumn) {
        sColumn[c] = word;
        // A wave of bytes is stored in words. Its values begin gFirst % 4 bytes behind the start of
        // a word, so that its rows begin at words if their width is a multiple of 4.
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
// Returns value i of a column before its final form.
uint valueOf(uint column, uint i) {
    return valueIn(column, i, predictorOf(column) != SLUICE_PREDICTOR_NONE);
}

// loadValue and storeValue access value i of a column in scratch, where columns with a prediction
// have their values.
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
