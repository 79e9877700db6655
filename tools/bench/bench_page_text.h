// SPDX-License-Identifier: MIT OR Apache-2.0
// The page that bench --html writes.
#pragma once

#include "tools/common/html_page.h"

namespace sluice {

constexpr HtmlPage kBenchPage = {
    "sluice bench",
    R"page(h3 { font-size: .95rem; margin: .6rem 0 .2rem; overflow-wrap: anywhere; }
.left { text-align: left; overflow-wrap: anywhere; }
.bar.slower { background: var(--peer); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 0 1.5rem; }
svg { width: 100%; height: auto; } svg text { font: 10px system-ui, sans-serif; fill: currentColor; }
.scroll { overflow-x: auto; }
button { font: inherit; }
)page",
    R"page(<h1 id="title"></h1>
<p id="about"></p>
<details id="cut"></details>
<h2>Ours beside peers</h2>
<p>Our rate divided by that of the fastest peer, on the same bytes in the same run: above 1 ours is faster.</p>
<div class="scroll"><table id="peers"></table></div>
<h2>Size against speed</h2>
<p>Both axes are logarithmic. Lines with dashes are peers.</p>
<div id="speed" class="plots"></div>
<h2>Growth of cost</h2>
<p>Milliseconds by size, both axes logarithmic: where a line is steeper than the grid's diagonal, a byte of a large
batch costs more than one of a small batch.</p>
<div id="cost" class="plots"></div>
<div class="scroll"><table id="growth"></table></div>
<h2>Everything else</h2>
<div id="bars" class="plots"></div>
<h2>All rows</h2>
<div class="scroll"><table id="rows"></table></div>
<p><button id="more" hidden></button></p>
)page",
    R"page(const mostPlots = 36, mostRows = 1000, mostCompared = 300, mostPoints = 200;
const colours = ["#4a90d9", "#d98a4a", "#5aa85a", "#b05ab0", "#a8a03a", "#4ab0b0", "#d05a6a", "#888"];
const number = (value, digits) => value === undefined ? "-" : String(Number(value.toPrecision(digits || 4)));
function element(tag, text, where) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (where) where.append(made);
  return made;
}
// lefts: which columns hold names
function table(id, heads, rows, lefts) {
  const head = document.createElement("tr");
  const fill = (row, cells, tag) => cells.forEach((one, i) => {
    const made = document.createElement(tag);
    if (one instanceof Node) made.append(one); else made.textContent = one;
    if (lefts.includes(i)) made.className = "left";
    row.append(made);
  });
  fill(head, heads, "th");
  const body = document.createDocumentFragment();
  body.append(head);
  for (const cells of rows) {
    const row = document.createElement("tr");
    fill(row, cells, "td");
    body.append(row);
  }
  get(id).replaceChildren(body);
}
function draw(parent, tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

const timed = data.rows.filter(row => row.present && row.bytes > 0 && row.median_ms > 0);
const ours = row => !row.peer;
const placeOf = row => row.kernel + (row.input ? ", " + row.input + ", " + row.codec : "");
const groups = new Map();
for (const row of timed) {
  if (!groups.has(placeOf(row))) groups.set(placeOf(row), []);
  groups.get(placeOf(row)).push(row);
}
function linesOf(rows) {
  const lines = new Map();
  for (const row of rows) {
    if (!lines.has(row.who)) lines.set(row.who, []);
    lines.get(row.who).push(row);
  }
  for (const line of lines.values()) line.sort((a, b) => a.bytes - b.bytes).splice(mostPoints);
  return lines;
}
// What was measured over sizes, by somebody at three of them at least.
const isSize = text => /^(2\^\d+( B)?|[\d.]+ [kKMGT]?i?B)$/.test(text);
const sweeps = [], others = [];
for (const [name, rows] of groups) {
  const isSweep = rows.every(row => isSize(row.size)) &&
    [...linesOf(rows).values()].some(line => new Set(line.map(row => row.bytes)).size > 2);
  (isSweep ? sweeps : others).push([name, rows]);
}
function plot(where, name, rows, valueOf, unit) {
  const box = element("div", undefined, get(where));
  element("h3", name, box);
  const width = 420, height = 250, left = 46, bottom = 34, top = 8, right = 8;
  const svg = draw(box, "svg", {viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": name + ": " + unit + " by size; the table of all rows says the same"});
  const values = rows.map(valueOf), sizes = rows.map(row => row.bytes);
  const range = list => {
    const low = Math.floor(Math.log10(list.reduce((a, b) => Math.min(a, b))));
    const high = Math.ceil(Math.log10(list.reduce((a, b) => Math.max(a, b))));
    return [low, Math.max(high, low + 1)];
  };
  const [xLow, xHigh] = range(sizes), [yLow, yHigh] = range(values);
  const x = value => left + (Math.log10(value) - xLow) / (xHigh - xLow) * (width - left - right);
  const y = value => height - bottom - (Math.log10(value) - yLow) / (yHigh - yLow) * (height - top - bottom);
  for (let i = xLow; i <= xHigh; ++i) {
    draw(svg, "line", {x1: x(10 ** i), x2: x(10 ** i), y1: top, y2: height - bottom, stroke: "#8884"});
    draw(svg, "text", {x: x(10 ** i), y: height - bottom + 12, "text-anchor": i == xHigh ? "end" : "middle"}, size(10 ** i));
  }
  for (let i = yLow; i <= yHigh; ++i) {
    draw(svg, "line", {x1: left, x2: width - right, y1: y(10 ** i), y2: y(10 ** i), stroke: "#8884"});
    draw(svg, "text", {x: left - 4, y: y(10 ** i) + 3, "text-anchor": "end"}, number(10 ** i));
  }
  draw(svg, "text", {x: left + 4, y: top + 8}, unit);
  let index = 0;
  for (const [who, line] of linesOf(rows)) {
    const colour = colours[index % colours.length];
    draw(svg, "polyline", {points: line.map(row => x(row.bytes).toFixed(1) + "," + y(valueOf(row)).toFixed(1)).join(" "),
      fill: "none", stroke: colour, "stroke-width": 1.6, "stroke-dasharray": ours(line[0]) ? "" : "4 3"});
    for (const row of line) {
      const dot = draw(svg, "circle", {cx: x(row.bytes), cy: y(valueOf(row)), r: 2.4, fill: colour});
      draw(dot, "title", {}, `${who}, ${row.size}: ${number(row.gb_per_s)} GB/s, ${number(row.median_ms)} ms`);
    }
    if (index < 8) {
      const legend = element("span", "\u25a0 " + who + " ", box);
      legend.style.color = colour;
    }
    ++index;
  }
}
function bars(name, rows) {
  const box = element("div", undefined, get("bars"));
  element("h3", name + ", GB/s", box);
  const most = rows.reduce((a, row) => Math.max(a, row.gb_per_s), 1e-9), made = element("table", undefined, box);
  for (const row of rows.slice(0, mostPoints)) {
    const line = element("tr", undefined, made);
    element("td", row.size, line).className = "left";
    element("td", row.who, line).className = "left";
    element("td", number(row.gb_per_s), line);
    const cell = element("td", undefined, line), bar = element("span", undefined, cell);
    cell.className = "left";
    cell.style.width = "35%";
    bar.className = ours(row) ? "bar" : "bar slower";
    bar.style.width = (100 * row.gb_per_s / most).toFixed(1) + "%";
  }
}

get("title").textContent = data.device + ", " + data.backend + ", tier " + data.tier;
get("about").textContent = `${data.driver ? data.driver + "; " : ""}a plain copy has ${number(data.copy_gb_per_s)} GB/s ` +
  `(read and written); ${data.rows.length.toLocaleString("en")} rows` +
  (data.left_out ? `, and ${data.left_out.toLocaleString("en")} more that had no place here (--json has them)` : "");
if (data.cut && data.cut.length != 0) {
  element("summary", `Cut short to end within ${data.seconds} s: ${data.cut.length} kernels have fewer rows, or none`,
    get("cut"));
  for (const one of data.cut)
    element("div", one.kernel + (one.all ? ": nothing measured" : ": without " + one.sizes.join(", ")), get("cut"));
}
const beside = timed.filter(row => row.of_peer !== undefined).sort((a, b) => a.of_peer - b.of_peer);
table("peers", ["kernel", "size", "ours", "GB/s", "of the peer's", ""], beside.slice(0, mostCompared).map(row => {
  const bar = document.createElement("span");
  bar.className = row.of_peer < 1 ? "bar slower" : "bar";
  bar.style.width = Math.min(8 * row.of_peer, 32).toFixed(2) + "em";
  return [placeOf(row), row.size, row.who, number(row.gb_per_s), number(row.of_peer, 3), bar];
}), [0, 1, 2, 5]);
function sayMore(id, count) {
  if (count > mostCompared) get(id).after(`${count - mostCompared} more are in the table of all rows only.`);
}
sayMore("peers", beside.length);
if (beside.length == 0) get("peers").replaceWith("No peer was present on this device.");
for (const [name, rows] of sweeps.slice(0, mostPlots)) {
  plot("speed", name, rows, row => Math.max(row.gb_per_s, 1e-6), "GB/s");
  plot("cost", name, rows, row => row.median_ms, "ms");
}
if (sweeps.length == 0) {
  for (const id of ["speed", "cost"])
    get(id).textContent = "Nothing was measured at three sizes or more.";
} else if (sweeps.length > mostPlots) {
  element("p", `${sweeps.length - mostPlots} more are in the table only.`, get("speed"));
}
const growth = [];
for (const [name, rows] of sweeps) {
  for (const [who, line] of linesOf(rows)) {
    const first = line[0], last = line[line.length - 1];
    if (first.bytes == last.bytes) continue;
    growth.push([name, who, first.size, last.size, number(first.median_ms), number(last.median_ms),
      number(last.bytes / first.bytes, 3), number(last.median_ms / first.median_ms, 3)]);
  }
}
if (growth.length != 0)
  table("growth", ["kernel", "who", "from", "to", "ms", "ms", "bytes, times", "ms, times"], growth.slice(0, mostCompared),
    [0, 1]);
sayMore("growth", growth.length);
for (const [name, rows] of others.slice(0, mostPlots)) bars(name, rows);
if (others.length > mostPlots)
  element("p", `${others.length - mostPlots} more are in the table only.`, get("bars"));
function showRows(count) {
  table("rows", ["kernel", "size", "who", "input", "ms", "spread", "GB/s", "of copy", "of peer", "more"],
    data.rows.slice(0, count).map(row => {
      const known = ["kernel", "size", "who", "peer", "input", "codec", "size_ratio", "present", "why", "bytes", "runs",
        "median_ms", "fastest_ms", "slowest_ms", "gb_per_s", "of_copy", "of_peer"];
      const more = Object.keys(row).filter(key => !known.includes(key)).map(key => key + " " + number(row[key]));
      if (!row.present) more.push("not present" + (row.why ? ": " + row.why : ""));
      const spread = row.median_ms > 0 ? (100 * (row.slowest_ms - row.fastest_ms) / row.median_ms).toFixed(1) + " %" : "-";
      return [row.kernel, row.size, row.who + (row.peer ? " (peer)" : ""),
        row.input ? row.input + ", " + row.codec + ", " + (100 * row.size_ratio).toFixed(1) + " %" : "",
        number(row.median_ms), spread, number(row.gb_per_s), number(row.of_copy, 3), number(row.of_peer, 3),
        more.join(", ")];
    }), [0, 1, 2, 3, 9]);
  get("more").hidden = count >= data.rows.length;
  get("more").textContent = `show all ${data.rows.length.toLocaleString("en")} rows`;
}
get("more").onclick = () => showRows(data.rows.length);
showRows(mostRows);
document.documentElement.dataset.ready = document.querySelectorAll("svg").length;
)page"};

} // namespace sluice
