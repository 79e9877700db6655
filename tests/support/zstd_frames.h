// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes random Zstandard frames that follow every rule, and what they decode to. They have parts
// that encoders hardly ever make. libzstd 1.5.4 accepts all of them.
#pragma once

#include "tests/support/zstd_writer.h"

#include <random>
#include <set>
#include <string>

namespace sluice::test {

// Holds what the next block of a frame may use of the blocks before.
struct ZstdState {
    ZstdWeights weights; // empty: there is no code yet
    bool hasTables = false;
    ZstdStates tables[SLUICE_ZS_TABLES];
    uint32_t repeats[SLUICE_ZS_REPEATS] = {1, 4, 8};
};

struct ZstdDictionaryParts {
    Bytes bytes, content;
    uint32_t id = 0; // 0: it is a raw dictionary
    ZstdState state;
};

// Returns the offset of a sequence and updates the repeated offsets by the rules of RFC 8878,
// 3.1.1.5. Returns 0 if there is no such offset.
uint32_t zstdOffset(uint32_t* repeats, uint32_t offsetValue, uint32_t literals);
// Appends what the sequences and literals decode to.
void zstdExpand(Bytes& history, uint32_t* repeats, const ZstdSequences& sequences,
                const Bytes& literals);

class ZstdGenerator {
public:
    explicit ZstdGenerator(std::mt19937& random) : m_random(random) {}

    struct Made {
        Bytes frame, content;
    };
    Made frame(const ZstdDictionaryParts* dictionary = nullptr);
    ZstdDictionaryParts dictionary(bool trained);
    // Returns a random complete code, whose longest codewords have at most `longest` bits.
    ZstdWeights weights(uint32_t symbols, uint32_t longest = SLUICE_ZS_MAX_CODE_LENGTH);
    // Returns the kinds of blocks, literals, tables and offsets that were made so far.
    const std::set<std::string>& kinds() const { return m_kinds; }

private:
    using Symbols = std::vector<uint8_t>;

    uint32_t below(uint32_t n) { return uint32_t(m_random() % n); }
    bool oneIn(uint32_t n) { return below(n) == 0; }
    uint32_t someSize(uint32_t most);
    Bytes noise(size_t size);
    Bytes block(bool last);
    Bytes compressed();
    // Returns a length or an offset's value, at most `most`, whose symbol is allowed. Returns
    // UINT32_MAX if there is none.
    uint32_t value(uint32_t kind, const Symbols& allowed, uint32_t most);
    bool sequence(const Symbols* allowed, uint32_t room, size_t done, const uint32_t* repeats,
                  ZstdSequence& result);
    ZstdSequences sequences(const Symbols* allowed, uint32_t room);
    void literals(ZstdBlockParts& parts, uint32_t count, Bytes& bytes);
    void tables(ZstdBlockParts& parts, const ZstdSequences& made, const ZstdTable* wanted);

    std::mt19937& m_random;
    std::set<std::string> m_kinds;
    // The rest belongs to the frame that is being made.
    ZstdState m_state;
    Bytes m_history; // the dictionary and the content so far
    size_t m_dictionarySize = 0;
    uint64_t m_window = 0;
    uint32_t m_blockMaximum = 0, m_largestBlock = 0;
};

} // namespace sluice::test
