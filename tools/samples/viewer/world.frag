// SPDX-License-Identifier: MIT OR Apache-2.0
// Shades with the levels that are in memory, and reports which level the pixel would have needed.
//
// The level of detail is computed here, in steps of 1/256, from the size of the texture's level 0,
// even if the image lacks that level. So an image without its finest levels gives the same texels
// with the same weights, and thus the same bits, wherever those levels are not needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef SLUICE_BINDLESS
#extension GL_EXT_nonuniform_qualifier : require
#endif
#include "push.glsl"

#ifndef SLUICE_MASKED
layout(early_fragment_tests) in; // so that hidden pixels report nothing
#endif

layout(constant_id = 0) const bool isLit = true;

struct Entry {
    uint slot;
    uint firstLevel;
    uint size;
    uint isSrgb;
};
layout(set = 0, binding = 0, std430) readonly buffer Entries { Entry entries[]; };
layout(set = 0, binding = 1, std430) buffer Feedback
{
    uint levels[4096]; // one for each of kMaxTextures
    uint pixels[4096];
};
#ifdef SLUICE_BINDLESS
layout(set = 1, binding = 0) uniform sampler2D textures[];
#else
layout(set = 1, binding = 0) uniform sampler2D oneTexture;
#endif
layout(set = 2, binding = 0) uniform sampler2DArray lightmaps;

layout(location = 0) in vec2 textureAt;
layout(location = 1) in vec3 lightmapAt;
layout(location = 2) in vec3 colour;
layout(location = 3) flat in uint texture_;

layout(location = 0) out vec4 shaded;

vec3 srgbOf(vec3 linear)
{
    return mix(linear * 12.92, 1.055 * pow(linear, vec3(1.0 / 2.4)) - 0.055,
               greaterThan(linear, vec3(0.0031308)));
}

void main()
{
    Entry entry = entries[texture_];
    vec2 size = vec2(entry.size & 0xffffu, entry.size >> 16);
    vec2 alongX = dFdx(textureAt) * size, alongY = dFdy(textureAt) * size;
    float texels = max(dot(alongX, alongX), dot(alongY, alongY));
    float lod = floor(clamp(0.5 * log2(max(texels, 1.0)), 0.0, 31.0) * 256.0) / 256.0;
    float residentLod = max(lod - float(entry.firstLevel), 0.0);
#ifdef SLUICE_BINDLESS
    // All pixels of a draw have the same slot, so the index needs no nonuniformEXT.
    vec4 texel = textureLod(textures[entry.slot], textureAt, residentLod);
#else
    vec4 texel = textureLod(oneTexture, textureAt, residentLod);
#endif
#ifdef SLUICE_MASKED
    if (texel.a < 0.5) discard;
#endif
    ivec2 place = ivec2(gl_FragCoord.xy) & 3;
    if (uint(place.x | place.y << 2) == pattern) {
        atomicMin(levels[texture_], uint(lod));
        atomicAdd(pixels[texture_], 1u);
    }
    // Lightmaps multiply sRGB values, as in the game for which they were made.
    if (entry.isSrgb != 0u) texel.rgb = srgbOf(texel.rgb);
    if (isLit) texel.rgb *= textureLod(lightmaps, lightmapAt, 0.0).rgb * colour;
    shaded = texel;
}
