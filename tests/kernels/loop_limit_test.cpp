// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that kernels whose loops a driver leaves early say so: status OK must mean right bytes, no
// matter when the driver stops. lavapipe of Mesa 22.3 leaves every loop once a subgroup has made
// 65,535 iterations in all (docs/portability.md). So each decoder's shader is compiled with a loop
// in front, which uses up as many iterations as the test says; the rest decides where the kernel's
// own loops end. The test runs only with tiers ext and base, and only if SLUICE_LOOP_STEPS says how
// many places are tried besides the powers of four. Normal runs leave it out, since it has ended
// the process twice: a kernel whose loops are left may still read outside of its memory. Which
// kernel does so is not known.
#include "tests/support/range_subjects.h"
#include "tests/support/zstd_regions.h"
#include "test_paths.h"

#include "vulkan/context.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

using namespace sluice;
using namespace sluice::test;

namespace {

namespace fs = std::filesystem;

constexpr uint32_t kDriversLimit = 65535;

std::string definesOf(ShaderVariant variant)
{
    switch (variant) {
    case ShaderVariant::base: return "";
    case ShaderVariant::ext: return "-DSLUICE_EXT";
    case ShaderVariant::baseNarrow: return "-DSLUICE_NARROW";
    case ShaderVariant::extNarrow: return "-DSLUICE_EXT -DSLUICE_NARROW";
    case ShaderVariant::emu: return "-DSLUICE_EMU";
    case ShaderVariant::extInt64: return "-DSLUICE_EXT -DSLUICE_INT64";
    }
    return "";
}

std::string readText(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    REQUIRE(in.good());
    return std::string(std::istreambuf_iterator<char>(in), {});
}

// Compiles the shader with a loop in front. `address`: where three words are. They say how many
// iterations the loop makes, the step (1), and which invocations make them: a bit for every four of
// the workgroup.
std::vector<uint32_t> compileWithLoop(const std::string& shader, ShaderVariant variant,
                                      uint64_t address)
{
    std::string text = readText(fs::path(SLUICE_SHADER_DIR) / (shader + ".comp"));
    const std::string head = "void main() {";
    const size_t at = text.rfind(head);
    REQUIRE(at != std::string::npos);
    text.replace(at, head.size(), "void kernelMain() {");
    const std::string place = "uvec2(" + std::to_string(uint32_t(address)) + "u, " +
                              std::to_string(uint32_t(address >> 32)) + "u)";
    // The loop's step comes from memory each time, so that no compiler knows where the loop ends.
    text += "layout(buffer_reference, std430, buffer_reference_align = 4) buffer LoopWords {\n"
            "    volatile uint w[];\n};\n"
            "void main() {\n"
            "    LoopWords words = LoopWords(" +
            place +
            ");\n"
            "    uint end = words.w[0];\n"
            "    if ((words.w[2] >> min(gl_LocalInvocationIndex / 4u, 31u) & 1u) == 0u) end = 0u;\n"
            "    for (uint i = 0u; i < end; i += words.w[1]) {}\n"
            "    kernelMain();\n}\n";
    const fs::path folder =
        fs::temp_directory_path() / ("sluice_loops_" + std::to_string(uintptr_t(&text)));
    fs::create_directories(folder);
    const fs::path source = folder / (shader + ".comp"), result = folder / "result.spv";
    std::ofstream(source, std::ios::binary) << text;
    const std::string command = std::string(SLUICE_GLSLANG) +
                                " --quiet -V --target-env vulkan1.2 " + definesOf(variant) + " -I" +
                                SLUICE_SHADER_DIR + " -I" + SLUICE_SHADER_DIR + "/lib -o " +
                                result.string() + " " + source.string();
    REQUIRE(std::system(command.c_str()) == 0);
    const std::string code = readText(result);
    fs::remove_all(folder);
    std::vector<uint32_t> words(code.size() / 4);
    std::memcpy(words.data(), code.data(), words.size() * 4);
    return words;
}

// Replaces pipelines of a device by those of such shaders, one shader at a time, until this object
// is destroyed.
class LoopDevice {
public:
    explicit LoopDevice(Device& on)
        : m_device(on), m_backend(static_cast<VulkanBackend*>(on.context()->backend)),
          m_words(on, Words{0, 1, ~0u})
    {
    }
    ~LoopDevice() { restore(); }
    LoopDevice(const LoopDevice&) = delete;
    LoopDevice& operator=(const LoopDevice&) = delete;

    Device& device() { return m_device; }

    void use(const std::string& shader)
    {
        restore();
        const std::vector<uint32_t> code =
            compileWithLoop(shader, m_backend->traits().variant, m_words.address());
        for (const Pipeline pipeline : AllPipelines()) {
            if (pipelineRow(pipeline).shader != shader || !m_backend->pipelines().has(pipeline))
                continue;
            VkPipeline made = VK_NULL_HANDLE;
            REQUIRE(m_backend->pipelines().createPipeline(pipeline, {code.data(), code.size() * 4},
                                                          made) == VK_SUCCESS);
            m_own.push_back({pipeline, m_backend->pipelines().exchangePipeline(pipeline, made)});
        }
        REQUIRE(!m_own.empty());
    }
    void setIterations(uint32_t count, uint32_t invocations)
    {
        const Words words = {count, 1, invocations};
        REQUIRE(sluiceUpload(m_device.get(), m_words.range(), words.data(), 12) == SLUICE_OK);
    }

private:
    void restore()
    {
        for (const auto& [pipeline, handle] : m_own)
            m_backend->pipelines().destroyPipeline(
                m_backend->pipelines().exchangePipeline(pipeline, handle));
        m_own.clear();
    }

    Device& m_device;
    VulkanBackend* m_backend;
    Buffer m_words;
    std::vector<std::pair<Pipeline, VkPipeline>> m_own;
};

enum class Outcome {
    right,
    refused,
    wrong // status OK with wrong bytes, or bytes outside of the range changed
};

Outcome runOn(Device& on, const Subject& subject)
{
    constexpr uint64_t kGuard = 32;
    const uint64_t size = subject.expected.size();
    Bytes content(size + 2 * kGuard, Buffer::kPoison);
    std::copy(subject.before.begin(), subject.before.end(), content.begin() + kGuard);
    Buffer source(on, subject.source), destination(on, content);
    Placement at = {};
    at.sourceAddress = source.address();
    at.destinationAddress = destination.address() + kGuard;
    at.source = source.range();
    at.destination = destination.range();
    at.destination.offset += kGuard;
    at.destination.size = size;
    const Words statuses = subject.run(on, at);
    const Bytes found = destination.bytes();
    const bool guarded = std::all_of(found.begin(), found.begin() + kGuard,
                                     [](uint8_t byte) { return byte == Buffer::kPoison; }) &&
                         std::all_of(found.end() - kGuard, found.end(),
                                     [](uint8_t byte) { return byte == Buffer::kPoison; });
    const bool same =
        std::equal(subject.expected.begin(), subject.expected.end(), found.begin() + kGuard);
    const bool ok = statuses == Words(statuses.size(), SLUICE_TILE_OK);
    return !guarded || (ok && !same) ? Outcome::wrong : ok ? Outcome::right : Outcome::refused;
}

// Returns the shaders whose loops decide what becomes of a subject.
std::vector<std::string> shadersOf(const std::string& subject)
{
    static const std::pair<std::string, std::vector<std::string>> table[] = {
        {"gdeflate", {"gdeflate"}},
        {"gstd", {"gstd_symbols", "gstd_expand"}},
        {"checksum", {"checksum"}},
        {"filter", {"filter"}},
        {"fse", {"fse_tables"}},
        {"tile streams", {"tile_streams", "gdeflate"}},
        {"float", {"float_decode"}},
        {"df11", {"df11"}},
        {"ecf8", {"df11"}},
        {"zstd",
         {"zstd_walk", "zstd_literals", "zstd_sequences", "zstd_place", "zstd_expand", "zstd_bytes",
          "zstd_hash"}},
    };
    for (const auto& [prefix, shaders] : table) {
        if (subject.rfind(prefix, 0) == 0) return shaders;
    }
    return {};
}

// Lets loops end after 1, 4, 16 ... iterations until these are enough for the subject, and at
// `steps` places between, there also only for some subgroups. Returns how often the result was
// refused.
uint32_t checkSubject(LoopDevice& on, const Subject& subject, uint32_t steps)
{
    CAPTURE(subject.name);
    on.setIterations(0, ~0u);
    CHECK(runOn(on.device(), subject) == Outcome::right);
    uint32_t refused = 0;
    const auto leaves = [&](uint32_t left, uint32_t invocations) {
        CAPTURE(left);
        CAPTURE(invocations);
        on.setIterations(kDriversLimit - left, invocations);
        const Outcome outcome = runOn(on.device(), subject);
        CHECK(outcome != Outcome::wrong);
        refused += outcome == Outcome::refused ? 1 : 0;
        return outcome == Outcome::right;
    };
    // Finds out roughly how many iterations are enough.
    uint32_t enough = 1;
    while (enough < kDriversLimit / 2 && !leaves(enough, ~0u))
        enough *= 4;
    for (uint32_t i = 0; i < steps; ++i) {
        const uint32_t left = uint32_t(uint64_t(enough) * i / steps);
        leaves(left, ~0u);
        leaves(left, 1u);          // the first subgroup alone
        leaves(left, 0xfffffffeu); // all subgroups except the first
    }
    return refused;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("loop limit: status OK means right bytes wherever a driver leaves loops")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) return skipCase("no driver");
    if (skipsSlowCompiler()) return;
    const std::string tier = device().info().tier;
    const uint32_t steps = environmentNumber("SLUICE_LOOP_STEPS", 0);
    if (steps == 0 || (tier != "ext" && tier != "base"))
        return skipCase("SLUICE_LOOP_STEPS runs it, with tiers ext and base");
    needZstd(device());
    LoopDevice on(device());
    std::vector<Subject> subjects;
    std::set<std::string> shaders;
    for (const Subject& subject : largerSubjects()) {
        const std::vector<std::string> own = shadersOf(subject.name);
        REQUIRE(!own.empty());
        shaders.insert(own.begin(), own.end());
        subjects.push_back(subject);
    }
    CHECK(shaders.size() == 15);
    uint32_t refused = 0;
    for (const std::string& shader : shaders) {
        CAPTURE(shader);
        on.use(shader);
        for (const Subject& subject : subjects) {
            const std::vector<std::string> own = shadersOf(subject.name);
            if (std::find(own.begin(), own.end(), shader) == own.end()) continue;
            const uint32_t more = checkSubject(on, subject, steps);
            refused += more;
            if (more == 0 && refused == 0) return skipCase("the driver leaves no loop early");
        }
    }
}

TEST_SUITE_END();
