// SPDX-License-Identifier: MIT OR Apache-2.0
// An item of an asset's parameters says that the asset's file is executable (docs/format.md, 4.5).
#pragma once

#include <sluice/sluice_formats.h>

#include "tools/common/tool.h"

namespace sluice {

// `parameters` are the bytes of an asset's parameter block, perhaps none yet. Appends an item that
// says that the asset's file is executable.
void addExecutableItem(Bytes& parameters);
// Returns whether the asset has an item that says that its file is executable. The archive's index
// must have been checked.
bool isExecutable(const SluiceArchiveAsset& asset);

} // namespace sluice
