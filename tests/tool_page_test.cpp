// SPDX-License-Identifier: MIT OR Apache-2.0
// The page of sluice info --html: what is in it, and, where there is a Chromium, what it shows.
#include <cstdlib>

#include "tool_run.h"

using namespace sluice::test;

TEST_CASE("tool page: info --html writes a page that needs nothing else")
{
    Tool tool;
    tool.write("a/</script><b>", "a name that would end the data");
    tool.write("a/photo.tga", picture());
    REQUIRE(tool("pack -o x.sluice a") == 0);
    REQUIRE(tool("info x.sluice --html x.html") == 0);
    CHECK(tool("info x.sluice --html x.html") == 2); // nothing is overwritten
    const std::string page = tool.read("x.html");
    CHECK(page.rfind("<!DOCTYPE html>", 0) == 0);
    CHECK_FALSE(contains(page, "http"));
    CHECK(contains(page, "[\"a\",[[\"\\u003c\",[[\"script>\\u003cb>\",30,30]]]"));
    CHECK(contains(page, "[\"sub\",[[\"two.bin\",70000,70000]]]"));
    CHECK(contains(page, "\"assets\":5,"));
    CHECK(tool("info x.sluice --html y.html --json") == 1);
    REQUIRE(tool("pack --raw -o s.gdeflate a/one.txt") == 0);
    CHECK(tool("info s.gdeflate --html y.html") == 1);
    CHECK_FALSE(tool.has("y.html"));

    const char* named = std::getenv("SLUICE_CHROMIUM");
    const std::string chromium = named != nullptr ? named : "chromium";
    if (std::system(("command -v '" + chromium + "' >/dev/null").c_str()) != 0) {
        MESSAGE("not run: the page in a browser; there is no ", chromium);
        return;
    }
    const std::string show = "cd '" + tool.path.string() + "' && HOME=. timeout 60 '" + chromium +
                             "' --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 ";
    REQUIRE(std::system((show + "--dump-dom x.html >dom 2>log").c_str()) == 0);
    const std::string dom = tool.read("dom");
    CHECK(contains(dom, "data-ready=\"")); // the script came to its end
    CHECK(contains(dom, "5 files, "));
    CHECK(contains(dom, "a/sub/two.bin</td>"));
    CHECK(contains(dom, "a/&lt;/script&gt;&lt;b&gt;</td>"));
    CHECK(contains(dom, "gradient") == contains(page, "gradient"));
    REQUIRE(std::system(
                (show + "--window-size=1200,1600 --screenshot=page.png x.html 2>log").c_str()) ==
            0);
    CHECK(tool.read("page.png").substr(1, 3) == "PNG");
    CHECK(tool.read("page.png").size() > 20000);
}
