// SPDX-License-Identifier: MIT OR Apache-2.0
// The cases for status words, checksums and the decoders of GDeflate, tile streams and Gstd.
#include "selftest/cases.h"

#include <algorithm>

#include <sluice/sluice_archive.h>
#include <sluice/sluice_fse.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>
#include <sluice/sluice_tile_streams.h>

#include "encode/gdeflate/gdeflate_block.h"
#include "encode/archive/tile_encoder.h"

namespace sluice::selftest {

namespace {

// Makes test data, a fifth of each kind: letters from a to h, repeats with some bytes changed, runs
// of one byte, noise, and records of 12 bytes. Encoders make every kind of block or part from it.
Bytes madeUpBytes(size_t size, uint32_t seed)
{
    Random random(seed);
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) {
        const auto noise = uint8_t(random.next());
        switch (i * 5 / size) {
        case 0: bytes[i] = uint8_t("abcdefgh"[noise >> 5]); break;
        case 1: bytes[i] = i >= 700 && noise > 8 ? bytes[i - 700] : noise; break;
        case 2: bytes[i] = uint8_t(i / 9000); break;
        case 3: bytes[i] = noise; break;
        default: bytes[i] = uint8_t((i >= 12 ? bytes[i - 12] : 0) + noise % 4); break;
        }
    }
    return bytes;
}

uint32_t checksumOf(const Bytes& bytes) { return sluiceTileChecksum(bytes.data(), bytes.size()); }

// Encodes `size` made-up bytes with the codec and level of `segment`, and adds the tile to the
// list. Returns the tile's compressed bytes.
Bytes addEncoded(TileList& list, const SluiceArchiveSegment& segment, uint32_t size,
                 SluiceStatus& status)
{
    const Bytes bytes = madeUpBytes(size, size);
    Bytes stream;
    if (status == SLUICE_OK) status = TileEncoders().encode(segment, bytes.data(), size, stream);
    list.add(stream, size, checksumOf(bytes));
    return stream;
}

constexpr uint64_t wholeWords(uint64_t size) { return (size + 3) / 4 * 4; }

} // namespace

void TileList::add(const Bytes& stream, uint64_t size, uint32_t checksum)
{
    regions.push_back({source.size(), outputSize, stream.size(), size});
    checksums.push_back(checksum);
    source.insert(source.end(), stream.begin(), stream.end());
    source.resize(wholeWords(source.size()));
    outputSize += wholeWords(size) + 4; // leave a gap between tiles
}

void TileList::addEmpty(uint32_t count)
{
    regions.resize(regions.size() + count);
    checksums.resize(regions.size());
}

void TileList::repeat(const TileList& list, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; ++i) {
        const SluiceRegion& region = list.regions[i];
        const auto begin = list.source.begin() + ptrdiff_t(region.srcAddress);
        add(Bytes(begin, begin + ptrdiff_t(region.compressedSize)), region.decompressedSize,
            list.checksums[i]);
    }
}

namespace {

// Uploads a list and sets the members of `info` that describe it. If `more` is not 0, `more`
// meaningless regions follow the list. The count in regionCount leaves them out, so that the
// command must not read them.
template <typename Info>
void giveTiles(CaseBuffers& on, const TileList& list, const SluiceBuffer& destination, Info& info,
               uint32_t more = 0)
{
    info.maxRegionCount = uint32_t(list.regions.size()) + more;
    info.regionStride = sizeof(SluiceRegion) + 8;
    info.source = on.input(list.source);
    info.destination = destination;
    Words sums = list.checksums;
    sums.resize(info.maxRegionCount);
    info.expected = on.input(sums);
    Words words;
    for (SluiceRegion region : list.regions) {
        if (region.decompressedSize != 0) {
            region.srcAddress += on.address(info.source);
            region.dstAddress += on.address(info.destination);
        }
        // Entries are 8 bytes longer than a region, to test regionStride.
        const Words own = wordsOf(std::vector<SluiceRegion>{region});
        words.insert(words.end(), own.begin(), own.end());
        words.insert(words.end(), 2, 0x12345678u);
    }
    words.resize(words.size() + more * size_t(info.regionStride) / 4, 0x87654321u);
    info.regions = on.input(words);
    if (more != 0) info.regionCount = on.input(Words{uint32_t(list.regions.size())});
    info.status = on.output((uint64_t(info.maxRegionCount) + 2) * 4);
}

// Returns whether the output of a tile with this status is specified. It is if the tile was decoded
// completely (OK, BAD_CHECKSUM) or not at all (BAD_REGION, PENDING).
bool isSpecified(uint32_t status)
{
    return status == SLUICE_TILE_OK || status == SLUICE_TILE_BAD_CHECKSUM ||
           status == SLUICE_TILE_BAD_REGION || status == SLUICE_TILE_PENDING;
}

// Appends the statuses and the specified bytes of the destination to the results. rowBytes and
// rowPitch: the members of SluiceGdeflateInfo, 0 for commands without them.
template <typename Info>
void takeTiles(CaseBuffers& on, const TileList& list, const Info& info, uint32_t rowBytes = 0,
               uint32_t rowPitch = 0)
{
    on.take(info.status);
    Words statuses(list.regions.size() + 2);
    const Bytes words = on.read(info.status);
    if (on.status != SLUICE_OK) return;
    std::memcpy(statuses.data(), words.data(), list.regions.size() * 4);
    on.take(info.destination, [&](uint8_t* bytes) {
        for (size_t i = 0; i < list.regions.size(); ++i) {
            const SluiceRegion& region = list.regions[i];
            const uint64_t end =
                std::min(region.dstAddress + region.decompressedSize, list.outputSize);
            for (uint64_t at = region.dstAddress; at < end && !isSpecified(statuses[i]); ++at)
                bytes[rowBytes == 0 ? at : at / rowBytes * rowPitch + at % rowBytes] =
                    CaseBuffers::kPoison;
        }
    });
}

} // namespace

// Tests that a command sets its statuses to PENDING. The lists have no regions, so no later step
// changes the statuses. The command is the FSE table builder, because it is small.
template <>
void SelfTestCases::test<SelfTestCase::status>(CaseBuffers& on)
{
    for (const uint32_t count : {5000u, 1u, 0u}) {
        SluiceFseTablesInfo info = {};
        info.maxRegionCount = count;
        info.regionStride = sizeof(SluiceRegion);
        info.maxSymbols = 1;
        info.maxLog = SLUICE_FSE_MIN_LOG;
        info.regions = on.input(Bytes(count * sizeof(SluiceRegion)));
        info.regionCount = on.input(Words{0});
        info.source = info.destination = on.input(Words(4));
        info.status = on.output((uint64_t(count) + 2) * 4);
        on.run(sluiceCmdFseTables, info);
        on.take(info.status);
    }
}

// Compares the checksums of a long list of tiles of many sizes, with right and wrong checksums all
// over the list. Does this for a linear destination and for two row lengths of a pitched one.
template <>
void SelfTestCases::test<SelfTestCase::checksum>(CaseBuffers& on)
{
    for (const uint32_t rowBytes : {0u, 260u, 12u}) {
        Random random(7);
        const uint32_t rowPitch = rowBytes == 0 ? 0 : rowBytes + 20;
        const Bytes bytes = random.bytes(1900000);
        constexpr uint32_t count = 2500;
        constexpr uint32_t given[] = {SLUICE_TILE_OK, SLUICE_TILE_UNVERIFIED, SLUICE_TILE_OK,
                                      SLUICE_TILE_TRUNCATED, SLUICE_TILE_PENDING};
        TileList list;
        Words statuses;
        uint64_t at = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const bool fails = i % 50 == 0; // each 50th tile is large and fails
            uint32_t size = 1 + random.below(fails ? 5000 : 200);
            if (i == 3) size = 300001;
            if (i == 4) size = 1048577; // larger than a tile may be
            // Tile 5 has an address that is not aligned.
            if (i == 5) at += 2;
            if (at + size > bytes.size()) break;
            const uint32_t sum = sluiceTileChecksum(bytes.data() + at, size);
            list.regions.push_back({0, at, 0, size});
            const bool isRight = !fails && random.below(3) != 0;
            list.checksums.push_back(isRight ? sum : sum ^ 1u << random.below(32));
            const uint32_t status = given[random.below(5)];
            statuses.push_back(fails ? +SLUICE_TILE_OK : status);
            if (i < 3 || i > 5) at = wholeWords(at + size);
            if (i == 5) at -= 2;
            if (i == 3) at = 300004;
        }
        list.regions.back().dstAddress = bytes.size() - 2; // the last tile reaches past the end
        // The statuses end with a summary, as an earlier decode leaves it: 17 tiles have failed,
        // and the first of them is tile 5. The command must update it.
        statuses.insert(statuses.end(), {17, 5});
        SluiceChecksumInfo info = {};
        info.maxRegionCount = uint32_t(list.regions.size());
        info.regionStride = sizeof(SluiceRegion);
        info.rowBytes = rowBytes;
        info.rowPitch = rowPitch;
        Bytes pitched;
        for (uint64_t row = 0; rowBytes != 0 && row < bytes.size() / rowBytes; ++row) {
            const auto begin = bytes.begin() + ptrdiff_t(row * rowBytes);
            pitched.insert(pitched.end(), begin, begin + rowBytes);
            pitched.resize(pitched.size() + rowPitch - rowBytes, 0x5c);
        }
        info.destination = on.guarded(rowBytes == 0 ? bytes : pitched);
        for (SluiceRegion& region : list.regions)
            region.dstAddress += on.address(info.destination);
        info.regions = on.input(list.regions);
        info.regionCount = on.input(Words{info.maxRegionCount - 3});
        info.expected = on.input(list.checksums);
        info.status = on.guarded(bytesOf(statuses));
        on.run(sluiceCmdChecksum, info);
        on.take(info.status);
        on.take(info.destination);
    }
}

// --- GDeflate

namespace {

using gdeflate::Token;

// Writes a GDeflate tile block by block, so that it can have blocks that no encoder would choose.
class BlockTile {
public:
    BlockTile() : m_words(60000), m_writer(m_words.data()) {}

    Bytes bytes; // the decoded bytes of the blocks so far

    // Adds a stored block with random bytes. `final` makes it the tile's last block.
    void addStored(uint32_t size, uint32_t seed, bool final)
    {
        const Bytes noise = Random(seed).bytes(size);
        bytes.insert(bytes.end(), noise.begin(), noise.end());
        gdeflate::writeStoredBlocks(m_writer, noise.data(), size, final);
    }
    // Adds a block with static codes or, if `dynamic`, with dynamic codes. It has literals, and
    // near and far matches, some of which overlap their own output.
    void addCoded(uint32_t size, uint32_t seed, bool dynamic, bool final)
    {
        const std::vector<Token> tokens = madeUpTokens(bytes.size() + size, seed);
        const auto count = uint32_t(tokens.size());
        if (!dynamic) return gdeflate::writeStaticBlock(m_writer, tokens.data(), count, final);
        gdeflate::Histogram histogram;
        histogram.count(tokens.data(), count);
        gdeflate::DynamicCodes codes;
        codes.build(histogram, {});
        gdeflate::writeDynamicBlock(m_writer, codes, tokens.data(), count, final);
    }
    // Adds a block with a single match, which ends the tile.
    void addMatch(Token match) { gdeflate::writeStaticBlock(m_writer, &match, 1, true); }
    void addEmpty() { gdeflate::writeStaticBlock(m_writer, nullptr, 0, false); }

    // Ends the tile and returns its compressed bytes.
    Bytes stream()
    {
        const uint32_t count = m_writer.finish();
        Bytes result(count * size_t(4));
        std::memcpy(result.data(), m_words.data(), result.size());
        return result;
    }

private:
    // Makes random tokens (literals and matches), and appends their decoded bytes to `bytes` until
    // it has the size `end`.
    std::vector<Token> madeUpTokens(size_t end, uint32_t seed)
    {
        Random random(seed);
        std::vector<Token> tokens;
        while (bytes.size() < end) {
            const size_t left = end - bytes.size(), kind = random.below(8);
            if (bytes.size() < 8 || left < 3 || kind < 3) {
                tokens.push_back({0, uint16_t(random.below(256))});
                bytes.push_back(uint8_t(tokens.back().value));
                continue;
            }
            const uint32_t reach[] = {0, 0, 0, 4, 40, 600, 30000, 65535};
            const size_t far = std::min<size_t>(reach[kind], bytes.size());
            const uint32_t longest = random.below(100) == 0 ? 3000 : kind == 3 ? 300 : 30;
            const size_t length = std::min<size_t>(3 + random.below(longest), left),
                         distance = 1 + random.below(uint32_t(far));
            tokens.push_back({uint16_t(length), uint16_t(distance)});
            for (size_t i = 0; i < length; ++i)
                bytes.push_back(bytes[bytes.size() - distance]);
        }
        return tokens;
    }

    std::vector<uint32_t> m_words;
    gdeflate::LaneWriter m_writer;
};

// The list of GDeflate tiles begins with kGoodTiles valid tiles, of which the first kSmallTiles are
// small.
constexpr size_t kGoodTiles = 7, kSmallTiles = 2;

} // namespace

// Makes the list of GDeflate tiles: valid ones with every kind of block, the small ones first, then
// one for each possible error.
const TileList& SelfTestCases::gdeflateTiles(SluiceStatus& status)
{
    TileList& list = m_gdeflate;
    if (!list.regions.empty()) return list;
    SluiceArchiveSegment segment = {};
    segment.codec = SLUICE_CODEC_GDEFLATE;
    segment.level = 9;
    Bytes some;
    for (const uint32_t size : {1u, 500u, 20001u, 65536u}) {
        const Bytes stream = addEncoded(list, segment, size, status);
        if (size == 20001) some = stream;
    }
    for (uint32_t first = 0; first < 3; ++first) {
        BlockTile tile;
        for (uint32_t i = 0; i < 3; ++i) {
            const uint32_t kind = (first + i) % 3, size = i == 2 ? 65536 - 42001 : 21000 + i;
            if (kind == 0)
                tile.addStored(size, 11 + i, i == 2);
            else
                tile.addCoded(size, 11 + i, kind == 2, i == 2);
        }
        list.add(tile.stream(), tile.bytes.size(), checksumOf(tile.bytes));
    }

    list.add(Bytes(some.begin(), some.begin() + ptrdiff_t(some.size() / 8 * 4)), 20001, 0);
    list.add(some, 20001 - 5, 0);
    list.add(some, 20001 + 5, 0);
    list.add(some, 20001, 1);
    some[0] |= 6; // set the block type to 3, which is not allowed
    list.add(some, 20001, 0);
    BlockTile limit, offset;
    for (uint32_t i = 0; i <= gdeflate::kMaxBlocks; ++i)
        limit.addEmpty();
    list.add(limit.stream(), 100, 0);
    offset.addMatch({3, 1});
    list.add(offset.stream(), 3, 0);
    list.add(some, 65537, 0);
    list.regions.back().dstAddress += 2;
    // This region reaches far past the end of the source, even after the source of more tiles has
    // been appended.
    list.regions.push_back({list.source.size() - 4, list.outputSize, 1u << 20, 100});
    list.checksums.push_back(0);
    list.outputSize += 104;
    if (status != SLUICE_OK) list = {};
    return list;
}

// Decodes the tiles in a long list, then some tiles next to a stored one, then tiles into rows.
template <>
void SelfTestCases::test<SelfTestCase::gdeflate>(CaseBuffers& on)
{
    // There are tiles at both ends of the list, so that statuses all over it are tested.
    TileList list = gdeflateTiles(on.status);
    list.addEmpty(2200);
    list.repeat(m_gdeflate, 0, kSmallTiles + 1);
    SluiceGdeflateInfo info = {};
    giveTiles(on, list, on.output(list.outputSize), info, 20);
    on.run(sluiceCmdGdeflate, info);
    takeTiles(on, list, info);

    // Decode a list with a stored tile between compressed ones.
    TileList stored;
    stored.repeat(m_gdeflate, 0, kSmallTiles);
    stored.add(Random(9).bytes(20003), 20003, 0);
    stored.repeat(m_gdeflate, kGoodTiles, 1);
    SluiceGdeflateInfo plain = {};
    giveTiles(on, stored, on.output(stored.outputSize), plain);
    plain.expected = {0, 0, 0};
    plain.flags = SLUICE_DECODE_STORED_IF_EQUAL;
    on.run(sluiceCmdGdeflate, plain);
    takeTiles(on, stored, plain);

    // Decode into rows too: on some devices the same pipeline does both, and both are to be tested.
    test<SelfTestCase::gdeflate_pitched>(on);
}

// Decodes the tiles into rows with gaps between them.
template <>
void SelfTestCases::test<SelfTestCase::gdeflate_pitched>(CaseBuffers& on)
{
    struct Rows {
        uint32_t bytes, pitch;
    };
    for (const Rows rows : {Rows{1020, 1024}, Rows{12, 36}, Rows{70000, 70400}}) {
        TileList list;
        list.repeat(gdeflateTiles(on.status), 0, kGoodTiles + 2);
        // Addresses in regions do not count the gaps between rows. The last tile does not fit.
        list.outputSize -= 6000;
        SluiceGdeflateInfo info = {};
        giveTiles(
            on, list,
            on.output(list.outputSize / rows.bytes * rows.pitch + list.outputSize % rows.bytes),
            info);
        info.rowBytes = rows.bytes;
        info.rowPitch = rows.pitch;
        on.run(sluiceCmdGdeflate, info);
        takeTiles(on, list, info, rows.bytes, rows.pitch);
    }
}

// On Vulkan the driver's own decoder does the work. All tiles are valid, since the driver need not
// report bad ones. The empty regions are invalid, but sluice's kernel removes them before the
// driver sees the list. The checksums turn UNVERIFIED into OK, so statuses are the same on all
// devices.
template <>
void SelfTestCases::test<SelfTestCase::gdeflate_by_driver>(CaseBuffers& on)
{
    TileList list;
    list.repeat(gdeflateTiles(on.status), 0, kGoodTiles);
    for (uint32_t i = 0; i < 300; ++i) {
        list.repeat(m_gdeflate, i % kSmallTiles, 1);
        list.addEmpty(7);
    }
    SluiceGdeflateInfo info = {};
    giveTiles(on, list, on.output(list.outputSize), info, 20);
    const SluiceContextInfo context = on.contextInfo();
    if (context.backend == SLUICE_BACKEND_VULKAN) info.flags = SLUICE_DECODE_BY_DRIVER;
    if (info.flags != 0 && context.driverRegionLimit < info.maxRegionCount)
        on.status = SLUICE_ERROR_UNSUPPORTED;
    on.addScratch(info, sluiceGetGdeflateRequirements);
    on.run(sluiceCmdGdeflate, info);
    takeTiles(on, list, info);
}

namespace {

// Decodes the streams again, from a list that gives each as a pair of offsets (from and to). The
// list has two pairs more than maxStreamCount.
void takeStreamPairs(CaseBuffers& on, SluiceTileStreamsInfo info,
                     const std::vector<SluiceStreamRange>& ranges, uint64_t outputSize)
{
    Words pairs = {uint32_t(ranges.size())};
    for (const SluiceStreamRange& range : ranges) {
        pairs.push_back(uint32_t(range.sourceOffset));
        pairs.push_back(uint32_t(range.destinationOffset));
    }
    info.flags = SLUICE_TILE_STREAMS_PAIRS;
    info.maxStreamCount = uint32_t(ranges.size()) - 2;
    info.streams = on.input(pairs);
    info.streamCount = {};
    info.destination = on.output(outputSize);
    info.results = on.output(uint64_t(info.maxStreamCount) * sizeof(SluiceStreamResult) +
                             sizeof(SluiceStreamSummary));
    on.addScratch(info, sluiceGetTileStreamsRequirements);
    on.run(sluiceCmdTileStreams, info);
    on.take(info.results);
}

} // namespace

// Decodes a long list of streams: some with one tile, some with many, empty ones and, for each rule
// of the format, streams that break it.
template <>
void SelfTestCases::test<SelfTestCase::tile_streams>(CaseBuffers& on)
{
    const TileList& tiles = gdeflateTiles(on.status);
    Words source;
    std::vector<SluiceStreamRange> ranges;
    uint64_t output = 0;
    // Adds a stream of these tiles. The last one decodes to lastSize bytes, the others to 64 KiB.
    const auto add = [&](const std::vector<Bytes>& streams, uint32_t lastSize) {
        const auto count = uint32_t(streams.size());
        const uint64_t size = count == 0 ? 0 : (count - 1) * uint64_t(65536) + lastSize;
        const size_t begin = source.size();
        // Try every identifier byte; the first stream has the usual one, 4.
        const uint32_t id = (4 + uint32_t(ranges.size())) % 256;
        source.push_back(id | (id ^ 0xff) << 8 | count << 16);
        source.push_back(1u | (count == 0 ? 0 : lastSize % 65536) << 2);
        size_t end = 0;
        // The table: entry 0 is the size of the last tile, entry i the end of tile i - 1.
        for (size_t i = 0; i < count; ++i) {
            source.push_back(i == 0 ? uint32_t(streams.back().size()) : uint32_t(end));
            end += streams[i].size();
        }
        for (const Bytes& stream : streams) {
            source.resize(source.size() + (stream.size() + 3) / 4);
            std::memcpy(&source[source.size() - (stream.size() + 3) / 4], stream.data(),
                        stream.size());
        }
        ranges.push_back({begin * 4, (source.size() - begin) * 4, output, size});
        output += wholeWords(size) + 4;
    };
    const auto streamOf = [&](size_t i) {
        TileList one;
        one.repeat(tiles, i, 1);
        return one.source;
    };
    // Add a stream with enough tiles that their regions take more than 4 KiB, so that a kernel
    // that writes only the first 4 KiB gives wrong results. All tiles are copies of a small one,
    // which has a block of 1,000 bytes and one long match.
    constexpr uint32_t kRunTiles = 170;
    BlockTile run;
    run.addCoded(1000, 3, true, false);
    run.addMatch({64536, 1000});
    const Bytes full = run.stream();
    add(std::vector<Bytes>(kRunTiles, full), 65536);
    for (size_t i = 0; i < tiles.regions.size() && i < kGoodTiles + 5; ++i)
        add({streamOf(i)}, uint32_t(tiles.regions[i].decompressedSize));
    add({streamOf(3), streamOf(4), streamOf(5), streamOf(1)}, 500);
    const std::vector<SluiceStreamRange> good = ranges;
    for (uint32_t i = 0; i < 3000; ++i) {
        add({}, 0);
        if (i % 10 == 9) { // add a stream that breaks a rule
            SluiceStreamRange bad = good[1 + i / 10 % 5];
            switch (i / 10 % 8) {
            case 0: bad.sourceSize = 9; break;
            case 1: bad.sourceSize += 4; break;
            case 2: bad.sourceSize -= 4; break;
            case 3: bad.sourceOffset += 2; break;
            case 4: bad.sourceOffset = uint64_t(1) << 40; break;
            case 5: bad.destinationSize = 0; break;
            case 6: bad.destinationOffset += uint64_t(1) << 33; break;
            default: bad.sourceOffset += 4; break; // there is no header at this offset
            }
            ranges.push_back(bad);
        }
    }
    add({streamOf(1)}, 500);
    add({full, full}, 65536); // maxTileCount leaves room for only one of these two tiles
    add({streamOf(0)}, 1);    // refused too, although one tile would still fit

    SluiceTileStreamsInfo info = {};
    info.maxStreamCount = uint32_t(ranges.size()) + 50;
    info.maxTileCount = kRunTiles + kGoodTiles + 5 + 4 + 1 + 1;
    Words list = wordsOf(ranges);
    list.resize(info.maxStreamCount * sizeof(SluiceStreamRange) / 4);
    info.streams = on.input(list);
    info.streamCount = on.input(Words{uint32_t(ranges.size())});
    info.source = on.input(source);
    info.destination = on.output(output);
    info.results = on.output(uint64_t(info.maxStreamCount) * sizeof(SluiceStreamResult) +
                             sizeof(SluiceStreamSummary));
    info.status = on.output((uint64_t(info.maxTileCount) + 2) * 4);
    on.addScratch(info, sluiceGetTileStreamsRequirements);
    on.run(sluiceCmdTileStreams, info);
    on.take(info.results);
    on.take(info.status);
    // The bytes of streams with failed tiles are unspecified.
    on.take(info.destination, [&](uint8_t* bytes) {
        for (size_t i = 1 + kGoodTiles; i < 1 + kGoodTiles + 5; ++i)
            std::fill_n(bytes + ranges[i].destinationOffset, ranges[i].destinationSize,
                        CaseBuffers::kPoison);
    });
    takeStreamPairs(on, info, ranges, output);
}

// --- Gstd

// Makes the list of Gstd tiles: valid ones of one part and of several, with all kinds of bytes, and
// then damaged ones.
const TileList& SelfTestCases::gstdTiles(SluiceStatus& status)
{
    TileList& list = m_gstd;
    if (!list.regions.empty()) return list;
    SluiceArchiveSegment segment = {};
    segment.codec = SLUICE_CODEC_GSTD;
    segment.level = 6;
    for (const uint32_t size : {262144u, 1u, 500u, 70001u})
        addEncoded(list, segment, size, status);
    segment.level = 9;
    segment.copyDepth = 1;
    Bytes some = addEncoded(list, segment, 70001, status);
    if (status != SLUICE_OK) return list = {};
    const Bytes noise = Random(8).bytes(9000);
    // With STORED_IF_EQUAL this is a stored tile, otherwise a damaged one.
    list.add(noise, 9000, checksumOf(noise));
    list.add(Bytes(some.begin(), some.begin() + ptrdiff_t(some.size() / 4 * 2)), 70001, 0);
    list.add(some, 70000, 0);
    list.add(some, 70001, 1);
    Random random(4);
    for (uint32_t i = 0; i < 6; ++i) {
        Bytes damaged = some;
        damaged[i < 3 ? 4 * i : random.below(uint32_t(some.size()))] ^= 0x14;
        list.add(damaged, 70001, 0);
    }
    return list;
}

// Decodes the tiles in a long list with 24 tiles at the same time, then in a short list with three,
// which takes several turns.
template <>
void SelfTestCases::test<SelfTestCase::gstd>(CaseBuffers& on)
{
    TileList list = gstdTiles(on.status);
    list.addEmpty(2200);
    list.repeat(m_gstd, 1, 3);
    SluiceGstdInfo info = {};
    giveTiles(on, list, on.output(list.outputSize), info, 5);
    info.flags = SLUICE_DECODE_STORED_IF_EQUAL;
    info.tilesAtOnce = 24;
    on.addScratch(info, sluiceGetGstdRequirements);
    on.run(sluiceCmdGstd, info);
    takeTiles(on, list, info);

    TileList few;
    few.repeat(m_gstd, 0, m_gstd.regions.size());
    SluiceGstdInfo turns = {};
    giveTiles(on, few, on.output(few.outputSize), turns);
    turns.expected = {0, 0, 0};
    turns.tilesAtOnce = 3;
    on.addScratch(turns, sluiceGetGstdRequirements);
    on.run(sluiceCmdGstd, turns);
    takeTiles(on, few, turns);
}

} // namespace sluice::selftest
