// SPDX-License-Identifier: MIT OR Apache-2.0
// Watches folders with inotify, which only Linux has.
#include "reload/watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <mutex>
#include <unordered_map>

namespace sluice::dev {

namespace {

namespace fs = std::filesystem;

// Folders are watched, not files. An editor may write a new file and rename it over the old one;
// a watch on the old file would see nothing of that.
constexpr uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE;

} // namespace

struct Watcher::State {
    struct Watched {
        std::string folder; // ends in '/'
        bool deep;
    };

    bool addOne(const std::string& folder, bool deep);
    void read(std::set<std::string>& changed);

    int notify = -1;
    int wake = -1; // an eventfd
    std::mutex mutex;
    std::unordered_map<int, Watched> watches; // by watch descriptor
};

Watcher::Watcher() : m_state(std::make_unique<State>()) {}

Watcher::~Watcher()
{
    if (m_state->notify >= 0) close(m_state->notify);
    if (m_state->wake >= 0) close(m_state->wake);
}

bool Watcher::open()
{
    m_state->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    m_state->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return m_state->notify >= 0 && m_state->wake >= 0;
}

bool Watcher::add(const std::string& folder, bool deep)
{
    std::error_code error;
    const fs::path path = fs::canonical(folder, error);
    if (error) return false;
    const std::lock_guard<std::mutex> lock(m_state->mutex);
    return m_state->addOne(path.string(), deep);
}

bool Watcher::State::addOne(const std::string& folder, bool deep)
{
    const int watch = inotify_add_watch(notify, folder.c_str(), kEvents | IN_ONLYDIR);
    if (watch < 0) return false;
    Watched& watched = watches[watch];
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

void Watcher::State::read(std::set<std::string>& changed)
{
    alignas(inotify_event) char buffer[8192];
    for (;;) {
        const ssize_t size = ::read(notify, buffer, sizeof(buffer));
        if (size <= 0) return;
        const std::lock_guard<std::mutex> lock(mutex);
        for (ssize_t at = 0; at < size;) {
            inotify_event event;
            std::memcpy(&event, buffer + at, sizeof(event));
            const char* name = buffer + at + sizeof(event);
            at += static_cast<ssize_t>(sizeof(event) + event.len);
            const auto watch = watches.find(event.wd);
            if (event.len == 0 || watch == watches.end()) continue;
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
    pollfd files[2] = {{m_state->notify, POLLIN, 0}, {m_state->wake, POLLIN, 0}};
    for (;;) {
        const int ready = poll(files, 2, changed.empty() ? -1 : kQuietMilliseconds);
        if (ready < 0) continue; // interrupted by a signal
        if (files[1].revents) return {};
        if (ready == 0) return changed;
        m_state->read(changed);
    }
}

void Watcher::wake()
{
    const uint64_t one = 1;
    // Nobody reads the eventfd, so its counter stays above 0, and later calls of wait() return at
    // once too.
    (void)!write(m_state->wake, &one, sizeof(one));
}

} // namespace sluice::dev
