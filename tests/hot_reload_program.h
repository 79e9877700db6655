// SPDX-License-Identifier: MIT OR Apache-2.0
// A program whose shader folder the tests edit under a running scan. SLUICE_RELOAD_DEVICE: the
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
    // Small contexts are quick to make.
    explicit Program(uint32_t kernels = SLUICE_KERNELS_SCAN)
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
        const char* error = nullptr;
        const SluiceStatus opened = sluiceOpenDevice(&open, &device, &error);
        REQUIRE_MESSAGE(opened == SLUICE_OK, (error ? error : ""));
        SluiceHotReloadInfo info = {};
        info.context = sluiceGetDeviceContext(device);
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
        REQUIRE(sluiceAllocate(device, count * 4, &input) == SLUICE_OK);
        REQUIRE(sluiceAllocate(device, count * 4, &output) == SLUICE_OK);
        SluiceScanInfo scan = {};
        scan.maxCount = count;
        SluiceRequirements needs = {};
        REQUIRE(sluiceGetScanRequirements(info.context, &scan, &needs) == SLUICE_OK);
        REQUIRE(sluiceAllocate(device, needs.scratchSize, &scratch) == SLUICE_OK);
        const std::vector<uint8_t> zeros(needs.scratchSize);
        REQUIRE(sluiceUpload(device, scratch, zeros.data(), zeros.size()) == SLUICE_OK);
        const std::vector<uint32_t> ones(count, 1);
        REQUIRE(sluiceUpload(device, input, ones.data(), count * 4) == SLUICE_OK);
    }

    ~Program()
    {
        sluiceStopHotReload(reload);
        if (device) sluiceCloseDevice(device);
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // The first time that `what` stands in the file it becomes `with`. rename: as editors do that
    // write a new file first.
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

    // Waits for the next event of a kernel, which must come in time.
    Event next(const std::string& kernel, int seconds = 120)
    {
        std::unique_lock<std::mutex> lock(mutex);
        const bool came = arrived.wait_for(lock, std::chrono::seconds(seconds),
                                           [&] { return find(kernel) != events.end(); });
        REQUIRE_MESSAGE(came, "no event for " << kernel);
        const auto at = find(kernel);
        const Event event = *at;
        events.erase(at);
        return event;
    }
    // No event is left but of shaders that the context has no pipelines of.
    bool quiet()
    {
        const std::lock_guard<std::mutex> lock(mutex);
        return std::all_of(events.begin(), events.end(), [](const Event& event) {
            return event.result == SLUICE_RELOAD_NOT_USED;
        });
    }

    // An exclusive scan of ones: 0, 1, 2 ... Returns its last element.
    SluiceCommands record()
    {
        SluiceCommands commands = nullptr;
        REQUIRE(sluiceBegin(device, &commands) == SLUICE_OK);
        SluiceScanInfo info = {};
        info.kind = SLUICE_SCAN_EXCLUSIVE;
        info.maxCount = count;
        info.input = input;
        info.output = output;
        info.scratch = scratch;
        REQUIRE(sluiceCmdScan(sluiceGetDeviceContext(device), commands, &info) == SLUICE_OK);
        return commands;
    }
    uint32_t submit(SluiceCommands commands)
    {
        REQUIRE(sluiceSubmit(device, commands, nullptr) == SLUICE_OK);
        std::vector<uint32_t> values(count);
        REQUIRE(sluiceDownload(device, output, values.data(), count * 4) == SLUICE_OK);
        return values.back();
    }
    uint32_t scan() { return submit(record()); }

    SluiceContext context() const { return sluiceGetDeviceContext(device); }

    static constexpr uint32_t count = 777;
    SluiceHotReload reload = nullptr;
    fs::path folder; // a copy

private:
    void receive(const SluiceReloadEvent& event)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        events.push_back({event.kernel, event.result, event.text, event.compileMilliseconds,
                          event.selfTestMilliseconds});
        arrived.notify_all();
    }
    std::vector<Event>::iterator find(const std::string& kernel)
    {
        auto at = events.begin();
        while (at != events.end() && at->kernel != kernel)
            ++at;
        return at;
    }

    SluiceDevice device = nullptr;
    SluiceBuffer input = {0, 0, 0}, output = {0, 0, 0}, scratch = {0, 0, 0};
    std::mutex mutex;
    std::condition_variable arrived;
    std::vector<Event> events;
};

} // namespace sluice::test
