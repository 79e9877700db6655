// SPDX-License-Identifier: MIT OR Apache-2.0
// Shader scripts. A viewer takes little from them: which texture to show, if any, and how it covers
// what is behind it. Stages that scroll, pulse or glow are ignored.
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
    std::string texture; // without an extension; empty: nothing is drawn
    Cover cover = Cover::opaque;
};

using Materials = std::map<std::string, Material>; // by name, lower case

// Adds what a script defines; later definitions replace earlier ones. Anything is accepted: the
// parts that make no sense are skipped.
void readScript(const std::string& text, Materials& materials);

// Lower case, '/' for '\', and without an extension: the form in which textures are looked up.
std::string textureName(std::string path);

} // namespace viewer
