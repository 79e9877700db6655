// SPDX-License-Identifier: MIT OR Apache-2.0
// The benchmark's rows about streaming.
#pragma once

#include "tools/bench/bench.h"
#include "tools/bench/rows.h"

namespace sluice {

// Measures streaming from files. This needs Vulkan, and a filter that names these rows, since they
// take minutes and gigabytes of files.
void benchStream(const BenchDevice& device, const BenchOptions& options, const Wanted& wanted,
                 BenchReport& report);
// Measures what calls of the streamer cost the host; the device does nothing. `input` is an
// archive; empty: made-up assets.
void benchStreamHost(BenchReport& report, const std::string& input);

} // namespace sluice
