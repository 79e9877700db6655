// SPDX-License-Identifier: MIT OR Apache-2.0
// The parts of a map that are drawn: vertices, triangles sorted by texture, lightmaps as sampled,
// and points to fly past.
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
    bool seesNext; // the line to the next point is free
};

struct SceneVertex {
    float position[3];
    float texture[2];
    float lightmap[3]; // the last is the layer; layer 0 is white
    uint8_t colour[4];
};

struct SceneDraw {
    uint32_t texture; // of SceneData::textures
    Cover cover;
    uint32_t firstIndex, indexCount;
};

struct SceneData {
    std::vector<SceneVertex> vertices;
    std::vector<uint32_t> indices;
    std::vector<SceneDraw> draws;      // opaque ones first, in the order of Cover
    std::vector<std::string> textures; // names as textureName makes them
    std::vector<uint8_t> lightmaps;    // layers of 128 x 128 texels of four bytes
    uint32_t lightmapLayers = 0;
    std::vector<WayPoint> way; // near players and items; at least one
};

SceneData makeScene(const BspMap& map, const Materials& materials);

} // namespace viewer
