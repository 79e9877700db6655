// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts a row of a backend's tuning table to text ("scan.blocks=264 scan.ring=1") and back. A
// row is a structure of uint32_t members and nested structures; tuningFields(row), found by
// argument-dependent lookup, returns the array that describes its members.
#pragma once

#include <sluice/sluice.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace sluice {

// Describes one member of a row. Its range ensures the limits of the kernels, so that no text can
// break them.
struct TuningField {
    const char* name;
    size_t offset;
    uint32_t least, most;
    uint32_t also; // one more allowed value; if there is none, `least`

    bool allows(uint32_t value) const { return (value >= least && value <= most) || value == also; }
};

// Describes a member by its dotted name.
#define SLUICE_TUNING_FIELD(Row, member, least, most)                                              \
    sluice::TuningField { #member, offsetof(Row, member), least, most, least }
#define SLUICE_TUNING_FIELD_ALSO(Row, member, least, most, also)                                   \
    sluice::TuningField { #member, offsetof(Row, member), least, most, also }

template <typename Row>
uint32_t tuningValue(const Row& row, const TuningField& field)
{
    uint32_t value;
    std::memcpy(&value, reinterpret_cast<const char*>(&row) + field.offset, sizeof value);
    return value;
}

template <typename Row>
void setTuningValue(Row& row, const TuningField& field, uint32_t value)
{
    std::memcpy(reinterpret_cast<char*>(&row) + field.offset, &value, sizeof value);
}

// Consumes a decimal number at the start of `text`. Returns false if there is none or it is too
// large.
inline bool takeTuningNumber(const char*& text, uint32_t& value)
{
    if (*text < '0' || *text > '9') return false;
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        number = number * 10 + uint64_t(*text - '0');
        if (number > UINT32_MAX) return false;
    }
    value = uint32_t(number);
    return true;
}

// Sets the members that `text` names and leaves the others. Returns ARGUMENT and leaves the row
// unchanged for anything but "name=value" with white space in between, for an unknown name and for
// a value out of range.
template <typename Row>
SluiceStatus readTuning(const char* text, Row& row)
{
    constexpr const char* space = " \t\r\n";
    Row result = row;
    for (text += std::strspn(text, space); *text != 0; text += std::strspn(text, space)) {
        const size_t length = std::strcspn(text, "=");
        const TuningField* found = nullptr;
        for (const TuningField& field : tuningFields(row))
            if (std::strlen(field.name) == length && std::memcmp(field.name, text, length) == 0)
                found = &field;
        if (found == nullptr || text[length] != '=') return SLUICE_ERROR_ARGUMENT;
        text += length + 1;
        uint32_t value = 0;
        if (!takeTuningNumber(text, value) || !found->allows(value)) return SLUICE_ERROR_ARGUMENT;
        if (*text != 0 && std::strchr(space, *text) == nullptr) return SLUICE_ERROR_ARGUMENT;
        setTuningValue(result, *found, value);
    }
    row = result;
    return SLUICE_OK;
}

// Writes all members, truncated to the capacity, which may be 0. Returns the length of the whole
// text without its terminator, as snprintf does.
template <typename Row>
size_t writeTuning(const Row& row, char* text, size_t capacity)
{
    size_t length = 0;
    for (const TuningField& field : tuningFields(row)) {
        const bool fits = length < capacity;
        const int step =
            std::snprintf(fits ? text + length : nullptr, fits ? capacity - length : 0, "%s%s=%u",
                          length == 0 ? "" : " ", field.name, tuningValue(row, field));
        if (step > 0) length += size_t(step);
    }
    return length;
}

} // namespace sluice
