// SPDX-License-Identifier: MIT OR Apache-2.0
// The filters that sluice pack gives a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sluice/sluice_archive.h>
#include <sluice/sluice_filter_encode.h>

#include "tool.h"

namespace sluice {

using FilterPlan = std::unique_ptr<SluiceFilterPlan_T, decltype(&sluiceDestroyFilterPlan)>;

// The segments of an asset of codec GSTD with the filters that options.filters and options.level ask for; plan keeps
// their descriptions. name: for messages. Throws a Failure.
std::vector<SluiceArchiveSegment> planFilters(const std::string& name, const std::vector<uint8_t>& bytes,
                                              const PackOptions& options, FilterPlan& plan);

} // namespace sluice
