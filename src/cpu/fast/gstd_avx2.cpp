// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads symbols and bits of Gstd's lanes with AVX2, eight lanes at a time. A *lane* has a state of
// 32 bits from which it reads. If its state is below 2^16, it *refills* before it reads: it shifts
// in the next 16-bit word. gstd_lanes.h does the same in portable C++, and describes the tables.
#include "cpu/fast/gstd_steps.h"
#include "cpu/fast/simd.h"
#include "cpu/fast/simd_tables.h"

namespace sluice::cpu::fast {

#if SLUICE_HAVE_AVX2
namespace {

constexpr RankOf8 kRanks;
// kWide: lanes per AVX2 vector; kVectors: vectors for all lanes.
constexpr uint32_t kLanes = SLUICE_GS_LANES, kWide = 8, kVectors = kLanes / kWide;
constexpr uint32_t kGroup = 4 * kLanes; // literals that are read together, four per lane

SLUICE_AVX2 inline __m256i load(const uint32_t* from)
{
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
SLUICE_AVX2 inline void store(uint32_t* to, __m256i value)
{
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}
// Loads eight words of a table. places: their indices.
SLUICE_AVX2 inline __m256i gather(const uint32_t* table, __m256i places)
{
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(table), places, 4);
}

// Returns all ones for each lane that must refill because its state is below 2^16.
SLUICE_AVX2 inline __m256i wantsOf(__m256i states)
{
    return _mm256_cmpeq_epi32(_mm256_srli_epi32(states, 16), _mm256_setzero_si256());
}

// Refills the lanes for which `wants` is all ones, in the order of the lanes, and advances `next`
// by the words that they take. 16 bytes must be readable at `next`.
SLUICE_AVX2 inline __m256i refilled(__m256i states, __m256i wants, const uint8_t*& next)
{
    const uint32_t wanting = uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(wants)));
    const __m256i words =
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(next)));
    // A lane that refills takes word n, where n is the number of such lanes before it.
    const __m256i ranks = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kRanks.rows[wanting])));
    const __m256i taken = _mm256_permutevar8x32_epi32(words, ranks);
    next += 2 * _mm_popcnt_u32(wanting);
    return _mm256_blendv_epi8(states, _mm256_or_si256(_mm256_slli_epi32(states, 16), taken), wants);
}

// Returns the states that lanes have after they have read the symbols with these table entries. The
// table has 2^log slots.
SLUICE_AVX2 inline __m256i advanced(__m256i states, __m256i entries, __m128i log)
{
    const __m256i places =
        _mm256_and_si256(_mm256_srli_epi32(entries, kPlaceShift), _mm256_set1_epi32(kPlaceMask));
    return _mm256_add_epi32(_mm256_mullo_epi32(_mm256_srli_epi32(entries, kFrequencyShift),
                                               _mm256_srl_epi32(states, log)),
                            places);
}

// Returns whether enough words are left for a group of literals, plus kWordsLoaded words that the
// last load may read but not take.
SLUICE_AVX2 inline bool haveGroup(const uint8_t* next, const uint8_t* end)
{
    return size_t(end - next) >= 2 * (kGroup + kWordsLoaded);
}

} // namespace

SLUICE_AVX2 void readSymbolsAvx2(Lanes& lanes, const uint32_t* slots, uint32_t log,
                                 uint32_t* symbols)
{
    const __m256i mask = _mm256_set1_epi32(int((1u << log) - 1)), byte = _mm256_set1_epi32(0xff);
    const __m128i shift = _mm_cvtsi32_si128(int(log));
    const uint8_t* next = lanes.words.next;
    for (uint32_t first = 0; first < kLanes; first += kWide) {
        __m256i states = load(lanes.states + first);
        states = refilled(states, wantsOf(states), next);
        const __m256i entries = gather(slots, _mm256_and_si256(states, mask));
        store(lanes.states + first, advanced(states, entries, shift));
        store(symbols + first, _mm256_and_si256(entries, byte));
    }
    lanes.words.next = next;
}

SLUICE_AVX2 void readExtraBitsAvx2(Lanes& lanes, const uint32_t* rows, const uint32_t* symbols,
                                   uint32_t* values)
{
    const __m256i ones = _mm256_set1_epi32(-1), zero = _mm256_setzero_si256();
    const uint8_t* next = lanes.words.next;
    for (uint32_t first = 0; first < kLanes; first += kWide) {
        const __m256i row = gather(rows, load(symbols + first));
        const __m256i bits = _mm256_and_si256(row, _mm256_set1_epi32(kBitsMask));
        __m256i states = load(lanes.states + first);
        // A lane without extra bits does not refill.
        const __m256i wants = _mm256_andnot_si256(_mm256_cmpeq_epi32(bits, zero), wantsOf(states));
        states = refilled(states, wants, next);
        const __m256i extra = _mm256_andnot_si256(_mm256_sllv_epi32(ones, bits), states);
        store(values + first, _mm256_add_epi32(_mm256_srli_epi32(row, kBaseShift), extra));
        store(lanes.states + first, _mm256_srlv_epi32(states, bits));
    }
    lanes.words.next = next;
}

SLUICE_AVX2 uint32_t readRansLiteralsAvx2(Lanes& lanes, uint32_t count, const uint32_t* slots,
                                          uint32_t log, uint8_t* literals)
{
    const __m256i mask = _mm256_set1_epi32(int((1u << log) - 1)), byte = _mm256_set1_epi32(0xff);
    const __m128i shift = _mm_cvtsi32_si128(int(log));
    const uint8_t* next = lanes.words.next;
    __m256i states[kVectors];
    for (uint32_t v = 0; v < kVectors; ++v)
        states[v] = load(lanes.states + v * kWide);
    uint32_t done = 0;
    // Keep the states in registers from group to group.
    for (; done + kGroup <= count && haveGroup(next, lanes.words.end); done += kGroup) {
        // Byte k of a lane's 32-bit word is literal 4 * lane + k of the group.
        __m256i bytes[kVectors];
        for (uint32_t v = 0; v < kVectors; ++v)
            bytes[v] = _mm256_setzero_si256();
        for (uint32_t k = 0; k < 4; ++k) {
            const __m128i place = _mm_cvtsi32_si128(int(8 * k));
            for (uint32_t v = 0; v < kVectors; ++v) {
                const __m256i full = refilled(states[v], wantsOf(states[v]), next);
                const __m256i entries = gather(slots, _mm256_and_si256(full, mask));
                states[v] = advanced(full, entries, shift);
                bytes[v] = _mm256_or_si256(
                    bytes[v], _mm256_sll_epi32(_mm256_and_si256(entries, byte), place));
            }
        }
        for (uint32_t v = 0; v < kVectors; ++v)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(literals + done + 32 * v), bytes[v]);
    }
    for (uint32_t v = 0; v < kVectors; ++v)
        store(lanes.states + v * kWide, states[v]);
    lanes.words.next = next;
    return done;
}

SLUICE_AVX2 uint32_t readCodedLiteralsAvx2(Lanes& lanes, uint32_t count, const uint16_t* codes,
                                           uint8_t* literals)
{
    const __m256i mask = _mm256_set1_epi32((1 << SLUICE_GS_MAX_CODE_LENGTH) - 1),
                  byte = _mm256_set1_epi32(0xff);
    const uint8_t* next = lanes.words.next;
    __m256i states[kVectors];
    for (uint32_t v = 0; v < kVectors; ++v)
        states[v] = load(lanes.states + v * kWide);
    uint32_t done = 0;
    for (; done + kGroup <= count && haveGroup(next, lanes.words.end); done += kGroup) {
        // Byte k of a lane's 32-bit word is literal 4 * lane + k of the group.
        __m256i bytes[kVectors];
        for (uint32_t v = 0; v < kVectors; ++v)
            bytes[v] = _mm256_setzero_si256();
        for (uint32_t k = 0; k < 4; ++k) {
            const __m128i place = _mm_cvtsi32_si128(int(8 * k));
            for (uint32_t v = 0; v < kVectors; ++v) {
                const __m256i full = refilled(states[v], wantsOf(states[v]), next);
                // An entry has two bytes, but the gather reads four. For the last entry it reads
                // two bytes behind the table, which is one entry longer for this reason.
                const __m256i found = _mm256_i32gather_epi32(reinterpret_cast<const int*>(codes),
                                                             _mm256_and_si256(full, mask), 2);
                states[v] = _mm256_srlv_epi32(
                    full, _mm256_and_si256(_mm256_srli_epi32(found, 8), _mm256_set1_epi32(15)));
                bytes[v] = _mm256_or_si256(bytes[v],
                                           _mm256_sll_epi32(_mm256_and_si256(found, byte), place));
            }
        }
        for (uint32_t v = 0; v < kVectors; ++v)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(literals + done + 32 * v), bytes[v]);
    }
    for (uint32_t v = 0; v < kVectors; ++v)
        store(lanes.states + v * kWide, states[v]);
    lanes.words.next = next;
    return done;
}

#else // without AVX2 these functions are never called
void readSymbolsAvx2(Lanes&, const uint32_t*, uint32_t, uint32_t*) {}
void readExtraBitsAvx2(Lanes&, const uint32_t*, const uint32_t*, uint32_t*) {}
uint32_t readRansLiteralsAvx2(Lanes&, uint32_t, const uint32_t*, uint32_t, uint8_t*) { return 0; }
uint32_t readCodedLiteralsAvx2(Lanes&, uint32_t, const uint16_t*, uint8_t*) { return 0; }
#endif

} // namespace sluice::cpu::fast
