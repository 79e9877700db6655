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

// Bounds on what one map may make a viewer hold, many times what real maps have: faces may share
// vertices and indices, so that a small file could ask for any amount.
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

// Planes cut space in two, again and again, down to leaves.
struct BspNode {
    float normal[3];
    float distance;
    int32_t children[2]; // in front, behind: a node, or -1 - the leaf's number
};

struct BspMap {
    std::vector<std::map<std::string, std::string>> entities;
    std::vector<BspShader> shaders;
    std::vector<BspVertex> vertices;
    std::vector<uint32_t> indices;
    std::vector<BspFace> faces;
    std::vector<BspNode> nodes;     // a tree: no node is the child of two, or of itself
    std::vector<uint8_t> solid;     // per leaf: nobody can be there
    std::vector<uint8_t> lightmaps; // of 128 x 128 texels of three bytes
    uint32_t lightmapCount = 0;
};

// Reads a map. Whatever the bytes are, every index that it returns is in range, every number is
// finite, and the bounds above hold. If false, `error` names what is wrong with the file.
bool readBsp(const uint8_t* bytes, size_t size, BspMap& map, std::string& error);

// Returns whether nothing solid is between two points.
bool isOpen(const BspMap& map, const float (&from)[3], const float (&to)[3]);

// Three numbers as entities have them ("origin" "1 2 3"); false if they are not that.
bool parseVector(const std::string& text, float (&vector)[3]);

} // namespace viewer
