// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sluice {

// Returns the text with the first occurrence of each placeholder (mark) replaced by its value.
// `values` has pairs of a placeholder and its value. The text must contain every placeholder.
inline std::string filled(std::string text,
                          const std::vector<std::pair<std::string, std::string>>& values)
{
    for (const auto& [mark, value] : values)
        text.replace(text.find(mark), mark.size(), value);
    return text;
}

} // namespace sluice
