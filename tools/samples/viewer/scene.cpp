// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/scene.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/samples/viewer/patch.h"

namespace viewer {

namespace {

constexpr size_t kMaxPoints = 48;
constexpr float kEyeHeight = 40; // units above an entity's origin; a unit is about 3 cm

float distanceOf(const Vector& a, const Vector& b)
{
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// Maps store light at a quarter of its strength, so that bright places keep their differences. This
// restores the strength; colours that would be brighter than white keep their hue.
void brighten(const uint8_t* light, uint8_t* brightened)
{
    const uint32_t brightest =
        std::max({uint32_t(light[0]), uint32_t(light[1]), uint32_t(light[2])}) * 4;
    for (uint32_t i = 0; i < 3; ++i)
        brightened[i] = uint8_t(brightest > 255 ? light[i] * 4u * 255u / brightest : light[i] * 4u);
    brightened[3] = 255;
}

void makeLightmaps(const BspMap& map, SceneData& scene)
{
    const size_t texels = size_t{kLightmapSide} * kLightmapSide;
    scene.lightmapLayers = map.lightmapCount + 1;
    scene.lightmaps.assign(texels * 4 * scene.lightmapLayers, 255);
    for (size_t i = 0; i < texels * map.lightmapCount; ++i)
        brighten(map.lightmaps.data() + 3 * i, scene.lightmaps.data() + 4 * (texels + i));
}

void addVertex(const BspFace& face, const BspVertex& from, SceneData& scene)
{
    SceneVertex vertex = {};
    std::copy(from.position, from.position + 3, vertex.position);
    std::copy(from.texture, from.texture + 2, vertex.texture);
    std::copy(from.lightmap, from.lightmap + 2, vertex.lightmap);
    vertex.lightmap[2] = float(face.lightmap + 1);
    std::fill(vertex.colour, vertex.colour + 4, uint8_t{255});
    if (face.lightmap < 0) brighten(from.colour, vertex.colour);
    scene.vertices.push_back(vertex);
}

void addFace(const BspMap& map, const BspFace& face, SceneData& scene)
{
    const uint32_t first = uint32_t(scene.vertices.size());
    std::vector<BspVertex> vertices;
    std::vector<uint32_t> indices;
    if (face.kind == FaceKind::patch) {
        tessellatePatch(map, face, vertices, indices);
    } else {
        const auto begin = map.vertices.begin() + face.firstVertex;
        vertices.assign(begin, begin + face.vertexCount);
        const auto firstIndex = map.indices.begin() + face.firstIndex;
        indices.assign(firstIndex, firstIndex + face.indexCount);
    }
    for (const BspVertex& vertex : vertices)
        addVertex(face, vertex, scene);
    for (const uint32_t index : indices)
        scene.indices.push_back(first + index);
}

// Makes a path through the places of the map's entities except lights: first a point where players
// start. The next point is always the nearest that is left and visible from the last one or, if
// none is visible, the nearest that is left.
std::vector<WayPoint> wayOf(const BspMap& map)
{
    std::vector<Vector> points;
    for (const auto& entity : map.entities) {
        const auto origin = entity.find("origin"), name = entity.find("classname");
        float at[3] = {};
        if (name == entity.end() || origin == entity.end() || !parseVector(origin->second, at) ||
            name->second.compare(0, 5, "light") == 0)
            continue;
        at[2] += kEyeHeight;
        const bool isStart = name->second.compare(0, 11, "info_player") == 0;
        if (isOpen(map, at, at))
            points.insert(isStart ? points.begin() : points.end(), {at[0], at[1], at[2]});
    }
    if (points.empty()) points.push_back({0, 0, kEyeHeight});
    points.resize(std::min(points.size(), kMaxPoints));
    std::vector<WayPoint> way;
    for (size_t i = 0; i < points.size(); ++i) {
        const Vector here = points[i];
        const auto sees = [&](const Vector& there) {
            const float from[3] = {here[0], here[1], here[2]};
            const float to[3] = {there[0], there[1], there[2]};
            return isOpen(map, from, to);
        };
        std::sort(points.begin() + ptrdiff_t(i + 1), points.end(),
                  [&here](const Vector& a, const Vector& b) {
                      return distanceOf(here, a) < distanceOf(here, b);
                  });
        const auto next = std::find_if(points.begin() + ptrdiff_t(i + 1), points.end(), sees);
        const bool seesNext = next != points.end();
        if (seesNext) std::iter_swap(points.begin() + ptrdiff_t(i + 1), next);
        way.push_back({here, seesNext});
    }
    return way;
}

} // namespace

SceneData makeScene(const BspMap& map, const Materials& materials)
{
    SceneData scene;
    // Faces with the same cover and texture are drawn by one call.
    std::map<std::pair<Cover, std::string>, std::vector<const BspFace*>> draws;
    for (const BspFace& face : map.faces) {
        const BspShader& shader = map.shaders[face.shader];
        if ((shader.surfaceFlags & (kSurfaceSky | kSurfaceHint | kSurfaceNoDraw)) != 0 ||
            face.kind == FaceKind::flare)
            continue;
        const std::string name = textureName(shader.name);
        const auto found = materials.find(name);
        const Material material =
            found != materials.end() ? found->second : Material{name, Cover::opaque};
        if (!material.texture.empty()) draws[{material.cover, material.texture}].push_back(&face);
    }
    std::map<std::string, uint32_t> textures;
    for (const auto& [key, faces] : draws) {
        const auto [texture, isNew] = textures.emplace(key.second, uint32_t(textures.size()));
        if (isNew) scene.textures.push_back(key.second);
        SceneDraw draw = {texture->second, key.first, uint32_t(scene.indices.size()), 0};
        for (const BspFace* face : faces)
            addFace(map, *face, scene);
        draw.indexCount = uint32_t(scene.indices.size()) - draw.firstIndex;
        if (draw.indexCount != 0) scene.draws.push_back(draw);
    }
    makeLightmaps(map, scene);
    scene.way = wayOf(map);
    return scene;
}

} // namespace viewer
