// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests how the tool talks with who types: help at the terminal's width with examples that run,
// wrong lines and the word that each message must have, sizes, and progress.
#include <algorithm>
#include <sstream>

#include "tests/tool/tool_run.h"
#include "tools/common/progress.h"

using namespace sluice::test;

namespace {

const char* const kVerbs[] = {"",     "pack",   "cache",  "join",       "transcode", "unpack",
                              "info", "verify", "diff",   "patch",      "devices",   "selftest",
                              "tune", "bench",  "report", "completion", "man"};

std::vector<std::string> linesOf(const std::string& text)
{
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

std::vector<std::string> wordsOf(const std::string& text)
{
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

std::string helpOf(Folder& tool, const std::string& verb, const char* environment)
{
    tool.environment = environment;
    CHECK(tool(verb + " --help") == 0);
    tool.environment.clear();
    return tool.output();
}

} // namespace

TEST_CASE("tool lines: help fits the width that COLUMNS says, without a broken word")
{
    Folder tool;
    for (const char* verb : kVerbs) {
        CAPTURE(verb);
        const std::string usual = helpOf(tool, verb, "unset COLUMNS;");
        for (const uint32_t columns : {40u, 60u, 80u, 120u}) {
            CAPTURE(columns);
            const std::string help =
                helpOf(tool, verb, ("export COLUMNS=" + std::to_string(columns) + ";").c_str());
            for (const std::string& line : linesOf(help))
                if (columns >= 60) CHECK_MESSAGE(line.size() <= columns, line);
            CHECK(wordsOf(help) == wordsOf(usual));
            if (columns == 80) CHECK(help == usual); // there is no terminal here
        }
        CHECK(helpOf(tool, verb, "export COLUMNS=much;") == usual);
        for (const char* part : {"Usage: sluice", "[-f] [-q] [-v]", "\nExamples:\n"})
            CHECK_MESSAGE(contains(usual, part), part);
        if (contains(usual, "-o,--output")) CHECK(contains(usual.substr(0, 300), "-o "));
        REQUIRE(tool(std::string("man ") + verb) == 0);
        for (const char* part : {".SH EXAMPLES\n", "[\\-f] [\\-q] [\\-v]"})
            CHECK_MESSAGE(contains(tool.output(), part), part);
    }
}

TEST_CASE("tool lines: help VERB is VERB --help, and -V is --version")
{
    const Folder tool;
    for (const char* verb : kVerbs) {
        REQUIRE(tool(std::string(verb) + " --help") == 0);
        const std::string help = tool.output();
        CHECK(tool(std::string("help ") + verb) == 0);
        CHECK(tool.output() == help);
    }
    CHECK(tool("-q help pack") == 0);
    CHECK(tool("help pakc") == 1);
    CHECK(contains(tool.errors(), "did you mean 'pack'?"));
    REQUIRE(tool("--version") == 0);
    const std::string version = tool.output();
    CHECK(tool("-V") == 0);
    CHECK(tool.output() == version);
}

TEST_CASE("tool lines: the two examples of every verb run")
{
    if (isWindowsTool("the lines are those of a POSIX shell")) return;
    Tool tool;
    // Without a GPU the examples take the CPU, and tune has nothing to tune.
    tool.environment = "export VK_DRIVER_FILES=/dev/null CUDA_VISIBLE_DEVICES=;";
    tool.write("assets/readme.txt", "read me");
    tool.write("assets/textures/foo.tga", picture());
    REQUIRE(tool("pack -q -o old.sluice a") == 0);
    REQUIRE(tool("pack -q --cache cache -o dlc.sluice a/one.txt") == 0);
    REQUIRE(tool("pack -q --shard 1/2 -o 1.shard assets") == 0);
    REQUIRE(tool("pack -q --shard 2/2 -o 2.shard assets") == 0);
    for (const char* name : {"data.zst", "more.zst"}) // an empty block that is the last one
        tool.write(name, std::string("\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00", 9));
    uint32_t ran = 0;
    for (const char* verb : kVerbs) {
        REQUIRE(tool(std::string(verb) + " --help") == 0);
        const std::string help = tool.output();
        uint32_t count = 0;
        for (const std::string& line : linesOf(help.substr(help.find("\nExamples:\n")))) {
            if (line.rfind("  sluice ", 0) != 0) continue;
            ++count;
            // Slow examples are run for a second; the option is theirs.
            std::string arguments = line.substr(9);
            for (const char* slow : {"bench", "report"})
                if (arguments.rfind(slow, 0) == 0)
                    arguments = arguments.substr(0, arguments.find(" --seconds")) + " --seconds 1";
            const bool makesArchive = *verb == 0 || arguments.rfind("pack", 0) == 0 ||
                                      arguments.rfind("patch", 0) == 0 ||
                                      arguments.rfind("join", 0) == 0;
            if (makesArchive) fs::remove(tool.path / "new.sluice");
            if (arguments.find("-o game.sluice") != std::string::npos &&
                arguments.find("-f") == std::string::npos)
                fs::remove(tool.path / "game.sluice");
            if (arguments.rfind("unpack", 0) == 0) fs::remove_all(tool.path / "out");
            if (arguments == "unpack game.sluice assets/readme.txt -o -" ||
                arguments.rfind("verify", 0) == 0 || arguments.rfind("diff", 0) == 0)
                REQUIRE(tool("pack -q -f -o game.sluice assets") == 0);
            const int code = tool(arguments);
            CAPTURE(arguments);
            CHECK_MESSAGE((code == 0 || (arguments.rfind("tune", 0) == 0 && code == 5)),
                          code << ": " << tool.errors());
        }
        CHECK_MESSAGE(count == 2, verb);
        ran += count;
    }
    CHECK(ran == 2 * std::size(kVerbs));
}

TEST_CASE("tool lines: wrong lines are 1, and the message has the right word")
{
    Tool tool;
    REQUIRE(tool("pack -q -o x.sluice a") == 0);
    REQUIRE(tool("pack -q --raw -o x.gdeflate a/one.txt") == 0);
    const struct {
        const char *line, *word;
    } lines[] = {
        // Verbs.
        {"pakc -o y a", "did you mean 'pack'?"},
        {"unpck x.sluice", "did you mean 'unpack'?"},
        {"extract x.sluice", "did you mean 'unpack'?"},
        {"ls x.sluice", "did you mean 'unpack --list'?"},
        {"zip y a", "did you mean 'pack'?"},
        {"man pak", "did you mean 'pack'?"},
        {"help vefify", "did you mean 'verify'?"},
        // The order.
        {"a pack", "'a' stands before the command, which comes first: sluice pack"},
        {"-o y pack a", "'-o' stands before the command, which comes first: sluice pack"},
        {"--level 3 pack -o y a", "'--level' stands before the command"},
        // Options with typing errors.
        {"pack --exlude x -o y a", "did you mean '--exclude'?"},
        {"pack --outptu y a", "did you mean '--output'?"},
        {"pack -output y a", "did you mean '--output'?"},
        {"pack -o y -force a", "did you mean '--force'?"},
        {"pack \xe2\x80\x93o y a", "did you mean '-o'?"},
        {"pack \xe2\x80\x94level 3 -o y a", "did you mean '--level'?"},
        {"--verbos pack -o y a", "did you mean '--verbose'?"},
        // Options of other verbs.
        {"unpack --level 3 x.sluice", "'--level' of unpack; it is one of pack, transcode"},
        {"info x.sluice -C d", "'-C' of info; it is one of pack, unpack"},
        {"verify x.sluice --json", "'--json' of verify; it is one of info"},
        {"pack -Z -o y a", "there is no option '-Z'"},
        // Values that are missing, wrong, or too many.
        {"pack a -o", "--output needs a value, a FILE"},
        {"pack -o y a --level", "--level needs a value in [1 - 12]"},
        {"pack -o y -l 13 a", "'13' is no number from 1 to 12"},
        {"pack -o y -l nine a", "'nine' is no number from 1 to 12"},
        {"pack -o y -j -1 a", "--threads"},
        {"bench --seconds abc", "'abc' is no number from 0 to 86400"},
        {"pack -o y -o z a", "--output is given twice"},
        {"pack -c gsdt -o y a", "did you mean 'gstd'?"},
        {"pack -o y --images --bc bc9 a", "did you mean 'bc"},
        {"info x.sluice --sort sise", "did you mean 'size'?"},
        {"cache clean d", "{info,trim}"},
        {"completion tcsh", "{bash,zsh,fish}"},
        {"pack -o y --filters plane a", "planes"},
        {"verify x.sluice --device gpu", "use auto, cpu, vulkan"},
        {"verify x.sluice --tier fst", "native, fast or ref"},
        {"devices --pipelines --kernels gdefalte", "gdeflate"},
        {"devices --kernels scan", "--kernels requires --pipelines"},
        {"pack -o y --shard 3/2 a", "K/N"},
        {"bench --filter nope", "gdeflate"},
        // Sizes and their units.
        {"unpack x.sluice --max-output 5X", "500M, 1.5G, 20GiB or 20GB"},
        {"unpack x.sluice --max-output 5GiBs", "is no size"},
        {"unpack x.sluice --max-output 1,5G", "is no size"},
        {"unpack x.sluice --max-output -1", "is no size"},
        {"unpack x.sluice --max-output 99999999T", "is too large"},
        {"pack -o y --tile-size 300 a", "between 65536 and 262144 bytes"},
        {"pack -o y --cache c --cache-size M a", "is no size"},
        // Rows of tuning, also on devices without one.
        {"verify x.sluice --device cpu --tuning scan.workgroup=3",
         "did you mean 'scan.workgroups'?"},
        {"verify x.sluice --device cpu --tuning scan.workgroups", "is not name=value"},
        {"verify x.sluice --device cpu --tuning scan.workgroups=x", "no value"},
        // Words that are missing or too many, and what does not go together.
        {"info x.sluice a", "'a' is one argument too many; the line is sluice info"},
        {"unpack", "IN is required"},
        {"diff x.sluice", "NEW is required"},
        {"pack a", "-o is required"},
        {"pack -o y", "name a FILE or DIR, or a list of such with -T"},
        {"unpack x.sluice -o f -C d", "--output"},
        {"unpack x.sluice nothing", "holds no 'nothing'; unpack --list prints the names"},
        {"unpack x.gdeflate a", "is no archive"},
        {"pack --decode-speed 3 -o y a", "-c gdeflate"},
        {"diff x.sluice x.sluice --json -o -", "--json and -o -"},
    };
    CHECK(std::size(lines) >= 30);
    std::string many = "diff";
    for (int i = 0; i < 3000; ++i)
        many += " textures/of/a/long/name/" + std::to_string(i);
    CHECK(tool(many) == 1);
    CHECK(contains(tool.errors(), "is one argument too many"));
    for (const auto& one : lines) {
        const std::string line = one.line;
        CAPTURE(line);
        CHECK(tool(one.line) == 1);
        CHECK_MESSAGE(contains(tool.errors(), one.word), tool.errors());
        for (const char* made : {"y", "z", "f", "d", "utput", "orce"})
            CHECK_FALSE(tool.has(made));
    }
}

TEST_CASE("tool lines: a size means the same wherever one is taken")
{
    Tool tool;
    REQUIRE(tool("pack -q -c store -o x.sluice a") == 0);
    const std::pair<const char*, const char*> sizes[] = {
        {"1500", "1500"},      {"1500b", "1500"},      {"1k", "1024"},  {"1K", "1024"},
        {"1KiB", "1024"},      {"1kib", "1024"},       {"1KB", "1000"}, {"1.5k", "1536"},
        {"0.125M", "131072"},  {"'0.1 MB'", "100000"}, {".5k", ""},     {"1.k", "1024"},
        {"0.0000005G", "536"},
    };
    for (const auto& [given, bytes] : sizes) {
        CAPTURE(given);
        const std::string size = given;
        const bool isSize = *bytes != 0;
        CHECK(tool.onCpu("verify x.sluice --max-output " + size) == (isSize ? 3 : 1));
        CHECK(contains(tool.errors(),
                       isSize ? "the limit is " + std::string(bytes) + ";" : "is no size"));
        CHECK(tool("info - --max-input " + size + " </dev/zero") == (isSize ? 3 : 1));
    }
    CHECK(tool.onCpu("verify x.sluice --max-output 1.5GiB") == 0);
    CHECK(tool("pack -q --cache c --cache-size 500m -o y.sluice a") == 0);
    CHECK(tool("cache trim c --cache-size 0.5TB") == 0);
    for (const char* size : {"128", "128K", "128KiB", "131072b", "0.125m"}) {
        CAPTURE(size);
        REQUIRE(tool("pack -q -f -l 1 --tile-size " + std::string(size) + " -o t.sluice a") == 0);
        if (size == std::string("128")) tool.write("first", tool.read("t.sluice"));
        CHECK(tool.read("t.sluice") == tool.read("first"));
    }
    for (const char* threads : {"-j 0", "-j 1", "--threads 0"}) {
        CHECK(tool("pack -q -f -l 1 --tile-size 128 -o t.sluice a " + std::string(threads)) == 0);
        CHECK(tool.read("t.sluice") == tool.read("first"));
        CHECK(tool.onCpu("verify t.sluice " + std::string(threads)) == 0);
    }
}

TEST_CASE("tool lines: progress tells no time before it can be known")
{
    using sluice::progressText;
    const uint64_t gb = 1000000000;
    // The first bytes were read ahead in no time, or the first file is still being planned.
    CHECK(progressText("packing", gb, 100 * gb, 0.1) ==
          "packing 1.00 GB of 100 GB, 1 %, 10.0 GB/s");
    CHECK(progressText("packing", 1000, 100 * gb, 5) == "packing 1.00 kB of 100 GB, 0 %, 200 B/s");
    CHECK(progressText("packing", 10 * gb, 100 * gb, 10) ==
          "packing 10.0 GB of 100 GB, 10 %, 1.00 GB/s, 1:30 left");
    CHECK(progressText("packing", gb, 100 * gb, 100) ==
          "packing 1.00 GB of 100 GB, 1 %, 10.0 MB/s, 2:45:00 left");
    CHECK(progressText("packing", 1, 100 * gb, 100) ==
          "packing 1 B of 100 GB, 0 %, 0 B/s, days left");
    CHECK(progressText("packing", 2 * gb, gb, 10) == "packing 2.00 GB of 1.00 GB, 100 %, 200 MB/s");
    CHECK(progressText("comparing", gb, 0, 10) == "comparing 1.00 GB, 100 MB/s");
    CHECK(progressText("packing", 0, gb, 30) == "packing 0 B of 1.00 GB, 0 %, 0 B/s");
}
