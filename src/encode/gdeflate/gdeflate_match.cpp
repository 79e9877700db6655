// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gdeflate/gdeflate_match.h"

#include <algorithm>
#include <iterator>

#include "formats/little_endian.h"

namespace sluice::gdeflate {

namespace {

// Means "no position". No match begins at 65,535: the hash takes 4 bytes, so the last three
// positions of a tile are never inserted.
constexpr uint16_t kNone = 65535;
constexpr uint32_t kHashedBytes = 4;

uint32_t firstThreeBytes(uint32_t word) { return word & 0xffffff; }

uint32_t hash(uint32_t value, uint32_t bits) { return (value * 0x9e3779b1u) >> (32 - bits); }

// Returns how many leading bytes of a and b agree, at most maxLength. The caller knows that the
// first `length` bytes agree.
uint32_t extendMatch(const uint8_t* a, const uint8_t* b, uint32_t length, uint32_t maxLength)
{
    for (; length + 8 <= maxLength; length += 8) {
        const uint64_t left = loadLe64(a + length), right = loadLe64(b + length);
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

// Inserts position `at`. Returns the latest earlier position with the same hash of 4 bytes, and in
// recent3 the latest one with the same hash of 3 bytes.
uint32_t HashChains::insert(const uint8_t* tile, uint32_t at, uint32_t& recent3)
{
    const uint32_t word = loadLe32(tile + at);
    uint16_t& head3 = m_head3[hash(firstThreeBytes(word), 14)];
    uint16_t& head4 = m_head4[hash(word, 15)];
    const uint16_t recent4 = head4;
    recent3 = head3;
    m_next[at] = recent4;
    head3 = head4 = uint16_t(at);
    return recent4;
}

Match HashChains::findLongest(const uint8_t* tile, uint32_t at, uint32_t tileEnd,
                              uint32_t minLength, uint32_t niceLength, uint32_t depth)
{
    Match best = {0, 0};
    const uint32_t maxLength = std::min(tileEnd - at, kMaxMatch);
    if (maxLength < kHashedBytes) return best;
    uint32_t recent3;
    uint32_t candidate = insert(tile, at, recent3);
    const uint8_t* const here = tile + at;
    const uint32_t first4 = loadLe32(here);
    uint32_t length = minLength;
    if (length < 3 && recent3 != kNone &&
        firstThreeBytes(loadLe32(tile + recent3)) == firstThreeBytes(first4)) {
        length = 3;
        best = {3, uint16_t(at - recent3)};
    }
    for (; candidate != kNone && depth != 0 && length < maxLength;
         candidate = m_next[candidate], --depth) {
        const uint8_t* const there = tile + candidate;
        // Only a match longer than the best one so far is useful. Such a match also covers the byte
        // right after the best match. So compare the four bytes that end with this byte first,
        // which rejects most candidates.
        const uint32_t last = std::max(length, 3u) - 3;
        if (loadLe32(there + last) != loadLe32(here + last) || loadLe32(there) != first4) continue;
        const uint32_t found = extendMatch(here, there, kHashedBytes, maxLength);
        // One more byte of length is not worth a distance that is 64 times as large.
        const bool worthIt =
            best.length == 0 || found > length + 1 || at - candidate < 64u * best.distance;
        if (found > length && worthIt) {
            length = found;
            best = {uint16_t(found), uint16_t(at - candidate)};
            if (found >= niceLength) break;
        }
    }
    return best;
}

void HashChains::skip(const uint8_t* tile, uint32_t at, uint32_t count, uint32_t tileEnd)
{
    uint32_t recent3;
    for (; count != 0 && at + kHashedBytes <= tileEnd; ++at, --count)
        insert(tile, at, recent3);
}

// --- Binary trees

void BinaryTrees::reset()
{
    std::memset(m_head3, 0xff, sizeof(m_head3));
    std::memset(m_head4, 0xff, sizeof(m_head4));
}

// Inserts the string that begins at `at` as the new root of the tree for its hash. To do so, walks
// down the old tree and splits it into strings that are less than the new one and strings that are
// greater. lesserLength and greaterLength: how many leading bytes the last lesser and the last
// greater string on this way share with the new one. All strings between these two share at least
// the smaller number with it, so comparisons begin behind that many bytes.
template <bool kStore>
Match* BinaryTrees::insert(const uint8_t* tile, uint32_t at, uint32_t maxLength,
                           uint32_t niceLength, uint32_t depth, Match* matches)
{
    const uint8_t* const here = tile + at;
    const uint32_t word = loadLe32(here);

    uint16_t* const recent3 = m_head3[hash(firstThreeBytes(word), 15)];
    if (kStore) {
        for (int i = 0; i < 2; ++i) {
            if (recent3[i] != kNone &&
                firstThreeBytes(loadLe32(tile + recent3[i])) == firstThreeBytes(word)) {
                *matches++ = {3, uint16_t(at - recent3[i])};
                break;
            }
        }
    }
    recent3[1] = recent3[0];
    recent3[0] = uint16_t(at);

    uint16_t& head = m_head4[hash(word, 16)];
    uint32_t node = head;
    head = uint16_t(at);
    uint16_t* lesser = &m_child[at][0]; // where the next lesser node will be linked
    uint16_t* greater = &m_child[at][1];
    uint32_t lesserLength = 0, greaterLength = 0, best = 3;
    for (; node != kNone && depth != 0; --depth) {
        const uint8_t* const there = tile + node;
        const uint32_t length =
            extendMatch(here, there, std::min(lesserLength, greaterLength), maxLength);
        if (kStore && length > best) {
            best = length;
            *matches++ = {uint16_t(length), uint16_t(at - node)};
        }
        if (length >= niceLength) { // nearly equal: the new root takes this node's place
            *lesser = m_child[node][0];
            *greater = m_child[node][1];
            return matches;
        }
        if (there[length] < here[length]) {
            *lesser = uint16_t(node);
            lesser = &m_child[node][1];
            node = *lesser;
            lesserLength = length;
        } else {
            *greater = uint16_t(node);
            greater = &m_child[node][0];
            node = *greater;
            greaterLength = length;
        }
    }
    *lesser = kNone;
    *greater = kNone;
    return matches;
}

Match* BinaryTrees::find(const uint8_t* tile, uint32_t at, uint32_t tileEnd, uint32_t niceLength,
                         uint32_t depth, Match* matches)
{
    const uint32_t maxLength = std::min(tileEnd - at, kMaxMatch);
    if (maxLength < kHashedBytes) return matches;
    return insert<true>(tile, at, maxLength, std::min(niceLength, maxLength), depth, matches);
}

void BinaryTrees::skip(const uint8_t* tile, uint32_t at, uint32_t tileEnd, uint32_t niceLength,
                       uint32_t depth)
{
    const uint32_t maxLength = std::min(tileEnd - at, kMaxMatch);
    if (maxLength >= kHashedBytes) {
        const uint32_t enough = std::min(niceLength, maxLength);
        insert<false>(tile, at, enough, enough, depth, nullptr);
    }
}

} // namespace sluice::gdeflate
