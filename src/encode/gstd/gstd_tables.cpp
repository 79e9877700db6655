// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gstd/gstd_tables.h"

#include "encode/gdeflate/gdeflate_huffman.h"

#include <array>

namespace sluice::gstd {
namespace {

// log2 of every frequency, in units of the costs.
constexpr u32 kLogCount = (1u << SLUICE_GS_MAX_LITERAL_LOG) + 1;

constexpr std::array<u16, kLogCount> makeLogs()
{
    std::array<u16, kLogCount> logs{};
    for (u32 i = 1; i < kLogCount; ++i)
        logs[i] = u16(log2Fixed(i, kCostShift));
    return logs;
}

constexpr std::array<u16, kLogCount> kLogs = makeLogs();

// Returns the class of a frequency: 0, or how many bits it has.
u32 kindOf(u32 frequency) { return frequency == 0 ? 0 : floorLog2(frequency) + 1; }

// Returns how many extra bits follow a class.
u32 extraBits(u32 kind) { return std::max(kind, 1u) - 1; }

// Returns the cost of giving a symbol one slot less, or the gain of one more.
u64 stepCost(u32 count, u32 frequency)
{
    return u64(count) * (kLogs[frequency + 1] - kLogs[frequency]);
}

} // namespace

u32 Counts::used() const
{
    return u32(std::count_if(count, count + 256, [](u32 n) { return n != 0; }));
}

void Table::fit(const Counts& counts, u32 alphabet, u32 wantedLog)
{
    size = alphabet;
    log = wantedLog;
    std::fill_n(frequency, 256, u16(0));
    if (counts.total == 0) {
        frequency[0] = u16(1u << log);
        place();
        return;
    }
    u32 symbols[256], used = 0, sum = 0;
    for (u32 i = 0; i < size; ++i) {
        if (counts.count[i] == 0) continue;
        const u64 share = ((u64(counts.count[i]) << log) + counts.total / 2) / counts.total;
        frequency[i] = u16(std::max<u64>(share, 1));
        sum += frequency[i];
        symbols[used++] = i;
    }
    // Slots left over by rounding go where they gain most; missing slots are taken where they cost
    // least.
    for (; sum != 1u << log;) {
        const bool more = sum < 1u << log;
        u32 best = 256;
        u64 bestCost = 0;
        for (u32 k = 0; k < used; ++k) {
            const u32 i = symbols[k];
            if (!more && frequency[i] == 1) continue;
            const u64 cost = stepCost(counts.count[i], more ? frequency[i] : frequency[i] - 1u);
            if (best == 256 || (more ? cost > bestCost : cost < bestCost)) {
                best = i;
                bestCost = cost;
            }
        }
        frequency[best] = u16(more ? frequency[best] + 1 : frequency[best] - 1);
        sum = more ? sum + 1 : sum - 1;
    }
    place();
}

void Table::place()
{
    u32 sum = 0;
    for (u32 i = 0; i < size; ++i) {
        start[i] = u16(sum);
        sum += frequency[i];
    }
}

u64 Table::cost(const Counts& counts) const
{
    u64 cost = bitCost(u64(counts.total) * log);
    for (u32 i = 0; i < 256; ++i) {
        if (counts.count[i] == 0) continue;
        if (i >= size || frequency[i] == 0) return UINT64_MAX;
        cost -= u64(counts.count[i]) * kLogs[frequency[i]];
    }
    return cost;
}

void Code::fit(const Counts& counts)
{
    gdeflate::buildLimitedCodeLengths(counts.count, SLUICE_GS_MAX_CODE_LENGTH, length);
    gdeflate::assignCodes(length, 256, bits);
}

u64 Code::cost(const Counts& counts) const
{
    u64 sum = 0;
    for (u32 i = 0; i < 256; ++i) {
        if (counts.count[i] != 0 && length[i] == 0) return UINT64_MAX;
        sum += u64(counts.count[i]) * length[i];
    }
    return bitCost(sum);
}

void Description::add(u32 symbol, u32 frequency)
{
    const u32 kind = kindOf(frequency);
    const u32 bits = extraBits(kind);
    m_items[m_count++] = {u8(symbol % kLanes), u8(kind), u8(bits),
                          u16(frequency & ((1u << bits) - 1))};
    m_counts.add(kind);
}

void Description::add(const Table& table)
{
    for (u32 i = 0; i < table.size; ++i)
        add(i, table.frequency[i]);
}

void Description::add(const Code& code)
{
    for (u32 i = 0; i < 256; ++i) {
        m_items[m_count++] = {u8(i % kLanes), code.length[i], 0, 0};
        m_counts.add(code.length[i]);
    }
}

u64 Description::cost()
{
    m_classes.fit(m_counts, SLUICE_GS_CLASSES, SLUICE_GS_CLASS_LOG);
    u64 bits = 3 * SLUICE_GS_CLASSES;
    for (u32 i = 0; i < SLUICE_GS_CLASSES; ++i)
        bits += floorLog2(std::max<u32>(m_classes.frequency[i], 1));
    for (u32 i = 0; i < m_count; ++i)
        bits += m_items[i].bits;
    return bitCost(bits) + m_classes.cost(m_counts);
}

void Description::write(LaneWriter& writer) const
{
    for (u32 i = 0; i < SLUICE_GS_CLASSES; ++i)
        writer.bits(i, kindOf(m_classes.frequency[i]), 3);
    for (u32 i = 0; i < SLUICE_GS_CLASSES; ++i) {
        const u32 bits = extraBits(kindOf(m_classes.frequency[i]));
        writer.bits(i, m_classes.frequency[i] & ((1u << bits) - 1), bits);
    }
    for (u32 i = 0; i < m_count; ++i)
        m_classes.write(writer, m_items[i].lane, m_items[i].kind);
    for (u32 i = 0; i < m_count; ++i)
        writer.bits(m_items[i].lane, m_items[i].extra, m_items[i].bits);
}

} // namespace sluice::gstd
