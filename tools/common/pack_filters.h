// SPDX-License-Identifier: MIT OR Apache-2.0
// The filters that sluice pack gives a file.
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

// Their names in --filters and `sluice info`.
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

// Returns the segments of an asset of codec GSTD with the filters that options.filters and
// options.level ask for; `plan` keeps their descriptions. `name` is for messages, `layout` is AUTO
// or IMAGE. Throws a Failure.
std::vector<SluiceArchiveSegment> planFilters(const std::string& name, const Bytes& bytes,
                                              SluiceFilterLayout layout,
                                              const AssetOptions& options, FilterPlan& plan);
// Throws a Failure if --filters would not take the text.
void checkFilterList(const std::string& text);
std::string filterNames(const char* separator);
// Returns the bytes of a Gstd tile, as --tile-size says.
uint32_t gstdTileBytes(const AssetOptions& options);

} // namespace sluice
