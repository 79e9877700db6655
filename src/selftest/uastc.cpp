// SPDX-License-Identifier: MIT OR Apache-2.0
// The self-test of the UASTC transcoder.
#include <sluice/sluice_uastc.h>

#include "selftest/cases.h"

namespace sluice::selftest {
namespace {

constexpr uint32_t kWidth = 122, kHeight = 83, kBlocks = 31 * 21;

// Returns random blocks that go through all modes. One block in 40 has the reserved mode, so it is
// invalid.
Bytes blocks()
{
    // The code of each mode, which is in a block's lowest bits, and last the reserved code.
    static constexpr uint8_t codes[] = {0x01, 0x35, 0x1d, 0x03, 0x13, 0x0b, 0x1b, 0x07, 0x17, 0x0f,
                                        0x02, 0x00, 0x06, 0x1f, 0x0d, 0x05, 0x15, 0x25, 0x09, 0x45};
    static constexpr uint8_t bits[] = {4, 6, 5, 5, 5, 5, 5, 5, 5, 5, 3, 2, 3, 5, 5, 7, 6, 6, 4, 7};
    Random random(23);
    Bytes made = random.bytes(size_t(16) * kBlocks);
    for (uint32_t i = 0; i < kBlocks; ++i) {
        const uint32_t mode = i % 40 == 39 ? 19 : i % 19, mask = (1u << bits[mode]) - 1;
        uint8_t& first = made[size_t(16) * i];
        first = uint8_t((first & ~mask) | codes[mode]);
    }
    return made;
}

struct Target {
    uint32_t format, flags, bytes;
};
constexpr Target kTargets[] = {
    {145, 0, 16}, {157, 0, 16}, {37, 0, 64},  {131, 0, 8},
    {137, 0, 16}, {139, 0, 8},  {141, 0, 16}, {141, SLUICE_UASTC_SECOND_IS_ALPHA, 16},
    {147, 0, 8},  {151, 0, 16}};

void transcode(CaseBuffers& on, const Bytes& content, const Target& target, bool inPlace)
{
    // A level, its first 6 rows of blocks, a single block, an empty region (an error), and one long
    // row.
    const std::vector<std::pair<uint32_t, uint32_t>> sizes = {
        {kWidth, kHeight}, {kWidth, 24}, {1, 1}, {0, 4}, {4 * kBlocks, 4}};
    SluiceUastcInfo info = {};
    info.maxRegionCount = inPlace ? 1 : uint32_t(sizes.size());
    info.regionStride = sizeof(SluiceUastcRegion);
    info.maxRegionBlocks = kBlocks;
    info.format = target.format;
    info.flags = target.flags;
    info.source = inPlace ? on.guarded(content) : on.input(content);
    const uint64_t room = uint64_t(kBlocks) * target.bytes;
    info.destination = inPlace ? info.source : on.output(room * sizes.size());
    std::vector<SluiceUastcRegion> list;
    for (uint32_t i = 0; i < info.maxRegionCount; ++i)
        list.push_back({on.address(info.source), on.address(info.destination) + room * i,
                        sizes[i].first, sizes[i].second});
    info.regions = on.input(list);
    info.status = on.output((uint64_t(info.maxRegionCount) + 2) * 4);
    info.invalid = on.output(uint64_t(info.maxRegionCount) * sizeof(SluiceUastcInvalid));
    on.addScratch(info, sluiceGetUastcRequirements);
    on.run(sluiceCmdUastc, info);
    on.take(info.status);
    on.take(info.invalid);
    on.take(info.destination);
}

} // namespace

template <>
void SelfTestCases::test<SelfTestCase::uastc>(CaseBuffers& on)
{
    const Bytes content = blocks();
    for (const Target& target : kTargets) {
        transcode(on, content, target, false);
        if (target.bytes == 16) transcode(on, content, target, true);
    }
}

} // namespace sluice::selftest
