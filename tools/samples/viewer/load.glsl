// SPDX-License-Identifier: MIT OR Apache-2.0
// The arithmetic of both shaders of the load (load.h). No compiler can leave it out, because what
// becomes visible depends on its result. load.cpp has the same push constants.
layout(push_constant, std430) uniform Push
{
    uvec2 sink; // address of a word that compute invocations write if a result is 0
    uint rounds;
};

uint work(uint value)
{
    for (uint i = 0u; i < rounds; ++i) {
        value = (value ^ value >> 15) * 0x2c1b3c6du + i;
        value = (value ^ value >> 12) * 0x297a2d39u + i;
        value = (value ^ value >> 15) * 0x85ebca6bu + i;
        value = (value ^ value >> 13) * 0xc2b2ae35u + i;
    }
    return value;
}
