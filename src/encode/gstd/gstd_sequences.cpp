// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the matches of a Gstd tile and adapts them to the format. A group is the SLUICE_GS_GROUP
// bytes that a decoder's workgroup makes at once. A byte's depth is the number of copies inside its
// group that must come before it; the format limits this depth.
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

constexpr uint32_t kMinMatch = SLUICE_GS_MIN_MATCH;
constexpr uint32_t kWindowLog = 18;
constexpr Search kSearchAgain = {7, 0, 0, 0};

static_assert(1u << kWindowLog == SLUICE_GS_TILE_BYTES);

uint32_t groupOf(uint32_t position) { return position / SLUICE_GS_GROUP; }

} // namespace

struct SequenceFinder::Zstd {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    std::vector<ZSTD_Sequence> sequences;

    ~Zstd() { ZSTD_freeCCtx(context); }
};

SequenceFinder::SequenceFinder(uint32_t depth) : m_zstd(std::make_unique<Zstd>()), m_maxDepth(depth)
{
    if (m_zstd->context == nullptr) throw std::bad_alloc();
    m_zstd->sequences.resize(SLUICE_GS_TILE_BYTES / kMinMatch + 2);
}

SequenceFinder::~SequenceFinder() = default;

// Lets libzstd find matches, and stores them in m_found by ascending position.
void SequenceFinder::search(const uint8_t* tile, uint32_t size, const Search& how)
{
    ZSTD_CCtx* const context = m_zstd->context;
    m_found.clear();
    if (size < kMinMatch + 1) return;
    const ZSTD_compressionParameters chosen = ZSTD_getCParams(how.level, size, 0);
    const auto either = [](uint32_t wanted, uint32_t usual) {
        return wanted != 0 ? wanted : usual;
    };
    const std::pair<ZSTD_cParameter, uint32_t> parameters[] = {
        {ZSTD_c_compressionLevel, uint32_t(how.level)},
        // With its block splitter on, libzstd 1.5.4 returns every sequence twice.
        {ZSTD_c_useBlockSplitter, ZSTD_ps_disable},
        {ZSTD_c_windowLog, kWindowLog},
        {ZSTD_c_hashLog, chosen.hashLog},
        {ZSTD_c_chainLog, chosen.chainLog},
        {ZSTD_c_searchLog, either(how.searchLog, chosen.searchLog)},
        {ZSTD_c_minMatch, either(how.minMatch, chosen.minMatch)},
        {ZSTD_c_targetLength, chosen.targetLength},
        {ZSTD_c_strategy, either(how.strategy, uint32_t(chosen.strategy))},
    };
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    for (const auto& [parameter, value] : parameters)
        ZSTD_CCtx_setParameter(context, parameter, int(value));
    std::vector<ZSTD_Sequence>& sequences = m_zstd->sequences;
    const size_t count =
        ZSTD_generateSequences(context, sequences.data(), sequences.size(), tile, size);
    if (ZSTD_isError(count) != 0) {
        if (ZSTD_getErrorCode(count) == ZSTD_error_memory_allocation) throw std::bad_alloc();
        return; // without matches the tile is larger, but right
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += uint64_t(sequences[i].litLength) + sequences[i].matchLength;
    if (sum != size) return;
    uint32_t position = 0;
    for (size_t i = 0; i < count; ++i) {
        position += sequences[i].litLength;
        if (sequences[i].matchLength >= kMinMatch)
            m_found.push_back({position, sequences[i].matchLength, sequences[i].offset});
        position += sequences[i].matchLength;
    }
}

// A byte's depth is how many copies must come before it. Sets m_source and m_depth for the match's
// bytes, up to the first one that is deeper than m_maxDepth. Returns how many come before that one.
uint32_t SequenceFinder::shallowLength(const Match& match)
{
    uint32_t from = match.begin - match.offset;
    for (uint32_t k = 0; k < match.length; ++k, ++from) {
        const uint32_t to = match.begin + k;
        if (from == match.begin) from -= match.offset; // the match overlaps its source
        m_source[to] = from;
        m_depth[to] = groupOf(from) == groupOf(to) ? uint8_t(m_depth[from] + 1) : 0;
        if (m_depth[to] > m_maxDepth) return k;
    }
    return match.length;
}

// The match's source may itself be a copy. Lets the match copy from where that came from, which
// makes its bytes less deep. Returns false if the bytes there differ or are too far away.
bool SequenceFinder::retarget(const uint8_t* tile, Match& match) const
{
    const uint32_t source = match.begin - match.offset, origin = m_source[source];
    if (origin == source) return false;
    const uint32_t offset = match.begin - origin;
    if (offset > SLUICE_GS_TILE_BYTES - 2) return false;
    if (std::memcmp(tile + origin, tile + match.begin, match.length) != 0) return false;
    match.offset = offset;
    return true;
}

// Appends the match to m_matches, without those bytes that depend on too many copies in a row.
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
        // The last attempt may have overwritten sources and depths, so set them again for the best
        // match.
        shallowLength({match.begin, length, match.offset});
        if (length >= kMinMatch) m_matches.push_back({match.begin, length, match.offset});
        // The first byte that is too deep becomes a literal. If the bytes before it are too few for
        // a match, they become literals too.
        const uint32_t done = std::min(length + 1, match.length),
                       kept = length >= kMinMatch ? length : 0;
        for (uint32_t k = kept; k < done; ++k)
            setLiteral(match.begin + k);
        match.begin += done;
        match.length -= done;
    }
    for (uint32_t k = 0; k < match.length; ++k)
        setLiteral(match.begin + k);
}

// Cuts a tile into parts, each of which takes a decoder about as long as 32 KiB of literals. Since
// a lane group (32 lanes) decodes a part, none works much longer than others, and even a few tiles
// keep a GPU busy. Parts end at multiples of SLUICE_GS_GROUP.
void SequenceFinder::planParts(uint32_t size)
{
    constexpr uint32_t kMatchWork = 16; // one match takes as long as this many literals
    constexpr uint32_t kPartWork = 32768, kStep = 4096;
    static_assert(kStep % SLUICE_GS_GROUP == 0 && SLUICE_GS_PART_BYTES % kStep == 0);
    std::vector<uint32_t> work(divideUp(size, kStep));
    uint32_t position = 0, total = 0;
    const auto addLiterals = [&](uint32_t end) {
        total += end - position;
        for (uint32_t to; position < end; position = to) {
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

    // Choose the number of parts. All but the last take about the same time. The limit on a part's
    // bytes may add more parts, up to SLUICE_GS_MAX_PARTS in all.
    constexpr uint32_t kMost = SLUICE_GS_MAX_PARTS - SLUICE_GS_TILE_BYTES / SLUICE_GS_PART_BYTES;
    const uint32_t count = std::clamp((total + kPartWork / 2) / kPartWork, 1u, kMost);
    const uint32_t most = total / count + kPartWork / 16;
    m_ends.clear();
    uint32_t begin = 0, sum = 0;
    for (uint32_t i = 0; i < work.size(); ++i) {
        const uint32_t at = i * kStep;
        // The least number of parts that the tile would have if a part ended here.
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
    uint32_t begin = 0;
    for (const uint32_t end : m_ends) {
        PartSequences part;
        part.begin = begin;
        part.size = end - begin;
        uint32_t position = begin;
        const uint32_t most = part.size / SLUICE_GS_BYTES_PER_SEQUENCE;
        for (;
             next < m_matches.size() && m_matches[next].begin < end && part.sequences.size() < most;
             ++next) {
            const Match& match = m_matches[next];
            part.sequences.push_back({match.begin - position, match.length, match.offset});
            position = match.begin + match.length;
        }
        while (next < m_matches.size() && m_matches[next].begin < end)
            ++next; // more sequences than the format allows; their bytes become literals
        parts.push_back(std::move(part));
        begin = end;
    }
}

void SequenceFinder::find(const uint8_t* tile, uint32_t size, const Search& how,
                          std::vector<PartSequences>& parts)
{
    search(tile, size, how);
    makeParts(tile, size, parts);
}

// A match that the caller passes may have its source before the tile, where Gstd cannot copy from.
// In its place come matches that libzstd finds for these bytes inside the tile.
bool SequenceFinder::useMatches(const uint8_t* tile, uint32_t size, const SluiceGstdMatch* matches,
                                uint32_t count, std::vector<PartSequences>& parts)
{
    m_kept.clear();
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
        const uint32_t end = match.begin + match.length;
        while (next < m_found.size() && m_found[next].begin + m_found[next].length <= match.begin)
            ++next;
        for (size_t i = next; i < m_found.size() && m_found[i].begin < end; ++i) {
            const uint32_t from = std::max(m_found[i].begin, match.begin);
            const uint32_t to = std::min(m_found[i].begin + m_found[i].length, end);
            if (to - from > kMinMatch) all.push_back({from, to - from, m_found[i].offset});
        }
    }
    m_found.swap(all);
    makeParts(tile, size, parts);
    return true;
}

void SequenceFinder::makeParts(const uint8_t* tile, uint32_t size,
                               std::vector<PartSequences>& parts)
{
    planParts(size);
    m_source.resize(size);
    m_depth.assign(size, 0);
    m_matches.clear();
    uint32_t position = 0;
    size_t part = 0;
    for (const Match& match : m_found) {
        for (; position < match.begin; ++position)
            setLiteral(position);
        // A match is cut where a part ends. The largest offset, from the last byte of a full tile
        // to its first, has no symbol in the format.
        for (uint32_t done = 0; done < match.length && match.offset < SLUICE_GS_TILE_BYTES - 1;) {
            const uint32_t begin = match.begin + done;
            while (m_ends[part] <= begin)
                ++part;
            const uint32_t length = std::min(match.length - done, m_ends[part] - begin);
            addShallow(tile, {begin, length, match.offset});
            done += length;
        }
        position = match.begin + match.length;
    }
    cut(parts);
}

} // namespace sluice::gstd
