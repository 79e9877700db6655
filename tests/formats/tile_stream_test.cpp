// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the DirectStorage tile stream: its header, its table, what must be rejected, and that the
// parser reads what the writer writes.
#include <sluice/sluice_archive.h>
#include <sluice/sluice_encode.h>
#include <sluice/sluice_gdeflate.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "formats/archive_layout.h"
#include "test_paths.h"

namespace {

using Bytes = std::vector<uint8_t>;
using Tiles = std::vector<SluiceTileStreamTile>;
using sluice::loadLe32;
using sluice::storeLe32;

Bytes readFile(const std::string& name)
{
    std::ifstream file(std::string(SLUICE_TEST_DATA_DIR "/") + name, std::ios::binary);
    REQUIRE(file);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

SluiceStatus parse(const Bytes& bytes, SluiceTileStream& stream, Tiles& tiles)
{
    SluiceStatus status = sluiceParseTileStreamHeader(bytes.data(), bytes.size(), &stream);
    if (status != SLUICE_OK) {
        return status;
    }
    tiles.assign(stream.tileCount + 1, {});
    return sluiceParseTileStreamTable(&stream, bytes.data() + 8, bytes.size() - 8, bytes.size(),
                                      tiles.data());
}

SluiceStatus parse(const Bytes& bytes)
{
    SluiceTileStream stream;
    Tiles tiles;
    return parse(bytes, stream, tiles);
}

// Memory that serves as the writer's input and output.
struct Memory {
    const Bytes* input = nullptr;
    size_t at = 0;
    Bytes output;
    size_t failAfter = SIZE_MAX; // bytes read

    static SluiceStatus read(void* user, void* bytes, size_t size)
    {
        Memory& memory = *static_cast<Memory*>(user);
        if (memory.at + size > memory.failAfter) {
            return SLUICE_ERROR_IO;
        }
        REQUIRE(size <= memory.input->size() - memory.at);
        std::memcpy(bytes, memory.input->data() + memory.at, size);
        memory.at += size;
        return SLUICE_OK;
    }
    static SluiceStatus write(void* user, uint64_t offset, const void* bytes, size_t size)
    {
        Bytes& output = static_cast<Memory*>(user)->output;
        output.resize(std::max<size_t>(output.size(), size_t(offset) + size));
        std::memcpy(output.data() + offset, bytes, size);
        return SLUICE_OK;
    }
};

Bytes writeStream(const Bytes& input, uint32_t level, uint32_t threads, uint32_t decodeSpeed = 0)
{
    Memory memory;
    memory.input = &input;
    const SluiceTileStreamWriteInfo info = {input.size(), level,   decodeSpeed,   threads,
                                            Memory::read, &memory, Memory::write, &memory};
    uint64_t size = 0;
    REQUIRE(sluiceWriteTileStream(&info, &size) == SLUICE_OK);
    CHECK(size == memory.output.size());
    return memory.output;
}

} // namespace

TEST_CASE("tile stream: a stream of the reference encoder")
{
    const Bytes bytes = readFile("runs.bin.l12.gdeflate");
    SluiceTileStream stream;
    Tiles tiles;
    REQUIRE(parse(bytes, stream, tiles) == SLUICE_OK);
    CHECK(stream.tileCount == 3);
    CHECK(stream.size == 152247);
    CHECK(stream.dataOffset == 20);
    CHECK(tiles[0].offset == 20);
    CHECK(tiles[0].size == 65536);
    CHECK(tiles[2].size == 152247 - 2 * 65536);
    CHECK(tiles[1].offset == tiles[0].offset + tiles[0].compressedSize);
    CHECK(tiles[2].offset + tiles[2].compressedSize == bytes.size());
}

TEST_CASE("tile stream: every header rule")
{
    const Bytes good = readFile("runs.bin.l12.gdeflate");
    REQUIRE(parse(good) == SLUICE_OK);
    const auto header = [&](uint32_t first, uint32_t second) {
        Bytes bytes = good;
        storeLe32(bytes.data(), first);
        storeLe32(bytes.data() + 4, second);
        return parse(bytes);
    };
    const uint32_t first = loadLe32(good.data()), second = loadLe32(good.data() + 4);
    CHECK(header(first, second) == SLUICE_OK);
    CHECK(header(first ^ 1, second) == SLUICE_ERROR_FORMAT);     // id
    CHECK(header(first ^ 0x100, second) == SLUICE_ERROR_FORMAT); // id ^ 0xff
    // Tiles of another size, whatever else the header says.
    CHECK(header(first, second & ~3u) == SLUICE_ERROR_VERSION);
    CHECK(header(first, (second & ~3u) | 2) == SLUICE_ERROR_VERSION);
    CHECK(header(first, second | 3) == SLUICE_ERROR_VERSION);
    CHECK(header(first & 0xffff, (second & ~3u) | 2) == SLUICE_ERROR_VERSION);
    CHECK(header(first, second | 1u << 20) == SLUICE_ERROR_FORMAT); // reserved
    CHECK(header(first, second | 1u << 31) == SLUICE_ERROR_FORMAT);
    CHECK(header(first, 1 | 65537u << 2) == SLUICE_ERROR_FORMAT); // last tile larger than a tile
    CHECK(header(first, 1) == SLUICE_OK);                         // a full last tile
    CHECK(header(first & 0xffff, second) == SLUICE_ERROR_FORMAT); // a last tile, but no tiles
    for (size_t size = 0; size < good.size(); ++size) {
        CHECK(parse(Bytes(good.begin(), good.begin() + ptrdiff_t(size))) ==
              SLUICE_ERROR_BUFFER_SIZE);
    }
    CHECK(sluiceParseTileStreamHeader(good.data(), 8, nullptr) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("tile stream: an identifier is any byte and its complement")
{
    Bytes bytes = readFile("runs.bin.l12.gdeflate");
    for (uint32_t id = 0; id < 0x10000; ++id) {
        bytes[0] = uint8_t(id);
        bytes[1] = uint8_t(id >> 8);
        REQUIRE(parse(bytes) == (bytes[0] + bytes[1] == 0xff ? SLUICE_OK : SLUICE_ERROR_FORMAT));
    }
}

TEST_CASE("tile stream: zero tiles")
{
    const Bytes empty = {4, 0xfb, 0, 0, 1, 0, 0, 0};
    SluiceTileStream stream;
    Tiles tiles;
    CHECK(parse(empty, stream, tiles) == SLUICE_OK);
    CHECK(stream.size == 0);
    Bytes more = empty;
    more.push_back(0);
    CHECK(parse(more) == SLUICE_ERROR_FORMAT);
    CHECK(writeStream({}, 9, 1) == empty);
}

TEST_CASE("tile stream: wrong tables")
{
    const Bytes good = readFile("runs.bin.l12.gdeflate");
    const auto entry = [&](size_t i, uint32_t value) {
        Bytes bytes = good;
        storeLe32(bytes.data() + 8 + 4 * i, value);
        return parse(bytes);
    };
    const uint32_t last = loadLe32(good.data() + 8), second = loadLe32(good.data() + 12),
                   third = loadLe32(good.data() + 16);
    CHECK(entry(0, last) == SLUICE_OK);
    CHECK(entry(0, last + 4) == SLUICE_ERROR_BUFFER_SIZE); // past the end
    CHECK(entry(0, last - 4) == SLUICE_ERROR_FORMAT);      // bytes after the end
    CHECK(entry(0, 0) == SLUICE_ERROR_FORMAT);
    CHECK(entry(0, 0xffffffff) == SLUICE_ERROR_FORMAT);
    CHECK(entry(1, 0) == SLUICE_ERROR_FORMAT);              // tile 0 of no bytes
    CHECK(entry(1, second + 1) == SLUICE_ERROR_FORMAT);     // not aligned
    CHECK(entry(1, third) == SLUICE_ERROR_FORMAT);          // tile 1 of no bytes
    CHECK(entry(1, third + 4) == SLUICE_ERROR_FORMAT);      // backwards
    CHECK(entry(2, third + 131072) == SLUICE_ERROR_FORMAT); // a tile over the limit
    Bytes longer = good;
    longer.push_back(0);
    CHECK(parse(longer) == SLUICE_ERROR_FORMAT);
}

TEST_CASE("tile stream: what the writer writes parses and decodes, whatever the thread count")
{
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    for (const size_t size :
         {size_t(1), size_t(65535), size_t(65536), size_t(65537), size_t(400001)}) {
        const uint32_t decodeSpeed = size == 400001 ? 4 : 0;
        Bytes input(size);
        for (size_t i = 0; i < size; ++i) {
            input[i] = uint8_t(i * i >> (i / 5000 % 24)); // soft and hard parts
        }
        const Bytes stream = writeStream(input, 3, 1, decodeSpeed);
        CHECK(writeStream(input, 3, 3, decodeSpeed) == stream);
        CHECK((writeStream(input, 3, 1) != stream) == (decodeSpeed != 0));
        SluiceTileStream header;
        Tiles tiles;
        REQUIRE(parse(stream, header, tiles) == SLUICE_OK);
        REQUIRE(header.size == size);

        std::vector<uint32_t> source(stream.size() / 4), output((size + 3) / 4),
            status(header.tileCount + 2);
        REQUIRE(stream.size() % 4 == 0);
        std::memcpy(source.data(), stream.data(), stream.size());
        std::vector<SluiceRegion> regions;
        for (uint32_t i = 0; i < header.tileCount; ++i) {
            regions.push_back({reinterpret_cast<uintptr_t>(source.data()) + tiles[i].offset,
                               reinterpret_cast<uintptr_t>(output.data()) + uint64_t(i) * 65536,
                               tiles[i].compressedSize, tiles[i].size});
        }
        const auto range = [](auto& words) {
            return SluiceBuffer{reinterpret_cast<uintptr_t>(words.data()), 0,
                                words.size() * sizeof(words[0])};
        };
        SluiceGdeflateInfo info = {};
        info.maxRegionCount = header.tileCount;
        info.regionStride = sizeof(SluiceRegion);
        info.regions = range(regions);
        info.source = range(source);
        info.destination = range(output);
        info.status = range(status);
        REQUIRE(sluiceCmdGdeflate(context, nullptr, &info) == SLUICE_OK);
        CHECK(status[header.tileCount] == 0);
        CHECK(std::memcmp(output.data(), input.data(), size) == 0);
    }
    sluiceDestroyContext(context);
}

TEST_CASE("tile stream: a reader that fails ends the writer")
{
    const Bytes input(300000, 7);
    for (const uint32_t threads : {1u, 3u}) {
        Memory memory;
        memory.input = &input;
        memory.failAfter = 200000;
        SluiceTileStreamWriteInfo info = {input.size(),  1,      0, threads, Memory::read, &memory,
                                          Memory::write, &memory};
        CHECK(sluiceWriteTileStream(&info, nullptr) == SLUICE_ERROR_IO);
        info.level = 13;
        CHECK(sluiceWriteTileStream(&info, nullptr) == SLUICE_ERROR_ARGUMENT);
        info.level = 1;
        info.decodeSpeed = SLUICE_GDEFLATE_MAX_DECODE_SPEED + 1;
        CHECK(sluiceWriteTileStream(&info, nullptr) == SLUICE_ERROR_ARGUMENT);
        info.decodeSpeed = 0;
        info.size = uint64_t(65536) * 65536;
        CHECK(sluiceWriteTileStream(&info, nullptr) == SLUICE_ERROR_ARGUMENT);
    }
}
