// SPDX-License-Identifier: MIT OR Apache-2.0
#version 460
#extension GL_GOOGLE_include_directive : require
#include "push.glsl"

layout(location = 0) in vec3 position;
layout(location = 1) in vec2 textureAt;
layout(location = 2) in vec3 lightmapAt;
layout(location = 3) in vec4 colour;

layout(location = 0) out vec2 outTextureAt;
layout(location = 1) out vec3 outLightmapAt;
layout(location = 2) out vec3 outColour;
layout(location = 3) flat out uint outTexture;

invariant gl_Position;

void main()
{
    gl_Position = viewProjection * vec4(position, 1.0);
    outTextureAt = textureAt;
    outLightmapAt = lightmapAt;
    outColour = colour.rgb;
    outTexture = gl_InstanceIndex; // the draw's firstInstance, which is the number of its texture
}
