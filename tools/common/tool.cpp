// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/tool.h"

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <thread>

namespace sluice {

int exitCodeOf(SluiceStatus status)
{
    switch (status) {
    case SLUICE_OK: return exitOk;
    case SLUICE_ERROR_UNSUPPORTED:
    case SLUICE_ERROR_VERSION: return exitUnsupported;
    case SLUICE_ERROR_FORMAT:
    case SLUICE_ERROR_CHECKSUM:
    // BUFFER_SIZE: a parser found that the file is cut off.
    case SLUICE_ERROR_BUFFER_SIZE: return exitFormat;
    case SLUICE_ERROR_IO: return exitIo;
    case SLUICE_ERROR_DEVICE:
    case SLUICE_ERROR_OUT_OF_MEMORY: return exitDevice;
    default: return exitUsage;
    }
}

int exitCodeOfTile(uint32_t status)
{
    const bool ours = status == SLUICE_TILE_PENDING || status == SLUICE_TILE_INTERNAL;
    return ours ? exitDevice : exitFormat;
}

std::string sizeText(uint64_t bytes)
{
    static const char* const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes < 1000) {
        return formatText("%u B", uint32_t(bytes));
    }
    double value = double(bytes) / 1000;
    size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0]); ++unit) {
        value /= 1000;
    }
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return formatText("%.*f %s", decimals, value, units[unit]);
}

uint64_t sizeFromText(const std::string& option, const std::string& text, uint64_t unit)
{
    const auto fail = [&](const char* why) {
        throw Failure{exitUsage, option + ": '" + printable(text) + "' " + why};
    };
    constexpr const char* kForms = "is no size such as 500M, 1.5G, 20GiB or 20GB";
    std::string digits, fraction, letters;
    size_t at = 0;
    const auto take = [&](std::string& to, auto isOne) {
        for (; at < text.size() && isOne(text[at]); ++at)
            to += char(std::tolower(uint8_t(text[at])));
    };
    const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
    take(digits, isDigit);
    if (at < text.size() && text[at] == '.' && ++at != 0) take(fraction, isDigit);
    if (at < text.size() && text[at] == ' ') ++at;
    take(letters, [](char c) { return std::isalpha(uint8_t(c)) != 0; });
    if (digits.empty() || digits.size() > 20 || fraction.size() > 9 || at != text.size())
        fail(kForms);
    constexpr std::string_view kPrefixes = "kmgtpe";
    if (letters == "b") {
        unit = 1;
    } else if (!letters.empty()) {
        const size_t power = kPrefixes.find(letters[0]);
        const std::string behind = letters.substr(1);
        if (power == std::string_view::npos || (behind != "" && behind != "b" && behind != "ib"))
            fail(kForms);
        unit = 1;
        for (size_t i = 0; i <= power; ++i)
            unit *= behind == "b" ? 1000 : 1024;
    }
    uint64_t value = 0;
    for (const char c : digits) {
        if (value > (UINT64_MAX - uint64_t(c - '0')) / 10) fail("is too large");
        value = value * 10 + uint64_t(c - '0');
    }
    if (value != 0 && unit > UINT64_MAX / value) fail("is too large");
    value *= unit;
    uint64_t scale = 1, above = 0; // the digits after the point mean above / scale
    for (const char c : fraction) {
        above = above * 10 + uint64_t(c - '0');
        scale *= 10;
    }
    const uint64_t part = above * (unit / scale) + above * (unit % scale) / scale;
    if (part > UINT64_MAX - value) fail("is too large");
    return value + part;
}

static std::string formatArguments(const char* format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    std::string text(length < 0 ? 0 : size_t(length) + 1, '\0');
    std::vsnprintf(text.data(), text.size(), format, again);
    va_end(again);
    text.resize(text.empty() ? 0 : text.size() - 1);
    return text;
}

std::string formatText(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const std::string text = formatArguments(format, arguments);
    va_end(arguments);
    return text;
}

void printMessage(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const std::string text = formatArguments(format, arguments);
    va_end(arguments);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

uint32_t tileBytes(const AssetOptions& options)
{
    const uint32_t usual = options.codec == "zstd" ? kZstdTileKib : kDefaultTileKib;
    return 1024 * (options.tileKib != 0 ? options.tileKib : usual);
}

std::string encodingText(const AssetOptions& options)
{
    // Raise this when a change of the code makes a different texture of the same picture. Textures
    // that the cache holds from before are then not used.
    constexpr int kTextureVersion = 2;
    std::string text =
        formatText("codec=%s level=%u decode-speed=%u copy-depth=%u tile-size=%u filters=%s "
                   "images=%d bc=%s mips=%d",
                   options.codec.c_str(), options.level, options.decodeSpeed, options.copyDepth,
                   tileBytes(options) / 1024, options.filters.c_str(),
                   options.images ? kTextureVersion : 0, options.bc.c_str(), options.mips ? 1 : 0);
    if (options.kind != "auto") text += " kind=" + options.kind;
    if (options.images && options.uastc != "keep") text += " uastc=" + options.uastc;
    // max-output is left out unless it is given, so that cache entries of older versions are found.
    if (options.maxOutput != 0) text += formatText(" max-output=%llu", wide(options.maxOutput));
    return text;
}

uint64_t outputLimit(uint64_t fileSize, uint64_t asked, uint64_t least, uint64_t ratio)
{
    if (asked != 0) return asked;
    return fileSize < UINT64_MAX / ratio ? std::max(least, fileSize * ratio) : UINT64_MAX;
}

std::string whyTooLarge(uint64_t bytes, uint64_t limit)
{
    if (bytes <= limit) return "";
    return formatText("decodes to %llu bytes, and the limit is %llu; --max-output sets another",
                      wide(bytes), wide(limit));
}

void checkOutputSize(const std::string& file, uint64_t fileSize, uint64_t decodedSize,
                     uint64_t maxOutput)
{
    const uint64_t limit = outputLimit(fileSize, maxOutput);
    if (const std::string why = whyTooLarge(decodedSize, limit); !why.empty())
        throw Failure{exitFormat, file + ": " + why};
}

uint32_t threadCount(uint32_t asked)
{
    return asked != 0 ? asked : std::max(std::thread::hardware_concurrency(), 1u);
}

Character characterAt(const std::string& text, size_t at)
{
    const uint8_t first = uint8_t(text[at]);
    if (first < 0x80) return {first, 1, true};
    const size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first < 0xc2 || first > 0xf4 || bytes > text.size() - at) return {first, 1, false};
    uint32_t code = first & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; ++i) {
        const uint8_t next = uint8_t(text[at + i]);
        if ((next & 0xc0) != 0x80) return {first, 1, false};
        code = code << 6 | (next & 0x3fu);
    }
    const uint32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
    const bool isSurrogate = code >= 0xd800 && code < 0xe000;
    if (code < least || code > 0x10ffff || isSurrogate) return {first, 1, false};
    return {code, bytes, true};
}

namespace {

// Returns whether a terminal acts on this character: control characters, ends of lines, and
// characters that change the direction of text.
bool isObeyed(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

} // namespace

std::string printable(const std::string& text)
{
    std::string result;
    for (size_t at = 0; at < text.size();) {
        const Character character = characterAt(text, at);
        if (character.isValid && !isObeyed(character.code))
            result.append(text, at, character.bytes);
        else
            result += '?';
        at += character.bytes;
    }
    return result;
}

void sayError(const std::string& text)
{
    std::string lines;
    for (size_t begin = 0, end; begin <= text.size(); begin = end + 1) {
        end = std::min(text.find('\n', begin), text.size());
        lines += (begin == 0 ? "sluice: " : "\n") + printable(text.substr(begin, end - begin));
    }
    printMessage("%s\n", lines.c_str());
}

std::string jsonText(const std::string& text)
{
    std::string result = "\"";
    for (size_t at = 0; at < text.size();) {
        const Character character = characterAt(text, at);
        if (!character.isValid)
            result += "\\ufffd";
        else if (character.code == '"' || character.code == '\\')
            result += std::string("\\") + text[at];
        else if (isObeyed(character.code))
            result += formatText("\\u%04x", character.code);
        else
            result.append(text, at, character.bytes);
        at += character.bytes;
    }
    return result + "\"";
}

} // namespace sluice
