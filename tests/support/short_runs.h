// SPDX-License-Identifier: MIT OR Apache-2.0
// Says what short runs leave to one of several devices that are alike; see also skipsSlowCompiler.
#pragma once

#include "tests/support/devices.h"

namespace sluice::test {

// A short run does what is the same for every size of subgroups with only two of lavapipe's many
// sizes: 8 lanes, and 32 emulated ones. Returns true for the others, and says so.
bool skipsOtherSizes();

} // namespace sluice::test
