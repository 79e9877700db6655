// SPDX-License-Identifier: MIT OR Apache-2.0
// The synopsis of each verb and two examples, for --help and the manual pages.
#pragma once

#include <string>

namespace sluice {

struct VerbExample {
    const char *command, *meaning;
};

struct VerbText {
    const char* verb;      // empty: the tool itself
    const char* arguments; // what follows the verb and [-f] [-q] [-v] [OPTION]...
    VerbExample examples[2];
};

// Returns the texts of a verb; those of the tool if there is no such verb.
const VerbText& textsOf(const std::string& verb);

// Returns "sluice VERB [-f] [-q] [-v] [OPTION]... ARGUMENTS".
std::string synopsisOf(const std::string& verb);

} // namespace sluice
