// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs commands and reads files as docs/packing.md and docs/tool.md show them.
#include "tests/tool/tool_run.h"
#include "test_paths.h"

#include <zstd.h>

#include <algorithm>
#include <map>
#include <sstream>

using namespace sluice::test;

namespace {

// Returns the blocks of code of a page.
std::vector<std::string> codeOf(const std::string& page)
{
    std::istringstream text(readFile(fs::path(SLUICE_TEST_DATA_DIR) / "../.." / page));
    std::vector<std::string> blocks;
    bool inside = false;
    for (std::string line; std::getline(text, line);) {
        if (line.rfind("```", 0) == 0) {
            inside = !inside;
            if (inside) blocks.emplace_back();
        } else if (inside) {
            blocks.back() += line + "\n";
        }
    }
    return blocks;
}

// Runs the lines of a block that are commands of the tool and returns how many there were. `from`
// is replaced by `to`, since only the system's administrator may write to `from`.
uint32_t runBlock(const Folder& tool, const std::string& block, const std::string& from,
                  const std::string& to)
{
    std::istringstream lines(block);
    uint32_t ran = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("sluice ", 0) != 0) continue;
        const size_t place = line.find(from);
        if (place != std::string::npos) line.replace(place, from.size(), to);
        line = line.substr(0, line.find('#'));
        CAPTURE(line);
        CHECK(tool(line.substr(7)) == 0);
        CHECK(tool.errors() == "");
        ++ran;
    }
    return ran;
}

using Commands = std::vector<std::string>;

// Returns where the group ends that begins with the bracket at `begin`.
size_t endOfGroup(const std::string& text, size_t begin)
{
    size_t depth = 0, at = begin;
    do {
        REQUIRE(at < text.size());
        depth += text[at] == '[' || text[at] == '(' ? 1 : 0;
        depth -= text[at] == ']' || text[at] == ')' ? 1 : 0;
        ++at;
    } while (depth != 0);
    return at;
}

// Returns the commands that a synopsis allows. "[a]" gives a command with it and one without it;
// "(a | b)", "[a | b]" and "a|b" in a word give one for each choice; "a..." is used once.
Commands expanded(const std::string& synopsis)
{
    const size_t begin = synopsis.find_first_of("[(");
    if (begin != std::string::npos) {
        const size_t end = endOfGroup(synopsis, begin);
        std::string inner = synopsis.substr(begin + 1, end - begin - 2) + " | ";
        std::string behind = synopsis.substr(end);
        if (behind.rfind("...", 0) == 0) behind.erase(0, 3);
        Commands all, choices;
        if (synopsis[begin] == '[') choices.emplace_back();
        for (size_t at; (at = inner.find(" | ")) != std::string::npos; inner.erase(0, at + 3))
            choices.push_back(inner.substr(0, at));
        for (const std::string& choice : choices)
            for (const std::string& one : expanded(synopsis.substr(0, begin) + choice + behind))
                all.push_back(one);
        return all;
    }
    std::istringstream words(synopsis);
    Commands all = {""};
    for (std::string word; words >> word;) {
        if (word.size() > 3 && word.compare(word.size() - 3, 3, "...") == 0)
            word.resize(word.size() - 3);
        if (word.back() == ',') word.pop_back(); // so "NAME,..." becomes "NAME"
        Commands longer;
        std::istringstream choices(word);
        for (std::string choice; std::getline(choices, choice, '|');)
            for (const std::string& begun : all)
                longer.push_back(begun + (begun.empty() ? "" : " ") + choice);
        all = longer;
    }
    return all;
}

// Returns the command with values. Words that begin with a capital letter stand for a value.
std::string replaced(const std::string& command, const std::map<std::string, std::string>& values)
{
    std::istringstream words(command);
    std::string result;
    for (std::string word; words >> word;) {
        if (std::isupper(static_cast<unsigned char>(word[0])) != 0) {
            REQUIRE_MESSAGE(values.count(word) == 1, word << " in " << command);
            word = values.at(word);
        }
        result += (result.empty() ? "" : " ") + word;
    }
    return result;
}

// Writes the files that the verbs read. What verbs write has other names.
void makeFiles(const Folder& tool)
{
    std::mt19937 random = makeRandom(412);
    tool.write("dir/a.txt", std::string(30000, 'x'));
    tool.write("file", normalBytes("BF16", 40000, random));
    Model model = taggedModel();
    model.add("a.b.weight", "BF16", {200, 100}, random);
    tool.write("bf16.safetensors", model);
    Model bytes = taggedModel();
    bytes.add("a.b.weight", "F8_E4M3", {200, 100}, random);
    tool.write("fp8.safetensors", bytes);
    // For the config.json that is written beside a packed model.
    fs::create_directories(tool.path / "units");
    REQUIRE(tool("pack --raw -c df11 bf16.safetensors -o units/model.safetensors") == 0);
    REQUIRE(tool("pack --cache cache -o in.sluice dir file") == 0);
    REQUIRE(tool("pack --shard 1/1 -o shard dir") == 0);
    REQUIRE(tool("pack -o new.sluice dir") == 0);
    REQUIRE(tool("diff in.sluice new.sluice -o old.patch") == 0);
    std::string frame(ZSTD_compressBound(5000), 0);
    const std::string plain(5000, 'z');
    frame.resize(ZSTD_compress(&frame[0], frame.size(), plain.data(), plain.size(), 3));
    tool.write("in.zst", frame);
}

// Returns values for words of a command. Some verbs need other values than the rest.
std::map<std::string, std::string> valuesFor(const std::string& command)
{
    std::map<std::string, std::string> values = {
        {"OUT.sluice", "out.sluice"},
        {"OUT", "out"},
        {"FILE", "file"},
        {"DIR", "dir"},
        {"IN", "in.sluice"},
        {"NAME", "file"},
        {"REGEX", "'a'"},
        {"IN.safetensors", "bf16.safetensors"},
        {"OUT.safetensors", "out.safetensors"},
        {"MODEL.safetensors", "units/model.safetensors"},
        {"ORIGINAL.safetensors", "bf16.safetensors"},
        {"SIZE", "1M"},
        {"SHARD", "shard"},
        {"LEVEL", "3"},
        {"FILE.zst", "in.zst"},
        {"OUT.zst", "out.zst"},
        {"OLD", "in.sluice"},
        {"LIST", "list"},
        {"NEW", "new.sluice"},
        {"PATCH", "out.patch"},
        {"DEV", "cpu"},
        {"FAMILY", "scan"},
        {"COMMAND", "pack"},
    };
    const auto is = [&](const char* begin) { return command.rfind(begin, 0) == 0; };
    if (is("sluice cache")) values["DIR"] = "cache";
    if (is("sluice unpack") || is("sluice man")) values["DIR"] = "out";
    if (is("sluice unpack") && contains(command, "-o FILE")) values["FILE"] = "out";
    if (is("sluice patch")) values["PATCH"] = "old.patch", values["NEW"] = "again.sluice";
    if (contains(command, "--frame-size")) values["SIZE"] = "64";
    if (contains(command, "ecf8")) values["IN.safetensors"] = "fp8.safetensors";
    return values;
}

} // namespace

TEST_CASE("tool documents: the commands of the page about packing")
{
    const Folder tool;
    std::mt19937 random = makeRandom(411);
    tool.write("assets/a/one.bin", normalBytes("BF16", 70000, random));
    tool.write("assets/two.txt", std::string(100000, 'x'));
    REQUIRE(tool("pack -o game-1.0.sluice assets") == 0);
    tool.write("assets/two.txt", std::string(100, 'y') + std::string(100000, 'x'));
    uint32_t ran = 0;
    std::string packed;
    for (const std::string& block : codeOf("docs/packing.md")) {
        // The block is about ./tools/dev slurm.
        if (contains(block, "sbatch") || contains(block, "SBATCH")) continue;
        // The block is for a POSIX shell.
        if (isWindowsTool() && contains(block, "--emit-ninja")) continue;
        ran += runBlock(tool, block, "/var/cache/sluice", "cache");
        if (!tool.has("game.sluice")) continue;
        if (packed.empty()) packed = tool.read("game.sluice");
        CHECK((tool.read("game.sluice") == packed)); // even if it is packed in shards
        fs::remove(tool.path / "game.sluice");
    }
    CHECK(ran == (isWindowsTool() ? 8 : 9));
    REQUIRE(tool("patch game-1.0.sluice 1.1.patch -o again.sluice") == 0);
    CHECK((tool.read("again.sluice") == tool.read("game-1.1.sluice")));
    if (!isWindowsTool()) CHECK(contains(tool.read("pack.ninja"), "--shard"));
}

TEST_CASE("tool documents: the rules of the manual")
{
    const Folder tool;
    uint32_t found = 0;
    for (const std::string& block : codeOf("docs/tool.md")) {
        if (block.rfind("[[rule]]", 0) != 0) continue;
        ++found;
        tool.write("rules.toml", block);
    }
    REQUIRE(found == 1);
    tool.write("video/film", std::string(100000, 'x'));
    tool.write("text", std::string(100000, 'y'));
    tool.write("music/song.wav", std::string(1000, 'z'));
    const int code = tool("pack --rules rules.toml -o x.sluice video text music");
    if (code == 5) return skipCase("built without toml++");
    REQUIRE(code == 0);
    REQUIRE(tool("pack --rules rules.toml --explain video/film video text music") == 0);
    CHECK(contains(tool.output(), "store"));
    CHECK(fs::file_size(tool.path / "x.sluice") > 100000);
    CHECK(fs::file_size(tool.path / "x.sluice") < 110000);
}

TEST_CASE("tool documents: the synopses of the manual")
{
    // Each of these takes half a minute or more, and other tests run it.
    std::map<std::string, const char*> notRun = {
        {"sluice selftest", "tests of selftest, on each device"},
        {"sluice tune", "tests of tune"},
        {"sluice bench", "tests of bench"},
        {"sluice report", "tests of report"},
    };
    const Folder files;
    makeFiles(files);
    uint32_t lines = 0, ran = 0;
    for (const std::string& block : codeOf("docs/tool.md")) {
        std::istringstream synopses(block);
        for (std::string synopsis; std::getline(synopses, synopsis);) {
            if (synopsis.rfind("sluice ", 0) != 0) continue;
            ++lines;
            const std::string verb = synopsis.substr(0, synopsis.find(' ', 7));
            if (notRun.erase(verb) != 0) continue;
            for (const std::string& command : expanded(synopsis)) {
                Folder tool;
                tool.environment = "export ASAN_OPTIONS=detect_leaks=0;"; // drivers have leaks
                fs::copy(files.path, tool.path, fs::copy_options::recursive);
                if (contains(command, "unpack"))
                    fs::remove_all(tool.path / "dir"), fs::remove(tool.path / "file");
                const std::string given = replaced(command, valuesFor(command)).substr(7);
                const int code = tool(given);
                const std::string said = tool.errors();
                CAPTURE(command);
                CAPTURE(given);
                CAPTURE(said);
                // Without a Vulkan device, there are no pipelines to list.
                CHECK((code == 0 || (code == 5 && contains(given, "--pipelines"))));
                ++ran;
            }
        }
    }
    CHECK(notRun.empty());
    CHECK(lines == 25);
    CHECK(ran > 40);
}

// Returns whether a block is for a shell: one of its lines begins like a command.
bool isForShell(const std::string& block)
{
    for (const char* begin : {"sluice ", "./tools/dev ", "build/", "cmake ", "spirv ", "    diff "})
        if (block.rfind(begin, 0) == 0 || contains(block, "\n" + std::string(begin))) return true;
    return false;
}

// Runs the block that compares compiled shaders before and after a change.
void checkShaderComparison(const std::string& block)
{
    if (isWindowsTool() || std::system("command -v spirv-opt >/dev/null") != 0)
        return skipCase("a block of CONTRIBUTING.md is for a POSIX shell with spirv-opt");
    const Folder folder;
    const fs::path shaders = fs::path(SLUICE_SHADER_DIR);
    for (const char* state : {"before", "after"}) {
        fs::create_directories(folder.path / state / "shaders");
        fs::copy(shaders / "lib", folder.path / state / "shaders/lib", fs::copy_options::recursive);
        fs::copy(shaders / "status.comp", folder.path / state / "shaders");
    }
    folder.write("block", block);
    const std::string command =
        "cd '" + (folder.path / "after").string() + "' && bash ../block >../said 2>&1";
    CHECK(std::system(command.c_str()) == 0);
    CHECK(folder.read("said") == "");
    const std::string text = folder.read("after/shaders/status.comp");
    const size_t main = text.find("void main() {\n");
    REQUIRE(main != std::string::npos);
    folder.write("after/shaders/status.comp",
                 std::string(text).insert(main + 14, "    memoryBarrierBuffer();\n"));
    CHECK(std::system(command.c_str()) != 0);
    CHECK(contains(folder.read("said"), "> status.comp -DSLUICE_EMU "));
}

TEST_CASE("tool documents: what other pages show for a shell runs, or is named here")
{
    // The beginnings of blocks that are not run here, and why.
    std::map<std::string, const char*> notRun = {
        {"./tools/dev demo", "fetches assets of games; `test` is what runs this test"},
        {"./tools/dev build\nSLUICE_TEST_DEVICES=", "is how this test was built; watch has no end"},
        {"./tools/dev build\nbuild/release/bin/sluice selftest", "selftest and tune have tests"},
        {"sass() {", "takes CUDA's cuobjdump, and two builds"},
        {"sluice bench", "takes minutes; bench has tests"},
        {"sluice pack -o game.sluice", "the tests of the manual run these verbs"},
    };
    uint32_t ran = 0;
    for (const char* page :
         {"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/compilers.md", "docs/design.md",
          "docs/devices.md", "docs/embedding.md", "docs/format.md", "docs/performance.md",
          "docs/portability.md", "docs/streaming.md"}) {
        for (const std::string& block : codeOf(page)) {
            if (!isForShell(block)) continue;
            CAPTURE(block);
            const auto known = std::find_if(notRun.begin(), notRun.end(), [&](const auto& one) {
                return block.rfind(one.first, 0) == 0;
            });
            if (known != notRun.end()) {
                notRun.erase(known);
                continue;
            }
            ++ran;
            // Only one block remains that is neither an example nor named above.
            REQUIRE(block.rfind("spirv() {", 0) == 0);
            checkShaderComparison(block);
        }
    }
    CHECK(notRun.empty());
    CHECK(ran == 1);
}

TEST_CASE("tool documents: what ./tools/dev fetches is signed")
{
    const fs::path scripts = fs::path(SLUICE_TEST_DATA_DIR) / "../../tools/dev.d";
    uint32_t fetches = 0;
    for (const auto& entry : fs::directory_iterator(scripts)) {
        const std::string name = entry.path().filename().string();
        if (name.find(".sh") == std::string::npos) continue;
        std::istringstream text(readFile(entry.path()));
        for (std::string line; std::getline(text, line);) {
            line.erase(std::min(line.find("# "), line.size())); // without the comment
            CAPTURE(name);
            CAPTURE(line);
            // apt refuses what is not signed, unless options turn this off. debootstrap refuses it
            // only with an option.
            for (const char* unsafe : {"curl", "wget", "unauthenticated", "trusted=yes", "no-check",
                                       "AllowInsecure", "allow-insecure"})
                CHECK(!contains(line, unsafe));
            if (contains(line, "debootstrap --")) {
                CHECK(contains(line, "debootstrap --force-check-gpg --keyring="));
                ++fetches;
            }
        }
    }
    CHECK(fetches == 1);
}
