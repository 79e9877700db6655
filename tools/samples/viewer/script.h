// SPDX-License-Identifier: MIT OR Apache-2.0
// Shader scripts. The viewer takes only two things from them: which texture to show, if any, and
// how it covers the surfaces behind it. Stages that scroll, pulse or glow are ignored.
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

// Adds the materials that a script defines; later definitions replace earlier ones. Any text is
// accepted: parts that make no sense are skipped.
void readScript(const std::string& text, Materials& materials);

// Returns a texture's path in the form used for lookups: in lower case, with '/' for '\', and
// without an extension.
std::string textureName(std::string path);

} // namespace viewer
