// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the sequences of a Gstd tile with libzstd, cuts them at the ends of parts, and limits the
// depth of copies of copies.
#pragma once

#include <memory>
#include <vector>

#include <sluice/sluice_encode.h>

#include "formats/integers.h"

namespace sluice::gstd {

struct Sequence {
    uint32_t literals; // bytes before the match
    uint32_t length, offset;
};

// The sequences of a part. The bytes after the last sequence are literals.
struct PartSequences {
    uint32_t begin = 0, size = 0; // bytes of the tile
    std::vector<Sequence> sequences;
};

// How libzstd searches: a level, and parameters that replace those of the level if they are not 0.
struct Search {
    int level;
    uint32_t strategy, searchLog, minMatch;
};

class SequenceFinder {
public:
    // `depth` is as in SluiceGstdEncoderInfo. Throws std::bad_alloc.
    explicit SequenceFinder(uint32_t depth);
    ~SequenceFinder();

    // Finds matches and cuts the tile into parts.
    void find(const uint8_t* tile, uint32_t size, const Search& how,
              std::vector<PartSequences>& parts);
    // Does the same with matches that are known; returns false if they are wrong.
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
    std::vector<uint32_t> m_ends;   // of the parts
    std::vector<uint32_t> m_source; // for each byte of the tile: the byte that it copies, or itself
    std::vector<uint8_t> m_depth;   // for each byte: the depth of copies of copies inside its group
};

} // namespace sluice::gstd
