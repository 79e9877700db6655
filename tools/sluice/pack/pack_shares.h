// SPDX-License-Identifier: MIT OR Apache-2.0
// Which small files share tiles: those of a kind, so that one finds in another what it would have
// to say anew by itself.
#pragma once

#include <functional>
#include <vector>

#include "tools/common/archive_writer.h"
#include "tools/common/tool.h"

namespace sluice {

// Sets ArchiveSource::share of the files, which are in the order of their extents, and brings those
// that share tiles together, where the first of them is. Names, sizes and options alone decide, so
// that every machine finds the same, and each share ends where a name says so, so that a file more
// or less changes few of them.
void shareTiles(std::vector<ArchiveSource>& files,
                const std::function<AssetOptions(const ArchiveSource&)>& optionsOf);

} // namespace sluice
