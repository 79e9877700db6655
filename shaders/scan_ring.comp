// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums, minima and maxima of many 32-bit values without segments: see lib/scan_main.glsl and lib/scan_ring.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_SCAN_RING
#include "lib/scan_main.glsl"

void main() { scanMain(); }
