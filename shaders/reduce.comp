// SPDX-License-Identifier: MIT OR Apache-2.0
// Reductions of 32-bit values (lib/reduce_main.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/reduce_main.glsl"

void main() { reduceMain(); }
