// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the filter plan of a file: segments must cover it, and each tile must come back when its
// filter is undone.
#pragma once

#include <sluice/sluice_filter.h>
#include <sluice/sluice_filter_encode.h>

#include <algorithm>
#include <vector>

#include "tests/fuzz/fuzzing.h"

namespace sluice::fuzz {

inline void checkFilterPlan(const uint8_t* data, size_t size, const SluiceFilterPlanInfo& info)
{
    SluiceFilterPlan plan = nullptr;
    require(sluiceCreateFilterPlan(data, size, &info, &plan) == SLUICE_OK);
    uint32_t count = 0;
    const SluiceFilterSegment* segments = sluiceGetFilterSegments(plan, &count);
    size_t at = 0;
    std::vector<uint8_t> filtered, back;
    for (uint32_t s = 0; s < count; ++s) {
        const SluiceFilterSegment& segment = segments[s];
        require(segment.size != 0 && segment.size <= size - at &&
                segment.tileSize <= info.maxTileSize);
        const size_t end = at + size_t(segment.size);
        require(end == size || (segment.size % 4 == 0 && segment.tileSize % 4 == 0));
        for (; at < end; at += filtered.size()) {
            filtered.resize(std::min<size_t>(segment.tileSize, end - at));
            back.resize(filtered.size());
            if (segment.description == nullptr) continue;
            require(sluiceApplyFilter(segment.description, segment.descriptionSize, data + at,
                                      filtered.data(), filtered.size()) == SLUICE_OK);
            require(sluiceUndoFilter(segment.description, segment.descriptionSize, filtered.data(),
                                     back.data(), back.size()) == SLUICE_OK);
            require(std::equal(back.begin(), back.end(), data + at));
        }
    }
    require(at == size);
    sluiceDestroyFilterPlan(plan);
}

} // namespace sluice::fuzz
