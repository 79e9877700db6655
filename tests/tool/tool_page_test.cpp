// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the pages of info --html, bench --html and the viewer: what is in them and, if there is a
// Chromium, what they show.
#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "tests/tool/tool_run.h"
#include "tools/bench/bench_page.h"
#include "tools/samples/viewer/report.h"

using namespace sluice::test;

namespace {

// Returns the beginning of a command that starts a browser in the test's folder. If there is none,
// skips the case and returns "".
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

// Returns what a page shows after its scripts have run, and takes a picture of it.
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

std::string replaced(std::string text, const std::string& part, const std::string& by)
{
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
        text.replace(at, part.size(), by);
    return text;
}

// Runs a function body in a page that is `width` pixels wide, after the page's own script, and
// returns the text that it returns. Errors of the page come first, a line each.
std::string probe(const Folder& tool, const std::string& show, const std::string& page,
                  uint32_t width, bool isDark, const std::string& body)
{
    // A window is never as narrow as a phone, but a frame is.
    std::string framed = replaced(
        page, "<head>",
        "<head><script>window.seen = \"\"; window.onerror = text => { seen += text + \"\\n\"; };"
        "console.error = console.warn = window.onerror;</script>");
    framed = replaced(framed, "</body>",
                      "<script>parent.document.body.dataset.result = \"{{\" + seen + (() => {" +
                          body + "})() + \"}}\";</script></body>");
    framed = replaced(replaced(framed, "&", "&amp;"), "\"", "&quot;");
    tool.write("framed.html", "<!DOCTYPE html><body><iframe width=" + std::to_string(width) +
                                  " height=900 style='border: 0' srcdoc=\"" + framed +
                                  "\"></iframe></body>");
    REQUIRE(std::system((show + (isDark ? "--blink-settings=preferredColorScheme=0 " : "") +
                         "--dump-dom framed.html >dom 2>log")
                            .c_str()) == 0);
    const std::string dom = tool.read("dom");
    const size_t begin = dom.find("data-result=\"{{");
    REQUIRE(begin != std::string::npos);
    return dom.substr(begin + 15, dom.find("}}", begin) - begin - 15);
}

// Returns what a reader would miss in a page: text whose contrast is below 4.5, and anything that
// is wider than the page.
const char* const kFaults = R"js(
const parse = text => { const c = text.match(/[\d.]+/g).map(Number); return c.length < 4 ? [...c, 1] : c; };
const light = ([r, g, b]) => {
  const part = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
};
const over = (top, below) => [0, 1, 2].map(i => below[i] * (1 - top[3]) + top[i] * top[3]);
const behind = one => {
  if (!one) return [255, 255, 255];
  const colour = parse(getComputedStyle(one).backgroundColor);
  return colour[3] == 1 ? colour : over(colour, behind(one.parentElement));
};
const faults = new Set();
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let count = 0;
while (texts.nextNode()) {
  const one = texts.currentNode.parentElement, style = getComputedStyle(one), paper = behind(one);
  if (texts.currentNode.data.trim() == "" || one.closest("script, noscript, title") || one.localName == "title") continue;
  const ink = over(parse(one instanceof SVGElement ? style.fill : style.color), paper);
  const [low, high] = [light(ink), light(paper)].sort((a, b) => a - b);
  if ((high + 0.05) / (low + 0.05) < 4.5) faults.add("contrast of " + one.localName + "." + one.className);
  ++count;
}
if (count < 10) faults.add("nothing is shown");
if (matchMedia("(prefers-color-scheme: dark)").matches != isDark) faults.add("not dark");
if (document.documentElement.scrollWidth > innerWidth) faults.add("wider than the page");
for (const one of document.querySelectorAll("button, input, [tabindex]"))
  if (!one.hidden && one.tabIndex < 0 && !one.closest("#map")) faults.add("no keyboard for " + one.localName);
return [...faults].join("; ");
)js";

void checkLook(const Folder& tool, const std::string& show, const std::string& page)
{
    for (const uint32_t width : {1280u, 400u}) {
        for (const bool isDark : {false, true}) {
            CAPTURE(width);
            CAPTURE(isDark);
            CHECK(probe(tool, show, page, width, isDark,
                        std::string("const isDark = ") + (isDark ? "true" : "false") + ";" +
                            kFaults) == "");
        }
    }
}

// Returns the report of a flight whose first frame is slow, and which raises all of 40 textures.
viewer::Report flight()
{
    viewer::Report report;
    report.device = "</script><b>";
    report.context = "GPU";
    report.queue = "frames";
    report.maps = "a b";
    report.budgetMilliseconds = 8;
    report.budgetBytes = uint64_t{64} << 20;
    for (uint32_t i = 0; i < 900; ++i) {
        const uint32_t fine = std::min(i / 10, 40u);
        const float time = i == 0 ? 392.0f : 2.0f + 0.001f * float(i % 7);
        report.streamed.push_back({time,
                                   0.5f,
                                   uint64_t{i} << 15,
                                   uint64_t{30} << 20,
                                   i % 3,
                                   i % 5,
                                   {fine, (40 - fine) / 2, 0, 0, 40 - fine - (40 - fine) / 2}});
        report.resident.push_back({2.0f, 0, 0, 0, 0, 0, {}});
        report.memory.push_back({float(i), uint64_t{200} << 20, uint64_t{50} << 20});
    }
    report.latencies = {{"tail", {1, 2, 3, 4}}, {"level", {5, 6, 7, 900}}};
    return report;
}

std::string between(const std::string& text, const std::string& before, const std::string& after)
{
    const size_t begin = text.find(before) + before.size();
    return text.substr(begin, text.find(after, begin) - begin);
}

// Packs a tree with a folder that is the largest, and files that shrink more and less.
void packTree(Tool& tool)
{
    tool.write("t/large/deep/noise.bin", noise(300000));
    tool.write("t/large/deep/text.txt", std::string(300000, 't') + noise(100000));
    tool.write("t/large/zeros.bin", std::string(900000, 'z'));
    tool.write("t/small/noise.bin", noise(50000) + std::string(50000, 'z'));
    tool.write("t/tiny", "x");
    REQUIRE(tool("pack -q --filters none -o tree.sluice t") == 0);
    REQUIRE(tool("info tree.sluice --html tree.html") == 0);
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
    CHECK(contains(dom, "data-ready=\"")); // the script has come to its end
    CHECK(contains(dom, "5 files, "));
    CHECK(contains(dom, "a/sub/two.bin</td>"));
    CHECK(contains(dom, "a/&lt;/script&gt;&lt;b&gt;</td>"));
    CHECK(contains(dom, "gradient") == contains(page, "gradient"));
}

TEST_CASE("tool page: a title names its archive, whatever the name is")
{
    if (isWindowsTool("Windows has no such names of files")) return;
    Tool tool;
    const std::string name = "@DATA@<b>&amp;@HEADING@\".sluice";
    tool.write("f", "text");
    REQUIRE(tool("pack -q -o '" + name + "' f") == 0);
    REQUIRE(tool("info --html x.html '" + name + "'") == 0);
    const std::string page = tool.read("x.html"), shown = "@DATA@&lt;b>&amp;amp;@HEADING@\".sluice";
    CHECK(contains(page, "<title>" + shown + ": sluice info</title>"));
    CHECK(contains(page, "<h1 id=\"title\">" + shown + "</h1>"));
    CHECK(contains(page, "\"tree\":[[\"f\",4,4]]"));
    const std::string show = browser(tool);
    if (show.empty()) return;
    CHECK(probe(tool, show, page, 1280, false,
                "return document.title == data.file + ': sluice info' && "
                "get('title').textContent == data.file ? 'both' : document.title") == "both");
}

TEST_CASE("tool page: the largest folder and the file that shrinks least stand on top")
{
    Tool tool;
    packTree(tool);
    const std::string show = browser(tool);
    if (show.empty()) return;
    // t/ holds everything, so it is no answer. One byte does not shrink either, but is no answer.
    CHECK(
        probe(
            tool, show, tool.read("tree.html"), 1280, false,
            "return get('largest-folder').textContent + ' ' + get('least-file').textContent + ' ' "
            "+ (get('answers').getBoundingClientRect().bottom < 300)") ==
        "t/large/ t/large/deep/noise.bin true");
    tool.write("n/a.bin", noise(5000));
    tool.write("n/b.bin", noise(6000));
    REQUIRE(tool("pack -q --no-share -o n.sluice n/a.bin n/b.bin") == 0);
    REQUIRE(tool("info n.sluice --html n.html") == 0);
    CHECK(probe(tool, show, tool.read("n.html"), 1280, false,
                "return get('answers').textContent.split(':')[0]") ==
          "No file is in a folder.The file that shrinks least is b.bin");
}

TEST_CASE("tool page: the map has names and frames, and is used without a mouse")
{
    Tool tool;
    packTree(tool);
    const std::string show = browser(tool);
    if (show.empty()) return;
    // Cells say their names, those of folders stand in frames around them, and one at a time can
    // be reached by the tabulator.
    const std::string names = probe(tool, show, tool.read("tree.html"), 1280, false, R"js(
const cells = [...get("map").children], inside = (a, b) => a.left >= b.left && a.right <= b.right &&
  a.top >= b.top + 15 && a.bottom <= b.bottom;
const frameOf = name => cells.find(one => one.className == "folder" && one.textContent.startsWith(name));
const cellOf = name => cells.find(one => one.getAttribute("aria-label").startsWith(name + ":"));
const box = one => one.getBoundingClientRect();
return cells.filter(one => one.tabIndex == 0).length + " " + cells.filter(one => !one.getAttribute("aria-label")).length + " " +
  inside(box(cellOf("t/large/deep/noise.bin")), box(frameOf("deep/"))) + " " + inside(box(frameOf("deep/")), box(frameOf("large/"))) + " " + isOnTop();
function isOnTop() { // what a folder holds is seen while the folder has the focus
  frameOf("deep/").focus();
  get("map").scrollIntoView();
  const at = box(cellOf("t/large/deep/noise.bin")), on = document.elementFromPoint(at.left + at.width / 2, at.top + at.height / 2);
  return on.closest("button") == cellOf("t/large/deep/noise.bin");
}
)js");
    CHECK(names == "1 0 true true true");
    const std::string keys = probe(tool, show, tool.read("tree.html"), 400, false, R"js(
const at = () => (document.activeElement.getAttribute("aria-label") || "nothing").split(":")[0];
const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const walk = [];
get("map").querySelector("[tabindex='0']").focus();
walk.push(at());
press("ArrowDown"); walk.push(at());
document.activeElement.click(); walk.push(get("path").textContent, at());
press("ArrowDown"); walk.push(at());
press("Escape"); walk.push(get("path").textContent, at());
press("End"); press("Home"); walk.push(at());
for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Escape", "x"]) for (let i = 0; i < 9; ++i) press(key);
return walk.join("|") + "|" + (document.activeElement.parentElement == get("map")) + "|" + get("facts").textContent.includes("stored");
)js");
    CHECK(
        keys ==
        "t/|t/large/|tree.sluice / t / large|t/large/deep/|t/large/deep/noise.bin|tree.sluice / t|"
        "t/large/|t/large/|true|true");
}

TEST_CASE("tool page: colour-blind readers tell the shades of the map apart")
{
    Tool tool;
    packTree(tool);
    const std::string show = browser(tool);
    if (show.empty()) return;
    // Colours as they are seen without red, without green and without blue cones, after Machado,
    // Oliveira and Fernandes (2009); the least distance in CIE L*a*b* of any two shades.
    const std::string least = probe(tool, show, tool.read("tree.html"), 1280, false, R"js(
const seen = [[1, 0, 0, 0, 1, 0, 0, 0, 1],
  [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881],
  [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900]];
const times = (m, v) => [0, 3, 6].map(i => m[i] * v[0] + m[i + 1] * v[1] + m[i + 2] * v[2]);
const linear = one => (one /= 255) <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
const lab = rgb => {
  const white = [0.9505, 1, 1.089];
  const [x, y, z] = times([0.4124, 0.3576, 0.1805, 0.2126, 0.7152, 0.0722, 0.0193, 0.1192, 0.9505],
    rgb.map(one => Math.min(Math.max(one, 0), 1))).map((one, i) => one / white[i])
    .map(one => one > 0.008856 ? Math.cbrt(one) : 7.787 * one + 16 / 116);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
};
const shades = [...get("legend").querySelectorAll("i")].map(one => getComputedStyle(one).backgroundColor.match(/\d+/g).map(linear));
let least = 1000;
for (const eye of seen) {
  const colours = shades.map(one => lab(times(eye, one)));
  colours.forEach((a, i) => colours.slice(i + 1).forEach(b => { least = Math.min(least, Math.hypot(...a.map((one, k) => one - b[k]))); }));
}
return shades.length + " " + Math.floor(least);
)js");
    CHECK(least.substr(0, 2) == "5 ");
    CHECK(std::atoi(least.c_str() + 2) >= 25); // 2 is what a good eye sees side by side
}

TEST_CASE("tool page: tables sort, find names and hold few rows")
{
    Tool tool;
    packTree(tool);
    // A page of a hundred thousand files, with names like those of this machine's archives.
    std::string tree = "[";
    for (uint32_t folder = 0; folder < 1000; ++folder) {
        tree += (folder == 0 ? "[\"" : ",[\"") + ("folder" + std::to_string(folder)) + "\",[";
        for (uint32_t file = 0; file < 100; ++file)
            tree += (file == 0 ? "[\"" : ",[\"") + ("file" + std::to_string(file)) + "\"," +
                    std::to_string(1 + folder * file) + "," + std::to_string(1 + folder * 100) +
                    "]";
        tree += "]]";
    }
    std::string page = tool.read("tree.html");
    const size_t begin = page.find("\"tree\":") + 7;
    page.replace(begin, page.find("</script>", begin) - begin - 1, tree + "]");
    const std::string show = browser(tool);
    if (show.empty()) return;
    CHECK(probe(tool, show, page, 1280, false, R"js(
const rows = () => [...get("files").querySelectorAll("tbody tr")];
const first = () => rows()[0].lastChild.textContent, found = [];
const heads = [...get("files").querySelectorAll("th button")], input = get("files").querySelector("input");
found.push(document.querySelectorAll("*").length < 8000, get("map").children.length <= 1200, rows().length, first());
heads[3].click(); found.push(first(), get("files").querySelector("[aria-sort]").textContent);
heads[3].click(); found.push(first());
heads[2].click(); found.push(rows()[0].children[2].textContent);
const search = text => { input.value = text; input.dispatchEvent(new Event("input")); };
search("FOLDER77/file5"); found.push(rows().length);
search("no such"); found.push(rows().length, get("files").querySelector("[role=status]").textContent);
search(""); get("large").click(); found.push(rows().length, rows().every(row => parseFloat(row.children[2].textContent) > 95));
get("files").querySelector(".more").click(); found.push(rows().length);
// What is too small for the map stands in it as one, which opens.
const rest = get("map").querySelector(".rest"), label = rest.textContent;
rest.click(); found.push(label.split(" folders")[0], get("map").children.length > 100, get("path").textContent.includes(label.slice(0, 12)));
return found.join("|");
)js") == "true|true|50|folder999/file99|folder0/file0|name|folder999/file99|100.0 %|11|0| 0 rows "
         "found|50|true|550|700 smaller|true|true");
}

TEST_CASE("tool page: every page is read in light and dark, wide and narrow")
{
    Tool tool;
    packTree(tool);
    const std::string show = browser(tool);
    if (show.empty()) return;
    checkLook(tool, show, tool.read("tree.html"));
    REQUIRE(tool("bench -q --device cpu --filter '=copy,scan,=cpu decode' --html b.html") == 0);
    checkLook(tool, show, tool.read("b.html"));
    checkLook(tool, show, viewer::pageOf(flight()));
}

TEST_CASE("tool page: one slow frame does not flatten the viewer's plots, and is told in words")
{
    const std::string page = viewer::pageOf(flight());
    CHECK_FALSE(contains(page, "http"));
    const nlohmann::json data =
        nlohmann::json::parse(between(page, "type=\"application/json\">", "</script>"));
    const auto plotOf = [&](const std::string& title) {
        for (const nlohmann::json& plot : data.at("plots"))
            if (plot.at("title") == title) return plot;
        return nlohmann::json();
    };
    const nlohmann::json frames = plotOf("GPU time of a frame"),
                         own = plotOf("GPU time of streaming"), memory = plotOf("Residency"),
                         levels = plotOf("Residency by level");
    CHECK(frames.at("top") <= 5);
    CHECK(frames.at("beyond") == "Beyond this scale is frame 0, with 392 ms.");
    // The budget is on the scale, even where nothing comes near it.
    CHECK(own.at("top") >= 8);
    CHECK(own.at("marks") == nlohmann::json::parse(R"([{"name": "budget", "value": 8.0}])"));
    CHECK(own.at("beyond") == "");
    CHECK(memory.at("top") >= 64);
    CHECK(memory.at("marks").at(0).at("value") == 64);
    // The bands of each frame add up to all textures.
    REQUIRE(levels.at("lines").size() == viewer::kLevelBands);
    CHECK(levels.at("stacked") == true);
    CHECK(levels.at("top") == 40);
    for (size_t i = 0; i < levels.at("lines").at(0).at("values").size(); ++i) {
        int sum = 0;
        for (const nlohmann::json& line : levels.at("lines"))
            sum += line.at("values").at(i).get<int>();
        CHECK(sum == 40);
    }
    // Frames that are all alike have all of the scale.
    viewer::Report even = flight();
    even.streamed.erase(even.streamed.begin());
    CHECK(contains(viewer::pageOf(even), "\"beyond\":\"\""));
    CHECK_FALSE(contains(viewer::pageOf(even), "Beyond"));
    CHECK_FALSE(contains(viewer::pageOf({}), "nan"));

    const Folder tool;
    const std::string show = browser(tool);
    if (show.empty()) return;
    CHECK(probe(tool, show, page, 400, true, R"js(
const plots = [...document.querySelectorAll("section")];
const of = title => plots.find(one => one.firstChild.textContent.startsWith(title));
return [of("GPU time of a frame").textContent.includes("frame 0, with 392 ms"), of("GPU time of streaming").querySelectorAll(".budget").length,
  of("GPU time of streaming").textContent.includes("budget: 8 ms"), of("Residency by level").querySelectorAll("polygon").length,
  of("GPU time of a frame").querySelectorAll("svg path").length].join(" "); // one arrow points to what is beyond the scale
)js") == "true 1 true 5 1");
    CHECK(probe(tool, show, viewer::pageOf({}), 400, true, "return 'ended'") == "ended");
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
    CHECK_FALSE(contains(page, "http"));

    const std::string show = browser(tool);
    if (show.empty()) return;
    const std::string dom = domOf(tool, show, "b.html");
    CHECK(contains(dom, "data-ready=\"")); // the script has come to its end
    CHECK_FALSE(contains(dom, "data-ready=\"0\""));
    CHECK(countOf(dom, "<svg") >= 2);
    CHECK(contains(dom, "<polyline"));
    CHECK(contains(dom, "zstd -19, 256 KiB (peer)</td>"));
    CHECK(contains(dom, "of the peer's</button></th>"));
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
        CHECK(contains(dom, "more are in the table of all rows only.</p>") == (count != 1));
    }
}
