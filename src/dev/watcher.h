// SPDX-License-Identifier: MIT OR Apache-2.0
// Tells which files of some folders were written.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

namespace sluice::dev {

class Watcher {
public:
    Watcher() = default;
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    bool open();
    // Watches a folder; deep: also every folder below it, those that are made later too. False
    // where the system refuses. May be called while another thread waits.
    bool add(const std::string& folder, bool deep);

    // Waits until files change and then until they have been quiet for a moment (editors save in
    // several steps). Returns absolute paths; empty after wake().
    std::set<std::string> wait();

    // Makes wait() return. May be called from another thread.
    void wake();

private:
    struct Watched {
        std::string folder; // ends in '/'
        bool deep;
    };

    bool addOne(const std::string& folder, bool deep);
    void read(std::set<std::string>& changed);

    int m_notify = -1;
    int m_wake = -1; // an eventfd
    std::mutex m_mutex;
    std::unordered_map<int, Watched> m_watches; // by watch descriptor
};

} // namespace sluice::dev
