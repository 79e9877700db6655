// SPDX-License-Identifier: MIT OR Apache-2.0
// Interval expand: fills runs of the destination with one value each. A workgroup of 128 invocations reads 128 intervals
// at a time; their values go to shared memory, and its invocations write one unit of 16 bytes after the other, each put
// together from the values of all intervals that reach into it.
#version 460
#extension GL_GOOGLE_include_directive : require
// Up to 15 bytes before the batch's first element count as elements of the first unit.
#define SLUICE_MAX_MARKS (SLUICE_INTERVAL_TILE + 32u)
#include "lib/intervals.glsl"
#include "lib/units.glsl"

shared uint sFirst; // number of the first element of a batch

// The size divides 16 and places are multiples of it: a value's bytes stand alike in all units.
bool isRegular() { return intervalKind() == 0u; }

// The value of an interval, repeated to 16 bytes if the size divides 16.
uvec4 valueOf(uint index) {
    uvec2 address = add64(p.source, mul64(index, p.elementSize));
    uint size = p.elementSize;
    uvec4 value = loadBytes(address, size);
    if (isRegular()) {
        if (size == 1u)
            value.x = (value.x & 0xffu) * 0x01010101u;
        if (size == 2u)
            value.x = (value.x & 0xffffu) * 0x00010001u;
        if (size <= 4u)
            value.y = value.x;
        if (size <= 8u)
            value.zw = value.xy;
    }
    return value;
}

// Bytes [from, 16) of b, and those before of a.
uvec4 joined(uvec4 a, uvec4 b, uint from) {
    uvec4 result;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        uint kept = min(subSaturated(from, 4u * i), 4u); // bytes of a in word i
        uint mask = kept == 4u ? 0u : ~0u << 8u * kept;
        result[i] = (a[i] & ~mask) | (b[i] & mask);
    }
    return result;
}

// A unit of elements that fill it exactly, the first of them number `element` of the marks.
uvec4 regularUnit(uint element) {
    uint perUnit = 16u / p.elementSize;
    uint rank = rankOfPiece(element);
    uvec4 value = sIntervalData[rank];
    // The marks of the unit's other elements. A unit never straddles two words of marks.
    uint later = (sMarks[element >> 5] >> (element & 31u) & (1u << perUnit) - 1u) & ~1u;
    while (later != 0u) {
        uint at = uint(findLSB(later));
        value = joined(value, sIntervalData[++rank], at * p.elementSize);
        later &= later - 1u;
    }
    return value;
}

// Any size: byte by byte. `byte_`: of the unit's first byte, counted from the batch's first element; may be negative.
uvec4 irregularUnit(int byte_, uint bytes) {
    uvec4 value = uvec4(0u);
    for (uint i = 0u; i < 16u; ++i) {
        uint at = uint(max(byte_ + int(i), 0));
        if (at < bytes) {
            uint element = at / p.elementSize, within = at % p.elementSize;
            uint one = sIntervalData[rankOfPiece(element)][within >> 2] >> 8u * (within & 3u) & 0xffu;
            value[i >> 2] |= one << 8u * (i & 3u);
        }
    }
    return value;
}

void main() {
    openShare();
    while (moreBatches()) {
        clearMarks();
        Interval own = nextBatch();
        own.to = min(own.to, subSaturated(p.capacity, own.before));
        uint elements = own.to - min(own.from, own.to), total;
        uint marked = wgExclusiveAdd(elements | (elements != 0u ? 1u << 16 : 0u), total);
        if (elements != 0u && (marked & 0xffffu) == 0u)
            sFirst = own.before + own.from; // the batch's elements are consecutive
        wgBarrierShared();
        uvec2 target = add64(p.destination, mul64(sFirst, p.elementSize));
        uint head = target.x & 15u, skipped = isRegular() ? head / p.elementSize : 0u;
        if (elements != 0u) {
            // The first interval reaches back to the start of its unit; nothing is stored there.
            setMark((marked & 0xffffu) == 0u ? 0u : (marked & 0xffffu) + skipped);
            sIntervalData[marked >> 16] = valueOf(own.index);
        }
        countMarks();

        uint bytes = (total & 0xffffu) * p.elementSize;
        uint end = bytes == 0u ? 0u : head + bytes; // counted from the first unit
        uvec2 base = uvec2(target.x & ~15u, target.y);
        for (uint unit = wgInvocation(); 16u * unit < end; unit += gl_WorkGroupSize.x) {
            uvec4 value;
            if (isRegular())
                value = regularUnit(unit * (16u / p.elementSize));
            else
                value = irregularUnit(int(16u * unit) - int(head), bytes);
            storeUnit(add64(base, 16u * unit), value, unit == 0u ? head : 0u, min(end - 16u * unit, 16u));
        }
        wgBarrierShared();
    }
}
