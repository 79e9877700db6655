// SPDX-License-Identifier: MIT OR Apache-2.0
// Patterns for names, as --exclude and --only take them.
#pragma once

#include <string_view>

namespace sluice {

// Returns whether the pattern matches the whole name. '?' matches any byte except '/', '*' any
// number of such bytes, '**' any number of any bytes. Takes at most time proportional to the
// product of both lengths.
bool matchesGlob(std::string_view pattern, std::string_view name);

// Returns whether the pattern matches the name of a file. A pattern without '/' is compared with
// the last component of the name, any other pattern with the whole name. "./dir" means "dir", and
// "dir/" matches every file below a folder that "dir" matches.
bool matchesPath(std::string_view pattern, std::string_view name);

} // namespace sluice
