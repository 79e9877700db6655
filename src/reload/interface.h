// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads from a compute shader's SPIR-V what the host code knows about it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace sluice::dev {

struct ShaderInterface {
    bool valid = false; // the words are one compute shader in SPIR-V
    uint32_t pushConstantBytes = 0;
    std::set<uint32_t> specIds;
    std::array<int64_t, 3> localSize = {0, 0, 0}; // a size, or -1 - id for a specialization
                                                  // constant
    std::set<uint32_t> capabilities;
    uint32_t bindings = 0; // descriptor bindings; sluice's kernels have none
};

ShaderInterface readInterface(const uint32_t* words, size_t count);

// Returns an empty text if a pipeline of `after` can replace one of `before`. Otherwise the text
// says what has changed. `after` may need fewer capabilities, but not others.
std::string interfaceChange(const ShaderInterface& before, const ShaderInterface& after);

} // namespace sluice::dev
