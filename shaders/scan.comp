// SPDX-License-Identifier: MIT OR Apache-2.0
// Scans of 32-bit values (lib/scan_main.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/scan_main.glsl"

void main() { scanMain(); }
