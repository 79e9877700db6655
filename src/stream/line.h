// SPDX-License-Identifier: MIT OR Apache-2.0
// The line: ready units that the GPU decodes unless a thread takes them first. It is a priority
// queue of groups, the most urgent first. Each group has a list of its units in the line.
#pragma once

#include <algorithm>

#include "stream/group.h"
#include "stream/monitor.h"

namespace sluice::stream {

class Line {
public:
    Line(uint32_t groups, Slots<Unit>& units) : m_units(units) { m_queue.reserve(groups); }

    bool empty(Held&) const { return m_queue.empty(); }
    // Returns the most urgent group; NULL if the line is empty.
    Group* top(Held&) const { return m_queue.top(); }
    // Returns the group that will probably be the top after `others` groups have left; NULL if that
    // is not known.
    Group* later(Held&, uint32_t others) const { return m_queue.later(others); }
    // Returns the most urgent unit. The line must not be empty.
    const Unit& head(Held&) const { return m_units[m_queue.top()->line.head]; }
    uint32_t tiles(Held&) const { return m_tiles; }

    // The costs of all units in the line together, in milliseconds; the members are those of Unit.
    struct Costs {
        double gpuSlowest = 0; // the largest since the line was empty
        double gpuBytes = 0, cpuTime = 0;
    };
    const Costs& costs(Held&) const { return m_costs; }

    // Adds a ready unit to the line. isFirst: it goes ahead of the group's other units.
    void add(Held&, Group& group, Unit& unit, bool isFirst)
    {
        if (isFirst)
            m_units.prepend(group.line, unit);
        else
            m_units.append(group.line, unit);
        m_tiles += unit.tileCount;
        m_costs.gpuSlowest = std::max(m_costs.gpuSlowest, double(unit.gpuSlowest));
        m_costs.gpuBytes += double(unit.gpuBytes);
        m_costs.cpuTime += double(unit.cpuTime);
        m_queue.insert(&group);
    }
    Unit& take(Held&, Group& group)
    {
        Unit& unit = m_units.pop(group.line);
        if (group.line.empty()) m_queue.remove(&group);
        m_tiles -= unit.tileCount;
        m_costs.gpuBytes -= double(unit.gpuBytes);
        m_costs.cpuTime -= double(unit.cpuTime);
        if (m_queue.empty()) m_costs = {};
        return unit;
    }
    // To be called when the priority of a group has changed.
    void update(Held&, Group& group) { m_queue.update(&group); }

private:
    Slots<Unit>& m_units;
    PriorityQueue<Group, kLineQueue> m_queue;
    uint32_t m_tiles = 0;
    Costs m_costs;
};

} // namespace sluice::stream
