// SPDX-License-Identifier: MIT OR Apache-2.0
// A program with a running scan, whose shader folder the tests edit. SLUICE_RELOAD_DEVICE: the
// device, "vulkan" by default; SLUICE_RELOAD_TIER: its tier.
#pragma once

#include <doctest/doctest.h>

#include <sluice/sluice_dev.h>
#include <sluice/sluice_device.h>
#include <sluice/sluice_scan.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "test_paths.h"

namespace sluice::test {

namespace fs = std::filesystem;

struct Event {
    std::string kernel;
    SluiceReloadResult result;
    std::string text;
    double compileMilliseconds;
    double selfTestMilliseconds;
};

class Program {
public:
    // kernels: those of the context. Contexts with few kernels are made quickly.
    explicit Program(uint32_t kernels = SLUICE_KERNELS_SCAN_WORDS)
    {
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        folder = fs::temp_directory_path() / ("sluice_reload_" + std::to_string(now));
        fs::copy(SLUICE_SHADER_DIR, folder, fs::copy_options::recursive);
        const char* named = std::getenv("SLUICE_RELOAD_DEVICE");
        const char* selector = named ? named : "vulkan";
        SluiceDeviceInfo open = {};
        open.selector = selector;
        open.tier = std::getenv("SLUICE_RELOAD_TIER");
        open.kernels = kernels;
        open.pipelineThreads = 2;
        const char* error = nullptr;
        const SluiceStatus opened = sluiceOpenDevice(&open, &m_device, &error);
        REQUIRE_MESSAGE(opened == SLUICE_OK, (error ? error : ""));
        SluiceHotReloadInfo info = {};
        info.context = sluiceGetDeviceContext(m_device);
        const std::string path = folder.string();
        info.shaderFolder = path.c_str();
        info.device = selector;
        info.callback = [](void* user, const SluiceReloadEvent* event) {
            static_cast<Program*>(user)->receive(*event);
        };
        info.user = this;
        error = nullptr;
        const SluiceStatus started = sluiceStartHotReload(&info, &reload, &error);
        REQUIRE_MESSAGE(started == SLUICE_OK, (error ? error : ""));
        REQUIRE(sluiceAllocate(m_device, kCount * 4, &m_input) == SLUICE_OK);
        REQUIRE(sluiceAllocate(m_device, kCount * 4, &m_output) == SLUICE_OK);
        SluiceScanInfo scan = {};
        scan.maxCount = kCount;
        SluiceRequirements needs = {};
        REQUIRE(sluiceGetScanRequirements(info.context, &scan, &needs) == SLUICE_OK);
        REQUIRE(sluiceAllocate(m_device, needs.scratchSize, &m_scratch) == SLUICE_OK);
        const std::vector<uint8_t> zeros(needs.scratchSize);
        REQUIRE(sluiceUpload(m_device, m_scratch, zeros.data(), zeros.size()) == SLUICE_OK);
        const std::vector<uint32_t> ones(kCount, 1);
        REQUIRE(sluiceUpload(m_device, m_input, ones.data(), kCount * 4) == SLUICE_OK);
    }

    ~Program()
    {
        sluiceStopHotReload(reload);
        if (m_device) sluiceCloseDevice(m_device);
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Replaces the first `what` in the file by `with`. rename: the new text is written to another
    // file, which is then renamed, as some editors do.
    void edit(const std::string& file, const std::string& what, const std::string& with,
              bool rename = false)
    {
        std::string text = read(file);
        const size_t at = text.find(what);
        REQUIRE(at != std::string::npos);
        text.replace(at, what.size(), with);
        write(file, text, rename);
    }
    std::string read(const std::string& file)
    {
        std::ifstream in(folder / file, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }
    void write(const std::string& file, const std::string& text, bool rename = false)
    {
        const fs::path path = folder / file, target = rename ? folder / ".saving" : path;
        std::ofstream(target, std::ios::binary) << text;
        if (rename) fs::rename(target, path);
    }

    // Waits for the next event of a kernel, at most so many seconds, and returns it.
    Event next(const std::string& kernel, int seconds = 120)
    {
        std::unique_lock<std::mutex> lock(m_mutex);
        const bool came = m_arrived.wait_for(lock, std::chrono::seconds(seconds),
                                             [&] { return find(kernel) != m_events.end(); });
        REQUIRE_MESSAGE(came, "no event for " << kernel);
        const auto at = find(kernel);
        const Event event = *at;
        m_events.erase(at);
        return event;
    }
    // Returns whether only events are left of shaders that the context has no pipelines of.
    bool quiet()
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        return std::all_of(m_events.begin(), m_events.end(), [](const Event& event) {
            return event.result == SLUICE_RELOAD_NOT_USED;
        });
    }

    // Records an exclusive scan of ones, whose result is 0, 1, 2 ...
    SluiceCommands record()
    {
        SluiceCommands commands = nullptr;
        REQUIRE(sluiceBegin(m_device, &commands) == SLUICE_OK);
        SluiceScanInfo info = {};
        info.kind = SLUICE_SCAN_EXCLUSIVE;
        info.maxCount = kCount;
        info.input = m_input;
        info.output = m_output;
        info.scratch = m_scratch;
        REQUIRE(sluiceCmdScan(sluiceGetDeviceContext(m_device), commands, &info) == SLUICE_OK);
        return commands;
    }
    uint32_t submit(SluiceCommands commands)
    {
        REQUIRE(sluiceSubmit(m_device, commands, nullptr) == SLUICE_OK);
        std::vector<uint32_t> values(kCount);
        REQUIRE(sluiceDownload(m_device, m_output, values.data(), kCount * 4) == SLUICE_OK);
        return values.back();
    }
    uint32_t scan() { return submit(record()); }

    SluiceContext context() const { return sluiceGetDeviceContext(m_device); }

    static constexpr uint32_t kCount = 777;
    SluiceHotReload reload = nullptr;
    fs::path folder; // a copy of the shader folder

private:
    void receive(const SluiceReloadEvent& event)
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_events.push_back({event.kernel, event.result, event.text, event.compileMilliseconds,
                            event.selfTestMilliseconds});
        m_arrived.notify_all();
    }
    std::vector<Event>::iterator find(const std::string& kernel)
    {
        auto at = m_events.begin();
        while (at != m_events.end() && at->kernel != kernel)
            ++at;
        return at;
    }

    SluiceDevice m_device = nullptr;
    SluiceBuffer m_input = {0, 0, 0}, m_output = {0, 0, 0}, m_scratch = {0, 0, 0};
    std::mutex m_mutex;
    std::condition_variable m_arrived;
    std::vector<Event> m_events;
};

} // namespace sluice::test
