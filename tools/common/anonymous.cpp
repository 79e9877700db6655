// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/anonymous.h"

#include <cctype>
#include <cstdlib>

#include "tools/common/platform.h"

namespace sluice {
namespace {

bool isWordByte(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || uint8_t(c) >= 0x80;
}

// Returns whether a path can begin at `at`: only at the start of the text, or after a blank, a
// quote, a bracket or a separator.
bool mayBegin(const std::string& text, size_t at)
{
    return at == 0 || std::string(" \t\n'\"`(<[{=:,;|").find(text[at - 1]) != std::string::npos;
}

bool isPath(const std::string& text, size_t at)
{
    const auto byte = [&](size_t i) { return at + i < text.size() ? text[at + i] : ' '; };
    const auto isName = [](char c) { return isWordByte(c) || c == '.' || c == '-'; };
    if (!mayBegin(text, at)) return false;
    if (byte(0) == '/' || byte(0) == '~') return byte(0) == '/' ? isName(byte(1)) : byte(1) == '/';
    if (byte(0) == '\\' && byte(1) == '\\') return isName(byte(2)) || byte(2) == '?';
    return std::isalpha(static_cast<unsigned char>(byte(0))) != 0 && byte(1) == ':' &&
           (byte(2) == '\\' || byte(2) == '/');
}

// Returns where the path that begins at `at` ends: at the closing quote if the path stands in
// quotes, otherwise at the next blank, quote, bracket or separator.
size_t endOfPath(const std::string& text, size_t at)
{
    const char quote = at == 0 ? ' ' : text[at - 1];
    if (quote == '\'' || quote == '"' || quote == '`') {
        const size_t end = text.find(quote, at);
        if (end != std::string::npos) return end;
    }
    size_t end = text.find_first_of(" \t\r\n'\"`<>()[]{},;|", at);
    if (end == std::string::npos) end = text.size();
    // A colon or a full stop at the end belongs to the sentence, not to the path.
    while (end > at + 1 && (text[end - 1] == ':' || text[end - 1] == '.'))
        --end;
    return end;
}

std::string withoutPaths(const std::string& text)
{
    std::string result;
    for (size_t at = 0; at < text.size();) {
        if (!isPath(text, at)) {
            result += text[at++];
            continue;
        }
        result += "<path>";
        at = endOfPath(text, at);
    }
    return result;
}

// Returns 36, the length of a UUID (8-4-4-4-12 hexadecimal digits), if one stands at `at`;
// otherwise 0.
size_t uuidLength(const std::string& text, size_t at)
{
    constexpr size_t length = 36;
    if (at + length > text.size() || (at > 0 && isWordByte(text[at - 1]))) return 0;
    for (size_t i = 0; i < length; ++i) {
        const bool isDash = i == 8 || i == 13 || i == 18 || i == 23;
        const char c = text[at + i];
        if (isDash ? c != '-' : std::isxdigit(static_cast<unsigned char>(c)) == 0) return 0;
    }
    return length;
}

bool isSame(const std::string& text, size_t at, const std::string& word)
{
    if (word.empty() || at + word.size() > text.size()) return false;
    for (size_t i = 0; i < word.size(); ++i)
        if (std::tolower(static_cast<unsigned char>(text[at + i])) !=
            std::tolower(static_cast<unsigned char>(word[i])))
            return false;
    const bool begins = at == 0 || !isWordByte(text[at - 1]) || !isWordByte(word.front());
    const size_t end = at + word.size();
    return begins && (end == text.size() || !isWordByte(text[end]) || !isWordByte(word.back()));
}

void add(std::vector<PersonalName>& names, const std::string& text, const char* instead)
{
    if (text.size() > 1) names.push_back({text, instead}); // a name of one letter identifies nobody
}

} // namespace

std::vector<PersonalName> personalNames()
{
    std::vector<PersonalName> names;
    const auto variable = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value != nullptr ? value : "");
    };
    for (const char* name : {"HOME", "USERPROFILE"}) {
        std::string home = variable(name);
        while (!home.empty() && (home.back() == '/' || home.back() == '\\'))
            home.pop_back();
        add(names, home, "<home>");
        const size_t slash = home.find_last_of("/\\");
        if (slash != std::string::npos) add(names, home.substr(slash + 1), "<user>");
    }
    for (const char* name : {"USER", "LOGNAME", "USERNAME", "SUDO_USER"})
        add(names, variable(name), "<user>");
    const std::string host = hostName();
    add(names, host, "<host>");
    add(names, host.substr(0, host.find('.')), "<host>");
    for (const char* name : {"HOSTNAME", "COMPUTERNAME"})
        add(names, variable(name), "<host>");
    return names;
}

std::string anonymous(const std::string& text, const std::vector<PersonalName>& names)
{
    const std::string bare = withoutPaths(text);
    std::string result;
    for (size_t at = 0; at < bare.size();) {
        size_t length = uuidLength(bare, at);
        const char* instead = "<uuid>";
        for (const PersonalName& name : names) {
            if (length != 0) break;
            if (isSame(bare, at, name.text)) length = name.text.size(), instead = name.instead;
        }
        if (length == 0) {
            result += bare[at++];
            continue;
        }
        result += instead;
        at += length;
    }
    return result;
}

} // namespace sluice
