// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what every shader of a frame knows; renderer.cpp has the same.
layout(push_constant, std430) uniform Push
{
    mat4 viewProjection;
    vec2 cell;    // of a letter of the overlay: its extent, where the screen is from -1 to 1
    uint pattern; // which of 4 x 4 pixels say what they want in this frame
};
