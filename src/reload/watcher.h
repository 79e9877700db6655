// SPDX-License-Identifier: MIT OR Apache-2.0
// Watches folders, and reports which files in them were written.
#pragma once

#include <memory>
#include <set>
#include <string>

namespace sluice::dev {

class Watcher {
public:
    static constexpr int kQuietMilliseconds = 50;

    Watcher();
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    bool open();
    // Watches a folder and, if `deep` is set, all folders below it, also those that are made later.
    // Returns false if the system refuses. May be called while another thread is in wait().
    bool add(const std::string& folder, bool deep);

    // Waits until files change, and then until nothing more has changed for kQuietMilliseconds,
    // since editors save in several steps. Returns the absolute paths of the changed files; none
    // after wake().
    std::set<std::string> wait();

    // Makes wait() return. Another thread may call it.
    void wake();

private:
    struct State; // depends on the operating system
    std::unique_ptr<State> m_state;
};

} // namespace sluice::dev
