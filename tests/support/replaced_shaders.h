// SPDX-License-Identifier: MIT OR Apache-2.0
// Shaders from a folder in the place of the library's own, so that one program judges any number of
// faults in shaders (tools/dev.d/mutants.py).
#pragma once

#include <string>

#include "vulkan/context.h"

namespace sluice::test {

// A variant's name, as cmake/Shaders.cmake spells it.
const char* shaderVariantName(ShaderVariant variant);

// Makes the pipelines of a device anew whose shader has a file SHADER.VARIANT.spv in the folder;
// VARIANT is what the device takes. `whole`: the device has all its pipelines, so that one at least
// must be replaced. Returns "" or why it could not; `replaced` says what was.
std::string replaceShaders(VulkanBackend& backend, const std::string& folder, bool whole,
                           std::string& replaced);

} // namespace sluice::test
