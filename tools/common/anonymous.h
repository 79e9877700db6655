// SPDX-License-Identifier: MIT OR Apache-2.0
// Texts of drivers and of the system that go into a report which strangers will read.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// Holds what tells whose machine this is, with what stands in its place.
struct PersonalName {
    std::string text;
    const char* instead; // "<user>"
};

// Returns the names of the user, the home folder and the host, as the environment and the system
// say.
std::vector<PersonalName> personalNames();
// Absolute paths become <path>, UUIDs <uuid>, and each of the names, where it stands as a word,
// becomes what it says; upper and lower case are alike.
std::string anonymous(const std::string& text, const std::vector<PersonalName>& names);

} // namespace sluice
