// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/zstd_regions.h"

#include "api/plan_zstd.h"

#include <numeric>

namespace sluice::test {
namespace {

struct Batch {
    std::vector<size_t> cases; // their numbers
    bool checksums = false;
    std::shared_ptr<const Bytes> dictionary;
    uint32_t maxSize = 1, maxBlocks = 0;
};

// Returns a limit for the blocks of a region: a small one for a few blocks; their number if right
// frames have more than the default limit together; else the default limit.
uint32_t blocksOf(const ZstdCase& one)
{
    constexpr uint32_t few = 32;
    zstd::StructureReader reader(one.frames.data(), one.frames.size(), one.size, {});
    zstd::Block block;
    while (reader.next(block)) {
    }
    if (reader.blocks() <= few) return few;
    return reader.status() == SLUICE_ST_OK && reader.blocks() > SLUICE_ZS_EXTRA_BLOCKS
               ? reader.blocks()
               : 0;
}

// Puts cases of about the same size together, since all regions of a list get the same scratch.
std::vector<Batch> batchesOf(const std::vector<ZstdCase>& cases, size_t most)
{
    std::vector<uint32_t> blocks(cases.size());
    std::transform(cases.begin(), cases.end(), blocks.begin(), blocksOf);
    std::vector<size_t> order(cases.size());
    std::iota(order.begin(), order.end(), size_t(0));
    const auto key = [&](size_t i) {
        return std::make_tuple(cases[i].dictionary, cases[i].checksums, blocks[i], cases[i].size,
                               i);
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
    std::vector<Batch> batches;
    for (const size_t i : order) {
        const bool fits = !batches.empty() && batches.back().cases.size() < most &&
                          batches.back().dictionary == cases[i].dictionary &&
                          batches.back().checksums == cases[i].checksums &&
                          batches.back().maxBlocks == blocks[i] &&
                          cases[i].size / 4 <= cases[batches.back().cases[0]].size + 4000;
        if (!fits) batches.push_back({{}, cases[i].checksums, cases[i].dictionary, 1, blocks[i]});
        batches.back().cases.push_back(i);
        batches.back().maxSize = std::max(batches.back().maxSize, uint32_t(cases[i].size));
    }
    return batches;
}

void runBatch(Device& on, const std::vector<ZstdCase>& cases, const Batch& batch,
              uint32_t regionsAtOnce, Words& statuses)
{
    std::vector<SluiceRegion> regions;
    Bytes source;
    uint64_t output = 0;
    for (const size_t i : batch.cases) {
        // Every byte of a word is a beginning now and then.
        source.resize(source.size() + i % 3, 0xEE);
        regions.push_back({source.size(), output, cases[i].frames.size(), cases[i].size});
        append(source, cases[i].frames);
        output += (cases[i].size + 3) / 4 * 4;
    }
    source.resize((source.size() + 3) / 4 * 4 + 4, 0xEE);
    const uint32_t count = uint32_t(regions.size());
    Buffer from(on, source), to(on, std::max<uint64_t>(output, 4)), status(on, (count + 4) * 4);
    const uint64_t sourceAddress = from.address(), destinationAddress = to.address();
    std::vector<SluiceRegion> listed = regions;
    for (SluiceRegion& region : listed) {
        region.srcAddress += sourceAddress;
        region.dstAddress += destinationAddress;
    }
    listed.resize(count + 2, {1, 2, 3, 4}); // the list has fewer regions than it may have
    Buffer list(on, bytesOf(listed)), counted(on, Words{count});
    SluiceZstdInfo info = {};
    info.maxRegionCount = count + 2;
    info.regionStride = sizeof(SluiceRegion);
    info.flags = batch.checksums ? SLUICE_ZSTD_CHECKSUMS : 0;
    info.regionsAtOnce = regionsAtOnce;
    info.maxRegionSize = batch.maxSize;
    info.maxBlocks = batch.maxBlocks;
    info.regions = list.range();
    info.regionCount = counted.range();
    info.source = from.range();
    info.destination = to.range();
    info.status = status.range();
    Bytes given;
    if (batch.dictionary) given = *batch.dictionary;
    auto dictionary = std::make_unique<zstd::Dictionary>();
    const uint32_t damage = zstd::readDictionary(given.data(), given.size(), *dictionary);
    const uint64_t dictionarySize = given.size();
    // The dictionary begins at byte 0, 4 or 8 of its buffer.
    const uint64_t before = 4 * (batch.cases[0] % 3);
    Bytes padded(before, 0xEE);
    append(padded, given);
    padded.resize((padded.size() + 3) / 4 * 4 + 4, 0xEE);
    Buffer dictionaryBytes(on, padded);
    if (dictionarySize != 0) {
        info.dictionary = dictionaryBytes.range();
        info.dictionary.offset += before;
        info.dictionary.size = dictionarySize;
    }
    runWithScratch(on, info, sluiceGetZstdRequirements, sluiceCmdZstd);

    const Bytes bytes = to.bytes();
    const Words got = status.words();
    for (uint32_t k = 0; k < count; ++k) {
        const ZstdCase& one = cases[batch.cases[k]];
        Bytes wanted(one.size);
        cpu::ZstdRegion region = {};
        region.source = one.frames.data();
        region.sourceSize = one.frames.size();
        region.destination = wanted.data();
        region.size = one.size;
        region.checksums = one.checksums;
        region.maxBlocks = zstdMaxBlocks(info);
        region.dictionary = dictionary.get();
        cpu::ZstdOutcome outcome = {};
        if (damage == SLUICE_ST_OK)
            outcome = cpu::decodeZstd(region);
        else
            outcome.status = damage;
        const size_t number = batch.cases[k];
        CAPTURE(number);
        CAPTURE(std::string(one.test));
        CAPTURE(one.size);
        CHECK(got[k] == outcome.status);
        statuses[number] = got[k];
        const auto begin = bytes.begin() + ptrdiff_t(regions[k].dstAddress),
                   end = begin + ptrdiff_t(one.size);
        // Behind a frame with a wrong checksum, bytes are unspecified.
        if (outcome.status == SLUICE_ST_OK || outcome.status == SLUICE_ST_BAD_CHECKSUM)
            CHECK(std::equal(begin, begin + ptrdiff_t(outcome.bytes), wanted.begin()));
        const auto next = bytes.begin() + ptrdiff_t((regions[k].dstAddress + one.size + 3) / 4 * 4);
        CHECK(std::all_of(end, next, [](uint8_t byte) { return byte == Buffer::kPoison; }));
    }
    CHECK(got[count] == SLUICE_TILE_PENDING);
    CHECK(got[count + 1] == SLUICE_TILE_PENDING);
}

} // namespace

void needZstd(Device& on)
{
    SluicePipelinesInfo pipelines = {};
    pipelines.kernels = SLUICE_KERNELS_ZSTD;
    REQUIRE(sluiceCreatePipelines(on.context(), &pipelines, nullptr) == SLUICE_OK);
}

Words checkZstdCases(Device& on, const std::vector<ZstdCase>& cases, uint32_t regionsAtOnce,
                     size_t most)
{
    needZstd(on);
    Words statuses(cases.size());
    for (const Batch& batch : batchesOf(cases, most))
        runBatch(on, cases, batch, regionsAtOnce, statuses);
    return statuses;
}

} // namespace sluice::test
