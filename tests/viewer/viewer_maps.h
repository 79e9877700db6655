// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes maps for tests of the viewer, in the format that its reader reads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::test {

struct MapPoint {
    float position[3];
    float texture[2];
    float lightmap[2];
};

// Holds the parts of a map file. A test may damage them before it takes the bytes.
class MapFile {
public:
    uint32_t addShader(const std::string& name, uint32_t surfaceFlags = 0);
    uint32_t addPlane(const std::array<float, 4>& plane); // the normal and the distance
    void addNode(uint32_t plane, int32_t front, int32_t behind);
    void addLeaf(int32_t cluster); // -1: it is solid
    // Adds a lightmap of one colour.
    uint32_t addLightmap(uint8_t light);
    // Returns the number of the first one.
    uint32_t addVertices(const std::vector<MapPoint>& points, uint8_t light = 40);
    // Adds a face. kind: 1 is planar, 2 a patch, 3 a mesh, 4 a flare.
    void addFace(uint32_t shader, uint32_t kind, int32_t lightmap, uint32_t firstVertex,
                 uint32_t vertexCount, const std::vector<uint32_t>& indices,
                 uint32_t patchWidth = 0, uint32_t patchHeight = 0);
    // Adds a face of four corners, in order around it.
    void addQuad(uint32_t shader, int32_t lightmap, const std::array<MapPoint, 4>& corners);

    std::vector<uint8_t> bytes() const;

    std::string entities;
    std::vector<uint8_t> lumps[17]; // lump 0 is `entities`
};

// Returns a map of rooms in a row, 272 units apart. Each has a start for a player in its middle,
// and walls with a texture of its own: textures/test/wall0 and so on. A curved piece and a grate,
// textures/test/curve and textures/test/grate, are in the first room, whose ceiling is sky.
MapFile makeRooms(uint32_t rooms);

} // namespace sluice::test
