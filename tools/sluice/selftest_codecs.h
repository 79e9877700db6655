// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of sluice selftest that packs made-up assets and decodes them on the device.
#pragma once

#include "device.h"

namespace sluice {

struct CodecResults {
    bool gstd = true, filter = true, floats = true; // right, and what is damaged is noticed
};
CodecResults testCodecs(const ToolDevice& device);

// Tables from counts, as the CPU makes them.
bool testFseTables(const ToolDevice& device);

} // namespace sluice
