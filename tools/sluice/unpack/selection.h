// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the assets of an archive that a verb was asked for.
#pragma once

#include <string>
#include <vector>

#include "tools/common/container.h"

namespace sluice {

// Returns the indices of the selected assets in ascending order; an empty selection means all.
// Throws Failure{exitUsage} if a name or a glob matches nothing.
std::vector<uint32_t> selectAssets(const Container& container, const Selection& selection);

} // namespace sluice
