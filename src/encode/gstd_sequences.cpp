// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gstd_sequences.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "../../shaders/lib/layout.h"

namespace sluice::gstd {

namespace {

constexpr uint32_t kMinMatch = SLUICE_GS_MIN_MATCH;
constexpr uint32_t kWindowLog = 18;
constexpr int kSearchAgainLevel = 7; // of libzstd

uint32_t groupOf(uint32_t position) { return position / SLUICE_GS_GROUP; }

} // namespace

struct SequenceFinder::Zstd {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    std::vector<ZSTD_Sequence> sequences;

    ~Zstd() { ZSTD_freeCCtx(context); }
};

SequenceFinder::SequenceFinder(int zstdLevel, uint32_t depth)
    : zstd_(std::make_unique<Zstd>()), level_(zstdLevel), depth_(depth)
{
    if (zstd_->context == nullptr) throw std::bad_alloc();
    zstd_->sequences.resize(SLUICE_GS_TILE_BYTES / kMinMatch + 2);
}

SequenceFinder::~SequenceFinder() = default;

// Leaves the matches in found_, in order.
void SequenceFinder::search(const uint8_t* tile, uint32_t size, int level)
{
    ZSTD_CCtx* const context = zstd_->context;
    found_.clear();
    if (size < kMinMatch + 1) return;
    // While its block splitter is on, libzstd 1.5.4 returns everything twice.
    const ZSTD_compressionParameters chosen = ZSTD_getCParams(level, size, 0);
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_useBlockSplitter, ZSTD_ps_disable);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, static_cast<int>(kWindowLog));
    ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, static_cast<int>(chosen.hashLog));
    ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, static_cast<int>(chosen.chainLog));
    ZSTD_CCtx_setParameter(context, ZSTD_c_searchLog, static_cast<int>(chosen.searchLog));
    ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, static_cast<int>(chosen.minMatch));
    ZSTD_CCtx_setParameter(context, ZSTD_c_targetLength, static_cast<int>(chosen.targetLength));
    ZSTD_CCtx_setParameter(context, ZSTD_c_strategy, static_cast<int>(chosen.strategy));
    std::vector<ZSTD_Sequence>& sequences = zstd_->sequences;
    const size_t count =
        ZSTD_generateSequences(context, sequences.data(), sequences.size(), tile, size);
    if (ZSTD_isError(count) != 0) {
        if (ZSTD_getErrorCode(count) == ZSTD_error_memory_allocation) throw std::bad_alloc();
        return; // no matches: correct, if large
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += uint64_t{sequences[i].litLength} + sequences[i].matchLength;
    if (sum != size) return;
    uint32_t position = 0;
    for (size_t i = 0; i < count; ++i) {
        position += sequences[i].litLength;
        if (sequences[i].matchLength >= kMinMatch)
            found_.push_back({position, sequences[i].matchLength, sequences[i].offset});
        position += sequences[i].matchLength;
    }
}

// Sets from_ and hops_ of the match's bytes; returns how many of them, from the first on, are
// shallow enough.
uint32_t SequenceFinder::shallowLength(const Match& match)
{
    uint32_t from = match.begin - match.offset;
    for (uint32_t k = 0; k < match.length; ++k, ++from) {
        const uint32_t to = match.begin + k;
        if (from == match.begin) from -= match.offset; // it overlaps itself
        from_[to] = from;
        hops_[to] = groupOf(from) == groupOf(to) ? static_cast<uint8_t>(hops_[from] + 1) : 0;
        if (hops_[to] > depth_) return k;
    }
    return match.length;
}

// Lets a match copy what its source was copied from.
bool SequenceFinder::retarget(const uint8_t* tile, Match& match) const
{
    const uint32_t source = match.begin - match.offset, origin = from_[source];
    if (origin == source) return false;
    const uint32_t offset = match.begin - origin;
    if (offset > SLUICE_GS_TILE_BYTES - 2) return false;
    if (std::memcmp(tile + origin, tile + match.begin, match.length) != 0) return false;
    match.offset = offset;
    return true;
}

// Appends the match, or as much of it as can be made shallow.
void SequenceFinder::addShallow(const uint8_t* tile, Match match)
{
    while (match.length >= kMinMatch) {
        uint32_t length = shallowLength(match);
        for (Match other = match; length < match.length && retarget(tile, other);) {
            const uint32_t otherLength = shallowLength(other);
            if (otherLength > length) {
                length = otherLength;
                match = other;
            }
        }
        // the last one tried may have been another
        shallowLength({match.begin, length, match.offset});
        if (length >= kMinMatch) matches_.push_back({match.begin, length, match.offset});
        // The byte in the way becomes a literal, and so do those before it if they are too few.
        const uint32_t done = std::min(length + 1, match.length),
                       kept = length >= kMinMatch ? length : 0;
        for (uint32_t k = kept; k < done; ++k) {
            from_[match.begin + k] = match.begin + k;
            hops_[match.begin + k] = 0;
        }
        match.begin += done;
        match.length -= done;
    }
    for (uint32_t k = 0; k < match.length; ++k) {
        from_[match.begin + k] = match.begin + k;
        hops_[match.begin + k] = 0;
    }
}

// Parts end where a decoder has about as much work as with 32 KiB of literals, so that no lane
// group works much longer than others and short lists keep a GPU busy; and at multiples of what
// decoders make at once, since they begin a part anew.
void SequenceFinder::planParts(uint32_t size)
{
    constexpr uint32_t kMatchWork = 16; // of a literal
    constexpr uint32_t kPartWork = 32768, kStep = 4096;
    static_assert(kStep % SLUICE_GS_GROUP == 0 && SLUICE_GS_PART_BYTES % kStep == 0);
    std::vector<uint32_t> work((size + kStep - 1) / kStep);
    uint32_t position = 0, total = 0;
    const auto addLiterals = [&](uint32_t end) {
        total += end - position;
        for (uint32_t to; position < end; position = to) {
            to = std::min(end, (position / kStep + 1) * kStep);
            work[position / kStep] += to - position;
        }
    };
    for (const Match& match : found_) {
        addLiterals(match.begin);
        work[match.begin / kStep] += kMatchWork;
        total += kMatchWork;
        position = match.begin + match.length;
    }
    addLiterals(size);

    // So many parts with about as much work each, and what is left over because parts end at steps;
    // 16 at most.
    constexpr uint32_t kMost = SLUICE_GS_MAX_PARTS - SLUICE_GS_TILE_BYTES / SLUICE_GS_PART_BYTES;
    const uint32_t count = std::clamp((total + kPartWork / 2) / kPartWork, 1u, kMost);
    const uint32_t most = total / count + kPartWork / 16;
    ends_.clear();
    uint32_t begin = 0, sum = 0;
    for (uint32_t i = 0; i < work.size(); ++i) {
        const uint32_t at = i * kStep;
        // at least
        const size_t parts =
            ends_.size() + 1 + (size - at + SLUICE_GS_PART_BYTES - 1) / SLUICE_GS_PART_BYTES;
        const bool isEnough = sum + work[i] > most && parts <= SLUICE_GS_MAX_PARTS;
        if (at > begin && (isEnough || at - begin == SLUICE_GS_PART_BYTES)) {
            ends_.push_back(at);
            begin = at;
            sum = 0;
        }
        sum += work[i];
    }
    ends_.push_back(size);
}

void SequenceFinder::cut(std::vector<PartSequences>& parts)
{
    parts.clear();
    size_t next = 0;
    uint32_t begin = 0;
    for (const uint32_t end : ends_) {
        PartSequences part;
        part.begin = begin;
        part.size = end - begin;
        uint32_t position = begin;
        const uint32_t most = part.size / SLUICE_GS_BYTES_PER_SEQUENCE;
        for (; next < matches_.size() && matches_[next].begin < end && part.sequences.size() < most;
             ++next) {
            const Match& match = matches_[next];
            part.sequences.push_back({match.begin - position, match.length, match.offset});
            position = match.begin + match.length;
        }
        while (next < matches_.size() && matches_[next].begin < end)
            ++next; // literals
        parts.push_back(std::move(part));
        begin = end;
    }
}

void SequenceFinder::find(const uint8_t* tile, uint32_t size, std::vector<PartSequences>& parts)
{
    search(tile, size, level_);
    makeParts(tile, size, parts);
}

// What matches that begin before the tile leave open is searched again: the other matches found
// there, as far as they fit.
bool SequenceFinder::useMatches(const uint8_t* tile, uint32_t size, const SluiceGstdMatch* matches,
                                uint32_t count, std::vector<PartSequences>& parts)
{
    kept_.clear();
    bool open = false;
    uint32_t position = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const SluiceGstdMatch& match = matches[i];
        if (match.position < position || match.position > size ||
            match.length > size - match.position || match.offset == 0)
            return false;
        position = match.position + match.length;
        const bool inside = match.offset <= match.position;
        if (inside && std::memcmp(tile + match.position, tile + match.position - match.offset,
                                  match.length) != 0)
            return false;
        open = open || !inside;
        if (match.length >= kMinMatch)
            kept_.push_back({match.position, match.length, inside ? match.offset : 0});
    }
    found_.clear();
    if (open) search(tile, size, kSearchAgainLevel);
    std::vector<Match> all;
    size_t next = 0;
    for (const Match& match : kept_) {
        if (match.offset != 0) {
            all.push_back(match);
            continue;
        }
        const uint32_t end = match.begin + match.length;
        while (next < found_.size() && found_[next].begin + found_[next].length <= match.begin)
            ++next;
        for (size_t i = next; i < found_.size() && found_[i].begin < end; ++i) {
            const uint32_t from = std::max(found_[i].begin, match.begin);
            const uint32_t to = std::min(found_[i].begin + found_[i].length, end);
            if (to - from > kMinMatch) all.push_back({from, to - from, found_[i].offset});
        }
    }
    found_.swap(all);
    makeParts(tile, size, parts);
    return true;
}

void SequenceFinder::makeParts(const uint8_t* tile, uint32_t size,
                               std::vector<PartSequences>& parts)
{
    planParts(size);
    from_.resize(size);
    hops_.assign(size, 0);
    matches_.clear();
    uint32_t position = 0;
    size_t part = 0;
    for (const Match& match : found_) {
        for (; position < match.begin; ++position)
            from_[position] = position;
        // No match crosses the end of a part; the format cannot say that it copies from the first
        // byte to the last.
        for (uint32_t done = 0; done < match.length && match.offset < SLUICE_GS_TILE_BYTES - 1;) {
            const uint32_t begin = match.begin + done;
            while (ends_[part] <= begin)
                ++part;
            const uint32_t length = std::min(match.length - done, ends_[part] - begin);
            addShallow(tile, {begin, length, match.offset});
            done += length;
        }
        position = match.begin + match.length;
    }
    cut(parts);
}

} // namespace sluice::gstd
