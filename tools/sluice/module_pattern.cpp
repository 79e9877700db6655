// SPDX-License-Identifier: MIT OR Apache-2.0
#include "module_pattern.h"

#include <cctype>

namespace sluice {
namespace {

constexpr size_t kMaxPatternLength = 256, kMaxModuleLength = 512; // bound the time of matching

// Turns Python's regular expression into a POSIX one. Beyond POSIX, packers are known to use \d, \w
// and (?: alone. Repetition counts and back-references, with which a match can take forever, are
// refused, and escapes inside of brackets, which POSIX does not have. Returns what is wrong,
// nullptr if nothing is.
const char* translate(const std::string& python, std::string& posix)
{
    if (python.size() > kMaxPatternLength) return "it is longer than 256 bytes";
    posix = "^(";
    bool inBrackets = false;
    for (size_t i = 0; i < python.size(); ++i) {
        const char c = python[i], next = i + 1 < python.size() ? python[i + 1] : '\0';
        if (c == '\\') {
            if (inBrackets) return "escapes in [] are not understood";
            ++i;
            if (next == 'd' || next == 'w') {
                posix += next == 'd' ? "[0-9]" : "[A-Za-z0-9_]";
            } else if (next == '\0') {
                return i < python.size() ? "it has a NUL" : "it ends with \\";
            } else if (std::isalnum(static_cast<unsigned char>(next)) != 0) {
                return "of escaped letters and digits only \\d and \\w are understood";
            } else {
                (posix += '\\') += next;
            }
        } else if (c == '(' && next == '?') {
            if (python.compare(i, 3, "(?:") != 0) return "of (?...) only (?:...) is understood";
            posix += '(';
            i += 2;
        } else if (c == '{') {
            return "repetition counts, {}, are not understood";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            return "it has control characters";
        } else {
            inBrackets = inBrackets ? c != ']' : c == '[';
            posix += c;
        }
    }
    posix += ")$";
    return nullptr;
}

} // namespace

bool ModulePattern::compile(const std::string& regex, std::string& reason)
{
    std::string posix;
    auto made = std::make_unique<regex_t>();
    const char* wrong = translate(regex, posix);
    if (wrong != nullptr) {
        reason = wrong;
        return false;
    }
    const int code = regcomp(made.get(), posix.c_str(), REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        char text[128] = {};
        regerror(code, made.get(), text, sizeof text);
        reason = text;
        return false;
    }
    m_compiled = {made.release(), [](regex_t* compiled) {
                      regfree(compiled);
                      delete compiled;
                  }};
    return true;
}

bool ModulePattern::matches(const std::string& module) const
{
    return module.size() <= kMaxModuleLength && module.find('\0') == std::string::npos &&
           regexec(m_compiled.get(), module.c_str(), 0, nullptr, 0) == 0;
}

} // namespace sluice
