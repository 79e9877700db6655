// SPDX-License-Identifier: MIT OR Apache-2.0
// HTML pages as reports: a page is one file with its data in it and needs no network. The pages are
// in tools/common/pages; cmake/Texts.cmake makes an array of each.
#pragma once

#include "tools/common/filled_text.h"

namespace sluice {

// Escapes each "<" of JSON, so that the JSON cannot end the HTML script element that contains it.
// In JSON a "<" can only occur in a string, where the escape means the same.
inline std::string scriptText(const std::string& json)
{
    std::string safe;
    for (const char c : json)
        safe += c == '<' ? "\\u003c" : std::string(1, c);
    return safe;
}

// Returns a page with its data filled in. The data is JSON text without "<".
inline std::string htmlPage(const char* page, const std::string& json)
{
    return filled(page, {{"@DATA@", json}});
}

// Returns a page with its data filled in, and with `name` in its title and heading. The
// placeholders are filled from the last to the first, so that a name that is itself a placeholder
// is not filled.
inline std::string htmlPage(const char* page, const std::string& json, const std::string& name)
{
    std::string safe;
    for (const char c : name)
        safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    return filled(page, {{"@DATA@", json}, {"@HEADING@", safe}, {"@TITLE@", safe}});
}

} // namespace sluice
