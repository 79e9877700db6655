// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/zstd/zstd_fse.h"

#include <algorithm>

#include "formats/zstd_tables.h"

namespace sluice::zstd {
namespace {

// The binary logarithms of 1 .. SLUICE_ZS_MAX_STATES, in units of 1/4096 bit.
class Logarithms {
public:
    Logarithms()
    {
        for (uint32_t i = 1; i <= SLUICE_ZS_MAX_STATES; ++i)
            m_of[i] = compute(i);
    }
    uint32_t operator[](uint32_t value) const { return m_of[value]; }

private:
    // Squaring a number between 1 and 2 doubles its logarithm. If the square is 2 or more, the next
    // bit of the logarithm is 1, and the square is halved.
    static uint32_t compute(uint32_t value)
    {
        const uint32_t whole = floorLog2(value);
        uint64_t mantissa = uint64_t(value) << (31 - whole);
        uint32_t result = whole;
        for (uint32_t i = 0; i < kCostShift; ++i) {
            mantissa = mantissa * mantissa >> 31;
            const uint32_t bit = uint32_t(mantissa >> 32);
            result = result << 1 | bit;
            mantissa >>= bit;
        }
        return result;
    }

    uint32_t m_of[SLUICE_ZS_MAX_STATES + 1] = {};
};

const Logarithms& logarithms()
{
    static const Logarithms one;
    return one;
}

std::vector<uint8_t> describe(const fse::Distribution& states)
{
    std::vector<uint8_t> bytes;
    BitWriter bits(bytes);
    bits.put(states.log - fse::kMinLog, 4);
    uint32_t left = 1u << states.log;
    for (uint32_t symbol = 0; left != 0; ++symbol) {
        // Write `value`, at most left + 1: with n - 1 bits if it is below `shorter`, else with n.
        const uint32_t count = uint32_t(states.count[symbol]), value = count + 1,
                       n = floorLog2(left + 1) + 1, shorter = (1u << n) - 2 - left;
        if (value < shorter)
            bits.put(value, n - 1);
        else
            bits.put(value < 1u << (n - 1) ? value : value + shorter, n);
        left -= count;
        if (count != 0) continue;
        uint32_t zeros = 0; // further symbols without states
        while (states.count[symbol + 1 + zeros] == 0)
            ++zeros;
        symbol += zeros;
        for (; zeros >= 3; zeros -= 3)
            bits.put(3, 2);
        bits.put(zeros, 2);
    }
    bits.fill();
    return bytes;
}

// Returns how much cheaper a symbol's occurrences become with one more state.
uint64_t gainOf(uint32_t occurrences, int16_t states)
{
    const Logarithms& log = logarithms();
    return uint64_t(occurrences) * (log[uint32_t(states) + 1] - log[uint32_t(states)]);
}
// Returns how much more a symbol's occurrences cost with one state less; kNever: the symbol has
// only one state, which it must keep.
uint64_t lossOf(uint32_t occurrences, int16_t states)
{
    return states <= 1 ? kNever : gainOf(occurrences, int16_t(states - 1));
}

// Moves states between symbols until no move makes the data cheaper. missing: states to add first,
// or, if negative, to remove first.
void balance(const Histogram& histogram, fse::Distribution& states, int missing)
{
    for (uint32_t moves = 0; moves < 4 * SLUICE_ZS_MAX_STATES; ++moves) {
        uint32_t taker = states.symbols, giver = states.symbols;
        uint64_t gain = 0, loss = kNever;
        for (uint32_t s = 0; s < states.symbols; ++s) {
            if (histogram.count[s] == 0) continue;
            const uint64_t more = gainOf(histogram.count[s], states.count[s]),
                           less = lossOf(histogram.count[s], states.count[s]);
            if (taker == states.symbols || more > gain) {
                taker = s;
                gain = more;
            }
            if (less < loss) {
                giver = s;
                loss = less;
            }
        }
        if (missing > 0) {
            ++states.count[taker];
            --missing;
        } else if (missing < 0) {
            --states.count[giver];
            ++missing;
        } else {
            if (loss >= gain || giver == taker) return;
            ++states.count[taker];
            --states.count[giver];
        }
    }
}

} // namespace

void Histogram::add(const Histogram& other)
{
    for (uint32_t i = 0; i < 64; ++i)
        count[i] += other.count[i];
    total += other.total;
}

uint32_t Histogram::used() const
{
    return uint32_t(std::count_if(count, count + 64, [](uint32_t c) { return c != 0; }));
}

void FseCode::build()
{
    std::fill(std::begin(m_cost), std::end(m_cost), UINT32_MAX);
    if (states.log == 0) {
        m_cost[states.symbols - 1] = 0;
        return;
    }
    fse::State table[SLUICE_ZS_MAX_STATES];
    fse::buildStates(states, table);
    uint16_t end[64];
    uint32_t begin = 0;
    for (uint32_t s = 0; s < states.symbols; ++s) {
        if (states.count[s] < 0) states.count[s] = 1; // -1 only mattered for buildStates
        const uint32_t count = uint32_t(states.count[s]);
        m_begin[s] = end[s] = uint16_t(begin);
        begin += count;
        if (count != 0) m_cost[s] = uint32_t(bitCost(states.log)) - logarithms()[count];
    }
    for (uint32_t i = 0; i < 1u << states.log; ++i)
        m_places[end[table[i].symbol]++] = uint16_t(i);
}

uint64_t FseCode::cost(const Histogram& histogram) const
{
    uint64_t sum = bitCost(states.log);
    for (uint32_t s = 0; s < 64; ++s) {
        if (histogram.count[s] == 0) continue;
        if (m_cost[s] == UINT32_MAX) return kNever;
        sum += uint64_t(histogram.count[s]) * m_cost[s];
    }
    return sum;
}

std::unique_ptr<FseCode> fitFse(const Histogram& histogram, uint32_t log)
{
    const uint32_t size = 1u << log;
    if (histogram.used() > size) return nullptr;
    auto code = std::make_unique<FseCode>();
    fse::Distribution& states = code->states;
    states.log = log;
    int missing = int(size);
    for (uint32_t s = 0; s < 64; ++s) {
        if (histogram.count[s] == 0) continue;
        states.symbols = s + 1;
        const uint64_t share = (uint64_t(histogram.count[s]) << log) / histogram.total;
        states.count[s] = int16_t(std::max<uint64_t>(share, 1));
        missing -= states.count[s];
    }
    balance(histogram, states, missing);
    code->description = describe(states);
    code->build();
    return code;
}

std::unique_ptr<FseCode> bestFse(uint32_t kind, const Histogram& histogram, uint64_t& cost)
{
    if (histogram.used() == 1) {
        auto code = std::make_unique<FseCode>();
        code->mode = SLUICE_ZS_ONE_SYMBOL;
        while (histogram.count[code->states.symbols] == 0)
            ++code->states.symbols;
        code->description = {uint8_t(code->states.symbols++)};
        code->build();
        cost = bitCost(8);
        return code;
    }
    std::unique_ptr<FseCode> best;
    const uint32_t most = kind == SLUICE_ZS_OFFSETS ? SLUICE_ZS_OFFSET_LOG : SLUICE_ZS_LENGTH_LOG;
    for (uint32_t log = fse::kMinLog; log <= most; ++log) {
        // If the previous table had two states or more per occurrence, a larger one gains nothing.
        if (best != nullptr && 1u << (log - 1) >= 2 * histogram.total) break;
        std::unique_ptr<FseCode> code = fitFse(histogram, log);
        if (code == nullptr) continue;
        const uint64_t is = bitCost(8 * code->description.size()) + code->cost(histogram);
        if (best != nullptr && is >= cost) continue;
        best = std::move(code);
        cost = is;
    }
    return best;
}

std::unique_ptr<FseCode> predefinedFse(uint32_t kind)
{
    auto code = std::make_unique<FseCode>();
    code->mode = SLUICE_ZS_PREDEFINED;
    code->states = predefinedStates(kind);
    code->build();
    return code;
}

} // namespace sluice::zstd
