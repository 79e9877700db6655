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

// Specialization constants by name: the ids stand in shaders/lib/layout/constants.h.
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

// SPIR-V, as a driver takes it.
struct ShaderCode {
    const uint32_t* words;
    size_t bytes;
};

// The shader as it is in the library, to be unpacked by unpackShader; packed is NULL if there is
// none.
PackedShader findShader(const char* kernel, ShaderVariant variant);
// The same shader with these constants fixed and what they remove gone, which drivers compile in
// less time; packed is NULL if there is none for these. cmake/Shaders.cmake has the list.
PackedShader findShader(const char* kernel, ShaderVariant variant,
                        const PipelineConstants& constants);
// Whether this build has any: not without spirv-opt, nor where shaders are edited.
bool hasFixedShaders();

} // namespace sluice
