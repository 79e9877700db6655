// SPDX-License-Identifier: MIT OR Apache-2.0
// The SPIR-V that is built into the library; cmake/Shaders.cmake generates the table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

enum class ShaderVariant {
    base,       // hardware subgroups of 32 lanes and more, 32-bit integers, whole words
    ext,        // 8-bit storage too
    baseNarrow, // the same for subgroups of less than 32 lanes
    extNarrow,
    emu,      // no subgroup operations
    extInt64, // ext with 64-bit integers, of kernels that gain by them; of the others it is ext
};

struct ShaderCode {
    const uint32_t* words; // NULL if there is no such shader
    size_t bytes;
};

ShaderCode shaderCode(const char* kernel, ShaderVariant variant);

} // namespace sluice
