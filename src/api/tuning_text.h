// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts a row of a backend's tuning table to text ("scan.blocks=264 scan.ring=1") and back. A
// row is a structure of uint32_t members, which may be in nested structures. Each backend has a
// function tuningFields(row) that returns a TuningField for each member. The templates below find
// it by argument-dependent lookup.
#pragma once

#include <sluice/sluice.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace sluice {

// Describes a member of a row of a tuning table, and the values that a text may give it. Other
// values would break the kernels.
struct TuningField {
    const char* name;
    size_t offset;
    uint32_t least, most; // the range of allowed values
    uint32_t also;        // one more allowed value; `least` if there is none

    bool allows(uint32_t value) const { return (value >= least && value <= most) || value == also; }
};

// Both make a TuningField. member: the member's name, with dots where structures are nested. least,
// most: the range of allowed values; `also` is allowed, too.
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

// Reads a decimal number and moves `text` behind it. Returns false if there is no digit, or if the
// number does not fit into 32 bits.
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

// Sets the members that `text` names, and leaves the others. The text consists of "name=value",
// separated by white space. For any other text, an unknown name or a value out of range, returns
// SLUICE_ERROR_ARGUMENT and changes nothing.
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

// Writes all members as text. `text` has room for `capacity` bytes, which may be 0; a longer text
// is cut off. Returns the length of the whole text without its final 0, as snprintf does.
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
