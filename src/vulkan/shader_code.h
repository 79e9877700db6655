// SPDX-License-Identifier: MIT OR Apache-2.0
// The SPIR-V that is built into the library; cmake/Shaders.cmake generates the table.
#pragma once

#include "vulkan/shader_packing.h"

namespace sluice {

enum class ShaderVariant {
    base,       // hardware subgroups of 32 lanes and more, 32-bit integers, whole words
    ext,        // 8-bit storage too
    baseNarrow, // the same for subgroups of less than 32 lanes
    extNarrow,
    emu,      // no subgroup operations
    extInt64, // ext with 64-bit integers, of kernels that gain by them; of the others it is ext
};

// SPIR-V, as a driver takes it.
struct ShaderCode {
    const uint32_t* words;
    size_t bytes;
};

// The shader as it is in the library, to be unpacked by unpackShader; packed is NULL if there is
// none.
PackedShader findShader(const char* kernel, ShaderVariant variant);

} // namespace sluice
