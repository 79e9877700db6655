// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tool.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
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
    case SLUICE_ERROR_BUFFER_SIZE: return exitFormat; // the last: a parser finds a file cut off
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
        return formatText("%u B", unsigned(bytes));
    }
    double value = double(bytes) / 1000;
    size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0]); ++unit) {
        value /= 1000;
    }
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return formatText("%.*f %s", decimals, value, units[unit]);
}

std::string formatText(const char* format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    std::string text(length < 0 ? 0 : size_t(length) + 1, '\0');
    std::vsnprintf(text.data(), text.size(), format, again);
    va_end(again);
    text.resize(text.empty() ? 0 : text.size() - 1);
    return text;
}

std::string encodingText(const AssetOptions& options)
{
    return formatText("codec=%s level=%u decode-speed=%u copy-depth=%u tile-size=%u filters=%s "
                      "images=%d bc=%s mips=%d",
                      options.codec.c_str(), options.level, options.decodeSpeed, options.copyDepth,
                      options.tileKib, options.filters.c_str(), options.images ? 1 : 0,
                      options.bc.c_str(), options.mips ? 1 : 0);
}

uint32_t threadCount(uint32_t asked)
{
    return asked != 0 ? asked : std::max(std::thread::hardware_concurrency(), 1u);
}

std::string printable(std::string text)
{
    for (char& c : text) {
        if (uint8_t(c) < 0x20 || c == 0x7f) {
            c = '?';
        }
    }
    return text;
}

std::string jsonText(const std::string& text)
{
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (uint8_t(c) < 0x20) {
            result += formatText("\\u%04x", unsigned(uint8_t(c)));
        } else {
            result += c;
        }
    }
    return result + "\"";
}

} // namespace sluice
