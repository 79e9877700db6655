// SPDX-License-Identifier: MIT OR Apache-2.0
// What short runs leave to one of several devices that are alike; see also skipsSlowCompiler.
#pragma once

#include "tests/support/devices.h"

namespace sluice::test {

// Of lavapipe's many sizes of subgroups, 8 lanes and 32 emulated ones are those with which a short
// run does what is the same for every size. True for the others, and then said.
bool skipsOtherSizes();

} // namespace sluice::test
