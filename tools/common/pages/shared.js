"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);
const units = ["B", "kB", "MB", "GB", "TB", "PB"];
function size(bytes) {
  let unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.length) { bytes /= 1000; ++unit; }
  return Number(bytes.toPrecision(3)) + "\u00a0" + units[unit];
}
const count = (number, one, more) => `${number.toLocaleString("en")} ${number == 1 ? one : more || one + "s"}`;
function element(tag, text, where) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (where) where.append(made);
  return made;
}
// Takes SVG's name space from the parser, so that no page contains a web address.
const parsed = element("div");
parsed.innerHTML = "<svg></svg>";
const svgSpace = parsed.firstChild.namespaceURI;
function draw(parent, tag, attributes, text) {
  const made = document.createElementNS(svgSpace, tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
// Fills a div with a table that can be sorted and, if it is long, searched. Columns are
// {head, show, left}; `show` makes a text or a node from a value. Rows are lists of values. Only
// `most` rows are shown until the user asks for more.
function table(id, columns, rows, {sort, descending = true, most = 100, keep} = {}) {
  const where = get(id), input = element("input"), made = document.createElement("table"), head = element("tr", undefined, element("thead"));
  let column = sort, isDescending = descending, shown = most, wanted = "";
  const texts = columns.map((one, i) => i).filter(i => columns[i].left);
  const body = element("tbody"), more = element("button");
  const text = rows.length > 12 ? rows.map(row => texts.map(i => row[i]).join("\n").toLowerCase()) : [];
  const heads = columns.map((one, i) => {
    const cell = element("th", undefined, head), button = element("button", one.head, cell);
    cell.scope = "col";
    if (one.left) cell.className = "left";
    button.type = "button";
    button.onclick = () => {
      isDescending = column == i ? !isDescending : !one.left;
      column = i;
      fill();
    };
    return cell;
  });
  const rank = value => value === undefined || value === "" ? undefined : value;
  function compare(a, b) {
    a = rank(rows[a][column]); b = rank(rows[b][column]);
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
    return (a < b ? -1 : a > b ? 1 : 0) * (isDescending ? -1 : 1);
  }
  function fill() {
    heads.forEach((cell, i) => i == column ? cell.setAttribute("aria-sort", isDescending ? "descending" : "ascending")
      : cell.removeAttribute("aria-sort"));
    let found = rows.map((row, i) => i);
    if (keep) found = found.filter(i => keep(rows[i]));
    if (wanted != "") found = found.filter(i => text[i].includes(wanted));
    if (column !== undefined) found.sort((a, b) => compare(a, b) || a - b);
    body.replaceChildren(...found.slice(0, shown).map(i => {
      const line = element("tr");
      columns.forEach((one, at) => {
        const cell = element("td", undefined, line), value = one.show ? one.show(rows[i][at], rows[i]) : rows[i][at];
        if (one.left) cell.className = "left";
        cell.dataset.head = one.head;
        if (value instanceof Node) cell.append(value); else cell.textContent = value === undefined ? "-" : value;
      });
      return line;
    }));
    more.hidden = found.length <= shown;
    more.textContent = `show more of ${count(found.length, "row")}`;
    if (state) state.textContent = wanted == "" ? "" : ` ${count(found.length, "row")} found`;
  }
  let state;
  where.replaceChildren();
  if (rows.length > 12) {
    const line = element("div", undefined, where), label = element("label", "search: ", line);
    line.className = "find";
    label.append(input);
    input.type = "search";
    input.oninput = () => { wanted = input.value.toLowerCase(); shown = most; fill(); };
    state = element("span", undefined, line);
    state.setAttribute("role", "status");
  }
  const scroll = element("div", undefined, where);
  scroll.className = "scroll";
  scroll.append(made);
  made.append(head.parentNode, body);
  if (columns.length > 4 && columns[0].left) made.className = "wide";
  more.className = "more";
  more.type = "button";
  more.onclick = () => { shown += 10 * most; fill(); };
  where.append(more);
  fill();
  return {fill, search: text => { input.value = text; input.oninput(); input.focus(); }};
}
