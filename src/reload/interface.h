// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the interface of a compute shader from its SPIR-V: everything that the host code depends
// on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace sluice::dev {

struct ShaderInterface {
    bool valid = false; // the words are SPIR-V with one compute shader
    uint32_t pushConstantBytes = 0;
    std::set<uint32_t> specIds;
    // The workgroup size. A value -1 - id means that specialization constant `id` gives the size.
    std::array<int64_t, 3> localSize = {0, 0, 0};
    std::set<uint32_t> capabilities;
    uint32_t bindings = 0; // number of descriptor bindings; sluice's kernels have none
};

ShaderInterface readInterface(const uint32_t* words, size_t count);

// Returns an empty text if a pipeline of `after` can replace one of `before`; otherwise a text that
// says what has changed. `after` must not need a SPIR-V capability that `before` does not need.
std::string interfaceChange(const ShaderInterface& before, const ShaderInterface& after);

} // namespace sluice::dev
