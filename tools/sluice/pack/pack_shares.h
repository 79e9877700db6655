// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides which small files share tiles: files of the same kind, so that matches can point into
// another file.
#pragma once

#include <functional>
#include <vector>

#include "tools/common/archive_writer.h"
#include "tools/common/tool.h"

namespace sluice {

// Sets ArchiveSource::share of the files, which are in the order of their extents, and brings those
// that share tiles together, where the first of them is. Only names, sizes and options decide, so
// that every machine gets the same result. Names decide where a share ends, so that a file more or
// less changes few shares.
void shareTiles(std::vector<ArchiveSource>& files,
                const std::function<AssetOptions(const ArchiveSource&)>& optionsOf);

} // namespace sluice
