// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of sluice selftest that gives made-up data to reductions, intervals, bulk operations and
// DFloat11.
#pragma once

#include "device.h"

namespace sluice {

// Each is compared with a plain loop on the host.
bool testReduce(const ToolDevice& device);
bool testIntervals(const ToolDevice& device); // expand, move, gather, scatter, search
bool testBulk(const ToolDevice& device);      // remove, insert
bool testDf11(const ToolDevice& device);      // both kinds, and a unit that is damaged

} // namespace sluice
