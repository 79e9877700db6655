// SPDX-License-Identifier: MIT OR Apache-2.0
// The tests of sluice selftest, and what they share.
#pragma once

#include <cstring>
#include <list>

#include "device.h"

namespace sluice {

// Are a kernel's results on the device those of a plain loop, or of the CPU reference?
bool testScan(const ToolDevice& device);
bool testCompact(const ToolDevice& device);
bool testReduce(const ToolDevice& device);
bool testIntervals(const ToolDevice& device); // expand, move, gather, scatter, search
bool testBulk(const ToolDevice& device);      // remove, insert
bool testDf11(const ToolDevice& device);      // both kinds, and a unit that is damaged
bool testFseTables(const ToolDevice& device);
// Golden streams of the reference encoder, and tiles that are damaged.
bool testGdeflate(const ToolDevice& device);
bool testChecksum(const ToolDevice& device);
bool testTileStreams(const ToolDevice& device);
// An asset that is packed here, whose last tile is then damaged.
bool testGstd(const ToolDevice& device);
bool testFilter(const ToolDevice& device);
bool testFloat(const ToolDevice& device);

// A linear congruential generator: the same values everywhere.
class Random {
public:
    uint32_t next()
    {
        m_state = m_state * 1664525u + 1013904223u;
        return m_state >> 8;
    }

private:
    uint32_t m_state = 12345;
};

template <class T>
std::vector<T> madeUp(size_t count)
{
    Random random;
    std::vector<T> values(count);
    for (T& value : values)
        value = T(random.next() << 8 ^ random.next());
    return values;
}

constexpr uint8_t kPoison = 0xA7; // what destinations hold before

// The buffers of commands, and how these are run.
class Run {
public:
    explicit Run(const ToolDevice& device) : m_device(device) {}

    template <class T>
    SluiceBuffer input(const std::vector<T>& values)
    {
        return m_buffers.emplace_back(m_device).fill(values);
    }
    SluiceBuffer output(uint64_t size) { return input(Bytes(size, kPoison)); }
    template <class Get, class Info>
    SluiceBuffer scratch(Get get, const Info& info)
    {
        return input(Bytes(m_device.scratchSize(get, info)));
    }
    template <class Info>
    void command(SluiceStatus (*cmd)(SluiceContext, SluiceCommands, const Info*), const Info& info)
    {
        m_device.run([&](SluiceCommands commands) {
            m_device.check(cmd(m_device.context(), commands, &info), "command");
        });
    }
    template <class T = uint32_t>
    std::vector<T> values(SluiceBuffer buffer) const
    {
        std::vector<T> result(buffer.size / sizeof(T));
        m_device.download(buffer, result.data(), buffer.size);
        return result;
    }
    template <class T>
    bool holds(SluiceBuffer buffer, const std::vector<T>& expected) const
    {
        return values<T>(buffer) == expected;
    }

private:
    const ToolDevice& m_device;
    std::list<DeviceBuffer> m_buffers;
};

} // namespace sluice
