// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/patch.h"

#include <algorithm>

namespace viewer {

namespace {

struct Weights {
    float w[3];
};

Weights weightsAt(uint32_t step)
{
    const float t = float(step) / float(kPatchSteps), s = 1 - t;
    return {{s * s, 2 * s * t, t * t}};
}

// Returns a point of a piece of a patch. A piece has 3 x 3 control points, of which `corner` is the
// first; each row of them begins `stride` points after the one before. `across` and `down` have the
// weights of the control points along a row and along a column.
BspVertex pointOf(const BspVertex* corner, uint32_t stride, const Weights& across,
                  const Weights& down)
{
    float values[11] = {};
    for (uint32_t y = 0; y < 3; ++y) {
        for (uint32_t x = 0; x < 3; ++x) {
            const BspVertex& control = corner[y * stride + x];
            const float weight = across.w[x] * down.w[y];
            for (uint32_t i = 0; i < 3; ++i)
                values[i] += weight * control.position[i];
            for (uint32_t i = 0; i < 2; ++i) {
                values[3 + i] += weight * control.texture[i];
                values[5 + i] += weight * control.lightmap[i];
            }
            for (uint32_t i = 0; i < 4; ++i)
                values[7 + i] += weight * float(control.colour[i]);
        }
    }
    BspVertex point = {};
    std::copy(values, values + 3, point.position);
    std::copy(values + 3, values + 5, point.texture);
    std::copy(values + 5, values + 7, point.lightmap);
    for (uint32_t i = 0; i < 4; ++i)
        point.colour[i] = uint8_t(std::clamp(values[7 + i] + 0.5f, 0.0f, 255.0f));
    return point;
}

} // namespace

void tessellatePatch(const BspMap& map, const BspFace& face, std::vector<BspVertex>& vertices,
                     std::vector<uint32_t>& indices)
{
    const uint32_t width = patchSide(face.patchWidth), height = patchSide(face.patchHeight);
    const BspVertex* controls = map.vertices.data() + face.firstVertex;
    for (uint32_t y = 0; y < height; ++y) {
        // The last row of vertices belongs to the piece above it, and the last column to the piece
        // on its left, since no piece follows.
        const uint32_t pieceY = std::min(y / kPatchSteps, (face.patchHeight - 3) / 2);
        for (uint32_t x = 0; x < width; ++x) {
            const uint32_t pieceX = std::min(x / kPatchSteps, (face.patchWidth - 3) / 2);
            vertices.push_back(pointOf(controls + 2 * (pieceY * face.patchWidth + pieceX),
                                       face.patchWidth, weightsAt(x - pieceX * kPatchSteps),
                                       weightsAt(y - pieceY * kPatchSteps)));
        }
    }
    for (uint32_t y = 0; y + 1 < height; ++y) {
        for (uint32_t x = 0; x + 1 < width; ++x) {
            const uint32_t corner = y * width + x;
            for (const uint32_t index : {corner, corner + width, corner + 1, corner + 1,
                                         corner + width, corner + width + 1})
                indices.push_back(index);
        }
    }
}

} // namespace viewer
