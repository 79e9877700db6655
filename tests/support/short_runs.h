// SPDX-License-Identifier: MIT OR Apache-2.0
// Says what short runs skip on devices that are alike. skipsSlowCompiler of devices.h does so, too.
#pragma once

#include "tests/support/devices.h"

namespace sluice::test {

// Of lavapipe's many sizes of subgroups, a short run tests what is the same for all of them with
// only two: 8 lanes, and 32 emulated ones. Of SwiftShader's it takes the one that is not emulated.
// Returns true for the others, after skipCase has been called.
bool skipsOtherSizes();

} // namespace sluice::test
