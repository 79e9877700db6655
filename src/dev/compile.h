// SPDX-License-Identifier: MIT OR Apache-2.0
// GLSL to SPIR-V, in the process.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sluice::dev {

struct Compiled {
    bool ok = false;
    std::vector<uint32_t> words;
    std::set<std::string> files; // what the shader was made from, relative to the folder; filled on
                                 // failure too
    std::string errors;          // "file:line: text" lines
};

// Compiles folder/file as a compute shader. defines: "NAME" or "NAME=VALUE". Includes are searched
// beside the including file, in the folder and in its lib/.
Compiled compileShader(const std::string& folder, const std::string& file,
                       const std::vector<std::string>& defines);

} // namespace sluice::dev
