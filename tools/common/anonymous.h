// SPDX-License-Identifier: MIT OR Apache-2.0
// Removes personal data from texts of drivers and of the system before they go into a report that
// strangers will read.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// A text that could identify the user or the machine, and its replacement.
struct PersonalName {
    std::string text;
    const char* instead; // for example "<user>"
};

// Returns the names of the user, of the home folder and of the host, from the environment and from
// the system.
std::vector<PersonalName> personalNames();
// Returns the text with every path that is absolute or begins with ~/ replaced by <path>, and every
// UUID by <uuid>. Each of `names` is replaced by its `instead`, unless the name is part of a longer
// word. Upper and lower case count as equal.
std::string anonymous(const std::string& text, const std::vector<PersonalName>& names);

} // namespace sluice
