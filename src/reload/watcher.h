// SPDX-License-Identifier: MIT OR Apache-2.0
// Reports which files of some folders were written.
#pragma once

#include <memory>
#include <set>
#include <string>

namespace sluice::dev {

class Watcher {
public:
    Watcher();
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    bool open();
    // Watches a folder; with `deep` also every folder below it, including those made later. Returns
    // false if the system refuses. May be called while another thread waits.
    bool add(const std::string& folder, bool deep);

    // Waits until files change and then until they have been quiet for a moment (editors save in
    // several steps). Returns absolute paths; empty after wake().
    std::set<std::string> wait();

    // Makes wait() return. May be called from another thread.
    void wake();

private:
    struct State; // the system's own
    std::unique_ptr<State> m_state;
};

} // namespace sluice::dev
