// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests pack --cache: the archive is the same with it, the second run has little work, and what the
// folder holds is not trusted.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/tool/tool_run.h"
#include "test_paths.h"

namespace sluice::test {
namespace {

// Writes files of several kinds: one of many tiles, some with filters, empty and small ones.
void writeTree(const Folder& tool)
{
    tool.write("a/long", std::string(600000, 'q') + noise(300000));
    tool.write("a/picture.tga", picture());
    tool.write("a/sound.wav", sound());
    for (int i = 0; i < 20; ++i)
        tool.write("a/many/" + std::to_string(i), "file number " + std::to_string(i * 77777));
    tool.write("a/noise", noise(70000));
}

std::vector<fs::path> entriesOf(const fs::path& cache)
{
    std::vector<fs::path> entries;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(cache))
        if (entry.is_regular_file() && entry.path().filename() != "CACHEDIR.TAG")
            entries.push_back(entry.path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

// The numbers of a line like "cache      19 of 20 files found; of the others 1 of 3 tiles".
struct Found {
    uint64_t files = 0, filesFound = 0, tiles = 0, tilesFound = 0;
};
Found foundIn(const std::string& errors)
{
    Found found;
    const size_t at = errors.find("cache      ");
    REQUIRE(at != std::string::npos);
    unsigned long long numbers[4] = {};
    REQUIRE(std::sscanf(errors.c_str() + at,
                        "cache      %llu of %llu files found; of the others %llu of %llu tiles",
                        &numbers[0], &numbers[1], &numbers[2], &numbers[3]) == 4);
    found.filesFound = numbers[0];
    found.files = numbers[1];
    found.tilesFound = numbers[2];
    found.tiles = numbers[3];
    return found;
}

void setAge(const fs::path& path, int seconds)
{
    struct timespec times[2] = {};
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

} // namespace

TEST_CASE("tool cache: the archive is the same, and the second run finds every file")
{
    const Tool tool;
    writeTree(tool);
    for (const char* options :
         {"-l 3", "-l 9", "-c gdeflate -l 4", "-c huff", "-c store", "-l 3 --images",
          "-l 3 --tile-size 64 -j 3", "-c zstd -l 2", "-c zstd -l 2 --tile-size 160"}) {
        const std::string with = std::string(options) + " --cache cache -v ";
        REQUIRE(tool("pack -f -o plain.sluice " + std::string(options) + " a") == 0);
        REQUIRE(tool("pack -f -o one.sluice " + with + "a") == 0);
        CHECK(foundIn(tool.errors()).filesFound == 0);
        CHECK(tool.read("one.sluice") == tool.read("plain.sluice"));
        REQUIRE(tool("pack -f -o two.sluice " + with + "a") == 0);
        const Found found = foundIn(tool.errors());
        CHECK(tool.read("two.sluice") == tool.read("plain.sluice"));
        CHECK(found.files == 26); // all except the empty one
        if (std::string(options) != "-c store") CHECK(found.filesFound == found.files);
        CHECK(found.tiles == 0);
    }
}

TEST_CASE("tool cache: what changed is packed anew, and that alone")
{
    const Tool tool;
    writeTree(tool);
    REQUIRE(
        tool("pack -o 0.sluice -l 3 --tile-size 256 --no-share --filters none --cache cache a") ==
        0);
    std::string changed = tool.read("a/long");
    changed[700000] ^= 1; // in the third of its four tiles
    tool.write("a/long", changed);
    tool.write("a/new", "new");
    fs::remove(tool.path / "a/many/3");
    // Found again, though its name is another.
    fs::rename(tool.path / "a/many/4", tool.path / "a/4");
    REQUIRE(
        tool(
            "pack -v -o 1.sluice -l 3 --tile-size 256 --no-share --filters none --cache cache a") ==
        0);
    const Found found = foundIn(tool.errors());
    CHECK(found.files - found.filesFound == 2);
    CHECK(found.tiles == 5);
    CHECK(found.tilesFound == 3);
    REQUIRE(tool("pack -o 2.sluice -l 3 --tile-size 256 --no-share --filters none a") == 0);
    CHECK(tool.read("1.sluice") == tool.read("2.sluice"));
}

TEST_CASE("tool cache: a file that keeps its size and its time is not taken for the old one")
{
    const Tool tool;
    for (int i = 0; i < 3; ++i) { // within one step of the file system's clock
        tool.write("a/one.txt", std::string(1000, char('a' + i)));
        REQUIRE(tool("pack -f -o with.sluice -l 1 --cache cache a") == 0);
        REQUIRE(tool("pack -f -o without.sluice -l 1 a") == 0);
        CHECK(tool.read("with.sluice") == tool.read("without.sluice"));
    }
    // The digest of an old file is kept. Its time of modification can be set back, its time of
    // change cannot.
    setAge(tool.path / "a/one.txt", 100);
    usleep(3100000);
    REQUIRE(tool("pack -f -o with.sluice -l 1 --cache cache a") == 0);
    tool.write("a/one.txt", std::string(1000, 'z'));
    setAge(tool.path / "a/one.txt", 100);
    REQUIRE(tool("pack -f -o with.sluice -l 1 --cache cache a") == 0);
    REQUIRE(tool("pack -f -o without.sluice -l 1 a") == 0);
    CHECK(tool.read("with.sluice") == tool.read("without.sluice"));
}

TEST_CASE("tool cache: damaged, empty, exchanged and missing entries are replaced")
{
    const Tool tool;
    writeTree(tool);
    const std::string pack = "pack -f -l 3 --no-share --cache cache a -v -o ";
    REQUIRE(tool(pack + "good.sluice") == 0);
    const std::string good = tool.read("good.sluice");
    const std::vector<fs::path> entries = entriesOf(tool.path / "cache");
    CHECK(entries.size() > 50);
    const auto check = [&] {
        REQUIRE(tool(pack + "x.sluice") == 0);
        CHECK(tool.read("x.sluice") == good);
        REQUIRE(tool(pack + "x.sluice") == 0); // the damaged entries were replaced
        CHECK(tool.read("x.sluice") == good);
        const Found found = foundIn(tool.errors());
        CHECK(found.filesFound == found.files);
    };
    for (size_t i = 0; i < entries.size(); ++i) { // each entry is damaged in another way
        std::string bytes = readFile(entries[i]);
        switch (i % 5) {
        case 0: bytes[(i * 7919) % bytes.size()] ^= char(1 << i % 8); break;
        case 1: bytes.clear(); break;
        case 2: bytes.resize(bytes.size() - 1); break;
        case 3: bytes += '\0'; break;
        default: bytes = readFile(entries[(i + 5) % entries.size()]); break;
        }
        writeFile(entries[i], bytes);
    }
    check();
    for (size_t i = 0; i < entries.size(); i += 2)
        fs::remove(entries[i]);
    check();
    fs::remove(entries[0]);
    fs::create_directory(entries[0]); // it cannot be replaced, which does not matter
    REQUIRE(tool(pack + "x.sluice") == 0);
    CHECK(tool.read("x.sluice") == good);
}

TEST_CASE("tool cache: processes share it, and one that is killed leaves nothing wrong")
{
    const Tool tool;
    writeTree(tool);
    REQUIRE(tool("pack -o plain.sluice -l 5 a") == 0);
    const char* const other = std::getenv("SLUICE_TOOL");
    const std::string program =
        "cd " + tool.path.string() + " && exec " + (other != nullptr ? other : SLUICE_TOOL_PATH);
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
        const std::string line =
            program + " pack -q -l 5 --cache cache -o " + std::to_string(i) + ".sluice a";
        const pid_t child = fork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
            _exit(127);
        }
        children.push_back(child);
    }
    for (size_t i = 0; i < 3; ++i) { // each one at another moment
        usleep(useconds_t(20000 * (i + 1)));
        kill(children[i], SIGKILL);
    }
    for (size_t i = 0; i < children.size(); ++i) {
        int status = 0;
        waitpid(children[i], &status, 0);
        if (i < 3) continue;
        CHECK(status == 0);
        CHECK(tool.read(std::to_string(i) + ".sluice") == tool.read("plain.sluice"));
    }
    REQUIRE(tool("pack -f -v -o x.sluice -l 5 --cache cache a") == 0);
    CHECK(tool.read("x.sluice") == tool.read("plain.sluice"));
    const Found found = foundIn(tool.errors());
    CHECK(found.filesFound == found.files);
}

TEST_CASE("tool cache: eviction by age, info and trim")
{
    const Tool tool;
    writeTree(tool);
    REQUIRE(tool("pack -o x.sluice -l 1 --cache cache a") == 0);
    std::vector<fs::path> entries = entriesOf(tool.path / "cache");
    uint64_t bytes = 0, most = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
        setAge(entries[i], int(1000 * (i + 1))); // the last one is the oldest
        bytes += fs::file_size(entries[i]);
        most = std::max(most, uint64_t{fs::file_size(entries[i])});
    }
    REQUIRE(tool("cache info cache") == 0);
    CHECK(contains(tool.output(), std::to_string(entries.size())));
    CHECK(contains(tool.output(), "last used"));
    const uint64_t limit = bytes - fs::file_size(entries.back()) - 1;
    REQUIRE(tool("cache trim cache --cache-size " + std::to_string(limit)) == 0);
    CHECK(contains(tool.output(), "removed 2 entries"));
    CHECK_FALSE(fs::exists(entries[entries.size() - 1]));
    CHECK_FALSE(fs::exists(entries[entries.size() - 2]));
    CHECK(fs::exists(entries[entries.size() - 3]));
    // A run makes young the entries that it uses. Which one is the youngest depends on the threads;
    // that one stays.
    const std::string mostText = std::to_string(most);
    REQUIRE(tool("pack -f -o y.sluice -l 1 --cache cache a --cache-size " + mostText) == 0);
    CHECK(tool.read("y.sluice") == tool.read("x.sluice"));
    bytes = 0;
    for (const fs::path& entry : entriesOf(tool.path / "cache"))
        bytes += fs::file_size(entry);
    CHECK(bytes <= most);
    CHECK(bytes != 0);
    // Files that a killed process has left are removed after a day.
    const fs::path leftover = entries[0].parent_path() / ".tmp-123456";
    writeFile(leftover, "half");
    REQUIRE(tool("cache trim cache --cache-size 1G") == 0);
    CHECK(fs::exists(leftover));
    setAge(leftover, 100000);
    REQUIRE(tool("cache trim cache --cache-size 1G") == 0);
    CHECK_FALSE(fs::exists(leftover));
    REQUIRE(tool("cache trim cache --cache-size 0") == 0);
    CHECK(entriesOf(tool.path / "cache").empty());
}

TEST_CASE("tool cache: what it does not take")
{
    const Tool tool;
    tool.write("other/file", "x");
    tool.write("foreign/CACHEDIR.TAG", "something else entirely, which is not a signature");
    CHECK(tool("pack -o x.sluice --cache other a") == 1);
    CHECK(contains(tool.errors(), "neither empty nor a cache"));
    CHECK(tool("pack -o x.sluice --cache foreign a") == 1);
    CHECK(tool("pack -o x.sluice --cache a/one.txt a") == 2);
    CHECK_FALSE(tool.has("x.sluice"));
    CHECK(tool.read("other/file") == "x");
    CHECK(tool("cache info other") == 1);
    CHECK(tool("cache trim other --cache-size 0") == 1);
    CHECK(tool("cache info nowhere") == 2);
    CHECK(tool("cache empty other") == 1);
    CHECK(tool("pack -o x.sluice --cache-size 5G a") == 1);
    REQUIRE(tool("pack -o x.sluice --cache cache a") == 0);
    CHECK(tool("cache trim cache") == 1);
    CHECK(tool("cache info cache --cache-size 1") == 1);
    for (const char* size : {"", "G", "5X", "5GBB", "-1", "99999999999999999999", "20000000T"})
        CHECK_MESSAGE(tool("cache trim cache --cache-size '" + std::string(size) + "'") == 1, size);
    if (geteuid() != 0) { // root may write everywhere
        fs::permissions(tool.path / "cache", fs::perms::owner_read | fs::perms::owner_exec);
        CHECK(tool("pack -f -o y.sluice --cache cache a") == 0);
        fs::permissions(tool.path / "cache", fs::perms::owner_all);
    }
}

TEST_CASE("tool cache: a folder into which others have put anything")
{
    if (isWindowsTool("pipes and links of POSIX")) return;
    const Tool tool;
    writeTree(tool);
    const std::string pack = "pack -f -q -l 3 -j 2 --no-share --cache cache a -o ";
    REQUIRE(tool(pack + "good.sluice") == 0);
    const std::string good = tool.read("good.sluice");
    tool.write("outside/file", "mine");
    const std::vector<fs::path> entries = entriesOf(tool.path / "cache");
    const std::string name = entries[6].filename().string();
    // In place of entries: a pipe, where a reader would wait, links to other places, and large
    // files.
    for (size_t i = 0; i < 6; ++i)
        fs::remove(entries[i]);
    REQUIRE(mkfifo(entries[0].c_str(), 0600) == 0);
    fs::create_symlink("/etc/passwd", entries[1]);
    fs::create_symlink(tool.path / "outside/file", entries[2]);
    fs::create_directory(entries[3]);
    for (const size_t i : {size_t(4), size_t(5)}) {
        writeFile(entries[i], "");
        fs::resize_file(entries[i], i == 4 ? uint64_t(10) << 30 : 127 << 20);
    }
    // In place of a folder of entries: a link to a folder with files of such names.
    const fs::path part = entries.back().parent_path();
    fs::rename(part, tool.path / "outside/part");
    fs::create_directory_symlink(tool.path / "outside/part", part);
    setAge(tool.path / "outside/part" / entries.back().filename(), 1000000);
    // There are also old files with names that are not those of entries.
    const fs::path folder = entries[6].parent_path();
    const std::string foreign[] = {".tmp-",
                                   ".tmp-12345",
                                   ".tmp-1234567",
                                   ".tmp-1234.6",
                                   ".tmp-123456.txt",
                                   "notes",
                                   name + "x",
                                   name.substr(1),
                                   name.substr(0, 62) + "z",
                                   "A" + name.substr(1)};
    for (const std::string& one : foreign) {
        writeFile(folder / one, "mine");
        setAge(folder / one, 1000000);
    }
    tool.write("cache/zz/" + name, "mine");
    tool.write("cache/" + name, "mine");
    for (const char* out : {"1.sluice", "2.sluice"}) {
        REQUIRE(tool("--version >&2; ulimit -v 1000000; timeout 60 \"$SLUICE\" " + pack + out) ==
                0);
        CHECK(tool.read(out) == good);
    }
    REQUIRE(tool("cache info cache") == 0);
    REQUIRE(tool("cache trim cache --cache-size 0") == 0);
    CHECK(fs::is_fifo(entries[0]));
    CHECK(fs::is_symlink(entries[1]));
    CHECK(fs::is_symlink(entries[2]));
    CHECK(tool.read("outside/file") == "mine");
    CHECK(fs::is_directory(entries[3]));
    CHECK(fs::is_symlink(part));
    CHECK(fs::exists(tool.path / "outside/part" / entries.back().filename()));
    for (const std::string& one : foreign)
        CHECK_MESSAGE(fs::exists(folder / one), one);
    CHECK(tool.has("cache/zz/" + name));
    CHECK(tool.has("cache/" + name));
    CHECK_FALSE(fs::exists(entries[6]));
    // The file that marks the folder as a cache may be anything, too.
    fs::create_directory(tool.path / "other");
    REQUIRE(mkfifo((tool.path / "other/CACHEDIR.TAG").c_str(), 0600) == 0);
    CHECK(tool(pack + "x.sluice --cache other") == 1);
    CHECK(tool("cache trim other --cache-size 0") == 1);
}

} // namespace sluice::test
