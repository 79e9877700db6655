// SPDX-License-Identifier: MIT OR Apache-2.0
// Pages that the tool writes: one file each with its data, no network.
#pragma once

#include <string>

namespace sluice {

// JSON, inside a script element of HTML, which its text must not end. A "<" stands only in strings.
inline std::string scriptText(const std::string& json)
{
    std::string safe;
    for (const char c : json)
        safe += c == '<' ? "\\u003c" : std::string(1, c);
    return safe;
}

// What differs between pages.
struct HtmlPage {
    const char* title;
    const char* style;
    const char* body;
    const char* script; // may use data, get(id) and size(bytes)
};

// Puts a page together around its data, which is the text of JSON without a "<".
inline std::string htmlPage(const HtmlPage& page, const std::string& json)
{
    static constexpr const char* head = R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>)page";
    static constexpr const char* style = R"page(</title>
<style>
:root { color-scheme: light dark; --line: #8886; --bar: #4a90d9; --peer: #d98a4a; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 78rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .15rem .5rem; border-bottom: 1px solid var(--line); }
.bar { display: inline-block; height: .7em; background: var(--bar); }
)page";
    static constexpr const char* script = R"page(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);
const units = ["B", "kB", "MB", "GB", "TB", "PB"];
function size(bytes) {
  let unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.length) { bytes /= 1000; ++unit; }
  return Number(bytes.toPrecision(3)) + " " + units[unit];
}
)page";
    return head + std::string(page.title) + style + page.style + "</style>\n</head>\n<body>\n" +
           page.body + "<script id=\"data\" type=\"application/json\">" + json + script +
           page.script + "</script>\n</body>\n</html>\n";
}

} // namespace sluice
