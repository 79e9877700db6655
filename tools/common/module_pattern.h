// SPDX-License-Identifier: MIT OR Apache-2.0
// Regular expressions for names of modules, as the packers of DFloat11 write them. The syntax is
// Python's, limited to `.` `[]` `()` `(?:)` `|` `*` `+` `?` `\d` `\w` and escaped punctuation. RE2
// matches the expressions, because it takes bounded memory, and time proportional to the lengths of
// pattern and name.
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

    // Returns false if the expression cannot be used; `reason` then says why.
    bool compile(const std::string& regex, std::string& reason);
    // Returns whether the expression matches the whole name. compile() must have succeeded.
    bool matches(const std::string& module) const;

private:
    std::unique_ptr<re2::RE2> m_compiled;
};

} // namespace sluice
