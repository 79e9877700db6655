// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests what hot reload is told of files that change.
#include <doctest/doctest.h>

#include "reload/watcher.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

namespace {

namespace fs = std::filesystem;
using sluice::dev::Watcher;

class Watched {
public:
    Watched()
    {
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        const fs::path made = fs::temp_directory_path() / ("sluice_watch_" + std::to_string(now));
        fs::create_directories(made / "below");
        fs::create_directories(made / ".hidden");
        folder = fs::canonical(made).make_preferred();
        REQUIRE(watcher.open());
    }
    ~Watched()
    {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    void write(const fs::path& name, const std::string& text = "text") const
    {
        std::ofstream(folder / name, std::ios::binary) << text;
    }
    std::string path(const fs::path& name) const
    {
        return (folder / name).make_preferred().string();
    }

    // Returns all paths that the watcher reports up to that of this file. A watcher that stays
    // silent is woken after a minute.
    std::set<std::string> until(const fs::path& name)
    {
        std::mutex mutex;
        std::condition_variable ended;
        bool hasEnded = false;
        std::thread guard([&] {
            std::unique_lock<std::mutex> lock(mutex);
            if (!ended.wait_for(lock, std::chrono::minutes(1), [&] { return hasEnded; }))
                watcher.wake();
        });
        std::set<std::string> heard;
        while (heard.count(path(name)) == 0) {
            const std::set<std::string> some = watcher.wait();
            if (some.empty()) break;
            heard.insert(some.begin(), some.end());
        }
        {
            const std::lock_guard<std::mutex> lock(mutex);
            hasEnded = true;
        }
        ended.notify_one();
        guard.join();
        CHECK_MESSAGE(heard.count(path(name)) == 1, "nothing was heard of " << name.string());
        return heard;
    }

    Watcher watcher;
    fs::path folder;
};

} // namespace

TEST_CASE("watcher: files that are written, made and renamed")
{
    Watched watched;
    watched.write("old");
    REQUIRE(watched.watcher.add(watched.folder.string(), true));
    watched.write("old", "other text");
    CHECK(watched.until("old").size() == 1);
    watched.write(fs::u8path("n\xC3\xA4me"));
    watched.until(fs::u8path("n\xC3\xA4me"));
    watched.write(".saving");
    watched.until(".saving");
    fs::rename(watched.folder / ".saving", watched.folder / "old");
    CHECK(watched.until("old").count(watched.path(".saving")) == 0);
    watched.write("below/one");
    watched.until("below/one");
}

TEST_CASE("watcher: folders below that are made later, and those that do not count")
{
    Watched watched;
    REQUIRE(watched.watcher.add(watched.folder.string(), true));
    fs::create_directories(watched.folder / "later");
    watched.write("top");
    CHECK(watched.until("top").count(watched.path("later")) == 0); // folders are not reported
    watched.write("later/one");
    watched.until("later/one");
    watched.write(".hidden/one");
    watched.write("top", "again");
    CHECK(watched.until("top").count(watched.path(".hidden/one")) == 0);
}

TEST_CASE("watcher: a folder without those below it, then with them")
{
    Watched watched;
    REQUIRE(watched.watcher.add(watched.folder.string(), false));
    watched.write("below/one");
    watched.write("top");
    CHECK(watched.until("top").size() == 1);
    REQUIRE(watched.watcher.add(watched.folder.string(), true));
    // Adding the folder alone does not end the watch of the folders below it.
    REQUIRE(watched.watcher.add(watched.folder.string(), false));
    watched.write("below/one", "again");
    watched.until("below/one");
}

TEST_CASE("watcher: more changes than a system keeps for one answer")
{
    Watched watched;
    REQUIRE(watched.watcher.add(watched.folder.string(), true));
    const std::string longName(200, 'n');
    for (int i = 0; i < 400; ++i)
        watched.write("below/" + longName + std::to_string(i));
    watched.write("last");
    const std::set<std::string> heard = watched.until("last");
    std::set<std::string> all = heard;
    for (int i = 0; i < 400; ++i) {
        const std::string name = "below/" + longName + std::to_string(i);
        if (all.count(watched.path(name)) == 0) {
            const std::set<std::string> more = watched.until(name);
            all.insert(more.begin(), more.end());
        }
    }
    CHECK(all.size() == 401);
}

TEST_CASE("watcher: no folder, a file, and whoever is woken")
{
    Watched watched;
    CHECK(!watched.watcher.add((watched.folder / "none").string(), true));
    watched.write("file");
    CHECK(!watched.watcher.add((watched.folder / "file").string(), true));
    std::thread other([&] { watched.watcher.wake(); });
    CHECK(watched.watcher.wait().empty());
    other.join();
    CHECK(watched.watcher.wait().empty()); // once woken, it stays awake
}
