// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes regions of Zstandard frames on a device, and compares them with the reference.
#pragma once

#include <sluice/sluice_zstd.h>

#include "tests/support/devices.h"
#include "tests/support/zstd_decode.h"

namespace sluice::test {

// Makes the pipelines of the device under test, which devices do not have unless asked.
void needZstd(Device& on);

// Decodes all cases in batches: their statuses must be the reference's, so must the bytes of those
// that are right, and no byte beside a region's output may change. Sources begin at any byte and
// lie side by side. Returns the statuses in the order of the cases. regionsAtOnce: as in
// SluiceZstdInfo.
Words checkZstdCases(Device& on, const std::vector<ZstdCase>& cases, uint32_t regionsAtOnce = 0,
                     size_t most = 128);

} // namespace sluice::test
