// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of the UASTC transcoder: random blocks of mode 0, which nearly all blocks of photographs
// have, and blocks of random modes, so that neighbouring blocks take different branches.
#include <sluice/sluice_uastc.h>

#include <iterator>
#include <random>

#include "tools/bench/rows.h"

namespace sluice {
namespace {

constexpr struct {
    uint32_t format, bytes; // a VkFormat, the bytes of a block
    const char* name;
} kTargets[] = {{145, 16, "BC7"}, {157, 16, "ASTC"}, {37, 64, "RGBA8"},
                {131, 8, "BC1"},  {137, 16, "BC3"},  {151, 16, "ETC2"}};

// Returns random valid blocks. With allModes their modes are random too; otherwise all have mode 0.
Bytes blocksOf(uint32_t count, bool allModes)
{
    // For each mode: its code, the number of bits of the code, and the position in the block of the
    // highest bit of the pattern's index (0: no pattern). If that bit is 0, the index is valid.
    static constexpr struct {
        uint8_t code, bits, patternEnd;
    } codes[] = {{0x01, 4, 0}, {0x35, 6, 0},  {0x1d, 5, 24}, {0x03, 5, 23}, {0x13, 5, 24},
                 {0x0b, 5, 0}, {0x1b, 5, 0},  {0x07, 5, 24}, {0x17, 5, 0},  {0x0f, 5, 32},
                 {0x02, 3, 0}, {0x00, 2, 0},  {0x06, 3, 0},  {0x1f, 5, 0},  {0x0d, 5, 0},
                 {0x05, 7, 0}, {0x15, 6, 33}, {0x25, 6, 0},  {0x09, 4, 0}};
    std::mt19937 random(1);
    Bytes blocks(size_t(16) * count);
    for (uint8_t& byte : blocks)
        byte = uint8_t(random() >> 13);
    for (uint32_t i = 0; i < count; ++i) {
        const auto& code = codes[allModes ? random() % std::size(codes) : 0];
        uint8_t& first = blocks[size_t(16) * i];
        first = uint8_t((first & ~((1u << code.bits) - 1)) | code.code);
        if (code.patternEnd != 0)
            blocks[size_t(16) * i + code.patternEnd / 8] &= uint8_t(~(1u << code.patternEnd % 8));
    }
    return blocks;
}

} // namespace

void benchUastc(const BenchDevice& device, BenchReport& report)
{
    // Levels of 1,024 x 1,024 texels.
    const uint32_t levels = device.isGpu() ? 64 : 1, blocks = 65536;
    for (const bool allModes : {false, true}) {
        const char* size = allModes ? "modes mixed" : "mode 0";
        if (!report.hasTime("uastc", size)) return;
        const DeviceBuffer source = device.allocate(blocksOf(levels * blocks, allModes)),
                           status = device.allocate((levels + 2) * 4);
        std::vector<BenchRow> rows;
        for (const auto& target : kTargets) {
            const uint64_t made = uint64_t{blocks} * target.bytes;
            const DeviceBuffer out = device.allocate(levels * made);
            std::vector<SluiceUastcRegion> regions;
            for (uint32_t i = 0; i < levels; ++i)
                regions.push_back({source.address() + uint64_t{i} * blocks * 16,
                                   out.address() + i * made, 1024, 1024});
            const DeviceBuffer list = device.allocate(regions);
            SluiceUastcInfo info = {};
            info.maxRegionCount = levels;
            info.regionStride = sizeof(SluiceUastcRegion);
            info.maxRegionBlocks = blocks;
            info.format = target.format;
            info.regions = list.whole();
            info.source = source.whole();
            info.destination = out.whole();
            info.status = status.whole();
            const DeviceBuffer scratch = device.allocateScratch(sluiceGetUastcRequirements, info);
            info.scratch = scratch.whole();
            const auto record = [&](SluiceCommands commands, uint32_t) {
                require(sluiceCmdUastc(device.context(), commands, &info), "uastc");
            };
            device.runOnce(record);
            Words statuses(levels + 2);
            device.download(status.whole(), statuses.data(), status.size());
            if (statuses[levels] != 0) throw Failure{exitDevice, "uastc: a block is invalid"};
            rows.push_back({"uastc", size, std::string("sluice, to ") + target.name,
                            levels * (uint64_t{blocks} * 16 + made), device.time(1, record)});
        }
        report.addGroup(rows);
    }
}

} // namespace sluice
