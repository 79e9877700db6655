// SPDX-License-Identifier: MIT OR Apache-2.0
#include "watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace sluice::dev {

namespace {

namespace fs = std::filesystem;

constexpr int kQuietMilliseconds = 50;
// Folders are watched, not files: an editor that writes a new file and renames it over the old one
// replaces the file that a watch would sit on.
constexpr uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE;

} // namespace

Watcher::~Watcher()
{
    if (m_notify >= 0) close(m_notify);
    if (m_wake >= 0) close(m_wake);
}

bool Watcher::open()
{
    m_notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    m_wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return m_notify >= 0 && m_wake >= 0;
}

bool Watcher::add(const std::string& folder, bool deep)
{
    std::error_code error;
    const fs::path path = fs::canonical(folder, error);
    if (error) return false;
    const std::lock_guard<std::mutex> lock(m_mutex);
    return addOne(path.string(), deep);
}

bool Watcher::addOne(const std::string& folder, bool deep)
{
    const int watch = inotify_add_watch(m_notify, folder.c_str(), kEvents | IN_ONLYDIR);
    if (watch < 0) return false;
    Watched& watched = m_watches[watch];
    watched = {folder + "/", deep || watched.deep};
    bool ok = true;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; deep && !error && it != end;
         it.increment(error)) {
        std::error_code gone;
        const bool isFolder = it->is_directory(gone) && !it->is_symlink(gone);
        if (isFolder && it->path().filename().string()[0] != '.')
            ok = addOne(it->path().string(), true) && ok;
    }
    return ok && !error;
}

void Watcher::read(std::set<std::string>& changed)
{
    alignas(inotify_event) char buffer[8192];
    for (;;) {
        const ssize_t size = ::read(m_notify, buffer, sizeof(buffer));
        if (size <= 0) return;
        const std::lock_guard<std::mutex> lock(m_mutex);
        for (ssize_t at = 0; at < size;) {
            inotify_event event;
            std::memcpy(&event, buffer + at, sizeof(event));
            const char* name = buffer + at + sizeof(event);
            at += static_cast<ssize_t>(sizeof(event) + event.len);
            const auto watch = m_watches.find(event.wd);
            if (event.len == 0 || watch == m_watches.end()) continue;
            const std::string path = watch->second.folder + name;
            if (event.mask & IN_ISDIR) {
                if (watch->second.deep) addOne(path, true);
            } else if (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) {
                changed.insert(path);
            }
        }
    }
}

std::set<std::string> Watcher::wait()
{
    std::set<std::string> changed;
    pollfd files[2] = {{m_notify, POLLIN, 0}, {m_wake, POLLIN, 0}};
    for (;;) {
        const int ready = poll(files, 2, changed.empty() ? -1 : kQuietMilliseconds);
        if (ready < 0) continue; // a signal
        if (files[1].revents) return {};
        if (ready == 0) return changed;
        read(changed);
    }
}

void Watcher::wake()
{
    const uint64_t one = 1;
    // The counter stays raised: every later wait() returns at once, too.
    (void)!write(m_wake, &one, sizeof(one));
}

} // namespace sluice::dev
