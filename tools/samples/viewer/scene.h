// SPDX-License-Identifier: MIT OR Apache-2.0
// The parts of a map that are drawn: vertices, triangles sorted by texture, and lightmaps in the
// form in which shaders sample them. Also the points to fly past.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tools/samples/viewer/bsp.h"
#include "tools/samples/viewer/script.h"

namespace viewer {

using Vector = std::array<float, 3>;

// A point that the flight passes.
struct WayPoint {
    Vector position;
    bool seesNext; // nothing solid lies between this point and the next
};

struct SceneVertex {
    float position[3];
    float texture[2];
    float lightmap[3]; // x, y, and the layer; layer 0 is white
    uint8_t colour[4];
};

struct SceneDraw {
    uint32_t texture; // index in SceneData::textures
    Cover cover;
    uint32_t firstIndex, indexCount;
};

struct SceneData {
    std::vector<SceneVertex> vertices;
    std::vector<uint32_t> indices;
    std::vector<SceneDraw> draws;      // opaque ones first, sorted by Cover
    std::vector<std::string> textures; // names in the form of textureName
    std::vector<uint8_t> lightmaps;    // layers of 128 x 128 texels, four bytes each
    uint32_t lightmapLayers = 0;
    std::vector<WayPoint> way; // places of entities; at least one point
};

SceneData makeScene(const BspMap& map, const Materials& materials);

} // namespace viewer
