// SPDX-License-Identifier: MIT OR Apache-2.0
// Patterns of names for --exclude and --only.
#pragma once

#include <string_view>

namespace sluice {

// Returns whether the whole name matches: '?' is any byte except '/', '*' any number of those, '**'
// any number of bytes. Takes at most time proportional to pattern times name, whatever they
// contain.
bool matchesGlob(std::string_view pattern, std::string_view name);

// A pattern without '/' is compared with the last component of the name, any other with the whole
// name. "./dir" means "dir", and "dir/" everything below the folders that "dir" matches.
bool matchesPath(std::string_view pattern, std::string_view name);

} // namespace sluice
