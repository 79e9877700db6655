// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the names that an archive may hold.
#include <sluice/sluice_formats.h>

#include <string_view>

#include "formats/integers.h"

using namespace sluice;

namespace {

// Returns the length of the UTF-8 sequence at the start of `text`; 0 if it is invalid, which
// includes over-long forms, surrogates and values above U+10FFFF.
size_t utf8Length(const uint8_t* text, size_t size)
{
    const uint8_t first = text[0];
    if (first < 0x80) return 1;
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || size < length) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((text[i] & 0xc0) != 0x80) return 0;
    const bool overLong = (first == 0xe0 && text[1] < 0xa0) || (first == 0xf0 && text[1] < 0x90);
    const bool surrogate = first == 0xed && text[1] > 0x9f;
    const bool tooLarge = first == 0xf4 && text[1] > 0x8f;
    return overLong || surrogate || tooLarge ? 0 : length;
}

bool isComponent(std::string_view text) { return !text.empty() && text != "." && text != ".."; }

} // namespace

int sluiceIsArchiveName(const char* name, size_t length)
{
    if (name == nullptr || length == 0 || length > SLUICE_ARCHIVE_MAX_NAME_LENGTH) return 0;
    const uint8_t* text = reinterpret_cast<const uint8_t*>(name);
    const uint8_t letter = text[0] | 0x20;
    if (length >= 2 && text[1] == ':' && letter >= 'a' && letter <= 'z') return 0;
    size_t component = 0; // where the current component starts
    for (size_t i = 0; i < length;) {
        const size_t step = utf8Length(text + i, length - i);
        if (step == 0 || text[i] < 0x20 || text[i] == 0x7f || text[i] == '\\') return 0;
        if (text[i] == '/') {
            if (!isComponent({name + component, i - component})) return 0;
            component = i + 1;
        }
        i += step;
    }
    return isComponent({name + component, length - component}) ? 1 : 0;
}
