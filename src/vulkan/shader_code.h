// SPDX-License-Identifier: MIT OR Apache-2.0
// The SPIR-V that is built into the library. cmake/Shaders.cmake generates the table.
#pragma once

#include "vulkan/shader_packing.h"

namespace sluice {

enum class ShaderVariant {
    base,       // hardware subgroups of 32 lanes or more, 32-bit integers, stores of whole words
    ext,        // also 8-bit storage
    baseNarrow, // `base` for subgroups of fewer than 32 lanes
    extNarrow,  // `ext` for subgroups of fewer than 32 lanes
    emu,        // no subgroup operations at all
    extInt64,   // `ext` with 64-bit integers, in shaders that are faster with these
};

// Specialization constants and their values. shaders/lib/layout/constants.h has the ids.
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

// SPIR-V in the form that drivers take.
struct ShaderCode {
    const uint32_t* words;
    size_t bytes;
};

// Returns a shader as it is stored in the library; unpackShader unpacks it. If there is no such
// shader, `packed` is NULL in the result.
PackedShader findShader(const char* kernel, ShaderVariant variant);
// Returns a version of the shader in which these constants are folded in and the code that they
// exclude is removed, so that drivers compile it in less time. If this build has no such version,
// `packed` is NULL in the result. cmake/Shaders.cmake lists the versions.
PackedShader findShader(const char* kernel, ShaderVariant variant,
                        const PipelineConstants& constants);
// Returns whether this build has any shaders with constants folded in. It has none if spirv-opt was
// missing, or if it is made for hot reload (SLUICE_HOT_RELOAD).
bool hasFixedShaders();

} // namespace sluice
