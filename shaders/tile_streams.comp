// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes whole tile streams: the passes of kernels/tile_streams.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/lanes.glsl"

const uint kThreads = gl_WorkGroupSize.x;
#include "lib/compat.glsl"
#include "lib/kernels/tile_streams.h"

layout(push_constant, std430) uniform Push { TileStreamsParams p; };

void main() { tileStreams(p, wgIndex()); }
