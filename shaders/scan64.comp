// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans of 64-bit values (lib/scan_main.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_VALUE64
#include "lib/scan_main.glsl"

void main() { scanMain(); }
