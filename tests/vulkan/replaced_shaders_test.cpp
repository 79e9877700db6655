// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that shaders of a folder replace those of a device, and that the run says why if they do
// not.
#include "tests/support/devices.h"
#include "tests/support/replaced_shaders.h"
#include "tests/support/short_runs.h"

#include <filesystem>
#include <fstream>

using namespace sluice;
using namespace sluice::test;

namespace {

namespace fs = std::filesystem;

class SpirvFolder {
public:
    SpirvFolder() { fs::create_directories(m_path); }
    ~SpirvFolder() { fs::remove_all(m_path); }
    SpirvFolder(const SpirvFolder&) = delete;
    SpirvFolder& operator=(const SpirvFolder&) = delete;

    std::string path() const { return m_path.string(); }
    // Writes words to a file of this name: a shader of the library, or something else.
    void write(const std::string& name, const std::vector<uint32_t>& words) const
    {
        std::ofstream out(m_path / name, std::ios::binary);
        out.write(reinterpret_cast<const char*>(words.data()), std::streamsize(words.size() * 4));
    }
    void clear() const
    {
        for (const fs::directory_entry& entry : fs::directory_iterator(m_path))
            fs::remove(entry.path());
    }

private:
    fs::path m_path =
        fs::temp_directory_path() / ("sluice_spirv_" + std::to_string(uintptr_t(this)));
};

std::vector<uint32_t> own(const char* shader, ShaderVariant variant)
{
    const PackedShader packed = findShader(shader, variant);
    std::vector<uint32_t> words(packed.wordCount);
    REQUIRE(unpackShader(packed, words.data()));
    return words;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("replaced shaders: those of a folder, and folders of which none can be used")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) return skipCase("no shaders");
    auto& backend = static_cast<VulkanBackend&>(*device().context()->backend);
    const ShaderVariant variant = backend.traits().variant;
    const std::string name = std::string("status.") + shaderVariantName(variant) + ".spv";
    const SpirvFolder folder;
    std::string replaced;
    const auto replace = [&] { return replaceShaders(backend, folder.path(), true, replaced); };

    CHECK(replace() != ""); // there is no file
    folder.write(variant == ShaderVariant::emu ? "status.base.spv" : "status.emu.spv",
                 own("status", variant));
    CHECK(replace() != ""); // the file is for another variant
    folder.clear();
    folder.write(name, {1, 2, 3, 4, 5});
    CHECK(replace() != ""); // the file is no SPIR-V
    folder.write(name, own("status", variant));
    folder.write("statu.emu.spv", own("status", variant));
    CHECK(replace() != ""); // no shader has this name
    CHECK(replaced == "");
    fs::remove(fs::path(folder.path()) / "statu.emu.spv");
    CHECK(replace() == "");
    CHECK(replaced == name + " (1 pipelines replaced)\n");
    CHECK(replaceShaders(backend, folder.path() + "_none", true, replaced) != "");
}

TEST_CASE("replaced shaders: those of pipelines that are made only if asked for")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) return skipCase("no shaders");
    if (skipsSlowCompiler() || skipsOtherSizes()) return;
    Device fresh(device().selector(), device().info().tier, 0, SLUICE_KERNELS_FSE);
    REQUIRE(fresh.isOpen());
    auto& backend = static_cast<VulkanBackend&>(*fresh.context()->backend);
    const std::string variant = shaderVariantName(backend.traits().variant);
    const SpirvFolder folder;
    folder.write("uastc." + variant + ".spv", own("uastc", backend.traits().variant));
    std::string replaced;
    CHECK(replaceShaders(backend, folder.path(), true, replaced) == "");
    CHECK(replaced.find("uastc." + variant + ".spv (") == 0);
}

TEST_SUITE_END();
