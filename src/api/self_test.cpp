// SPDX-License-Identifier: MIT OR Apache-2.0
// The self-test for users' machines. It decodes a batch (sluice_tiles.h) of tiles that are compiled
// into the library. Sources, lists, scratch and results lie in one range of the caller's memory.
#include <sluice/sluice_self_test.h>

#include <cstring>
#include <iterator>

#include <sluice/sluice_tiles.h>

#include "api/checks.h"
#include "api/self_test_tiles.h"

namespace sluice {
namespace {

constexpr uint32_t kMostTiles = uint32_t(std::size(kSelfTestTiles));
constexpr uint8_t kPoison = 0xa5;
// At least this many bytes of kPoison stand after each tile, to show writes past its end.
constexpr uint64_t kGap = 64;

constexpr uint64_t placeAfter(uint64_t end) { return (end + 255) / 256 * 256; }

SluiceTile tileOf(const SelfTestTile& row, uint64_t destinationOffset)
{
    return {row.offset,
            destinationOffset,
            row.storedSize,
            row.size,
            row.codec,
            row.checksum,
            row.filterSize != 0 ? kSelfTestFilter : nullptr,
            row.filterSize};
}

// Returns the kernels that a tile needs, or 0 if this build lacks its codec.
uint32_t kernelsOf(const SluiceTile& tile)
{
    SluiceTileTotals totals = {};
    if (sluiceAddTile(&totals, &tile) != SLUICE_OK) return 0;
    // The test compares the checksum of every tile.
    return sluiceGetTilesKernels(&totals) | SLUICE_KERNELS_CHECKSUM;
}

// The tiles that test the chosen kernels, and where everything lies in the caller's memory.
class TestBatch {
public:
    TestBatch(SluiceContext context, const SluiceSelfTestInfo& info) : m_context(context)
    {
        uint64_t end = 0;
        for (const SelfTestTile& row : kSelfTestTiles) {
            const SluiceTile tile = tileOf(row, end);
            const uint32_t needed = kernelsOf(tile);
            if (needed == 0 || (needed & ~info.kernels) != 0) continue;
            if (sluiceAddTile(&m_totals, &tile) != SLUICE_OK) continue;
            m_tiles[m_count++] = tile;
            m_kernels |= needed;
            end = placeAfter(end + row.size + kGap);
        }
        m_info.tiles = m_tiles;
        m_info.tileCount = m_count;
        m_info.totals = &m_totals;
        m_destinationSize = end;
        SluiceTilesRequirements required = {};
        if (m_count == 0 ||
            sluiceGetTilesRequirements(context, &m_info, &m_totals, &required) != SLUICE_OK)
            return;
        m_destination = placeAfter(sizeof kSelfTestBytes);
        m_control = placeAfter(m_destination + m_destinationSize);
        m_results = placeAfter(m_control + required.controlSize);
        const uint64_t scratch = placeAfter(m_results + required.resultsSize);
        m_size = placeAfter(scratch + required.scratchSize);
        const auto part = [&](uint64_t at, uint64_t size) {
            return SluiceBuffer{info.memory.handle, info.memory.offset + at, size};
        };
        m_info.source = part(0, sizeof kSelfTestBytes);
        m_info.destination = part(m_destination, m_destinationSize);
        m_info.control = part(m_control, required.controlSize);
        m_info.results = part(m_results, required.resultsSize);
        m_info.scratch = part(scratch, required.scratchSize);
        m_info.sourceHost = kSelfTestBytes;
        m_bytes = static_cast<uint8_t*>(info.bytes);
        m_info.controlHost = m_bytes + m_control;
        m_info.resultsHost = m_bytes + m_results;
    }
    TestBatch(const TestBatch&) = delete;
    TestBatch& operator=(const TestBatch&) = delete;

    uint32_t kernels() const { return m_kernels; }
    uint64_t size() const { return m_size; }
    const SluiceTilesInfo& info() const { return m_info; }

    SluiceStatus write() const
    {
        std::memset(m_bytes, kPoison, size_t(m_size));
        std::memcpy(m_bytes, kSelfTestBytes, sizeof kSelfTestBytes);
        return sluicePrepareTiles(m_context, &m_info);
    }

    SluiceStatus read(uint32_t& failed) const
    {
        uint32_t statuses[kMostTiles] = {};
        const SluiceStatus status = sluiceGetTileResults(&m_info, statuses, nullptr);
        failed = 0;
        // Each codec has a tile without a filter, and after it a tile with one. If both fail, the
        // codec is at fault; if only the second fails, the filter is.
        for (uint32_t i = 0; i < m_count && status == SLUICE_OK; ++i) {
            if (statuses[i] == SLUICE_TILE_OK && isRight(i)) continue;
            const uint32_t needed = kernelsOf(m_tiles[i]);
            const uint32_t codec =
                needed & ~uint32_t(SLUICE_KERNELS_FILTER | SLUICE_KERNELS_CHECKSUM);
            const bool isFiltered = (needed & SLUICE_KERNELS_FILTER) != 0;
            failed |= !isFiltered ? codec : (failed & codec) == 0 ? +SLUICE_KERNELS_FILTER : 0u;
        }
        if ((failed & SLUICE_KERNELS_GDEFLATE_LINEAR) != 0) failed |= SLUICE_KERNELS_TILE_STREAMS;
        return status;
    }

private:
    // Returns whether a tile was decoded correctly and the pattern after it is unchanged.
    bool isRight(uint32_t i) const
    {
        const uint8_t* const destination = m_bytes + m_destination;
        const uint64_t begin = m_tiles[i].destinationOffset, end = begin + m_tiles[i].size,
                       next =
                           i + 1 < m_count ? m_tiles[i + 1].destinationOffset : m_destinationSize;
        for (uint64_t at = end; at < next; ++at)
            if (destination[at] != kPoison) return false;
        return sluiceTileChecksum(destination + begin, m_tiles[i].size) == m_tiles[i].checksum;
    }

    SluiceContext m_context;
    uint8_t* m_bytes = nullptr;
    SluiceTile m_tiles[kMostTiles] = {};
    uint32_t m_count = 0, m_kernels = 0;
    SluiceTileTotals m_totals = {};
    SluiceTilesInfo m_info = {};
    uint64_t m_destinationSize = 0, m_destination = 0, m_control = 0, m_results = 0, m_size = 0;
};

// Checks the arguments of a test. batch: the batch of the kernels in `info`.
void checkTest(CallChecker& check, const TestBatch& batch, const SluiceSelfTestInfo& info)
{
    check.given(SLUICE_NAMED(info.kernels));
    check.given(SLUICE_NAMED(info.bytes));
    check.require(SLUICE_NAMED(info.kernels), batch.kernels() == info.kernels,
                  "is what sluiceGetSelfTestRequirements gives (limit)", SLUICE_ERROR_ARGUMENT,
                  batch.kernels());
    check.buffer(SLUICE_NAMED(info.memory), batch.size(), 1);
}

} // namespace
} // namespace sluice

using sluice::CallChecker;
using sluice::TestBatch;

SluiceStatus sluiceGetSelfTestRequirements(SluiceContext context, const SluiceSelfTestInfo* info,
                                           SluiceSelfTestRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)) ||
        !check.flags(SLUICE_NAMED(info->kernels), SLUICE_KERNELS_ALL))
        return check.status();
    const SluiceContextInfo& about = check.contextInfo();
    SluiceSelfTestInfo possible = *info;
    possible.kernels &= about.kernels & ~about.refusedKernels;
    const TestBatch batch(context, possible);
    *requirements = {batch.kernels(), batch.size()};
    return SLUICE_OK;
}

SluiceStatus sluiceWriteSelfTest(SluiceContext context, const SluiceSelfTestInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    const TestBatch batch(context, *info);
    checkTest(check, batch, *info);
    return check.isOk() ? batch.write() : check.status();
}

SluiceStatus sluiceCmdSelfTest(SluiceContext context, SluiceCommands commands,
                               const SluiceSelfTestInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    const TestBatch batch(context, *info);
    checkTest(check, batch, *info);
    return check.isOk() ? sluiceCmdTiles(context, commands, &batch.info()) : check.status();
}

SluiceStatus sluiceReadSelfTest(SluiceContext context, const SluiceSelfTestInfo* info,
                                uint32_t* failed)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(failed)))
        return check.status();
    const TestBatch batch(context, *info);
    checkTest(check, batch, *info);
    if (!check.isOk()) return check.status();
    const SluiceStatus status = batch.read(*failed);
    if (status == SLUICE_OK) context->distrusted.fetch_or(*failed);
    return status;
}
