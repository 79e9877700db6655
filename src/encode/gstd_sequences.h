// SPDX-License-Identifier: MIT OR Apache-2.0
// The sequences of a Gstd tile: found by libzstd, cut at the ends of parts, and kept shallow.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <sluice/sluice_encode.h>

namespace sluice::gstd {

struct Sequence {
    uint32_t literals; // bytes before the match
    uint32_t length, offset;
};

// What a part is made of; the literals past the last sequence end it.
struct PartSequences {
    uint32_t begin = 0, size = 0; // bytes of the tile
    std::vector<Sequence> sequences;
};

class SequenceFinder {
public:
    // zstdLevel: of libzstd; depth: as in SluiceGstdEncoderInfo. Throws std::bad_alloc.
    SequenceFinder(int zstdLevel, uint32_t depth);
    ~SequenceFinder();

    // Cuts the tile into parts, too.
    void find(const uint8_t* tile, uint32_t size, std::vector<PartSequences>& parts);
    // The same with matches that are known. False: they are wrong.
    bool useMatches(const uint8_t* tile, uint32_t size, const SluiceGstdMatch* matches,
                    uint32_t count, std::vector<PartSequences>& parts);

private:
    struct Zstd;
    struct Match {
        uint32_t begin, length, offset;
    };

    void search(const uint8_t* tile, uint32_t size, int level);
    void planParts(uint32_t size);
    void makeParts(const uint8_t* tile, uint32_t size, std::vector<PartSequences>& parts);
    void addShallow(const uint8_t* tile, Match match);
    bool retarget(const uint8_t* tile, Match& match) const;
    uint32_t shallowLength(const Match& match);
    void cut(std::vector<PartSequences>& parts);

    std::unique_ptr<Zstd> zstd_;
    int level_;
    uint32_t depth_;
    std::vector<Match> found_, kept_, matches_;
    std::vector<uint32_t> from_; // of each byte of the tile: the one that it copies, or itself
    std::vector<uint32_t> ends_; // of the parts
    std::vector<uint8_t> hops_;  // and over how many others of its group
};

} // namespace sluice::gstd
