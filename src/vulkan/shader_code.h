// SPDX-License-Identifier: MIT OR Apache-2.0
// The SPIR-V that is built into the library; cmake/Shaders.cmake generates the table.
#pragma once

#include "vulkan/shader_packing.h"

namespace sluice {

enum class ShaderVariant {
    base,       // hardware subgroups of 32 lanes and more, 32-bit integers, whole words
    ext,        // 8-bit storage too
    baseNarrow, // base for subgroups of fewer than 32 lanes
    extNarrow,
    emu,      // no subgroup operations
    extInt64, // ext with 64-bit integers where that is faster, else ext
};

// Specialization constants by name. shaders/lib/layout/constants.h defines the ids.
struct PipelineConstants {
    struct One {
        uint32_t id, value;
    };
    One values[8];
    uint32_t count = 0;

    void set(uint32_t id, uint32_t value) { values[count++] = {id, value}; }
    bool operator==(const PipelineConstants& other) const
    {
        bool same = count == other.count;
        for (uint32_t i = 0; same && i < count; ++i)
            same = values[i].id == other.values[i].id && values[i].value == other.values[i].value;
        return same;
    }
};

// SPIR-V as drivers take it.
struct ShaderCode {
    const uint32_t* words;
    size_t bytes;
};

// Returns the shader as it is stored in the library, to be unpacked by unpackShader; `packed` is
// NULL if there is none.
PackedShader findShader(const char* kernel, ShaderVariant variant);
// Returns the same shader with these constants fixed and the code that they exclude removed, which
// drivers compile in less time; `packed` is NULL if there is none for these constants.
// cmake/Shaders.cmake has the list.
PackedShader findShader(const char* kernel, ShaderVariant variant,
                        const PipelineConstants& constants);
// Returns whether this build has any shader with fixed constants. Builds without spirv-opt have
// none, nor do builds whose shaders are edited.
bool hasFixedShaders();

} // namespace sluice
