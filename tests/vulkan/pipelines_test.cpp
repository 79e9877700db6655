// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests pipelines that are made in pieces: commands say what is missing, nothing is made twice, and
// results are the same without the pipelines that only add speed.
#include "tests/support/short_runs.h"
#include "tests/tool/tool_run.h"

#include <sluice/sluice_fse.h>
#include <sluice/sluice_scan.h>

#include "tools/sluice/tune/tune_work.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace sluice::test;

namespace {

SluiceStatus create(const Device& on, uint32_t kernels, uint32_t flags, uint32_t most,
                    uint32_t* left)
{
    const SluicePipelinesInfo info = {kernels, flags, most};
    return sluiceCreatePipelines(on.context(), &info, left);
}

bool isVulkan() { return device().backend() == SLUICE_BACKEND_VULKAN; }

std::unique_ptr<Device> openWithout()
{
    auto opened = std::make_unique<Device>(device().selector(), device().info().tier,
                                           environmentNumber("SLUICE_TEST_VALIDATION", 1), 0);
    REQUIRE_MESSAGE(opened->isOpen(), opened->openError());
    return opened;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("pipelines: a context has none at first, and a call makes as many as it may")
{
    if (skipsSlowCompiler() || skipsOtherSizes()) return;
    const auto fresh = openWithout();
    uint32_t left = 0;
    CHECK(create(*fresh, SLUICE_KERNELS_UASTC * 2u, 0, 0, &left) == SLUICE_ERROR_ARGUMENT);
    CHECK(create(*fresh, SLUICE_KERNELS_FSE, 2, 0, &left) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCreatePipelines(nullptr, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCreatePipelines(fresh->context(), nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    if (!isVulkan()) {
        CHECK(fresh->info().kernels ==
              (SLUICE_KERNELS_ALL | SLUICE_KERNELS_ZSTD | SLUICE_KERNELS_UASTC));
        CHECK(create(*fresh, SLUICE_KERNELS_ALL, 0, 1, &left) == SLUICE_OK);
        CHECK(left == 0);
        return;
    }
    CHECK(fresh->info().kernels == 0);
    constexpr uint32_t kernels = SLUICE_KERNELS_FSE | SLUICE_KERNELS_TILE_STREAMS;
    Buffer words(*fresh, Bytes(64)), status(*fresh, 12);
    SluiceFseTablesInfo info = {};
    info.maxRegionCount = 1;
    info.regionStride = sizeof(SluiceRegion);
    info.maxSymbols = 1;
    info.maxLog = SLUICE_FSE_MIN_LOG;
    info.regions = info.source = info.destination = words.range();
    info.status = status.range();
    const auto record = [&] {
        SluiceStatus recorded = SLUICE_OK;
        fresh->run([&](SluiceCommands commands) {
            recorded = sluiceCmdFseTables(fresh->context(), commands, &info);
        });
        return recorded;
    };
    CHECK(create(*fresh, kernels, 0, 1, &left) == SLUICE_OK);
    const uint32_t all = left + 1;
    CHECK(all >= 4);
    CHECK(record() == SLUICE_ERROR_NOT_READY);
    CHECK((status.bytes() == Bytes(12, Buffer::kPoison)));
    for (uint32_t made = 1; left != 0; ++made) {
        REQUIRE(made < all);
        CHECK(left == all - made);
        CHECK(create(*fresh, kernels, 0, 1, &left) == SLUICE_OK);
    }
    CHECK((fresh->info().kernels & kernels) == kernels);
    CHECK((fresh->info().kernels & SLUICE_KERNELS_CHECKSUM) != 0); // it is part of every set
    CHECK((fresh->info().kernels & SLUICE_KERNELS_DF11) == 0);
    CHECK(record() == SLUICE_OK);
    CHECK(status.words()[0] == SLUICE_TILE_BAD_REGION);
    CHECK(create(*fresh, kernels, 0, 0, &left) == SLUICE_OK); // nothing is made again
    CHECK(left == 0);
}

TEST_CASE("pipelines: results are the same without those that are a matter of speed")
{
    if (skipsSlowCompiler() || skipsOtherSizes()) return;
    if (!isVulkan()) return;
    const auto fresh = openWithout();
    Device reference("cpu", "ref", 0);
    REQUIRE(create(*fresh, SLUICE_KERNELS_ALL, SLUICE_PIPELINES_NECESSARY, 0, nullptr) ==
            SLUICE_OK);
    CHECK(fresh->info().kernels == SLUICE_KERNELS_ALL);
    constexpr sluice::WorkLimits limits = {600u << 10, 4096};
    for (const sluice::WorkKind& kind : sluice::works()) {
        CAPTURE(std::string(kind.name));
        Bytes written[2];
        for (Device* const on : {fresh.get(), &reference}) {
            const auto work = kind.make(on->get(), limits);
            work->reset();
            on->run([&](SluiceCommands commands) {
                REQUIRE(work->record(commands, work->most) == SLUICE_OK);
            });
            work->checkStatus(work->most);
            written[on == &reference ? 1 : 0] = work->written();
        }
        CHECK((written[0] == written[1]));
    }
}

TEST_CASE("pipelines: the tool lists what they cost, whatever their cache file holds")
{
    if (skipsSlowCompiler() || skipsOtherSizes()) return;
    const Folder run("pipelines");
    CHECK(run("devices --kernels fse") == 1); // the option is for --pipelines only
    CHECK(run("devices --subgroup-size 32") == 1);
    CHECK(run("devices --pipelines --device cpu") == 5);
    if (!isVulkan()) return;
    const std::string list = "devices --pipelines --device " + device().selector() + " --tier " +
                             device().info().tier + " --kernels ";
    CHECK(run(list + "nothing") == 1);
    const auto isComplete = [&] {
        const std::string printed = run.output();
        return contains(printed, "fse_tables") && contains(printed, "checksum") &&
               contains(printed, "3 pipelines of ");
    };
    // A file that is no cache is replaced only with -f. A damaged cache is replaced without it.
    writeFile(run.path / "cache", std::string(100, 'x'));
    CHECK(run(list + "fse --cache cache") == 2);
    REQUIRE(run(list + "fse --cache cache -f") == 0);
    CHECK(isComplete());
    const std::string damaged = run.read("cache").substr(0, 30) + "x";
    for (const std::string& contents : {std::string(), damaged}) {
        writeFile(run.path / "cache", contents);
        REQUIRE(run(list + "fse --cache cache") == 0);
        CHECK(isComplete());
    }
    REQUIRE(run(list + "fse --threads 3 --cache cache") == 0);
    CHECK(isComplete());
    REQUIRE(run(list + "fse,scan --necessary --json") == 0);
    CHECK(contains(run.output(), "\"necessary\": true"));
    CHECK_FALSE(contains(run.output(), "\"necessary\": false"));
}

TEST_CASE("pipelines: made by several threads at once, while another records")
{
    if (skipsSlowCompiler() || skipsOtherSizes()) return;
    if (!isVulkan()) return;
    const auto fresh = openWithout();
    constexpr uint32_t kernels =
        SLUICE_KERNELS_FSE | SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_SCAN_WORDS;
    std::atomic<uint32_t> failed{0};
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            uint32_t left = 0;
            // Two threads make pipelines in small jobs, and one thread's set is smaller.
            const uint32_t own = i == 3 ? SLUICE_KERNELS_FSE | SLUICE_KERNELS_SCAN_WORDS : kernels;
            do {
                if (create(*fresh, own, 0, i % 2, &left) != SLUICE_OK) ++failed;
            } while (left != 0 && failed == 0);
        });
    }
    std::thread recorder([&] {
        SluiceScanInfo info = {};
        info.maxCount = 1000;
        SluiceRequirements first = {}, again = {};
        if (sluiceGetScanRequirements(fresh->context(), &info, &first) != SLUICE_OK) ++failed;
        while (!done) { // the requirements stay the same
            if (sluiceGetScanRequirements(fresh->context(), &info, &again) != SLUICE_OK ||
                again.scratchSize != first.scratchSize)
                ++failed;
        }
    });
    for (std::thread& thread : threads)
        thread.join();
    done = true;
    recorder.join();
    CHECK(failed == 0);
    CHECK((fresh->info().kernels & kernels) == kernels);
    fresh->checkMessages();
}

TEST_SUITE_END();
