// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the sequences of a Gstd tile with libzstd, cuts them at the ends of parts, and limits how
// deep copies are nested.
#pragma once

#include <memory>
#include <vector>

#include <sluice/sluice_encode.h>

#include "formats/integers.h"

namespace sluice::gstd {

struct Sequence {
    u32 literals; // bytes before the match
    u32 length, offset;
};

// The content of a part, which ends with the literals past the last sequence.
struct PartSequences {
    u32 begin = 0, size = 0; // bytes of the tile
    std::vector<Sequence> sequences;
};

// How libzstd searches: a level, and parameters that replace those of the level unless they are 0.
struct Search {
    int level;
    u32 strategy, searchLog, minMatch;
};

class SequenceFinder {
public:
    // `depth` is as in SluiceGstdEncoderInfo. Throws std::bad_alloc.
    explicit SequenceFinder(u32 depth);
    ~SequenceFinder();

    // Finds matches and cuts the tile into parts.
    void find(const u8* tile, u32 size, const Search& how, std::vector<PartSequences>& parts);
    // Does the same with matches that are known; returns false if they are wrong.
    bool useMatches(const u8* tile, u32 size, const SluiceGstdMatch* matches, u32 count,
                    std::vector<PartSequences>& parts);

private:
    struct Zstd;
    struct Match {
        u32 begin, length, offset;
    };

    void search(const u8* tile, u32 size, const Search& how);
    void planParts(u32 size);
    void makeParts(const u8* tile, u32 size, std::vector<PartSequences>& parts);
    void addShallow(const u8* tile, Match match);
    bool retarget(const u8* tile, Match& match) const;
    u32 shallowLength(const Match& match);
    void setLiteral(u32 at)
    {
        m_source[at] = at;
        m_depth[at] = 0;
    }
    void cut(std::vector<PartSequences>& parts);

    std::unique_ptr<Zstd> m_zstd;
    u32 m_maxDepth;
    std::vector<Match> m_found, m_kept, m_matches;
    std::vector<u32> m_ends;   // of the parts
    std::vector<u32> m_source; // for each byte of the tile: the byte that it copies, or itself
    std::vector<u8> m_depth;   // for each byte: the depth of copies of copies inside its group
};

} // namespace sluice::gstd
