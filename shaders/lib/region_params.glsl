// SPDX-License-Identifier: MIT OR Apache-2.0
// Regions for the files of lib/kernels, which pass their parameters on as CUDA does. The functions
// of region.glsl get the push constants as an argument here; the includer defines its type
// `Params`.
#ifndef SLUICE_REGION_PARAMS_GLSL
#define SLUICE_REGION_PARAMS_GLSL

#include "region.glsl"

uint regionCount(Params params) { return regionCount(); }
Region loadRegion(Params params, uint index) { return loadRegion(index); }
bool sourceInside(Params params, Region region, uint most) { return sourceInside(region, most); }
bool destinationAllowed(Params params, Region region, uint most) {
    return destinationAllowed(region, most);
}

#endif // SLUICE_REGION_PARAMS_GLSL
