// SPDX-License-Identifier: MIT OR Apache-2.0
#version 460

layout(location = 0) in vec2 at;
layout(location = 1) flat in uint letter;

layout(location = 0) out vec4 shaded;

// The characters ' ' to '_' in 3 x 5 dots: an octal digit for each row, the top row first.
const uint font[64] =
    uint[64](000000, 022202, 055000, 057575, 036236, 051245, 025256, 022000,  // ' ' to '\''
             012221, 042224, 052725, 002720, 000024, 000700, 000002, 011244,  // '(' to '/'
             075557, 026227, 071747, 071717, 055711, 074717, 074757, 071122,  // '0' to '7'
             075757, 075717, 002020, 002024, 012421, 007070, 042124, 071202,  // '8' to '?'
             075547, 025755, 065656, 034443, 065556, 074647, 074644, 034553,  // '@' to 'G'
             055755, 072227, 011152, 055655, 044447, 057755, 065555, 025552,  // 'H' to 'O'
             065644, 025563, 065655, 034216, 072222, 055557, 055552, 055775,  // 'P' to 'W'
             055255, 055222, 071247, 032223, 044211, 062226, 025000, 000007); // 'X' to '_'

void main()
{
    uvec2 dot = min(uvec2(at), uvec2(3u, 5u));
    bool isSet = dot.x < 3u && dot.y < 5u &&
                 (font[letter & 63u] >> (3u * (4u - dot.y) + (2u - dot.x)) & 1u) != 0u;
    shaded = isSet ? vec4(1.0) : vec4(0.0, 0.0, 0.0, 0.55);
}
