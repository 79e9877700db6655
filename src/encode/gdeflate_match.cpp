// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gdeflate_match.h"

#include <algorithm>
#include <cstring>

namespace sluice::gdeflate {

namespace {

// No position: a tile's last three positions are never inserted, as 4 bytes are hashed.
constexpr uint16_t kNone = 65535;
constexpr uint32_t kHashedBytes = 4;

uint32_t load32(const uint8_t* from)
{
    uint32_t value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

uint64_t load64(const uint8_t* from)
{
    uint64_t value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
uint32_t firstThreeBytes(uint32_t word) { return word >> 8; }
#else
uint32_t firstThreeBytes(uint32_t word) { return word & 0xffffff; }
#endif

// How many bytes agree before the first that does not; a and b differ.
uint32_t agreeingBytes(uint64_t a, uint64_t b)
{
    const uint64_t difference = a ^ b;
#if defined(_MSC_VER) && !defined(__clang__)
    const uint32_t low = static_cast<uint32_t>(difference);
    const uint32_t word = low != 0 ? low : static_cast<uint32_t>(difference >> 32);
    return floorLog2(word & (0 - word)) / 8 + (low != 0 ? 0 : 4);
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return static_cast<uint32_t>(__builtin_clzll(difference)) / 8;
#else
    return static_cast<uint32_t>(__builtin_ctzll(difference)) / 8;
#endif
}

uint32_t hash(uint32_t value, uint32_t bits) { return (value * 0x9e3779b1u) >> (32 - bits); }

// How many of the first maxLength bytes agree, knowing that the first `length` do.
uint32_t extendMatch(const uint8_t* a, const uint8_t* b, uint32_t length, uint32_t maxLength)
{
    for (; length + 8 <= maxLength; length += 8) {
        const uint64_t left = load64(a + length), right = load64(b + length);
        if (left != right) {
            return length + agreeingBytes(left, right);
        }
    }
    while (length < maxLength && a[length] == b[length]) {
        ++length;
    }
    return length;
}

} // namespace

// -----------------------------------------------------------------------------------------------
// Hash chains

void HashChains::reset()
{
    std::fill(std::begin(head3_), std::end(head3_), kNone);
    std::fill(std::begin(head4_), std::end(head4_), kNone);
}

// Returns the latest position with the same 4-byte hash, recent3 the latest with the same 3-byte
// hash.
uint32_t HashChains::insert(const uint8_t* tile, uint32_t at, uint32_t& recent3)
{
    const uint32_t word = load32(tile + at);
    uint16_t& head3 = head3_[hash(firstThreeBytes(word), 14)];
    uint16_t& head4 = head4_[hash(word, 15)];
    const uint16_t recent4 = head4;
    recent3 = head3;
    next_[at] = recent4;
    head3 = head4 = static_cast<uint16_t>(at);
    return recent4;
}

Match HashChains::findLongest(const uint8_t* tile, uint32_t at, uint32_t tileEnd,
                              uint32_t minLength, uint32_t niceLength, uint32_t depth)
{
    Match best = {0, 0};
    const uint32_t maxLength = std::min(tileEnd - at, kMaxMatch);
    if (maxLength < kHashedBytes) {
        return best;
    }
    uint32_t recent3;
    uint32_t candidate = insert(tile, at, recent3);
    const uint8_t* const here = tile + at;
    const uint32_t first4 = load32(here);
    uint32_t length = minLength;
    if (length < 3 && recent3 != kNone &&
        firstThreeBytes(load32(tile + recent3)) == firstThreeBytes(first4)) {
        length = 3;
        best = {3, static_cast<uint16_t>(at - recent3)};
    }
    for (; candidate != kNone && depth != 0 && length < maxLength;
         candidate = next_[candidate], --depth) {
        const uint8_t* const there = tile + candidate;
        // Only a longer match counts, so the four bytes that end one byte past the best are a good
        // first test.
        const uint32_t last = std::max(length, 3u) - 3;
        if (load32(there + last) != load32(here + last) || load32(there) != first4) {
            continue;
        }
        const uint32_t found = extendMatch(here, there, kHashedBytes, maxLength);
        // A byte more is not worth an offset that is very much larger.
        const bool worthIt =
            best.length == 0 || found > length + 1 || at - candidate < 64u * best.distance;
        if (found > length && worthIt) {
            length = found;
            best = {static_cast<uint16_t>(found), static_cast<uint16_t>(at - candidate)};
            if (found >= niceLength) {
                break;
            }
        }
    }
    return best;
}

void HashChains::skip(const uint8_t* tile, uint32_t at, uint32_t count, uint32_t tileEnd)
{
    uint32_t recent3;
    for (; count != 0 && at + kHashedBytes <= tileEnd; ++at, --count) {
        insert(tile, at, recent3);
    }
}

// -----------------------------------------------------------------------------------------------
// Binary trees

void BinaryTrees::reset()
{
    std::memset(head3_, 0xff, sizeof(head3_));
    std::memset(head4_, 0xff, sizeof(head4_));
}

// Splits the tree of this hash into what is less and what is greater than the string at `at`, its
// new root. Both boundaries of the split share a prefix with the string, and everything between
// them shares the shorter of the two.
template <bool kStore>
Match* BinaryTrees::insert(const uint8_t* tile, uint32_t at, uint32_t maxLength,
                           uint32_t niceLength, uint32_t depth, Match* matches)
{
    const uint8_t* const here = tile + at;
    const uint32_t word = load32(here);

    uint16_t* const recent3 = head3_[hash(firstThreeBytes(word), 15)];
    if (kStore) {
        for (int i = 0; i < 2; ++i) {
            if (recent3[i] != kNone &&
                firstThreeBytes(load32(tile + recent3[i])) == firstThreeBytes(word)) {
                *matches++ = {3, static_cast<uint16_t>(at - recent3[i])};
                break;
            }
        }
    }
    recent3[1] = recent3[0];
    recent3[0] = static_cast<uint16_t>(at);

    uint16_t& head = head4_[hash(word, 16)];
    uint32_t node = head;
    head = static_cast<uint16_t>(at);
    uint16_t* lesser = &child_[at][0]; // where the next node that is less goes
    uint16_t* greater = &child_[at][1];
    uint32_t lesserLength = 0, greaterLength = 0, best = 3;
    for (; node != kNone && depth != 0; --depth) {
        const uint8_t* const there = tile + node;
        const uint32_t length =
            extendMatch(here, there, std::min(lesserLength, greaterLength), maxLength);
        if (kStore && length > best) {
            best = length;
            *matches++ = {static_cast<uint16_t>(length), static_cast<uint16_t>(at - node)};
        }
        if (length >= niceLength) { // as good as equal: the new root takes its place
            *lesser = child_[node][0];
            *greater = child_[node][1];
            return matches;
        }
        if (there[length] < here[length]) {
            *lesser = static_cast<uint16_t>(node);
            lesser = &child_[node][1];
            node = *lesser;
            lesserLength = length;
        } else {
            *greater = static_cast<uint16_t>(node);
            greater = &child_[node][0];
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
    if (maxLength < kHashedBytes) {
        return matches;
    }
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
