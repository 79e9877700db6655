// SPDX-License-Identifier: MIT OR Apache-2.0
// The files of a streamer. A file exists from sluiceStreamOpen until it is closed and nothing uses
// it.
#pragma once

#include "stream/file.h"
#include "stream/monitor.h"

namespace sluice::stream {

class Files {
public:
    ~Files();

    // Adds a file, which a thread will open.
    void add(Held& held, SluiceStreamFile file);
    // Takes a file that a thread is to open; NULL if there is none.
    SluiceStreamFile takeToOpen(Held& held);
    bool hasToOpen(Held&) const { return m_toOpen != nullptr; }
    // Called when a thread has opened the file, or has failed to. Poll will return an event for the
    // file.
    void addOpened(Held& held, SluiceStreamFile file);
    bool hasOpened(Held&) const { return m_opened != nullptr; }
    // Fills in the event of a file that addOpened was called for.
    void tellOpened(Held& held, SluiceStreamEvent& event);

    void use(Held&, SluiceStreamFile file) { ++file->uses; }
    void drop(Held& held, SluiceStreamFile file);
    // For sluiceStreamClose: the file is closed as soon as nothing uses it.
    void giveUp(Held& held, SluiceStreamFile file);

private:
    std::vector<SluiceStreamFile> m_all;
    uint64_t m_serial = 0;                                   // serial number of the newest file
    SluiceStreamFile m_toOpen = nullptr, m_opened = nullptr; // lists
};

} // namespace sluice::stream
