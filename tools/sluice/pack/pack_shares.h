// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides which small files share tiles: files of the same kind, so that matches in one file can
// refer to another.
#pragma once

#include <functional>
#include <vector>

#include "tools/common/archive_writer.h"
#include "tools/common/tool.h"

namespace sluice {

// Sets ArchiveSource::share of the files, which are in the order of their extents, and moves files
// that share tiles to the place of the first of them. The result depends only on names, sizes and
// options, so every machine gets the same. Names decide where a share ends, so adding or removing a
// file changes few shares.
void shareTiles(std::vector<ArchiveSource>& files,
                const std::function<AssetOptions(const ArchiveSource&)>& optionsOf);

} // namespace sluice
