// SPDX-License-Identifier: MIT OR Apache-2.0
// Pages that programs write: one file each with its data, no network. Each is a page of
// tools/common/pages, which cmake/Texts.cmake makes an array of.
#pragma once

#include "tools/common/filled_text.h"

namespace sluice {

// JSON, inside a script element of HTML, which its text must not end. A "<" stands only in strings.
inline std::string scriptText(const std::string& json)
{
    std::string safe;
    for (const char c : json)
        safe += c == '<' ? "\\u003c" : std::string(1, c);
    return safe;
}

// A page with its data, which is the text of JSON without a "<".
inline std::string htmlPage(const char* page, const std::string& json)
{
    return filled(page, {{"@DATA@", json}});
}

} // namespace sluice
