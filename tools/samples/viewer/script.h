// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads shader scripts. The viewer needs two things of them: which texture a surface shows, and how
// the surface covers what is behind it. Stages above the first with an image, which often scroll,
// pulse or glow, are ignored.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace viewer {

enum class Cover : uint32_t {
    opaque,
    masked,
    added,
    blended,
    filtered,
    count
};

struct Material {
    std::string texture; // name without extension; empty: the surface is not drawn
    Cover cover = Cover::opaque;
};

using Materials = std::map<std::string, Material>; // by name in lower case

// Adds the materials that a script defines; a later definition replaces an earlier one. Parts that
// make no sense are skipped, so any text is accepted.
void readScript(const std::string& text, Materials& materials);

// Returns a texture's path as it is looked up: in lower case, with '/' for '\', without extension.
std::string textureName(std::string path);

} // namespace viewer
