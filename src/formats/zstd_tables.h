// SPDX-License-Identifier: MIT OR Apache-2.0
// The tables of Zstandard's blocks: the tree of the literals, FSE tables of the sequences, and the
// dictionaries that bring both along (RFC 8878, 4 and 5; docs/format.md, section 12).
#pragma once

#include "formats/fse.h"
#include "formats/zstd.h"

namespace sluice::zstd {

// Bits that are read from the end of `size` bytes towards the front. Before the first byte they are
// 0.
class BackwardBits {
public:
    BackwardBits(const uint8_t* bytes, size_t size);

    bool valid() const { return m_valid; } // the last byte has the bit that marks the end
    uint32_t peek(uint32_t n) const;       // n: 0 .. 31
    void skip(uint32_t n) { m_left -= n; }
    uint32_t take(uint32_t n)
    {
        const uint32_t value = peek(n);
        skip(n);
        return value;
    }
    int64_t left() const { return m_left; } // negative: more bits were taken than there are

private:
    const uint8_t* m_bytes;
    size_t m_size;
    int64_t m_left = 0;
    bool m_valid = false;
};

// The code of the literals: what each number of `log` bits begins with.
struct Tree {
    struct Entry {
        uint8_t symbol, bits;
    };
    uint32_t log = 0;
    uint32_t bytes = 0; // of its description
    Entry entries[1 << SLUICE_ZS_DICTIONARY_CODE_LENGTH] = {};
};

// One of the three tables of sequences. One symbol alone: log 0, and its state takes no bits.
struct SequenceTable {
    uint32_t log = 0;
    fse::State states[SLUICE_ZS_MAX_STATES] = {};
};

struct Tables {
    Tree tree;
    SequenceTable sequences[SLUICE_ZS_TABLES];
};

// These read a description that begins at bytes and return a SluiceTileStatus: OK, BAD_CODE or
// TRUNCATED. maxLog: bits of the longest codeword at most.
uint32_t readTree(const uint8_t* bytes, size_t size, uint32_t maxLog, Tree& tree);
// kind: SLUICE_ZS_LITERAL_LENGTHS, OFFSETS or MATCH_LENGTHS; mode: SLUICE_ZS_PREDEFINED … REPEAT.
// `used` receives the size of the description.
uint32_t readSequenceTable(uint32_t kind, uint32_t mode, const uint8_t* bytes, size_t size,
                           SequenceTable& table, uint32_t& used);

// offsetValue: 1 to 3 stand for the last offsets, others are the offset + 3.
struct Sequence {
    uint32_t literals, length, offsetValue;
};

// Reads `count` sequences from their bits. Returns false if these are too few or too many.
bool readSequences(const SequenceTable (&tables)[SLUICE_ZS_TABLES], const uint8_t* bytes,
                   size_t size, Sequence* sequences, size_t count);

// A dictionary, trained or raw: then it is content alone.
struct Dictionary {
    DictionaryInfo info;
    const uint8_t* content = nullptr; // in the bytes that it was read from
    uint32_t repeats[SLUICE_ZS_REPEATS] = {};
    Tables tables;

    Dictionary(); // no content, no tables
};

// Bytes without the magic number of a trained dictionary are a raw one.
uint32_t readDictionary(const uint8_t* bytes, size_t size, Dictionary& dictionary);

} // namespace sluice::zstd
