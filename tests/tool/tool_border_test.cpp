// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests where the tool meets the system: outputs that are also inputs, links, devices and
// descriptors, modes of files that are replaced, closed standard descriptors, signals, and files
// that other runs have left.
#include <atomic>
#include <thread>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tool/tool_run.h"
#include "tools/common/files.h"

using namespace sluice;
using namespace sluice::test;

namespace {

uint32_t modeOf(const fs::path& path)
{
    struct stat facts = {};
    REQUIRE(stat(path.c_str(), &facts) == 0);
    return uint32_t(facts.st_mode & 0777);
}

// Says what a file system cannot do: `call` fails if its argument of this number has these bits.
struct Lacks {
    uint32_t call, argument, bits;
};
constexpr Lacks kNothing = {0, 0, 0};
constexpr Lacks kUnnamedFiles = {__NR_openat, 2, O_TMPFILE & ~O_DIRECTORY};
constexpr Lacks kLinksOfUnnamed = {__NR_linkat, 4, AT_SYMLINK_FOLLOW};
constexpr Lacks kRenamesThatKeep = {__NR_renameat2, 4, 1};

// Runs the tool on a file system that cannot do something. Returns the exit code.
int runLacking(const Folder& tool, const Lacks& lacks, const std::string& arguments)
{
    if (lacks.bits == 0) return tool(arguments);
    const uint32_t offset = uint32_t(offsetof(seccomp_data, args)) + 8 * lacks.argument;
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, uint32_t(offsetof(seccomp_data, nr))),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, lacks.call, 0, 3),
        // The lower half of the argument, on little-endian machines.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, lacks.bits, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter = {std::size(program), program};
    const pid_t child = fork();
    if (child == 0) {
        const bool isSet = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
        _exit(isSet ? tool(arguments) : 99);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) != 99);
    return WEXITSTATUS(status);
}

} // namespace

TEST_CASE("tool border: an output that is an input is refused, whatever its name")
{
    if (isWindowsTool("links of POSIX")) return;
    Tool tool;
    REQUIRE(tool("pack -o old.sluice a") == 0);
    REQUIRE(tool("pack -o new.sluice a --level 1") == 0);
    REQUIRE(tool("diff old.sluice new.sluice -o p.patch") == 0);
    REQUIRE(tool("pack --raw -c gdeflate -o raw.gdeflate a/one.txt") == 0);
    struct Line {
        const char *input, *arguments;
    };
    const Line lines[] = {{"a/one.txt", "pack -f -o OUT a/one.txt"},
                          {"a/one.txt", "pack --raw -c gdeflate -f -o OUT a/one.txt"},
                          {"a/one.txt", "pack -f -o OUT a"},
                          {"a/one.txt", "pack -f -o z --order OUT a/sub --emit-ninja OUT"},
                          {"old.sluice", "pack -f -o OUT --against old.sluice a"},
                          {"old.sluice", "info -f --html OUT old.sluice"},
                          {"old.sluice", "diff -f old.sluice new.sluice -o OUT"},
                          {"new.sluice", "diff -f old.sluice new.sluice -o OUT"},
                          {"p.patch", "patch -f old.sluice p.patch -o OUT"},
                          {"old.sluice", "unpack -f old.sluice a/one.txt -o OUT"},
                          {"raw.gdeflate", "unpack -f raw.gdeflate -o OUT"},
                          {"a/one.txt", "bench --filter scan --input a/one.txt -f --json OUT"},
                          {"a/one.txt", "bench --filter scan --input a/one.txt -f --html OUT"}};
    for (const Line& line : lines) {
        const std::string content = tool.read(line.input);
        fs::create_hard_link(tool.path / line.input, tool.path / "hard");
        fs::create_symlink(line.input, tool.path / "soft");
        for (const std::string& name : {std::string(line.input), std::string("./") + line.input,
                                        std::string("hard"), std::string("soft")}) {
            std::string arguments = line.arguments;
            for (size_t at; (at = arguments.find("OUT")) != std::string::npos;)
                arguments.replace(at, 3, name);
            INFO(arguments);
            CHECK(tool(arguments) == 2);
            CHECK(contains(tool.errors(), "would be lost"));
            CHECK(tool.read(line.input) == content);
        }
        fs::remove(tool.path / "hard");
        fs::remove(tool.path / "soft");
    }
    // A build file may not replace a file that is found while a folder is walked.
    fs::create_hard_link(tool.path / "a/one.txt", tool.path / "hard");
    CHECK(tool("pack -f -o z a --emit-ninja hard") == 2);
    CHECK(contains(tool.errors(), "would be lost"));
    CHECK(tool.read("hard") == tool.read("a/one.txt"));
    fs::remove(tool.path / "hard");
    CHECK(!tool.hasTemporaries());
    // An archive that an earlier run left in the packed folder is replaced, and is not packed.
    REQUIRE(tool("pack -o a/x.sluice a") == 0);
    CHECK(tool("pack -f -o a/x.sluice a") == 0);
    REQUIRE(tool("unpack --list a/x.sluice") == 0);
    CHECK(!contains(tool.output(), "x.sluice"));
    // patch may replace its input OLD.
    CHECK(tool("patch -f old.sluice p.patch -o old.sluice") == 0);
    CHECK(tool.read("old.sluice") == tool.read("new.sluice"));
}

TEST_CASE("tool border: what is replaced keeps its mode, and a link stays a link")
{
    if (isWindowsTool("files of Windows have no mode")) return;
    Tool tool;
    for (const uint32_t mode : {0600u, 0640u, 0666u}) {
        tool.write("x.sluice", "x");
        fs::permissions(tool.path / "x.sluice", fs::perms(mode));
        CHECK(tool("pack -f -o x.sluice a") == 0);
        CHECK(modeOf(tool.path / "x.sluice") == mode);
    }
    fs::create_directories(tool.path / "b");
    fs::create_symlink("../x.sluice", tool.path / "b/first"); // a link that another link leads to
    fs::create_symlink("b/first", tool.path / "link");
    CHECK(tool("pack -o link a/sub") == 2);
    CHECK(tool("pack -f -o link a/sub") == 0);
    CHECK(fs::is_symlink(tool.path / "link"));
    CHECK(fs::is_symlink(tool.path / "b/first"));
    CHECK(tool("unpack --list x.sluice") == 0);
    CHECK(tool.output() == "sub/two.bin\n");
    fs::create_symlink("not-yet", tool.path / "dangling");
    CHECK(tool("pack -f -o dangling a/sub") == 0);
    CHECK(tool.read("not-yet") == tool.read("x.sluice"));
}

TEST_CASE("tool border: devices, pipes and descriptors are written to")
{
    if (isWindowsTool("devices of POSIX")) return;
    Tool tool;
    REQUIRE(tool("pack -o x.sluice a") == 0);
    const std::string archive = tool.read("x.sluice");
    REQUIRE(mkfifo((tool.path / "pipe").c_str(), 0600) == 0);
    fs::create_symlink("/proc/self/fd/1", tool.path / "link");
    CHECK(tool("pack -o /dev/null a") == 0);
    CHECK(tool("pack -f -o /dev/null a") == 0);
    CHECK(!fs::is_regular_file("/dev/null"));
    for (const char* output : {"/dev/fd/1", "/dev/stdout", "/proc/thread-self/fd/1", "link"}) {
        INFO(output);
        CHECK(tool(std::string("pack -o ") + output + " a") == 0);
        CHECK(tool.output() == archive);
    }
    CHECK(tool(after("(cat pipe >got)& \"$SLUICE\" pack -f -o pipe a; wait")) == 0);
    CHECK(tool.read("got") == archive);
    CHECK(tool("pack -o /dev/fd/3 a 3>got3") == 0);
    CHECK(tool.read("got3") == archive);
    CHECK(!tool.hasTemporaries());
}

TEST_CASE("tool border: closed standard descriptors take no message into a file")
{
    if (isWindowsTool("descriptors of POSIX")) return;
    Tool tool;
    REQUIRE(tool("pack -o good.sluice a") == 0);
    const std::string archive = tool.read("good.sluice");
    for (const char* closed : {"<&- 2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-", "2>&-"}) {
        INFO(closed);
        CHECK(tool(std::string("pack -v -f -o x.sluice a ") + closed) == 0);
        CHECK(tool.read("x.sluice") == archive);
    }
    for (const char* arguments : {"pack -o - a", "unpack --list good.sluice", "info good.sluice",
                                  "unpack good.sluice a/one.txt -o - --device cpu"}) {
        INFO(arguments);
        CHECK(tool(std::string(arguments) + " >&-") == 2);
    }
    CHECK(tool("pack --raw -c gdeflate -o r - <&-") == 2);
}

TEST_CASE("tool border: signals leave nothing behind, and what was left is not packed")
{
    if (isWindowsTool("signals of POSIX")) return;
    Tool tool;
    tool.write("large", noise(3 << 20));
    // A limit for the size of files ends the process by SIGXFSZ while it writes.
    CHECK(tool(after("(ulimit -f 100; \"$SLUICE\" pack -q -o x.sluice large)")) != 0);
    CHECK(!tool.hasTemporaries());
    CHECK(!tool.has("x.sluice"));
    tool.write("a/.sluice-0123abcd", "what a killed run left");
    tool.write("a/.sluice-notes", "an asset");
    CHECK(tool("pack -v -o x.sluice a") == 0);
    CHECK(contains(tool.errors(), "a/.sluice-0123abcd"));
    REQUIRE(tool("unpack --list x.sluice") == 0);
    CHECK(tool.output() == "a/.sluice-notes\na/empty\na/one.txt\na/sub/two.bin\n");
}

TEST_CASE("tool border: a glob or a line of a list that matches nothing is refused")
{
    Tool tool;
    const auto refuses = [&](const std::string& arguments, const char* message) {
        CAPTURE(arguments);
        CHECK(tool(arguments) == 1);
        CHECK(contains(tool.errors(), message));
        CHECK(!tool.has("x.sluice"));
    };
    tool.write("list", "a/one.txt\n\na/nowhere\nb\n");
    tool.write("r.toml", "[[rule]]\nfiles = [\"*.txt\", \"*.tga\"]\nlevel = 1\n");
    refuses("pack -o x.sluice a --exclude '*.tga'", "--exclude: no name matches '*.tga'");
    refuses("pack -o x.sluice a --exclude sub --exclude 'a/sub/no*'", "matches 'a/sub/no*'");
    refuses("pack -o x.sluice a --exclude one.txt/", "matches 'one.txt/'");
    refuses("pack -o x.sluice a --order list",
            "list:3: no name matches 'a/nowhere'; 2 lines match none");
    refuses("pack -o x.sluice a --rules r.toml", "r.toml:1: no name matches '*.tga'");
    refuses("pack --dry-run -o x.sluice a --rules r.toml", "matches '*.tga'");
    REQUIRE(tool("pack -o good.sluice a") == 0);
    refuses("unpack good.sluice -C o --only '*.tga'", "good.sluice: no name matches '*.tga'");
    refuses("verify good.sluice --device cpu --only one.txt/", "no name matches 'one.txt/'");
    CHECK(!tool.has("o"));
    // A name that another glob leaves out still counts as matched. Folders can be written in
    // several ways.
    for (const char* globs : {"--exclude sub --exclude 'a/sub/two.*'", "--exclude a/sub/",
                              "--exclude ./a/sub", "--exclude ././sub//", "--exclude './*/su?/'"}) {
        INFO(globs);
        CHECK(tool(std::string("pack --dry-run a ") + globs) == 0);
        CHECK(tool.output() == "a/empty\na/one.txt\n");
    }
    for (const char* names : {"--only a/sub/", "--only ./a/sub/", "--only sub/", "--only './**/'",
                              "./a/sub/", "--only './a/sub/*'"}) {
        INFO(names);
        CHECK(tool(std::string("unpack --list good.sluice ") + names) == 0);
        CHECK(contains(tool.output(), "a/sub/two.bin\n"));
        CHECK(contains(tool.output(), "a/one.txt") == contains(names, "**"));
    }
}

TEST_CASE("tool border: a cache has the modes of the umask, with many threads too")
{
    if (isWindowsTool("files of Windows have no mode")) return;
    Tool tool;
    fs::create_directories(tool.path / "in");
    for (int i = 0; i < 1000; ++i)
        tool.write("in/" + std::to_string(i), "x" + std::to_string(i) + noise(40));
    const std::pair<const char*, uint32_t> masks[] = {{"022", 0644}, {"077", 0600}, {"002", 0664}};
    for (const auto& [mask, mode] : masks) {
        tool.environment = std::string("umask ") + mask + ";";
        const std::string cache = std::string("cache") + mask;
        REQUIRE(tool("pack -f -q -l 1 -j 16 --no-share --filters none -o x.sluice --cache " +
                     cache + " in") == 0);
        for (const auto& entry : fs::recursive_directory_iterator(tool.path / cache)) {
            const uint32_t right = entry.is_directory() ? mode | (mode & 0444) >> 2 : mode;
            REQUIRE(modeOf(entry.path()) == right);
        }
    }
}

TEST_CASE("tool border: of two who make the same file one fails")
{
    Tool tool;
    const std::string path = (tool.path / "x").string();
    for (int turn = 0; turn < 50; ++turn) {
        std::atomic<int> ready = 0, made = 0, refused = 0, content = 0;
        std::vector<std::thread> threads;
        for (int i = 1; i <= 4; ++i)
            threads.emplace_back([&, i] {
                OutputFile file(path, false);
                file.write(0, std::string(i, char('0' + i)).data(), size_t(i));
                for (++ready; ready != 4;)
                    std::this_thread::yield();
                try {
                    file.commit();
                    ++made;
                    content = i;
                } catch (const Failure& failure) {
                    if (failure.code == exitIo && contains(failure.text, "exists; -f")) ++refused;
                }
            });
        for (std::thread& thread : threads)
            thread.join();
        REQUIRE(made == 1);
        REQUIRE(refused == 3);
        REQUIRE(tool.read("x") == std::string(size_t(content), char('0' + content)));
        fs::remove(path);
    }
    CHECK(!tool.hasTemporaries());
    if (isWindowsTool("the commands are those of a POSIX shell")) return;
    tool.write("large", noise(1 << 20));
    const char* const run = "(\"$SLUICE\" pack -q -l 1 -o x.sluice large; echo $? >>codes) & ";
    CHECK(tool(after(std::string(run) + run + "wait")) == 0);
    const std::string codes = tool.read("codes");
    CHECK((codes == "0\n2\n" || codes == "2\n0\n"));
    CHECK(tool.onCpu("verify x.sluice --compare .") == 0);
    CHECK(!tool.hasTemporaries());
}

TEST_CASE("tool border: outputs are whole on every file system")
{
    if (isWindowsTool("calls of Linux")) return;
    if (kEmulated) return skipCase("the emulator makes calls of its own");
    for (const Lacks& lacks : {kNothing, kUnnamedFiles, kLinksOfUnnamed, kRenamesThatKeep}) {
        CAPTURE(lacks.call);
        Tool tool;
        fs::permissions(tool.path / "a/one.txt", fs::perms(0740));
        REQUIRE(runLacking(tool, lacks, "pack -o x.sluice a") == 0);
        CHECK(runLacking(tool, lacks, "pack -o x.sluice a") == 2);
        CHECK(contains(tool.errors(), "exists; -f overwrites it"));
        fs::permissions(tool.path / "x.sluice", fs::perms(0640));
        REQUIRE(runLacking(tool, lacks, "pack -f -l 1 -o x.sluice a") == 0);
        CHECK(modeOf(tool.path / "x.sluice") == 0640);
        REQUIRE(runLacking(tool, lacks, "unpack x.sluice -C o --device cpu") == 0);
        tool.checkSame("o");
        CHECK((modeOf(tool.path / "o/a/one.txt") & 0100) != 0);
        CHECK(!tool.hasTemporaries());
    }
}

TEST_CASE("tool border: what killed runs leave is removed by the next one")
{
    if (isWindowsTool("files that are held of POSIX")) return;
    if (kEmulated) return skipCase("the emulator makes calls of its own");
    Tool tool;
    const char* const foreign[] = {".sluice-settings",  ".sluice-0123abc",   ".sluice-0123abcde",
                                   ".sluice-0123ABCD",  "x.sluice-0123abcd", ".sluice-0123abcd.txt",
                                   ".sluice-folder01/x"};
    for (const char* name : foreign)
        tool.write(name, "mine");
    tool.write(".sluice-0123abcd", "of a run that was killed");
    tool.write(".sluice-held0001", "of a run that goes on");
    fs::create_symlink("a/one.txt", tool.path / ".sluice-link0001");
    REQUIRE(mkfifo((tool.path / ".sluice-pipe0001").c_str(), 0600) == 0);
    const int held = open((tool.path / ".sluice-held0001").c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(flock(held, LOCK_EX) == 0);
    REQUIRE(tool("pack -o x.sluice a") == 0);
    CHECK(!tool.has(".sluice-0123abcd"));
    CHECK(tool.has(".sluice-held0001"));
    CHECK(tool.has(".sluice-pipe0001"));
    CHECK(fs::is_symlink(tool.path / ".sluice-link0001"));
    for (const char* name : foreign)
        CHECK(tool.has(name));
    close(held);
    REQUIRE(tool("unpack x.sluice a/one.txt -o y --device cpu") == 0);
    CHECK(!tool.has(".sluice-held0001"));
}

TEST_CASE("tool border: runs that are killed leave nothing to the next one")
{
    if (isWindowsTool("signals of POSIX")) return;
    if (kEmulated) return skipCase("the emulator makes calls of its own");
    std::mt19937 random(7);
    for (const Lacks& lacks : {kNothing, kUnnamedFiles, kLinksOfUnnamed}) {
        CAPTURE(lacks.call);
        Tool tool;
        tool.write("in/large", noise(1 << 20));
        for (int turn = 0; turn < 15; ++turn) {
            const std::string line =
                "\"$SLUICE\" pack -q -f -l 1 -j 1 --cache cache -o in/x.sluice in & sleep 0.0" +
                std::to_string(random() % 50) + "; kill -9 $!; wait";
            runLacking(tool, lacks, after(line));
        }
        CHECK(runLacking(tool, lacks, "pack -q -f -l 1 --cache cache -o in/x.sluice in") == 0);
        CHECK(!tool.hasTemporaries());
        REQUIRE(tool("unpack --list in/x.sluice") == 0);
        CHECK(tool.output() == "in/large\n");
        CHECK(tool.onCpu("verify in/x.sluice --compare .") == 0);
    }
}

TEST_CASE("tool border: every signal that ends a process removes what it wrote")
{
    if (isWindowsTool("signals of POSIX")) return;
    if (kEmulated) return skipCase("the emulator makes calls of its own");
    const Folder tool;
    tool.write("in/large", noise(4 << 20));
    // The shell lets what runs beside it ignore SIGINT and SIGQUIT.
    for (const int signal :
         {SIGTERM, SIGHUP, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF,
          SIGIO, SIGPWR, SIGSTKFLT, SIGRTMIN, SIGRTMIN + 5, SIGRTMAX}) {
        CAPTURE(signal);
        const std::string number = std::to_string(signal);
        const std::string line = "(exec \"$SLUICE\" pack -q -l 12 -j 1 -o x.sluice in) & p=$!; "
                                 "until ls .sluice-* 2>/dev/null; do kill -0 $p || exit 98; done; "
                                 "kill -" +
                                 number + " $p; wait $p; exit $(($? == 128 + " + number +
                                 " ? 0 : 97))";
        CHECK(runLacking(tool, kUnnamedFiles, after(line)) == 0);
        CHECK(!tool.hasTemporaries());
        CHECK(!tool.has("x.sluice"));
    }
}

TEST_CASE("tool border: names stay what they are in other languages")
{
    if (isWindowsTool("names that Windows has not")) return;
    Tool tool;
    if (tool(after("python3 --version && ninja --version")) != 0)
        return skipCase("python3 and ninja are not installed");
    const char* const names[] = {"a$b",
                                 "a b",
                                 "aa:b",
                                 "#x",
                                 "q'q",
                                 "d\"d",
                                 "amp&amp;",
                                 "<!--",
                                 "-->",
                                 "%41",
                                 ";x",
                                 "`id`",
                                 "$(id)",
                                 "*",
                                 "~",
                                 "--force",
                                 "{{x}}",
                                 "$in",
                                 "]]>",
                                 "a\xe2\x80\xa8"
                                 "b"};
    for (const char* name : names) {
        tool.write(std::string("in/<script>/") + name, name);
        tool.write(std::string("in/<") + "/script>/" + name + "/file", name);
    }
    REQUIRE(tool("pack -q -o plain.sluice in") == 0);
    // Build files: Ninja and the shell must read the names as they are.
    fs::create_directory(tool.path / "b $x");
    REQUIRE(tool("pack --exclude 'aa:?' --exclude '$(i*' --emit-ninja build.ninja --shards 2 "
                 "-o 'b $x/o:#&.sluice' in") == 0);
    REQUIRE(tool(after("ninja -f build.ninja >&2")) == 0);
    REQUIRE(tool("pack -q --exclude 'aa:?' --exclude '$(i*' -o part.sluice in") == 0);
    CHECK(tool.read("b $x/o:#&.sluice") == tool.read("part.sluice"));
    CHECK(tool(after("ninja -f build.ninja | grep -q 'no work'")) == 0);
    for (const char* refused :
         {"-o 'a|b' in", "-o x.sluice --exclude 'a\n' in", "-o x.sluice --exclude 'a\r' in"}) {
        CAPTURE(refused);
        CHECK(tool(std::string("pack --emit-ninja other.ninja ") + refused) == 1);
        CHECK(!tool.has("other.ninja"));
    }
    // The names must come through JSON and HTML.
    REQUIRE(tool("info --html page.html plain.sluice") == 0);
    REQUIRE(tool(after("\"$SLUICE\" info --json plain.sluice >info.json")) == 0);
    tool.write("check.py", R"py(import html.parser, json, os
names = sorted(os.path.join(d, f) for d, _, fs in os.walk("in") for f in fs)
info = json.load(open("info.json", encoding="utf-8"))
assert sorted(a["name"] for a in info["assets"]) == names
class Page(html.parser.HTMLParser):
    scripts, open = [], False
    def handle_starttag(self, tag, attributes):
        self.open = tag == "script"
        if self.open: self.scripts.append("")
    def handle_endtag(self, tag): self.open = False
    def handle_data(self, data):
        if self.open: self.scripts[-1] += data
page = Page()
page.feed(open("page.html", encoding="utf-8").read())
assert len(page.scripts) == 2
def walk(nodes, path):
    for node in nodes:
        if isinstance(node[1], list): yield from walk(node[1], path + node[0] + "/")
        else: yield path + node[0]
shown = sorted(walk(json.loads(page.scripts[0])["tree"], ""))
assert shown == sorted(name.replace("\u2028", "?") for name in names)
)py");
    CHECK_MESSAGE(tool(after("python3 check.py >&2")) == 0, tool.errors());
    // Names that no archive may have are refused.
    for (const char* name : {"a\nb", "a\x01", "a\\b", "a\xff", "a\x7f"}) {
        Tool other;
        other.write(std::string("in/") + name, "x");
        CHECK(other("pack -o x.sluice in") == 1);
        CHECK(contains(other.errors(), "cannot stand in an archive"));
    }
}

TEST_CASE("tool border: no list or description is too deep")
{
    Tool tool;
    const auto refuses = [&](const std::string& rules, int code) {
        tool.write("r.toml", rules);
        CHECK(tool("pack --dry-run --rules r.toml a") == code);
    };
    const auto many = [](const std::string& part, size_t count) {
        std::string text;
        while (count-- != 0)
            text += part;
        return text;
    };
    refuses("a" + many(".a", 30000) + " = 1\n", 1);
    refuses("[a" + many(".a", 30000) + "]\n", 1);
    refuses("[[a" + many(".a", 30000) + "]]\n", 1);
    refuses("a = " + many("{a=", 20000), 1);
    refuses("a = " + many("[", 60000), 1);
    refuses("a = " + many("[{a.a.a.a.a.a.a=", 3000), 1);
    refuses("# " + many(".", 1000) + "\n[[rule]]\nfiles = \"" + many("*.", 500) + "*\"\n", 1);
    CHECK(contains(tool.errors(), "no name matches"));
    std::mt19937 random(3);
    Model model;
    model.add("a.weight", "BF16", {64, 64}, random);
    tool.write("m/model.safetensors", model);
    for (const std::string& deep :
         {"{\"a\": " + many("[", 400000), "{\"a\": " + many("{\"b\":", 100000),
          "{\"a\": " + many("[", 400000) + many("]", 400000) + "}"}) {
        tool.write("m/config.json", deep);
        CHECK(tool("pack --raw -c df11 m/model.safetensors -o out.safetensors") == 3);
        CHECK(contains(tool.errors(), "is nested deeper than 64"));
    }
    tool.write("m/config.json", "{\"a\": " + many("[", 60) + many("]", 60) + "}");
    CHECK(tool("pack --raw -c df11 m/model.safetensors -o out.safetensors") == 0);
}

TEST_CASE("tool border: a stdout that takes nothing is an error in every verb")
{
    if (isWindowsTool("devices of POSIX")) return;
    Tool tool;
    REQUIRE(tool("pack -q --cache c -o x.sluice a") == 0);
    REQUIRE(tool("pack -q -l 1 -o y.sluice a") == 0);
    REQUIRE(tool("diff -q x.sluice y.sluice -o p") == 0);
    REQUIRE(tool("pack -q --shard 1/1 -o s a") == 0);
    tool.write("row", "scan.workgroups=3");
    for (const char* arguments : {"--version",
                                  "--help",
                                  "pack --help",
                                  "pack -o - a",
                                  "pack --raw -o - a/one.txt",
                                  "pack --dry-run a",
                                  "pack --explain a/one.txt a",
                                  "cache info c",
                                  "cache trim c --cache-size 1G",
                                  "join s -o -",
                                  "unpack x.sluice a/one.txt -o - --device cpu",
                                  "unpack --list x.sluice",
                                  "info x.sluice",
                                  "info --json x.sluice",
                                  "info --html - x.sluice",
                                  "verify --device cpu x.sluice",
                                  "diff x.sluice y.sluice -o -",
                                  "patch x.sluice p -o -",
                                  "devices --device cpu",
                                  "devices --json --device cpu",
                                  "selftest --device cpu --tier fast",
                                  "bench --device cpu --filter =checksum --seconds 1 --json -",
                                  "report -o - --device cpu --seconds 1",
                                  "completion bash",
                                  "man",
                                  "man pack"}) {
        INFO(arguments);
        CHECK(tool(std::string(arguments) + " >/dev/full") == 2);
        CHECK(tool(std::string(arguments) + " >&-") == 2);
        CHECK(!tool.errors().empty());
    }
    CHECK(!tool.hasTemporaries());
}

TEST_CASE("tool border: what is unpacked or written by hand replaces no input")
{
    if (isWindowsTool("links of POSIX")) return;
    Tool tool;
    tool.write("in/x.sluice", "a file that has the archive's name");
    REQUIRE(tool("pack -q -o x.sluice in") == 0);
    const std::string archive = tool.read("x.sluice");
    fs::create_directory(tool.path / "o");
    fs::create_directory(tool.path / "o/in");
    fs::create_hard_link(tool.path / "x.sluice", tool.path / "o/in/x.sluice");
    CHECK(tool("unpack -f x.sluice -C o --device cpu") == 2);
    CHECK(contains(tool.errors(), "would be lost"));
    CHECK(tool.read("x.sluice") == archive);
    tool.write("mine", "no cache of pipelines");
    CHECK(tool("devices --pipelines --cache mine") == 2);
    CHECK(contains(tool.errors(), "mine: is no cache of pipelines; -f overwrites it"));
    CHECK(tool.read("mine") == "no cache of pipelines");
    tool.write("row", "scan.workgroups=3");
    for (const char* arguments : {"unpack -f x.sluice in/x.sluice -o row --tuning @row",
                                  "bench -f --filter scan --json row --tuning @row",
                                  "bench -f --filter scan --html ./row --tuning @row"}) {
        INFO(arguments);
        CHECK(tool(arguments) == 2);
        CHECK(tool.read("row") == "scan.workgroups=3");
    }
}

TEST_CASE("tool border: what comes through a pipe is bounded")
{
    if (isWindowsTool("the commands are those of a POSIX shell")) return;
    Tool tool;
    const char* const zeros = "head -c 3000000 /dev/zero | \"$SLUICE\" ";
    for (const char* arguments :
         {"pack --raw -q -f -o x - --max-input 2999999", "unpack -q - -o x --max-input 1M",
          "info - --max-input 2M", "--max-input 1 pack -q -f --order - -o x a"}) {
        INFO(arguments);
        CHECK(tool(after(std::string(zeros) + arguments)) == 3);
        CHECK(contains(tool.errors(), "--max-input sets another"));
        CHECK(!tool.has("x"));
    }
    CHECK(tool(after(std::string(zeros) + "pack --raw -q -o x - --max-input 3000000")) == 0);
    CHECK(tool(after("head -c 600M /dev/zero | \"$SLUICE\" info -")) == 3);
    CHECK(contains(tool.errors(), "stdin: more than 536870912 bytes come through the pipe"));
    CHECK(tool("info - --max-input much") == 1);
}
