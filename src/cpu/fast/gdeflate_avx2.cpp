// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes rounds of GDeflate with AVX2, four lanes at a time. In a round each of the 32 lanes
// decodes one symbol: it looks up its next bits in a table and consumes the code and its extra
// bits. If it has fewer than 32 bits left, it *refills*: it takes a word. gdeflate.cpp does the
// same in portable C++; gdeflate_table.h describes the tables.
#include "cpu/fast/gdeflate_round.h"
#include "cpu/fast/simd.h"
#include "cpu/fast/simd_tables.h"

namespace sluice::cpu::fast {

#if SLUICE_HAVE_AVX2
namespace {

constexpr WordsOf4 kWords;
constexpr ChosenOf8 kChosen;
constexpr uint32_t kLanes = gdeflate::kLanes;

SLUICE_AVX2 inline __m256i load(const void* from)
{
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
SLUICE_AVX2 inline void store(void* to, __m256i value)
{
    _mm256_storeu_si256(static_cast<__m256i*>(to), value);
}
SLUICE_AVX2 inline __m128i loadHalf(const void* from)
{
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

// Returns the lanes whose entries have bit flagBit set, as a mask with one bit per lane.
SLUICE_AVX2 inline uint32_t lanesWith(const uint32_t* entries, uint32_t flagBit)
{
    uint32_t lanes = 0;
    for (uint32_t first = 0; first < kLanes; first += 8) {
        const __m256i signs = _mm256_slli_epi32(load(entries + first), int(31 - flagBit));
        lanes |= uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(signs))) << first;
    }
    return lanes;
}

// Looks up the entries of all lanes' next symbols. Returns false if a symbol is neither a literal
// nor a length nor a distance.
SLUICE_AVX2 inline bool lookUp(const GdeflateLanes& lanes, const GdeflateTables& tables,
                               uint32_t* entries)
{
    const __m256i mask = _mm256_set1_epi64x(kTableSize - 1);
    __m128i all = _mm_setzero_si128();
    for (uint32_t first = 0; first < kLanes; first += 4) {
        const __m256i places = _mm256_or_si256(_mm256_and_si256(load(lanes.bits + first), mask),
                                               load(lanes.places + first));
        const __m128i some =
            _mm256_i64gather_epi32(reinterpret_cast<const int*>(tables.entries), places, 4);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(entries + first), some);
        all = _mm_or_si128(all, some);
    }
    // The common case: every code is short, and no symbol ends the block or is invalid.
    if (_mm_testz_si128(all, _mm_set1_epi32(int(kIsSpecial))) != 0) return true;
    for (uint32_t left = lanesWith(entries, kSpecialBit); left != 0; left &= left - 1) {
        const uint32_t lane = lowestBit(left), entry = entries[lane];
        if ((entry & kIsLong) == 0) return false;
        entries[lane] = tables.longEntries[(entry >> kValueShift) * kLongSize +
                                           (lanes.bits[lane] >> kTableLog & (kLongSize - 1))];
        if ((entries[lane] & kIsSpecial) != 0) return false;
    }
    return true;
}

// Writes the round's literals to round.bytes without gaps, and counts the literals before each
// match. literals: the lanes that read one, as a mask with one bit per lane.
SLUICE_AVX2 inline void gatherLiterals(uint32_t literals, GdeflateRound& round)
{
    uint8_t* to = round.bytes;
    for (uint32_t first = 0; first < kLanes; first += 8) {
        // Narrow eight values to bytes. Bytes of lanes without a literal are arbitrary; the shuffle
        // drops them.
        const __m128i words =
            _mm_packus_epi32(loadHalf(round.values + first), loadHalf(round.values + first + 4));
        const uint32_t chosen = literals >> first & 0xff;
        const __m128i order =
            _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kChosen.rows[chosen]));
        const __m128i bytes = _mm_shuffle_epi8(_mm_packus_epi16(words, words), order);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to), bytes);
        to += _mm_popcnt_u32(chosen);
    }
    round.literals = uint32_t(to - round.bytes);
    for (uint32_t left = round.matches; left != 0; left &= left - 1) {
        const uint32_t lane = lowestBit(left);
        round.literalsBefore[lane] = uint32_t(_mm_popcnt_u32(literals & ((1u << lane) - 1)));
    }
}

} // namespace

SLUICE_AVX2 bool gdeflateRoundAvx2(GdeflateLanes& lanes, const GdeflateTables& tables,
                                   const uint8_t*& next, GdeflateRound& round)
{
    alignas(32) uint32_t entries[kLanes];
    if (!lookUp(lanes, tables, entries)) return false;
    const __m256i totalMask = _mm256_set1_epi64x(kTotalMask),
                  codeMask = _mm256_set1_epi64x(kCodeMask), ones = _mm256_set1_epi64x(-1),
                  word = _mm256_set1_epi64x(32), match = _mm256_set1_epi64x(kIsMatch),
                  evenWords = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    const uint8_t* from = next;
    for (uint32_t first = 0; first < kLanes; first += 4) {
        const __m256i entry = _mm256_cvtepu32_epi64(loadHalf(entries + first));
        const __m256i total = _mm256_and_si256(entry, totalMask);
        // The number of bits of the code, without its extra bits.
        const __m256i code = _mm256_and_si256(_mm256_srli_epi64(entry, kCodeShift), codeMask);
        const __m256i bits = load(lanes.bits + first);
        // The bits of the code and its extra bits.
        const __m256i taken = _mm256_andnot_si256(_mm256_sllv_epi64(ones, total), bits);
        const __m256i value =
            _mm256_add_epi64(_mm256_srlv_epi64(taken, code), _mm256_srli_epi64(entry, kValueShift));
        const __m256i left = _mm256_sub_epi64(load(lanes.counts + first), total);
        // Lanes with fewer than 32 bits take the next words, in the order of the lanes.
        const __m256i wants = _mm256_cmpgt_epi64(word, left);
        const uint32_t wanting = uint32_t(_mm256_movemask_pd(_mm256_castsi256_pd(wants)));
        const __m128i words = _mm_shuffle_epi8(loadHalf(from), loadHalf(kWords.rows[wanting]));
        from += 4 * _mm_popcnt_u32(wanting);
        store(lanes.bits + first,
              _mm256_or_si256(_mm256_srlv_epi64(bits, total),
                              _mm256_sllv_epi64(_mm256_cvtepu32_epi64(words), left)));
        store(lanes.counts + first, _mm256_add_epi64(left, _mm256_and_si256(wants, word)));
        store(lanes.places + first, _mm256_and_si256(entry, match));
        // Keep the low halves of the four 64-bit values.
        _mm_storeu_si128(reinterpret_cast<__m128i*>(round.values + first),
                         _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(value, evenWords)));
    }
    next = from;
    round.matches = lanesWith(entries, kTableLog);
    gatherLiterals(lanesWith(entries, kLiteralBit), round);
    return true;
}

#else
bool gdeflateRoundAvx2(GdeflateLanes&, const GdeflateTables&, const uint8_t*&, GdeflateRound&)
{
    return false; // not called
}
#endif

} // namespace sluice::cpu::fast
