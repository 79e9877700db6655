// SPDX-License-Identifier: MIT OR Apache-2.0
// Fits tables to symbol counts. The stream gives a frequency as its class (how many significant
// bits it has) and the bits below its highest one.
#include "encode/gstd/gstd_tables.h"

#include "encode/gdeflate/gdeflate_huffman.h"

#include <array>

namespace sluice::gstd {
namespace {

// The binary logarithm of each possible frequency, in the unit of costs: 1 / 2^kCostShift bit.
constexpr uint32_t kLogCount = (1u << SLUICE_GS_MAX_LITERAL_LOG) + 1;

constexpr std::array<uint16_t, kLogCount> makeLogs()
{
    std::array<uint16_t, kLogCount> logs{};
    for (uint32_t i = 1; i < kLogCount; ++i)
        logs[i] = uint16_t(log2Fixed(i, kCostShift));
    return logs;
}

constexpr std::array<uint16_t, kLogCount> kLogs = makeLogs();

// Frequencies are stored as a class and extra bits. Returns the class: 0 for 0, otherwise the
// number of significant bits.
uint32_t kindOf(uint32_t frequency) { return frequency == 0 ? 0 : floorLog2(frequency) + 1; }

// Returns how many extra bits follow a class: all significant bits but the highest, which is 1.
uint32_t extraBits(uint32_t kind) { return std::max(kind, 1u) - 1; }

// Returns how much less `count` occurrences of a symbol cost if its frequency is one more than
// `frequency`.
uint64_t stepCost(uint32_t count, uint32_t frequency)
{
    return uint64_t(count) * (kLogs[frequency + 1] - kLogs[frequency]);
}

} // namespace

uint32_t Counts::used() const
{
    return uint32_t(std::count_if(count, count + 256, [](uint32_t n) { return n != 0; }));
}

void Table::fit(const Counts& counts, uint32_t alphabet, uint32_t wantedLog)
{
    size = alphabet;
    log = wantedLog;
    std::fill_n(frequency, 256, uint16_t(0));
    if (counts.total == 0) {
        frequency[0] = uint16_t(1u << log);
        place();
        return;
    }
    uint32_t symbols[256], used = 0, sum = 0;
    for (uint32_t i = 0; i < size; ++i) {
        if (counts.count[i] == 0) continue;
        const uint64_t share =
            ((uint64_t(counts.count[i]) << log) + counts.total / 2) / counts.total;
        frequency[i] = uint16_t(std::max<uint64_t>(share, 1));
        sum += frequency[i];
        symbols[used++] = i;
    }
    // After rounding, the frequencies do not add up to the number of slots. Spare slots go to the
    // symbols that gain most; missing slots are taken from the symbols that lose least.
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
        frequency[best] = uint16_t(more ? frequency[best] + 1 : frequency[best] - 1);
        sum = more ? sum + 1 : sum - 1;
    }
    place();
}

void Table::place()
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < size; ++i) {
        start[i] = uint16_t(sum);
        sum += frequency[i];
    }
}

uint64_t Table::cost(const Counts& counts) const
{
    uint64_t cost = bitCost(uint64_t(counts.total) * log);
    for (uint32_t i = 0; i < 256; ++i) {
        if (counts.count[i] == 0) continue;
        if (i >= size || frequency[i] == 0) return UINT64_MAX;
        cost -= uint64_t(counts.count[i]) * kLogs[frequency[i]];
    }
    return cost;
}

void Code::fit(const Counts& counts)
{
    gdeflate::buildLimitedCodeLengths(counts.count, SLUICE_GS_MAX_CODE_LENGTH, length);
    gdeflate::assignCodes(length, 256, bits);
}

uint64_t Code::cost(const Counts& counts) const
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 256; ++i) {
        if (counts.count[i] != 0 && length[i] == 0) return UINT64_MAX;
        sum += uint64_t(counts.count[i]) * length[i];
    }
    return bitCost(sum);
}

void Description::add(uint32_t symbol, uint32_t frequency)
{
    const uint32_t kind = kindOf(frequency);
    const uint32_t bits = extraBits(kind);
    m_items[m_count++] = {uint8_t(symbol % kLanes), uint8_t(kind), uint8_t(bits),
                          uint16_t(frequency & ((1u << bits) - 1))};
    m_counts.add(kind);
}

void Description::add(const Table& table)
{
    for (uint32_t i = 0; i < table.size; ++i)
        add(i, table.frequency[i]);
}

void Description::add(const Code& code)
{
    for (uint32_t i = 0; i < 256; ++i) {
        m_items[m_count++] = {uint8_t(i % kLanes), code.length[i], 0, 0};
        m_counts.add(code.length[i]);
    }
}

uint64_t Description::cost()
{
    m_classes.fit(m_counts, SLUICE_GS_CLASSES, SLUICE_GS_CLASS_LOG);
    uint64_t bits = 3 * SLUICE_GS_CLASSES;
    for (uint32_t i = 0; i < SLUICE_GS_CLASSES; ++i)
        bits += floorLog2(std::max<uint32_t>(m_classes.frequency[i], 1));
    for (uint32_t i = 0; i < m_count; ++i)
        bits += m_items[i].bits;
    return bitCost(bits) + m_classes.cost(m_counts);
}

void Description::write(LaneWriter& writer) const
{
    for (uint32_t i = 0; i < SLUICE_GS_CLASSES; ++i)
        writer.bits(i, kindOf(m_classes.frequency[i]), 3);
    for (uint32_t i = 0; i < SLUICE_GS_CLASSES; ++i) {
        const uint32_t bits = extraBits(kindOf(m_classes.frequency[i]));
        writer.bits(i, m_classes.frequency[i] & ((1u << bits) - 1), bits);
    }
    for (uint32_t i = 0; i < m_count; ++i)
        m_classes.write(writer, m_items[i].lane, m_items[i].kind);
    for (uint32_t i = 0; i < m_count; ++i)
        writer.bits(m_items[i].lane, m_items[i].extra, m_items[i].bits);
}

} // namespace sluice::gstd
