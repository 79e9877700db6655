// SPDX-License-Identifier: MIT OR Apache-2.0
// Regular expressions for names of modules, as DFloat11's packers write them: Python's, limited to
// `.` `[]` `()` `(?:)` `|` `*` `+` `?` `\d` `\w` and escaped punctuation. RE2 matches them, in time
// proportional to the lengths of pattern and name and in bounded memory, whatever the pattern.
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

    // Returns false if the expression cannot be used; the reason says why.
    bool compile(const std::string& regex, std::string& reason);
    // Returns whether the whole name matches. Needs compile first.
    bool matches(const std::string& module) const;

private:
    std::unique_ptr<re2::RE2> m_compiled;
};

} // namespace sluice
