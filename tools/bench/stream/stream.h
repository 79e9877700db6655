// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of streaming.
#pragma once

#include "tools/bench/bench.h"
#include "tools/bench/rows.h"

namespace sluice {

// Measures streaming. All rows except those of the host need Vulkan and a filter that asks for
// them, because they take minutes and gigabytes of files.
void benchStream(const BenchDevice& device, const BenchOptions& options, const Wanted& wanted,
                 BenchReport& report);
// Measures what calls cost the host, on a device that does nothing. input: an archive; empty: made
// up.
void benchStreamHost(BenchReport& report, const std::string& input);

} // namespace sluice
