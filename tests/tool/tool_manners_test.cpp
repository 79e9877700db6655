// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the sluice command as people use it: what pack leaves out, parts of archives, damage that
// does not end everything, terminals, typing errors.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/archive_layout.h"
#include "tests/tool/tool_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// A terminal to which the tool can write.
class Terminal {
public:
    explicit Terminal(unsigned short columns)
    {
        m_descriptor = posix_openpt(O_RDWR | O_NOCTTY);
        REQUIRE(m_descriptor >= 0);
        REQUIRE(grantpt(m_descriptor) == 0);
        REQUIRE(unlockpt(m_descriptor) == 0);
        m_path = ptsname(m_descriptor);
        // Kept open, so that what the tool wrote remains.
        m_tool = open(m_path.c_str(), O_RDWR | O_NOCTTY);
        REQUIRE(m_tool >= 0);
        struct winsize window = {};
        window.ws_row = 24;
        window.ws_col = columns;
        REQUIRE(ioctl(m_tool, TIOCSWINSZ, &window) == 0);
        fcntl(m_descriptor, F_SETFL, O_NONBLOCK);
    }
    ~Terminal()
    {
        close(m_tool);
        close(m_descriptor);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    const std::string& path() const { return m_path; }
    std::string read() const
    {
        std::string text;
        char buffer[4096];
        for (ssize_t size; (size = ::read(m_descriptor, buffer, sizeof(buffer))) > 0;)
            text.append(buffer, size_t(size));
        return text;
    }

private:
    int m_descriptor = -1, m_tool = -1;
    std::string m_path;
};

std::string names(const Folder& tool, const std::string& archive)
{
    REQUIRE(tool("unpack --list " + archive) == 0);
    return tool.output();
}

// Flips a bit in the stored bytes of one of an asset's tiles.
void damageTile(const Folder& tool, const std::string& archive, uint32_t asset, uint32_t tile)
{
    std::string file = tool.read(archive);
    uint8_t* bytes = reinterpret_cast<uint8_t*>(file.data());
    const uint8_t* entry = bytes + loadLe64(bytes + headerIndexOffset) + asset * assetBytes;
    const uint64_t extent = loadLe64(entry + assetOffset);
    const uint8_t* record = bytes + extent + tile * recordBytes;
    bytes[extent + loadLe64(record + recordOffset) + loadLe32(record + recordStoredSize) / 2] ^= 1;
    tool.write(archive, file);
}

} // namespace

TEST_CASE("tool manners: pack says what it leaves out, and does not pack its own output")
{
    if (isWindowsTool("Wine shows links and pipes of Linux as files")) return;
    Tool tool;
    fs::create_directories(tool.path / "a/nothing");
    fs::create_symlink("one.txt", tool.path / "a/link");
    REQUIRE(mkfifo((tool.path / "a/fifo").c_str(), 0600) == 0);
    CHECK(tool("pack -o a/x.sluice a") == 0);
    CHECK(contains(tool.errors(), "left out: 1 link, 1 special file, 1 empty folder"));
    CHECK_FALSE(contains(tool.errors(), "archive itself"));
    const std::string first = tool.read("a/x.sluice");
    CHECK(tool("pack -f -v -o a/x.sluice a") == 0);
    CHECK(contains(tool.errors(), "the archive itself"));
    for (const char* line : {"a/link (a link)", "a/fifo (no regular file)",
                             "a/nothing (an empty folder)", "a/x.sluice (the archive itself)"})
        CHECK_MESSAGE(contains(tool.errors(), line), line);
    CHECK(tool.read("a/x.sluice") == first);
    CHECK(tool("pack -q -f -o a/x.sluice a") == 0);
    CHECK(tool.errors() == "");
    CHECK(tool("pack -o - a >a/y.sluice") == 0); // the shell has made the file before the tool runs
    CHECK(names(tool, "a/y.sluice") == "a/empty\na/one.txt\na/sub/two.bin\na/x.sluice\n");
}

TEST_CASE("tool manners: --exclude and --dry-run")
{
    Tool tool;
    tool.write("a/sub/three.txt", "three");
    tool.write("a/sub/deep/four.txt", "four");
    const auto packed = [&](const std::string& globs) {
        CHECK(tool("pack --dry-run -o x.sluice a " + globs) == 0);
        const std::string listed = tool.output();
        CHECK_FALSE(tool.has("x.sluice"));
        CHECK(tool("pack -f -o y.sluice a " + globs) == 0);
        CHECK(names(tool, "y.sluice") == listed);
        return listed;
    };
    CHECK(packed("") ==
          "a/empty\na/one.txt\na/sub/deep/four.txt\na/sub/three.txt\na/sub/two.bin\n");
    CHECK(packed("--exclude '*.txt'") == "a/empty\na/sub/two.bin\n");
    CHECK(packed("--exclude 'a/*.txt'") ==
          "a/empty\na/sub/deep/four.txt\na/sub/three.txt\na/sub/two.bin\n");
    CHECK(packed("--exclude 'a/**.txt' --exclude emp?y") == "a/sub/two.bin\n");
    CHECK(packed("--exclude sub") == "a/empty\na/one.txt\n");
    CHECK(packed("--exclude '**/deep'") == "a/empty\na/one.txt\na/sub/three.txt\na/sub/two.bin\n");
    CHECK(tool("pack --dry-run -o x.sluice a --exclude deep") == 0);
    CHECK(contains(tool.errors(), "left out: 1 name excluded"));
    // a/sub/deep/four.txt does not match.
    CHECK(tool("pack -f -o y.sluice a --exclude 'a/*/four.txt'") == 1);
    const std::string stars(300, '*'); // no glob may take long
    CHECK(tool("pack -f -o z.sluice a --exclude '" + stars + "a" + stars + "b" + stars + "/'") ==
          1);
    CHECK(tool("pack --raw --exclude x -o r a/one.txt") == 1);
}

TEST_CASE("tool manners: files stay executable")
{
    if (isWindowsTool("files of Windows have no mode")) return;
    Tool tool;
    const auto mode = [&](const std::string& name) {
        struct stat information = {};
        REQUIRE(stat((tool.path / name).c_str(), &information) == 0);
        return uint32_t(information.st_mode & 0777);
    };
    fs::permissions(tool.path / "a/one.txt", fs::perms(0755));
    tool.write("a/photo.tga", picture()); // it has filters among its parameters
    fs::permissions(tool.path / "a/photo.tga", fs::perms(0700));
    fs::permissions(tool.path / "a/sub/two.bin", fs::perms(0644));
    for (const char* codec : {"gstd", "store"}) {
        CHECK(tool(std::string("pack -f -o x.sluice a -c ") + codec) == 0);
        tool.environment = "umask 027;";
        CHECK(tool.onCpu("unpack -f x.sluice -C o") == 0);
        tool.environment.clear();
        tool.checkSame("o");
        CHECK(mode("o/a/one.txt") == 0750);
        CHECK(mode("o/a/photo.tga") == 0750);
        CHECK(mode("o/a/sub/two.bin") == 0640);
        CHECK(mode("o/a/empty") == 0640);
    }
    REQUIRE(tool("info --json x.sluice") == 0);
    CHECK(contains(tool.output(), "\"name\": \"a/one.txt\", \"type\": 0, \"tileSize\": 65536, "
                                  "\"executable\": true"));
}

TEST_CASE("tool manners: parts of an archive")
{
    Tool tool;
    REQUIRE(tool("pack -o x.sluice a") == 0);
    CHECK(names(tool, "x.sluice") == "a/empty\na/one.txt\na/sub/two.bin\n");
    CHECK(names(tool, "x.sluice a/sub/") == "a/sub/two.bin\n");
    CHECK(names(tool, "x.sluice --only '*.txt' a/sub") == "a/one.txt\na/sub/two.bin\n");
    CHECK(names(tool, "x.sluice --only 'a/*'") == "a/empty\na/one.txt\n");
    CHECK(tool("unpack --list -v x.sluice a/one.txt") == 0);
    CHECK(tool.output() == "        100003 a/one.txt\n");
    CHECK(tool.onCpu("unpack x.sluice a/sub -C o") == 0);
    CHECK(tool.read("o/a/sub/two.bin") == tool.read("a/sub/two.bin"));
    CHECK_FALSE(tool.has("o/a/one.txt"));
    // -o is for one asset, and this is one.
    CHECK(tool.onCpu("unpack x.sluice a/one.txt -o -") == 0);
    CHECK(tool.output() == tool.read("a/one.txt"));
    CHECK(tool.onCpu("verify x.sluice a/one.txt") == 0);
    CHECK(contains(tool.output(), "ok, 1 assets"));
    for (const char* wrong : {"a/on", "a/one.txt/", "b", "a/sub/two.bin2", "--only '*.bmp'"}) {
        const bool isName = std::string(wrong) == "a/one.txt/"; // a slash at the end does no harm
        CHECK_MESSAGE(tool.onCpu(std::string("unpack x.sluice -C p ") + wrong) == (isName ? 0 : 1),
                      wrong);
    }
    REQUIRE(tool("pack --raw -o s.gdeflate a/one.txt") == 0);
    CHECK(tool.onCpu("unpack s.gdeflate one.txt") == 1);
}

TEST_CASE("tool manners: --keep-going names all that is wrong")
{
    Tool tool;
    tool.write("a/three.txt", noise(200001).substr(1)); // no tile is equal to one of two.bin
    // The assets are empty, one.txt, sub/two.bin and three.txt.
    REQUIRE(tool("pack -c gdeflate -o x.sluice a") == 0);
    REQUIRE(names(tool, "x.sluice") == "a/empty\na/one.txt\na/sub/two.bin\na/three.txt\n");
    damageTile(tool, "x.sluice", 2, 0);
    damageTile(tool, "x.sluice", 3, 1);
    damageTile(tool, "x.sluice", 3, 3);
    CHECK(tool.onCpu("verify x.sluice") == 3);
    CHECK(contains(tool.errors(), "asset 'a/sub/two.bin', tile 0, bytes "));
    CHECK_FALSE(contains(tool.errors(), "a/three.txt"));
    CHECK(tool.onCpu("verify --keep-going x.sluice") == 3);
    for (const char* line : {"'a/sub/two.bin', tile 0,", "'a/three.txt', tile 1,",
                             "'a/three.txt', tile 3,", "2 of 4 assets are not right"})
        CHECK_MESSAGE(contains(tool.errors(), line), line);
    CHECK_FALSE(contains(tool.errors(), "tile 2"));
    CHECK(tool.onCpu("unpack --keep-going x.sluice -C o") == 3);
    CHECK(tool.read("o/a/one.txt") == tool.read("a/one.txt"));
    CHECK(tool.read("o/a/empty").empty());
    CHECK_FALSE(tool.has("o/a/sub/two.bin"));
    CHECK_FALSE(tool.has("o/a/three.txt"));
    CHECK_FALSE(tool.hasTemporaries());

    // Tile records with a wrong checksum: the asset is skipped, but not those around it.
    std::string file = tool.read("x.sluice");
    uint8_t* bytes = reinterpret_cast<uint8_t*>(file.data());
    const uint8_t* entry = bytes + loadLe64(bytes + headerIndexOffset) + assetBytes;
    bytes[loadLe64(entry + assetOffset) + recordChecksum] ^= 1;
    tool.write("x.sluice", file);
    CHECK(tool.onCpu("verify --keep-going x.sluice") == 3);
    CHECK(contains(tool.errors(), "'a/one.txt': tile records, from byte "));
    CHECK(contains(tool.errors(), "3 of 4 assets are not right"));

    // It also names assets that differ from their files, or have none.
    REQUIRE(tool("pack -o y.sluice a") == 0);
    tool.write("a/one.txt", std::string(100003, 'y'));
    fs::remove(tool.path / "a/three.txt");
    CHECK(tool.onCpu("verify --compare . y.sluice") == 3);
    CHECK(tool.onCpu("verify --compare . --keep-going y.sluice") == 3);
    CHECK(contains(tool.errors(), "one.txt: differs at byte 0"));
    CHECK(contains(tool.errors(), "three.txt"));
    CHECK(contains(tool.errors(), "2 of 4 assets are not right"));
}

TEST_CASE("tool manners: info sorts and adds up")
{
    Tool tool;
    tool.write("a/more.BIN", noise(1000));
    REQUIRE(tool("pack -o x.sluice a") == 0);
    const auto order = [&](const std::string& arguments) {
        REQUIRE(tool("info x.sluice --json " + arguments) == 0);
        const std::string json = tool.output();
        std::string found;
        for (size_t at = 0; (at = json.find("\"name\": \"a/", at)) != std::string::npos; ++at)
            found += json[at + 11];
        return found;
    };
    CHECK(order("") == "emos");
    CHECK(order("--sort name") == "emos");
    CHECK(order("--sort size").substr(0, 2) == "sm");
    CHECK(order("--sort ratio").substr(0, 1) != "o");
    CHECK(contains(tool.output(), "\"schemaVersion\": 1"));
    CHECK(contains(tool.output(), "{\"type\": \"bin\", \"files\": 2, \"size\": 71000, "));
    REQUIRE(tool("info x.sluice") == 0);
    CHECK(contains(tool.output(), " %  "));
    CHECK(contains(tool.output(), "  bin\n"));
    CHECK(tool("info x.sluice --sort age") == 1);
}

TEST_CASE("tool manners: terminals")
{
    if (isWindowsTool("Wine shows a terminal of Linux as a console of its own drawing")) return;
    Tool tool;
    const Terminal wide(200), narrow(24);
    CHECK(tool("pack -o - a >" + wide.path()) == 1);
    CHECK(contains(tool.errors(), "terminal"));
    CHECK(wide.read().empty());
    tool.environment = "exec 9>'" + narrow.path() + "';";
    tool.write("b/long", std::string(1 << 20, 'q') + noise(4 << 20));
    CHECK(tool("pack -j 1 -l 12 -o x.sluice b 2>&9") == 0);
    const std::string shown = narrow.read();
    // There is one line of progress at a time. None is as wide as the terminal, and the summary
    // comes last.
    size_t lines = 0;
    for (size_t at = 0, end; (at = shown.find("\r\033[K", at)) != std::string::npos; at = end) {
        end = shown.find('\r', at + 4);
        const std::string line = shown.substr(at + 4, end - at - 4);
        if (line.rfind("packing", 0) != 0) continue;
        CHECK_MESSAGE(line.size() < 24, line);
        ++lines;
    }
    CHECK(lines > 0);
    CHECK(contains(shown, "1 file, 5.24 MB, "));
    CHECK(tool("pack -f -q -o x.sluice a 2>&9") == 0);
    CHECK(narrow.read().empty());
    CHECK(tool("bench --device cpu --filter copy,reduce 2>&9") == 0);
    const std::string measured = narrow.read();
    CHECK(contains(measured, "\r\033[Kmeasuring reduce: sum "));
    for (size_t at = 0, end; (at = measured.find("\r\033[K", at)) != std::string::npos; at = end) {
        end = std::min(measured.find('\r', at + 4), measured.size());
        CHECK(end - at - 4 < 24);
    }
    CHECK(measured.substr(measured.size() - 4) == "\r\033[K"); // the line is empty at the end
    CHECK(tool("selftest --device cpu --tier fast 2>&9") == 0);
    CHECK(contains(narrow.read(), "\r\033[Ktesting cpu fast: scan,"));
    // Help is as wide as the terminal, unless COLUMNS says otherwise.
    const Terminal page(60);
    for (const char* columns : {"", "50"}) {
        tool.environment = std::string("export COLUMNS=") + columns + ";";
        CHECK(tool("pack --help >" + page.path()) == 0);
        std::istringstream help(page.read());
        size_t longest = 0;
        for (std::string line; std::getline(help, line);)
            longest = std::max(longest, line.size() - (line.back() == '\r' ? 1 : 0));
        CHECK(longest <= (*columns == 0 ? 60 : 50));
        CHECK(longest > (*columns == 0 ? 50 : 40));
    }
}

TEST_CASE("tool manners: summary, long options, typing errors")
{
    Tool tool;
    CHECK(tool("pack --verbose -o x.sluice a") == 0);
    CHECK(contains(tool.errors(), "3 files, 170 kB, "));
    CHECK(contains(tool.errors(), " %, "));
    CHECK(tool("pack --force --quiet -o x.sluice a") == 0);
    CHECK(tool("pack -o x.sluice a") == 2);
    CHECK(tool.onCpu("unpack -v x.sluice -C o") == 0);
    CHECK(contains(tool.errors(), "3 files, 170 kB, "));
    CHECK(contains(tool.errors(), "host ms"));
    CHECK_FALSE(contains(tool.errors(), "GPU ms"));
    CHECK(tool("pakc -o y.sluice a") == 1);
    CHECK(contains(tool.errors(), "did you mean 'pack'?"));
    CHECK(tool("pack --exlude=x -o y.sluice a") == 1);
    CHECK(contains(tool.errors(), "no option '--exlude' (did you mean '--exclude'?)"));
    const auto says = [&](const std::string& arguments, const std::string& message) {
        CHECK(tool(arguments) == 1);
        CHECK(tool.errors() == "sluice: " + message + "\n");
    };
    says("", "the line has no command; see sluice --help");
    says("x x.sluice", "there is no command 'x' (did you mean 'unpack'?); see sluice --help");
    says("-q list a",
         "there is no command 'list' (did you mean 'unpack --list'?); see sluice --help");
    says("pack -c gsdt -o y.sluice a",
         "--codec: gsdt not in {gstd,zstd,gdeflate,float,huff,store,df11,ecf8} (did you mean "
         "'gstd'?); "
         "see sluice pack --help");
    CHECK(tool("pack --codec store --threads 2 --output long.sluice a") == 0);
    CHECK(tool("pack -c store -j 2 -o short.sluice a") == 0);
    CHECK(tool.read("long.sluice") == tool.read("short.sluice"));
    CHECK(tool.onCpu("unpack long.sluice --directory long --threads 1") == 0);
    tool.checkSame("long");
    CHECK(tool("pack --zzzzzzzzz -o y.sluice a") == 1);
    CHECK_FALSE(contains(tool.errors(), "did you mean"));
}

TEST_CASE("tool manners: auto says what it took where that is no GPU")
{
    Tool tool;
    tool.environment = "export ASAN_OPTIONS=detect_leaks=0;"; // drivers have leaks
    REQUIRE(tool("pack -o x.sluice a") == 0);
    REQUIRE(tool("verify -v x.sluice") == 0);
    const bool isHost = contains(tool.output(), "host ms");
    CHECK(contains(tool.errors(), "there is no GPU") == isHost);
    REQUIRE(tool("verify -q x.sluice") == 0);
    CHECK(tool.errors() == "");
    REQUIRE(tool("verify x.sluice --device cpu") == 0); // the user asked for it
    CHECK_FALSE(contains(tool.errors(), "there is no GPU"));
}
