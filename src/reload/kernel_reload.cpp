// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reload/kernel_reload.h"

#include <algorithm>
#include <filesystem>

#include "reload/interface.h"
#include "reload/timer.h"

namespace sluice::dev {

namespace {

constexpr const char* kNotUsed = "not used on this device";

// Returns the macros that cmake/Shaders.cmake defines for a variant.
std::vector<std::string> definesOf(ShaderVariant variant)
{
    switch (variant) {
    case ShaderVariant::base: return {};
    case ShaderVariant::ext: return {"SLUICE_EXT"};
    case ShaderVariant::baseNarrow: return {"SLUICE_NARROW"};
    case ShaderVariant::extNarrow: return {"SLUICE_EXT", "SLUICE_NARROW"};
    case ShaderVariant::emu: return {"SLUICE_EMU"};
    case ShaderVariant::extInt64: return {"SLUICE_EXT", "SLUICE_INT64"};
    }
    return {};
}

// Returns all pipelines that are made from this shader.
Pipelines pipelinesOf(const std::string& shader)
{
    Pipelines result;
    for (const Pipeline pipeline : AllPipelines()) {
        if (shader == pipelineRow(pipeline).shader) result.push_back(pipeline);
    }
    return result;
}

} // namespace

SluiceStatus KernelReload::start(const SluiceHotReloadInfo& info, const char*& error)
{
    m_folder = std::filesystem::absolute(info.shaderFolder).lexically_normal().generic_string();
    m_selector = info.device;
    m_program = vulkanBackend(info.context);
    if (!m_program) {
        error = "not a Vulkan context";
        return SLUICE_ERROR_ARGUMENT;
    }
    // Assume that the program was built from the current contents of the files.
    for (const Pipeline pipeline : AllPipelines()) {
        const std::string shader = pipelineRow(pipeline).shader;
        if (m_files.count(shader) == 0) m_files[shader] = filesOf(sourceOf(shader));
    }
    return m_device.open(info.device, *m_program, error);
}

void KernelReload::releaseOld()
{
    std::vector<VkPipeline> old;
    {
        const std::lock_guard<std::mutex> lock(m_oldMutex);
        old.swap(m_old);
    }
    for (const VkPipeline pipeline : old)
        m_program->pipelines().destroyPipeline(pipeline);
}

ShaderSource KernelReload::sourceOf(const std::string& shader) const
{
    return {m_folder + "/" + shader + ".comp",
            {m_folder, m_folder + "/lib"},
            definesOf(m_program->traits().variant),
            m_folder + "/"};
}

void KernelReload::reload(const std::set<std::string>& changed, const SendEvent& send)
{
    std::set<std::string> unknown;
    for (const std::string& file : changed) {
        const std::filesystem::path path(file);
        const bool isHidden = path.filename().string()[0] == '.'; // a temporary file of an editor
        if (path.extension() == ".comp" && !isHidden &&
            normalizedPath(m_folder + "/" + path.filename().string()) == file)
            unknown.insert(path.stem().string());
    }
    for (const auto& [shader, files] : m_files) {
        unknown.erase(shader);
        const bool uses = std::any_of(changed.begin(), changed.end(), [&files = files](auto& file) {
            return files.count(file) != 0;
        });
        if (uses) reloadShader(shader, send);
    }
    // The names left in `unknown` are shaders that no pipeline uses.
    for (const std::string& shader : unknown) {
        SluiceReloadEvent event = {shader.c_str(), SLUICE_RELOAD_NOT_USED, kNotUsed, 0, 0};
        send(event);
    }
}

bool KernelReload::isUsed(const std::string& shader) const
{
    const Pipelines pipelines = pipelinesOf(shader);
    return std::any_of(pipelines.begin(), pipelines.end(),
                       [this](Pipeline pipeline) { return m_program->pipelines().has(pipeline); });
}

void KernelReload::reloadShader(const std::string& shader, const SendEvent& send)
{
    const ShaderSource source = sourceOf(shader);
    SluiceReloadEvent event = {};
    event.kernel = shader.c_str();
    std::string text;
    const Timer compileTimer;
    const Compiled compiled = compileShader(source);
    event.compileMilliseconds = compileTimer.milliseconds();
    m_files[shader] = filesOf(source);

    const auto interfaceDiffers = [&] {
        const PackedShader packed = findShader(shader.c_str(), m_program->traits().variant);
        std::vector<uint32_t> built(packed.wordCount);
        unpackShader(packed, built.data());
        text = interfaceChange(readInterface(built.data(), built.size()),
                               readInterface(compiled.words.data(), compiled.words.size()));
        return !text.empty();
    };
    if (!compiled.ok) {
        event.result = SLUICE_RELOAD_COMPILE_ERROR;
        text = compiled.errors;
    } else if (!isUsed(shader)) {
        event.result = SLUICE_RELOAD_NOT_USED;
        text = kNotUsed;
    } else if (interfaceDiffers()) {
        event.result = SLUICE_RELOAD_INTERFACE_CHANGED;
    } else {
        const Timer testTimer;
        event.result =
            testAndSwap(shader, {compiled.words.data(), compiled.words.size() * 4}, text);
        event.selfTestMilliseconds = testTimer.milliseconds();
    }
    event.text = text.c_str();
    send(event);
}

bool KernelReload::make(VulkanBackend& backend, Pipeline pipeline, const ShaderCode& code,
                        std::vector<Made>& made, std::string& text)
{
    VkPipeline handle = VK_NULL_HANDLE;
    const VkResult result = backend.pipelines().createPipeline(pipeline, code, handle);
    if (result == VK_SUCCESS)
        made.push_back({&backend, pipeline, handle});
    else
        text = std::string(pipelineRow(pipeline).name) +
               ": vkCreateComputePipelines: " + std::to_string(result);
    return result == VK_SUCCESS;
}

// Makes the pipelines of a group (those that one case of the self-test tests together) from `code`,
// puts them into the context of the test device, and tests them. Adds the pipelines that they
// replace to `replaced`.
SluiceReloadResult KernelReload::testGroup(const Pipelines& group, const ShaderCode& code,
                                           std::vector<Made>& replaced, std::string& text)
{
    const char* error = nullptr;
    VulkanBackend* const backend =
        m_device.use(selftest::kernelsOf(pipelineRow(group.front()).selfTest), error);
    if (backend == nullptr) {
        text = error;
        return SLUICE_RELOAD_PIPELINE_ERROR;
    }
    Pipelines tested;
    for (const Pipeline pipeline : group) {
        // Skip a pipeline that the test device cannot run, unless the program uses it. In that case
        // make() fails and reports the error.
        if (!backend->pipelines().has(pipeline) && !m_program->pipelines().has(pipeline)) continue;
        if (!make(*backend, pipeline, code, replaced, text)) return SLUICE_RELOAD_PIPELINE_ERROR;
        replaced.back().handle =
            backend->pipelines().exchangePipeline(pipeline, replaced.back().handle);
        tested.push_back(pipeline);
    }
    if (tested.empty()) return SLUICE_RELOAD_NOT_USED;
    const Verdict verdict = m_selfTest.run(m_device, tested);
    text.clear();
    for (const Pipeline pipeline : tested)
        text += (text.empty() ? "" : ", ") + std::string(pipelineRow(pipeline).name);
    text += ": " + verdict.text;
    switch (verdict.kind) {
    case Verdict::passed: return SLUICE_RELOAD_SWAPPED;
    case Verdict::notUsed: return SLUICE_RELOAD_NOT_USED;
    case Verdict::refused: return SLUICE_RELOAD_WRONG_RESULT;
    case Verdict::lost: break;
    }
    m_lost = true;
    return SLUICE_RELOAD_WRONG_RESULT;
}

// Tests all pipelines of a shader. Returns SWAPPED if every pipeline that this device uses has
// passed, and NOT_USED if it uses none. For the other parameters, see testGroup.
SluiceReloadResult KernelReload::test(const std::string& shader, const ShaderCode& code,
                                      std::vector<Made>& replaced, std::string& text)
{
    SluiceReloadResult result = SLUICE_RELOAD_NOT_USED;
    for (const Pipelines& group : SelfTest::groups(pipelinesOf(shader))) {
        const SluiceReloadResult one = testGroup(group, code, replaced, text);
        if (one == SLUICE_RELOAD_SWAPPED)
            result = one;
        else if (one != SLUICE_RELOAD_NOT_USED)
            return one;
    }
    text = result == SLUICE_RELOAD_SWAPPED ? "" : kNotUsed;
    return result;
}

SluiceReloadResult KernelReload::testAndSwap(const std::string& shader, const ShaderCode& code,
                                             std::string& text)
{
    const char* error = nullptr;
    if (!m_device.isOpen() && m_device.open(m_selector.c_str(), *m_program, error) != SLUICE_OK) {
        text = error;
        return SLUICE_RELOAD_PIPELINE_ERROR;
    }
    m_lost = false;
    std::vector<Made> replaced;
    const SluiceReloadResult result = test(shader, code, replaced, text);
    // On success destroy the pipelines that were replaced, otherwise put them back and destroy the
    // new ones. The self-test has waited until the device was idle, so none is in use.
    for (Made& one : replaced) {
        if (result != SLUICE_RELOAD_SWAPPED)
            one.handle = one.backend->pipelines().exchangePipeline(one.pipeline, one.handle);
        one.backend->pipelines().destroyPipeline(one.handle);
    }
    if (m_lost) m_device.close(); // the next change opens the device again
    return result == SLUICE_RELOAD_SWAPPED ? swap(shader, code, text) : result;
}

SluiceReloadResult KernelReload::swap(const std::string& shader, const ShaderCode& code,
                                      std::string& text)
{
    std::vector<Made> made;
    for (const Pipeline pipeline : pipelinesOf(shader)) {
        if (!m_program->pipelines().has(pipeline) || make(*m_program, pipeline, code, made, text))
            continue;
        for (const Made& one : made)
            m_program->pipelines().destroyPipeline(one.handle);
        return SLUICE_RELOAD_PIPELINE_ERROR;
    }
    const std::lock_guard<std::mutex> lock(m_oldMutex);
    for (const Made& one : made)
        m_old.push_back(m_program->pipelines().exchangePipeline(one.pipeline, one.handle));
    return SLUICE_RELOAD_SWAPPED;
}

} // namespace sluice::dev
