// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads maps of Quake III (IBSP, version 46), as much of them as drawing needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace viewer {

constexpr uint32_t kLightmapSide = 128; // texels

// Limits on what one map may make the viewer hold, many times what real maps need. Without them a
// small file could ask for any amount, since faces may share vertices and indices.
constexpr uint64_t kMaxMapVertices = uint64_t{1} << 22; // of all faces and tessellated patches
constexpr uint64_t kMaxMapIndices = uint64_t{1} << 24;
constexpr uint32_t kMaxPatchSide = 65; // in control points

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
    std::string name; // names a texture or a shader script, without extension
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
    uint32_t firstIndex = 0, indexCount = 0;  // indices are relative to firstVertex
    int32_t lightmap = -1;                    // -1: lit by its vertex colours
    uint32_t patchWidth = 0, patchHeight = 0; // in control points; the product is vertexCount
};

// A node of the BSP tree: a plane that divides a part of space in two.
struct BspNode {
    float normal[3];
    float distance;
    int32_t children[2]; // space in front, space behind: a node, or -1 - index of a leaf
};

struct BspMap {
    std::vector<std::map<std::string, std::string>> entities;
    std::vector<BspShader> shaders;
    std::vector<BspVertex> vertices;
    std::vector<uint32_t> indices;
    std::vector<BspFace> faces;
    std::vector<BspNode> nodes;     // a tree: a node has at most one parent
    std::vector<uint8_t> solid;     // for each leaf: 1: solid, 0: open
    std::vector<uint8_t> lightmaps; // each of 128 x 128 texels with three bytes
    uint32_t lightmapCount = 0;
};

// Reads a map. Whatever the file contains: all indices in the result are in range, all numbers are
// finite, and the limits above hold. Returns false if the file is wrong; then `error` says how.
bool readBsp(const uint8_t* bytes, size_t size, BspMap& map, std::string& error);

// Returns whether nothing solid lies between two points.
bool isOpen(const BspMap& map, const float (&from)[3], const float (&to)[3]);

// Reads three numbers as entities hold them ("origin" "1 2 3"). Returns false if there are not
// three.
bool parseVector(const std::string& text, float (&vector)[3]);

} // namespace viewer
