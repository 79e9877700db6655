// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes a build file for Ninja that packs in shards: an edge for each shard, and one that joins
// them.
#pragma once

#include <string>

#include "tools/sluice/pack/pack_sources.h"

namespace sluice {

// Returns the text of the build file. Every shard is packed with options.words, and depends on all
// of `sources`. Throws a Failure if the build file cannot express a path.
std::string ninjaText(const PackOptions& options, const PackSources& sources);

} // namespace sluice
