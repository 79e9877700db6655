// SPDX-License-Identifier: MIT OR Apache-2.0
// Replaces the library's shaders by those of a folder. So a single test program can be run with any
// number of faults in shaders (tools/dev.d/mutants.py).
#pragma once

#include <string>

#include "vulkan/context.h"

namespace sluice::test {

// Returns a variant's name as in cmake/Shaders.cmake.
const char* shaderVariantName(ShaderVariant variant);

// Makes a device's pipelines anew if the folder has a file SHADER.VARIANT.spv for their shader and
// for the device's variant. `whole`: the device was opened with SLUICE_KERNELS_ALL, so at least one
// must be replaced, and pipelines that are made only if asked for are made first. `replaced`
// receives the names of those that were replaced. Returns "" or what is wrong.
std::string replaceShaders(VulkanBackend& backend, const std::string& folder, bool whole,
                           std::string& replaced);

} // namespace sluice::test
