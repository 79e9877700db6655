// SPDX-License-Identifier: MIT OR Apache-2.0
// Cuts requests into units. A unit is a read of bounded size. It consists of whole tiles, and for
// images of whole rows.
#pragma once

#include "stream/ledger.h"

namespace sluice::stream {

class Cutter {
public:
    // The arguments must outlive the cutter.
    Cutter(const SluiceStreamerInfo& info, Ledger& ledger) : m_info(info), m_ledger(ledger) {}

    enum class Cut {
        made,
        later,   // there is no room for the unit now
        records, // the records of the current request's tiles are not read yet
        done     // no unit is left in the group
    };
    // Fills in the next unit of a group.
    Cut cut(Held& held, Group& group, Unit& unit);
    // Called after `cut` has returned Cut::records. Returns one of the group's next requests whose
    // records no thread reads yet, and marks these records as being read, since the caller must
    // read them. Returns NULL if other threads read all records that are needed.
    const Request* takeRecords(Held& held, const Group& group);

private:
    Cut cutTiles(Held& held, Group& group, Request& request, Unit& unit);
    Cut cutImage(Held& held, Group& group, Request& request, Unit& unit);
    Cut cutImageOfArchive(Held& held, Group& group, Request& request, Unit& unit);
    Cut cutBlocks(Held& held, Group& group, Request& request, Unit& unit);
    Cut cutPlain(Held& held, Group& group, Request& request, Unit& unit);
    Cut refuse(Held& held, Group& group, Request& request);
    bool canDecode(Held& held, const Request& request, const Unit& unit, uint64_t sourceSize,
                   uint64_t outputSize) const;
    bool takeBlocks(Held& held, const Group& group, Unit& unit, uint64_t sourceSize,
                    uint64_t outputSize);
    void placeSource(const Request& request, Unit& unit, uint64_t fileOffset, uint64_t room) const;
    bool placeOutput(const Request& request, const Unit& unit, uint32_t blockSize,
                     uint64_t& pad) const;
    static Extent& extentOf(const Request& request)
    {
        return request.info.file->tileRecords.extentOf(request.info.asset);
    }

    const SluiceStreamerInfo& m_info;
    Ledger& m_ledger;
};

} // namespace sluice::stream
