// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of FSE tables, which the device builds from descriptions or from counts. For comparison,
// CUDA builds rANS tables of the same frequencies, each from a description of its own.
#include <sluice/sluice_fse.h>

#include <cstring>
#include <random>

#include "encode/gstd/gstd_tables.h"
#include "formats/fse.h"
#include "tools/bench/peers.h"
#include "tools/bench/rows.h"

namespace sluice {
namespace {

constexpr uint32_t kLog = 9, kSymbols = 53; // as for Zstandard's match lengths
constexpr uint32_t kKinds = 1024;           // number of different tables
constexpr uint64_t kTableSize = SLUICE_FSE_TABLE_SIZE(kLog);

// Returns FSE's description (RFC 8878, 4.1.1) of these counts. Two neighbouring counts must not
// both be 0.
Bytes describe(const std::vector<int16_t>& counts)
{
    Bytes bytes;
    uint64_t pending = kLog - SLUICE_FSE_MIN_LOG;
    uint32_t filled = 4, left = 1u << kLog;
    for (size_t i = 0; i < counts.size() && left != 0; ++i) {
        uint32_t bits = 1;
        while (left + 1 >= 1u << bits)
            ++bits;
        const uint32_t shorter = (1u << bits) - 2 - left;
        uint32_t value = uint32_t(counts[i] + 1);
        const bool isShort = value < shorter;
        if (!isShort && value >= 1u << (bits - 1)) value += shorter;
        pending |= uint64_t{value} << filled;
        filled += isShort ? bits - 1 : bits;
        if (counts[i] == 0) filled += 2; // two bits that are 0: no further zeros follow
        for (; filled >= 8; filled -= 8, pending >>= 8)
            bytes.push_back(uint8_t(pending));
        left -= uint32_t(std::abs(counts[i]));
    }
    if (filled != 0) bytes.push_back(uint8_t(pending));
    return bytes;
}

struct Made {
    gstd::Table table;
    std::vector<fse::State> states;
    std::vector<int16_t> counts; // count of each symbol; -1: it has one slot
    Bytes described;             // description for FSE
    std::vector<uint16_t> words; // description for rANS
};

Made makeTable(std::mt19937& random)
{
    Made made;
    gstd::Counts counts;
    uint32_t weight = 2000;
    for (uint32_t symbol = 0; symbol < kSymbols; ++symbol) {
        const uint32_t count = 1 + uint32_t(random() % weight);
        counts.count[symbol] = count;
        counts.total += count;
        weight = std::max<uint32_t>(weight * (80 + uint32_t(random() % 25)) / 100, 4);
    }
    made.table.fit(counts, kSymbols, kLog);
    made.table.place();
    for (uint32_t symbol = 0; symbol < kSymbols; ++symbol) {
        const uint16_t frequency = made.table.frequency[symbol];
        made.counts.push_back(frequency == 1 ? int16_t{-1} : int16_t(frequency));
    }
    fse::Distribution distribution;
    distribution.log = kLog;
    distribution.symbols = kSymbols;
    std::copy(made.counts.begin(), made.counts.end(), distribution.count);
    made.states.resize(size_t{1} << kLog);
    fse::buildStates(distribution, made.states.data());
    made.described = describe(made.counts);
    gstd::Description description;
    description.clear();
    description.add(made.table);
    description.cost(); // called because it also chooses the frequencies of the classes
    gstd::LaneWriter writer;
    writer.clear();
    description.write(writer);
    writer.finish(made.words);
    return made;
}

// The descriptions or counts from which the tables are built. Only kKinds of them differ, so tables
// i and i + kKinds are the same. But each is built from a copy of its own in memory.
struct Sources {
    Bytes bytes;
    std::vector<uint64_t> offsets, sizes;

    template <class T>
    void add(const std::vector<T>& from, size_t alignment)
    {
        bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
        offsets.push_back(bytes.size());
        sizes.push_back(from.size() * sizeof(T));
        const auto* first = reinterpret_cast<const uint8_t*>(from.data());
        bytes.insert(bytes.end(), first, first + sizes.back());
    }
    DeviceBuffer uploadTo(const BenchDevice& device)
    {
        bytes.resize((bytes.size() + 3) / 4 * 4);
        return device.allocate(bytes);
    }
};

class TablesBench {
public:
    // A software device builds fewer tables, since it takes 0.1 ms for each.
    explicit TablesBench(const BenchDevice& device)
        : m_device(device), m_tables(device.isGpu() ? 65536 : 4096)
    {
        std::mt19937 random(1);
        for (uint32_t i = 0; i < kKinds; ++i)
            m_made.push_back(makeTable(random));
    }

    BenchRow fse(uint32_t flags) const
    {
        Sources sources;
        for (uint32_t i = 0; i < m_tables; ++i) {
            const Made& made = m_made[i % kKinds];
            flags != 0 ? sources.add(made.counts, 2) : sources.add(made.described, 1);
        }
        const DeviceBuffer source = sources.uploadTo(m_device),
                           out = m_device.allocate(m_tables * kTableSize),
                           status = m_device.allocate((m_tables + 2) * 4);
        m_device.fill(out.whole(), 0xA5);
        std::vector<SluiceRegion> regions(m_tables);
        for (uint32_t i = 0; i < m_tables; ++i)
            regions[i] = {source.address() + sources.offsets[i], out.address() + i * kTableSize,
                          sources.sizes[i], kTableSize};
        const DeviceBuffer list = m_device.allocate(regions);
        SluiceFseTablesInfo info = {};
        info.maxRegionCount = m_tables;
        info.regionStride = sizeof(SluiceRegion);
        info.flags = flags;
        info.maxSymbols = kSymbols;
        info.maxLog = kLog;
        info.regions = list.whole();
        info.source = source.whole();
        info.destination = out.whole();
        info.status = status.whole();
        const auto record = [&](SluiceCommands commands, uint32_t) {
            require(sluiceCmdFseTables(m_device.context(), commands, &info), "FSE tables");
        };
        m_device.runOnce(record);
        checkFse(out, status);
        return row(flags != 0 ? "sluice, FSE from counts" : "sluice, FSE from descriptions",
                   m_device.time(1, record));
    }

    // Builds the rANS tables; the device must be a CUDA device.
    BenchRow rans() const
    {
        Sources sources;
        Words places;
        for (uint32_t i = 0; i < m_tables; ++i) {
            const std::vector<uint16_t>& words = m_made[i % kKinds].words;
            sources.add(words, 4);
            places.push_back(uint32_t(sources.offsets.back() / 4));
            places.push_back(uint32_t(words.size()));
        }
        const DeviceBuffer source = sources.uploadTo(m_device), list = m_device.allocate(places),
                           out = m_device.allocate(uint64_t{m_tables} * kRansTableBytes);
        m_device.fill(out.whole(), 0xA5);
        const auto record = [&](SluiceCommands commands, uint32_t) {
            recordRansTables(commands, m_tables, kSymbols, kLog, list.whole(), source.whole(),
                             out.whole());
        };
        m_device.runOnce(record);
        checkRans(out);
        return row("rANS tables from their own descriptions (CUDA)", m_device.time(1, record));
    }

private:
    BenchRow row(const char* who, const Timing& timing) const
    {
        // All rows count the bytes of the FSE tables, so that ratios of rates are ratios of times.
        return {"fse tables", std::to_string(m_tables) + " x " + std::to_string(1u << kLog), who,
                m_tables * kTableSize, timing};
    }

    void checkFse(const DeviceBuffer& out, const DeviceBuffer& status) const
    {
        Words statuses(m_tables + 2), tables(m_tables * kTableSize / 4);
        m_device.download(status.whole(), statuses.data(), status.size());
        m_device.download(out.whole(), tables.data(), out.size());
        if (statuses[m_tables] != 0)
            throw Failure{exitDevice, "FSE tables: not all of them were built"};
        for (uint32_t i = 0; i < m_tables; ++i) {
            const uint32_t* const states = tables.data() + i * (kTableSize / 4) + 1;
            if (std::memcmp(states, m_made[i % kKinds].states.data(), sizeof(fse::State) << kLog) !=
                0)
                throw Failure{exitDevice, "FSE tables: states are wrong"};
        }
    }

    void checkRans(const DeviceBuffer& out) const
    {
        Words tables(uint64_t{m_tables} * kRansTableBytes / 4);
        m_device.download(out.whole(), tables.data(), out.size());
        for (uint32_t i = 0; i < m_tables; ++i) {
            const uint32_t* symbols = tables.data() + i * (kRansTableBytes / 4) + 128;
            const gstd::Table& table = m_made[i % kKinds].table;
            for (uint32_t k = 0; k < kSymbols; ++k) {
                if (symbols[k] != (table.frequency[k] | uint32_t{table.start[k]} << 16))
                    throw Failure{exitDevice, "rANS tables: a frequency is wrong"};
            }
        }
    }

    const BenchDevice& m_device;
    const uint32_t m_tables;
    std::vector<Made> m_made;
};

} // namespace

void benchFse(const BenchDevice& device, const BenchDevice* cudaDevice, BenchReport& report)
{
    if (!report.hasTime("fse tables", "")) return;
    const TablesBench bench(device);
    std::vector<BenchRow> rows = {bench.fse(0), bench.fse(SLUICE_FSE_COUNTS)};
    if (cudaDevice != nullptr) {
        rows.push_back(TablesBench(*cudaDevice).rans());
        rows.back().isPeer = true;
    }
    report.addGroup(rows);
}

} // namespace sluice
