// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the code of docs/embedding.md that starts hot reload, as the page says: the shaders are in
// sluice/shaders, and the device is vulkan:0.
#include <doctest/doctest.h>

#include <vulkan/vulkan.h>

#include <sluice/sluice_all.h>
#include <sluice/sluice_dev.h>
#include <sluice/sluice_device.h>
#include <sluice/sluice_formats.h>
#include <sluice/sluice_image.h>
#include <sluice/sluice_stream.h>
#include <sluice/sluice_stream_vulkan.h>
#include <sluice/sluice_vulkan.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

namespace {

// The page calls only this function of Vulkan itself. This test does not get there.
void copyNothing(VkCommandBuffer, VkBuffer, VkImage, VkImageLayout, uint32_t,
                 const VkBufferImageCopy*)
{
}

} // namespace

#define vkCmdCopyBufferToImage copyNothing
namespace example {
#include "tests/consumers/readme/decode.cpp"
#include "test_paths.h"
void Report::operator()(const char*, uint32_t) const {}
} // namespace example
#undef vkCmdCopyBufferToImage

namespace {

namespace fs = std::filesystem;

std::mutex guard;
std::condition_variable arrived;
std::string said; // the event's text for scan.comp

void onReload(void*, const SluiceReloadEvent* event)
{
    if (event->result != SLUICE_RELOAD_COMPILE_ERROR) return;
    const std::lock_guard<std::mutex> lock(guard);
    said = event->text;
    arrived.notify_all();
}

} // namespace

TEST_CASE("the example of the page about embedding reloads")
{
    const fs::path before = fs::current_path();
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const fs::path folder = fs::temp_directory_path() / ("sluice_example_" + std::to_string(now));
    fs::create_directories(folder / "sluice");
    fs::copy(SLUICE_SHADER_DIR, folder / "sluice/shaders", fs::copy_options::recursive);
    fs::current_path(folder);

    SluiceDeviceInfo open = {};
    open.selector = "vulkan:0";
    open.kernels = SLUICE_KERNELS_SCAN_WORDS;
    SluiceDevice device = nullptr;
    const char* error = nullptr;
    REQUIRE(sluiceOpenDevice(&open, &device, &error) == SLUICE_OK);
    SluiceHotReload reload = nullptr;
    CHECK(example::startReload(sluiceGetDeviceContext(device), onReload, reload) == SLUICE_OK);
    std::ofstream("sluice/shaders/scan.comp", std::ios::app) << "\nnonsense\n";
    {
        std::unique_lock<std::mutex> lock(guard);
        CHECK(arrived.wait_for(lock, std::chrono::seconds(120), [] { return !said.empty(); }));
        CHECK(said.rfind("scan.comp:", 0) == 0);
    }
    sluiceStopHotReload(reload);
    sluiceCloseDevice(device);
    fs::current_path(before);
    fs::remove_all(folder);
}
