// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes descriptions of FSE tables. A description that is accepted must give a table whose states
// lead to states of the table, and each symbol's states together to all of them; libzstd must read
// it in the same way. The first two bytes are the limits.
#include <sluice/sluice_fse.h>

#include <numeric>
#include <vector>

#include "formats/fse.h"
#include "tests/fuzz/fuzzing.h"

using namespace sluice;
using sluice::fuzz::require;

// Functions of libzstd that its archive contains and its headers do not declare.
extern "C" size_t FSE_readNCount(short* normalized, uint32_t* lastSymbol, uint32_t* log,
                                 const void* bytes, size_t size);
extern "C" uint32_t FSE_isError(size_t code);

namespace {

void compareWithZstd(const std::vector<uint8_t>& source, const fse::Distribution& distribution)
{
    short counts[256] = {};
    uint32_t last = 255, log = 0;
    const size_t bytes = FSE_readNCount(counts, &last, &log, source.data(), source.size());
    require(FSE_isError(bytes) == 0 && bytes == distribution.bytes && log == distribution.log &&
            last + 1 == distribution.symbols);
    for (uint32_t s = 0; s < distribution.symbols; ++s)
        require(counts[s] == distribution.count[s]);
}

void checkStates(const fse::Distribution& distribution)
{
    const uint32_t size = 1u << distribution.log;
    std::vector<fse::State> states(size);
    fse::buildStates(distribution, states.data());
    // The states of each symbol must together lead to every state of the table once.
    std::vector<uint32_t> reached(size_t(distribution.symbols) * size);
    for (const fse::State& state : states) {
        require(state.symbol < distribution.symbols && state.bits <= distribution.log &&
                state.base + (1u << state.bits) <= size);
        for (uint32_t k = 0; k < 1u << state.bits; ++k)
            ++reached[size_t(state.symbol) * size + state.base + k];
    }
    for (uint32_t s = 0; s < distribution.symbols; ++s)
        for (uint32_t k = 0; k < size; ++k)
            require(reached[size_t(s) * size + k] == (distribution.count[s] != 0 ? 1u : 0u));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 3) return 0;
    const uint32_t maxSymbols = data[0] + 1u;
    const uint32_t maxLog = SLUICE_FSE_MIN_LOG + data[1] % 5;
    // A copy of the exact size, so that sanitizers notice reads after its end.
    const std::vector<uint8_t> source(data + 2, data + size);
    fse::Distribution distribution;
    const uint32_t status =
        fse::readDistribution(source.data(), source.size(), maxSymbols, maxLog, distribution);
    if (status != SLUICE_TILE_OK) {
        require(status == SLUICE_TILE_BAD_CODE || status == SLUICE_TILE_TRUNCATED);
        return 0;
    }
    require(distribution.log >= SLUICE_FSE_MIN_LOG && distribution.log <= maxLog);
    require(distribution.symbols >= 1 && distribution.symbols <= maxSymbols);
    require(distribution.bytes >= 1 && distribution.bytes <= source.size());
    uint32_t sum = 0;
    for (uint32_t s = 0; s < fse::kMaxSymbols; ++s) {
        const int count = distribution.count[s];
        require(count >= -1 && (count == 0 || s < distribution.symbols));
        sum += uint32_t(std::abs(count));
    }
    require(sum == 1u << distribution.log);
    compareWithZstd(source, distribution);
    checkStates(distribution);
    return 0;
}
