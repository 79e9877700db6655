// SPDX-License-Identifier: MIT OR Apache-2.0
// The page that sluice info --html writes.
#pragma once

#include "tools/common/html_page.h"

namespace sluice {

constexpr HtmlPage kInfoPage = {
    "sluice info",
    R"page(th, td { white-space: nowrap; }
th:last-child, td:last-child { text-align: left; width: 100%; white-space: normal; overflow-wrap: anywhere; }
canvas { display: block; width: 100%; height: 30rem; border: 1px solid var(--line); }
#path button { font: inherit; border: 0; background: none; color: var(--bar); cursor: pointer; padding: 0 .2rem; }
#hover { min-height: 1.5em; overflow-wrap: anywhere; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 0 2rem; }
)page",
    R"page(<h1 id="title"></h1>
<p id="total"></p>
<h2>Where the bytes are</h2>
<p>Areas are stored bytes. A click opens a folder. Colours are ratios: green shrinks, red does not.</p>
<div id="path"></div>
<canvas id="map" role="img" aria-label="Stored bytes by folder and file; the tables below say the same"></canvas>
<div id="hover"></div>
<h2>By type</h2>
<table id="types"></table>
<div class="columns">
<div><h2>Codecs of tiles</h2><table id="codecs"></table></div>
<div><h2>Filters of tiles</h2><table id="filters"></table></div>
</div>
<h2>Stored sizes of tiles</h2>
<table id="histogram"></table>
<h2>The largest</h2>
<table id="largest"></table>
<h2>What shrinks least</h2>
<p>Files that are stored with more than 95 % of their bytes: what another codec, filters, <code>--images</code> or a
source that was not compressed before would gain most from.</p>
<table id="least"></table>
)page",
    R"page(const ratio = (stored, plain) => plain == 0 ? "-" : (100 * stored / plain).toFixed(1) + " %";
function cell(row, content, tag) {
  const made = document.createElement(tag || "td");
  if (content instanceof Node) made.append(content); else made.textContent = content;
  row.append(made);
}
function table(id, heads, rows) {
  const head = document.createElement("tr");
  for (const one of heads) cell(head, one, "th");
  get(id).replaceChildren(head, ...rows.map(cells => {
    const row = document.createElement("tr");
    for (const one of cells) cell(row, one);
    return row;
  }));
}
function bar(part) {
  const made = document.createElement("span");
  made.className = "bar";
  made.style.width = (40 * Math.min(part, 1)).toFixed(2) + "%";
  return made;
}
function bars(id, heads, counts) {
  const most = Math.max(1, ...counts.map(one => one[1]));
  table(id, heads, counts.map(one => {
    const last = document.createElement("span");
    last.append(bar(one[1] / most), " " + one[0]);
    return [one[1].toLocaleString("en"), last];
  }));
}

// Nodes: [name, stored, plain, children or nothing]. Folders get their sums here.
const files = [];
function sum(node, path) {
  if (!Array.isArray(node[1])) { files.push([path + node[0], node[1], node[2]]); return node; }
  const made = [node[0], 0, 0, []];
  const below = node[0] == "" ? path : path + node[0] + "/";
  for (const child of node[1]) {
    const one = sum(child, below);
    made[1] += one[1];
    made[2] += one[2];
    made[3].push(one);
  }
  made[3].sort((a, b) => b[1] - a[1]);
  return made;
}
const root = sum(["", data.tree], "");

get("title").textContent = data.file;
get("total").textContent = `${data.assets.toLocaleString("en")} files, ${size(data.plain)}, ` +
  `${size(data.stored)} stored, ${ratio(data.stored, data.plain)}; archive version ${data.version}`;
table("types", ["files", "size", "stored", "ratio", "type"], data.types.map(one => {
  const last = document.createElement("span");
  last.append(bar(one[3] / Math.max(1, data.stored)), " " + one[0]);
  return [one[1].toLocaleString("en"), size(one[2]), size(one[3]), ratio(one[3], one[2]), last];
}));
bars("codecs", ["tiles", "codec"], data.codecs);
bars("filters", ["tiles", "filters"], data.filters);
bars("histogram", ["tiles", "stored bytes, at most"], data.histogram.map((count, i) => [size(2 ** i), count])
  .filter(one => one[1] != 0));
const row = one => [size(one[2]), size(one[1]), ratio(one[1], one[2]), one[0]];
files.sort((a, b) => b[1] - a[1]);
table("largest", ["size", "stored", "ratio", "name"], files.slice(0, 50).map(row));
table("least", ["size", "stored", "ratio", "name"], files.filter(one => one[1] > 0.95 * one[2] && one[2] > 0)
  .slice(0, 50).map(row));

// The map: squares as good as they get, of what is large enough to be seen.
const canvas = get("map"), context = canvas.getContext("2d");
let shown = [root], areas = [];
function colour(node) {
  const part = node[2] == 0 ? 0 : Math.min(node[1] / node[2], 1);
  return `hsl(${Math.round(130 * (1 - part))} 55% 50%)`;
}
function fill(node, path, x, y, width, height) {
  if (width < 1.5 || height < 1.5 || !node[3]) {
    context.fillStyle = colour(node);
    context.fillRect(x, y, Math.max(width - 1, 0.5), Math.max(height - 1, 0.5));
    areas.push([x, y, width, height, path + node[0], node]);
    return;
  }
  const below = node[0] == "" ? path : path + node[0] + "/";
  const nodes = node[3];
  let left = node[1], first = 0;
  while (first < nodes.length && left > 0 && width > 0 && height > 0) {
    // Takes nodes into a row along the shorter side as long as their worst shape gets better.
    const side = Math.min(width, height), scale = width * height / left;
    let end = first, row = 0, worst = Infinity;
    while (end < nodes.length) {
      const sum = row + nodes[end][1], depth = sum * scale / side;
      const least = nodes[end][1] * scale / depth, most = nodes[first][1] * scale / depth;
      const shape = least == 0 ? Infinity : Math.max(depth / least, most / depth);
      if (end > first && shape > worst) break;
      worst = shape;
      row = sum;
      ++end;
    }
    const depth = row * scale / side;
    let at = 0;
    for (let i = first; i < end; ++i) {
      const length = row == 0 ? 0 : nodes[i][1] / row * side;
      if (width >= height) fill(nodes[i], below, x, y + at, depth, length);
      else fill(nodes[i], below, x + at, y, length, depth);
      at += length;
    }
    if (width >= height) { x += depth; width -= depth; } else { y += depth; height -= depth; }
    left -= row;
    first = end;
  }
}
const pathOf = count => shown.slice(1, count).map(one => one[0] + "/").join("");
function draw() {
  const box = canvas.getBoundingClientRect(), dots = window.devicePixelRatio || 1;
  canvas.width = Math.round(box.width * dots);
  canvas.height = Math.round(box.height * dots);
  context.setTransform(dots, 0, 0, dots, 0, 0);
  areas = [];
  const top = shown[shown.length - 1];
  fill(top, pathOf(shown.length - 1), 0, 0, box.width, box.height);
  get("path").replaceChildren(...shown.map((node, i) => {
    const made = document.createElement("button");
    made.textContent = i == 0 ? data.file : node[0] + "/";
    made.onclick = () => { shown = shown.slice(0, i + 1); draw(); };
    return made;
  }));
}
function at(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  return areas.find(one => x >= one[0] && x < one[0] + one[2] && y >= one[1] && y < one[1] + one[3]);
}
canvas.onmousemove = event => {
  const area = at(event);
  get("hover").textContent = area ? `${area[4]}: ${size(area[5][2])}, ${size(area[5][1])} stored, ` +
    ratio(area[5][1], area[5][2]) : "";
};
canvas.onclick = event => {
  const area = at(event);
  if (!area) return;
  const name = area[4].slice(pathOf(shown.length).length).split("/")[0];
  const next = (shown[shown.length - 1][3] || []).find(one => one[0] == name);
  if (next && next[3]) { shown.push(next); draw(); }
};
window.onresize = draw;
draw();
document.documentElement.dataset.ready = areas.length;
)page"};

} // namespace sluice
