// SPDX-License-Identifier: MIT OR Apache-2.0
// Puts the records of a section together from the planes of its columns, and copies data that is
// not filtered. A lane takes four records at a time: it loads four neighbouring bytes from each of
// several planes and transposes them to words of the records. Bytes for which this is impossible
// are put together one by one. filter_columns.glsl explains record, column, base and plane.
#ifndef SLUICE_FILTER_RECORDS_GLSL
#define SLUICE_FILTER_RECORDS_GLSL

#include "loops.glsl"
#include "filter_columns.glsl"
#include "units.glsl"

// Returns the number of the record that has byte `at` of the section.
uint recordOf(uint at) { return quotient(at, gStride, sStrideReciprocal); }

// Returns the address of the memory that holds a byte: scratch if bit 0 of `place` is set,
// otherwise the filtered tile. `place` is component y or w of an element of sBytes.
uvec2 memoryOf(uint place) { return mix(gSource, gScratch, bvec2((place & 1u) != 0u)); }

// Returns byte `at` of the section, not counting headers of packets. Up to the last record it comes
// from a plane, and a byte of a base may be added. Bytes after the last record are stored as they
// are.
uint planesByte(uint at) {
    bool isRecord = at < gCount * gStride;
    uint i = recordOf(min(at, gCount * gStride));
    uvec4 place = sBytes[mix(0u, at - i * gStride, isRecord)];
    bool hasBase = isRecord && place.z != kNothing;
    uint own = mix(gPlanes + at, place.x + i * (place.y >> 1), isRecord),
         base = mix(own, place.z + i * (place.w >> 1), hasBase);
    uint memory = mix(0u, place.y, isRecord);
    uint value = loadFrom(memoryOf(memory), own >> 2) >> 8u * (own & 3u);
    uint more = loadFrom(memoryOf(mix(memory, place.w, hasBase)), base >> 2) >> 8u * (base & 3u);
    return (value + mix(0u, more, hasBase)) & 0xffu;
}

// Stores `value` as word `word` of the output, but only those of its bytes that lie in bytes
// [begin, end) of the tile.
void storeTileWord(uint word, uint value, uint begin, uint end) {
    uint from = max(begin, 4u * word) - 4u * word, to = min(end, 4u * word + 4u) - 4u * word;
    storeWord(add64(gTarget, 4u * word), value, from, to);
}

// Writes four records at a time. A lane makes 4 bytes of each of them, at the same place in each.
// If a record has 3 bytes, a lane makes all 12 bytes. Writing begins at byte `lead` of the section,
// because the output is aligned there. Returns how many bytes were written. Writes nothing and
// returns 0 if some lane's bytes lie in memory in neither of the two ways described below.
uint writeQuads(uint lead) {
    uint bytes = gStride == 3u ? 3u : 4u, total = gCount * gStride;
    uint quads = recordOf((max(total, lead) - lead) >> 2);
    uint parts = gStride / 4u + bytes % 4u / 3u, reciprocal = reciprocalOf(parts);
    uint lanes = quotient(gl_WorkGroupSize.x, parts, reciprocal),
         begin = quotient(wgInvocation(), parts, reciprocal), part = wgInvocation() - begin * parts;
    uint at = lead + bytes * part, record = recordOf(at), byte = at - record * gStride,
         advance = 4u * lanes;
    // fromPlanes: each of the lane's bytes comes from a plane, in which the bytes of four records
    // are neighbours. fromValues: the lane's four bytes of one record are neighbours in memory.
    bool fromPlanes = true, fromValues = bytes == 4u && byte + 4u <= gStride;
    uvec4 first = sBytes[byte];
    uvec2 own[4], base[4];
    uvec4 ownAt = uvec4(0u), baseAt = uvec4(0u), baseMask = uvec4(0u);
    SLUICE_UNROLL
    for (uint k = 0u; k < 4u; k++) {
        uint next = mix(byte, byte + k, k < bytes);
        bool wraps = next >= gStride;
        uint i = 4u * begin + record + mix(0u, 1u, wraps);
        uvec4 place = sBytes[next - mix(0u, gStride, wraps)];
        bool hasBase = place.z != kNothing;
        fromPlanes = fromPlanes && place.y >> 1 == 1u && (!hasBase || place.w >> 1 == 1u);
        fromValues = fromValues && place.x == first.x + k && place.y == first.y && !hasBase;
        own[k] = memoryOf(place.y);
        ownAt[k] = place.x + i * (place.y >> 1);
        base[k] = memoryOf(mix(place.y, place.w, hasBase));
        baseAt[k] = mix(ownAt[k], place.z + i * (place.w >> 1), hasBase);
        baseMask[k] = mix(0u, ~0u, hasBase);
    }
    if (wgOr(fromPlanes || fromValues ? 0u : 1u) != 0u) return 0u;
    if (begin >= lanes) return quads * 4u * gStride;
    if (!fromPlanes) {
        uint step = first.y >> 1;
        advance *= step;
        ownAt = ownAt.x + step * uvec4(0u, 1u, 2u, 3u);
    }
    uint to = gPosition + lead + 4u * (begin * gStride + part);
    for (uint quad = begin; quad < quads; quad += lanes) {
        uvec4 word;
        SLUICE_UNROLL
        for (uint k = 0u; k < 4u; k++)
            word[k] = loadBytes4(own[k], ownAt[k]);
        ownAt += advance;
        if (gAnyBase) {
            SLUICE_UNROLL
            for (uint k = 0u; k < 4u; k++)
                word[k] = filterAddBytes(word[k], loadBytes4(base[k], baseAt[k]) & baseMask[k]);
            baseAt += advance;
        }
        if (bytes == 4u) {
            if (fromPlanes) word = transposed(word);
            if (gStride == 4u) {
                UnitsOut(add64(gTarget, to)).v[0] = word;
            } else {
                SLUICE_UNROLL
                for (uint k = 0u; k < 4u; k++)
                    WordOut(add64(gTarget, to + k * gStride)).w = word[k];
            }
        } else {
            // a, b and c are the three bytes of a record: the words are a0 b0 c0 a1, b1 c1 a2 b2,
            // c2 a3 b3 c3.
            uvec4 shifts = uvec4(0u, 8u, 16u, 24u), a = uvec4(word.x) >> shifts & 0xffu;
            uvec4 b = uvec4(word.y) >> shifts & 0xffu, c = uvec4(word.z) >> shifts & 0xffu;
            WordOut(add64(gTarget, to)).w = a.x | b.x << 8 | c.x << 16 | a.y << 24;
            WordOut(add64(gTarget, to + 4u)).w = b.y | c.y << 8 | a.z << 16 | b.z << 24;
            WordOut(add64(gTarget, to + 8u)).w = c.z | a.w << 8 | b.w << 16 | c.w << 24;
        }
        to += 4u * lanes * gStride;
    }
    return quads * 4u * gStride;
}

// Returns word w of a section with packets: puts the headers between the bytes of records. Words
// are counted from the one in which the section begins, and the first `lead` bytes of that word lie
// before the section. Byte k of word w is a header if bit k of `marks` is set. The other bytes are
// from records, and `pixel` has the next four of these. `before` headers precede the word. `size`
// is the section's size in bytes.
uint withHeaders(uint w, uint lead, uint marks, uint before, uvec4 pixel, uint size) {
    uint value = 0u;
    uvec4 header;
    SLUICE_UNROLL
    for (uint k = 0u; k < 4u; k++)
        header[k] = sourceByte(gPosition + min(before + k, size - 1u));
    SLUICE_UNROLL
    for (uint k = 0u; k < 4u; k++) {
        bool isHeader = (marks >> k & 1u) != 0u;
        value |= mix(pixel.x, header.x, isHeader) << 8u * k;
        if (isHeader)
            header = header.yzww;
        else if (4u * w + k >= lead)
            pixel = pixel.yzww;
    }
    return value;
}

// Writes the bytes of the section that writeQuads leaves out, [0, lead) and [rest, size), and looks
// each of them up by itself. If the section has packets, `lead` and `rest` are 0, and headers are
// inserted between the bytes of records.
void writeBytes(uint lead, uint rest, uint size, bool hasPackets) {
    uint first = gPosition >> 2, second = (gPosition + rest) >> 2,
         leadWords = mix(0u, ((gPosition + lead + 3u) >> 2) - first, lead != 0u),
         words = leadWords + mix(0u, ((gPosition + size + 3u) >> 2) - second, rest < size);
    uint limit = mix(size, max(gCount * gStride, 1u), hasPackets) - 1u;
    uint skipped = gPosition & 3u, bits = filterHeaderBits(size),
         counts = bits + filterHeaderWords(size);
    for (uint n = wgInvocation(); n < words; n += gl_WorkGroupSize.x) {
        bool isLead = n < leadWords;
        uint word = n + mix(second - leadWords, first, isLead), begin = mix(rest, 0u, isLead),
             end = mix(size, lead, isLead);
        // If the word begins before the section, `at` wraps around, and the bytes before the
        // section are not `isIn` below.
        uint at = 4u * word - gPosition;
        uint marks = 0u, before = 0u;
        if (hasPackets) {
            // The word has at most four bytes of records, which begin with byte `at` of all
            // records. withHeaders puts the headers between them.
            uint all = loadFrom(gScratch, bits + n / 8u), shift = 4u * (n % 8u);
            before = loadFrom(gScratch, counts + n / 8u) + bitCount(all & ((1u << shift) - 1u));
            marks = all >> shift;
            at = max(4u * n, skipped) - skipped - before;
        }
        uvec4 bytes;
        SLUICE_UNROLL
        for (uint k = 0u; k < 4u; k++) {
            bool isIn = hasPackets || at + k - begin < end - begin;
            bytes[k] = isIn ? planesByte(min(at + k, limit)) : 0u;
        }
        uint value = packBytes(bytes);
        if (hasPackets) value = withHeaders(n, skipped, marks, before, bytes, size);
        storeTileWord(word, value, gPosition + begin, gPosition + end);
    }
}

// Writes the section's `size` bytes: records and, if it has packets, headers between them.
void writeRecords(uint size, bool hasPackets) {
    uint lead = min((0u - (gTarget.x + gPosition)) & (gStride == 4u ? 15u : 3u), size), done = 0u;
    if (sgUniform(!hasPackets && ((gStride & 3u) == 0u || gStride == 3u))) done = writeQuads(lead);
    lead = mix(lead, 0u, done == 0u);
    writeBytes(lead, lead + done, size, hasPackets);
}

// Copies the section's `size` bytes, which are not filtered.
void copyBytes(uint size) {
    uint first = gPosition >> 2, words = ((gPosition + size + 3u) >> 2) - first;
    for (uint n = wgInvocation(); n < words; n += gl_WorkGroupSize.x)
        storeTileWord(first + n, WordsIn(gSource).w[first + n], gPosition, gPosition + size);
}

#endif // SLUICE_FILTER_RECORDS_GLSL
