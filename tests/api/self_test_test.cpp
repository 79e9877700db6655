// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluiceCmdSelfTest on every device, and with pipelines that are made wrong on purpose.
#include <sluice/sluice_self_test.h>

#include "api/self_test_tiles.h"
#include "tests/support/packed_archives.h"
#include "tests/support/short_runs.h"
#include "tests/tool/tool_run.h"
#include "test_paths.h"

#include "api/backend.h"
#include "vulkan/context.h"

#include "nothing.h" // made from nothing.comp

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <nlohmann/json.hpp>

using namespace sluice::test;

namespace {

// Returns bytes with repeats, with few different values, and with small differences.
Bytes mixed(std::mt19937& random, size_t size)
{
    Bytes bytes = soft(size / 3);
    while (bytes.size() < size / 3 * 2)
        bytes.push_back(uint8_t(random() % 13 * (random() % 3)));
    const Bytes smooth = smoothBytes(random, size - bytes.size());
    bytes.insert(bytes.end(), smooth.begin(), smooth.end());
    return bytes;
}

// Returns the content of which the library's tiles were made. With SLUICE_PRINT_SELF_TEST=FILE the
// test prints the rows of self_test_tiles.h and writes self_test_tiles.bin to FILE.
PackedAsset goldenAsset()
{
    std::mt19937 random = makeRandom(26);
    PackedAsset asset;
    asset.name = "golden";
    asset.add(mixed(random, 7008), SLUICE_CODEC_GDEFLATE, 65536);
    asset.add(smoothBytes(random, 4000), SLUICE_CODEC_GDEFLATE, 65536, true);
    asset.add(mixed(random, 7200), SLUICE_CODEC_GSTD, 65536);
    asset.add(smoothBytes(random, 4080), SLUICE_CODEC_GSTD, 65536, true);
    asset.add(mixed(random, 6000), SLUICE_CODEC_FLOAT, 65536);
    asset.add(smoothBytes(random, 4005), SLUICE_CODEC_FLOAT, 65536, true);
    return asset;
}

void printTiles(const char* target)
{
    const Bytes file = packArchive({goldenAsset()});
    const ParsedArchive archive(file);
    const SluiceArchiveAsset info = archive.asset(0);
    Bytes bytes;
    std::string rows;
    Bytes filter;
    for (const SluiceArchiveTile& record : archive.records(0)) {
        SluiceTile tile = {};
        REQUIRE(sluiceGetArchiveTile(&info, &record, 0, 0, &tile) == SLUICE_OK);
        char row[160];
        std::snprintf(row, sizeof row, "    {%zu, %u, %u, %u, 0x%08xu, %u},\n", bytes.size(),
                      tile.storedSize, tile.size, tile.codec, tile.checksum,
                      tile.filter != nullptr ? tile.filterSize : 0);
        rows += row;
        if (tile.filter != nullptr)
            filter.assign(static_cast<const uint8_t*>(tile.filter),
                          static_cast<const uint8_t*>(tile.filter) + tile.filterSize);
        const uint8_t* const stored = archive.extent(0) + record.offset;
        bytes.insert(bytes.end(), stored, stored + tile.storedSize);
        bytes.resize((bytes.size() + 15) / 16 * 16);
    }
    std::printf("%s\nfilter:", rows.c_str());
    for (size_t i = 0; i < filter.size(); i += 4)
        std::printf(" 0x%08x,", uint32_t(filter[i] | filter[i + 1] << 8 | filter[i + 2] << 16 |
                                         filter[i + 3] << 24));
    std::printf("\n");
    writeFile(target, std::string(bytes.begin(), bytes.end()));
}

#ifdef SLUICE_BROKEN_DRIVER_PATH
// Sets an environment variable. The destructor restores it.
class Variable {
public:
    Variable(const char* name, const std::string& value) : m_name(name)
    {
        const char* const before = std::getenv(name);
        m_wasSet = before != nullptr;
        if (m_wasSet) m_before = before;
        setenv(name, value.c_str(), 1);
    }
    ~Variable()
    {
        if (m_wasSet)
            setenv(m_name, m_before.c_str(), 1);
        else
            unsetenv(m_name);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* const m_name;
    std::string m_before;
    bool m_wasSet = false;
};
#endif

constexpr uint32_t kGdeflate = SLUICE_KERNELS_GDEFLATE_LINEAR | SLUICE_KERNELS_TILE_STREAMS,
                   kTested = SLUICE_KERNELS_GDEFLATE_LINEAR | SLUICE_KERNELS_GSTD |
                             SLUICE_KERNELS_FILTER | SLUICE_KERNELS_FLOAT | SLUICE_KERNELS_CHECKSUM;

// A self-test of the kernels that a device has ready.
struct Run {
    Device& on;
    SluiceSelfTestInfo info = {};
    Bytes bytes;
    std::unique_ptr<Buffer> memory;

    Run(Device& device, uint32_t kernels) : on(device)
    {
        info.kernels = kernels;
        SluiceSelfTestRequirements required = {};
        REQUIRE(sluiceGetSelfTestRequirements(on.context(), &info, &required) == SLUICE_OK);
        info.kernels = required.kernels;
        if (required.kernels == 0) return;
        CHECK(required.memorySize <= 2 << 20);
        bytes.resize(required.memorySize);
        memory = std::make_unique<Buffer>(on, required.memorySize);
        info.memory = memory->range();
        info.bytes = bytes.data();
    }
    void decode()
    {
        REQUIRE(sluiceWriteSelfTest(on.context(), &info) == SLUICE_OK);
        REQUIRE(sluiceUpload(on.get(), info.memory, bytes.data(), bytes.size()) == SLUICE_OK);
        on.run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdSelfTest(on.context(), commands, &info) == SLUICE_OK);
        });
        const Bytes now = memory->bytes();
        std::copy(now.begin(), now.end(), bytes.begin());
    }
    uint32_t read()
    {
        uint32_t failed = ~0u;
        REQUIRE(sluiceReadSelfTest(on.context(), &info, &failed) == SLUICE_OK);
        return failed;
    }
};

std::unique_ptr<Device> openFresh(const char* tuning = nullptr)
{
    auto opened =
        std::make_unique<Device>(device().selector(), device().info().tier,
                                 environmentNumber("SLUICE_TEST_VALIDATION", 1), kTested, tuning);
    REQUIRE_MESSAGE(opened->isOpen(), opened->openError());
    return opened;
}

// While an object lives, some pipelines of a context do nothing.
class Idle {
public:
    Idle(Device& on, std::initializer_list<sluice::Pipeline> pipelines)
        : m_backend(static_cast<sluice::VulkanBackend&>(*on.context()->backend))
    {
        for (const sluice::Pipeline pipeline : pipelines) {
            if (!m_backend.pipelines().has(pipeline)) continue;
            VkPipeline made = VK_NULL_HANDLE;
            REQUIRE(m_backend.pipelines().createPipeline(pipeline, {nothing, sizeof nothing},
                                                         made) == VK_SUCCESS);
            m_kept.push_back({pipeline, m_backend.pipelines().exchangePipeline(pipeline, made)});
        }
    }
    ~Idle()
    {
        for (const auto& [pipeline, handle] : m_kept)
            m_backend.pipelines().destroyPipeline(
                m_backend.pipelines().exchangePipeline(pipeline, handle));
    }
    Idle(const Idle&) = delete;
    Idle& operator=(const Idle&) = delete;

private:
    sluice::VulkanBackend& m_backend;
    std::vector<std::pair<sluice::Pipeline, VkPipeline>> m_kept;
};

} // namespace

TEST_CASE("self-test: the tiles are those of known bytes")
{
    if (const char* target = std::getenv("SLUICE_PRINT_SELF_TEST")) printTiles(target);
    const PackedAsset asset = goldenAsset();
    size_t at = 0, i = 0;
    REQUIRE(std::size(sluice::kSelfTestTiles) == asset.segments.size());
    for (const SluiceArchiveSegment& segment : asset.segments) {
        const sluice::SelfTestTile& tile = sluice::kSelfTestTiles[i++];
        CHECK(tile.codec == segment.codec);
        CHECK(tile.size == segment.size);
        CHECK((tile.filterSize != 0) == (segment.filterOffset != 0));
        CHECK(tile.checksum == sluiceTileChecksum(&asset.bytes[at], tile.size));
        at += tile.size;
    }
}

// Runs in this process, so that the convenience layer itself is tested.
TEST_CASE("self-test: where a driver compiles subgroups wrongly, an emulated tier is opened")
{
#ifndef SLUICE_BROKEN_DRIVER_PATH
    skipCase("a driver that compiles wrongly: there is none for this system");
#else
    const std::string manifest = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
    // An emulated processor cannot use the driver of this one.
    if (kEmulated || !std::filesystem::exists(manifest))
        return skipCase("a driver that compiles wrongly: there is no lavapipe behind it");
    const nlohmann::json real = nlohmann::json::parse(readFile(manifest));
    const Folder folder;
    const nlohmann::json broken = {{"file_format_version", "1.0.0"},
                                   {"ICD",
                                    {{"library_path", SLUICE_BROKEN_DRIVER_PATH},
                                     {"api_version", real.at("ICD").at("api_version")}}}};
    const std::string path = (folder.path / "broken.json").string();
    writeFile(path, broken.dump());
    const Variable variables[] = {
        {"VK_DRIVER_FILES", path},
        {"VK_ICD_FILENAMES", path},
        {"SLUICE_DRIVER_BREAKS", "subgroups"},
        {"SLUICE_DRIVER_BEHIND", real.at("ICD").at("library_path").get<std::string>()}};
    SluiceDeviceInfo info = {};
    info.selector = "vulkan";
    // The driver compiles the kernels for three tiers, those of the float codec the quickest.
    const bool isShort = environmentNumber("SLUICE_MUTATIONS", 100) < 1000;
    info.kernels = isShort ? uint32_t(SLUICE_KERNELS_FLOAT) : kTested;
    info.pipelineThreads = 2;
    SluiceDevice opened = nullptr;
    const char* error = nullptr;
    const auto open = [&](const char* tier) {
        info.tier = tier;
        return sluiceOpenDevice(&info, &opened, &error);
    };
    const auto tierOf = [&] {
        SluiceContextInfo about = {};
        REQUIRE(sluiceGetContextInfo(sluiceGetDeviceContext(opened), &about) == SLUICE_OK);
        return std::string(about.tier);
    };
    // The self-test was not asked for, so the wrong driver is not noticed.
    REQUIRE_MESSAGE(open(nullptr) == SLUICE_OK, error);
    CHECK(tierOf() == "ext");
    CHECK(std::string(sluiceGetDeviceSelfTest(opened)).empty());
    sluiceCloseDevice(opened);
    info.selfTest = 1;
    REQUIRE_MESSAGE(open(nullptr) == SLUICE_OK, error);
    CHECK(tierOf() == "emu32");
    const std::string all = isShort ? "the float codec" : "GDeflate, Gstd, the float codec";
    CHECK(sluiceGetDeviceSelfTest(opened) ==
          "ext: the self-test of " + all + " fails\nbase: the self-test of " + all + " fails\n");
    CHECK(sluiceGetDeviceSelfTest(nullptr) == std::string());
    sluiceCloseDevice(opened);
    CHECK(open("base") == SLUICE_ERROR_UNSUPPORTED);
    CHECK(error == "base: the self-test of " + all + " fails");
    REQUIRE(open("emu32") == SLUICE_OK);
    CHECK(std::string(sluiceGetDeviceSelfTest(opened)).empty());
    sluiceCloseDevice(opened);
    info.selector = "cpu";
    REQUIRE(open(nullptr) == SLUICE_OK);
    sluiceCloseDevice(opened);
#endif
}

TEST_SUITE_BEGIN("device");

TEST_CASE("self-test: passes on every device, as a whole and family by family")
{
    Run all(device(), SLUICE_KERNELS_ALL);
    CHECK(all.info.kernels == kTested);
    for (int i = 0; i < 2; ++i) { // twice: the second decode must not depend on the first
        all.decode();
        CHECK(all.read() == 0);
    }
    CHECK(device().info().refusedKernels == 0);
    Run one(device(), SLUICE_KERNELS_GSTD | SLUICE_KERNELS_CHECKSUM);
    CHECK(one.info.kernels == (SLUICE_KERNELS_GSTD | SLUICE_KERNELS_CHECKSUM));
    one.decode();
    CHECK(one.read() == 0);
    CHECK(Run(device(), SLUICE_KERNELS_SCAN | SLUICE_KERNELS_DF11).info.kernels == 0);

    // A wrong byte in a tile or after it must be found, and the tile's codec must be named. The
    // context that other tests use then trusts its kernels again, since a driver takes long to
    // compile those of a further one.
    const auto failedWith = [&](size_t offset) {
        Run run(device(), SLUICE_KERNELS_ALL);
        run.decode();
        run.bytes[offset] ^= 4;
        const uint32_t failed = run.read();
        CHECK(device().info().refusedKernels == failed);
        device().context()->distrusted = 0;
        return failed;
    };
    size_t at = (sizeof kSelfTestBytes + 255) / 256 * 256;
    const uint32_t expected[] = {kGdeflate,
                                 SLUICE_KERNELS_FILTER,
                                 SLUICE_KERNELS_GSTD,
                                 SLUICE_KERNELS_FILTER,
                                 SLUICE_KERNELS_FLOAT,
                                 SLUICE_KERNELS_FILTER};
    for (size_t i = 0; i < std::size(expected); ++i) {
        CAPTURE(i);
        const uint32_t size = sluice::kSelfTestTiles[i].size;
        CHECK(failedWith(at) == expected[i]);
        CHECK(failedWith(at + size - 1) == expected[i]);
        CHECK(failedWith(at + size) == expected[i]);
        at = (at + size + 64 + 255) / 256 * 256;
    }
}

TEST_CASE("self-test: arguments")
{
    Run run(device(), SLUICE_KERNELS_ALL);
    SluiceSelfTestRequirements required = {};
    uint32_t failed = 0;
    SluiceSelfTestInfo bad = run.info;
    bad.kernels = SLUICE_KERNELS_ALL + 1u;
    CHECK(sluiceGetSelfTestRequirements(device().context(), &bad, &required) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetSelfTestRequirements(nullptr, &run.info, &required) == SLUICE_ERROR_ARGUMENT);
    const auto refused = [&](SluiceStatus status) {
        CHECK(sluiceWriteSelfTest(device().context(), &bad) == status);
        device().run([&](SluiceCommands commands) {
            CHECK(sluiceCmdSelfTest(device().context(), commands, &bad) == status);
        });
        CHECK(sluiceReadSelfTest(device().context(), &bad, &failed) == status);
    };
    for (const uint32_t kernels : {0u, SLUICE_KERNELS_ALL + 0u, SLUICE_KERNELS_GSTD + 0u}) {
        bad = run.info;
        bad.kernels = kernels;
        refused(SLUICE_ERROR_ARGUMENT);
    }
    bad = run.info;
    bad.bytes = nullptr;
    refused(SLUICE_ERROR_ARGUMENT);
    bad = run.info;
    --bad.memory.size;
    refused(SLUICE_ERROR_BUFFER_SIZE);
}

TEST_CASE("self-test: pipelines that do nothing are found, and their commands refused")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) return;
    if (skipsSlowCompiler() || skipsOtherSizes()) return;
    using sluice::Pipeline;
    const struct {
        std::initializer_list<Pipeline> idle;
        uint32_t failed;
    } cases[] = {{{Pipeline::gdeflate, Pipeline::gdeflate_few, Pipeline::gdeflate_many}, kGdeflate},
                 {{Pipeline::gstd_symbols}, SLUICE_KERNELS_GSTD},
                 {{Pipeline::gstd_expand, Pipeline::gstd_expand_few}, SLUICE_KERNELS_GSTD},
                 {{Pipeline::filter, Pipeline::filter_few}, SLUICE_KERNELS_FILTER},
                 {{Pipeline::float_decode}, SLUICE_KERNELS_FLOAT}};
    const auto fresh = openFresh();
    for (const auto& one : cases) {
        fresh->context()->distrusted = 0;
        Run run(*fresh, SLUICE_KERNELS_ALL);
        const Idle idle(*fresh, one.idle);
        run.decode();
        CHECK(run.read() == one.failed);
        CHECK(fresh->info().refusedKernels == one.failed);
        CHECK((fresh->info().kernels & one.failed) == 0);
        fresh->run([&](SluiceCommands commands) {
            CHECK(sluiceCmdSelfTest(fresh->context(), commands, &run.info) ==
                  SLUICE_ERROR_UNSUPPORTED);
        });
        // The remaining kernels still pass.
        Run rest(*fresh, SLUICE_KERNELS_ALL);
        CHECK((rest.info.kernels & one.failed) == 0);
        rest.decode();
        CHECK(rest.read() == 0);
    }
}

TEST_SUITE_END();
