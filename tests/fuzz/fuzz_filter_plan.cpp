// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes filter plans: any bytes, taken for a file of each type.
#include "tests/fuzz/filter_plan_check.h"

using namespace sluice::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const CostLimit cost(size);
    SluiceFilterPlanInfo info = {};
    info.maxTileSize = 4096;
    info.features = SLUICE_FILTER_ALL;
    info.force = size % 2;
    info.layout = size % 3 == 0 ? SLUICE_FILTER_LAYOUT_IMAGE : SLUICE_FILTER_LAYOUT_AUTO;
    checkFilterPlan(data, size, info);
    return 0;
}
