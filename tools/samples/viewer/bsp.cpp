// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/bsp.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "tools/samples/viewer/patch.h"

namespace viewer {

namespace {

enum LumpNumber {
    lumpEntities = 0,
    lumpShaders = 1,
    lumpPlanes = 2,
    lumpNodes = 3,
    lumpLeaves = 4,
    lumpVertices = 10,
    lumpIndices = 11,
    lumpFaces = 13,
    lumpLightmaps = 14,
    lumpCount = 17
};

constexpr size_t kHeaderSize = 8 + lumpCount * 8;
constexpr size_t kShaderSize = 72, kVertexSize = 44, kIndexSize = 4, kFaceSize = 104;
constexpr size_t kPlaneSize = 16, kNodeSize = 36, kLeafSize = 48;
constexpr size_t kNameSize = 64;
constexpr size_t kLightmapSize = size_t{kLightmapSide} * kLightmapSide * 3;
constexpr float kMaxCoordinate = 1e6f;
constexpr size_t kMaxVisits = 16384; // most nodes that isOpen visits

struct BadMap : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void check(bool isRight, const char* what)
{
    if (!isRight) throw BadMap(what);
}

uint32_t u32At(const uint8_t* bytes)
{
    return uint32_t(bytes[0]) | uint32_t(bytes[1]) << 8 | uint32_t(bytes[2]) << 16 |
           uint32_t(bytes[3]) << 24;
}

float floatAt(const uint8_t* bytes)
{
    const uint32_t bits = u32At(bytes);
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    // NaN fails too.
    check(std::fabs(value) <= kMaxCoordinate, "a coordinate is no number, or too large");
    return value;
}

// Returns a lightmap coordinate. Real maps hold arbitrary bits where a vertex has no lightmap.
float lightmapAt(const uint8_t* bytes)
{
    const uint32_t bits = u32At(bytes);
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return std::fabs(value) <= kMaxCoordinate ? value : 0;
}

struct Lump {
    const uint8_t* bytes;
    size_t count; // number of records
};

Lump lumpOf(const uint8_t* file, size_t fileSize, LumpNumber number, size_t recordSize)
{
    const uint8_t* entry = file + 8 + 8 * size_t(number);
    const uint64_t offset = u32At(entry), size = u32At(entry + 4);
    check(offset <= fileSize && size <= fileSize - offset, "a lump is outside the file");
    check(size % recordSize == 0, "a lump does not consist of whole records");
    return {file + offset, size_t(size) / recordSize};
}

// Reads entities: { "key" "value" ... } { ... }.
void readEntities(const Lump& lump, BspMap& map)
{
    size_t at = 0;
    bool isInside = false;
    std::string key;
    bool hasKey = false;
    while (at < lump.count && lump.bytes[at] != 0) {
        const char c = char(lump.bytes[at++]);
        if (c == '{') {
            check(!isInside, "an entity stands inside another");
            isInside = true;
            map.entities.emplace_back();
        } else if (c == '}') {
            check(isInside && !hasKey, "an entity ends where none can end");
            isInside = false;
        } else if (c == '"') {
            check(isInside, "text stands outside of entities");
            const size_t begin = at;
            while (at < lump.count && lump.bytes[at] != '"' && lump.bytes[at] != 0)
                ++at;
            check(at < lump.count && lump.bytes[at] == '"', "a text of an entity does not end");
            std::string text(reinterpret_cast<const char*>(lump.bytes) + begin, at++ - begin);
            if (hasKey)
                map.entities.back()[key] = text;
            else
                key = std::move(text);
            hasKey = !hasKey;
        } else {
            check(c == ' ' || c == '\t' || c == '\r' || c == '\n', "an entity has a stray letter");
        }
    }
    check(!isInside, "the last entity does not end");
}

void readShaders(const Lump& lump, BspMap& map)
{
    map.shaders.resize(lump.count);
    for (size_t i = 0; i < lump.count; ++i) {
        const uint8_t* record = lump.bytes + i * kShaderSize;
        const void* end = std::memchr(record, 0, kNameSize);
        check(end != nullptr, "a shader's name does not end");
        map.shaders[i].name.assign(reinterpret_cast<const char*>(record));
        map.shaders[i].surfaceFlags = u32At(record + kNameSize);
    }
}

void readVertices(const Lump& lump, BspMap& map)
{
    map.vertices.resize(lump.count);
    for (size_t i = 0; i < lump.count; ++i) {
        const uint8_t* record = lump.bytes + i * kVertexSize;
        BspVertex& vertex = map.vertices[i];
        for (size_t axis = 0; axis < 3; ++axis)
            vertex.position[axis] = floatAt(record + 4 * axis);
        for (size_t axis = 0; axis < 2; ++axis) {
            vertex.texture[axis] = floatAt(record + 12 + 4 * axis);
            vertex.lightmap[axis] = lightmapAt(record + 20 + 4 * axis);
        }
        std::memcpy(vertex.colour, record + 40, 4); // the normal before the colour is not needed
    }
}

void readNodes(const Lump& planes, const Lump& nodes, const Lump& leaves, BspMap& map)
{
    map.solid.resize(leaves.count);
    // A leaf's first word is the number of its visibility set, or -1 if the leaf is solid.
    for (size_t i = 0; i < leaves.count; ++i)
        map.solid[i] = int32_t(u32At(leaves.bytes + i * kLeafSize)) < 0 ? 1 : 0;
    map.nodes.resize(nodes.count);
    std::vector<uint8_t> hasParent(nodes.count, 0);
    for (size_t i = 0; i < nodes.count; ++i) {
        const uint8_t* record = nodes.bytes + i * kNodeSize;
        BspNode& node = map.nodes[i];
        const uint32_t plane = u32At(record);
        check(plane < planes.count, "a node has no such plane");
        for (size_t axis = 0; axis < 3; ++axis)
            node.normal[axis] = floatAt(planes.bytes + plane * kPlaneSize + 4 * axis);
        node.distance = floatAt(planes.bytes + plane * kPlaneSize + 12);
        for (size_t side = 0; side < 2; ++side) {
            const int32_t child = int32_t(u32At(record + 4 + 4 * side));
            node.children[side] = child;
            if (child < 0) {
                check(size_t(-(int64_t{child} + 1)) < leaves.count, "a node has no such leaf");
                continue;
            }
            check(size_t(child) > i && size_t(child) < nodes.count && hasParent[size_t(child)] == 0,
                  "the nodes are no tree");
            hasParent[size_t(child)] = 1;
        }
    }
}

BspFace readFace(const uint8_t* record, const BspMap& map)
{
    BspFace face;
    face.shader = u32At(record);
    const uint32_t kind = u32At(record + 8);
    face.firstVertex = u32At(record + 12);
    face.vertexCount = u32At(record + 16);
    face.firstIndex = u32At(record + 20);
    face.indexCount = u32At(record + 24);
    face.lightmap = int32_t(u32At(record + 28));
    check(face.shader < map.shaders.size(), "a face has no such shader");
    check(kind >= uint32_t(FaceKind::planar) && kind <= uint32_t(FaceKind::flare),
          "a face is of no known kind");
    face.kind = FaceKind(kind);
    check(face.firstVertex <= map.vertices.size() &&
              face.vertexCount <= map.vertices.size() - face.firstVertex,
          "a face's vertices are not there");
    check(face.firstIndex <= map.indices.size() &&
              face.indexCount <= map.indices.size() - face.firstIndex,
          "a face's indices are not there");
    check(face.lightmap < int32_t(map.lightmapCount), "a face has no such lightmap");
    // In the file, -2 and -3 mean that there is no lightmap, and that vertex colours light the
    // face.
    if (face.lightmap < 0) face.lightmap = -1;
    if (face.kind == FaceKind::patch) {
        face.patchWidth = u32At(record + 96);
        face.patchHeight = u32At(record + 100);
        check(face.patchWidth >= 3 && face.patchWidth <= kMaxPatchSide &&
                  face.patchWidth % 2 == 1 && face.patchHeight >= 3 &&
                  face.patchHeight <= kMaxPatchSide && face.patchHeight % 2 == 1 &&
                  face.patchWidth * face.patchHeight == face.vertexCount,
              "a patch is no grid of quadratic pieces");
    } else {
        check(face.indexCount % 3 == 0, "a face does not consist of triangles");
        for (uint32_t i = 0; i < face.indexCount; ++i)
            check(map.indices[face.firstIndex + i] < face.vertexCount,
                  "an index of a face is not one of its vertices");
    }
    return face;
}

void readFaces(const Lump& lump, BspMap& map)
{
    uint64_t vertices = 0, indices = 0;
    map.faces.reserve(lump.count);
    for (size_t i = 0; i < lump.count; ++i) {
        const uint8_t* record = lump.bytes + i * kFaceSize;
        // The count is checked before the indices are read, so that reading them takes bounded
        // time.
        indices += u32At(record + 24);
        check(indices <= kMaxMapIndices, "the faces have too many indices");
        map.faces.push_back(readFace(record, map));
        const BspFace& face = map.faces.back();
        const bool isPatch = face.kind == FaceKind::patch;
        vertices += isPatch ? patchVertexCount(face) : face.vertexCount;
        indices += isPatch ? patchIndexCount(face) : 0;
        check(vertices <= kMaxMapVertices, "the faces have too many vertices");
        check(indices <= kMaxMapIndices, "the faces have too many indices");
    }
}

} // namespace

bool readBsp(const uint8_t* bytes, size_t size, BspMap& map, std::string& error)
{
    try {
        map = {};
        check(size >= kHeaderSize, "the file is too short");
        check(std::memcmp(bytes, "IBSP", 4) == 0, "the file is no map");
        check(u32At(bytes + 4) == 46, "the map is of another version than 46");
        readEntities(lumpOf(bytes, size, lumpEntities, 1), map);
        readShaders(lumpOf(bytes, size, lumpShaders, kShaderSize), map);
        readVertices(lumpOf(bytes, size, lumpVertices, kVertexSize), map);
        const Lump indices = lumpOf(bytes, size, lumpIndices, kIndexSize);
        map.indices.resize(indices.count);
        for (size_t i = 0; i < indices.count; ++i)
            map.indices[i] = u32At(indices.bytes + i * kIndexSize);
        const Lump lightmaps = lumpOf(bytes, size, lumpLightmaps, kLightmapSize);
        map.lightmaps.assign(lightmaps.bytes, lightmaps.bytes + lightmaps.count * kLightmapSize);
        map.lightmapCount = uint32_t(lightmaps.count);
        readNodes(lumpOf(bytes, size, lumpPlanes, kPlaneSize),
                  lumpOf(bytes, size, lumpNodes, kNodeSize),
                  lumpOf(bytes, size, lumpLeaves, kLeafSize), map);
        readFaces(lumpOf(bytes, size, lumpFaces, kFaceSize), map);
        return true;
    } catch (const BadMap& reason) {
        map = {};
        error = reason.what();
        return false;
    }
}

bool isOpen(const BspMap& map, const float (&from)[3], const float (&to)[3])
{
    struct Part {
        int32_t node;
        float begin, end; // the part of the line inside the node; 0 is at `from`, 1 at `to`
    };
    std::vector<Part> parts;
    if (!map.nodes.empty()) parts.push_back({0, 0, 1});
    for (size_t visits = 0; !parts.empty(); ++visits) {
        const Part part = parts.back();
        parts.pop_back();
        if (visits == kMaxVisits) return false;
        if (part.node < 0) {
            if (map.solid[size_t(-(int64_t{part.node} + 1))] != 0) return false;
            continue;
        }
        const BspNode& node = map.nodes[size_t(part.node)];
        // The signed distances of the two ends of this part of the line from the node's plane.
        float ahead[2] = {-node.distance, -node.distance};
        for (size_t axis = 0; axis < 3; ++axis) {
            const float way = to[axis] - from[axis];
            ahead[0] += node.normal[axis] * (from[axis] + way * part.begin);
            ahead[1] += node.normal[axis] * (from[axis] + way * part.end);
        }
        const bool isBehind[2] = {ahead[0] < 0, ahead[1] < 0};
        if (isBehind[0] == isBehind[1]) {
            parts.push_back({node.children[isBehind[0] ? 1 : 0], part.begin, part.end});
            continue;
        }
        const float share = ahead[0] / (ahead[0] - ahead[1]);
        const float middle = part.begin + (part.end - part.begin) * share;
        parts.push_back({node.children[isBehind[0] ? 1 : 0], part.begin, middle});
        parts.push_back({node.children[isBehind[1] ? 1 : 0], middle, part.end});
    }
    return true;
}

bool parseVector(const std::string& text, float (&vector)[3])
{
    const char* at = text.c_str();
    for (float& value : vector) {
        char* end = nullptr;
        value = std::strtof(at, &end);
        if (end == at || !(std::fabs(value) <= kMaxCoordinate)) return false;
        at = end;
    }
    return true;
}

} // namespace viewer
