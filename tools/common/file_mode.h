// SPDX-License-Identifier: MIT OR Apache-2.0
// An item of an asset's parameters says that the asset's file is executable (docs/format.md, 4.5).
#pragma once

#include <sluice/sluice_formats.h>

#include "tools/common/tool.h"

namespace sluice {

// Appends this item to `parameters`, which may be empty.
void addExecutableItem(Bytes& parameters);
// Returns whether the asset has this item. The archive's index must have been checked.
bool isExecutable(const SluiceArchiveAsset& asset);

} // namespace sluice
