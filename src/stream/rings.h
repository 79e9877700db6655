// SPDX-License-Identifier: MIT OR Apache-2.0
// The two rings that units take blocks from. The source ring holds stored bytes as they are read.
// The output ring holds decoded bytes until they are copied.
#pragma once

#include "stream/group.h"
#include "stream/monitor.h"

namespace sluice::stream {

class Rings {
public:
    Rings(uint64_t sourceSize, uint64_t outputSize)
        : m_source(sourceSize, kMinSourceBlock, kUnitSource),
          m_output(outputSize, kMinOutputBlock, kUnitOutput)
    {
    }
    // Takes a block from each ring whose size is not 0. Returns false, and takes nothing, if there
    // is no room.
    bool take(Held& held, Unit& unit, uint64_t sourceSize, uint64_t outputSize)
    {
        unit.source = sourceSize != 0 ? m_source.take(sourceSize) : Blocks::kNone;
        if (sourceSize != 0 && unit.source == Blocks::kNone) return false;
        unit.sourceBase = unit.source;
        unit.sourceEnd = unit.source + sourceSize;
        if (outputSize == 0 || takeOutput(held, unit, outputSize)) return true;
        give(held, unit);
        return false;
    }
    bool takeOutput(Held&, Unit& unit, uint64_t size)
    {
        unit.output = m_output.take(size);
        return unit.output != Blocks::kNone;
    }
    void give(Held&, Unit& unit)
    {
        if (unit.source != Blocks::kNone) m_source.give(unit.source);
        if (unit.output != Blocks::kNone) m_output.give(unit.output);
        unit.source = unit.output = Blocks::kNone;
    }
    // Returns whether blocks of these sizes leave a quarter of each ring free. In an empty ring a
    // block of any size is allowed.
    bool leaveQuarter(Held&, uint64_t sourceSize, uint64_t outputSize) const
    {
        return leavesQuarter(m_source, sourceSize) && leavesQuarter(m_output, outputSize);
    }
    // Returns whether blocks of these sizes fit into the empty rings.
    bool canTake(Held&, uint64_t sourceSize, uint64_t outputSize) const
    {
        return (sourceSize == 0 || sourceSize <= m_source.largest()) &&
               (outputSize == 0 || outputSize <= m_output.largest());
    }
    uint64_t sourceUsed(Held&) const { return m_source.used(); }
    uint64_t outputUsed(Held&) const { return m_output.used(); }

private:
    static constexpr uint64_t kMinSourceBlock = 16384, kMinOutputBlock = 65536;

    static bool leavesQuarter(const Blocks& blocks, uint64_t size)
    {
        return size == 0 || blocks.used() == 0 ||
               blocks.used() + blocks.blockSize(size) <= blocks.capacity() / 4 * 3;
    }

    Blocks m_source, m_output;
};

} // namespace sluice::stream
