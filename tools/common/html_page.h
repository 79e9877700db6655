// SPDX-License-Identifier: MIT OR Apache-2.0
// HTML pages that programs write: each is one file with its data and needs no network. The pages
// are in tools/common/pages; cmake/Texts.cmake turns each into an array.
#pragma once

#include "tools/common/filled_text.h"

namespace sluice {

// Returns JSON in a form that cannot end the HTML script element that contains it. In JSON a "<"
// occurs only in strings, so it can be escaped everywhere.
inline std::string scriptText(const std::string& json)
{
    std::string safe;
    for (const char c : json)
        safe += c == '<' ? "\\u003c" : std::string(1, c);
    return safe;
}

// Returns a page with its data, which is JSON text without a "<".
inline std::string htmlPage(const char* page, const std::string& json)
{
    return filled(page, {{"@DATA@", json}});
}

} // namespace sluice
