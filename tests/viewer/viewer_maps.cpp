// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/viewer/viewer_maps.h"

#include <cstring>

namespace sluice::test {

namespace {

enum Lump {
    shaders = 1,
    planes = 2,
    nodes = 3,
    leaves = 4,
    vertices = 10,
    indices = 11,
    faces = 13,
    lightmaps = 14
};

// Rooms have gaps between them, so that no two walls are in the same place.
constexpr float kRoom = 256, kSpacing = 272;

void addU32(std::vector<uint8_t>& bytes, uint32_t value)
{
    for (uint32_t shift = 0; shift < 32; shift += 8)
        bytes.push_back(uint8_t(value >> shift));
}

void addFloat(std::vector<uint8_t>& bytes, float value)
{
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    addU32(bytes, bits);
}

} // namespace

uint32_t MapFile::addShader(const std::string& name, uint32_t surfaceFlags)
{
    std::vector<uint8_t>& lump = lumps[shaders];
    std::string padded = name;
    padded.resize(64, 0);
    lump.insert(lump.end(), padded.begin(), padded.end());
    addU32(lump, surfaceFlags);
    addU32(lump, 0);
    return uint32_t(lump.size() / 72 - 1);
}

uint32_t MapFile::addPlane(const std::array<float, 4>& plane)
{
    for (const float value : plane)
        addFloat(lumps[planes], value);
    return uint32_t(lumps[planes].size() / 16 - 1);
}

void MapFile::addNode(uint32_t plane, int32_t front, int32_t behind)
{
    addU32(lumps[nodes], plane);
    addU32(lumps[nodes], uint32_t(front));
    addU32(lumps[nodes], uint32_t(behind));
    lumps[nodes].resize(lumps[nodes].size() + 24);
}

void MapFile::addLeaf(int32_t cluster)
{
    addU32(lumps[leaves], uint32_t(cluster));
    lumps[leaves].resize(lumps[leaves].size() + 44);
}

uint32_t MapFile::addLightmap(uint8_t light)
{
    lumps[lightmaps].resize(lumps[lightmaps].size() + 128 * 128 * 3, light);
    return uint32_t(lumps[lightmaps].size() / (128 * 128 * 3) - 1);
}

uint32_t MapFile::addVertices(const std::vector<MapPoint>& points, uint8_t light)
{
    std::vector<uint8_t>& lump = lumps[vertices];
    const uint32_t first = uint32_t(lump.size() / 44);
    for (const MapPoint& point : points) {
        for (const float value : point.position)
            addFloat(lump, value);
        for (const float value : point.texture)
            addFloat(lump, value);
        for (const float value : point.lightmap)
            addFloat(lump, value);
        lump.resize(lump.size() + 12); // a normal
        lump.insert(lump.end(), 4, light);
    }
    return first;
}

void MapFile::addFace(uint32_t shader, uint32_t kind, int32_t lightmap, uint32_t firstVertex,
                      uint32_t vertexCount, const std::vector<uint32_t>& faceIndices,
                      uint32_t patchWidth, uint32_t patchHeight)
{
    const uint32_t firstIndex = uint32_t(lumps[indices].size() / 4);
    for (const uint32_t index : faceIndices)
        addU32(lumps[indices], index);
    std::vector<uint8_t>& lump = lumps[faces];
    for (const uint32_t value : {shader, 0xffffffffu, kind, firstVertex, vertexCount, firstIndex,
                                 uint32_t(faceIndices.size()), uint32_t(lightmap)})
        addU32(lump, value);
    lump.resize(lump.size() + 64);
    addU32(lump, patchWidth);
    addU32(lump, patchHeight);
}

void MapFile::addQuad(uint32_t shader, int32_t lightmap, const std::array<MapPoint, 4>& corners)
{
    const uint32_t first = addVertices({corners.begin(), corners.end()});
    addFace(shader, 1, lightmap, first, 4, {0, 1, 2, 0, 2, 3});
}

std::vector<uint8_t> MapFile::bytes() const
{
    std::vector<uint8_t> file = {'I', 'B', 'S', 'P', 46, 0, 0, 0};
    std::vector<uint8_t> data;
    for (uint32_t i = 0; i < 17; ++i) {
        const std::vector<uint8_t> lump =
            i == 0 ? std::vector<uint8_t>(entities.begin(), entities.end()) : lumps[i];
        addU32(file, uint32_t(8 + 17 * 8 + data.size()));
        addU32(file, uint32_t(lump.size()));
        data.insert(data.end(), lump.begin(), lump.end());
        data.resize((data.size() + 3) / 4 * 4);
    }
    file.insert(file.end(), data.begin(), data.end());
    return file;
}

namespace {

// Adds a square wall. `normal` is the axis that it is perpendicular to, and `place` where it is on
// that axis, from the room's middle.
void addWall(MapFile& map, uint32_t shader, int32_t lightmap, uint32_t normal, float place,
             const std::array<float, 3>& middle)
{
    const uint32_t across = (normal + 1) % 3, down = (normal + 2) % 3;
    std::array<MapPoint, 4> corners = {};
    const float signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (uint32_t i = 0; i < 4; ++i) {
        MapPoint& corner = corners[i];
        corner.position[normal] = middle[normal] + place;
        corner.position[across] = middle[across] + signs[i][0] * kRoom / 2;
        corner.position[down] = middle[down] + signs[i][1] * kRoom / 2;
        corner.texture[0] = signs[i][0] / 2, corner.texture[1] = signs[i][1] / 2;
        corner.lightmap[0] = signs[i][0] > 0 ? 1.0f : 0.0f;
        corner.lightmap[1] = signs[i][1] > 0 ? 1.0f : 0.0f;
    }
    map.addQuad(shader, lightmap, corners);
}

} // namespace

MapFile makeRooms(uint32_t rooms)
{
    MapFile map;
    const uint32_t sky = map.addShader("textures/test/sky", 4);
    const uint32_t curve = map.addShader("textures/test/curve");
    const uint32_t grate = map.addShader("textures/test/grate");
    const uint32_t lightmap = map.addLightmap(60);
    for (uint32_t room = 0; room < rooms; ++room) {
        const std::array<float, 3> middle = {kSpacing * float(room), 0, 0};
        const uint32_t wall = map.addShader("textures/test/wall" + std::to_string(room));
        for (uint32_t axis = 0; axis < 3; ++axis) {
            for (const float place : {-kRoom / 2, kRoom / 2}) {
                const bool isSky = room == 0 && axis == 2 && place > 0;
                // One wall of each room has no lightmap but light at its vertices.
                const int32_t light = axis == 1 && place < 0 ? -1 : int32_t(lightmap);
                addWall(map, isSky ? sky : wall, light, axis, place, middle);
            }
        }
        map.entities += "{\n\"classname\" \"info_player_deathmatch\"\n\"origin\" \"" +
                        std::to_string(int(middle[0])) + " 0 -40\"\n}\n";
    }
    addWall(map, grate, int32_t(lightmap), 1, 60, {0, 0, 0});
    std::vector<MapPoint> controls;
    for (uint32_t y = 0; y < 3; ++y) {
        for (uint32_t x = 0; x < 5; ++x) {
            const float u = float(x) / 4, v = float(y) / 2;
            controls.push_back(
                {{-100 + 50 * float(x), -80, -60 + 60 * v + (x % 2 == 1 ? 40.0f : 0)},
                 {2 * u, v},
                 {u, v}});
        }
    }
    map.addFace(curve, 2, int32_t(lightmap), map.addVertices(controls), 15, {}, 5, 3);
    return map;
}

} // namespace sluice::test
