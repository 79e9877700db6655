// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs commands under odd rows of the tuning table: their results must be those of the CPU
// reference.
#include "tests/support/short_runs.h"

#include "tools/sluice/tune/tune_work.h"
#include "vulkan/context.h"
#include "vulkan/tiers.h"
#ifdef SLUICE_HAVE_CUDA
#include "cuda/context.h"
#endif

#include <map>
#include <set>
#include <sstream>
#include <utility>

using namespace sluice::test;
using sluice::TuningField;
using sluice::Work;
using sluice::WorkKind;

namespace {

constexpr sluice::WorkLimits kLimits = {600u << 10, 4096};

std::vector<uint32_t> lengthsOf(const Work& work)
{
    return work.lengths.empty() ? std::vector<uint32_t>{work.most, work.most / 3 + 1, 1}
                                : work.lengths;
}

Bytes run(Device& on, Work& work, uint32_t length)
{
    work.reset();
    on.run([&](SluiceCommands commands) { REQUIRE(work.record(commands, length) == SLUICE_OK); });
    work.checkStatus(length);
    return work.written();
}

// Returns the expected output of a work at this length.
const Bytes& expectedOf(const WorkKind& kind, uint32_t length)
{
    static std::map<std::pair<std::string, uint32_t>, Bytes> known;
    Bytes& expected = known[{kind.name, length}];
    if (expected.empty()) {
        Device reference("cpu", "ref", 0);
        REQUIRE(reference.isOpen());
        expected = run(reference, *kind.make(reference.get(), kLimits), length);
    }
    return expected;
}

// On some tiers software devices take a minute to create all pipelines, once more for each row. So
// short runs test only their best tier.
bool isTooSlow(bool everyTier)
{
    const bool isShort = environmentNumber("SLUICE_MUTATIONS", 100) < 1000;
    return isShort && device().backend() == SLUICE_BACKEND_VULKAN &&
           (everyTier || std::string(device().info().tier) != "ext");
}

uint32_t kernelsOf(const std::string& field);

// Returns the kernels to which the members of a row belong.
uint32_t kernelsOfRow(const std::string& row)
{
    uint32_t kernels = 0;
    std::istringstream words(row);
    for (std::string word; words >> word;)
        kernels |= kernelsOf(word.substr(0, word.find('=')));
    return kernels;
}

// Runs all commands of these kernels on a device opened with this row.
void checkRow(const std::string& row, uint32_t kernels)
{
    CAPTURE(row);
    Device tuned(device().selector(), device().info().tier,
                 environmentNumber("SLUICE_TEST_VALIDATION", 1), kernels, row.c_str());
    CAPTURE(tuned.openError());
    REQUIRE(tuned.isOpen());
    tuned.takeMessages(); // those of opening the device
    for (const WorkKind& kind : sluice::works()) {
        if ((kind.kernels & kernels) != kind.kernels) continue;
        CAPTURE(std::string(kind.name));
        const auto work = kind.make(tuned.get(), kLimits);
        for (const uint32_t length : lengthsOf(*work)) {
            CAPTURE(length);
            CHECK((run(tuned, *work, length) == expectedOf(kind, length)));
        }
    }
}

struct OddRow {
    const char *name, *text;
    bool needsRings = false; // without ring kernels the row changes nothing
    bool isOfLanes = false;  // its values are rounded to multiples of the subgroup size
};

constexpr OddRow kVulkanRows[] = {
    {"everything is few",
     "gdeflate.fewTiles=4294967295 gdeflate.manyTiles=0 gstd.fewTiles=4294967295 "
     "filter.fewTiles=4294967295 filter.takeNextTiles=0 interval.shortRunBytes=4294967295 "
     "intervalSpecialized=1 compact.ringWorkgroups=32768 compact.callTiles=64 "
     "lookback.scannerTiles=4294967295"},
    {"everything is many",
     "gdeflate.fewTiles=0 gdeflate.manyTiles=1 gstd.fewTiles=0 filter.fewTiles=0 "
     "filter.takeNextTiles=1 interval.shortRunBytes=0 scan.ringWorkgroups=2 "
     "compact.ringWorkgroups=2 compact.callTiles=0 lookback.scannerTiles=2"},
    {"rings of several workgroups",
     "scan.ringWorkgroups=4 compact.ringWorkgroups=5 compact.ringTiles=2 compact.callTiles=0",
     true},
    {"rings with much room",
     "scan.ringWorkgroups=7 compact.ringWorkgroups=9 compact.ringTiles=3 compact.callTiles=64",
     true},
    {"rings whose look-backs hardly wait",
     "scan.ringWorkgroups=5 compact.ringWorkgroups=6 compact.callTiles=0 lookback.polls=1", true},
    {"no rings", "scan.ringWorkgroups=0 compact.ringWorkgroups=0", true},
    {"no variants for words", "intervalSpecialized=0"},
    {"nobody waits", "lookback.polls=0 lookback.scannerTiles=2"},
    {"nobody reads a state", "lookback.polls=4294967295"},
    {"few workgroups",
     "scan.workgroups=2 scan.tilesPerWorkgroup=128 scan.reduceWorkgroups=1 compact.workgroups=2 "
     "compact.tilesPerWorkgroup=128 compact.serialTiles=1 floatDecode.laneGroups=1 "
     "floatDecode.tilesPerLaneGroup=65536 fseTables.laneGroups=1 df11.workgroups=1 "
     "df11.countedWorkgroups=1 df11.countedBlocks=65536"},
    {"many workgroups",
     "scan.workgroups=65536 scan.tilesPerWorkgroup=1 scan.reduceWorkgroups=4096 "
     "compact.workgroups=65536 compact.tilesPerWorkgroup=1 compact.serialTiles=2048 "
     "floatDecode.laneGroups=65536 floatDecode.tilesPerLaneGroup=1 fseTables.laneGroups=65536 "
     "df11.workgroups=65536 df11.countedWorkgroups=65536 df11.countedBlocks=1"},
    {"small workgroups",
     "workgroup.scan=128 workgroup.compact=128 workgroup.floatDecode=32 workgroup.gstdExpand=128 "
     "workgroup.filter=128 workgroup.intervalShares=1"},
    {"large workgroups",
     "workgroup.scan=1024 workgroup.compact=1024 workgroup.floatDecode=1024 "
     "workgroup.gstdExpand=256 workgroup.filter=256 workgroup.intervalShares=4 gdeflate.room=1 "
     "gdeflate.pitchApart=1"},
    {"workgroups of odd sizes",
     "workgroup.scan=333 workgroup.compact=479 workgroup.floatDecode=100 workgroup.gstdExpand=250 "
     "workgroup.filter=129 workgroup.intervalShares=3",
     false, true},
    {"small shares",
     "interval.expandBytes=1024 interval.shareBytes=1024 interval.smallBytes=1024 "
     "interval.largeBytes=16384 interval.tailBytes=0 interval.windowBytes=1024 "
     "interval.shortTailBytes=0 interval.shortWindowBytes=1024 intervalSpecialized=1"},
    {"large shares",
     "interval.expandBytes=65536 interval.shareBytes=65536 interval.smallBytes=16384 "
     "interval.largeBytes=1048576 interval.tailBytes=40000 interval.windowBytes=24576 "
     "interval.shortTailBytes=100 interval.shortWindowBytes=24576 intervalSpecialized=1"},
};

#ifdef SLUICE_HAVE_CUDA
constexpr OddRow kCudaRows[] = {
    {"everything is few",
     "gstd.fewTiles=4294967295 filter.fewTiles=4294967295 interval.shortRunBytes=4294967295 "
     "lookback.scannerTiles=4294967295 floatDecode.fewTiles=65536 reduce.singleBytes=4294967295"},
    {"everything is many",
     "gstd.fewTiles=0 filter.fewTiles=0 interval.shortRunBytes=0 lookback.scannerTiles=2 "
     "floatDecode.fewTiles=1 reduce.singleBytes=0 scan.blocks=2 compact.blocks=2 "
     "compact.wordBlocks=1"},
    {"no rings, nothing early",
     "scan.ring=0 scan.programmaticLaunch=0 reduce.programmaticLaunch=0 compact.ring=0 "
     "compact.wordBlocks=0 compact.programmaticLaunch=0 gstd.programmaticLaunch=0 "
     "floatDecode.programmaticLaunch=0"},
    {"nobody waits", "lookback.polls=0 lookback.scannerTiles=2 scan.blocks=3 compact.blocks=3"},
    {"nobody reads a state", "lookback.polls=4294967295"},
    {"few blocks",
     "scan.blocks=2 reduce.blocks=1 compact.blocks=2 compact.wordBlocks=2 floatDecode.blocks=1 "
     "floatDecode.tilesPerWarp=65536 floatDecode.fewBlocks=1 df11.workgroups=1 "
     "df11.countedWorkgroups=1 df11.countedBlocks=65536 fseTables.warps=1"},
    {"many blocks",
     "scan.blocks=65536 reduce.blocks=65536 compact.blocks=65536 compact.wordBlocks=65536 "
     "floatDecode.blocks=65536 floatDecode.tilesPerWarp=1 floatDecode.fewBlocks=65536 "
     "df11.workgroups=65536 df11.countedWorkgroups=65536 df11.countedBlocks=1 "
     "fseTables.warps=65536"},
    {"small shares", "interval.expandBytes=1024 interval.shareBytes=1024 interval.smallBytes=1024 "
                     "interval.largeBytes=16384 interval.tailBytes=0 interval.windowBytes=1024 "
                     "interval.shortTailBytes=0 interval.shortWindowBytes=1024"},
    {"large shares",
     "interval.expandBytes=65536 interval.shareBytes=65536 interval.smallBytes=16384 "
     "interval.largeBytes=1048576 interval.tailBytes=40000 interval.windowBytes=24576 "
     "interval.shortTailBytes=100 interval.shortWindowBytes=24576"},
};
#endif

// Returns the kernels to which a member belongs.
uint32_t kernelsOf(const std::string& field)
{
    static const std::pair<const char*, uint32_t> families[] = {
        {"lookback.", SLUICE_KERNELS_SCAN | SLUICE_KERNELS_COMPACT},
        {"workgroup.scan", SLUICE_KERNELS_SCAN | SLUICE_KERNELS_DF11},
        {"workgroup.compact", SLUICE_KERNELS_COMPACT},
        {"workgroup.floatDecode", SLUICE_KERNELS_FLOAT},
        {"workgroup.gstdExpand", SLUICE_KERNELS_GSTD},
        {"workgroup.filter", SLUICE_KERNELS_FILTER},
        {"workgroup.intervalShares", SLUICE_KERNELS_INTERVAL},
        {"scan.", SLUICE_KERNELS_SCAN | SLUICE_KERNELS_TILE_STREAMS},
        {"reduce.", SLUICE_KERNELS_SCAN},
        {"compact.", SLUICE_KERNELS_COMPACT},
        {"interval", SLUICE_KERNELS_INTERVAL},
        {"gdeflate.", SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_TILE_STREAMS},
        {"gstd.", SLUICE_KERNELS_GSTD},
        {"filter.", SLUICE_KERNELS_FILTER},
        {"floatDecode.", SLUICE_KERNELS_FLOAT},
        {"fseTables.", SLUICE_KERNELS_FSE},
        {"df11.", SLUICE_KERNELS_DF11},
        {"zstd", SLUICE_KERNELS_ZSTD},
        {"workgroup.zstd", SLUICE_KERNELS_ZSTD},
    };
    for (const auto& [prefix, kernels] : families)
        if (field.rfind(prefix, 0) == 0) return kernels;
    return 0;
}

template <typename Row>
std::string textOf(const Row& row)
{
    std::string text(writeTuning(row, nullptr, 0) + 1, '\0');
    writeTuning(row, text.data(), text.size());
    text.pop_back();
    return text;
}

#ifdef SLUICE_HAVE_CUDA
bool canUse(const std::string& text)
{
    sluice::CudaTuning row =
        static_cast<sluice::CudaBackend&>(*device().context()->backend).tuning();
    const bool sm90 = row.scan.programmaticLaunch != 0;
    REQUIRE(readTuning(text.c_str(), row) == SLUICE_OK);
    return sluice::canUse({1, 1, 1, sm90}, row);
}
#endif

// Sets each member to both ends of its range, one at a time. Values that are rounded to what the
// device has anyway are left out.
template <typename Row, typename Fit>
void checkEnds(const Row& usual, const Fit& fit)
{
    for (const TuningField& field : tuningFields(usual)) {
        CAPTURE(std::string(field.name));
        const uint32_t kernels = kernelsOf(field.name);
        REQUIRE(kernels != 0);
        // These are for benchmarks.
        if (std::string(field.name) == "gstd.symbolsOnly") continue;
        if (std::string(field.name) == "zstd.steps") continue;
        for (const uint32_t value : {field.least, field.most}) {
            Row row = usual;
            setTuningValue(row, field, value);
            if (fit(row) && textOf(row) != textOf(usual))
                checkRow(std::string(field.name) + "=" + std::to_string(value), kernels);
        }
    }
}

} // namespace

TEST_CASE("tuning: the rows that are chosen are such as their devices can run")
{
    using namespace sluice;
    for (const ShaderVariant variant :
         {ShaderVariant::base, ShaderVariant::ext, ShaderVariant::emu})
        for (const uint32_t subgroup : {4u, 8u, 16u, 32u, 64u, 128u})
            for (const uint32_t invocations : {128u, 256u, 512u, 1024u})
                for (const uint32_t shared : {32768u, 49152u, 65536u})
                    for (const bool ample : {false, true}) {
                        DeviceTraits traits;
                        traits.variant = variant;
                        traits.subgroupSize = subgroup;
                        traits.maxInvocations = invocations;
                        traits.maxSubgroups = invocations / subgroup;
                        traits.sharedBytes = shared;
                        traits.processors = ample ? 132 : 0;
                        traits.forwardProgress = traits.ampleSharedMemory = ample;
                        CAPTURE(int(variant));
                        CAPTURE(subgroup);
                        CAPTURE(invocations);
                        CAPTURE(shared);
                        const VulkanTuning chosen = tuningFor(traits);
                        VulkanTuning fitted = chosen;
                        fitTuning(traits, fitted);
                        CHECK(textOf(fitted) == textOf(chosen));
                        for (const TuningField& field : tuningFields(chosen)) {
                            CAPTURE(std::string(field.name));
                            CHECK(field.allows(tuningValue(chosen, field)));
                        }
                    }
}

TEST_CASE("tuning: what a device cannot run is rounded to what it can")
{
    using namespace sluice;
    DeviceTraits traits;
    traits.variant = ShaderVariant::base;
    traits.subgroupSize = 64;
    traits.maxInvocations = 1024;
    traits.maxSubgroups = 16;
    traits.sharedBytes = 32768;
    const auto fitted = [&](const char* text) {
        VulkanTuning row = tuningFor(traits);
        REQUIRE(readTuning(text, row) == SLUICE_OK);
        fitTuning(traits, row);
        return row;
    };
    CHECK(fitted("workgroup.scan=1000").workgroup.scan == 960);
    // A compaction takes 64 bytes of shared memory for each invocation: 1,024 do not fit.
    CHECK(fitted("workgroup.compact=1024").workgroup.compact == 448);
    CHECK(fitted("workgroup.floatDecode=32").workgroup.floatDecode == 64);
    CHECK(fitted("workgroup.filter=250").workgroup.filter == 128);
    CHECK(fitted("workgroup.intervalShares=3").workgroup.intervalShares == 2);
    CHECK(fitted("workgroup.intervalShares=1").workgroup.intervalShares == 2);
    CHECK(fitted("compact.ringTiles=3").compact.ringTiles == 3);
    CHECK(fitted("lookback.polls=5000").lookback.polls == 256);
    CHECK(fitted("lookback.polls=4294967295").lookback.polls == SLUICE_LOOKBACK_NEVER);
    traits.forwardProgress = true;
    traits.sharedBytes = 65536;
    CHECK(fitted("lookback.polls=5000").lookback.polls == 5000);
    traits.sharedBytes = 16384;
    CHECK(fitted("compact.ringTiles=3").compact.ringTiles == 2);
    traits.variant = ShaderVariant::emu;
    CHECK(fitted("workgroup.scan=1024").workgroup.scan == 128);
    CHECK(fitted("workgroup.intervalShares=4").workgroup.intervalShares == 2);
}

TEST_CASE("tuning: large workgroups only where the vendor's compiler is known to take them")
{
    using namespace sluice;
    VulkanProperties properties;
    properties.type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    for (const uint32_t says : {128u, 256u, 1024u}) {
        properties.maxInvocations = says;
        for (const uint32_t vendor : {0x10deu, 0x1002u, 0x8086u}) {
            properties.vendor = vendor;
            CHECK(safeInvocations(properties) == says);
        }
        properties.vendor = 0x5143; // Qualcomm
        CHECK(safeInvocations(properties) == std::min(says, 256u));
    }
    properties.type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    CHECK(safeInvocations(properties) == 1024);

    // A device with at most 256 invocations has no pipeline with larger workgroups.
    DeviceTraits traits;
    traits.variant = ShaderVariant::ext;
    traits.subgroupSize = 64;
    traits.maxInvocations = 256;
    traits.maxSubgroups = 16;
    traits.sharedBytes = 65536;
    const VulkanTuning row = tuningFor(traits);
    for (const Pipeline pipeline : AllPipelines())
        if (pipelineRow(pipeline).applies(traits, row))
            CHECK(pipelineRow(pipeline).workgroup(traits, row) <= 256);
}

TEST_CASE("tuning: subgroups have 32 lanes, on Intel's GPUs of few registers 16")
{
    using namespace sluice;
    VulkanFeatures features;
    features.subgroupSizeControl = features.computeFullSubgroups = true;
    VulkanProperties properties;
    properties.canRequireSize = true;
    properties.maxSubgroups = 64;
    const auto chosen = [&](uint32_t vendor, uint32_t least, uint32_t most) {
        properties.vendor = vendor;
        properties.minSubgroupSize = least;
        properties.maxSubgroupSize = most;
        return chooseSubgroupSize(features, properties, 0);
    };
    CHECK(chosen(kVendorNvidia, 32, 32) == 32);
    CHECK(chosen(kVendorAmd, 32, 64) == 32);
    CHECK(chosen(kVendorAmd, 64, 64) == 64);
    CHECK(chosen(kVendorIntel, 8, 32) == 16);
    CHECK(chosen(kVendorIntel, 16, 32) == 32);
    CHECK(chosen(kVendorIntel, 32, 32) == 32);
    CHECK(chosen(0x5143, 8, 32) == 32);
    properties.maxSubgroups = 4; // at 16 lanes, a workgroup of 128 has too many subgroups
    CHECK(chosen(kVendorIntel, 8, 32) == 32);
    CHECK(chooseSubgroupSize(features, properties, 16) == 0);
}

// Lists the pipelines that the odd rows do not reach on any software device of a test run: lavapipe
// with subgroups of 4, 8 and 16, SwiftShader with 4, and the emulated sizes, all with 32 KiB of
// shared memory. Pipelines of an imitated driver's decoder run on these devices, too.
TEST_CASE("tuning: pipelines that ran on a GPU only are few, and named")
{
    using namespace sluice;
    std::set<std::string> reached, only;
    const auto reach = [&](ShaderVariant variant, uint32_t subgroup) {
        DeviceTraits traits;
        traits.variant = variant;
        traits.subgroupSize = subgroup;
        traits.maxInvocations = 1024;
        traits.maxSubgroups = 1024 / subgroup;
        traits.sharedBytes = 32768;
        traits.driverDecodes = true;
        for (const OddRow& odd : kVulkanRows) {
            if (odd.needsRings && !traits.runsRings()) continue;
            VulkanTuning row = tuningFor(traits);
            REQUIRE(readTuning(odd.text, row) == SLUICE_OK);
            fitTuning(traits, row);
            for (const Pipeline pipeline : AllPipelines())
                if (pipelineRow(pipeline).applies(traits, row))
                    reached.insert(pipelineRow(pipeline).name);
        }
    };
    for (const uint32_t subgroup : {4u, 8u, 16u})
        for (const ShaderVariant variant : {ShaderVariant::baseNarrow, ShaderVariant::extNarrow})
            reach(variant, subgroup);
    for (const uint32_t subgroup : {4u, 8u, 16u, 32u, 64u, 128u})
        reach(ShaderVariant::emu, subgroup);
    std::string text;
    for (const Pipeline pipeline : AllPipelines()) {
        const std::string name = pipelineRow(pipeline).name;
        if (reached.count(name) != 0) continue;
        only.insert(name);
        text += (text.empty() ? "" : ", ") + name;
    }
    MESSAGE("ran on a GPU only: ", text);
    // Two lane groups for a tile, or one that is a subgroup, need hardware subgroups of 32 lanes.
    // Workgroups of 512 need 34,016 bytes of shared memory.
    CHECK(only == std::set<std::string>{"gdeflate_few", "gdeflate_many", "filter_few"});
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tuning: commands are right under odd rows")
{
    if (isTooSlow(false))
        return skipCase("SLUICE_MUTATIONS of 1,000 and more runs it on this tier");
    if (device().backend() == SLUICE_BACKEND_VULKAN) {
        const auto& backend = static_cast<sluice::VulkanBackend&>(*device().context()->backend);
        const bool lanesOnly = skipsOtherSizes();
        for (const OddRow& row : kVulkanRows) {
            if (row.needsRings && !backend.traits().runsRings()) continue;
            if (lanesOnly && !row.isOfLanes) continue;
            CAPTURE(std::string(row.name));
            checkRow(row.text, kernelsOfRow(row.text));
        }
    }
#ifdef SLUICE_HAVE_CUDA
    if (device().backend() == SLUICE_BACKEND_CUDA) {
        for (const OddRow& row : kCudaRows) {
            CAPTURE(std::string(row.name));
            if (canUse(row.text)) checkRow(row.text, kernelsOfRow(row.text));
        }
    }
#endif
}

TEST_CASE("tuning: commands are right at the ends of each member's range")
{
    if (isTooSlow(true)) return skipCase("SLUICE_MUTATIONS of 1,000 and more runs it on this tier");
    if (device().backend() == SLUICE_BACKEND_VULKAN) {
        const auto& backend = static_cast<sluice::VulkanBackend&>(*device().context()->backend);
        checkEnds(backend.tuning(), [&](sluice::VulkanTuning& row) {
            fitTuning(backend.traits(), row);
            return true;
        });
    }
#ifdef SLUICE_HAVE_CUDA
    if (device().backend() == SLUICE_BACKEND_CUDA) {
        checkEnds(static_cast<sluice::CudaBackend&>(*device().context()->backend).tuning(),
                  [](sluice::CudaTuning& row) { return canUse(textOf(row)); });
    }
#endif
}

TEST_SUITE_END();
