// SPDX-License-Identifier: MIT OR Apache-2.0
// Removes personal data from texts of drivers and of the system before they go into a report that
// strangers will read.
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
// Returns the text with <path> in place of every absolute path, <uuid> in place of every UUID, and
// its replacement in place of every name that is not part of a longer word. Names are compared
// without regard to case.
std::string anonymous(const std::string& text, const std::vector<PersonalName>& names);

} // namespace sluice
