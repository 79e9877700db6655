// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles GLSL to SPIR-V inside the process.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sluice::dev {

// A shader, whose file name gives its stage (.comp, .vert ...), and the options that it is compiled
// with.
struct ShaderSource {
    std::string file;
    std::vector<std::string> folders; // searched for includes, after the including file's own
    std::vector<std::string> defines; // "NAME" or "NAME=VALUE"
    std::string root;                 // what messages leave out in front of files' names
};

struct Compiled {
    bool ok = false;
    std::vector<uint32_t> words;
    std::string errors; // "file:line: text" lines
};

Compiled compileShader(const ShaderSource& source);
bool isShaderFile(const std::string& file); // whether its name says a stage

// Returns the shader's file and everything that it includes, directly or not, in active lines or
// not; for a missing include, the places where it is searched. Paths have the form of
// normalizedPath().
std::set<std::string> filesOf(const ShaderSource& source);

// Returns one spelling for each file: absolute, with the folder's links resolved.
std::string normalizedPath(const std::string& path);

} // namespace sluice::dev
