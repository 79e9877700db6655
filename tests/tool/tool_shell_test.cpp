// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests what the tool writes for shells and for man: completions run in the shells that there are,
// and manual pages name what --help names.
#include <algorithm>
#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>

#include "tests/tool/tool_run.h"

using namespace sluice::test;

namespace {

using Names = std::set<std::string>;

bool hasProgram(const char* name)
{
    if (std::system((std::string("command -v ") + name + " >/dev/null 2>&1").c_str()) == 0)
        return true;
    skipCase((std::string("there is no ") + name).c_str());
    return false;
}

Names linesOf(const std::string& text)
{
    Names lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.insert(line);
    return lines;
}

// Runs a command in the folder of the test. Its output goes to the file "shown".
int run(const Folder& folder, const std::string& command)
{
    return std::system(
        ("cd '" + folder.path.string() + "' && " + command + " >shown 2>&1 </dev/null").c_str());
}

// Returns what bash offers for the last one of some words, which may be empty.
Names bashOffers(const Folder& folder, const std::string& words)
{
    folder.write("try.sh", "source ./sluice.bash\nCOMP_WORDS=(sluice " + words +
                               ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_sluice\n"
                               "((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    REQUIRE(run(folder, "bash --norc try.sh") == 0);
    return linesOf(folder.read("shown"));
}

// Returns the verbs, or the options, that a help text describes.
Names namesOfHelp(const std::string& help, bool verbs)
{
    const std::string text = verbs ? help.substr(help.find("\nSubcommands:")) : help;
    const std::regex line(verbs ? "\n {2}([a-z]+)" : "\n {2}(-[-a-z,A-Z]+)");
    Names names;
    for (auto match = std::sregex_iterator(text.begin(), text.end(), line);
         match != std::sregex_iterator(); ++match) {
        std::istringstream list((*match)[1]);
        for (std::string name; std::getline(list, name, ',');)
            names.insert(name);
    }
    return names;
}

Names verbsOf(const Folder& tool)
{
    REQUIRE(tool("--help") == 0);
    const Names verbs = namesOfHelp(tool.output(), true);
    CHECK(verbs.count("completion") == 1);
    return verbs;
}

} // namespace

TEST_CASE("tool shell: bash completes verbs, options and values")
{
    Tool tool;
    const Names verbs = verbsOf(tool);
    REQUIRE(tool("completion bash") == 0);
    tool.write("sluice.bash", tool.output());
    tool.write("x.sluice", "");
    tool.write("a name", "");
    REQUIRE(hasProgram("bash"));
    CHECK(bashOffers(tool, "''") == verbs);
    CHECK(bashOffers(tool, "un") == Names{"unpack"});
    CHECK(bashOffers(tool, "-q ver") == Names{"verify"});
    for (const std::string& verb : verbs) {
        REQUIRE(tool(verb + " --help") == 0);
        Names options = namesOfHelp(tool.output(), false);
        REQUIRE(tool("--help") == 0);
        options.merge(namesOfHelp(tool.output(), false));
        CHECK_MESSAGE(bashOffers(tool, verb + " -") == options, verb);
    }
    CHECK(bashOffers(tool, "pack -c g") == Names{"gstd", "gdeflate"});
    CHECK(bashOffers(tool, "pack -c store -o y a --bc ''") ==
          Names{"auto", "none", "bc1", "bc3", "bc4", "bc5"});
    CHECK(bashOffers(tool, "unpack --tier emu1") == Names{"emu16", "emu128"});
    CHECK(bashOffers(tool, "unpack --device = c") == Names{"cpu", "cuda"});
    CHECK(bashOffers(tool, "report --device = a") == Names{"auto", "all"});
    CHECK(bashOffers(tool, "unpack --device =") == Names{"auto", "cpu", "vulkan", "cuda"});
    CHECK(bashOffers(tool, "bench --filter scan,gs") == Names{"scan,gstd"});
    CHECK(bashOffers(tool, "pack --filters up,pl") == Names{"up,planes"});
    CHECK(bashOffers(tool, "cache ''").count("trim") == 1);
    CHECK(bashOffers(tool, "completion ''") == Names{"bash", "zsh", "fish"});
    CHECK(bashOffers(tool, "man un") == Names{"unpack"});
    CHECK(bashOffers(tool, "pack -l ''").empty()); // there is nothing to offer for a number
    CHECK(bashOffers(tool, "unpack x") == Names{"x.sluice"});
    CHECK(bashOffers(tool, "unpack a") == Names{"a", "a name"});
    CHECK(bashOffers(tool, "unpack x.sluice -C a") == Names{"a"}); // folders only
    CHECK(bashOffers(tool, "pack -o x") == Names{"x.sluice"});
    // "info" is a file's name here.
    CHECK(bashOffers(tool, "pack -o info -") != bashOffers(tool, "info -"));
    CHECK(bashOffers(tool, "pack -- -").empty());
}

TEST_CASE("tool shell: zsh and fish read their completions")
{
    Tool tool;
    const Names verbs = verbsOf(tool);
    for (const char* shell : {"zsh", "fish"}) {
        REQUIRE(tool(std::string("completion ") + shell) == 0);
        const std::string script = tool.output();
        for (const std::string& verb : verbs)
            CHECK_MESSAGE(contains(script, verb), verb);
        tool.write(std::string("sluice.") + shell, script);
        if (!hasProgram(shell)) continue;
        CHECK(run(tool, std::string("HOME=. ") + shell + " -n sluice." + shell) == 0);
        CHECK(tool.read("shown") == "");
    }
    if (hasProgram("zsh")) {
        CHECK(run(tool,
                  "HOME=. zsh -fc 'autoload -U compinit; compinit -D -u; source ./sluice.zsh; "
                  "print $_comps[sluice]'") == 0);
        CHECK(tool.read("shown") == "_sluice\n");
    }
    if (!hasProgram("fish")) return;
    const auto offers = [&](const std::string& line) {
        CHECK(run(tool, "HOME=. fish -c 'source ./sluice.fish; complete -C \"sluice " + line +
                            "\"'") == 0);
        Names names;
        // Lines are "NAME\tDESCRIPTION".
        for (const std::string& shown : linesOf(tool.read("shown")))
            names.insert(shown.substr(0, shown.find('\t')));
        return names;
    };
    CHECK(offers("") == verbs);
    CHECK(offers("pack -c g") == Names{"gdeflate", "gstd"});
    CHECK(offers("verify --keep") == Names{"--keep-going"});
    CHECK(offers("unpack --device c") == Names{"cpu", "cuda"});
    CHECK(offers("unpack a/o").count("a/one.txt") == 1);
    CHECK(tool("completion tcsh") == 1);
}

TEST_CASE("tool shell: manual pages name all that --help names")
{
    Tool tool;
    const Names verbs = verbsOf(tool);
    REQUIRE(tool("man --folder m") == 0);
    CHECK(tool("man --folder m") == 2); // nothing is overwritten
    tool.write("file", "");
    CHECK(tool("man --folder file") == 2);
    CHECK(tool("man nothing") == 1);
    Names pages = {""};
    pages.insert(verbs.begin(), verbs.end());
    for (const std::string& verb : pages) {
        CAPTURE(verb);
        const std::string name = "m/sluice" + (verb.empty() ? "" : "-" + verb) + ".1";
        REQUIRE(tool("man " + verb) == 0);
        const std::string page = tool.output();
        CHECK(page == tool.read(name));
        CHECK(page.rfind(".TH SLUICE", 0) == 0);
        REQUIRE(tool(verb + " --help") == 0);
        for (const std::string& option : namesOfHelp(tool.output(), false)) {
            const std::string bold =
                "\\fB" + std::regex_replace(option, std::regex("-"), "\\-") + "\\fR";
            CHECK_MESSAGE(contains(page, bold), option);
        }
        for (const std::string& other : verbs)
            CHECK((other == verb || contains(page, "\\-" + other + " (1)")));
        for (const char* code : {"\n0\n", "\n1\n", "\n2\n", "\n3\n", "\n4\n", "\n5\n"})
            CHECK(contains(page, code));
    }
    if (hasProgram("groff")) {
        CHECK(run(tool, "{ groff -man -ww -Tascii m/*.1 >rendered; }") == 0);
        CHECK(tool.read("shown") == "");
        CHECK(tool.read("rendered").size() > 10000);
    }
    if (hasProgram("man")) {
        for (const std::string& verb : pages) {
            CHECK(run(tool, "{ LC_ALL=C man --warnings -l m/sluice" +
                                (verb.empty() ? "" : "-" + verb) + ".1 >rendered; }") == 0);
            CHECK_MESSAGE(tool.read("shown") == "", verb);
        }
    }
    if (hasProgram("mandoc")) {
        run(tool, "mandoc -T lint -W warning m/*.1");
        // A page has no date, so that the same sources give the same pages.
        for (const std::string& line : linesOf(tool.read("shown")))
            CHECK_MESSAGE(contains(line, "missing date"), line);
    }
}
