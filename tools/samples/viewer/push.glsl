// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what every shader of a frame knows; renderer.cpp has the same.
layout(push_constant, std430) uniform Push
{
    mat4 viewProjection;
    vec2 cell;    // extent of a letter of the overlay, where the screen is from -1 to 1
    uint pattern; // selects the pixels of each 4 x 4 that report in this frame
};
