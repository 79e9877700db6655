// SPDX-License-Identifier: MIT OR Apache-2.0
// Overloads of region.glsl's functions for the files of lib/kernels. There, functions take the push
// constants as an argument, because CUDA has no global ones. The includer must define `Params`, the
// type of the push constants.
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
