// SPDX-License-Identifier: MIT OR Apache-2.0
// One thread: watch, compile, compare interfaces, make a pipeline, test it on a device of its own,
// swap.
#include <sluice/sluice_dev.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "compile.h"
#include "interface.h"
#include "self_test.h"
#include "watcher.h"

namespace sluice::dev {

namespace {

class Timer {
public:
    double milliseconds() const
    {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
            .count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// As cmake/Shaders.cmake has them.
std::vector<std::string> variantDefines(ShaderVariant variant)
{
    switch (variant) {
    case ShaderVariant::ext: return {"SLUICE_EXT"};
    case ShaderVariant::baseNarrow: return {"SLUICE_NARROW"};
    case ShaderVariant::extNarrow: return {"SLUICE_EXT", "SLUICE_NARROW"};
    case ShaderVariant::emu: return {"SLUICE_EMU"};
    case ShaderVariant::extInt64: return {"SLUICE_EXT", "SLUICE_INT64"};
    default: return {};
    }
}

std::string shaderFile(Kernel kernel) { return std::string(kernelName(kernel)) + ".comp"; }

VulkanBackend* vulkanBackend(SluiceContext context)
{
    SluiceContextInfo info = {};
    if (sluiceGetContextInfo(context, &info) != SLUICE_OK || info.backend != SLUICE_BACKEND_VULKAN)
        return nullptr;
    return static_cast<VulkanBackend*>(context->backend);
}

} // namespace

class HotReload {
public:
    ~HotReload()
    {
        if (thread_.joinable()) {
            watcher_.wake();
            thread_.join();
        }
        closeTestDevice();
        releaseOld();
    }

    SluiceStatus start(const SluiceHotReloadInfo& info, const char*& error)
    {
        info_ = info;
        folder_ = info.shaderFolder;
        device_ = info.device;
        program_ = vulkanBackend(info.context);
        if (!program_) {
            error = "not a Vulkan context";
            return SLUICE_ERROR_ARGUMENT;
        }
        if (!watcher_.open(folder_)) {
            error = "the shader folder cannot be watched";
            return SLUICE_ERROR_IO;
        }
        const SluiceStatus status = openTestDevice(error);
        if (status != SLUICE_OK) return status;
        if (const SluiceStatus prepared = selfTest_.prepare()) {
            error = "the CPU reference could not run the self-test";
            return prepared;
        }
        // What each kernel includes; what the files contain now is taken for what the program was
        // built from.
        for (size_t i = 0; i < kernelCount; ++i) {
            files_[i] = compileShader(folder_, shaderFile(static_cast<Kernel>(i)), defines()).files;
        }
        thread_ = std::thread([this] { loop(); });
        return SLUICE_OK;
    }

    void releaseOld()
    {
        std::vector<VkPipeline> old;
        {
            const std::lock_guard<std::mutex> lock(oldMutex_);
            old.swap(old_);
        }
        for (const VkPipeline pipeline : old)
            program_->destroyPipeline(pipeline);
    }

private:
    std::vector<std::string> defines() const { return variantDefines(program_->variant()); }

    SluiceStatus openTestDevice(const char*& error)
    {
        SluiceContextInfo wanted = {}, got = {};
        sluiceGetContextInfo(info_.context, &wanted);
        SluiceDeviceInfo open = {};
        open.selector = device_.c_str();
        open.tier = wanted.tier;
        if (const SluiceStatus status = sluiceOpenDevice(&open, &testDevice_, nullptr)) {
            error = "the device for self-tests cannot be opened with the context's tier";
            return status;
        }
        test_ = vulkanBackend(sluiceGetDeviceContext(testDevice_));
        sluiceGetContextInfo(sluiceGetDeviceContext(testDevice_), &got);
        if (!test_ || got.subgroupSize != wanted.subgroupSize) {
            error = "the device for self-tests has another subgroup size than the context";
            closeTestDevice();
            return SLUICE_ERROR_UNSUPPORTED;
        }
        return SLUICE_OK;
    }

    void closeTestDevice()
    {
        if (testDevice_) sluiceCloseDevice(testDevice_);
        testDevice_ = nullptr;
        test_ = nullptr;
    }

    using Kernels = std::vector<Kernel>;

    void loop()
    {
        for (;;) {
            const std::set<std::string> changed = watcher_.wait();
            if (changed.empty()) return;
            for (size_t i = 0; i < kernelCount; ++i) {
                const Kernel kernel = static_cast<Kernel>(i);
                const Kernels same = kernelsOf(*program_, kernel);
                // not used, or reloaded with the first one of its shader
                if (same.empty() || same.front() != kernel) continue;
                for (const std::string& file : changed) {
                    if (files_[i].count(file) != 0) {
                        reload(kernel);
                        break;
                    }
                }
            }
        }
    }

    // All kernels of a shader.
    void reload(Kernel kernel)
    {
        SluiceReloadEvent event = {};
        event.kernel = kernelName(kernel);
        std::string text;
        const Timer compileTimer;
        const Compiled compiled = compileShader(folder_, shaderFile(kernel), defines());
        event.compileMilliseconds = compileTimer.milliseconds();
        // A failed compile may have stopped before some include: its files are added, none is
        // forgotten.
        std::set<std::string>& files = files_[static_cast<size_t>(kernel)];
        if (compiled.ok) files.clear();
        files.insert(compiled.files.begin(), compiled.files.end());

        if (!compiled.ok) {
            event.result = SLUICE_RELOAD_COMPILE_ERROR;
            text = compiled.errors;
        } else {
            const ShaderCode built = shaderCode(event.kernel, program_->variant());
            text = interfaceChange(readInterface(built.words, built.bytes / 4),
                                   readInterface(compiled.words.data(), compiled.words.size()));
            if (!text.empty()) {
                event.result = SLUICE_RELOAD_INTERFACE_CHANGED;
            } else {
                const Timer testTimer;
                event.result =
                    testAndSwap(kernelsOf(*program_, kernel),
                                {compiled.words.data(), compiled.words.size() * 4}, text);
                event.selfTestMilliseconds = testTimer.milliseconds();
            }
        }
        event.text = text.c_str();
        if (info_.callback) info_.callback(info_.user, &event);
    }

    using Pipelines = std::vector<VkPipeline>;

    // The kernels with the same shader, in order.
    static Kernels kernelsOf(const VulkanBackend& backend, Kernel kernel)
    {
        Kernels kernels;
        for (size_t i = 0; i < kernelCount; ++i) {
            const Kernel one = static_cast<Kernel>(i);
            if (backend.uses(one) && std::string(kernelName(one)) == kernelName(kernel))
                kernels.push_back(one);
        }
        return kernels;
    }

    static void destroyAll(const VulkanBackend& backend, const Pipelines& pipelines)
    {
        for (const VkPipeline pipeline : pipelines)
            backend.destroyPipeline(pipeline);
    }

    // Makes a pipeline for each kernel; none and a text on failure.
    static bool createAll(const VulkanBackend& backend, const Kernels& kernels,
                          const ShaderCode& code, Pipelines& pipelines, std::string& text)
    {
        for (const Kernel kernel : kernels) {
            VkPipeline pipeline = VK_NULL_HANDLE;
            if (const VkResult result = backend.createPipeline(kernel, code, pipeline)) {
                text = "vkCreateComputePipelines: " + std::to_string(result);
                destroyAll(backend, pipelines);
                return false;
            }
            pipelines.push_back(pipeline);
        }
        return true;
    }

    // Afterwards `pipelines` are those that were in use before.
    static void exchangeAll(VulkanBackend& backend, const Kernels& kernels, Pipelines& pipelines)
    {
        for (size_t i = 0; i < kernels.size(); ++i) {
            pipelines[i] = backend.exchangePipeline(kernels[i], pipelines[i]);
        }
    }

    SluiceReloadResult testAndSwap(const Kernels& kernels, const ShaderCode& code,
                                   std::string& text)
    {
        const char* error = nullptr;
        if (!test_ && openTestDevice(error) != SLUICE_OK) {
            text = error;
            return SLUICE_RELOAD_PIPELINE_ERROR;
        }
        Pipelines candidates;
        if (!createAll(*test_, kernels, code, candidates, text))
            return SLUICE_RELOAD_PIPELINE_ERROR;
        exchangeAll(*test_, kernels, candidates);
        bool lost = false;
        text = selfTest_.run(testDevice_, kernels.front(), lost);
        // The self-test has waited for the device, so nothing is in use.
        if (!text.empty()) exchangeAll(*test_, kernels, candidates);
        destroyAll(*test_, candidates);
        if (!text.empty()) {
            if (lost) closeTestDevice(); // the next change opens a new one
            return SLUICE_RELOAD_WRONG_RESULT;
        }

        Pipelines pipelines;
        if (!createAll(*program_, kernels, code, pipelines, text))
            return SLUICE_RELOAD_PIPELINE_ERROR;
        const std::lock_guard<std::mutex> lock(oldMutex_);
        exchangeAll(*program_, kernels, pipelines);
        old_.insert(old_.end(), pipelines.begin(), pipelines.end());
        return SLUICE_RELOAD_SWAPPED;
    }

    SluiceHotReloadInfo info_ = {};
    std::string folder_, device_;
    VulkanBackend* program_ = nullptr; // the caller's context
    SluiceDevice testDevice_ = nullptr;
    VulkanBackend* test_ = nullptr; // testDevice_'s context
    SelfTest selfTest_;
    Watcher watcher_;
    std::set<std::string> files_[kernelCount]; // what each kernel is made from
    std::mutex oldMutex_;
    std::vector<VkPipeline> old_;
    std::thread thread_;
};

} // namespace sluice::dev

struct SluiceHotReload_T {
    sluice::dev::HotReload reload;
};

SluiceStatus sluiceStartHotReload(const SluiceHotReloadInfo* info, SluiceHotReload* reload,
                                  const char** error)
{
    const char* unused = nullptr;
    const char*& reason = error ? *error : unused;
    reason = "a required argument is NULL";
    if (!reload) return SLUICE_ERROR_ARGUMENT;
    *reload = nullptr;
    if (!info || !info->context || !info->shaderFolder || !info->device)
        return SLUICE_ERROR_ARGUMENT;
    SluiceHotReload made = nullptr;
    SluiceStatus status = SLUICE_OK;
    try {
        made = new SluiceHotReload_T;
        status = made->reload.start(*info, reason);
    } catch (const std::bad_alloc&) {
        reason = "out of memory";
        status = SLUICE_ERROR_OUT_OF_MEMORY;
    } catch (const std::system_error&) {
        reason = "no thread could be started";
        status = SLUICE_ERROR_OUT_OF_MEMORY;
    }
    if (status != SLUICE_OK) {
        delete made;
        return status;
    }
    reason = nullptr;
    *reload = made;
    return SLUICE_OK;
}

void sluiceReleaseOldPipelines(SluiceHotReload reload)
{
    if (reload) reload->reload.releaseOld();
}

void sluiceStopHotReload(SluiceHotReload reload) { delete reload; }
