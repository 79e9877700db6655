// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the decode of Zstandard frames on every device against the reference: statuses and bytes.
#include "api/plan_zstd.h"
#include "tests/support/arguments.h"
#include "tests/support/short_runs.h"
#include "tests/support/zstd_frames.h"
#include "tests/support/zstd_maker.h"
#include "tests/support/zstd_regions.h"

#include <vulkan/vulkan.h>

#include <sluice/sluice_vulkan.h>

#include <set>

namespace example {
#include "tests/consumers/readme/zstd.cpp"
} // namespace example

using namespace sluice::test;

namespace {

// Software devices are slow with large frames, SwiftShader above all.
size_t largestSize()
{
    SluiceDeviceProperties properties = {};
    sluiceGetDeviceProperties(device().get(), &properties);
    if (!isSoftware()) return 4000000;
    const bool slow = std::string(properties.name).find("SwiftShader") != std::string::npos &&
                      environmentNumber("SLUICE_MUTATIONS", 100) < 1000;
    return slow ? 20000 : 200000;
}

// Returns whether a short run has to take few frames.
bool isSlow() { return largestSize() < 100000; }

// Returns random frames that follow every rule, most of them small.
std::vector<ZstdCase> generated(uint32_t count, uint32_t salt, size_t largest)
{
    std::mt19937 random = makeRandom(salt);
    ZstdGenerator generator(random);
    std::vector<ZstdCase> cases;
    while (cases.size() < count) {
        const ZstdGenerator::Made made = generator.frame();
        if (made.content.size() <= largest || cases.size() % 100 == 0)
            cases.push_back({made.frame, made.content.size(), random() % 2 == 0, ""});
    }
    return cases;
}

// Returns frames in which each match copies the one before it, or itself, at small and large
// offsets, so that a byte is a copy of a copy and so on, thousands of times.
std::vector<ZstdCase> chains()
{
    std::vector<ZstdCase> cases;
    for (const uint32_t offset : {1u, 2u, 3u, 4u, 5u, 31u, 32u, 255u, 1023u, 2047u, 2048u, 2049u})
        for (const uint32_t match : {3u, 4u, 7u, 40000u}) {
            ZstdMaker maker;
            const uint32_t bytes = isSoftware() ? 12000 : 120000;
            std::vector<ZstdSequence> sequences = {{offset, offset + 3, match}};
            for (uint32_t made = offset + match; made < bytes; made += match)
                sequences.push_back({0, offset + 3, match});
            maker.raw(counting(2)); // so that blocks begin inside words
            maker.coded(counting(offset + 5), sequences);
            maker.rle(7, 5);
            maker.coded(counting(3 + offset), {{offset, offset + 3, match}, {1, offset + 3, 3}});
            cases.push_back({maker.frame(), maker.content.size(), false, ""});
        }
    return cases;
}

} // namespace

TEST_CASE("zstd arguments: each bad one gives the error that the header names")
{
    Cpu cpu;
    SluiceZstdInfo info = {};
    info.maxRegionCount = 3;
    info.regionStride = 40;
    info.maxRegionSize = 64;
    info.regions = cpu.range(0, 112); // 2 * 40 + 32
    info.regionCount = cpu.range(128, 4);
    info.source = cpu.range(192, 64);
    info.destination = cpu.range(320, 64);
    info.status = cpu.range(448, 20);
    const auto call = [&] { return sluiceCmdZstd(cpu.context, nullptr, &info); };
    CHECK(sluiceCmdZstd(nullptr, nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdZstd(cpu.context, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdZstd(cpu.context, someCommands(), &info) == SLUICE_ERROR_ARGUMENT);
    checkBuffer(info.regions, 112, 8, false, call);
    checkBuffer(info.regionCount, 4, 4, true, call);
    checkBuffer(info.source, 0, 4, true, call);
    checkBuffer(info.destination, 0, 4, true, call);
    checkBuffer(info.status, 20, 4, false, call);
    info.dictionary = cpu.range(256, 33);
    checkBuffer(info.dictionary, 0, 4, true, call);
    info.dictionary = cpu.range(316, 8); // over the destination
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.dictionary = cpu.range(256, uint64_t(SLUICE_ZSTD_MAX_REGION_SIZE) + 1);
    CHECK(call() == SLUICE_ERROR_BUFFER_SIZE);
    info.dictionary = {};
    const auto with = [&](uint32_t SluiceZstdInfo::*member, uint32_t value) {
        SluiceZstdInfo changed = info;
        changed.*member = value;
        SluiceRequirements requirements = {};
        const SluiceStatus status = sluiceCmdZstd(cpu.context, nullptr, &changed);
        if (member != &SluiceZstdInfo::regionStride)
            CHECK(sluiceGetZstdRequirements(cpu.context, &changed, &requirements) == status);
        return status;
    };
    for (const uint32_t stride : {0u, 28u, 33u})
        CHECK(with(&SluiceZstdInfo::regionStride, stride) == SLUICE_ERROR_ARGUMENT);
    for (const uint32_t flags : {2u, 3u, 1u << 31})
        CHECK(with(&SluiceZstdInfo::flags, flags) == SLUICE_ERROR_ARGUMENT);
    for (const uint32_t size : {0u, SLUICE_ZSTD_MAX_REGION_SIZE + 1})
        CHECK(with(&SluiceZstdInfo::maxRegionSize, size) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceZstdInfo::maxRegionSize, SLUICE_ZSTD_MAX_REGION_SIZE) == SLUICE_OK);
    CHECK(with(&SluiceZstdInfo::maxBlocks, SLUICE_ZSTD_MAX_BLOCKS + 1) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceZstdInfo::maxBlocks, SLUICE_ZSTD_MAX_BLOCKS) == SLUICE_OK);
    info.destination = cpu.range(192, 4); // over the source
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("zstd regions: a context has no pipelines for them unless it is asked by name")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) return skipCase("no pipelines");
    if (skipsSlowCompiler()) return;
    Device fresh(device().selector(), device().info().tier,
                 environmentNumber("SLUICE_TEST_VALIDATION", 1), SLUICE_KERNELS_FSE);
    REQUIRE(fresh.isOpen());
    Buffer zeros(fresh, Bytes(64)), out(fresh, 64), status(fresh, 8);
    SluiceZstdInfo info = {};
    info.regionStride = sizeof(SluiceRegion);
    info.maxRegionSize = 64;
    info.source = zeros.range();
    info.destination = out.range();
    info.status = status.range();
    fresh.run([&](SluiceCommands commands) {
        CHECK(sluiceCmdZstd(fresh.context(), commands, &info) == SLUICE_ERROR_NOT_READY);
    });
    CHECK((fresh.info().kernels & SLUICE_KERNELS_ZSTD) == 0);
    needZstd(fresh);
    CHECK((fresh.info().kernels & SLUICE_KERNELS_ZSTD) != 0);
    fresh.run([&](SluiceCommands commands) {
        CHECK(sluiceCmdZstd(fresh.context(), commands, &info) == SLUICE_OK);
    });
    CHECK(status.words() == Words{0, ~0u});
}

TEST_CASE("zstd regions: more blocks than the command allows give LIMIT")
{
    ZstdMaker maker;
    for (uint32_t i = 0; i < 4; ++i)
        maker.raw(counting(3));
    Bytes frames = maker.frame();
    append(frames, maker.frame()); // the limit is for all frames together
    needZstd(device());
    Bytes source = frames;
    source.resize((source.size() + 3) / 4 * 4);
    for (const uint32_t most : {1u, 4u, 7u, 8u, 9u}) {
        CAPTURE(most);
        Buffer from(device(), source), to(device(), 24), status(device(), 12);
        Buffer list(device(), bytesOf(std::vector<SluiceRegion>{
                                  {from.address(), to.address(), frames.size(), 24}}));
        SluiceZstdInfo info = {};
        info.maxRegionCount = 1;
        info.regionStride = sizeof(SluiceRegion);
        info.maxRegionSize = 24;
        info.maxBlocks = most;
        info.regions = list.range();
        info.source = from.range();
        info.destination = to.range();
        info.status = status.range();
        runWithScratch(device(), info, sluiceGetZstdRequirements, sluiceCmdZstd);
        CHECK(status.words()[0] == uint32_t(most < 8 ? SLUICE_TILE_LIMIT : SLUICE_TILE_OK));
    }
}

TEST_CASE("zstd regions: more blocks than a dispatch walks over and places")
{
    if (skipsOtherSizes()) return;
    if (isSlow()) return skipCase("a slow device");
    std::vector<ZstdCase> cases;
    for (uint32_t last = 0; last < 3; ++last) {
        Bytes frames, content;
        for (uint32_t i = 0; i < 3; ++i) {
            ZstdMaker maker;
            for (uint32_t k = 0; k < 4000; ++k)
                maker.raw({});
            maker.coded(fewLetters(20), {{4, 7, 10}, {3, 1, 3}});
            ZstdHeader header;
            header.checksum = true;
            append(frames, maker.frame(header));
            append(content, maker.content);
        }
        if (last == 1) frames.back() ^= 1;
        if (last == 2) frames.pop_back(); // then this list has the limit for a single frame
        cases.push_back({frames, content.size(), true, ""});
    }
    CHECK(checkZstdCases(device(), cases) ==
          Words{SLUICE_TILE_OK, SLUICE_TILE_BAD_CHECKSUM, SLUICE_TILE_LIMIT});
}

TEST_CASE("zstd trap: 17 full blocks of literals, and of sequences")
{
    if (skipsOtherSizes()) return;
    if (isSlow()) return skipCase("a slow device");
    std::vector<ZstdCase> cases;
    for (const bool literals : {true, false}) {
        ZstdMaker maker;
        ZstdSequences sequences(43690, {0, 1, 3}); // 3 bytes at the first repeated offset
        sequences[0] = {2, 2 + 3, 3};
        for (uint32_t i = 0; i < 17; ++i) {
            if (literals)
                maker.coded(fewLetters(SLUICE_ZS_BLOCK_BYTES), {}, nullptr,
                            i == 0 ? SLUICE_ZS_LITERALS_HUFFMAN : SLUICE_ZS_LITERALS_TREELESS, 4);
            else
                maker.coded({1, 2}, sequences);
        }
        ZstdHeader header;
        header.checksum = true;
        cases.push_back({maker.frame(header), maker.content.size(), true, ""});
    }
    for (const uint32_t status : checkZstdCases(device(), cases))
        CHECK(status == SLUICE_TILE_OK);
}

TEST_CASE("zstd regions: checksums of more bytes than a dispatch hashes")
{
    ZstdMaker maker;
    maker.rle(1, 131072);
    maker.rle(2, 131072);
    maker.raw(counting(77));
    ZstdHeader header;
    header.checksum = true;
    const Bytes frame = maker.frame(header);
    Bytes wrong = frame, frames = frame;
    wrong.back() ^= 1;
    append(frames, zstdSkippable(3, counting(9)));
    append(frames, frame);
    Bytes second = frame, first = wrong;
    append(second, wrong);
    append(first, frame);
    const size_t size = 2 * maker.content.size();
    CHECK(checkZstdCases(
              device(),
              {{frames, size, true, ""}, {second, size, true, ""}, {first, size, true, ""}}) ==
          Words{SLUICE_TILE_OK, SLUICE_TILE_BAD_CHECKSUM, SLUICE_TILE_BAD_CHECKSUM});
}

TEST_CASE("zstd regions: a fault of a later frame does not hide a wrong checksum before it")
{
    ZstdMaker good, bad;
    good.raw(counting(50));
    bad.raw(counting(9));
    ZstdBlockParts parts = bad.parts(fewLetters(20), {{4, 4 + 3, 10}});
    parts.bits = zstdSequenceBits({{4, 300 + 3, 10}}, bad.state.tables); // too far
    bad.add(SLUICE_ZS_COMPRESSED, parts.joined());
    ZstdHeader header;
    header.checksum = true;
    Bytes wrong = good.frame(header);
    wrong.back() ^= 1;
    const size_t size = good.content.size() + bad.content.size();
    std::vector<ZstdCase> cases;
    for (const Bytes& first : {good.frame(header), wrong}) {
        Bytes frames = first;
        append(frames, bad.frame(header));
        cases.push_back({frames, size, true, ""});
        cases.push_back({frames, size + 1, true, ""}); // a size that is found before the offset
        cases.push_back({frames, size, false, ""});
    }
    CHECK(checkZstdCases(device(), cases) ==
          Words{SLUICE_TILE_BAD_OFFSET, SLUICE_TILE_TOO_SHORT, SLUICE_TILE_BAD_OFFSET,
                SLUICE_TILE_BAD_CHECKSUM, SLUICE_TILE_BAD_CHECKSUM, SLUICE_TILE_BAD_OFFSET});
}

TEST_CASE("zstd regions: generated frames decode as by the reference")
{
    const uint32_t count = std::max(500u, 5 * environmentNumber("SLUICE_MUTATIONS", 100));
    const std::vector<ZstdCase> cases = generated(count, 890, isSoftware() ? 20000 : 1000000);
    for (const uint32_t status : checkZstdCases(device(), cases))
        CHECK(status == SLUICE_TILE_OK);
}

TEST_CASE("zstd regions: mutated frames have the reference's statuses, nothing beside is written")
{
    std::mt19937 random = makeRandom(891);
    const uint32_t count =
        isSlow() ? 400 : std::max(400u, 10 * environmentNumber("SLUICE_MUTATIONS", 100));
    const std::vector<ZstdCase> whole = generated(count / 10 + 1, 892, 5000);
    std::vector<ZstdCase> cases;
    for (uint32_t i = 0; i < count; ++i) {
        ZstdCase one = whole[i / 10];
        const size_t first = random() % 2 == 0 ? 40 : 4000;
        const size_t at = random() % std::min(one.frames.size(), first);
        switch (random() % 5) {
        case 0: one.frames.resize(std::max<size_t>(at, 1)); break;
        case 1: one.frames.erase(one.frames.begin() + ptrdiff_t(at)); break;
        case 2: one.frames[at] = uint8_t(random()); break;
        case 3: one.frames[at] ^= uint8_t(1 << random() % 8); break;
        default: one.size = random() % 2 == 0 ? one.size + 1 : one.size / 2; break;
        }
        if (one.size <= 5000) cases.push_back(one);
    }
    const Words statuses = checkZstdCases(device(), cases);
    const std::set<uint32_t> found(statuses.begin(), statuses.end());
    for (const uint32_t status :
         {SLUICE_TILE_OK, SLUICE_TILE_TRUNCATED, SLUICE_TILE_BAD_CODE, SLUICE_TILE_BAD_OFFSET,
          SLUICE_TILE_TOO_LONG, SLUICE_TILE_TOO_SHORT, SLUICE_TILE_BAD_CHECKSUM}) {
        CAPTURE(status);
        CHECK(found.count(status) == 1);
    }
}

TEST_CASE("zstd regions: the traps and errors of the format, as on the host")
{
    if (skipsOtherSizes()) return;
    std::vector<ZstdCase> taken;
    uint32_t number = 0;
    for (const ZstdTestCase& test : zstdTestCases()) {
        std::vector<ZstdCase> cases;
        collectedZstdCases() = &cases;
        test.run();
        collectedZstdCases() = nullptr;
        for (ZstdCase& one : cases) {
            one.test = test.name;
            if (one.size <= largestSize() && (!isSlow() || number % 16 == 0)) taken.push_back(one);
            ++number;
        }
    }
    CHECK(taken.size() > (isSlow() ? 60 : 1000));
    checkZstdCases(device(), taken);
}

TEST_CASE("zstd regions: every number of slots gives the same bytes")
{
    const std::vector<ZstdCase> cases = generated(20, 893, 3000);
    for (const uint32_t slots : {1u, 3u, 20u, 1000u}) {
        CAPTURE(slots);
        checkZstdCases(device(), cases, slots);
    }
}

// Returns cases of which some need as much of the pool as a region of their size can, and others
// next to nothing. Each fourth has a damaged header, an empty list of blocks or a short frame.
std::vector<ZstdCase> casesOfAllNeeds(uint32_t count)
{
    constexpr uint32_t size = 3000;
    ZstdSequences shortest(size / 3 - 1, {0, 1, 3}); // 3 bytes at the first repeated offset
    shortest[0] = {2, 2 + 3, 3};
    ZstdMaker full, coded, raw;
    full.coded({1, 2, 3}, shortest);
    coded.coded(fewLetters(size), {}, nullptr, SLUICE_ZS_LITERALS_HUFFMAN, 4);
    raw.rle(7, size);
    std::vector<ZstdCase> cases;
    for (uint32_t i = 0; i < count; ++i) {
        ZstdMaker& maker = i % 3 == 0 ? full : i % 3 == 1 ? raw : coded;
        Bytes frame = maker.frame({});
        if (i % 8 == 3) frame[0] ^= 1;
        if (i % 8 == 7) frame.resize(frame.size() - i % 5);
        cases.push_back({frame, maker.content.size(), true, ""});
    }
    return cases;
}

TEST_CASE("zstd regions: turns take as many regions as have room, whatever each needs")
{
    const std::vector<ZstdCase> cases = casesOfAllNeeds(100);
    for (const uint32_t slots : {1u, 2u, 7u, 50u}) {
        CAPTURE(slots);
        checkZstdCases(device(), cases, slots);
    }
}

TEST_CASE("zstd regions: more regions than a round has")
{
    if (isSlow()) return skipCase("a slow device");
    const std::vector<ZstdCase> cases = casesOfAllNeeds(4096 + 40);
    checkZstdCases(device(), cases, 900, cases.size());
}

TEST_CASE("zstd regions: large regions, whose bytes are found by following links")
{
    if (skipsOtherSizes()) return;
    Device other(device().selector(), device().info().tier,
                 environmentNumber("SLUICE_TEST_VALIDATION", 1), SLUICE_KERNELS_ZSTD,
                 "zstd.expandBytes=0");
    if (device().backend() == SLUICE_BACKEND_CPU) return skipCase("no tuning");
    REQUIRE(other.isOpen());
    std::vector<ZstdCase> cases = generated(100, 894, 20000);
    const std::vector<ZstdCase> chained = chains();
    cases.insert(cases.end(), chained.begin(), chained.end());
    checkZstdCases(other, cases);
}

TEST_CASE("zstd regions: the longest chains of copies, near and over many groups of bytes")
{
    const std::vector<ZstdCase> cases = chains();
    CHECK(checkZstdCases(device(), cases) == Words(cases.size(), SLUICE_TILE_OK));
}

TEST_CASE("zstd regions: sequences of more than 63 bits, among short ones and alone")
{
    if (isSlow()) return skipCase("the frames have 300,000 bytes");
    std::vector<ZstdCase> cases;
    for (const uint32_t before : {0u, 5u, 31u, 32u, 40u}) {
        // 15 bits for the literals, 16 for the match, 17 for the offset, and 17 for states of the predefined tables,
        // in which these symbols are rare.
        const ZstdSequence longest = {34000, 150000 + SLUICE_ZS_REPEATS, 66000};
        ZstdMaker maker;
        maker.raw(counting(100000));
        maker.raw(counting(100000));
        ZstdSequences sequences(before, {1, 9 + SLUICE_ZS_REPEATS, 4});
        sequences.push_back(longest);
        sequences.resize(sequences.size() + 40, {2, 77 + SLUICE_ZS_REPEATS, 5});
        maker.coded(counting(34000 + before + 80), sequences);
        maker.coded(counting(34010), {longest, {3, 4 + SLUICE_ZS_REPEATS, 3}});
        cases.push_back({maker.frame(), maker.content.size(), false, ""});
    }
    CHECK(checkZstdCases(device(), cases) == Words(cases.size(), SLUICE_TILE_OK));
}

TEST_CASE("embedding example: Zstandard frames")
{
    const Bytes file = fromHex("28b52ffd 2005 290000 68656c6c6f 000000");
    SluiceZstdInfo info = {};
    info.maxRegionCount = 1;
    info.maxRegionSize = 5;
    SluiceRequirements need = {};
    REQUIRE(sluiceGetZstdRequirements(device().context(), &info, &need) == SLUICE_OK);
    SluiceBuffer parts[5];
    const uint64_t sizes[5] = {file.size(), 8, sizeof(SluiceRegion), 12, need.scratchSize + 4};
    for (uint32_t i = 0; i < 5; ++i) {
        REQUIRE(sluiceAllocate(device().get(), sizes[i], &parts[i]) == SLUICE_OK);
        REQUIRE(parts[i].offset == 0);
    }
    const auto handle = [&](uint32_t i) { return VkBuffer(uintptr_t(parts[i].handle)); };
    const SluiceRegion region = {sluiceGetAddress(device().get(), parts[0]),
                                 sluiceGetAddress(device().get(), parts[1]), 14, 5};
    REQUIRE(sluiceUpload(device().get(), parts[0], file.data(), file.size()) == SLUICE_OK);
    REQUIRE(sluiceUpload(device().get(), parts[2], &region, sizeof region) == SLUICE_OK);
    example::ZstdBuffers buffers = {handle(2), handle(0),   handle(1), handle(3),
                                    handle(4), file.size(), 8,         need.scratchSize};
    device().run([&](SluiceCommands commands) {
        if (need.scratchSize != 0) { // the CPU needs none
            --buffers.scratchSize;
            const SluiceStatus status =
                example::recordZstd(device().context(), commands, buffers, 1, 5);
            CHECK(status == SLUICE_ERROR_BUFFER_SIZE);
            ++buffers.scratchSize;
        }
        CHECK(example::recordZstd(device().context(), commands, buffers, 1, 5) == SLUICE_OK);
    });
    char bytes[8] = {};
    Words status(3);
    REQUIRE(sluiceDownload(device().get(), parts[1], bytes, 8) == SLUICE_OK);
    REQUIRE(sluiceDownload(device().get(), parts[3], status.data(), 12) == SLUICE_OK);
    CHECK(std::string(bytes, 5) == "hello");
    CHECK(status == Words{SLUICE_TILE_OK, 0, ~0u});
    for (const SluiceBuffer& part : parts)
        sluiceRelease(device().get(), part);
}

TEST_CASE("zstd regions: regions outside their buffers, unaligned, empty, too large")
{
    needZstd(device());
    ZstdMaker maker;
    maker.raw(counting(40));
    const Bytes frame = maker.frame();
    Bytes source = frame;
    source.resize(128);
    Buffer from(device(), source), to(device(), 256);
    const uint64_t in = from.address(), out = to.address(), size = frame.size();
    const std::vector<SluiceRegion> regions = {{in, out, size, 40},
                                               {in - 1, out + 40, size, 40},
                                               {in + 120, out + 40, size, 40},
                                               {in, out + 42, size, 40},
                                               {in, out + 220, size, 40},
                                               {in, out - 4, size, 40},
                                               {in, out + 40, 0, 40},
                                               {in, out + 40, size, 65},
                                               {in, out + 40, 1ull << 33, 40},
                                               {in, out + 40, size, 1ull << 32 | 40},
                                               {in, out + 40, size, 40}};
    Buffer list(device(), bytesOf(regions)), status(device(), (regions.size() + 2) * 4);
    SluiceZstdInfo info = {};
    info.maxRegionCount = uint32_t(regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.maxRegionSize = 64;
    info.maxBlocks = 1;
    info.regions = list.range();
    info.source = from.range();
    info.destination = to.range();
    info.status = status.range();
    runWithScratch(device(), info, sluiceGetZstdRequirements, sluiceCmdZstd);
    Words wanted(regions.size(), SLUICE_TILE_BAD_REGION);
    wanted.front() = wanted.back() = SLUICE_TILE_OK;
    wanted.insert(wanted.end(), {uint32_t(regions.size() - 2), 1});
    CHECK(status.words() == wanted);
    Bytes bytes = counting(40);
    append(bytes, counting(40));
    bytes.resize(256, Buffer::kPoison);
    CHECK((to.bytes() == bytes));
}

TEST_SUITE_END();
