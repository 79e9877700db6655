// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/files.h"

#include <algorithm>

#include "stream/slots.h"

namespace sluice::stream {

Files::~Files()
{
    for (const SluiceStreamFile file : m_all)
        delete file;
}

void Files::add(Held& held, SluiceStreamFile file)
{
    file->serial = ++m_serial;
    m_all.push_back(file);
    file->next = m_toOpen;
    m_toOpen = file;
    held.wakeWorkers();
}

SluiceStreamFile Files::takeToOpen(Held&)
{
    const SluiceStreamFile file = m_toOpen;
    if (file != nullptr) m_toOpen = file->next;
    return file;
}

void Files::addOpened(Held& held, SluiceStreamFile file)
{
    file->next = m_opened;
    m_opened = file;
    held.tellEvent();
}

void Files::tellOpened(Held& held, SluiceStreamEvent& event)
{
    const SluiceStreamFile file = m_opened;
    m_opened = file->next;
    file->isListed = false;
    event = {};
    event.kind = SLUICE_STREAM_OPENED;
    event.status = file->status;
    event.file = file;
    event.user = file->user;
    event.osError = file->osError;
    event.firstRequest = event.firstTile = kNone;
    use(held, file); // closes a file that was given up meanwhile
    drop(held, file);
}

void Files::drop(Held& held, SluiceStreamFile file)
{
    --file->uses;
    // While a file is being opened or its event has not been returned, the file is not closed;
    // tellOpened closes it later.
    if (!file->isGivenUp || file->uses != 0 || file->isListed) return;
    m_all.erase(std::find(m_all.begin(), m_all.end(), file));
    held.deleteLater(file);
}

void Files::giveUp(Held& held, SluiceStreamFile file)
{
    if (file->isGivenUp) return;
    file->isGivenUp = true;
    use(held, file);
    drop(held, file);
}

} // namespace sluice::stream
