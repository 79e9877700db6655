// SPDX-License-Identifier: MIT OR Apache-2.0
// Maps for tests of the viewer, made from nothing, in the format that its reader reads.
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

// The parts of a map file, which a test may also spoil before it takes the bytes.
class MapFile {
public:
    uint32_t addShader(const std::string& name, uint32_t surfaceFlags = 0);
    uint32_t addPlane(const std::array<float, 4>& plane); // normal and distance
    void addNode(uint32_t plane, int32_t front, int32_t behind);
    void addLeaf(int32_t cluster); // -1: solid
    // A lightmap of one colour.
    uint32_t addLightmap(uint8_t light);
    uint32_t addVertices(const std::vector<MapPoint>& points, uint8_t light = 40); // the first
    // kind: 1 planar, 2 patch, 3 mesh, 4 flare.
    void addFace(uint32_t shader, uint32_t kind, int32_t lightmap, uint32_t firstVertex,
                 uint32_t vertexCount, const std::vector<uint32_t>& indices,
                 uint32_t patchWidth = 0, uint32_t patchHeight = 0);
    // Four corners, around.
    void addQuad(uint32_t shader, int32_t lightmap, const std::array<MapPoint, 4>& corners);

    std::vector<uint8_t> bytes() const;

    std::string entities;
    std::vector<uint8_t> lumps[17]; // 0 is `entities`
};

// Rooms in a row, 272 units apart, each with a start for a player in its middle and with walls of a
// texture of its own, textures/test/wall0 and so on; a curved piece and a grate,
// textures/test/curve and textures/test/grate, stand in the first, and its ceiling is sky.
MapFile makeRooms(uint32_t rooms);

} // namespace sluice::test
