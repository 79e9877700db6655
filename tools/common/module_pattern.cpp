// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/module_pattern.h"

#include <cctype>

#include <re2/re2.h>

namespace sluice {
namespace {

constexpr size_t kMaxPatternLength = 256, kMaxModuleLength = 512;
constexpr int64_t kMaxMemory = 1 << 20; // limit for a compiled pattern and its automaton, in bytes

// Returns why a regular expression is refused, or nullptr if it is not. Python's meaning counts, so
// what other readers may understand differently is refused (docs/format.md, 5.5).
const char* refusalOf(const std::string& regex)
{
    if (regex.size() > kMaxPatternLength) return "it is longer than 256 bytes";
    bool inBrackets = false;
    for (size_t i = 0; i < regex.size(); ++i) {
        const char c = regex[i], next = i + 1 < regex.size() ? regex[i + 1] : '\0';
        if (c == '\\') {
            if (inBrackets) return "escapes in [] are not understood";
            ++i;
            if (next == '\0') return i < regex.size() ? "it has a NUL" : "it ends with \\";
            const bool isPlain = std::isalnum(static_cast<unsigned char>(next)) == 0;
            if (!isPlain && next != 'd' && next != 'w')
                return "of escaped letters and digits only \\d and \\w are understood";
        } else if (c == '(' && next == '?') {
            if (regex.compare(i, 3, "(?:") != 0) return "of (?...) only (?:...) is understood";
        } else if (c == '{') {
            return "repetition counts, {}, are not understood";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            return "it has control characters";
        } else {
            inBrackets = inBrackets ? c != ']' : c == '[';
        }
    }
    return nullptr;
}

} // namespace

ModulePattern::ModulePattern() = default;
ModulePattern::ModulePattern(ModulePattern&&) noexcept = default;
ModulePattern& ModulePattern::operator=(ModulePattern&&) noexcept = default;
ModulePattern::~ModulePattern() = default;

bool ModulePattern::compile(const std::string& regex, std::string& reason)
{
    const char* refused = refusalOf(regex);
    if (refused != nullptr) {
        reason = refused;
        return false;
    }
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMaxMemory);
    m_compiled = std::make_unique<RE2>(regex, options);
    if (!m_compiled->ok()) reason = m_compiled->error();
    return m_compiled->ok();
}

bool ModulePattern::matches(const std::string& module) const
{
    return module.size() <= kMaxModuleLength && module.find('\0') == std::string::npos &&
           RE2::FullMatch(module, *m_compiled);
}

} // namespace sluice
