// SPDX-License-Identifier: MIT OR Apache-2.0
// Regular expressions for names of modules, as packers of DFloat11 write them: Python's, of which
// `.` `[]` `()` `(?:)` `|` `*` `+` `?` `\d` `\w` and escaped punctuation are understood. A hostile
// one can cost no more than some time.
#pragma once

#include <memory>
#include <string>

#include <regex.h>

namespace sluice {

class ModulePattern {
public:
    // False: the expression cannot be used, and the reason says why.
    bool compile(const std::string& regex, std::string& reason);
    // Does the whole name match? Only after compile.
    bool matches(const std::string& module) const;

private:
    std::unique_ptr<regex_t, void (*)(regex_t*)> m_compiled{nullptr, nullptr};
};

} // namespace sluice
