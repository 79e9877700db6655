// SPDX-License-Identifier: MIT OR Apache-2.0
// DirectDraw surfaces of compressed blocks: each mip level is an image whose records are blocks.
#include "filter_plan.h"

#include "../formats/little_endian.h"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

enum class Blocks {
    none,
    bc1,
    bc2,
    bc3,
    bc4,
    bc5,
    bc7
};

constexpr u32 fourCC(const char (&text)[5])
{
    u32 code = 0;
    for (u32 i = 0; i < 4; ++i)
        code |= u32(u8(text[i])) << 8 * i;
    return code;
}

// dxgi: a DXGI_FORMAT. Each kind of blocks has three in a row: typeless, unorm and one more.
Blocks blocksOf(u32 code, u32 dxgi)
{
    if (code == fourCC("DXT1")) return Blocks::bc1;
    if (code == fourCC("DXT2") || code == fourCC("DXT3")) return Blocks::bc2;
    if (code == fourCC("DXT4") || code == fourCC("DXT5")) return Blocks::bc3;
    if (code == fourCC("ATI1") || code == fourCC("BC4U") || code == fourCC("BC4S"))
        return Blocks::bc4;
    if (code == fourCC("ATI2") || code == fourCC("BC5U") || code == fourCC("BC5S"))
        return Blocks::bc5;
    if (code != fourCC("DX10")) return Blocks::none;
    if (dxgi >= 70 && dxgi <= 84) return Blocks(u32(Blocks::bc1) + (dxgi - 70) / 3);
    return dxgi >= 97 && dxgi <= 99 ? Blocks::bc7 : Blocks::none;
}

// Adds two end points of 8 bits and 48 bits of indices.
void addAlphaBlock(FilterPart& part)
{
    addColumns(part.section, 2, 1);
    addColumns(part.section, 1, 2);
    addColumns(part.section, 1, 4);
    part.choices.groups.insert(part.choices.groups.end(), {2, 2});
}

// Adds two end points of 16 bits and 32 bits of indices.
void addColourBlock(FilterPart& part)
{
    part.choices.firstBase = part.choices.firstBlock = part.section.columnCount;
    part.choices.baseCount = 1;
    part.choices.blockCount = 3;
    addColumns(part.section, 2, 2);
    addColumns(part.section, 1, 4);
    part.choices.groups.insert(part.choices.groups.end(), {2, 1});
}

void addBlockColumns(Blocks blocks, FilterPart& part)
{
    switch (blocks) {
    case Blocks::bc1: addColourBlock(part); break;
    case Blocks::bc2:
        addColumns(part.section, 2, 4); // alpha
        part.choices.groups = {2};
        addColourBlock(part);
        break;
    case Blocks::bc3:
        addAlphaBlock(part);
        addColourBlock(part);
        break;
    case Blocks::bc4: addAlphaBlock(part); break;
    case Blocks::bc5:
        addAlphaBlock(part);
        addAlphaBlock(part);
        break;
    default: addColumns(part.section, 16, 1); break;
    }
}

} // namespace

FilterParts findDdsParts(const u8* bytes, u64 size)
{
    if (size < 148 || std::memcmp(bytes, "DDS ", 4) != 0 || loadLe32(bytes + 4) != 124) return {};
    const u32 code = loadLe32(bytes + 84), height = loadLe32(bytes + 12),
              width = loadLe32(bytes + 16);
    const u32 mips = std::clamp(loadLe32(bytes + 28), 1u, 16u);
    const Blocks blocks = blocksOf(code, loadLe32(bytes + 128));
    if (blocks == Blocks::none || width == 0 || height == 0 || width > 65536 || height > 65536)
        return {};
    FilterPartList list(size);
    u64 at = code == fourCC("DX10") ? 148 : 128;
    for (u32 layer = 0; layer < 4096 && at < size; ++layer) { // of an array or a cube
        for (u32 mip = 0; mip < mips && at < size; ++mip) {
            FilterPart part;
            part.begin = at;
            addBlockColumns(blocks, part);
            const u64 stride = part.section.stride();
            part.section.width = divideUp(std::max(1u, width >> mip), 4u);
            part.size =
                u64(part.section.width) * divideUp(std::max(1u, height >> mip), 4u) * stride;
            part.size = std::min(part.size, (size - at) / stride * stride);
            part.choices.predictors = kRows;
            part.follows = mip != 0;
            if (part.size == 0) break;
            at += part.size;
            list.add(std::move(part));
        }
    }
    return list.finish();
}

} // namespace sluice
