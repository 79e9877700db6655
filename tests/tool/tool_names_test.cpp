// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests which files pack takes and what they are called in the archive: links, --directory,
// --prefix, --strip, lists, bad names, and what comes out empty.
#include <algorithm>

#include <sys/stat.h>

#include "tests/tool/tool_run.h"

using namespace sluice::test;

namespace {

// Returns the names that a line would pack, which must succeed.
std::string namesOf(const Folder& tool, const std::string& arguments)
{
    CAPTURE(arguments);
    CHECK(tool("pack --dry-run " + arguments) == 0);
    return tool.output();
}

void checkRefused(const Folder& tool, const std::string& arguments, int code,
                  const std::string& message)
{
    CAPTURE(arguments);
    CHECK(tool("pack -o refused.sluice " + arguments) == code);
    CHECK_MESSAGE(contains(tool.errors(), message), tool.errors());
    CHECK_FALSE(tool.has("refused.sluice"));
    CHECK_FALSE(tool.hasTemporaries());
}

void link(const Folder& tool, const std::string& target, const std::string& name)
{
    fs::create_directories((tool.path / name).parent_path());
    fs::create_symlink(target, tool.path / name);
}

// Makes a folder as huggingface_hub keeps models: a snapshot of links to blobs.
void writeHub(const Folder& tool)
{
    tool.write("hub/blobs/0123", noise(70000));
    tool.write("hub/blobs/4567", "{}");
    link(tool, "../../blobs/0123", "hub/snapshots/main/model.bin");
    link(tool, "../../blobs/4567", "hub/snapshots/main/config.json");
}

} // namespace

TEST_CASE("tool names: a folder is called as it is written, and . and .. have no name")
{
    const Tool tool;
    const std::string below = "empty\none.txt\nsub/two.bin\n",
                      named = "a/empty\na/one.txt\na/sub/two.bin\n";
    for (const char* folder : {"a", "a/", "./a", "./a//", "a/../a", "a/.", "a/sub/.."})
        CHECK(namesOf(tool, folder) == named);
    for (const char* folder : {"a/sub/../../a/.", "-C a ."})
        CHECK(namesOf(tool, folder) == (*folder == '-' ? below : named));
    CHECK(namesOf(tool, "'" + (tool.path / "a").string() + "'") == named);
    if (isWindowsTool("the commands are those of a POSIX shell")) return;
    const auto inside = [&](const std::string& arguments) {
        CAPTURE(arguments);
        CHECK(tool(after("(cd a && \"$SLUICE\" pack --dry-run " + arguments + ")")) == 0);
        return tool.output();
    };
    CHECK(inside(".") == below);
    CHECK(inside("sub/..") == below);
    CHECK(inside("../a") == named);
    CHECK(inside("sub/two.bin one.txt") == "one.txt\ntwo.bin\n");
    CHECK(tool(after("(cd a/sub && \"$SLUICE\" pack -q -o ../../x.sluice ..)")) == 0);
    CHECK(tool.onCpu("verify --compare a x.sluice") == 0);
    CHECK(contains(tool.output(), "all 3 files identical"));
}

TEST_CASE("tool names: a link on the line is packed, those in folders are left out")
{
    if (isWindowsTool("links of POSIX")) return;
    const Tool tool;
    writeHub(tool);
    link(tool, "../a", "l/folder");
    CHECK(namesOf(tool, "hub/snapshots/main/model.bin") == "model.bin\n");
    CHECK(namesOf(tool, "l/folder") == "folder/empty\nfolder/one.txt\nfolder/sub/two.bin\n");
    REQUIRE(tool("pack -o x.sluice hub/snapshots/main/model.bin l/folder") == 0);
    REQUIRE(tool.onCpu("unpack x.sluice -C o") == 0);
    CHECK(tool.read("o/model.bin") == tool.read("hub/blobs/0123"));
    CHECK(tool.read("o/folder/one.txt") == tool.read("a/one.txt"));
    checkRefused(tool, "hub/snapshots", 1, "nothing to pack; left out: 2 links; -L follows links");
    // A link that is named holds links that are not.
    link(tool, "../hub", "l/hub");
    CHECK(namesOf(tool, "l/hub") == "hub/blobs/0123\nhub/blobs/4567\n");
}

TEST_CASE("tool names: --dereference packs a snapshot of links, and tells what leaves the folder")
{
    if (isWindowsTool("links of POSIX")) return;
    const Tool tool;
    writeHub(tool);
    for (const char* option : {"-L", "--dereference"}) {
        REQUIRE(tool(std::string("pack -f -o x.sluice ") + option + " hub/snapshots/main") == 0);
        CHECK(contains(tool.errors(), "followed 2 links, 2 of them out of the folders"));
    }
    REQUIRE(tool.onCpu("unpack x.sluice -C o") == 0);
    CHECK(tool.read("o/main/model.bin") == tool.read("hub/blobs/0123"));
    CHECK(tool.read("o/main/config.json") == "{}");
    CHECK(tool.onCpu("verify --compare hub/snapshots x.sluice") == 0);
    REQUIRE(tool("pack -f -v -L -o x.sluice hub") == 0);
    CHECK(contains(tool.errors(), "followed: hub/snapshots/main/model.bin (a link)\n"));
    CHECK(contains(tool.errors(), "followed 2 links, 0 of them out"));
    // The bytes of a file that is there twice are stored once.
    CHECK(fs::file_size(tool.path / "x.sluice") < 80000);
    // The same archive comes of shards, and of files that share tiles.
    REQUIRE(tool("pack -q -L --shard 1/2 -o 1.shard hub") == 0);
    REQUIRE(tool("pack -q -L --shard 2/2 -o 2.shard hub") == 0);
    REQUIRE(tool("join -o y.sluice 1.shard 2.shard") == 0);
    CHECK(tool.read("y.sluice") == tool.read("x.sluice"));
}

TEST_CASE("tool names: links that lead around, into each other or nowhere end")
{
    if (isWindowsTool("links of POSIX")) return;
    const Tool tool;
    link(tool, "..", "a/sub/up");
    link(tool, ".", "a/here");
    link(tool, "../../a/sub", "b/c/sub");
    CHECK(namesOf(tool, "-L a") == "a/empty\na/one.txt\na/sub/two.bin\n");
    CHECK(contains(tool.errors(), "2 links to folders around them"));
    // A way out and back in again ends, too.
    const std::string around = namesOf(tool, "-L b");
    CHECK(around == "b/c/sub/two.bin\nb/c/sub/up/empty\nb/c/sub/up/one.txt\n"
                    "b/c/sub/up/sub/two.bin\n");
    CHECK(contains(tool.errors(), "2 of them out of the folders"));
    link(tool, "self", "d/self");
    link(tool, "nowhere", "d/none");
    tool.write("d/file", "x");
    checkRefused(tool, "-L d", 2, "2 inputs cannot be read:\n");
    CHECK(contains(tool.errors(), "d/self: is a link that leads to itself"));
    CHECK(contains(tool.errors(), "d/none: is a link that leads nowhere"));
    checkRefused(tool, "d/none", 2, "is a link that leads nowhere");
    CHECK(namesOf(tool, "d") == "d/file\n");
    CHECK(namesOf(tool, "-L d --exclude self --exclude none") == "d/file\n");
    // What is no file is left out behind a link as well.
    REQUIRE(mkfifo((tool.path / "pipe").c_str(), 0600) == 0);
    link(tool, "../pipe", "e/pipe");
    link(tool, "/dev/zero", "e/zero");
    tool.write("e/file", "x");
    CHECK(namesOf(tool, "-L e") == "e/file\n");
    CHECK(contains(tool.errors(), "left out: 2 special files"));
    checkRefused(tool, "e/pipe", 2, "is no regular file");
    // Each level doubles the ways, so without a bound this would never end.
    for (int level = 0; level < 30; ++level)
        for (const char* name : {"/x", "/y"})
            link(tool, "../" + std::to_string(level + 1), "bomb/" + std::to_string(level) + name);
    fs::create_directory(tool.path / "bomb/30");
    checkRefused(tool, "-L bomb/0", 1, "links lead to more than 65536 folders");
}

TEST_CASE("tool names: what must not be packed is not packed through a link or a list either")
{
    if (isWindowsTool("links of POSIX")) return;
    const Tool tool;
    tool.write("a/.sluice-0123abcd", "of a run that has not finished");
    link(tool, "../a/.sluice-0123abcd", "l/unfinished");
    link(tool, "../a/one.txt", "l/one.txt");
    link(tool, "../cache", "l/cache");
    REQUIRE(tool("pack -q --cache cache -o old.sluice a") == 0);
    link(tool, "../old.sluice", "l/archive");
    CHECK(tool("pack -f -L --cache cache -o old.sluice l") == 0);
    CHECK(contains(tool.errors(), "left out: 1 unfinished file of sluice, the archive itself, "
                                  "the cache"));
    REQUIRE(tool("unpack --list old.sluice") == 0);
    CHECK(tool.output() == "l/one.txt\n");
    const std::string one = tool.read("a/one.txt");
    tool.write("list", "a/one.txt\n");
    tool.write("dir.list", "a\n");
    fs::create_hard_link(tool.path / "a/one.txt", tool.path / "hard");
    for (const char* arguments : {"-o a/one.txt -T list", "-o hard -T list", "-o l/one.txt -T list",
                                  "-o list -T list", "-o a/one.txt -L l", "-o hard -C a one.txt",
                                  "-o hard -T dir.list", "-o a/one.txt -C l -L ."}) {
        CAPTURE(arguments);
        CHECK(tool(std::string("pack -f ") + arguments) == 2);
        CHECK(contains(tool.errors(), "would be lost"));
        CHECK(tool.read("a/one.txt") == one);
        CHECK(tool.read("list") == "a/one.txt\n");
    }
    CHECK(tool("pack -o x.sluice -T list --exclude nothing") == 1);
    CHECK(contains(tool.errors(), "--exclude: no name matches 'nothing'"));
    CHECK(tool("pack -o x.sluice --shard 1/2 -L l --emit-ninja n") == 1);
    CHECK(tool("pack -o a/x.sluice --shard 1/2 -C a .") == 1);
    CHECK(contains(tool.errors(), "each shard would pack the others"));
}

TEST_CASE("tool names: --directory keeps the names that files have below it")
{
    const Tool tool;
    CHECK(namesOf(tool, "-C a sub one.txt") == "one.txt\nsub/two.bin\n");
    CHECK(namesOf(tool, "-C a sub/two.bin") == "sub/two.bin\n");
    CHECK(namesOf(tool, "--directory=a/ ./sub/../sub//two.bin .") ==
          "empty\none.txt\nsub/two.bin\n");
    CHECK(namesOf(tool, "-C . a/sub") == "a/sub/two.bin\n");
    CHECK(namesOf(tool, "-C a '" + (tool.path / "a/sub").string() + "'") == "sub/two.bin\n");
    CHECK(namesOf(tool, "-C a . --exclude sub/") == "empty\none.txt\n");
    checkRefused(tool, "-C a/sub ../one.txt", 1, "as '../one.txt': has a component that is '..'");
    CHECK(namesOf(tool, "-C a/sub ../one.txt --strip 1") == "one.txt\n");
    checkRefused(tool, "-C nowhere a", 2, "nowhere/a: No such file");
    REQUIRE(tool("pack -o x.sluice -C a .") == 0);
    REQUIRE(tool("pack -o y.sluice -C a one.txt empty sub") == 0);
    CHECK(tool.read("x.sluice") == tool.read("y.sluice"));
    CHECK(tool.onCpu("verify x.sluice --compare a") == 0);
}

TEST_CASE("tool names: --strip shortens names, then --prefix goes before them")
{
    const Tool tool;
    CHECK(namesOf(tool, "--prefix textures a") ==
          "textures/a/empty\ntextures/a/one.txt\ntextures/a/sub/two.bin\n");
    for (const char* prefix : {"x/y", "x/y/", "./x//y"})
        CHECK(namesOf(tool, std::string("--strip 1 --prefix ") + prefix + " a") ==
              "x/y/empty\nx/y/one.txt\nx/y/sub/two.bin\n");
    CHECK(namesOf(tool, "--prefix . a/one.txt") == "one.txt\n");
    CHECK(namesOf(tool, "--strip 1 --prefix p --exclude 'p/*.txt' a") ==
          "p/empty\np/sub/two.bin\n");
    // What nothing is left of can still be left out by its name before.
    CHECK(namesOf(tool, "--strip 2 --exclude a/one.txt --exclude a/empty a") == "two.bin\n");
    checkRefused(tool, "--strip 2 a", 1, "2 names cannot stand in an archive");
    CHECK(contains(tool.errors(), "a/one.txt: has nothing left behind --strip 2"));
    CHECK(namesOf(tool, "--strip 2 --skip-bad-names a") == "two.bin\n");
    CHECK(contains(tool.errors(), "left out: 2 bad names"));
    for (const char* prefix : {"/x", "..", "x/../y", "c:x"})
        checkRefused(tool, std::string("a --prefix ") + prefix, 1, "--prefix");
    REQUIRE(tool("pack -o x.sluice --strip 1 --prefix game/data a") == 0);
    REQUIRE(tool.onCpu("unpack x.sluice -C o") == 0);
    CHECK(tool.read("o/game/data/sub/two.bin") == tool.read("a/sub/two.bin"));
}

TEST_CASE("tool names: a list names files, and may give them names")
{
    if (isWindowsTool("tabs in names of files")) return;
    const Tool tool;
    const auto listed = [&](const std::string& list, const std::string& options = "") {
        tool.write("list", list);
        const std::string names = namesOf(tool, options + " -T list");
        CHECK(namesOf(tool, options + " --files-from - <list") == names);
        return names;
    };
    CHECK(listed("a/one.txt\na/sub/two.bin\n") == "a/one.txt\na/sub/two.bin\n");
    CHECK(listed("\xef\xbb\xbf./a/one.txt\r\n\r\na//sub/two.bin") == "a/one.txt\na/sub/two.bin\n");
    CHECK(listed(std::string("a/one.txt\0./a/sub/\0", 19)) == "a/one.txt\na/sub/two.bin\n");
    CHECK(listed("a/one.txt\ttextures/foo\na/empty\n") == "a/empty\ntextures/foo\n");
    CHECK(listed("a/sub\tt/u/\na/one.txt\t./x\n") == "t/u/two.bin\nx\n");
    CHECK(listed("a/sub\t.\n") == "two.bin\n");
    CHECK(listed("one.txt\nsub\tkeep/this\n", "-C a --strip 1 --prefix p --skip-bad-names") ==
          "p/keep/this/two.bin\n");
    // find names folders and what is in them.
    CHECK(listed("a\na/one.txt\na/sub\na/sub/two.bin\na/empty\n") ==
          "a/empty\na/one.txt\na/sub/two.bin\n");
    CHECK(listed("a/sub/two.bin\na/sub\na\n") == "a/empty\na/one.txt\na/sub/two.bin\n");
    tool.write("b/tab\there", "x");
    CHECK(listed("b/tab\there\tfine\n") == "fine\n");
    // Where 0 ends each path, a file with a tab in its name is that file, whose name is a bad one.
    tool.write("b/tab", "y");
    tool.write("list", std::string("a/one.txt\0b/tab\there\0", 22));
    checkRefused(tool, "-T list", 1, "b/tab");
    // The list adds to what is named on the line, and an absolute path has no root in its name.
    tool.write("list", (tool.path / "a/one.txt").string() + "\n");
    CHECK(namesOf(tool, "-C a -T list sub") == "one.txt\nsub/two.bin\n");
    const std::string whole = (tool.path / "a/one.txt").lexically_normal().string().substr(1);
    CHECK(namesOf(tool, "-C a/sub -T list") == whole + "\n");
}

TEST_CASE("tool names: a list that is wrong is told, each line at once")
{
    if (isWindowsTool("names of files of POSIX")) return;
    const Tool tool;
    tool.write("b/one.txt", "another");
    const auto refuses = [&](const std::string& list, int code, const std::string& message) {
        tool.write("list", list);
        checkRefused(tool, "-T list", code, message);
    };
    refuses("a/nothing\na/one.txt\nb/none\n", 2, "2 inputs cannot be read:\n  list:1: a/nothing: ");
    CHECK(contains(tool.errors(), "list:3: b/none: "));
    refuses("a/one.txt\tx\nb/one.txt\tx\n", 1, "a/one.txt and b/one.txt: both are named 'x'");
    refuses("a/one.txt\t\n", 1, "list:1: there is no NAME");
    refuses("a/empty\n\tname\n", 1, "list:2: there is no FILE");
    refuses("a/one.txt\t../x\na/empty\t/y\na/sub\tz/../../q\n", 1, "3 names cannot stand");
    CHECK(contains(tool.errors(), "a/empty as '/y': begins with '/'"));
    refuses("", 1, "list: the list names no file");
    refuses("\n\r\n", 1, "the list names no file");
    refuses("\xff\xfe"
            "a",
            1, "list: is UTF-16");
    refuses("-\n", 1, "list:1: -: stdin has no name");
    checkRefused(tool, "-T nowhere", 2, "nowhere: No such file");
    checkRefused(tool, "-T a", 2, "a: is a folder");
    checkRefused(tool, "--raw -T list", 1, "--files-from is not for --raw");
    checkRefused(tool, "--emit-ninja n -T -", 1, "-T takes a regular file");
}

TEST_CASE("tool names: a picture is what its name in the archive says")
{
    const Tool tool;
    std::string picture = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 4, 0, 24, 0};
    for (int i = 0; i < 4 * 4; ++i)
        picture += "\xff\x80\x80"; // blue, green, red of a normal that points up
    tool.write("blob", picture);
    tool.write("list", "blob\tt/floor_normal.tga\n");
    REQUIRE(tool("pack -o x.sluice --images -T list --explain t/floor_normal.tga") == 0);
    CHECK_MESSAGE(contains(tool.output(), "normal map"), tool.output());
    tool.write("c.tga", picture);
    tool.write("list", "c.tga\tt/other.bin\n");
    REQUIRE(tool("pack -o x.sluice --images -T list") == 0);
    REQUIRE(tool.onCpu("unpack x.sluice -C o") == 0);
    CHECK(tool.read("o/t/other.bin") == picture);
}

TEST_CASE("tool names: only one list comes from stdin")
{
    const Tool tool;
    checkRefused(tool, "a -T - --order -", 1, "can be stdin");
}

TEST_CASE("tool names: all bad names are told at once, and none reaches the terminal")
{
    if (isWindowsTool("Windows has no such names of files")) return;
    const Tool tool;
    tool.write("b/good", "x");
    for (const char* name : {"b/bell\a", "b/esc\x1b[2J", "b/back\\slash", "b/\xff", "b/line\nend"})
        tool.write(name, "x");
    checkRefused(tool, "b", 1, "5 names cannot stand in an archive");
    const std::string said = tool.errors();
    CHECK(std::count(said.begin(), said.end(), '\n') == 6);
    for (const char* why : {"b/bell?: has the control character 0x07", "b/esc?[2J: has the control",
                            "b/back\\slash: has a '\\'", "b/?: is not UTF-8", "b/line?end: "})
        CHECK_MESSAGE(contains(said, why), why);
    CHECK(said.find_first_of("\a\x1b\xff") == std::string::npos);
    REQUIRE(tool("pack -o x.sluice --skip-bad-names b") == 0);
    CHECK(contains(tool.errors(), "left out: 5 bad names; -v names them"));
    REQUIRE(tool("unpack --list x.sluice") == 0);
    CHECK(tool.output() == "b/good\n");
    for (int i = 0; i < 30; ++i)
        tool.write("c/" + std::to_string(i) + "\\", "x");
    checkRefused(tool, "c", 1, "and 10 more");
    checkRefused(tool, "c --skip-bad-names", 1, "nothing to pack; left out: 30 bad names");
}

TEST_CASE("tool names: an archive of nothing is an error")
{
    const Tool tool;
    fs::create_directories(tool.path / "none/deep");
    checkRefused(tool, "none", 1, "there is nothing to pack; left out: 1 empty folder");
    checkRefused(tool, "a --exclude '**'", 1,
                 "there is nothing to pack; left out: 1 name excluded");
    checkRefused(tool, "none --shard 1/2", 1, "there is nothing to pack");
    CHECK(tool("pack --dry-run none") == 1);
    CHECK(tool("pack -o x.sluice") == 1);
    CHECK(contains(tool.errors(), "name a FILE or DIR, or a list of such with -T"));
    // A shard may be empty where the archive is not.
    CHECK(tool("pack -q --shard 5/5 -o 5.shard a/one.txt") == 0);
}

TEST_CASE("tool names: a list of 100,000 names goes there and back")
{
    if (kSlow) return skipCase("takes minutes under an emulator");
    const Tool tool;
    const auto contentOf = [](uint32_t i) { return "file " + std::to_string(i % 100); };
    const auto nameOf = [](uint32_t i) {
        return "other/" + std::to_string(i % 317) + "/" + std::to_string(i) + ".txt";
    };
    std::string list;
    for (uint32_t i = 0; i < 100; ++i)
        tool.write("n/" + std::to_string(i), contentOf(i));
    for (uint32_t i = 0; i < 100000; ++i)
        list += "n/" + std::to_string(i % 100) + "\t" + nameOf(i) + "\n";
    tool.write("list", list);
    std::replace(list.begin(), list.end(), '\n', '\0');
    tool.write("zeros", list);
    REQUIRE(tool("pack -q -l 1 -o x.sluice -T list") == 0);
    REQUIRE(tool("pack -q -l 1 -o y.sluice -T - <zeros") == 0);
    CHECK((tool.read("y.sluice") == tool.read("x.sluice")));
    CHECK(tool.onCpu("verify x.sluice") == 0);
    CHECK(contains(tool.output(), "ok, 100000 assets"));
    REQUIRE(tool.onCpu("unpack -q x.sluice other/7 -C o") == 0);
    for (uint32_t i = 7; i < 100000; i += 317)
        CHECK(tool.read("o/" + nameOf(i)) == contentOf(i));
}
