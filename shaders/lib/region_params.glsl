// SPDX-License-Identifier: MIT OR Apache-2.0
// Regions for the files of lib/kernels, which pass their parameters as arguments, as CUDA does.
// These overloads of the functions of region.glsl take the push constants as an argument, whose
// type `Params` the includer defines.
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
