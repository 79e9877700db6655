// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the assets of an archive that a verb was asked for.
#pragma once

#include <string>
#include <vector>

#include "tools/common/container.h"

namespace sluice {

// Returns the numbers of the assets, ascending; those of all if the selection is empty. Throws
// Failure{exitUsage} if a name or a glob finds nothing.
std::vector<uint32_t> selectAssets(const Container& container, const Selection& selection);

} // namespace sluice
