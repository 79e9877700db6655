// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes Zstandard frames part by part, right or wrong ones.
#pragma once

#include "formats/fse.h"
#include "formats/zstd.h"

#include <optional>
#include <vector>

namespace sluice::test {

using Bytes = std::vector<uint8_t>;

void append(Bytes& to, const Bytes& bytes);
void appendLe(Bytes& to, uint64_t value, uint32_t size);

// Collects bits from the lowest bit of the first byte on. A decoder reads them from the end, so
// what it reads first is written last.
class ZstdBits {
public:
    void put(uint64_t value, uint32_t n);
    Bytes finish(); // adds the bit that marks the end
    Bytes bytes() const { return m_bytes; }

private:
    Bytes m_bytes;
    uint32_t m_used = 0; // used bits of the last byte
};

// Holds one of the three tables of a block.
struct ZstdTable {
    uint32_t mode = SLUICE_ZS_PREDEFINED;
    uint32_t symbol = 0;      // for SLUICE_ZS_ONE_SYMBOL
    fse::Distribution counts; // for SLUICE_ZS_FSE
};
// Returns counts that add up to 2^log, roughly in proportion to `frequencies`. Each symbol that
// occurs has a count of at least one or, with `low`, perhaps "less than one" (-1).
fse::Distribution zstdCounts(const std::vector<uint32_t>& frequencies, uint32_t log, bool low);
Bytes zstdDescription(const fse::Distribution& counts);
fse::Distribution zstdPredefined(uint32_t kind);
// Holds a table's states. zstdStates makes those of PREDEFINED and FSE, and a table of log 0 for
// ONE_SYMBOL; for REPEAT it returns `before`.
struct ZstdStates {
    uint32_t log = 0;
    std::vector<fse::State> states;
};
ZstdStates zstdStates(uint32_t kind, const ZstdTable& table, const ZstdStates& before);

struct ZstdSequence {
    uint32_t literals, offsetValue, length;
};
using ZstdSequences = std::vector<ZstdSequence>;
// The symbol of a length or of an offset's value. `bits` is the number of extra bits after it, and
// `extra` is their value.
struct ZstdSymbol {
    uint32_t symbol, bits, extra;
};
ZstdSymbol zstdSymbol(uint32_t kind, uint32_t value);
uint32_t zstdBase(uint32_t kind, uint32_t symbol);
uint32_t zstdExtraBits(uint32_t kind, uint32_t symbol);
Bytes zstdSequenceBits(const ZstdSequences& sequences, const ZstdStates* tables);

// A code of literals: a weight for every symbol, including the last one.
using ZstdWeights = std::vector<uint8_t>;
// Returns nothing if the weights cannot be sent so.
Bytes zstdTree(const ZstdWeights& weights, bool direct);
Bytes zstdStream(const ZstdWeights& weights, const uint8_t* literals, size_t count);

// The parts of a compressed block in the order in which they are stored.
struct ZstdBlockParts {
    Bytes literalsHeader, tree, jumps, streams, sequencesHeader, tables, bits;
    Bytes joined() const;
};
// format: bits 2 and 3 of the header of literals.
Bytes zstdLiteralsHeader(uint32_t kind, uint32_t format, size_t literals, size_t bytes);
// Writes one stream, or four after the sizes of the first three.
void zstdStreams(ZstdBlockParts& parts, const ZstdWeights& weights, const Bytes& literals,
                 uint32_t streams);
Bytes zstdSequenceCount(uint32_t count, uint32_t bytes);

Bytes zstdBlockHeader(uint32_t kind, size_t size, bool last);
Bytes zstdBlock(uint32_t kind, const Bytes& content, bool last);
Bytes zstdRleBlock(uint8_t byte, size_t size, bool last);

struct ZstdHeader {
    std::optional<uint64_t> contentSize;
    uint32_t contentSizeBytes = 0; // 0, 1, 2, 4 or 8; 1 only with singleSegment
    bool singleSegment = false, checksum = false;
    uint32_t window = 0; // the byte of the window
    uint32_t dictionaryIdBytes = 0, dictionaryId = 0;
    uint32_t otherBits = 0; // other bits of the descriptor
};
Bytes zstdHeader(const ZstdHeader& header);
Bytes zstdChecksum(const Bytes& content);
Bytes zstdSkippable(uint32_t number, const Bytes& content);

} // namespace sluice::test
