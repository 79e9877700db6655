// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the tables of Zstandard's blocks: the tree of the literals, the FSE tables of the
// sequences, and dictionaries, which contain both (RFC 8878, 4 and 5; docs/format.md, section 12).
#pragma once

#include "formats/fse.h"
#include "formats/zstd.h"

namespace sluice::zstd {

// Reads bits from the end of `size` bytes towards their beginning. Bits before the first byte are
// 0.
class BackwardBits {
public:
    BackwardBits(const uint8_t* bytes, size_t size);

    bool valid() const { return m_valid; } // whether the last byte has the bit that marks the end
    uint32_t peek(uint32_t n) const;       // n: 0 .. 31
    void skip(uint32_t n) { m_left -= n; }
    uint32_t take(uint32_t n)
    {
        const uint32_t value = peek(n);
        skip(n);
        return value;
    }
    int64_t left() const { return m_left; } // negative if more bits were taken than there are

private:
    const uint8_t* m_bytes;
    size_t m_size;
    int64_t m_left = 0;
    bool m_valid = false;
};

// The look-up table for the Huffman code of the literals. Entry i describes the codeword that is a
// prefix of i, where i is written with `log` bits.
struct Tree {
    struct Entry {
        uint8_t symbol, bits;
    };
    uint32_t log = 0;
    uint32_t bytes = 0; // the size of its description
    Entry entries[1 << SLUICE_ZS_DICTIONARY_CODE_LENGTH] = {};
};

// One of the three tables of sequences. A table of one symbol has log 0; its only state takes no
// bits.
struct SequenceTable {
    uint32_t log = 0;
    fse::State states[SLUICE_ZS_MAX_STATES] = {};
};

// A symbol of a table stands for `base` plus the number in the next `bits` bits. For an offset,
// this is the offsetValue of a Sequence.
struct ValueCode {
    uint32_t base, bits;
};
ValueCode valueCode(uint32_t kind, uint32_t symbol);

struct Tables {
    Tree tree;
    SequenceTable sequences[SLUICE_ZS_TABLES];
};

// readTree and readSequenceTable read the description of a table, which begins at `bytes`. They
// return a SluiceTileStatus: OK, BAD_CODE or TRUNCATED. maxLog: the most bits that a codeword may
// have.
uint32_t readTree(const uint8_t* bytes, size_t size, uint32_t maxLog, Tree& tree);
// kind: SLUICE_ZS_LITERAL_LENGTHS, OFFSETS or MATCH_LENGTHS; mode: SLUICE_ZS_PREDEFINED … REPEAT;
// used: receives the bytes of the description.
uint32_t readSequenceTable(uint32_t kind, uint32_t mode, const uint8_t* bytes, size_t size,
                           SequenceTable& table, uint32_t& used);
// Returns the distribution for the mode SLUICE_ZS_PREDEFINED.
fse::Distribution predefinedStates(uint32_t kind);

// A number of literals, and a match. offsetValue: 1 to 3 stand for the last three offsets; a larger
// value is the match's offset + 3.
struct Sequence {
    uint32_t literals, length, offsetValue;
};

// Reads `count` sequences from `size` bytes. Returns false if the bytes have too few or too many
// bits.
bool readSequences(const SequenceTable (&tables)[SLUICE_ZS_TABLES], const uint8_t* bytes,
                   size_t size, Sequence* sequences, size_t count);

// A dictionary. A raw one has only content; a trained one also has tables.
struct Dictionary {
    DictionaryInfo info;
    const uint8_t* content = nullptr; // points into the bytes that readDictionary was given
    uint32_t repeats[SLUICE_ZS_REPEATS] = {};
    Tables tables;

    Dictionary(); // an empty dictionary: no content and no tables
};

// Reads a dictionary and returns a SluiceTileStatus. Bytes that do not begin with the magic number
// of a trained dictionary are a raw one.
uint32_t readDictionary(const uint8_t* bytes, size_t size, Dictionary& dictionary);

} // namespace sluice::zstd
