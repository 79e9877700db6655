// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice diff and sluice patch.
#include "tests/tool/tool_run.h"

using namespace sluice::test;

namespace {

// Makes two archives, before.sluice and after.sluice.
class Versions : public Tool {
public:
    Versions()
    {
        for (int i = 0; i < 40; ++i)
            write("a/files/" + std::to_string(i), noise(5000 + size_t(i) * 100));
        write("a/photo.tga", picture());
        REQUIRE((*this)("pack --tile-size 256 -o before.sluice a") == 0);
        write("a/files/17", noise(8000)); // it grows, so what follows moves
        write("a/files/new", noise(3000).substr(100));
        fs::remove(path / "a/files/30");
        REQUIRE((*this)("pack --tile-size 256 -o after.sluice a") == 0);
    }
};

} // namespace

TEST_CASE("tool patch: a patch makes the new archive, byte for byte")
{
    const Versions tool;
    CHECK(tool("diff before.sluice after.sluice -o p.patch") == 0);
    CHECK(tool.errors() == "");
    CHECK(tool("patch before.sluice p.patch -o made.sluice") == 0);
    CHECK(tool.read("made.sluice") == tool.read("after.sluice"));
    CHECK(fs::file_size(tool.path / "p.patch") < 8000 + 2900 + 1000);
    CHECK(tool("diff after.sluice after.sluice -o same.patch") == 0);
    CHECK(fs::file_size(tool.path / "same.patch") < 130);
    CHECK(tool("diff before.sluice after.sluice -o - | \"$SLUICE\" patch before.sluice - -o -") ==
          0);
    CHECK(tool.output() == tool.read("after.sluice"));
    CHECK(tool("-v diff -f after.sluice before.sluice -o p.patch") == 0);
    CHECK(tool.onCpu("verify made.sluice") == 0);
    tool.write("order", "a/photo.tga\na/files/7\n"); // the same tiles in other places
    REQUIRE(tool("pack --tile-size 256 --order order -o ordered.sluice a") == 0);
    CHECK(tool("diff after.sluice ordered.sluice -o o.patch") == 0);
    CHECK(fs::file_size(tool.path / "o.patch") < 2000);
    CHECK(tool("patch after.sluice o.patch -o made2.sluice") == 0);
    CHECK(tool.read("made2.sluice") == tool.read("ordered.sluice"));
}

TEST_CASE("tool patch: the old archive stays until the new one is right")
{
    Versions tool;
    const std::string before = tool.read("before.sluice"), after = tool.read("after.sluice");
    REQUIRE(tool("diff before.sluice after.sluice -o p.patch") == 0);
    CHECK(tool("patch before.sluice p.patch -o before.sluice") == 2);
    std::string damaged = tool.read("p.patch");
    // A byte that the patch carries: only the checksum of the result shows it.
    damaged[1000] = char(damaged[1000] ^ 1);
    tool.write("bad.patch", damaged);
    CHECK(tool("patch -f before.sluice bad.patch -o before.sluice") == 3);
    CHECK(contains(tool.errors(), "bad.patch: "));
    CHECK(tool.read("before.sluice") == before);
    CHECK_FALSE(tool.hasTemporaries());
    // The system ends the run after half of the output.
    tool.environment = "ulimit -c 0; ulimit -f " + std::to_string(after.size() / 1024) + ";";
    CHECK(tool("patch -f before.sluice p.patch -o before.sluice") != 0);
    tool.environment.clear();
    CHECK(tool.read("before.sluice") == before);
    if (isWindowsTool("Wine replaces no file that is open")) return;
    CHECK(tool("patch -f before.sluice p.patch -o before.sluice") == 0);
    CHECK(tool.read("before.sluice") == after);
    // The file is not the old one any more.
    CHECK(tool("patch -f before.sluice p.patch -o before.sluice") == 3);
    CHECK(contains(tool.errors(), "p.patch: the patch is for another file than before.sluice"));
    CHECK(tool.read("before.sluice") == after);
}

TEST_CASE("tool patch: what becomes very large needs leave")
{
    const Versions tool;
    REQUIRE(tool("diff before.sluice after.sluice -o p.patch") == 0);
    const std::string size = std::to_string(tool.read("after.sluice").size());
    const std::string less = std::to_string(tool.read("after.sluice").size() - 1);
    CHECK(tool("patch before.sluice p.patch -o new.sluice --max-output " + less) == 3);
    CHECK(contains(tool.errors(),
                   "p.patch: decodes to " + size + " bytes, and the limit is " + less));
    CHECK_FALSE(tool.has("new.sluice"));
    CHECK_FALSE(tool.hasTemporaries());
    CHECK(tool("patch before.sluice p.patch -o new.sluice --max-output " + size) == 0);
}

TEST_CASE("tool patch: other files")
{
    const Versions tool;
    CHECK(tool("diff before.sluice a/files/1 -o p.patch") == 3);
    REQUIRE(tool("pack --raw -o s.gdeflate a/photo.tga") == 0);
    CHECK(tool("diff s.gdeflate after.sluice -o p.patch") == 3);
    CHECK(contains(tool.errors(), "s.gdeflate: is no .sluice archive"));
    CHECK(tool("diff before.sluice missing -o p.patch") == 2);
    CHECK(tool("diff before.sluice -o p.patch") == 1);
    CHECK(tool("patch before.sluice after.sluice -o x") == 3);
    CHECK(contains(tool.errors(), "after.sluice: is no patch"));
    CHECK_FALSE(tool.has("p.patch"));
    CHECK_FALSE(tool.has("x"));
    tool.damage("before.sluice");
    CHECK(tool("info before.sluice") == 0); // a tile is damaged, but no table
    CHECK(tool("diff after.sluice before.sluice -o p.patch") == 0);
    CHECK(tool("patch after.sluice p.patch -o made.sluice") == 0); // the damage is copied as it is
    CHECK(tool.read("made.sluice") == tool.read("before.sluice"));
}
