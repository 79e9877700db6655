// SPDX-License-Identifier: MIT OR Apache-2.0
// The files that a streamer has, from sluiceStreamOpen until nothing uses them.
#pragma once

#include "stream/file.h"
#include "stream/monitor.h"

namespace sluice::stream {

class Files {
public:
    ~Files();

    // The file is to be opened by a thread.
    void add(Held& held, SluiceStreamFile file);
    // NULL: none is to be opened.
    SluiceStreamFile takeToOpen(Held& held);
    bool hasToOpen(Held&) const { return m_toOpen != nullptr; }
    // A thread has opened it, or has failed: an event is to be told.
    void addOpened(Held& held, SluiceStreamFile file);
    bool hasOpened(Held&) const { return m_opened != nullptr; }
    // Fills in the event of one that addOpened was called for.
    void tellOpened(Held& held, SluiceStreamEvent& event);

    void use(Held&, SluiceStreamFile file) { ++file->uses; }
    void drop(Held& held, SluiceStreamFile file);
    // As soon as nothing uses it, it is closed.
    void giveUp(Held& held, SluiceStreamFile file);

private:
    std::vector<SluiceStreamFile> m_all;
    uint64_t m_serial = 0;                                   // of the one that was added last
    SluiceStreamFile m_toOpen = nullptr, m_opened = nullptr; // lists
};

} // namespace sluice::stream
