// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads maps in the format of Quake III (IBSP, version 46), as far as drawing needs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace viewer {

constexpr uint32_t kLightmapSide = 128; // texels

// Limits on what one map may make the viewer hold, many times larger than real maps need. They are
// necessary because faces may share vertices and indices, so that a small file could ask for any
// amount.
constexpr uint64_t kMaxMapVertices = uint64_t{1} << 22; // of all faces, patches tessellated
constexpr uint64_t kMaxMapIndices = uint64_t{1} << 24;
constexpr uint32_t kMaxPatchSide = 65; // control points

enum class FaceKind : uint32_t {
    planar = 1,
    patch = 2,
    mesh = 3,
    flare = 4
};

enum SurfaceFlags : uint32_t {
    kSurfaceSky = 0x4,
    kSurfaceHint = 0x100,
    kSurfaceNoDraw = 0x280
};

struct BspShader {
    std::string name; // of a texture or of a shader script, without an extension
    uint32_t surfaceFlags = 0;
};

struct BspVertex {
    float position[3];
    float texture[2];
    float lightmap[2];
    uint8_t colour[4];
};

struct BspFace {
    FaceKind kind = FaceKind::planar;
    uint32_t shader = 0;
    uint32_t firstVertex = 0, vertexCount = 0;
    uint32_t firstIndex = 0, indexCount = 0;  // indices count from firstVertex
    int32_t lightmap = -1;                    // -1: lit by the colours of its vertices
    uint32_t patchWidth = 0, patchHeight = 0; // control points; their product is vertexCount
};

// A node of the BSP tree, whose planes divide space again and again, down to leaves.
struct BspNode {
    float normal[3];
    float distance;
    int32_t children[2]; // in front, behind: a node, or -1 - (index of a leaf)
};

struct BspMap {
    std::vector<std::map<std::string, std::string>> entities;
    std::vector<BspShader> shaders;
    std::vector<BspVertex> vertices;
    std::vector<uint32_t> indices;
    std::vector<BspFace> faces;
    std::vector<BspNode> nodes;     // a tree: no node has two parents or is its own child
    std::vector<uint8_t> solid;     // per leaf: whether it is solid
    std::vector<uint8_t> lightmaps; // of 128 x 128 texels of three bytes
    uint32_t lightmapCount = 0;
};

// Reads a map. Whatever the bytes are, every index in the result is in range, every number is
// finite, and the limits above hold. If it returns false, `error` says what is wrong with the file.
bool readBsp(const uint8_t* bytes, size_t size, BspMap& map, std::string& error);

// Returns whether nothing solid is between two points.
bool isOpen(const BspMap& map, const float (&from)[3], const float (&to)[3]);

// Parses three numbers as entities have them ("origin" "1 2 3"). Returns false if the text is not
// three numbers.
bool parseVector(const std::string& text, float (&vector)[3]);

} // namespace viewer
