// SPDX-License-Identifier: MIT OR Apache-2.0
// Regular expressions for names of modules, as packers of DFloat11 write them: Python's, of which
// `.` `[]` `()` `(?:)` `|` `*` `+` `?` `\d` `\w` and escaped punctuation are understood. RE2 matches
// them: its time is proportional to the lengths of pattern and name, and its memory is bounded,
// whatever the pattern.
#pragma once

#include <memory>
#include <string>

namespace re2 {
class RE2;
}

namespace sluice {

class ModulePattern {
public:
    ModulePattern();
    ModulePattern(ModulePattern&&) noexcept;
    ModulePattern& operator=(ModulePattern&&) noexcept;
    ~ModulePattern();

    // False: the expression cannot be used, and the reason says why.
    bool compile(const std::string& regex, std::string& reason);
    // Does the whole name match? Only after compile.
    bool matches(const std::string& module) const;

private:
    std::unique_ptr<re2::RE2> m_compiled;
};

} // namespace sluice
