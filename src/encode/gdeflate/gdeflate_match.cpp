// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gdeflate/gdeflate_match.h"

#include <algorithm>
#include <iterator>

#include "formats/little_endian.h"

namespace sluice::gdeflate {

namespace {

// No position: a tile's last three positions are never inserted, as 4 bytes are hashed.
constexpr u16 kNone = 65535;
constexpr u32 kHashedBytes = 4;

u32 firstThreeBytes(u32 word) { return word & 0xffffff; }

u32 hash(u32 value, u32 bits) { return (value * 0x9e3779b1u) >> (32 - bits); }

// Returns how many of the first maxLength bytes agree, knowing that the first `length` do.
u32 extendMatch(const u8* a, const u8* b, u32 length, u32 maxLength)
{
    for (; length + 8 <= maxLength; length += 8) {
        const u64 left = loadLe64(a + length), right = loadLe64(b + length);
        if (left != right) return length + lowestBit(left ^ right) / 8;
    }
    while (length < maxLength && a[length] == b[length])
        ++length;
    return length;
}

} // namespace

// --- Hash chains

void HashChains::reset()
{
    std::fill(std::begin(m_head3), std::end(m_head3), kNone);
    std::fill(std::begin(m_head4), std::end(m_head4), kNone);
}

// Returns the latest position with the same hash of 4 bytes; recent3 receives that of 3 bytes.
u32 HashChains::insert(const u8* tile, u32 at, u32& recent3)
{
    const u32 word = loadLe32(tile + at);
    u16& head3 = m_head3[hash(firstThreeBytes(word), 14)];
    u16& head4 = m_head4[hash(word, 15)];
    const u16 recent4 = head4;
    recent3 = head3;
    m_next[at] = recent4;
    head3 = head4 = u16(at);
    return recent4;
}

Match HashChains::findLongest(const u8* tile, u32 at, u32 tileEnd, u32 minLength, u32 niceLength,
                              u32 depth)
{
    Match best = {0, 0};
    const u32 maxLength = std::min(tileEnd - at, kMaxMatch);
    if (maxLength < kHashedBytes) return best;
    u32 recent3;
    u32 candidate = insert(tile, at, recent3);
    const u8* const here = tile + at;
    const u32 first4 = loadLe32(here);
    u32 length = minLength;
    if (length < 3 && recent3 != kNone &&
        firstThreeBytes(loadLe32(tile + recent3)) == firstThreeBytes(first4)) {
        length = 3;
        best = {3, u16(at - recent3)};
    }
    for (; candidate != kNone && depth != 0 && length < maxLength;
         candidate = m_next[candidate], --depth) {
        const u8* const there = tile + candidate;
        // Only a longer match counts, so the four bytes that end one past the best match are tested
        // first.
        const u32 last = std::max(length, 3u) - 3;
        if (loadLe32(there + last) != loadLe32(here + last) || loadLe32(there) != first4) continue;
        const u32 found = extendMatch(here, there, kHashedBytes, maxLength);
        // One more byte is not worth a very much larger offset.
        const bool worthIt =
            best.length == 0 || found > length + 1 || at - candidate < 64u * best.distance;
        if (found > length && worthIt) {
            length = found;
            best = {u16(found), u16(at - candidate)};
            if (found >= niceLength) break;
        }
    }
    return best;
}

void HashChains::skip(const u8* tile, u32 at, u32 count, u32 tileEnd)
{
    u32 recent3;
    for (; count != 0 && at + kHashedBytes <= tileEnd; ++at, --count)
        insert(tile, at, recent3);
}

// --- Binary trees

void BinaryTrees::reset()
{
    std::memset(m_head3, 0xff, sizeof(m_head3));
    std::memset(m_head4, 0xff, sizeof(m_head4));
}

// Splits the tree of this hash into strings that are less and greater than the one at `at`, its new
// root. Both boundaries of the split share a prefix with that string, and all strings between them
// share the shorter of the two prefixes.
template <bool kStore>
Match* BinaryTrees::insert(const u8* tile, u32 at, u32 maxLength, u32 niceLength, u32 depth,
                           Match* matches)
{
    const u8* const here = tile + at;
    const u32 word = loadLe32(here);

    u16* const recent3 = m_head3[hash(firstThreeBytes(word), 15)];
    if (kStore) {
        for (int i = 0; i < 2; ++i) {
            if (recent3[i] != kNone &&
                firstThreeBytes(loadLe32(tile + recent3[i])) == firstThreeBytes(word)) {
                *matches++ = {3, u16(at - recent3[i])};
                break;
            }
        }
    }
    recent3[1] = recent3[0];
    recent3[0] = u16(at);

    u16& head = m_head4[hash(word, 16)];
    u32 node = head;
    head = u16(at);
    u16* lesser = &m_child[at][0]; // where the next node that is less goes
    u16* greater = &m_child[at][1];
    u32 lesserLength = 0, greaterLength = 0, best = 3;
    for (; node != kNone && depth != 0; --depth) {
        const u8* const there = tile + node;
        const u32 length =
            extendMatch(here, there, std::min(lesserLength, greaterLength), maxLength);
        if (kStore && length > best) {
            best = length;
            *matches++ = {u16(length), u16(at - node)};
        }
        if (length >= niceLength) { // considered equal: the new root replaces it
            *lesser = m_child[node][0];
            *greater = m_child[node][1];
            return matches;
        }
        if (there[length] < here[length]) {
            *lesser = u16(node);
            lesser = &m_child[node][1];
            node = *lesser;
            lesserLength = length;
        } else {
            *greater = u16(node);
            greater = &m_child[node][0];
            node = *greater;
            greaterLength = length;
        }
    }
    *lesser = kNone;
    *greater = kNone;
    return matches;
}

Match* BinaryTrees::find(const u8* tile, u32 at, u32 tileEnd, u32 niceLength, u32 depth,
                         Match* matches)
{
    const u32 maxLength = std::min(tileEnd - at, kMaxMatch);
    if (maxLength < kHashedBytes) return matches;
    return insert<true>(tile, at, maxLength, std::min(niceLength, maxLength), depth, matches);
}

void BinaryTrees::skip(const u8* tile, u32 at, u32 tileEnd, u32 niceLength, u32 depth)
{
    const u32 maxLength = std::min(tileEnd - at, kMaxMatch);
    if (maxLength >= kHashedBytes) {
        const u32 enough = std::min(niceLength, maxLength);
        insert<false>(tile, at, enough, enough, depth, nullptr);
    }
}

} // namespace sluice::gdeflate
