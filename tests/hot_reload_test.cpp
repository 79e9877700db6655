// SPDX-License-Identifier: MIT OR Apache-2.0
// Edits a copy of the shader folder under a running scan. A program of its own: sluice_tests has no
// glslang in it. SLUICE_RELOAD_DEVICE: the device, "vulkan" by default.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <sluice/sluice_dev.h>
#include <sluice/sluice_device.h>
#include <sluice/sluice_scan.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

namespace {

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
    Program()
    {
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        folder = fs::temp_directory_path() / ("sluice_reload_" + std::to_string(now));
        fs::copy(SLUICE_SHADER_DIR, folder, fs::copy_options::recursive);
        const char* named = std::getenv("SLUICE_RELOAD_DEVICE");
        const char* selector = named ? named : "vulkan";
        SluiceDeviceInfo open = {};
        open.selector = selector;
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
        const fs::path path = folder / file;
        std::ifstream in(path, std::ios::binary);
        std::string text(std::istreambuf_iterator<char>(in), {});
        in.close();
        const size_t at = text.find(what);
        REQUIRE(at != std::string::npos);
        text.replace(at, what.size(), with);
        const fs::path target = rename ? folder / ".saving" : path;
        std::ofstream(target, std::ios::binary) << text;
        if (rename) fs::rename(target, path);
    }

    // Waits for the next event of a kernel, which must come in time.
    Event next(const std::string& kernel)
    {
        std::unique_lock<std::mutex> lock(mutex);
        const bool came = arrived.wait_for(lock, std::chrono::seconds(60),
                                           [&] { return find(kernel) != events.end(); });
        REQUIRE_MESSAGE(came, "no event for " << kernel);
        const auto at = find(kernel);
        const Event event = *at;
        events.erase(at);
        return event;
    }
    bool quiet()
    {
        const std::lock_guard<std::mutex> lock(mutex);
        return events.empty();
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

    static constexpr uint32_t count = 777;
    SluiceHotReload reload = nullptr;

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

    fs::path folder;
    SluiceDevice device = nullptr;
    SluiceBuffer input = {0, 0, 0}, output = {0, 0, 0}, scratch = {0, 0, 0};
    std::mutex mutex;
    std::condition_variable arrived;
    std::vector<Event> events;
};

// A scan.comp that leaves `marker` in the last element of every scan that `condition` picks. The
// self-test has no scan of 777 elements.
const char* const only777 = "p.maxCount == 777u";
void mark(Program& program, const std::string& condition, const std::string& marker,
          bool rename = false)
{
    program.edit(
        "scan.comp", "void main() {",
        "void kernelMain();\n"
        "void main() {\n"
        "    kernelMain();\n"
        "    memoryBarrierBuffer();\n"
        "    barrier();\n"
        "    if (" +
            condition +
            " && wgInvocation() == 0u) WordsOut(p.output_).w[p.maxCount - 1u] = " + marker +
            ";\n"
            "}\n"
            "void kernelMain() {",
        rename);
}

} // namespace

TEST_CASE("a good edit is swapped in; what was recorded before keeps the old pipeline")
{
    Program program;
    CHECK(program.scan() == 776);
    const SluiceCommands before = program.record();
    mark(program, only777, "1234u");
    const Event event = program.next("scan");
    CHECK(event.text == "");
    REQUIRE(event.result == SLUICE_RELOAD_SWAPPED);
    MESSAGE("compiled in " << event.compileMilliseconds << " ms, tested in "
                           << event.selfTestMilliseconds << " ms");
    CHECK(program.submit(before) == 776);
    CHECK(program.scan() == 1234);
    sluiceReleaseOldPipelines(program.reload);
    CHECK(program.scan() == 1234);
    CHECK(program.quiet());
}

TEST_CASE("an editor that saves by renaming")
{
    Program program;
    mark(program, only777, "1u", true);
    REQUIRE(program.next("scan").result == SLUICE_RELOAD_SWAPPED);
    CHECK(program.scan() == 1);
    program.edit("scan.comp", "= 1u;", "= 2u;", true);
    REQUIRE(program.next("scan").result == SLUICE_RELOAD_SWAPPED);
    CHECK(program.scan() == 2);
}

TEST_CASE("a syntax error names file and line, the last good pipeline goes on, the next good edit "
          "comes in")
{
    Program program;
    program.edit("scan.comp", "void main() {", "\nvoid main() { nonsense;");
    Event event = program.next("scan");
    CHECK(event.result == SLUICE_RELOAD_COMPILE_ERROR);
    CHECK(event.text.rfind("scan.comp:", 0) == 0);
    CHECK(event.text.find("nonsense") != std::string::npos);
    CHECK(program.scan() == 776);

    program.edit("scan.comp", " nonsense;", "");
    event = program.next("scan");
    CHECK(event.text == "");
    CHECK(event.result == SLUICE_RELOAD_SWAPPED);

    program.edit("lib/runs.glsl", "#define SLUICE_RUNS_GLSL",
                 "#define SLUICE_RUNS_GLSL\nalso nonsense;");
    event = program.next("scan");
    CHECK(event.result == SLUICE_RELOAD_COMPILE_ERROR);
    CHECK(event.text.rfind("lib/runs.glsl:", 0) == 0);
    CHECK(program.scan() == 776);
}

TEST_CASE("a wrong result is refused")
{
    Program program;
    mark(program, "p.maxCount > 100u", "1234u");
    const Event event = program.next("scan");
    CHECK(event.result == SLUICE_RELOAD_WRONG_RESULT);
    CHECK(event.text != "");
    CHECK(program.scan() == 776);
}

TEST_CASE("a changed include reloads every kernel that includes it, and no other")
{
    Program program;
    const std::string guard = "#define SLUICE_RUNS_GLSL";
    program.edit("lib/runs.glsl", guard, guard + "\nconst uint kMarker = 5u;");
    for (const char* kernel : {"scan", "scan64", "reduce", "reduce64"})
        CHECK(program.next(kernel).result == SLUICE_RELOAD_SWAPPED);
    mark(program, only777, "kMarker");
    CHECK(program.next("scan").result == SLUICE_RELOAD_SWAPPED);
    CHECK(program.scan() == 5);
    program.edit("lib/runs.glsl", "kMarker = 5u", "kMarker = 6u", true);
    for (const char* kernel : {"scan", "scan64", "reduce", "reduce64"})
        CHECK(program.next(kernel).result == SLUICE_RELOAD_SWAPPED);
    CHECK(program.scan() == 6);
    CHECK(program.quiet());
}

TEST_CASE("every kernel passes its own self-test")
{
    Program program;
    program.edit("lib/memory.glsl", "#endif", "#endif // touched"); // all of them include it
    for (const char* kernel :
         {"scan", "scan64", "reduce", "reduce64", "compact", "status", "gdeflate", "checksum",
          "df11", "gstd_symbols", "gstd_expand", "filter"}) {
        const Event event = program.next(kernel);
        CHECK(event.text == "");
        CHECK(event.result == SLUICE_RELOAD_SWAPPED);
    }
}

TEST_CASE("a wrong decoder is refused")
{
    Program program;
    program.edit("gdeflate.comp", "void main() {",
                 "void kernelMain();\nvoid main() {}\nvoid kernelMain() {");
    const Event event = program.next("gdeflate");
    CHECK(event.result == SLUICE_RELOAD_WRONG_RESULT);
    program.edit("df11.comp", "gaps >> 32u - gapBits", "gaps >> 31u - gapBits");
    CHECK(program.next("df11").result == SLUICE_RELOAD_WRONG_RESULT);
}

TEST_CASE("a changed interface is refused")
{
    Program program;
    SUBCASE("push constants")
    {
        program.edit("lib/scan_tile.glsl", "ScanParams p;", "ScanParams p; uint more;");
        CHECK(program.next("scan").result == SLUICE_RELOAD_INTERFACE_CHANGED);
    }
    SUBCASE("specialization constants")
    {
        program.edit("scan.comp", "void main() {",
                     "layout(constant_id = 9) const uint kNew = 1u;\nvoid main() {\nif (kNew == "
                     "0u) return;");
        CHECK(program.next("scan").result == SLUICE_RELOAD_INTERFACE_CHANGED);
    }
    SUBCASE("workgroup size")
    {
        program.edit("lib/lanes.glsl", "layout(local_size_x_id = 0) in;",
                     "layout(local_size_x = 64) in;");
        CHECK(program.next("scan").result == SLUICE_RELOAD_INTERFACE_CHANGED);
    }
    SUBCASE("a capability that may not be enabled")
    {
        program.edit("scan.comp", "void main() {",
                     "void main() { double d = double(p.maxCount); if (d < 0.0lf) return;");
        CHECK(program.next("scan").result == SLUICE_RELOAD_INTERFACE_CHANGED);
    }
    CHECK(program.scan() == 776);
}
