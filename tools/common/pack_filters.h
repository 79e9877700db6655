// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans which filters `sluice pack` applies to a file.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sluice/sluice_archive.h>
#include <sluice/sluice_filter_encode.h>

#include "tools/common/tool.h"

namespace sluice {

using FilterPlan = std::unique_ptr<SluiceFilterPlan_T, decltype(&sluiceDestroyFilterPlan)>;

// The names of filters in --filters and `sluice info`.
constexpr std::pair<const char*, uint32_t> kFilterNames[] = {
    {"planes", SLUICE_FILTER_PLANES},
    {"difference", SLUICE_FILTER_DIFFERENCE},
    {"up", SLUICE_FILTER_UP},
    {"gradient", SLUICE_FILTER_GRADIENT},
    {"median", SLUICE_FILTER_MEDIAN},
    {"subtract", SLUICE_FILTER_SUBTRACT},
    {"float", SLUICE_FILTER_FLOAT},
    {"blocks", SLUICE_FILTER_BLOCKS},
    {"packets", SLUICE_FILTER_TGA_PACKETS},
};

// Returns the segments of an asset of codec gstd or zstd, with filters as options.filters and
// options.level say. `plan` receives the filter plan, which owns the filters' descriptions. `name`
// is for messages. `layout` is IMAGE for a KTX2 or DDS file, otherwise AUTO. Throws a Failure.
std::vector<SluiceArchiveSegment> planFilters(const std::string& name, const Bytes& bytes,
                                              SluiceFilterLayout layout,
                                              const AssetOptions& options, FilterPlan& plan);
// Throws a Failure if the text is no value of --filters.
void checkFilterList(const std::string& text);
std::string filterNames(const char* separator);

} // namespace sluice
