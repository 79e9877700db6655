// SPDX-License-Identifier: MIT OR Apache-2.0
// Cuts requests into units. A unit is a read of bounded size. It consists of whole tiles, and for
// images of whole rows.
#pragma once

#include "stream/ledger.h"

namespace sluice::stream {

class Cutter {
public:
    // info outlives the cutter. gpuDecodes: the streamer's context decodes on a GPU.
    Cutter(const SluiceStreamerInfo& info, bool gpuDecodes, Ledger& ledger)
        : m_info(info), m_gpuDecodes(gpuDecodes), m_ledger(ledger)
    {
    }

    // Queries which kernels the context has refused. One query serves all units that a thread cuts
    // while it holds the lock.
    void noteRefusedKernels(Held& held);

    enum class Cut {
        made,
        later, // there is no room for the unit now
        done   // no unit is left in the group
    };
    // Fills in the next unit of a group.
    Cut cut(Held& held, Group& group, Unit& unit);

private:
    Cut cutTiles(Held& held, Group& group, Request& request, Unit& unit);
    Cut cutImage(Held& held, Group& group, Request& request, Unit& unit);
    Cut cutImageOfArchive(Held& held, Group& group, Request& request, Unit& unit);
    Cut cutPlain(Held& held, Group& group, Request& request, Unit& unit);
    Cut refuse(Held& held, Group& group, Request& request);
    bool takeBlocks(Held& held, const Group& group, Unit& unit, uint64_t sourceSize,
                    uint64_t outputSize);
    void placeSource(const Request& request, Unit& unit, uint64_t fileOffset, uint64_t room) const;
    bool placeOutput(const Request& request, const Unit& unit, uint32_t blockSize,
                     uint64_t& pad) const;
    // Returns whether the GPU decodes an archive's tiles. It does not where the driver or a
    // self-test has refused pipelines that they need, if the CPU can reach the output ring.
    bool gpuDecodes(const SluiceStreamFile_T& file) const
    {
        return m_gpuDecodes && (m_refusedKernels & file.kernels) == 0;
    }

    const SluiceStreamerInfo& m_info;
    const bool m_gpuDecodes;
    Ledger& m_ledger;
    uint32_t m_refusedKernels = 0; // refusedKernels, if the CPU can decode instead
};

} // namespace sluice::stream
