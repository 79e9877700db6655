// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gstd/gstd_sequences.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "layout/gstd.h"

namespace sluice::gstd {

namespace {

constexpr u32 kMinMatch = SLUICE_GS_MIN_MATCH;
constexpr u32 kWindowLog = 18;
constexpr Search kSearchAgain = {7, 0, 0, 0};

static_assert(1u << kWindowLog == SLUICE_GS_TILE_BYTES);

u32 groupOf(u32 position) { return position / SLUICE_GS_GROUP; }

} // namespace

struct SequenceFinder::Zstd {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    std::vector<ZSTD_Sequence> sequences;

    ~Zstd() { ZSTD_freeCCtx(context); }
};

SequenceFinder::SequenceFinder(u32 depth) : m_zstd(std::make_unique<Zstd>()), m_maxDepth(depth)
{
    if (m_zstd->context == nullptr) throw std::bad_alloc();
    m_zstd->sequences.resize(SLUICE_GS_TILE_BYTES / kMinMatch + 2);
}

SequenceFinder::~SequenceFinder() = default;

// Finds matches with libzstd, into m_found and in order.
void SequenceFinder::search(const u8* tile, u32 size, const Search& how)
{
    ZSTD_CCtx* const context = m_zstd->context;
    m_found.clear();
    if (size < kMinMatch + 1) return;
    const ZSTD_compressionParameters chosen = ZSTD_getCParams(how.level, size, 0);
    const auto either = [](u32 wanted, u32 usual) { return wanted != 0 ? wanted : usual; };
    const std::pair<ZSTD_cParameter, u32> parameters[] = {
        {ZSTD_c_compressionLevel, u32(how.level)},
        // While its block splitter is on, libzstd 1.5.4 returns everything twice.
        {ZSTD_c_useBlockSplitter, ZSTD_ps_disable},
        {ZSTD_c_windowLog, kWindowLog},
        {ZSTD_c_hashLog, chosen.hashLog},
        {ZSTD_c_chainLog, chosen.chainLog},
        {ZSTD_c_searchLog, either(how.searchLog, chosen.searchLog)},
        {ZSTD_c_minMatch, either(how.minMatch, chosen.minMatch)},
        {ZSTD_c_targetLength, chosen.targetLength},
        {ZSTD_c_strategy, either(how.strategy, u32(chosen.strategy))},
    };
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    for (const auto& [parameter, value] : parameters)
        ZSTD_CCtx_setParameter(context, parameter, int(value));
    std::vector<ZSTD_Sequence>& sequences = m_zstd->sequences;
    const size_t count =
        ZSTD_generateSequences(context, sequences.data(), sequences.size(), tile, size);
    if (ZSTD_isError(count) != 0) {
        if (ZSTD_getErrorCode(count) == ZSTD_error_memory_allocation) throw std::bad_alloc();
        return; // a tile without matches is correct, if large
    }
    u64 sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += u64(sequences[i].litLength) + sequences[i].matchLength;
    if (sum != size) return;
    u32 position = 0;
    for (size_t i = 0; i < count; ++i) {
        position += sequences[i].litLength;
        if (sequences[i].matchLength >= kMinMatch)
            m_found.push_back({position, sequences[i].matchLength, sequences[i].offset});
        position += sequences[i].matchLength;
    }
}

// Sets m_source and m_depth of the match's bytes up to the first that is too deep, and returns how
// many are not.
u32 SequenceFinder::shallowLength(const Match& match)
{
    u32 from = match.begin - match.offset;
    for (u32 k = 0; k < match.length; ++k, ++from) {
        const u32 to = match.begin + k;
        if (from == match.begin) from -= match.offset; // it overlaps itself
        m_source[to] = from;
        m_depth[to] = groupOf(from) == groupOf(to) ? u8(m_depth[from] + 1) : 0;
        if (m_depth[to] > m_maxDepth) return k;
    }
    return match.length;
}

// Lets a match copy the bytes that its source was copied from.
bool SequenceFinder::retarget(const u8* tile, Match& match) const
{
    const u32 source = match.begin - match.offset, origin = m_source[source];
    if (origin == source) return false;
    const u32 offset = match.begin - origin;
    if (offset > SLUICE_GS_TILE_BYTES - 2) return false;
    if (std::memcmp(tile + origin, tile + match.begin, match.length) != 0) return false;
    match.offset = offset;
    return true;
}

// Appends the match, or as much of it as can be made shallow.
void SequenceFinder::addShallow(const u8* tile, Match match)
{
    while (match.length >= kMinMatch) {
        u32 length = shallowLength(match);
        for (Match other = match; length < match.length && retarget(tile, other);) {
            const u32 otherLength = shallowLength(other);
            if (otherLength > length) {
                length = otherLength;
                match = other;
            }
        }
        // The last match that was tried may have been another one.
        shallowLength({match.begin, length, match.offset});
        if (length >= kMinMatch) m_matches.push_back({match.begin, length, match.offset});
        // The byte in the way becomes a literal, and so do those before it if they are too few.
        const u32 done = std::min(length + 1, match.length),
                  kept = length >= kMinMatch ? length : 0;
        for (u32 k = kept; k < done; ++k)
            setLiteral(match.begin + k);
        match.begin += done;
        match.length -= done;
    }
    for (u32 k = 0; k < match.length; ++k)
        setLiteral(match.begin + k);
}

// Ends parts where a decoder has about as much work as with 32 KiB of literals, so that no lane
// group works much longer than others and short lists keep a GPU busy. Parts end at multiples of
// the decoders' pieces, since a part begins with a new piece.
void SequenceFinder::planParts(u32 size)
{
    constexpr u32 kMatchWork = 16; // of a literal
    constexpr u32 kPartWork = 32768, kStep = 4096;
    static_assert(kStep % SLUICE_GS_GROUP == 0 && SLUICE_GS_PART_BYTES % kStep == 0);
    std::vector<u32> work(divideUp(size, kStep));
    u32 position = 0, total = 0;
    const auto addLiterals = [&](u32 end) {
        total += end - position;
        for (u32 to; position < end; position = to) {
            to = std::min(end, (position / kStep + 1) * kStep);
            work[position / kStep] += to - position;
        }
    };
    for (const Match& match : m_found) {
        addLiterals(match.begin);
        work[match.begin / kStep] += kMatchWork;
        total += kMatchWork;
        position = match.begin + match.length;
    }
    addLiterals(size);

    // All parts but the last have about the same work. Parts that the size limit cuts may add to
    // these, up to 16 in all.
    constexpr u32 kMost = SLUICE_GS_MAX_PARTS - SLUICE_GS_TILE_BYTES / SLUICE_GS_PART_BYTES;
    const u32 count = std::clamp((total + kPartWork / 2) / kPartWork, 1u, kMost);
    const u32 most = total / count + kPartWork / 16;
    m_ends.clear();
    u32 begin = 0, sum = 0;
    for (u32 i = 0; i < work.size(); ++i) {
        const u32 at = i * kStep;
        // If a part ended here, there would be at least this many parts.
        const size_t parts = m_ends.size() + 1 + divideUp(size - at, SLUICE_GS_PART_BYTES);
        const bool isEnough = sum + work[i] > most && parts <= SLUICE_GS_MAX_PARTS;
        if (at > begin && (isEnough || at - begin == SLUICE_GS_PART_BYTES)) {
            m_ends.push_back(at);
            begin = at;
            sum = 0;
        }
        sum += work[i];
    }
    m_ends.push_back(size);
}

void SequenceFinder::cut(std::vector<PartSequences>& parts)
{
    parts.clear();
    size_t next = 0;
    u32 begin = 0;
    for (const u32 end : m_ends) {
        PartSequences part;
        part.begin = begin;
        part.size = end - begin;
        u32 position = begin;
        const u32 most = part.size / SLUICE_GS_BYTES_PER_SEQUENCE;
        for (;
             next < m_matches.size() && m_matches[next].begin < end && part.sequences.size() < most;
             ++next) {
            const Match& match = m_matches[next];
            part.sequences.push_back({match.begin - position, match.length, match.offset});
            position = match.begin + match.length;
        }
        while (next < m_matches.size() && m_matches[next].begin < end)
            ++next; // the bytes of these matches become literals
        parts.push_back(std::move(part));
        begin = end;
    }
}

void SequenceFinder::find(const u8* tile, u32 size, const Search& how,
                          std::vector<PartSequences>& parts)
{
    search(tile, size, how);
    makeParts(tile, size, parts);
}

// Bytes of matches with a source before the tile are searched again: they get the matches found
// there, as far as those fit.
bool SequenceFinder::useMatches(const u8* tile, u32 size, const SluiceGstdMatch* matches, u32 count,
                                std::vector<PartSequences>& parts)
{
    m_kept.clear();
    bool open = false;
    u32 position = 0;
    for (u32 i = 0; i < count; ++i) {
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
            m_kept.push_back({match.position, match.length, inside ? match.offset : 0});
    }
    m_found.clear();
    if (open) search(tile, size, kSearchAgain);
    std::vector<Match> all;
    size_t next = 0;
    for (const Match& match : m_kept) {
        if (match.offset != 0) {
            all.push_back(match);
            continue;
        }
        const u32 end = match.begin + match.length;
        while (next < m_found.size() && m_found[next].begin + m_found[next].length <= match.begin)
            ++next;
        for (size_t i = next; i < m_found.size() && m_found[i].begin < end; ++i) {
            const u32 from = std::max(m_found[i].begin, match.begin);
            const u32 to = std::min(m_found[i].begin + m_found[i].length, end);
            if (to - from > kMinMatch) all.push_back({from, to - from, m_found[i].offset});
        }
    }
    m_found.swap(all);
    makeParts(tile, size, parts);
    return true;
}

void SequenceFinder::makeParts(const u8* tile, u32 size, std::vector<PartSequences>& parts)
{
    planParts(size);
    m_source.resize(size);
    m_depth.assign(size, 0);
    m_matches.clear();
    u32 position = 0;
    size_t part = 0;
    for (const Match& match : m_found) {
        for (; position < match.begin; ++position)
            setLiteral(position);
        // No match crosses the end of a part. The format cannot express an offset from the last byte
        // of a tile to the first.
        for (u32 done = 0; done < match.length && match.offset < SLUICE_GS_TILE_BYTES - 1;) {
            const u32 begin = match.begin + done;
            while (m_ends[part] <= begin)
                ++part;
            const u32 length = std::min(match.length - done, m_ends[part] - begin);
            addShallow(tile, {begin, length, match.offset});
            done += length;
        }
        position = match.begin + match.length;
    }
    cut(parts);
}

} // namespace sluice::gstd
