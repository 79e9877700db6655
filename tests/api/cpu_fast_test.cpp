// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests what the fast CPU decoders promise beyond the bytes and statuses of the reference, which
// every device test compares: they read and write nothing outside a tile, and allocate nothing.
#include "tests/support/filters.h"
#include "tests/support/gdeflate_bit_writer.h"
#include "tests/support/gdeflate_tiles.h"
#include "tests/support/gstd_encoder.h"
#include "tests/support/streams.h"
#include "tests/support/zstd_maker.h"

#include <sluice/sluice_zstd.h>

#include "cpu/fast/filter.h"
#include "cpu/fast/gdeflate.h"
#include "cpu/fast/gstd.h"
#include "cpu/filter_undo.h"

#include <algorithm>
#include <new>

#include "tests/support/system.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// Counts how often this thread has allocated memory.
thread_local uint64_t allocations = 0;
// The number of the one that fails.
thread_local uint64_t failingAllocation = UINT64_MAX;

void* allocateOrNull(size_t size, size_t alignment)
{
    if (allocations++ == failingAllocation) return nullptr;
    const size_t rounded = (std::max<size_t>(size, 1) + alignment - 1) / alignment * alignment;
    return allocateAligned(alignment, rounded);
}

void* allocate(size_t size, size_t alignment)
{
    void* const memory = allocateOrNull(size, alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

} // namespace

// These replace the operators of the whole program, in all threads.
void* operator new(size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new[](size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(size_t size, std::align_val_t alignment)
{
    return allocate(size, size_t(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept
{
    return allocateOrNull(size, alignof(std::max_align_t));
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept
{
    return allocateOrNull(size, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept { freeAligned(memory); }
void operator delete[](void* memory) noexcept { freeAligned(memory); }
void operator delete(void* memory, size_t) noexcept { freeAligned(memory); }
void operator delete[](void* memory, size_t) noexcept { freeAligned(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { freeAligned(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { freeAligned(memory); }

namespace {

// Memory with an inaccessible page before it and after it.
class Pages {
public:
    explicit Pages(size_t size)
        : m_page(pageSize()), m_size((size + m_page - 1) / m_page * m_page),
          m_memory(mapMemory(m_size + 2 * m_page, false))
    {
        REQUIRE(m_memory != nullptr);
        REQUIRE(makeTouchable(m_memory + m_page, m_size));
    }
    ~Pages() { unmapMemory(m_memory, m_size + 2 * m_page); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    // The beginning of the memory, and its last `size` bytes.
    uint8_t* begin() { return m_memory + m_page; }
    uint8_t* last(size_t size) { return m_memory + m_page + m_size - size; }

private:
    size_t m_page, m_size;
    uint8_t* m_memory;
};

struct Places {
    Pages source{1 << 19}, destination{1 << 19};
};

// Calls run(source, destination) with the tile's bytes at the beginning of such memory, and at its
// end.
template <typename Run>
void atEnds(Places& places, const Bytes& bytes, size_t size, Run run)
{
    for (const bool isLast : {false, true}) {
        uint8_t* const source = isLast ? places.source.last(bytes.size()) : places.source.begin();
        std::copy(bytes.begin(), bytes.end(), source);
        run(source, isLast ? places.destination.last(size) : places.destination.begin());
    }
}

// Decodes tiles that lie directly beside an inaccessible page. Status and bytes must be those of
// the reference.
void decodeAtEnds(Places& places, const std::vector<Tile>& tiles, TileCodec codec)
{
    const std::vector<DecodedTile> expected = decodeOnHost(tiles, codec);
    std::vector<uint64_t> scratch(cpu::fast::kGstdScratchSize / 8 + 1);
    uint32_t good = 0, bad = 0;
    for (size_t i = 0; i < tiles.size(); ++i) {
        const Tile& tile = tiles[i];
        CAPTURE(tile.name);
        atEnds(places, tile.compressed, tile.size, [&](const uint8_t* source, uint8_t* to) {
            for (const bool isPortable : {false, true}) {
                CAPTURE(isPortable);
                const auto gdeflate = isPortable ? cpu::fast::decodeGdeflateTilePortably
                                                 : cpu::fast::decodeGdeflateTile;
                const auto gstd =
                    isPortable ? cpu::fast::decodeGstdTilePortably : cpu::fast::decodeGstdTile;
                std::fill_n(to, tile.size, uint8_t(0x5a));
                const size_t size = tile.compressed.size();
                const uint32_t status = codec == TileCodec::gstd
                                            ? gstd(source, size, to, tile.size, scratch.data())
                                            : gdeflate(source, size, to, tile.size);
                CHECK(status == expected[i].status);
                if (status == SLUICE_TILE_OK)
                    CHECK(std::equal(expected[i].bytes.begin(), expected[i].bytes.end(), to));
            }
        });
        good += expected[i].status == SLUICE_TILE_OK ? 1 : 0;
        bad += expected[i].status != SLUICE_TILE_OK ? 1 : 0;
    }
    CHECK(good > 0);
    CHECK(bad > 0);
}

// Adds tiles that end early, and tiles whose regions name another size.
std::vector<Tile> withDamage(const std::vector<Tile>& whole, std::mt19937& random)
{
    std::vector<Tile> tiles = whole;
    for (const Tile& tile : whole) {
        for (uint32_t cut = 0; cut < 12; ++cut) {
            Tile damaged = tile;
            damaged.name += ", damage " + std::to_string(cut);
            if (cut < 4)
                damaged.compressed.resize(1 + random() % tile.compressed.size());
            else if (cut < 6)
                damaged.size = 1 + uint32_t(random()) % tile.size;
            else
                for (uint32_t n = 0; n < 3; ++n)
                    damaged.compressed[random() % tile.compressed.size()] ^=
                        uint8_t(1u << random() % 8);
            tiles.push_back(damaged);
        }
    }
    return tiles;
}

Bytes someText(size_t size, std::mt19937& random)
{
    Bytes bytes;
    while (bytes.size() < size) {
        const size_t length = 3 + random() % 30;
        const size_t offset =
            bytes.size() > 8 ? 1 + random() % std::min<size_t>(bytes.size(), 900) : 0;
        for (size_t i = 0; i < length; ++i)
            bytes.push_back(offset != 0 && length > 8 ? bytes[bytes.size() - offset]
                                                      : uint8_t(random() % 40));
    }
    bytes.resize(size);
    return bytes;
}

} // namespace

TEST_CASE("cpu fast: gdeflate touches nothing outside of a tile")
{
    std::mt19937 random = makeRandom(481);
    Places places;
    std::vector<Tile> tiles;
    for (const GoldenStream& stream : goldenStreams())
        tiles.insert(tiles.end(), stream.tiles.begin(), stream.tiles.end());
    for (const uint32_t size : {1u, 2u, 31u, 33u, 100u})
        tiles.push_back(literalTile(size, random));
    decodeAtEnds(places, withDamage(tiles, random), TileCodec::gdeflate);
}

TEST_CASE("cpu fast: gstd touches nothing outside of a tile")
{
    std::mt19937 random = makeRandom(482);
    Places places;
    std::vector<Tile> tiles;
    for (const uint32_t level : {1u, 12u}) {
        GstdEncoder encoder(level, 4);
        for (const uint32_t size : {1u, 3u, 40u, 512u, 1000u, 5001u, 65537u, 140000u})
            tiles.push_back(
                {"text of " + std::to_string(size), encoder.encode(someText(size, random)), size});
        tiles.push_back({"zeros", encoder.encode(Bytes(70001)), 70001});
    }
    decodeAtEnds(places, withDamage(tiles, random), TileCodec::gstd);
}

TEST_CASE("cpu fast: filters touch nothing outside of a tile")
{
    std::mt19937 random = makeRandom(483);
    Places places;
    for (uint32_t i = 0; i < 600; ++i) {
        const uint32_t size = 1 + uint32_t(random()) % (i % 10 == 0 ? 20000 : 700);
        const Words description = randomDescription(random, size);
        const Bytes filtered = randomBytes(random, size);
        Bytes expected(size);
        const uint32_t wanted = cpu::undoFilter(description.data(), 4 * description.size(),
                                                filtered.data(), size, expected.data());
        atEnds(places, filtered, size, [&](const uint8_t* source, uint8_t* to) {
            CHECK(cpu::fast::undoFilter(description.data(), 4 * description.size(), source, size,
                                        to) == wanted);
            if (wanted == SLUICE_TILE_OK) CHECK(std::equal(expected.begin(), expected.end(), to));
        });
    }
}

TEST_CASE("cpu fast: streaming allocates nothing once a file is open")
{
    const PackedAsset asset = assetOfAllCodecs("a", 3);
    MemoryFile file(packArchive({asset}));
    CpuStreamer streamer(0);
    const SluiceStreamFile opened = streamer.open(file);
    Bytes out(asset.bytes.size());
    const SluiceStreamRequest request = fromArchive(opened, 0, 0, out.size(), out.data());
    SluiceStreamGroupInfo info = {};
    info.requests = &request;
    info.requestCount = 1;
    SluiceStreamGroup group = 0;
    SluiceStreamEvent event = {};
    const uint64_t before = allocations;
    SluiceStatus status = sluiceStreamSubmit(streamer.get(), &info, &group);
    for (uint32_t turns = 0; turns < 100000 && status == SLUICE_OK; ++turns) {
        status = sluiceStreamPump(streamer.get(), 1, nullptr);
        uint32_t count = 1;
        if (status == SLUICE_OK) status = sluiceStreamPoll(streamer.get(), &event, &count);
        if (count == 1 && event.kind == SLUICE_STREAM_END) break;
    }
    const uint64_t after = allocations;
    CHECK(status == SLUICE_OK);
    CHECK(event.status == SLUICE_OK);
    CHECK(event.group == group);
    CHECK(out == asset.bytes);
    CHECK(after == before);
    CHECK(allocations > 0); // it does count
}

TEST_CASE("cpu: zstd says OUT_OF_MEMORY, whichever allocation fails")
{
    ZstdMaker maker;
    maker.raw(counting(9));
    maker.coded({1, 2}, {{2, 4 + 3, 20}});
    Bytes frame = maker.frame();
    const size_t frameSize = frame.size();
    frame.resize((frameSize + 3) / 4 * 4);
    std::vector<uint32_t> status(3);
    Bytes out(maker.content.size());
    const auto rangeOf = [](auto& list) {
        return SluiceBuffer{uint64_t(uintptr_t(list.data())), 0, list.size() * sizeof list[0]};
    };
    std::vector<SluiceRegion> regions = {{uint64_t(uintptr_t(frame.data())),
                                          uint64_t(uintptr_t(out.data())), frameSize, out.size()}};
    SluiceZstdInfo info = {};
    info.maxRegionCount = 1;
    info.regionStride = sizeof(SluiceRegion);
    info.maxRegionSize = uint32_t(out.size());
    info.regions = rangeOf(regions);
    info.source = rangeOf(frame);
    info.destination = rangeOf(out);
    info.status = rangeOf(status);
    for (const char* tier : {"ref", "fast"}) {
        CAPTURE(tier);
        SluiceContext context = nullptr;
        REQUIRE(sluiceCreateCpuContextOfTier(tier, &context) == SLUICE_OK);
        uint32_t failures = 0;
        SluiceStatus result = SLUICE_ERROR_OUT_OF_MEMORY;
        for (; result == SLUICE_ERROR_OUT_OF_MEMORY && failures < 100; ++failures) {
            failingAllocation = allocations + failures;
            result = sluiceCmdZstd(context, {}, &info);
            failingAllocation = UINT64_MAX;
        }
        CHECK(result == SLUICE_OK);
        CHECK(status[0] == SLUICE_TILE_OK);
        CHECK(out == maker.content);
        CHECK(failures > 4); // at least the dictionary, the decoder, literals and sequences
        sluiceDestroyContext(context);
    }
}
