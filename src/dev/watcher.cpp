// SPDX-License-Identifier: MIT OR Apache-2.0
#include "watcher.h"

#include <dirent.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace sluice::dev {

namespace {
constexpr int quietMilliseconds = 50;
// Folders are watched, not files: an editor that writes a new file and renames it over the old one
// replaces the file that a watch would sit on.
constexpr uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE;
} // namespace

Watcher::~Watcher()
{
    if (notify_ >= 0) close(notify_);
    if (wake_ >= 0) close(wake_);
}

bool Watcher::open(const std::string& folder)
{
    folder_ = folder + "/";
    notify_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return notify_ >= 0 && wake_ >= 0 && add("");
}

bool Watcher::add(const std::string& relative)
{
    const std::string path = folder_ + relative;
    const int watch = inotify_add_watch(notify_, path.c_str(), events | IN_ONLYDIR);
    if (watch < 0) return false;
    watches_[watch] = relative;
    DIR* directory = opendir(path.c_str());
    if (!directory) return false;
    bool ok = true;
    while (const dirent* entry = readdir(directory)) {
        if (entry->d_name[0] == '.') continue;
        struct stat info;
        if (lstat((path + entry->d_name).c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
            ok = add(relative + entry->d_name + "/") && ok;
        }
    }
    closedir(directory);
    return ok;
}

void Watcher::read(std::set<std::string>& changed)
{
    alignas(inotify_event) char buffer[8192];
    for (;;) {
        const ssize_t size = ::read(notify_, buffer, sizeof(buffer));
        if (size <= 0) return;
        for (ssize_t at = 0; at < size;) {
            inotify_event event;
            std::memcpy(&event, buffer + at, sizeof(event));
            const char* name = buffer + at + sizeof(event);
            at += static_cast<ssize_t>(sizeof(event) + event.len);
            const auto watch = watches_.find(event.wd);
            if (event.len == 0 || watch == watches_.end()) continue;
            const std::string relative = watch->second + name;
            if (event.mask & IN_ISDIR) {
                add(relative + "/");
            } else if (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) {
                changed.insert(relative);
            }
        }
    }
}

std::set<std::string> Watcher::wait()
{
    std::set<std::string> changed;
    pollfd files[2] = {{notify_, POLLIN, 0}, {wake_, POLLIN, 0}};
    for (;;) {
        const int ready = poll(files, 2, changed.empty() ? -1 : quietMilliseconds);
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
    (void)!write(wake_, &one, sizeof(one));
}

} // namespace sluice::dev
