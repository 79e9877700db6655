// SPDX-License-Identifier: MIT OR Apache-2.0
// A build file for Ninja that packs in shards: one edge per shard, and one edge that joins them.
#pragma once

#include <string>

#include "tools/sluice/pack/pack_sources.h"

namespace sluice {

// Returns the text of the build file. Every shard gets options.words, and the edges depend on
// `sources`. Throws a Failure if a path cannot be written in such a file.
std::string ninjaText(const PackOptions& options, const PackSources& sources);

} // namespace sluice
