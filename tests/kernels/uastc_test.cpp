// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the UASTC transcoder on every device against the reference: bytes, statuses, counts.
#include "tests/support/arguments.h"
#include "tests/support/short_runs.h"
#include "tests/support/uastc.h"

#include <vulkan/vulkan.h>

#include <sluice/sluice_stream_vulkan.h>
#include <sluice/sluice_vulkan.h>

#include <functional>

namespace example {
#include "tests/consumers/readme/uastc.cpp"
} // namespace example

using namespace sluice::test;

namespace {

// Returns random blocks; 19 modes have their turns, or any bits come if `any` is set.
Bytes randomBlocks(std::mt19937& random, uint32_t count, bool any)
{
    Bytes source;
    for (uint32_t i = 0; i < count; ++i) {
        Bytes block = uastcBlockOfMode(random, i % kUastcModeCount);
        if (any)
            for (uint8_t& byte : block)
                byte = uint8_t(random() >> 13);
        source.insert(source.end(), block.begin(), block.end());
    }
    return source;
}

SluiceUastcInfo infoFor(Device& on, uint32_t count)
{
    needUastc(on);
    SluiceUastcInfo info = {};
    info.maxRegionCount = count;
    info.regionStride = sizeof(SluiceUastcRegion);
    info.maxRegionBlocks = 64;
    info.format = 145;
    return info;
}

} // namespace

TEST_CASE("uastc arguments: each bad one gives the error that the header names")
{
    Cpu cpu;
    SluiceUastcInfo info = {};
    info.maxRegionCount = 3;
    info.regionStride = 32;
    info.maxRegionBlocks = 4;
    info.format = 145;
    info.regions = cpu.range(0, 88); // 2 * 32 + 24
    info.regionCount = cpu.range(128, 4);
    info.source = cpu.range(192, 64);
    info.destination = cpu.range(320, 64);
    info.status = cpu.range(448, 20);
    info.invalid = cpu.range(512, 24);
    const auto call = [&] { return sluiceCmdUastc(cpu.context, nullptr, &info); };
    CHECK(call() == SLUICE_OK);
    CHECK(sluiceCmdUastc(nullptr, nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdUastc(cpu.context, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdUastc(cpu.context, someCommands(), &info) == SLUICE_ERROR_ARGUMENT);
    SluiceRequirements need = {1, 1, 1};
    CHECK(sluiceGetUastcRequirements(cpu.context, &info, &need) == SLUICE_OK);
    CHECK(need.scratchSize == 0);
    CHECK(sluiceGetUastcRequirements(cpu.context, nullptr, &need) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetUastcRequirements(cpu.context, &info, nullptr) == SLUICE_ERROR_ARGUMENT);
    checkBuffer(info.regions, 88, 8, false, call);
    checkBuffer(info.regionCount, 4, 4, true, call);
    checkBuffer(info.source, 0, 16, true, call);
    checkBuffer(info.destination, 0, 16, true, call);
    checkBuffer(info.status, 20, 4, false, call);
    checkBuffer(info.invalid, 24, 4, true, call);
    const auto with = [&](uint32_t SluiceUastcInfo::*member, uint32_t value) {
        SluiceUastcInfo changed = info;
        changed.*member = value;
        return sluiceCmdUastc(cpu.context, nullptr, &changed);
    };
    for (const uint32_t stride : {0u, 20u, 26u})
        CHECK(with(&SluiceUastcInfo::regionStride, stride) == SLUICE_ERROR_ARGUMENT);
    for (const uint32_t blocks : {0u, SLUICE_UASTC_MAX_BLOCKS + 1, ~0u})
        CHECK(with(&SluiceUastcInfo::maxRegionBlocks, blocks) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceUastcInfo::maxRegionBlocks, SLUICE_UASTC_MAX_BLOCKS) == SLUICE_OK);
    CHECK(with(&SluiceUastcInfo::maxRegionCount, (1u << 24) + 1) == SLUICE_ERROR_ARGUMENT);
    for (const uint32_t format : {0u, 36u, 38u, 133u, 140u, 142u, 149u, 159u})
        CHECK(with(&SluiceUastcInfo::format, format) == SLUICE_ERROR_ARGUMENT);
    for (const uint32_t format : {43u, 132u, 138u, 139u, 141u, 146u, 148u, 152u, 158u})
        CHECK(with(&SluiceUastcInfo::format, format) == SLUICE_OK);
    CHECK(with(&SluiceUastcInfo::flags, 1) == SLUICE_ERROR_ARGUMENT);
    info.format = 141;
    CHECK(with(&SluiceUastcInfo::flags, 1) == SLUICE_OK);
    CHECK(with(&SluiceUastcInfo::flags, 2) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("uastc arguments: source and destination overlap only where blocks keep their places")
{
    Cpu cpu;
    SluiceUastcInfo info = {};
    info.maxRegionCount = 0;
    info.regionStride = 24;
    info.maxRegionBlocks = 4;
    info.source = cpu.range(128, 64);
    info.status = cpu.range(0, 8);
    for (const UastcTarget& target : kUastcTargets) {
        CAPTURE(target.number);
        info.format = target.format;
        info.flags = target.flags;
        const auto with = [&](uint64_t offset, uint64_t size) {
            info.destination = cpu.range(offset, size);
            return sluiceCmdUastc(cpu.context, nullptr, &info);
        };
        CHECK(with(192, 64) == SLUICE_OK);
        CHECK(with(128, 64) == (target.bytes == 16 ? SLUICE_OK : SLUICE_ERROR_ARGUMENT));
        CHECK(with(128, 48) == SLUICE_ERROR_ARGUMENT);
        CHECK(with(144, 64) == SLUICE_ERROR_ARGUMENT);
        CHECK(with(112, 64) == SLUICE_ERROR_ARGUMENT);
    }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("uastc regions: the vectors, and every mode, in every target")
{
    if (skipsOtherSizes()) return;
    std::mt19937 random = makeRandom(701);
    Bytes source = uastcVectors("uastc.bin");
    const uint32_t vectors = uint32_t(source.size() / 16);
    const Bytes more = randomBlocks(random, 19 * 12, false);
    source.insert(source.end(), more.begin(), more.end());
    const std::vector<UastcPiece> pieces = {{0, 128, vectors / 8}, // 32 blocks a row
                                            {16 * 500, 7, 5},
                                            {16 * 700, 1, 1},
                                            {uint64_t(16) * vectors, 19 * 12 * 4, 4},
                                            {16, 129, 6}};
    for (const UastcTarget& target : kUastcTargets)
        checkUastc(device(), target, source, pieces);
}

TEST_CASE("uastc regions: every pattern, also those that do not exist")
{
    if (skipsOtherSizes()) return;
    std::mt19937 random = makeRandom(702);
    Bytes source;
    for (const uint32_t mode : {2u, 3u, 4u, 7u, 9u, 16u}) {
        for (uint32_t pattern = 0; pattern < (mode == 3 ? 16 : 32); ++pattern) {
            for (uint32_t k = 0; k < 3; ++k) {
                Bytes block = uastcBlockOfMode(random, mode);
                setUastcPattern(block.data(), mode, pattern);
                source.insert(source.end(), block.begin(), block.end());
            }
        }
    }
    const uint32_t count = uint32_t(source.size() / 16);
    for (const UastcTarget& target : kUastcTargets)
        checkUastc(device(), target, source, {{0, 4 * count, 4}, {16 * 60, 16, 30 * 4}});
}

TEST_CASE("uastc regions: any 128 bits")
{
    if (skipsOtherSizes()) return;
    std::mt19937 random = makeRandom(703);
    constexpr uint32_t most = 1 << 17; // the blocks of a call, so that many take little memory
    for (uint32_t left = 8 * environmentNumber("SLUICE_MUTATIONS", 100); left != 0;) {
        const uint32_t count = std::min(left, most);
        const Bytes source = randomBlocks(random, count, true);
        for (const UastcTarget& target : kUastcTargets)
            checkUastc(device(), target, source, {{0, 4 * count, 4}});
        left -= count;
    }
}

TEST_CASE("uastc regions: every size at an edge of a block, and more blocks than a workgroup has")
{
    if (skipsOtherSizes()) return;
    std::mt19937 random = makeRandom(704);
    const Bytes source = randomBlocks(random, 1400, false);
    std::vector<UastcPiece> pieces;
    for (uint32_t width = 1; width <= 9; ++width)
        for (uint32_t height = 1; height <= 9; ++height)
            pieces.push_back({uint64_t(16) * (width + height), width, height});
    for (const uint32_t blocks : {31u, 32u, 33u, 127u, 128u, 129u, 255u, 256u, 257u, 1025u})
        pieces.push_back({16 * 3, 4 * blocks - 1, 3});
    for (const uint32_t number : {SLUICE_UA_BC7, SLUICE_UA_RGBA8, SLUICE_UA_BC1})
        checkUastc(device(), kUastcTargets[number], source, pieces);
}

TEST_CASE("uastc regions: in place")
{
    if (skipsOtherSizes()) return;
    std::mt19937 random = makeRandom(705);
    Bytes source = randomBlocks(random, 400, false);
    for (uint32_t k = 0; k < 5; ++k) { // and some that are invalid
        const Bytes block = uastcBlockOfMode(random, 19);
        std::copy(block.begin(), block.end(), source.begin() + 16 * (150 + k));
    }
    for (const UastcTarget& target : kUastcTargets)
        if (target.bytes == 16)
            checkUastc(device(), target, source,
                       {{16, 80, 40}, {16 * 210, 4, 4}, {16 * 220, 18, 90}}, true);
}

TEST_CASE("uastc regions: invalid blocks are counted, and the first of them is named")
{
    if (skipsOtherSizes()) return;
    std::mt19937 random = makeRandom(706);
    const Bytes invalid = uastcVectors("invalid.bin");
    Bytes source = randomBlocks(random, 600, false);
    for (const uint32_t at : {299u, 301u, 420u, 599u})
        std::copy_n(invalid.begin() + 16 * (at % 34), 16, source.begin() + 16 * at);
    source.insert(source.end(), invalid.begin(), invalid.end());
    const uint32_t count = uint32_t(invalid.size() / 16);
    for (const UastcTarget& target : kUastcTargets)
        checkUastc(device(), target, source,
                   {{0, 40, 236}, {0, 100, 96}, {16 * 302, 4, 4}, {16 * 600, 4 * count, 4}});
}

TEST_CASE("uastc regions: a list may hold anything")
{
    if (skipsOtherSizes()) return;
    Device& on = device();
    SluiceUastcInfo info = infoFor(on, 24);
    std::mt19937 random = makeRandom(707);
    const Bytes blocks = randomBlocks(random, 128, false);
    constexpr uint64_t huge = ~uint64_t(0) - 15;
    for (const UastcTarget& target : kUastcTargets) {
        CAPTURE(target.number);
        Buffer from(on, blocks), to(on, 4096), status(on, 26 * 4), invalid(on, 24 * 8);
        const uint64_t source = from.address(), output = to.address();
        const uint64_t alignment = target.number == SLUICE_UA_RGBA8 ? 4 : target.bytes;
        const uint32_t most = uint32_t(4096 / target.bytes); // blocks that the output has room for
        const uint32_t row = 4 * std::min(most, 64u);
        struct Case {
            SluiceUastcRegion region;
            bool good;
        };
        const std::vector<Case> cases = {
            {{source, output, row, 4}, true},
            {{source, output, 0, 4}, false},
            {{source, output, 4, 0}, false},
            {{source, output, ~0u, ~0u}, false},
            {{source, output, 1u << 31, 2}, false},
            {{source, output, 65536, 65536}, false},
            {{source, output, 4 * 65, 4}, false}, // more than 64 blocks
            {{source, output, 4, 4 * 65}, false},
            {{source + 8, output, 4, 4}, false},
            {{source, output + alignment / 2, 4, 4}, false},
            {{source - 16, output, 4, 4}, false},
            {{source, output - alignment, 4, 4}, false},
            {{source + 16 * 127, output, 4, 4}, true},
            {{source + 16 * 127, output, 8, 4}, false},
            {{source + 16 * 128, output, 4, 4}, false},
            {{source, output + 4096 - target.bytes, 4, 4}, true},
            {{source, output + 4096 - target.bytes, 8, 4}, false},
            {{source, output + 4096 - target.bytes + alignment, 4, 4}, false},
            {{source, output + 4096, 4, 4}, false},
            {{huge, output, 4, 4}, false},
            {{source, huge, 4, 4}, false},
            {{0, 0, 4, 4}, false},
            {{source, output, 5, 1}, true},
            {{source, output, 1, 5}, true},
        };
        REQUIRE(cases.size() == 24);
        std::vector<SluiceUastcRegion> list;
        Words wanted;
        uint32_t failed = 0;
        for (const Case& one : cases) {
            list.push_back(one.region);
            wanted.push_back(one.good ? SLUICE_TILE_OK : SLUICE_TILE_BAD_REGION);
            failed += one.good ? 0 : 1;
        }
        wanted.push_back(failed);
        wanted.push_back(1);
        Buffer regions(on, bytesOf(list));
        info.format = target.format;
        info.flags = target.flags;
        info.regions = regions.range();
        info.source = from.range();
        info.destination = to.range();
        info.status = status.range();
        info.invalid = invalid.range();
        runWithScratch(on, info, sluiceGetUastcRequirements, sluiceCmdUastc);
        CHECK(status.words() == wanted);
        Words none;
        for (uint32_t i = 0; i < 24; ++i) {
            none.push_back(0);
            none.push_back(~0u);
        }
        CHECK(invalid.words() == none);
        to.bytes(); // the guards
    }
}

TEST_CASE("uastc regions: in place, both addresses of a region are the same")
{
    if (skipsOtherSizes()) return;
    Device& on = device();
    SluiceUastcInfo info = infoFor(on, 2);
    std::mt19937 random = makeRandom(708);
    Buffer blocks(on, randomBlocks(random, 8, false)), status(on, 16);
    Buffer list(on, bytesOf(std::vector<SluiceUastcRegion>{
                        {blocks.address(), blocks.address() + 16, 8, 4},
                        {blocks.address() + 96, blocks.address() + 96, 8, 4}}));
    info.regions = list.range();
    info.source = info.destination = blocks.range();
    info.status = status.range();
    runWithScratch(on, info, sluiceGetUastcRequirements, sluiceCmdUastc);
    CHECK(status.words() == Words{SLUICE_TILE_BAD_REGION, SLUICE_TILE_OK, 1, 0});
}

TEST_CASE("uastc regions: the count is in device memory, and strides are longer than a region")
{
    if (skipsOtherSizes()) return;
    Device& on = device();
    std::mt19937 random = makeRandom(709);
    const Bytes blocks = randomBlocks(random, 19, false);
    for (const uint32_t count : {0u, 2u, 3u, 4u, ~0u}) {
        CAPTURE(count);
        SluiceUastcInfo info = infoFor(on, 3);
        info.regionStride = 28;
        Buffer from(on, blocks), to(on, 3 * 16), status(on, 20), counted(on, Words{count});
        Words words;
        for (uint32_t i = 0; i < 3; ++i) {
            const uint64_t source = from.address() + 16 * (5 + i), output = to.address() + 16 * i;
            for (const uint64_t value : {source, output}) {
                words.push_back(uint32_t(value));
                words.push_back(uint32_t(value >> 32));
            }
            words.insert(words.end(), {4, 4, 0xffffffff});
        }
        Buffer list(on, words);
        info.regions = list.range();
        info.regionCount = counted.range();
        info.source = from.range();
        info.destination = to.range();
        info.status = status.range();
        runWithScratch(on, info, sluiceGetUastcRequirements, sluiceCmdUastc);
        Bytes wanted(3 * 16, Buffer::kPoison);
        Words statuses(5, SLUICE_TILE_PENDING);
        statuses[4] = ~0u;
        for (uint32_t i = 0; i < std::min(count, 3u); ++i) {
            sluice::cpu::transcodeUastc(SLUICE_UA_BC7, &blocks[16 * (5 + i)], &wanted[16 * i]);
            statuses[i] = SLUICE_TILE_OK;
        }
        CHECK(to.bytes() == wanted);
        CHECK(status.words() == statuses);
    }
}

TEST_CASE("uastc regions: the code of docs/embedding.md runs")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) return skipCase("the code is for Vulkan");
    // An invocation decodes a block alone, so SwiftShader compiles the same with every tier.
    if (std::string(device().info().tier) != "base" && skipsSlowCompiler()) return;
    std::mt19937 random = makeRandom(710);
    const Bytes blocks = randomBlocks(random, 8, false);
    const uint64_t sizes[] = {sizeof(SluiceUastcRegion), blocks.size(), blocks.size(), 12, 32};
    SluiceBuffer parts[5];
    for (uint32_t i = 0; i < 5; ++i) {
        REQUIRE(sluiceAllocate(device().get(), sizes[i], &parts[i]) == SLUICE_OK);
        REQUIRE(parts[i].offset == 0);
    }
    const auto handle = [&](uint32_t i) { return VkBuffer(uintptr_t(parts[i].handle)); };
    const SluiceUastcRegion region = {sluiceGetAddress(device().get(), parts[1]),
                                      sluiceGetAddress(device().get(), parts[2]), 16, 8};
    REQUIRE(sluiceUpload(device().get(), parts[0], &region, sizeof region) == SLUICE_OK);
    REQUIRE(sluiceUpload(device().get(), parts[1], blocks.data(), blocks.size()) == SLUICE_OK);
    const example::UastcBuffers buffers = {handle(0), handle(1),     handle(2),    handle(3),
                                           handle(4), blocks.size(), blocks.size()};
    SluiceUastcFormat chosen = {};
    device().run([&](SluiceCommands commands) {
        CHECK(example::recordUastc(device().context(), commands, buffers, SLUICE_UASTC_RGB, 1, 8,
                                   chosen) == SLUICE_OK);
    });
    CHECK(chosen.format == 145);
    CHECK(chosen.swizzle[3] == VK_COMPONENT_SWIZZLE_ONE);
    Bytes got(blocks.size()), wanted(blocks.size());
    Words status(3);
    REQUIRE(sluiceDownload(device().get(), parts[2], got.data(), got.size()) == SLUICE_OK);
    REQUIRE(sluiceDownload(device().get(), parts[3], status.data(), 12) == SLUICE_OK);
    for (size_t i = 0; i < blocks.size(); i += 16)
        sluice::cpu::transcodeUastc(SLUICE_UA_BC7, &blocks[i], &wanted[i]);
    CHECK(got == wanted);
    CHECK(status == Words{SLUICE_TILE_OK, 0, ~0u});
    for (const SluiceBuffer& part : parts)
        sluiceRelease(device().get(), part);
}

TEST_CASE("uastc regions: an empty list gets an empty summary")
{
    if (skipsOtherSizes()) return;
    Device& on = device();
    SluiceUastcInfo info = infoFor(on, 0);
    Buffer status(on, 8);
    info.status = status.range();
    runWithScratch(on, info, sluiceGetUastcRequirements, sluiceCmdUastc);
    CHECK(status.words() == Words{0, ~0u});
}

TEST_SUITE_END();
