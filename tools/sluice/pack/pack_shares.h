// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides which small files share tiles: files of the same kind, so that a file can use matches in
// another.
#pragma once

#include <functional>
#include <vector>

#include "tools/common/archive_writer.h"
#include "tools/common/tool.h"

namespace sluice {

// Sets ArchiveSource::share of the files, and moves files that share tiles to the place of the
// first of them. The caller passes the files in the order in which they will be stored. The shares
// depend only on names, sizes and options, so they are the same on every machine. Names decide
// where a share ends, so a file that is added or removed changes few shares.
void shareTiles(std::vector<ArchiveSource>& files,
                const std::function<AssetOptions(const ArchiveSource&)>& optionsOf);

} // namespace sluice
