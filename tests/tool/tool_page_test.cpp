// SPDX-License-Identifier: MIT OR Apache-2.0
// The pages of info --html and bench --html: what is in them, and, where there is a Chromium, what
// they show.
#include <cstdlib>

#include "tests/tool/tool_run.h"
#include "tools/bench/bench_page.h"

using namespace sluice::test;

namespace {

// How to start a browser in the test's folder, up to the options; "", which is said, if there is
// none.
std::string browser(const Folder& tool)
{
    const char* named = std::getenv("SLUICE_CHROMIUM");
    const std::string chromium = named != nullptr ? named : "chromium";
    if (std::system(("command -v '" + chromium + "' >/dev/null").c_str()) != 0) {
        skipCase(("the page in a browser; there is no " + chromium).c_str());
        return "";
    }
    return "cd '" + tool.path.string() + "' && HOME=. timeout 60 '" + chromium +
           "' --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 ";
}

// Returns what a page shows when its scripts have run, and takes a picture of it.
std::string domOf(const Folder& tool, const std::string& show, const std::string& page)
{
    REQUIRE(std::system((show + "--dump-dom " + page + " >dom 2>log").c_str()) == 0);
    REQUIRE(std::system((show + "--window-size=1200,1600 --screenshot=page.png " + page + " 2>log")
                            .c_str()) == 0);
    CHECK(tool.read("page.png").substr(1, 3) == "PNG");
    CHECK(tool.read("page.png").size() > 20000);
    return tool.read("dom");
}

size_t countOf(const std::string& text, const std::string& part)
{
    size_t count = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
        ++count;
    return count;
}

} // namespace

TEST_CASE("tool page: info --html writes a page that needs nothing else")
{
    if (isWindowsTool("Windows has no such names of files")) return;
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

    const std::string show = browser(tool);
    if (show.empty()) return;
    const std::string dom = domOf(tool, show, "x.html");
    CHECK(contains(dom, "data-ready=\"")); // the script came to its end
    CHECK(contains(dom, "5 files, "));
    CHECK(contains(dom, "a/sub/two.bin</td>"));
    CHECK(contains(dom, "a/&lt;/script&gt;&lt;b&gt;</td>"));
    CHECK(contains(dom, "gradient") == contains(page, "gradient"));
}

TEST_CASE("tool page: bench --html writes a page that needs nothing else")
{
    if (isWindowsTool("Windows has no such names of files")) return;
    Tool tool;
    const std::string input = "</script><img src=x onerror=alert(1)>";
    tool.write("f", std::string(70000, 'x') + noise(500000) + picture());
    fs::create_directories((tool.path / input).parent_path());
    REQUIRE(tool("pack -o '" + input + "' f") == 0);
    REQUIRE(
        tool("bench -q --device cpu --filter 'copy,scan,cpu decode,stream host,gstd' --input '" +
             input + "' --html b.html") == 0);
    CHECK(tool("bench -q --device cpu --filter copy --html b.html") == 2);
    const std::string page = tool.read("b.html");
    CHECK(page.rfind("<!DOCTYPE html>", 0) == 0);
    CHECK(page.size() < 5000000);
    CHECK_FALSE(contains(page, "<img"));
    CHECK(contains(page, "\"kernel\": \"scan\", \"size\": \"2^10\""));
    // The one address in it is the name of SVG's elements.
    CHECK(countOf(page, "http") == 1);
    CHECK(countOf(page, "\"http://www.w3.org/2000/svg\"") == 1);

    const std::string show = browser(tool);
    if (show.empty()) return;
    const std::string dom = domOf(tool, show, "b.html");
    CHECK(contains(dom, "data-ready=\"")); // the script came to its end
    CHECK_FALSE(contains(dom, "data-ready=\"0\""));
    CHECK(countOf(dom, "<svg") >= 2);
    CHECK(contains(dom, "<polyline"));
    CHECK(contains(dom, "zstd -19, 256 KiB (peer)</td>"));
    CHECK(contains(dom, "of the peer's</th>"));
    CHECK(contains(dom, "ns_per_request"));
    CHECK(contains(dom, "&lt;/script&gt;&lt;img"));
    CHECK_FALSE(contains(dom, "<img"));
}

TEST_CASE("tool page: a page of many rows stays small, and counts what it leaves out")
{
    const auto figuresOf = [](size_t count) {
        sluice::BenchFigures figures;
        figures.head = "  \"device\": \"many\",\n  \"backend\": \"cpu\",\n  \"driver\": \"\",\n"
                       "  \"tier\": \"fast\",\n  \"copy_gb_per_s\": 1.5,\n";
        for (size_t i = 0; i < count; ++i) {
            const std::string bytes = std::to_string(1024 << i % 5),
                              number = std::to_string(i / 10);
            figures.rows.push_back(
                "{\"kernel\": \"kernel " + number + "\", \"size\": \"" + bytes +
                " B\", \"who\": \"" + (i % 10 < 5 ? "sluice" : "peer") + "\", \"peer\": " +
                (i % 10 < 5 ? "false" : "true") + ", \"present\": true, \"bytes\": " + bytes +
                ", \"runs\": 3, \"median_ms\": 0.5, \"fastest_ms\": 0.4, \"slowest_ms\": 0.6, "
                "\"gb_per_s\": 1.25, \"of_copy\": 0.5, \"of_peer\": 1.5}");
        }
        return figures;
    };
    Folder tool;
    const size_t counts[] = {1, 100000};
    for (const size_t count : counts) {
        CAPTURE(count);
        const std::string page = sluice::benchPage(figuresOf(count));
        CHECK(page.size() < 5000000);
        CHECK(page.size() > (count == 1 ? 10000u : 4700000u));
        CHECK(contains(page, "\"left_out\": 0,") == (count == 1));
        tool.write("x.html", page);
        const std::string show = browser(tool);
        if (show.empty()) continue;
        const std::string dom = domOf(tool, show, "x.html");
        CHECK(contains(dom, "data-ready=\"" + std::string(count == 1 ? "0" : "72") + "\""));
        CHECK(contains(dom, "more that had no place here (--json has them)</p>") == (count != 1));
        CHECK(contains(dom, "kernel 0"));
        CHECK(contains(dom, "more are in the table of all rows only.</div>") == (count != 1));
    }
}
