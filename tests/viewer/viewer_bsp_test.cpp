// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the viewer's reader of maps: what it reads, what it refuses, and that no file harms it.
#include "tests/support/devices.h"

#include "tests/viewer/viewer_maps.h"

#include <cmath>
#include <limits>
#include <random>

#include "tools/samples/viewer/camera.h"
#include "tools/samples/viewer/patch.h"
#include "tools/samples/viewer/scene.h"

using namespace sluice::test;
using namespace viewer;

namespace {

std::string errorOf(const std::vector<uint8_t>& file)
{
    BspMap map;
    std::string error;
    if (readBsp(file.data(), file.size(), map, error)) return "";
    CHECK(map.faces.empty()); // a bad map leaves nothing
    return error;
}

std::string errorOf(const MapFile& file) { return errorOf(file.bytes()); }

BspMap readGood(const MapFile& file)
{
    BspMap map;
    std::string error;
    const std::vector<uint8_t> bytes = file.bytes();
    const bool isRead = readBsp(bytes.data(), bytes.size(), map, error);
    REQUIRE_MESSAGE(isRead, error);
    return map;
}

void setU32(std::vector<uint8_t>& bytes, size_t at, uint32_t value)
{
    for (size_t i = 0; i < 4; ++i)
        bytes[at + i] = uint8_t(value >> 8 * i);
}

// Does all that a user of a map does without checks of its own.
void checkSound(const BspMap& map)
{
    for (const BspFace& face : map.faces) {
        REQUIRE(face.shader < map.shaders.size());
        REQUIRE(uint64_t{face.firstVertex} + face.vertexCount <= map.vertices.size());
        REQUIRE(uint64_t{face.firstIndex} + face.indexCount <= map.indices.size());
        REQUIRE(face.lightmap < int32_t(map.lightmapCount));
        if (face.kind == FaceKind::patch) continue;
        for (uint32_t i = 0; i < face.indexCount; ++i)
            REQUIRE(map.indices[face.firstIndex + i] < face.vertexCount);
    }
    const SceneData scene = makeScene(map, {});
    REQUIRE(scene.vertices.size() <= kMaxMapVertices);
    REQUIRE(scene.indices.size() <= kMaxMapIndices);
    for (const uint32_t index : scene.indices)
        REQUIRE(index < scene.vertices.size());
    for (const SceneVertex& vertex : scene.vertices) {
        REQUIRE(std::isfinite(vertex.position[0] + vertex.texture[0] + vertex.lightmap[0]));
        REQUIRE(vertex.lightmap[2] < float(scene.lightmapLayers));
    }
    for (const SceneDraw& draw : scene.draws) {
        REQUIRE(uint64_t{draw.firstIndex} + draw.indexCount <= scene.indices.size());
        REQUIRE(draw.texture < scene.textures.size());
    }
    const Flight flight(scene.way);
    for (uint32_t step = 0; step < 1000; step += 37)
        REQUIRE(std::isfinite(flight.at(step).position[0] + flight.random(step).yaw));
}

} // namespace

TEST_CASE("viewer map: rooms are read, and drawn by texture")
{
    const BspMap map = readGood(makeRooms(3));
    CHECK(map.entities.size() == 3);
    CHECK(map.entities[1].at("origin") == "272 0 -40");
    CHECK(map.shaders[0].name == "textures/test/sky");
    CHECK(map.faces.size() == 20);
    CHECK(map.lightmapCount == 1);
    checkSound(map);

    const SceneData scene = makeScene(map, {});
    CHECK(scene.textures.size() == 5); // all except the sky
    CHECK(scene.way.size() == 3);
    CHECK(scene.way[0].seesNext);
    CHECK(scene.way[0].position[2] == 0);
    CHECK(scene.lightmapLayers == 2);
    CHECK(scene.lightmaps[0] == 255);                // the white one
    CHECK(scene.lightmaps[128 * 128 * 4] == 4 * 60); // brightened
    const uint64_t patchIndices = uint64_t{2 * kPatchSteps} * kPatchSteps * 6;
    CHECK(scene.indices.size() == 18 * 6 + patchIndices);
}

TEST_CASE("viewer map: a patch goes through its outer control points and is a parabola between")
{
    const BspMap map = readGood(makeRooms(1));
    const BspFace& face = map.faces.back();
    REQUIRE(face.kind == FaceKind::patch);
    std::vector<BspVertex> vertices;
    std::vector<uint32_t> indices;
    tessellatePatch(map, face, vertices, indices);
    REQUIRE(vertices.size() == patchVertexCount(face));
    CHECK(indices.size() == patchIndexCount(face));
    const uint32_t width = patchSide(face.patchWidth);
    const auto control = [&](uint32_t x, uint32_t y) {
        return map.vertices[face.firstVertex + y * 5 + x].position;
    };
    CHECK(vertices[0].position[2] == control(0, 0)[2]);
    CHECK(vertices[kPatchSteps].position[0] == doctest::Approx(control(2, 0)[0]));
    CHECK(vertices[width - 1].position[0] == doctest::Approx(control(4, 0)[0]));
    CHECK(vertices.back().position[2] == doctest::Approx(control(4, 2)[2]));
    // In the middle of a piece, the control points count a quarter, a half and a quarter.
    const float middle = control(0, 0)[2] / 4 + control(1, 0)[2] / 2 + control(2, 0)[2] / 4;
    CHECK(vertices[kPatchSteps / 2].position[2] == doctest::Approx(middle));
}

TEST_CASE("viewer map: walls stand in the way")
{
    MapFile file = makeRooms(2);
    const uint32_t left = file.addPlane({1, 0, 0, 100}), right = file.addPlane({1, 0, 0, 120});
    file.addNode(left, 1, -1);   // its back side is leaf 0
    file.addNode(right, -1, -2); // between the planes is leaf 1, which is solid
    file.addLeaf(0);
    file.addLeaf(-1);
    const BspMap map = readGood(file);
    const float a[3] = {0, 0, 0}, b[3] = {90, 50, 0}, c[3] = {256, 0, 0}, inside[3] = {110, 0, 0};
    CHECK(isOpen(map, a, b));
    CHECK(!isOpen(map, a, c));
    CHECK(!isOpen(map, c, a));
    CHECK(!isOpen(map, inside, inside));
    const SceneData scene = makeScene(map, {});
    REQUIRE(scene.way.size() == 2);
    CHECK(!scene.way[0].seesNext);
}

TEST_CASE("viewer map: what is wrong is refused by name")
{
    const std::vector<uint8_t> good = makeRooms(1).bytes();
    CHECK(errorOf(good).empty());
    CHECK(errorOf(std::vector<uint8_t>(good.begin(), good.begin() + 100)) ==
          "the file is too short");
    const auto changed = [&good](size_t at, uint32_t value) {
        std::vector<uint8_t> bytes = good;
        setU32(bytes, at, value);
        return errorOf(bytes);
    };
    CHECK(changed(0, 0) == "the file is no map");
    CHECK(changed(4, 47) == "the map is of another version than 46");
    CHECK(changed(8 + 8 * 10, 0xfffffff0) == "a lump is outside the file");
    CHECK(changed(12 + 8 * 10, 0xffffffff) == "a lump is outside the file");
    CHECK(changed(12 + 8 * 13, 103) == "a lump does not consist of whole records");

    const auto spoiled = [](uint32_t lump, size_t at, uint32_t value) {
        MapFile file = makeRooms(1);
        setU32(file.lumps[lump], at, value);
        return errorOf(file);
    };
    const uint32_t nan = 0x7fc00000;
    CHECK(spoiled(10, 4, nan) == "a coordinate is no number, or too large");
    CHECK(spoiled(10, 12, 0x7f000000) == "a coordinate is no number, or too large");
    CHECK(spoiled(10, 20, nan).empty()); // it is one of a lightmap, which some played maps have
    CHECK(spoiled(13, 0, 4) == "a face has no such shader");
    CHECK(spoiled(13, 8, 5) == "a face is of no known kind");
    CHECK(spoiled(13, 12, 0xffffffff) == "a face's vertices are not there");
    CHECK(spoiled(13, 16, 0xffffffff) == "a face's vertices are not there");
    CHECK(spoiled(13, 20, 0xffffffff) == "a face's indices are not there");
    CHECK(spoiled(13, 24, 4) == "a face does not consist of triangles");
    CHECK(spoiled(13, 28, 1) == "a face has no such lightmap");
    CHECK(spoiled(13, 28, 0x80000000).empty());
    CHECK(spoiled(11, 0, 4) == "an index of a face is not one of its vertices");
    const size_t patch = makeRooms(1).lumps[13].size() - 8;
    CHECK(spoiled(13, patch, 4) == "a patch is no grid of quadratic pieces");
    CHECK(spoiled(13, patch, 3) == "a patch is no grid of quadratic pieces");
    CHECK(spoiled(13, patch, 0x40000005) == "a patch is no grid of quadratic pieces");
    CHECK(spoiled(1, 0, 0x01010101).empty());
    MapFile file = makeRooms(1);
    std::fill(file.lumps[1].begin(), file.lumps[1].begin() + 64, uint8_t('x'));
    CHECK(errorOf(file) == "a shader's name does not end");
}

TEST_CASE("viewer map: nodes that are no tree, entities that are no text")
{
    const auto nodesOf = [](const std::vector<std::array<int32_t, 2>>& children) {
        MapFile file = makeRooms(1);
        file.addPlane({1, 0, 0, 0});
        file.addLeaf(0);
        for (const auto& [front, behind] : children)
            file.addNode(0, front, behind);
        return errorOf(file);
    };
    CHECK(nodesOf({{1, -1}, {-1, -1}}).empty());
    CHECK(nodesOf({{0, -1}}) == "the nodes are no tree");
    CHECK(nodesOf({{1, 1}, {-1, -1}}) == "the nodes are no tree");
    CHECK(nodesOf({{1, -1}, {0, -1}}) == "the nodes are no tree");
    CHECK(nodesOf({{5, -1}}) == "the nodes are no tree");
    CHECK(nodesOf({{-2, -1}}) == "a node has no such leaf");
    CHECK(nodesOf({{INT32_MIN, -1}}) == "a node has no such leaf");
    const auto entities = [](const std::string& text) {
        MapFile file = makeRooms(1);
        file.entities = text;
        return errorOf(file);
    };
    CHECK(entities("{ \"a\" \"b\" } {}").empty());
    CHECK(entities("{ { } }") == "an entity stands inside another");
    CHECK(entities("}") == "an entity ends where none can end");
    CHECK(entities("{ \"a\" }") == "an entity ends where none can end");
    CHECK(entities("{ \"a") == "a text of an entity does not end");
    CHECK(entities("{ a }") == "an entity has a stray letter");
    CHECK(entities("{ \"a\" \"b\"") == "the last entity does not end");
    CHECK(entities("\"a\"") == "text stands outside of entities");
}

TEST_CASE("viewer map: faces that share what they are made of are bounded together")
{
    MapFile file = makeRooms(1);
    // Many vertices, and then a long list of indices, are used by many faces.
    const uint32_t count = 1 << 16;
    const uint32_t first = file.addVertices(std::vector<MapPoint>(count));
    for (uint32_t i = 0; i < 64; ++i)
        file.addFace(0, 3, -1, first, count, {});
    CHECK(errorOf(file) == "the faces have too many vertices");

    MapFile repeated = makeRooms(1);
    const size_t at = repeated.lumps[13].size();
    repeated.addFace(0, 3, -1, 0, 4, std::vector<uint32_t>(600'000, 1));
    const std::vector<uint8_t> face(repeated.lumps[13].begin() + ptrdiff_t(at),
                                    repeated.lumps[13].end());
    for (uint32_t i = 0; i < 40; ++i)
        repeated.lumps[13].insert(repeated.lumps[13].end(), face.begin(), face.end());
    CHECK(errorOf(repeated) == "the faces have too many indices");
}

TEST_CASE("viewer map: mutated maps are refused or sound")
{
    MapFile file = makeRooms(2);
    file.addPlane({1, 0, 0, 128});
    file.addNode(0, -1, -2);
    file.addLeaf(0);
    file.addLeaf(0);
    const std::vector<uint8_t> good = file.bytes();
    std::mt19937 random(7);
    uint32_t refused = 0;
    const uint32_t mutations = 20 * environmentNumber("SLUICE_MUTATIONS", 100);
    for (uint32_t i = 0; i < mutations; ++i) {
        std::vector<uint8_t> bytes = good;
        // The header is changed more often than the rest, most of which are lightmaps.
        for (uint32_t hits = 1 + random() % 4; hits > 0; --hits) {
            const size_t range = random() % 2 == 0 ? 8 + 17 * 8 : bytes.size();
            const size_t at = random() % range;
            if (random() % 2 == 0)
                bytes[at] = uint8_t(random());
            else
                setU32(bytes, at & ~size_t{3}, random() % 3 == 0 ? 0xffffffff : random() % 4096);
        }
        if (random() % 8 == 0) bytes.resize(random() % bytes.size());
        BspMap map;
        std::string error;
        // The copy has exactly this size, so that sanitizers notice reads after its end.
        const std::vector<uint8_t> exact(bytes);
        if (readBsp(exact.data(), exact.size(), map, error)) {
            checkSound(map);
        } else {
            ++refused;
            CHECK(!error.empty());
        }
    }
    CHECK(refused > mutations / 4);
    CHECK(refused < mutations);
}
