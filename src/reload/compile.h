// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles GLSL to SPIR-V inside the process.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sluice::dev {

// A shader and how it is compiled. The suffix of its file (.comp, .vert ...) decides its stage.
struct ShaderSource {
    std::string file;
    std::vector<std::string> folders; // for includes that are not beside the including file
    std::vector<std::string> defines; // "NAME" or "NAME=VALUE"
    std::string root;                 // a prefix that is cut off file names in messages
};

struct Compiled {
    bool ok = false;
    std::vector<uint32_t> words;
    std::string errors; // lines of the form "file:line: text"
};

Compiled compileShader(const ShaderSource& source);
bool isShaderFile(const std::string& file); // whether its suffix names a stage

// Returns the shader's file and all files that it includes, directly or indirectly, even from lines
// that the preprocessor skips. For a file that is missing it returns the paths at which the file is
// looked for, so that its creation is noticed. All paths are as normalizedPath() returns them.
std::set<std::string> filesOf(const ShaderSource& source);

// Returns a file's absolute path, with symbolic links to folders resolved, so that all paths to a
// file give the same text.
std::string normalizedPath(const std::string& path);

} // namespace sluice::dev
