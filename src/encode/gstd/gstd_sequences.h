// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the sequences of a Gstd tile with libzstd, cuts them where parts end, and limits how many
// copies in a row a byte depends on (its depth).
#pragma once

#include <memory>
#include <vector>

#include <sluice/sluice_encode.h>

#include "formats/integers.h"

namespace sluice::gstd {

// A run of literals and the match after it.
struct Sequence {
    uint32_t literals; // number of bytes before the match
    uint32_t length, offset;
};

// The sequences of a part. Bytes after the last sequence are literals.
struct PartSequences {
    uint32_t begin = 0, size = 0; // offset and bytes of the part in the tile
    std::vector<Sequence> sequences;
};

// How libzstd searches: a level, and parameters that replace the level's own unless they are 0.
struct Search {
    int level;
    uint32_t strategy, searchLog, minMatch;
};

class SequenceFinder {
public:
    // depth: the most copies in a row that a byte may depend on (SluiceGstdEncoderInfo::depth).
    // Throws std::bad_alloc.
    explicit SequenceFinder(uint32_t depth);
    ~SequenceFinder();

    // Finds matches in the tile and cuts it into parts.
    void find(const uint8_t* tile, uint32_t size, const Search& how,
              std::vector<PartSequences>& parts);
    // Cuts the tile into parts with the given matches. Returns false if a match contradicts the
    // tile.
    bool useMatches(const uint8_t* tile, uint32_t size, const SluiceGstdMatch* matches,
                    uint32_t count, std::vector<PartSequences>& parts);

private:
    struct Zstd;
    struct Match {
        uint32_t begin, length, offset;
    };

    void search(const uint8_t* tile, uint32_t size, const Search& how);
    void planParts(uint32_t size);
    void makeParts(const uint8_t* tile, uint32_t size, std::vector<PartSequences>& parts);
    void addShallow(const uint8_t* tile, Match match);
    bool retarget(const uint8_t* tile, Match& match) const;
    uint32_t shallowLength(const Match& match);
    void setLiteral(uint32_t at)
    {
        m_source[at] = at;
        m_depth[at] = 0;
    }
    void cut(std::vector<PartSequences>& parts);

    std::unique_ptr<Zstd> m_zstd;
    uint32_t m_maxDepth;
    std::vector<Match> m_found, m_kept, m_matches;
    std::vector<uint32_t> m_ends;   // where each part ends
    std::vector<uint32_t> m_source; // for each byte of the tile: the byte it copies, or itself
    // Depth of each byte: how many copies inside its group of SLUICE_GS_GROUP bytes come before it.
    std::vector<uint8_t> m_depth;
};

} // namespace sluice::gstd
