// SPDX-License-Identifier: MIT OR Apache-2.0
// A build file for Ninja that packs in shards: one edge a shard, and one that joins them.
#pragma once

#include <string>

#include "tools/sluice/pack/pack_sources.h"

namespace sluice {

// Returns the text of the file. options.words are the options that every shard gets; `sources` say
// what the edges depend on. Throws a Failure if a path cannot be written in such a file.
std::string ninjaText(const PackOptions& options, const PackSources& sources);

} // namespace sluice
