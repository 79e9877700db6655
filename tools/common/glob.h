// SPDX-License-Identifier: MIT OR Apache-2.0
// Patterns of names for --exclude and --only.
#pragma once

#include <string_view>

namespace sluice {

// Returns whether the whole name matches: '?' matches any byte except '/', '*' any number of such
// bytes, '**' any number of any bytes. The time is at most proportional to the length of the
// pattern times that of the name.
bool matchesGlob(std::string_view pattern, std::string_view name);

// A pattern without '/' is compared with the last component of the name, any other pattern with the
// whole name. "./dir" means "dir". "dir/" matches everything below the folders that "dir" matches.
bool matchesPath(std::string_view pattern, std::string_view name);

} // namespace sluice
