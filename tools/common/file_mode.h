// SPDX-License-Identifier: MIT OR Apache-2.0
// The item of an asset's parameters that says whether its file is executable; docs/format.md, 4.5.
#pragma once

#include <sluice/sluice_formats.h>

#include "tools/common/tool.h"

namespace sluice {

// Adds the item of an executable file to parameters, which may be empty.
void addExecutableItem(Bytes& parameters);
// The asset's index has been checked.
bool isExecutable(const SluiceArchiveAsset& asset);

} // namespace sluice
