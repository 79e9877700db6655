// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/zstd/zstd_encoder.h"

#include <sluice/sluice_encode.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "formats/little_endian.h"
#include "encode/zstd/zstd_blocks.h"

namespace sluice::zstd {

namespace {

struct Level {
    int search;          // libzstd's level
    uint32_t longestRun; // how many blocks may share a table
};
constexpr Level kLevels[SLUICE_ZSTD_MAX_LEVEL + 1] = {
    {},      {1, 4},  {2, 4},   {3, 4},   {4, 4},   {6, 4},  {8, 8},
    {10, 8}, {12, 8}, {14, 16}, {16, 16}, {18, 16}, {19, 16}};

} // namespace

struct TileEncoder::State {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    std::vector<ZSTD_Sequence> found;
    std::vector<Match> matches;
    BlockWriter blocks;

    ~State() { ZSTD_freeCCtx(context); }

    void search(int level, const uint8_t* tile, uint32_t size);
};

// Lets libzstd find matches. If that fails, there are none: the frame is larger, but valid.
void TileEncoder::State::search(int level, const uint8_t* tile, uint32_t size)
{
    matches.clear();
    if (size < 8) return;
    found.resize(size / SLUICE_ZS_MIN_MATCH + 16);
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    // With its block splitter on, libzstd 1.5.4 returns every sequence twice.
    ZSTD_CCtx_setParameter(context, ZSTD_c_useBlockSplitter, ZSTD_ps_disable);
    const size_t count = ZSTD_generateSequences(context, found.data(), found.size(), tile, size);
    if (ZSTD_isError(count) != 0) {
        if (ZSTD_getErrorCode(count) == ZSTD_error_memory_allocation) throw std::bad_alloc();
        return;
    }
    uint64_t position = 0;
    for (size_t i = 0; i < count; ++i) {
        const ZSTD_Sequence& one = found[i];
        position += one.litLength;
        const uint64_t end = position + one.matchLength;
        if (end > size) break;
        if (one.matchLength >= SLUICE_ZS_MIN_MATCH && one.offset != 0 && one.offset <= position &&
            std::memcmp(tile + position, tile + position - one.offset, one.matchLength) == 0)
            matches.push_back({uint32_t(position), one.matchLength, one.offset});
        position = end;
    }
}

TileEncoder::TileEncoder() : m_state(std::make_unique<State>())
{
    if (m_state->context == nullptr) throw std::bad_alloc();
}

TileEncoder::~TileEncoder() = default;

void TileEncoder::encode(uint32_t level, const uint8_t* tile, uint32_t size,
                         std::vector<uint8_t>& frame)
{
    constexpr uint32_t kSingleSegment = 32;
    // The field that holds the size of the content has 1, 2 or 4 bytes. With 2 bytes it holds the
    // size minus 256.
    const uint32_t format = size < 256 ? 0 : size < 256 + 65536 ? 1 : 2;
    frame.resize(5 + (1u << format));
    storeLe32(frame.data(), SLUICE_ZS_MAGIC);
    frame[4] = uint8_t(format << 6 | kSingleSegment);
    storeLe(frame.data() + 5, format == 1 ? size - 256 : size, 1u << format);
    const Level& how = kLevels[level];
    m_state->search(how.search, tile, size);
    m_state->blocks.begin(std::clamp(size, SLUICE_ZS_MIN_WINDOW, SLUICE_ZS_BLOCK_BYTES));
    m_state->blocks.write(tile, {size}, m_state->matches, true, how.longestRun, frame);
}

} // namespace sluice::zstd
