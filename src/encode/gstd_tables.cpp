// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gstd_tables.h"

#include "../formats/log2.h"
#include "gdeflate_huffman.h"

#include <algorithm>
#include <array>

namespace sluice::gstd {
namespace {

constexpr uint32_t kTabled = 2049; // frequencies and small counts

constexpr std::array<uint16_t, kTabled> makeLogs()
{
    std::array<uint16_t, kTabled> logs{};
    for (uint32_t i = 1; i < kTabled; ++i)
        logs[i] = static_cast<uint16_t>(log2Fixed(i, kCostShift));
    return logs;
}

constexpr std::array<uint16_t, kTabled> kLogs = makeLogs();

// The class of a frequency: 0, or how many bits it has.
uint32_t kindOf(uint32_t frequency) { return frequency == 0 ? 0 : floorLog2(frequency) + 1; }

// What giving a symbol one slot less costs, or one more gains.
uint64_t stepCost(uint32_t count, uint32_t frequency)
{
    return static_cast<uint64_t>(count) * (kLogs[frequency + 1] - kLogs[frequency]);
}

} // namespace

uint32_t log2Cost(uint32_t value)
{
    return value < kTabled ? kLogs[value] : log2Fixed(value, kCostShift);
}

uint32_t Counts::used() const
{
    return static_cast<uint32_t>(
        std::count_if(count, count + 256, [](uint32_t n) { return n != 0; }));
}

void Table::fit(const Counts& counts, uint32_t alphabet, uint32_t wantedLog)
{
    size = alphabet;
    log = wantedLog;
    std::fill_n(frequency, 256, uint16_t{0});
    if (counts.total == 0) {
        frequency[0] = static_cast<uint16_t>(1u << log);
        place();
        return;
    }
    uint32_t symbols[256], used = 0, sum = 0;
    for (uint32_t i = 0; i < size; ++i) {
        if (counts.count[i] == 0) continue;
        const uint64_t share =
            ((static_cast<uint64_t>(counts.count[i]) << log) + counts.total / 2) / counts.total;
        frequency[i] = static_cast<uint16_t>(std::max<uint64_t>(share, 1));
        sum += frequency[i];
        symbols[used++] = i;
    }
    // What rounding left over goes where it gains most, or comes from where it costs least.
    for (; sum != 1u << log;) {
        const bool more = sum < 1u << log;
        uint32_t best = 256;
        uint64_t bestCost = 0;
        for (uint32_t k = 0; k < used; ++k) {
            const uint32_t i = symbols[k];
            if (!more && frequency[i] == 1) continue;
            const uint64_t cost =
                stepCost(counts.count[i], more ? frequency[i] : frequency[i] - 1u);
            if (best == 256 || (more ? cost > bestCost : cost < bestCost)) {
                best = i;
                bestCost = cost;
            }
        }
        frequency[best] = static_cast<uint16_t>(more ? frequency[best] + 1 : frequency[best] - 1);
        sum = more ? sum + 1 : sum - 1;
    }
    place();
}

void Table::place()
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < size; ++i) {
        start[i] = static_cast<uint16_t>(sum);
        sum += frequency[i];
    }
}

uint64_t Table::cost(const Counts& counts) const
{
    uint64_t cost = bitCost(static_cast<uint64_t>(counts.total) * log);
    for (uint32_t i = 0; i < 256; ++i) {
        if (counts.count[i] == 0) continue;
        if (i >= size || frequency[i] == 0) return UINT64_MAX;
        cost -= static_cast<uint64_t>(counts.count[i]) * kLogs[frequency[i]];
    }
    return cost;
}

void Code::fit(const Counts& counts)
{
    uint32_t scaled[256], shift = 0;
    const uint32_t most = *std::max_element(counts.count, counts.count + 256);
    while (most >> shift > 0xffff)
        ++shift;
    for (uint32_t i = 0; i < 256; ++i)
        scaled[i] = counts.count[i] == 0 ? 0 : std::max(counts.count[i] >> shift, 1u);
    gdeflate::buildLimitedCodeLengths(scaled, 256, SLUICE_GS_MAX_CODE_LENGTH, length);
    gdeflate::assignCodes(length, 256, bits);
}

uint64_t Code::cost(const Counts& counts) const
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 256; ++i) {
        if (counts.count[i] != 0 && length[i] == 0) return UINT64_MAX;
        sum += static_cast<uint64_t>(counts.count[i]) * length[i];
    }
    return bitCost(sum);
}

void Description::add(uint32_t symbol, uint32_t frequency)
{
    const uint32_t kind = kindOf(frequency);
    const uint32_t bits = std::max(kind, 1u) - 1;
    items_[count_++] = {static_cast<uint8_t>(symbol % kLanes), static_cast<uint8_t>(kind),
                        static_cast<uint8_t>(bits),
                        static_cast<uint16_t>(frequency & ((1u << bits) - 1))};
    counts_.add(kind);
}

void Description::add(const Table& table)
{
    for (uint32_t i = 0; i < table.size; ++i)
        add(i, table.frequency[i]);
}

void Description::add(const Code& code)
{
    for (uint32_t i = 0; i < 256; ++i) {
        items_[count_++] = {static_cast<uint8_t>(i % kLanes), code.length[i], 0, 0};
        counts_.add(code.length[i]);
    }
}

uint64_t Description::cost()
{
    classes_.fit(counts_, SLUICE_GS_CLASSES, SLUICE_GS_CLASS_LOG);
    uint64_t bits = 3 * SLUICE_GS_CLASSES;
    for (uint32_t i = 0; i < SLUICE_GS_CLASSES; ++i)
        bits += floorLog2(std::max<uint32_t>(classes_.frequency[i], 1));
    for (uint32_t i = 0; i < count_; ++i)
        bits += items_[i].bits;
    return bitCost(bits) + classes_.cost(counts_);
}

void Description::write(LaneWriter& writer) const
{
    for (uint32_t i = 0; i < SLUICE_GS_CLASSES; ++i)
        writer.bits(i, kindOf(classes_.frequency[i]), 3);
    for (uint32_t i = 0; i < SLUICE_GS_CLASSES; ++i) {
        const uint32_t bits = std::max(kindOf(classes_.frequency[i]), 1u) - 1;
        writer.bits(i, classes_.frequency[i] & ((1u << bits) - 1), bits);
    }
    for (uint32_t i = 0; i < count_; ++i)
        classes_.write(writer, items_[i].lane, items_[i].kind);
    for (uint32_t i = 0; i < count_; ++i)
        writer.bits(items_[i].lane, items_[i].rest, items_[i].bits);
}

} // namespace sluice::gstd
