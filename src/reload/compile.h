// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles GLSL to SPIR-V inside the process.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sluice::dev {

// A shader and the options with which it is compiled. The extension of its file (.comp, .vert ...)
// determines its stage.
struct ShaderSource {
    std::string file;
    std::vector<std::string> folders; // searched for includes, after the including file's own
    std::vector<std::string> defines; // "NAME" or "NAME=VALUE"
    std::string root;                 // prefix that messages leave out of file names
};

struct Compiled {
    bool ok = false;
    std::vector<uint32_t> words;
    std::string errors; // "file:line: text" lines
};

Compiled compileShader(const ShaderSource& source);
bool isShaderFile(const std::string& file); // whether its name says a stage

// Returns the shader's file and all files that it includes, directly or indirectly, including those
// in lines that the preprocessor skips. For a missing include, returns the paths at which it is
// searched. Paths have the form of normalizedPath().
std::set<std::string> filesOf(const ShaderSource& source);

// Returns one spelling for each file: absolute, with the folder's links resolved.
std::string normalizedPath(const std::string& path);

} // namespace sluice::dev
