// SPDX-License-Identifier: MIT OR Apache-2.0
// Hot reload: a thread waits until files change, and reloads the shaders that use these files. They
// are sluice's kernels and the program's own shaders.
#include <sluice/sluice_dev.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "reload/kernel_reload.h"
#include "reload/timer.h"
#include "reload/watcher.h"

namespace sluice::dev {

namespace {

// A shader of the program's own.
struct WatchedShader {
    std::string name; // the file as the caller named it
    ShaderSource source;
    std::set<std::string> files;
    SluiceWatchedShaderInfo info; // its callbacks
};

bool watchFoldersOf(Watcher& watcher, const WatchedShader& shader)
{
    std::set<std::string> folders;
    for (const std::string& file : shader.files)
        folders.insert(std::filesystem::path(file).parent_path().string());
    bool ok = true;
    for (const std::string& folder : folders) {
        std::error_code error; // ignored: a folder in which includes are looked for need not exist
        if (std::filesystem::is_directory(folder, error)) ok = watcher.add(folder, false) && ok;
    }
    return ok;
}

void reloadWatched(Watcher& watcher, WatchedShader& shader, const SendEvent& send)
{
    SluiceReloadEvent event = {};
    event.kernel = shader.name.c_str();
    const Timer compileTimer;
    const Compiled compiled = compileShader(shader.source);
    event.compileMilliseconds = compileTimer.milliseconds();
    shader.files = filesOf(shader.source);
    watchFoldersOf(watcher, shader);
    const char* text = "";
    if (!compiled.ok) {
        event.result = SLUICE_RELOAD_COMPILE_ERROR;
        text = compiled.errors.c_str();
    } else {
        const SluiceWatchedShaderInfo& info = shader.info;
        const size_t size = compiled.words.size() * 4;
        const Timer testTimer;
        if (info.selfTest != nullptr)
            event.result = info.selfTest(info.user, compiled.words.data(), size, &text);
        event.selfTestMilliseconds = testTimer.milliseconds();
        if (event.result == SLUICE_RELOAD_SWAPPED &&
            info.swap(info.user, compiled.words.data(), size, &text) != SLUICE_OK)
            event.result = SLUICE_RELOAD_PIPELINE_ERROR;
    }
    event.text = text != nullptr ? text : "";
    send(event);
}

} // namespace

class HotReload {
public:
    ~HotReload()
    {
        if (!m_thread.joinable()) return;
        m_watcher.wake();
        m_thread.join();
    }

    SluiceStatus start(const SluiceHotReloadInfo& info, const char*& error)
    {
        m_info = info;
        if (!m_watcher.open() ||
            (info.shaderFolder != nullptr && !m_watcher.add(info.shaderFolder, true))) {
            error = "the shader folder cannot be watched";
            return SLUICE_ERROR_IO;
        }
        if (info.context != nullptr) {
            m_kernels = std::make_unique<KernelReload>();
            const SluiceStatus status = m_kernels->start(info, error);
            if (status != SLUICE_OK) return status;
        }
        m_thread = std::thread([this] { loop(); });
        return SLUICE_OK;
    }

    SluiceStatus watch(const SluiceWatchedShaderInfo& info, const char*& error)
    {
        auto shader = std::make_shared<WatchedShader>();
        shader->name = info.file;
        shader->source.file = info.file;
        shader->source.folders.assign(info.includeFolders,
                                      info.includeFolders + info.includeFolderCount);
        shader->source.defines.assign(info.defines, info.defines + info.defineCount);
        shader->info = info;
        std::error_code missing;
        if (!std::filesystem::is_regular_file(info.file, missing)) {
            error = "the shader cannot be read";
            return SLUICE_ERROR_IO;
        }
        shader->files = filesOf(shader->source);
        if (!watchFoldersOf(m_watcher, *shader)) {
            error = "the folders of the shader cannot be watched";
            return SLUICE_ERROR_IO;
        }
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_watched.push_back(std::move(shader));
        return SLUICE_OK;
    }

    void releaseOld()
    {
        if (m_kernels) m_kernels->releaseOld();
    }

private:
    void loop()
    {
        const SendEvent send = [this](const SluiceReloadEvent& event) {
            if (m_info.callback) m_info.callback(m_info.user, &event);
        };
        for (;;) {
            const std::set<std::string> changed = m_watcher.wait();
            if (changed.empty()) return;
            if (m_kernels) m_kernels->reload(changed, send);
            // Copy the list, since callbacks may add shaders to it.
            std::vector<std::shared_ptr<WatchedShader>> watched;
            {
                const std::lock_guard<std::mutex> lock(m_mutex);
                watched = m_watched;
            }
            for (const auto& shader : watched) {
                for (const std::string& file : changed) {
                    if (shader->files.count(file) == 0) continue;
                    reloadWatched(m_watcher, *shader, send);
                    break;
                }
            }
        }
    }

    SluiceHotReloadInfo m_info = {};
    std::unique_ptr<KernelReload> m_kernels;
    Watcher m_watcher;
    std::mutex m_mutex;
    std::vector<std::shared_ptr<WatchedShader>> m_watched;
    std::thread m_thread;
};

namespace {

// Calls `act` and returns its status. If it throws, returns an error, and `reason` says why.
template <typename Act>
SluiceStatus guarded(const char*& reason, Act act)
{
    try {
        return act();
    } catch (const std::bad_alloc&) {
        reason = "out of memory";
    } catch (const std::system_error&) { // from std::thread or std::filesystem
        reason = "the system refused a thread or a file";
    }
    return SLUICE_ERROR_OUT_OF_MEMORY;
}

} // namespace

} // namespace sluice::dev

struct SluiceHotReload_T {
    sluice::dev::HotReload reload;
};

SluiceStatus sluiceStartHotReload(const SluiceHotReloadInfo* info, SluiceHotReload* reload,
                                  const char** error)
{
    const char* ignored = nullptr;
    const char*& reason = error ? *error : ignored;
    reason = "a required argument is NULL";
    if (!reload) return SLUICE_ERROR_ARGUMENT;
    *reload = nullptr;
    if (!info) return SLUICE_ERROR_ARGUMENT;
    const int given =
        (info->context != nullptr) + (info->shaderFolder != nullptr) + (info->device != nullptr);
    if (given != 0 && given != 3) return SLUICE_ERROR_ARGUMENT;
    SluiceHotReload made = nullptr;
    const SluiceStatus status = sluice::dev::guarded(reason, [&] {
        made = new SluiceHotReload_T;
        return made->reload.start(*info, reason);
    });
    if (status != SLUICE_OK) {
        delete made;
        return status;
    }
    reason = nullptr;
    *reload = made;
    return SLUICE_OK;
}

SluiceStatus sluiceWatchShader(SluiceHotReload reload, const SluiceWatchedShaderInfo* info,
                               const char** error)
{
    const char* ignored = nullptr;
    const char*& reason = error ? *error : ignored;
    reason = "a required argument is NULL";
    if (!reload || !info || !info->file || !info->swap ||
        (info->includeFolderCount != 0 && !info->includeFolders) ||
        (info->defineCount != 0 && !info->defines))
        return SLUICE_ERROR_ARGUMENT;
    reason = "the file's name does not end in .comp, .vert, .frag, .geom, .tesc or .tese";
    if (!sluice::dev::isShaderFile(info->file)) return SLUICE_ERROR_ARGUMENT;
    const SluiceStatus status =
        sluice::dev::guarded(reason, [&] { return reload->reload.watch(*info, reason); });
    if (status == SLUICE_OK) reason = nullptr;
    return status;
}

void sluiceReleaseOldPipelines(SluiceHotReload reload)
{
    if (reload) reload->reload.releaseOld();
}

void sluiceStopHotReload(SluiceHotReload reload) { delete reload; }
