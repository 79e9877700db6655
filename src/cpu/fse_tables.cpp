// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of the FSE table builder. FSE tables are the decoding tables of Zstandard. A table
// has 2^log states. A *distribution* says how many of them each symbol gets.
#include <sluice/sluice_fse.h>

#include "formats/fse.h"
#include "formats/little_endian.h"
#include "cpu/context.h"
#include "cpu/regions.h"

#include <cstdlib>

namespace sluice::cpu {
namespace {

// Reads a distribution from an array of 16-bit counts, one per symbol, and returns the status. A
// count is the symbol's number of states; -1 means a probability of less than one state, for which
// the symbol gets one state. maxLog: the highest log that is allowed.
uint32_t readCounts(const uint8_t* bytes, uint32_t symbols, uint32_t maxLog,
                    fse::Distribution& result)
{
    uint32_t sum = 0;
    result = {};
    for (uint32_t i = 0; i < symbols; ++i) {
        const int16_t count = int16_t(loadLe16(bytes + 2 * i));
        if (count < -1) return SLUICE_ST_BAD_CODE;
        result.count[i] = count;
        if (count != 0) result.symbols = i + 1;
        sum += uint32_t(std::abs(int(count)));
    }
    while (result.log <= maxLog && sum > 1u << result.log)
        ++result.log;
    const bool good =
        result.log >= SLUICE_FSE_MIN_LOG && result.log <= maxLog && sum == 1u << result.log;
    result.bytes = 2 * symbols;
    return good ? SLUICE_ST_OK : SLUICE_ST_BAD_CODE;
}

// Builds the table of a region and returns its status. The region's source is a distribution: an
// array of counts, or Zstandard's compressed form.
uint32_t buildTable(const SluiceFseTablesInfo& info, const SluiceRegion& region)
{
    const bool counts = (info.flags & SLUICE_FSE_COUNTS) != 0;
    const uint64_t size = region.compressedSize, room = region.decompressedSize;
    if (region.dstAddress % 4 != 0 || size - 1 >= UINT32_MAX || room - 1 >= UINT32_MAX ||
        !inside(info.source, region.srcAddress, size) ||
        !inside(info.destination, region.dstAddress, room) ||
        (counts && (region.srcAddress % 2 != 0 || size % 2 != 0)))
        return SLUICE_ST_BAD_REGION;
    if (counts && size / 2 > info.maxSymbols) return SLUICE_ST_BAD_CODE;
    const uint8_t* bytes = pointer<const uint8_t>(region.srcAddress);
    fse::Distribution distribution;
    uint32_t status = counts ? readCounts(bytes, uint32_t(size / 2), info.maxLog, distribution)
                             : fse::readLog(bytes, size_t(size), info.maxLog, distribution);
    if (status == SLUICE_ST_OK && room < SLUICE_FSE_TABLE_SIZE(distribution.log))
        status = SLUICE_ST_TOO_LONG;
    if (status == SLUICE_ST_OK && !counts)
        status =
            fse::readDistribution(bytes, size_t(size), info.maxSymbols, info.maxLog, distribution);
    if (status != SLUICE_ST_OK) return status;
    fse::State states[1u << SLUICE_FSE_MAX_LOG];
    fse::buildStates(distribution, states);
    const SluiceFseTableHeader header = {uint16_t(distribution.bytes), uint8_t(distribution.log),
                                         uint8_t(distribution.symbols - 1)};
    uint8_t* out = pointer<uint8_t>(region.dstAddress);
    std::memcpy(out, &header, sizeof header);
    std::memcpy(out + sizeof header, states, sizeof(fse::State) << distribution.log);
    return SLUICE_ST_OK;
}

} // namespace

SluiceStatus ReferenceBackend::cmdFseTables(SluiceCommands, const SluiceFseTablesInfo& info)
{
    forEachRegion(info, [&](const SluiceRegion& region) { return buildTable(info, region); });
    return SLUICE_OK;
}

} // namespace sluice::cpu
