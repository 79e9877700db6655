// SPDX-License-Identifier: MIT OR Apache-2.0
// Curved faces (patches): grids of quadratic Bezier pieces, each of which is cut into a fixed
// number of squares.
#pragma once

#include "tools/samples/viewer/bsp.h"

namespace viewer {

constexpr uint32_t kPatchSteps = 6; // squares along each side of a piece (3 x 3 control points)

inline uint32_t patchSide(uint32_t controlPoints)
{
    return (controlPoints - 1) / 2 * kPatchSteps + 1;
}
inline uint64_t patchVertexCount(const BspFace& face)
{
    return uint64_t{patchSide(face.patchWidth)} * patchSide(face.patchHeight);
}
inline uint64_t patchIndexCount(const BspFace& face)
{
    return uint64_t{patchSide(face.patchWidth) - 1} * (patchSide(face.patchHeight) - 1) * 6;
}

// Appends the vertices and the triangles of a patch. Indices are relative to its first vertex.
void tessellatePatch(const BspMap& map, const BspFace& face, std::vector<BspVertex>& vertices,
                     std::vector<uint32_t>& indices);

} // namespace viewer
