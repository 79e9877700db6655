// SPDX-License-Identifier: MIT OR Apache-2.0
#include "module_pattern.h"

#include <cctype>

namespace sluice {
namespace {

constexpr size_t maxPatternLength = 256, maxModuleLength = 512; // bound the time of matching

// From Python's regular expressions to POSIX's: \d, \w and (?: are all that packers are known to use beyond those.
// Repetition counts and back-references, with which a match can take forever, are refused, and escapes inside of
// brackets, which POSIX does not have.
bool translate(const std::string& python, std::string& posix)
{
    posix = "^(";
    bool inBrackets = false;
    for (size_t i = 0; i < python.size(); ++i) {
        const char c = python[i], next = i + 1 < python.size() ? python[i + 1] : '\0';
        if (c == '\\') {
            if (inBrackets) {
                return false;
            }
            ++i;
            if (next == 'd' || next == 'w') {
                posix += next == 'd' ? "[0-9]" : "[A-Za-z0-9_]";
            } else if (next != '\0' && std::isalnum(static_cast<unsigned char>(next)) == 0) {
                (posix += '\\') += next;
            } else {
                return false;
            }
        } else if (c == '(' && next == '?') {
            if (python.compare(i, 3, "(?:") != 0) {
                return false;
            }
            posix += '(';
            i += 2;
        } else if (c == '{' || static_cast<unsigned char>(c) < 0x20) {
            return false;
        } else {
            inBrackets = inBrackets ? c != ']' : c == '[';
            posix += c;
        }
    }
    posix += ")$";
    return python.size() <= maxPatternLength;
}

} // namespace

bool ModulePattern::compile(const std::string& regex)
{
    std::string posix;
    auto made = std::make_unique<regex_t>();
    if (!translate(regex, posix) || regcomp(made.get(), posix.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
        return false;
    }
    compiled_ = {made.release(), [](regex_t* compiled) {
                     regfree(compiled);
                     delete compiled;
                 }};
    return true;
}

bool ModulePattern::matches(const std::string& module) const
{
    return module.size() <= maxModuleLength && regexec(compiled_.get(), module.c_str(), 0, nullptr, 0) == 0;
}

} // namespace sluice
