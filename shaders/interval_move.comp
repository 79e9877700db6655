// SPDX-License-Identifier: MIT OR Apache-2.0
// Moves runs of bytes: interval move, gather and scatter, bulk remove and insert. Lane groups share
// the work evenly (intervals.glsl). A lane group reads 32 intervals at a time and copies its part
// of each interval, which is a *run*. A *sector* is 32 aligned bytes of the destination. There are
// two ways to copy, between which the length of the runs decides:
// - words, for short runs: 8 lanes copy the bytes that a run has in a sector, a word each, so that
//   one instruction writes all of them.
// - units, for long runs: 2 lanes copy each whole sector of a run, 16 bytes each. The parts of
//   sectors at the run's ends are copied as words.
//
// src/cuda/interval_move.cu uses the same method, and both share the text of
// kernels/interval_runs.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_SCANS_CALLED // calls the scans as functions, which is 2 to 14 % faster here
#include "lib/loops.glsl"
#include "lib/intervals.glsl"
#include "lib/units.glsl"
#include "lib/compat.glsl"
#include "lib/kernels/interval_runs.h"

// If runs have at least this many bytes on average, they are copied as units. 160 bytes are 5
// sectors, so most of them are in whole sectors.
const uint kLongRun = 160u;
// How many units or words an invocation has in flight. A pipeline for short runs, which are copied
// as words, has few units in flight: that leaves registers for more words and more subgroups.
layout(constant_id = SLUICE_CONSTANT_INTERVAL_UNITS_AT_ONCE) const uint kUnitsAtOnce = 3u;
layout(constant_id = SLUICE_CONSTANT_INTERVAL_WORDS_AT_ONCE) const uint kWordsAtOnce = 2u;
// True if words that a run fills only in part are copied byte by byte, which suits short runs.
layout(constant_id = SLUICE_CONSTANT_INTERVAL_BYTES_APART) const bool kBytesApart = false;
// How many runs a call of copyEnds takes.
const uint kRunsAtOnce = 4u;

// Shared memory holds a lane group's runs in two arrays. sIntervalData has the source and target of
// a run. sSpans has its other members, packed: end | lead << 27 in x, start | shift << 16 in y.
shared uvec2 sSpans[gl_WorkGroupSize.x];

// putRun stores a run as number `place` of the lane group's runs in shared memory. getRun loads it.
void putRun(uint place, Run run) {
    sIntervalData[lgFirst() + place] = uvec4(run.source, run.target);
    sSpans[lgFirst() + place] = uvec2(run.end | run.lead << 27, run.start | run.shift << 16);
}

Run getRun(uint place) {
    uvec4 ends = sIntervalData[lgFirst() + place];
    uvec2 span = sSpans[lgFirst() + place];
    return Run(ends.xy, ends.zw, span.y >> 16, span.x >> 27, span.x & ((1u << 27) - 1u),
               span.y & 0xffffu);
}

// Returns entry i of a list of positions, all of 4 or all of 8 bytes.
uvec2 positionOf(uvec2 list, uint i) {
    if (p.positionBytes == 4u) return uvec2(wordAt(list, i), 0u);
    uvec2 entry = add64(list, mul64(i, 8u));
    return uvec2(WordsIn(entry).w[0], WordsIn(entry).w[1]);
}

// Returns this lane group's part of the interval `own`, as bytes. `from` and `to` are the positions
// of the interval in the source and the destination, in elements, as far as lists give them.
// `skipped` is set if the interval is not inside the buffers.
Piece pieceOf(Interval own, uvec2 from, uvec2 to, out bool skipped) {
    uint kind = p.kind;
    bool placed = kind == SLUICE_INTERVAL_KIND_MOVE || kind == SLUICE_INTERVAL_KIND_SCATTER;
    if (kind > SLUICE_INTERVAL_KIND_GATHER) from = uvec2(own.before, 0u);
    if (!placed) to = uvec2(own.before, 0u);
    if (kind == SLUICE_INTERVAL_KIND_REMOVE) from = add64(from, own.index);
    if (kind == SLUICE_INTERVAL_KIND_INSERT) to = add64(to, own.index);

    // Elements that do not fit into the destination are dropped. If a list gives the positions in
    // the destination, the capacity limits an element's number in the order of all intervals;
    // otherwise it limits the element's position.
    uint bound =
        min(own.count, subSaturated64(uvec2(p.capacity, 0u), placed ? uvec2(own.before, 0u) : to));
    uint last = min(own.to, bound), first = min(own.from, last);
    uvec2 whole = mul64(own.count, elementSize()), source, target;
    bool inside = offsetWithin(from, elementSize(), whole, p.sourceSize, source);
    inside =
        offsetWithin(to, elementSize(), placed ? whole : uvec2(0u), p.destinationSize, target) &&
        inside;
    skipped = !inside && first != last;
    target = add64(target, p.destination);
    uvec2 all = mul64(bound, elementSize());
    uvec2 begin = cutAt(target, mul64(first, elementSize()), all),
          end = cutAt(target, mul64(last, elementSize()), all);
    return Piece(add64(add64(p.source, source), begin), add64(target, begin),
                 inside && first != last ? end.x - begin.x : 0u);
}

// A word of the target that is being copied, and the words of the source with its bytes.
struct Word {
    uvec2 base; // address of the target's word 0
    // The word's index, counted from `base`.
    uint index;
    uint low, high;
    uint shift, from, to; // bytes from .. to - 1 are copied; none if from >= to
};

// Loads what is needed to copy the word at byte `place` of a run. Of this word, only bytes that lie
// in bytes [begin, end) of the run are copied; if there are none, nothing is loaded. `aligned` says
// that source and target have the same alignment and that the word is whole.
Word loadWord(Run run, uint place, uint begin, uint end, bool aligned) {
    Word word;
    uint source = (run.shift + place) >> 2;
    word.base = run.target;
    word.index = place >> 2;
    word.from = max(begin, place) - place;
    word.to = min(max(end, place) - place, 4u);
    word.shift = run.shift & 3u;
    word.low = word.high = 0u;
    if (aligned) {
        if (word.from < word.to) word.low = WordsIn(run.source).w[source];
    } else {
        if (word.from < word.to && word.shift + word.from < 4u)
            word.low = WordsIn(run.source).w[source];
        if (word.from < word.to && word.shift + word.to > 4u)
            word.high = WordsIn(run.source).w[source + 1u];
    }
    return word;
}

// Stores a word that loadWord has loaded.
void storeWord(Word word, bool aligned) {
    if (aligned) {
        if (word.from < word.to) WordsPlain(word.base).w[word.index] = word.low;
    } else {
        uint value = word.low >> 8u * word.shift;
        if (word.shift != 0u) value |= word.high << (32u - 8u * word.shift);
        storeWord(add64(word.base, 4u * word.index), value, word.from, word.to);
    }
}

// Loads this lane's word of a sector that 8 lanes copy. `piece` is the number of the sector among
// the `pieces` sectors of all runs.
Word loadPiece(uint piece, uint pieces, bool aligned) {
    Run run = getRun(rankOfPiece(min(piece, pieces - 1u)));
    return loadWord(run, kSector * (piece - run.start) + (lgLane() & 7u) * 4u, run.lead, run.end,
                    aligned);
}

#ifdef SLUICE_EXT
layout(buffer_reference, std430, buffer_reference_align = 1) readonly buffer BytesIn {
    int8_t b[];
};

// Holds what one of 8 lanes copies of a sector, if source and target may have any alignment: one
// whole word of the target, and one single byte. The incomplete first and last word of the run have
// at most 6 bytes together. So with a byte for each lane, one store writes them all.
struct PieceBytes {
    uvec2 target;
    uint index, low, high, shift;
    uint place; // the index of the single byte in the run
    int value;
    bool hasWord, hasByte;
};

// Loads what this lane copies of sector `piece` of the `pieces` sectors of all runs.
PieceBytes loadPieceBytes(uint piece, uint pieces) {
    Run run = getRun(rankOfPiece(min(piece, pieces - 1u)));
    uint sector = piece - run.start, lane = lgLane() & 7u, place = kSector * sector + lane * 4u;
    uint source = (run.shift + place) >> 2, headEnd = min((run.lead + 3u) & ~3u, run.end),
         tail = max(run.end & ~3u, headEnd);
    PieceBytes part;
    part.target = run.target;
    part.index = place >> 2;
    part.shift = 8u * (run.shift & 3u);
    part.hasWord = place >= run.lead && place + 4u <= run.end;
    part.place = (lane & 3u) + ((lane & 4u) == 0u ? run.lead : tail);
    part.hasByte =
        part.place < ((lane & 4u) == 0u ? headEnd : run.end) && part.place >> 5 == sector;
    part.low = part.high = 0u;
    part.value = 0;
    if (part.hasWord) part.low = WordsIn(run.source).w[source];
    if (part.hasWord && part.shift != 0u) part.high = WordsIn(run.source).w[source + 1u];
    if (part.hasByte) part.value = int(BytesIn(run.source).b[run.shift + part.place]);
    return part;
}

// Copies the `pieces` sectors of all runs, 4 at a time: words, and bytes of incomplete words.
void copyBytes(uint pieces) {
    for (uint first = 0u; first < pieces; first += 4u * kWordsAtOnce) {
        PieceBytes parts[kWordsAtOnce];
        SLUICE_UNROLL
        for (uint i = 0u; i < kWordsAtOnce; ++i)
            parts[i] = loadPieceBytes(first + 4u * i + (lgLane() >> 3), pieces);
        SLUICE_UNROLL
        for (uint i = 0u; i < kWordsAtOnce; ++i) {
            if (parts[i].hasWord)
                WordsPlain(parts[i].target).w[parts[i].index] =
                    parts[i].low >> parts[i].shift | (parts[i].high << 1) << (31u - parts[i].shift);
            if (parts[i].hasByte)
                BytesPlain(parts[i].target).b[parts[i].place] = int8_t(parts[i].value);
        }
    }
}
#endif

// Copies the `pieces` sectors of all runs as words, 4 sectors at a time.
void copyWords(uint pieces, bool aligned) {
    for (uint first = 0u; first < pieces; first += 4u * kWordsAtOnce) {
        Word words[kWordsAtOnce];
        SLUICE_UNROLL
        for (uint i = 0u; i < kWordsAtOnce; ++i)
            words[i] = loadPiece(first + 4u * i + (lgLane() >> 3), pieces, aligned);
        SLUICE_UNROLL
        for (uint i = 0u; i < kWordsAtOnce; ++i)
            storeWord(words[i], aligned);
    }
}

// Copies the ends of kRunsAtOnce runs, from run `first` on: 8 lanes take the bytes of a run before
// its first whole sector, and 8 lanes take the bytes after its last one. There are `runs` runs in
// all; withUnits of them have whole sectors.
void copyEnds(uint first, uint runs, uint withUnits, bool aligned) {
    Word words[kRunsAtOnce / 2u];
    SLUICE_UNROLL
    for (uint i = 0u; i < kRunsAtOnce / 2u; ++i) {
        uint index = first + 2u * i + (lgLane() >> 4), place = (lgLane() & 7u) * 4u;
        bool behind = (lgLane() & 8u) != 0u;
        Run run = getRun(index < withUnits ? index : 31u - min(index - withUnits, 31u));
        uint end = index >= runs ? 0u : behind ? run.end : bodyBegin(run);
        words[i] = loadWord(run, behind ? bodyEnd(run) + place : place, behind ? 0u : run.lead, end,
                            aligned);
    }
    SLUICE_UNROLL
    for (uint i = 0u; i < kRunsAtOnce / 2u; ++i)
        storeWord(words[i], aligned);
}

// Copies the `pieces` whole sectors of all runs as units, 16 at a time. With `ends`, it copies the
// ends of each run soon after its sectors, while the source is still in the cache.
void copyUnits(uint pieces, uint runs, uint withUnits, bool ends, bool aligned) {
    uint first = 0u, ended = ends ? 0u : runs;
    do {
        if (first < pieces) {
            uvec4 low[kUnitsAtOnce], high[kUnitsAtOnce];
            uvec2 base[kUnitsAtOnce];
            uint index[kUnitsAtOnce], shift[kUnitsAtOnce];
            SLUICE_UNROLL
            for (uint i = 0u; i < kUnitsAtOnce; ++i) {
                uint piece = first + 16u * i + (lgLane() >> 1);
                Run run = getRun(rankOfPiece(min(piece, pieces - 1u)));
                uint unit = (bodyBegin(run) >> 4) + (piece - run.start) * 2u + (lgLane() & 1u);
                base[i] = run.target;
                index[i] = unit;
                shift[i] = run.shift;
                if (piece < pieces) low[i] = UnitsIn(run.source).v[unit];
                if (piece < pieces && run.shift != 0u) high[i] = UnitsIn(run.source).v[unit + 1u];
            }
            SLUICE_UNROLL
            for (uint i = 0u; i < kUnitsAtOnce; ++i)
                if (first + 16u * i + (lgLane() >> 1) < pieces)
                    UnitsOut(base[i]).v[index[i]] =
                        shift[i] == 0u ? low[i] : funnelShift(low[i], high[i], shift[i]);
        }
        first += 16u * kUnitsAtOnce;
        // The whole sectors of runs before number `done` have been copied, so the ends of these
        // runs can follow.
        uint done = first < pieces ? rankOfPiece(first - 1u) : runs + kRunsAtOnce - 1u;
        for (; ended + kRunsAtOnce <= done; ended += kRunsAtOnce) {
            if (aligned)
                copyEnds(ended, runs, withUnits, true);
            else
                copyEnds(ended, runs, withUnits, false);
        }
    } while (first < pieces);
}

// Copies the 32 pieces that the lanes of the group have. `piece` is this lane's.
void copyRuns(Piece piece) {
    bool copies = piece.bytes != 0u;
    uint below = lgLanesBelow(), before, bytes, total;
    bool whole = ((piece.source.x | piece.target.x | piece.bytes) & 3u) == 0u;
    Run run = runOf(piece);
    uvec2 lowest = uvec2(piece.source.x & ~15u, piece.source.y),
          last = add64(piece.source, piece.bytes);
    uvec2 span = sub64(add64(uvec2(last.x & ~15u, last.y), 16u), lowest);
    // A unit at an end of a run's source may reach outside of the source buffer. If one does, all
    // runs are copied as words, because loadWord reads only words inside the buffer.
    bool within = inside64(lowest, span, p.source, p.sourceSize);

    uvec3 anys =
        lgBallot3Scan(false, copies && !whole, copies && !within, piece.bytes, before, bytes);
    bool aligned = anys.y == 0u, allWithin = anys.z == 0u;
    anys = lgBallot3(copies, copies && ((run.lead | run.end) & (kSector - 1u)) != 0u, false);
    uint runs = bitCount(anys.x);
    bool ends = anys.y != 0u, asUnits = allWithin && (!ends || bytes >= runs * kLongRun);
    uint sectors =
        asUnits ? (bodyEnd(run) - bodyBegin(run)) / kSector : (run.end + kSector - 1u) / kSector;
    uint pieces = copies ? sectors : 0u;
    uvec3 with = lgBallot3Scan(false, pieces != 0u, false, pieces, run.start, total);

    // Puts the runs into shared memory: runs that have sectors to copy from the front, in their
    // order, and runs that consist only of ends from the back.
    clearMarks();
    if (pieces != 0u) setMark(run.start);
    if (copies)
        putRun(pieces != 0u ? bitCount(with.y & below) : 31u - bitCount(anys.x & ~with.y & below),
               run);
    countMarks(0u);
    if (asUnits) {
        copyUnits(total, runs, bitCount(with.y), ends, aligned);
    } else {
        if (aligned) copyWords(total, true);
#ifdef SLUICE_EXT
        else if (kBytesApart)
            copyBytes(total);
#endif
        else
            copyWords(total, false);
    }
    lgBarrierShared();
}

// Bulk insert: copies the item that is inserted after the interval `own`.
void insertItem(Interval own) {
    uvec2 place = add64(add64(uvec2(own.before, 0u), own.count), own.index);
    if (less64(place, uvec2(p.capacity, 0u))) {
        uvec2 target = add64(p.destination, mul64(place.x, elementSize()));
        uvec2 source = add64(p.gather, mul64(own.index, elementSize()));
        uint lead = target.x & 3u, end = lead + elementSize();
        source = sub64(source, uvec2(lead, 0u));
        target.x &= ~3u;
        for (uint at = 0u; at < end; at += 4u) {
            uint from = at == 0u ? lead : 0u, to = min(end - at, 4u);
            uvec2 word = add64(source, at);
            storeWord(add64(target, at), endWord(word, to, beginWord(word, from)), from, to);
        }
    }
}

// Holds what the lists say about the lane's interval of the next round: its length, and its
// positions in the source and the destination. All three are loaded together, so that
// their latencies overlap.
struct Fetched {
    uint count;
    uvec2 from, to;
};

Fetched fetch() {
    Fetched fetched = Fetched(0u, uvec2(0u), uvec2(0u));
    uint kind = p.kind, index = nextIndex();
    if (index < gIntervals) {
        fetched.count = intervalLength(index, gIntervals);
        if (kind <= SLUICE_INTERVAL_KIND_GATHER) fetched.from = positionOf(p.gather, index);
        if (kind == SLUICE_INTERVAL_KIND_MOVE || kind == SLUICE_INTERVAL_KIND_SCATTER)
            fetched.to = positionOf(p.scatter, index);
    }
    return fetched;
}

void main() {
    openShare();
    uint kind = p.kind;
    bool anySkipped = false;
    while (nextIsThere()) {
        Fetched fetched = fetch();
        Interval own = nextRound(fetched.count);
        bool skipped;
        Piece piece = pieceOf(own, fetched.from, fetched.to, skipped);
        anySkipped = anySkipped || skipped;
        copyRuns(piece);
        if (kind == SLUICE_INTERVAL_KIND_INSERT && own.owned && own.index + 1u < gIntervals)
            insertItem(own);
    }
    if (anySkipped && p.result_ != uvec2(0u))
        atomicOr(WordsOut(p.result_).w[1], SLUICE_INTERVAL_FLAG_SKIPPED);
}
