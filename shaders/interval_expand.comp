// SPDX-License-Identifier: MIT OR Apache-2.0
// Interval expand: fills each interval of the destination with one value. A lane group reads 32
// intervals at a time and puts their values into shared memory. Then its lanes write *units* of 16
// aligned bytes, each made of the values of all intervals that overlap the unit.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/intervals.glsl"
#include "lib/units.glsl"

// sIntervalData holds the values of a round's intervals. sStarts holds the element with which each
// interval begins, counted from the start of the round.
shared uint sStarts[gl_WorkGroupSize.x];
shared uint sLastWords[gl_WorkGroupSize.x]; // bytes 16 to 19 of values that have more than 16

// Returns whether an element's size divides 16. If so, no element crosses the end of a unit, and
// one 16-byte pattern of the interval's value serves for all units.
bool isRegular() { return (elementSize() & (elementSize() - 1u)) == 0u; }

// Returns the first 16 bytes of the value of interval `index`. If the element size divides 16, the
// value is repeated to fill them.
uvec4 valueOf(uint index) {
    uvec2 address = add64(p.source, mul64(index, elementSize()));
    uint size = elementSize();
    if (kElementSize == 4u) return uvec4(WordsIn(address).w[0]);
    uvec4 value = loadBytes(address, min(size, 16u));
    if (isRegular()) {
        if (size == 1u) value.x = (value.x & 0xffu) * 0x01010101u;
        if (size == 2u) value.x = (value.x & 0xffffu) * 0x00010001u;
        if (size <= 4u) value.y = value.x;
        if (size <= 8u) value.zw = value.xy;
    }
    return value;
}

// Returns bytes 16 to 19 of the value of interval `index`, as far as it has them.
uint lastWordOf(uint index) {
    uint size = elementSize();
    return size <= 16u ? 0u
                       : loadBytes(add64(add64(p.source, mul64(index, size)), 16u), size - 16u).x;
}

// Returns 16 bytes: those below byte `from` are those of `a`, the others those of `b`.
uvec4 joined(uvec4 a, uvec4 b, uint from) {
    uvec4 result;
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; ++i) {
        uint kept = min(subSaturated(from, 4u * i), 4u); // how many bytes of word i come from a
        uint mask = kept == 4u ? 0u : ~0u << 8u * kept;
        result[i] = (a[i] & ~mask) | (b[i] & mask);
    }
    return result;
}

// For 4-byte elements: stores the value of interval `place` of the round in component 0 of its
// entry of sIntervalData, and in the entries of the three intervals before it. So the entry of an
// interval has its value and those of the next three.
void putValues(uint place, uint value) {
    sIntervalData[lgFirst() + place].x = value;
    SLUICE_UNROLL
    for (uint i = 1u; i < 4u; ++i)
        if (place >= i) sIntervalData[lgFirst() + place - i][i] = value;
}
// Returns a unit of 4-byte elements, from element `element` of the window that sMarks describes.
uvec4 unitOfWords(uint element) {
    uvec2 marks = sMarks[lgFirst() + (element >> 5)];
    uint at = element & 31u, later = marks.x >> at;
    uvec4 values = sIntervalData[lgFirst() + marks.y + bitCount(marks.x & ((2u << at) - 1u)) - 1u];
    uvec4 unit = values;
    values.xyz = mix(values.xyz, values.yzw, bvec3((later & 2u) != 0u));
    unit.y = values.x;
    values.xy = mix(values.xy, values.yz, bvec2((later & 4u) != 0u));
    unit.z = values.x;
    unit.w = (later & 8u) != 0u ? values.y : values.x;
    return unit;
}

// Returns a unit of elements whose size divides 16. `element` is the index of the first one in the
// window of output that sMarks describes.
uvec4 regularUnit(uint element, uint size) {
    if (kElementSize == 4u) return unitOfWords(element);
    uint perUnit = 16u / size;
    uint rank = rankOfPiece(element);
    uvec4 value = sIntervalData[lgFirst() + rank];
    // `later` has the marks of the unit's elements except the first: bit i is set if an interval
    // begins at element i. The marks of a unit are always in one word.
    uint later =
        (sMarks[lgFirst() + (element >> 5)].x >> (element & 31u) & ((1u << perUnit) - 1u)) & ~1u;
    if (size >= 4u) { // at most one interval begins in each word of the unit
        later = size == 8u ? later << 1 : later;
        SLUICE_UNROLL
        for (uint i = 1u; i < 4u; ++i) {
            rank += later >> i & 1u;
            value[i] = sIntervalData[lgFirst() + rank][i];
        }
        return value;
    }
    while (later != 0u) {
        uint at = uint(findLSB(later));
        value = joined(value, sIntervalData[lgFirst() + ++rank], at * size);
        later &= later - 1u;
    }
    return value;
}

// The bytes that a round writes.
struct Output {
    uvec2 target; // the address of the first element, rounded down to a multiple of 16
    uint head;    // bytes from `target` to the first element
    uint end;     // bytes from `target` to the end of the last element
};

// Writes the elements of a round, whose size divides 16. `start` is the element of the round at
// which this lane's interval begins, if it `exists`. There is room for the marks of kMarks
// elements, so windows of this many elements are written one after the other.
void writeRegular(Output to, uint start, bool exists, uint size) {
    uint perUnit = 16u / size, windowUnits = kMarks / perUnit, units = (to.end + 15u) >> 4;
    // Marks count from the beginning of the first unit. The first interval's mark is moved back to
    // there, but nothing is stored before the interval.
    uint mark = start == 0u ? 0u : start + to.head / size;
    for (uint first = 0u; wgAny(first < units); first += windowUnits) {
        uint window = first * perUnit;
        clearMarks();
        if (exists && mark - window < kMarks) setMark(mark - window);
        countMarks(bitCount(lgBallot(exists && mark < window)));
        uint last = min(first + windowUnits, units);
        for (uint unit = first + lgLane(); unit < last; unit += 32u) {
            uvec4 value = regularUnit(unit * perUnit - window, size);
            uint from = unit == 0u ? to.head : 0u, end = min(to.end - 16u * unit, 16u);
            if (size >= 4u)
                storeWords(to.target, unit, value, from, end);
            else
                storeUnit(to.target, unit, value, from, end);
        }
        lgBarrierShared();
    }
}

// Returns the number of the interval to which an element of the round belongs: the last of `runs`
// intervals that begins at or before the element. This is a binary search in sStarts.
uint rankOf(uint element, uint runs) {
    uint rank = 0u;
    SLUICE_UNROLL
    for (uint i = 0u; i < 5u; ++i) {
        uint next = rank + (16u >> i);
        rank = next < runs && sStarts[lgFirst() + min(next, 31u)] <= element ? next : rank;
    }
    return rank;
}

// Writes the elements of a round of `runs` intervals byte by byte. They may have any size.
void writeIrregular(Output to, uint runs) {
    for (uint unit = lgLane(); 16u * unit < to.end; unit += 32u) {
        uint from = unit == 0u ? to.head : 0u, end = min(to.end - 16u * unit, 16u);
        uint first = 16u * unit + from - to.head;
        uint element = first / elementSize(), within = first % elementSize(),
             rank = rankOf(element, runs);
        uvec4 value = uvec4(0u);
        SLUICE_UNROLL
        for (uint i = 0u; i < 16u; ++i)
            if (i >= from && i < end) {
                uint word = within < 16u ? sIntervalData[lgFirst() + rank][within >> 2]
                                         : sLastWords[lgFirst() + rank];
                value[i >> 2] |= (word >> 8u * (within & 3u) & 0xffu) << 8u * (i & 3u);
                if (++within == elementSize()) {
                    within = 0u;
                    ++element;
                    if (rank + 1u < runs && sStarts[lgFirst() + rank + 1u] <= element) ++rank;
                }
            }
        storeUnit(to.target, unit, value, from, end);
    }
}

void main() {
    openShare();
    while (nextIsThere()) {
        uint index = nextIndex(), count = 0u, lastWord = 0u;
        uvec4 value = uvec4(0u);
        if (index < gIntervals) {
            count = intervalLength(index, gIntervals);
            value = valueOf(index);
            if (!isRegular()) lastWord = lastWordOf(index);
        }
        Interval own = nextRound(count);
        own.to = min(own.to, subSaturated(p.capacity, own.before));
        bool exists = own.from < own.to;
        uint anys = lgBallot(exists);
        // The round's elements are consecutive in the output, so the indices of the first one
        // (`begin`) and of the one after the last (`end`) are all that is needed.
        lgShare(own.before + own.from);
        uint begin = lgShared(uint(max(findLSB(anys), 0)));
        lgShare(own.before + own.to);
        uint end = lgShared(uint(max(findMSB(anys), 0))), total = anys == 0u ? 0u : end - begin;
        uint start = own.before + own.from - begin;
        if (exists) {
            uint rank = bitCount(anys & lgLanesBelow());
            if (kElementSize == 4u)
                putValues(rank, value.x);
            else
                sIntervalData[lgFirst() + rank] = value;
            if (!isRegular()) {
                sStarts[lgFirst() + rank] = start;
                sLastWords[lgFirst() + rank] = lastWord;
            }
        }
        lgBarrierShared();
        Output to;
        to.target = add64(p.destination, mul64(begin, elementSize()));
        to.head = to.target.x & 15u;
        to.target.x &= ~15u;
        to.end = total == 0u ? 0u : to.head + total * elementSize();
        if (isRegular())
            writeRegular(to, start, exists, elementSize());
        else
            writeIrregular(to, bitCount(anys));
        lgBarrierShared();
    }
}
