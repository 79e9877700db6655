// SPDX-License-Identifier: MIT OR Apache-2.0
// Tells which files below a folder were written.
#pragma once

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

    // Watches `folder` and every folder below it. False where the system refuses.
    bool open(const std::string& folder);

    // Waits until files change and then until they have been quiet for a moment (editors save in
    // several steps). Returns paths relative to the folder; empty after wake().
    std::set<std::string> wait();

    // Makes wait() return. May be called from another thread.
    void wake();

private:
    bool add(const std::string& relative);
    void read(std::set<std::string>& changed);

    std::string folder_;
    int notify_ = -1;
    int wake_ = -1;                                // an eventfd
    std::unordered_map<int, std::string> watches_; // watch descriptor to folder, relative, "" or
                                                   // ending in '/'
};

} // namespace sluice::dev
