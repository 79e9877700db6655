// SPDX-License-Identifier: MIT OR Apache-2.0
// The tiles that the benchmark decodes, and the bytes that must come out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sluice/sluice_formats.h>

namespace sluice {

// Tiles of one codec laid out as they go to the device: every tile starts 16-byte aligned in
// source, its output in expected.
struct TileSet {
    struct Tile {
        uint64_t sourceOffset, outputOffset;
        uint32_t compressedSize, size;
        uint32_t filterOffset, filterSize; // of its description in filters; size 0: none
        uint32_t checksum;
    };
    std::string description;
    std::vector<Tile> tiles;
    std::vector<uint8_t> source;
    std::vector<uint8_t> filters;
    std::vector<uint8_t> expected;
    uint64_t compressedBytes = 0; // without the gaps; with descriptions of filters
    uint64_t outputBytes = 0;
};

// path: a tile stream, a .sluice archive or any other file, which is packed at level 12 and
// decodeSpeed, with GSTD as `sluice pack` packs it; empty: made-up data, packed likewise. codec:
// GDEFLATE or GSTD; tiles of other codecs are left out, stored ones too, which say nothing about a
// decoder. None may be left. About maxOutput bytes of output at most; the description says so where
// a file has more. Throws a Failure.
TileSet loadTileSet(const std::string& path, SluiceCodec codec, uint64_t maxOutput,
                    uint32_t decodeSpeed);

// What the decodes are compared with: a command by the CPU reference, on the host's own bytes. For
// threads: throws nothing.
template <class T>
SluiceBuffer hostBuffer(std::vector<T>& data)
{
    return {reinterpret_cast<uintptr_t>(data.data()), 0, data.size() * sizeof(T)};
}
template <class Info>
SluiceStatus runOnCpu(SluiceStatus (*command)(SluiceContext, SluiceCommands, const Info*),
                      const Info& info)
{
    SluiceContext context = nullptr;
    SluiceStatus result = sluiceCreateCpuContext(&context);
    if (result == SLUICE_OK) result = command(context, nullptr, &info);
    sluiceDestroyContext(context);
    return result;
}

} // namespace sluice
