// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/replaced_shaders.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using Code = std::vector<uint32_t>;

constexpr ShaderVariant kVariants[] = {ShaderVariant::base,       ShaderVariant::ext,
                                       ShaderVariant::baseNarrow, ShaderVariant::extNarrow,
                                       ShaderVariant::emu,        ShaderVariant::extInt64};

bool isShader(const std::string& name)
{
    for (const Pipeline pipeline : AllPipelines()) {
        if (pipelineRow(pipeline).shader == name) return true;
    }
    return false;
}

bool isVariant(const std::string& name)
{
    for (const ShaderVariant variant : kVariants) {
        if (shaderVariantName(variant) == name) return true;
    }
    return false;
}

bool readCode(const fs::path& path, Code& code)
{
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    if (!in || bytes.size() < 20 || bytes.size() % 4 != 0) return false;
    code.resize(bytes.size() / 4);
    std::memcpy(code.data(), bytes.data(), bytes.size());
    return code[0] == 0x07230203;
}

// Reads the shaders of this variant. Each file of the folder must have a shader's name, so that a
// misspelt one is noticed. Returns "" or what is wrong.
std::string readFolder(const std::string& folder, const std::string& variant,
                       std::map<std::string, Code>& shaders)
{
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        const fs::path path = entry.path();
        if (path.extension() != ".spv") continue;
        const std::string shader = path.stem().stem().string();
        const fs::path extension = path.stem().extension();
        if (extension.empty() || !isShader(shader) || !isVariant(extension.string().substr(1)))
            return path.string() + " is no SHADER.VARIANT.spv";
        if (extension != "." + variant) continue;
        if (!readCode(path, shaders[shader])) return path.string() + " is no SPIR-V";
    }
    return error ? folder + ": " + error.message() : "";
}

} // namespace

const char* shaderVariantName(ShaderVariant variant)
{
    switch (variant) {
    case ShaderVariant::base: return "base";
    case ShaderVariant::ext: return "ext";
    case ShaderVariant::baseNarrow: return "baseNarrow";
    case ShaderVariant::extNarrow: return "extNarrow";
    case ShaderVariant::emu: return "emu";
    case ShaderVariant::extInt64: return "extInt64";
    }
    return "";
}

std::string replaceShaders(VulkanBackend& backend, const std::string& folder, bool whole,
                           std::string& replaced)
{
    const std::string variant = shaderVariantName(backend.traits().variant);
    std::map<std::string, Code> shaders;
    const std::string error = readFolder(folder, variant, shaders);
    if (!error.empty()) return error;
    // A device with "all" pipelines lacks those that are made only if asked for by name.
    SluicePipelinesInfo named = {};
    for (const Pipeline pipeline : AllPipelines())
        if (whole && shaders.count(pipelineRow(pipeline).shader) != 0 &&
            !backend.pipelines().has(pipeline))
            named.kernels |= pipelineRow(pipeline).kernels & ~uint32_t(SLUICE_KERNELS_ALL);
    uint32_t left = 0;
    if (named.kernels != 0 && backend.createPipelines(named, left) != SLUICE_OK)
        return "the driver takes not all shaders of the library";
    std::map<std::string, uint32_t> counts;
    for (const Pipeline pipeline : AllPipelines()) {
        const std::string shader = pipelineRow(pipeline).shader;
        const auto found = shaders.find(shader);
        if (found == shaders.end() || !backend.pipelines().has(pipeline)) continue;
        const Code& code = found->second;
        VkPipeline made = VK_NULL_HANDLE;
        if (backend.pipelines().createPipeline(pipeline, {code.data(), code.size() * 4}, made) !=
            VK_SUCCESS)
            return "the driver takes no " + shader + "." + variant + ".spv";
        backend.pipelines().destroyPipeline(backend.pipelines().exchangePipeline(pipeline, made));
        ++counts[shader];
    }
    for (const auto& [shader, count] : counts)
        replaced +=
            shader + "." + variant + ".spv (" + std::to_string(count) + " pipelines replaced)\n";
    if (whole && counts.empty())
        return folder + " has no " + variant + " shader that this device uses";
    return "";
}

} // namespace sluice::test
