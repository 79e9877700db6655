// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/range_subjects.h"

#include <sluice/sluice_df11.h>
#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_fse.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>
#include <sluice/sluice_interval.h>

#include "tests/support/df11_units.h"
#include "tests/support/filters.h"
#include "formats/fse.h"
#include "tests/support/gdeflate_tiles.h"
#include "tests/support/gstd_encoder.h"
#include "tests/support/gstd_word_writer.h"
#include "tests/support/ignored.h"
#include "tests/support/zstd_maker.h"
#include "tests/support/zstd_regions.h"
#include "tests/stream/stream_batch.h"

#include <algorithm>

namespace sluice::test {
namespace {

// Runs a command that takes a list of regions, with a list of one region. Returns its status.
template <typename Info>
Words runRegion(Device& on, const Placement& at, Info info, uint64_t sourceSize, uint64_t size,
                const std::function<SluiceStatus(SluiceCommands, const Info&)>& command)
{
    Buffer list(on, bytesOf(std::vector<SluiceRegion>{
                        {at.sourceAddress, at.destinationAddress, sourceSize, size}}));
    Buffer status(on, 12);
    info.maxRegionCount = 1;
    info.regionStride = sizeof(SluiceRegion);
    info.regions = list.range();
    info.regionCount = absentRange(at.ignored);
    info.source = at.source;
    info.destination = at.destination;
    info.status = status.range();
    on.run([&](SluiceCommands commands) { REQUIRE(command(commands, info) == SLUICE_OK); });
    return {status.words()[0]};
}

template <typename Info>
std::function<Words(Device&, const Placement&)>
decodesTile(size_t sourceSize, size_t size, uint32_t flags,
            SluiceStatus (*requirementsOf)(SluiceContext, const Info*, SluiceRequirements*),
            SluiceStatus (*command)(SluiceContext, SluiceCommands, const Info*))
{
    return [=](Device& on, const Placement& at) {
        Info info = {};
        info.maxRegionCount = 1;
        info.flags = flags;
        SluiceRequirements requirements = {};
        REQUIRE(requirementsOf(on.context(), &info, &requirements) == SLUICE_OK);
        Buffer scratch = makeScratch(on, requirements);
        info.scratch = requirements.scratchSize != 0 ? scratch.range() : unreadRange(at.ignored);
        info.expected = absentRange(at.ignored);
        return runRegion<Info>(on, at, info, sourceSize, size,
                               [&](SluiceCommands commands, const Info& i) {
                                   return command(on.context(), commands, &i);
                               });
    };
}

Subject gdeflateSubject(const Tile& tile, const Bytes& expected)
{
    const bool stored = tile.compressed.size() == expected.size();
    return {stored ? "gdeflate, stored" : "gdeflate",
            tile.compressed,
            {},
            expected,
            SLUICE_TILE_BAD_REGION,
            4,
            4,
            decodesTile(tile.compressed.size(), expected.size(),
                        stored ? uint32_t(SLUICE_DECODE_STORED_IF_EQUAL) : 0u,
                        sluiceGetGdeflateRequirements, sluiceCmdGdeflate)};
}

Subject gstdSubject(const Bytes& compressed, const Bytes& expected)
{
    const bool stored = compressed.size() == expected.size();
    return {stored ? "gstd, stored" : "gstd",
            compressed,
            {},
            expected,
            SLUICE_TILE_BAD_REGION,
            4,
            4,
            decodesTile(compressed.size(), expected.size(),
                        stored ? uint32_t(SLUICE_DECODE_STORED_IF_EQUAL) : 0u,
                        sluiceGetGstdRequirements, sluiceCmdGstd)};
}

// Returns a frame with a block of each kind, of which the last one has copies.
Subject zstdSubject(const Bytes& bytes)
{
    ZstdMaker maker;
    maker.raw(bytes);
    maker.rle(7, 9);
    maker.coded(fewLetters(30), {{4, 7, 10}, {3, 1, 3}}, nullptr, SLUICE_ZS_LITERALS_HUFFMAN);
    ZstdHeader header;
    header.checksum = true;
    const Bytes frame = maker.frame(header);
    const size_t size = maker.content.size();
    Subject subject = {"zstd", frame, {}, maker.content, SLUICE_TILE_BAD_REGION, 4, 4, {}};
    subject.run = [sourceSize = frame.size(), size](Device& on, const Placement& at) {
        needZstd(on);
        SluiceZstdInfo info = {};
        info.maxRegionCount = 1;
        info.flags = SLUICE_ZSTD_CHECKSUMS;
        info.maxRegionSize = uint32_t(size);
        info.maxBlocks = 3;
        SluiceRequirements requirements = {};
        REQUIRE(sluiceGetZstdRequirements(on.context(), &info, &requirements) == SLUICE_OK);
        Buffer scratch = makeScratch(on, requirements);
        info.scratch = requirements.scratchSize != 0 ? scratch.range() : unreadRange(at.ignored);
        return runRegion<SluiceZstdInfo>(on, at, info, sourceSize, size,
                                         [&](SluiceCommands commands, const SluiceZstdInfo& i) {
                                             return sluiceCmdZstd(on.context(), commands, &i);
                                         });
    };
    return subject;
}

Subject checksumSubject(const Bytes& bytes)
{
    Subject subject = {"checksum", {}, bytes, bytes, SLUICE_TILE_BAD_CHECKSUM, 4, 4, {}};
    subject.run = [bytes](Device& on, const Placement& at) {
        Buffer list(on, bytesOf(std::vector<SluiceRegion>{
                            {at.ignored, at.destinationAddress, at.ignored, bytes.size()}}));
        Buffer expected(on, Words{sluiceTileChecksum(bytes.data(), bytes.size())});
        Buffer status(on, Words{SLUICE_TILE_OK, 0, ~0u});
        SluiceChecksumInfo info = {};
        info.maxRegionCount = 1;
        info.regionStride = sizeof(SluiceRegion);
        info.regions = list.range();
        info.regionCount = absentRange(at.ignored);
        info.destination = at.destination;
        info.expected = expected.range();
        info.status = status.range();
        on.run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdChecksum(on.context(), commands, &info) == SLUICE_OK);
        });
        return Words{status.words()[0]};
    };
    return subject;
}

// Returns a filter's work. Its source is the description if descriptionMoves, and otherwise the
// filtered bytes.
Subject filterSubject(const Words& words, const Bytes& tile, bool descriptionMoves)
{
    const Bytes description = bytesOf(words), filtered = applied(words, tile);
    Subject subject = {descriptionMoves ? "filter's description" : "filter",
                       descriptionMoves ? description : filtered,
                       {},
                       tile,
                       SLUICE_TILE_BAD_REGION,
                       4,
                       4,
                       {}};
    subject.run = [=](Device& on, const Placement& at) {
        Buffer fixed(on, descriptionMoves ? filtered : description);
        SluiceFilterTile region = {};
        region.srcAddress = descriptionMoves ? fixed.address() : at.sourceAddress;
        region.dstAddress = at.destinationAddress;
        region.size = uint32_t(filtered.size());
        region.descriptionOffset = descriptionMoves ? uint32_t(at.sourceOffset) : 0;
        region.descriptionSize = uint32_t(description.size());
        Buffer list(on, bytesOf(std::vector<SluiceFilterTile>{region}));
        Buffer status(on, Words{SLUICE_TILE_OK, 0, ~0u});
        SluiceFilterInfo info = {};
        info.maxTileCount = info.statusCount = 1;
        info.maxTileSize = uint32_t(filtered.size() + 3) / 4 * 4;
        info.tiles = list.range();
        info.tileCount = absentRange(at.ignored);
        info.scratch = unreadRange(at.ignored);
        info.descriptions = descriptionMoves ? at.source : fixed.range();
        info.source = descriptionMoves ? fixed.range() : at.source;
        info.destination = at.destination;
        info.status = status.range();
        runWithScratch(on, info, sluiceGetFilterRequirements, sluiceCmdFilter);
        return Words{status.words()[0]};
    };
    return subject;
}

// A table's counts and their description: 4 bits of log - 5, then each count + 1 in as many bits as
// the states that are left need.
struct Distribution {
    uint32_t log;
    std::vector<int16_t> counts;
    Bytes description;
    uint16_t describedBytes; // the size without the bytes that follow
};

Subject fseSubject(const Distribution& given, bool fromCounts)
{
    const std::vector<int16_t>& counts = given.counts;
    fse::Distribution distribution;
    distribution.log = given.log;
    distribution.symbols = uint32_t(counts.size());
    std::copy(counts.begin(), counts.end(), distribution.count);
    std::vector<fse::State> states(size_t{1} << given.log);
    fse::buildStates(distribution, states.data());

    Subject subject = {fromCounts ? "fse tables of counts" : "fse tables",
                       fromCounts ? bytesOf(counts) : given.description,
                       {},
                       Bytes(SLUICE_FSE_TABLE_SIZE(given.log)),
                       SLUICE_TILE_BAD_REGION,
                       4,
                       4,
                       {}};
    const SluiceFseTableHeader header = {
        uint16_t(fromCounts ? 2 * counts.size() : given.describedBytes), uint8_t(given.log),
        uint8_t(counts.size() - 1)};
    std::memcpy(subject.expected.data(), &header, sizeof header);
    std::memcpy(subject.expected.data() + sizeof header, states.data(),
                states.size() * sizeof(fse::State));
    const size_t sourceSize = subject.source.size(), size = subject.expected.size();
    subject.run = [=](Device& on, const Placement& at) {
        SluiceFseTablesInfo info = {};
        info.flags = fromCounts ? SLUICE_FSE_COUNTS : 0;
        info.maxSymbols = uint32_t(given.counts.size());
        info.maxLog = given.log;
        return runRegion<SluiceFseTablesInfo>(
            on, at, info, sourceSize, size,
            [&](SluiceCommands commands, const SluiceFseTablesInfo& i) {
                return sluiceCmdFseTables(on.context(), commands, &i);
            });
    };
    return subject;
}

Subject tileStreamSubject(const std::vector<Tile>& tiles, const Bytes& expected)
{
    Subject subject = {
        "tile streams", makeTileStream(tiles), {}, expected, SLUICE_STREAM_BAD_RANGE, 4, 4, {}};
    const uint32_t tileCount = uint32_t(tiles.size());
    const size_t sourceSize = subject.source.size(), size = expected.size();
    subject.run = [=](Device& on, const Placement& at) {
        Buffer streams(on, bytesOf(std::vector<SluiceStreamRange>{
                               {at.sourceOffset, sourceSize, at.destinationOffset, size}}));
        Buffer results(on, sizeof(SluiceStreamResult) + sizeof(SluiceStreamSummary));
        Buffer status(on, (tileCount + 2) * 4);
        SluiceTileStreamsInfo info = {};
        info.maxStreamCount = 1;
        info.maxTileCount = tileCount;
        info.streams = streams.range();
        info.streamCount = info.expected = absentRange(at.ignored);
        info.scratch = unreadRange(at.ignored);
        info.source = at.source;
        info.destination = at.destination;
        info.results = results.range();
        info.status = status.range();
        runWithScratch(on, info, sluiceGetTileStreamsRequirements, sluiceCmdTileStreams);
        return Words{results.words()[0]};
    };
    return subject;
}

// Returns a move of one interval whose elements need no alignment. Its "status" is OK, or the flags
// of the result.
Subject intervalSubject(const Bytes& bytes, uint32_t elementSize)
{
    const uint32_t count = uint32_t(bytes.size()) / elementSize;
    const Bytes whole(bytes.begin(), bytes.begin() + std::ptrdiff_t(count * elementSize));
    Subject subject = {"interval move, elements of " + std::to_string(elementSize),
                       whole,
                       {},
                       whole,
                       SLUICE_INTERVAL_SKIPPED,
                       elementSize,
                       elementSize,
                       {}};
    subject.run = [=](Device& on, const Placement& at) {
        const auto place = [&](uint64_t offset) { // counted in elements
            return uint32_t(int32_t(offset) / int32_t(elementSize));
        };
        Buffer counts(on, Words{count}), gather(on, Words{place(at.sourceOffset)}),
            scatter(on, Words{place(at.destinationOffset)}), result(on, 8);
        SluiceIntervalMoveInfo info = {};
        info.elementSize = elementSize;
        info.positionSize = 4;
        info.intervals.maxCount = 1;
        info.intervals.counts = counts.range();
        info.intervals.count = info.intervals.offsets = absentRange(at.ignored);
        info.gather = gather.range();
        info.scatter = scatter.range();
        info.source = at.source;
        info.destination = at.destination;
        info.result = result.range();
        SluiceRequirements requirements = {};
        REQUIRE(sluiceGetIntervalRequirements(on.context(), &info.intervals, &requirements) ==
                SLUICE_OK);
        Buffer scratch = makeScratch(on, requirements);
        info.scratch = requirements.scratchSize != 0 ? scratch.range() : unreadRange(at.ignored);
        on.run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdIntervalMove(on.context(), commands, &info) == SLUICE_OK);
        });
        const uint32_t flags = result.words()[1];
        return Words{flags == 0 ? uint32_t(SLUICE_TILE_OK) : flags & ~SLUICE_INTERVAL_TRUNCATED};
    };
    return subject;
}

// Appends the tables from number `first` on, each at a multiple of 16, and after the last one those
// before `first`. Returns their offsets in the order of `tables`.
std::vector<uint64_t> placeTables(const std::vector<Bytes>& tables, size_t first, Bytes& source)
{
    std::vector<uint64_t> offsets(tables.size());
    for (size_t i = 0; i < tables.size(); ++i) {
        const size_t table = (first + i) % tables.size();
        source.resize((source.size() + 15) / 16 * 16);
        offsets[table] = source.size();
        source.insert(source.end(), tables[table].begin(), tables[table].end());
    }
    return offsets;
}

// Returns a float tensor of one tile. `first`: the table that comes first in the source.
Subject floatSubject(uint32_t type, size_t first, uint32_t count)
{
    std::mt19937 random = makeRandom(811 + type);
    const uint64_t elementSize = sluiceFloatElementSize(type);
    Bytes plain(count * elementSize);
    for (uint8_t& byte : plain)
        byte = uint8_t(random() % 7 + 0x38);
    uint64_t histogram[256] = {};
    REQUIRE(sluiceFloatCountSymbols(type, plain.data(), count, histogram) == SLUICE_OK);
    Bytes lengths(SLUICE_FLOAT_LENGTHS_SIZE), raw(sluiceFloatRawSize(type, count));
    REQUIRE(sluiceFloatCodeLengths(histogram, lengths.data()) == SLUICE_OK);
    Words words(SLUICE_FLOAT_TILE_BOUND);
    uint32_t wordCount = 0;
    REQUIRE(sluiceFloatEncodeTile(type, lengths.data(), plain.data(), count, words.data(),
                                  SLUICE_FLOAT_TILE_BOUND, &wordCount) == SLUICE_OK);
    words.resize(wordCount);
    REQUIRE(sluiceFloatPackRaw(type, count, plain.data(), 0, count, raw.data()) == SLUICE_OK);

    std::vector<Bytes> tables = {bytesOf(words), bytesOf(Words{0, wordCount / 2}), lengths};
    if (!raw.empty()) tables.push_back(raw);
    Subject subject = {"float type " + std::to_string(type) + ", table " +
                           std::to_string(first % tables.size()) + " first",
                       {},
                       {},
                       plain,
                       SLUICE_TILE_BAD_REGION,
                       16,
                       4,
                       {}};
    const std::vector<uint64_t> offsets = placeTables(tables, first, subject.source);
    subject.run = [=](Device& on, const Placement& at) {
        SluiceFloatTensor tensor = {};
        tensor.words = at.sourceAddress + offsets[0];
        tensor.wordsSize = wordCount * 4;
        tensor.index = at.sourceAddress + offsets[1];
        tensor.lengths = at.sourceAddress + offsets[2];
        tensor.raw = at.sourceAddress + (offsets.size() > 3 ? offsets[3] : 0);
        tensor.output = at.destinationAddress;
        tensor.count = count;
        tensor.type = type;
        Buffer list(on, bytesOf(std::vector<SluiceFloatTensor>{tensor}));
        Buffer status(on, 12);
        SluiceFloatDecodeInfo info = {};
        info.tensorCount = info.tileCount = 1;
        info.tensors = list.range();
        info.scratch = unreadRange(at.ignored);
        info.source = at.source;
        info.destination = at.destination;
        info.status = status.range();
        runWithScratch(on, info, sluiceGetFloatDecodeRequirements, sluiceCmdFloatDecode);
        return Words{status.words()[0]};
    };
    return subject;
}

// Returns a DF11 unit of one block. Its tables are sized in steps of 16 bytes. `first`: the table
// that comes first in the source.
Subject df11Subject(SluiceDf11Kind kind, size_t first, uint32_t count)
{
    std::mt19937 random = makeRandom(831);
    const Bytes exponents = weightExponents(kind, count, random);
    const Df11Tensors unit = packDf11("unit", kind, exponents, huffmanLengths(exponents), random);
    REQUIRE(unit.blockCount() == 1);
    const Bytes positions(unit.outputPositions.begin(),
                          unit.outputPositions.begin() + (kind == SLUICE_DF11_BF16 ? 4 : 8));
    Subject subject = {std::string(kind == SLUICE_DF11_BF16 ? "df11" : "ecf8") + ", table " +
                           std::to_string(first) + " first",
                       {},
                       {},
                       unit.expected,
                       SLUICE_TILE_BAD_REGION,
                       16,
                       4,
                       {}};
    const std::vector<uint64_t> offsets = placeTables(
        {unit.luts, unit.encoded, unit.signMantissa, positions, unit.gaps}, first, subject.source);
    subject.source.resize((subject.source.size() + 15) / 16 * 16);
    subject.run = [=](Device& on, const Placement& at) {
        SluiceDf11Unit entry = {};
        entry.lutsOffset = at.sourceOffset + offsets[0];
        entry.encodedOffset = at.sourceOffset + offsets[1];
        entry.signMantissaOffset = at.sourceOffset + offsets[2];
        entry.outputPositionsOffset = at.sourceOffset + offsets[3];
        entry.gapsOffset = at.sourceOffset + offsets[4];
        entry.destinationOffset = at.destinationOffset;
        entry.kind = kind;
        entry.lutRows = uint32_t(unit.luts.size() / 256);
        entry.elementCount = unit.elementCount;
        entry.encodedSize = uint32_t(unit.encoded.size());
        Buffer list(on, bytesOf(std::vector<SluiceDf11Unit>{entry}));
        Buffer status(on, 12);
        SluiceDf11Info info = {};
        info.maxUnitCount = info.maxBlockCount = 1;
        info.units = list.range();
        info.unitCount = absentRange(at.ignored);
        info.scratch = unreadRange(at.ignored);
        info.source = at.source;
        info.destination = at.destination;
        info.status = status.range();
        runWithScratch(on, info, sluiceGetDf11Requirements, sluiceCmdDf11);
        return Words{status.words()[0]};
    };
    return subject;
}

Bytes encodedGdeflate(uint32_t level, const Bytes& bytes)
{
    const SluiceGdeflateEncoderInfo info = {level, 0};
    SluiceGdeflateEncoder encoder = nullptr;
    REQUIRE(sluiceCreateGdeflateEncoder(&info, &encoder) == SLUICE_OK);
    Bytes out(sluiceGdeflateTileBound(bytes.size()));
    size_t size = 0;
    CHECK(sluiceEncodeGdeflateTile(encoder, bytes.data(), bytes.size(), out.data(), out.size(),
                                   &size) == SLUICE_OK);
    sluiceDestroyGdeflateEncoder(encoder);
    out.resize(size);
    return out;
}

// Returns letters and copies, many of them of copied bytes.
Bytes copiesOfCopies(size_t size, std::mt19937& random)
{
    Bytes bytes;
    while (bytes.size() < size) {
        const bool copies = bytes.size() > 64 && random() % 3 != 0;
        const size_t from =
            copies ? bytes.size() - 1 - random() % std::min<size_t>(bytes.size(), 400) : 0;
        for (size_t i = 0, length = copies ? 3 + random() % 40 : 1; i < length; ++i)
            bytes.push_back(copies ? bytes[from + i] : uint8_t('a' + random() % 26));
    }
    bytes.resize(size);
    return bytes;
}

} // namespace

std::vector<Subject> rangeSubjects()
{
    std::mt19937 random = makeRandom(801);
    std::vector<Subject> subjects;
    const Tile tile = literalTile(101, random);
    const Bytes bytes = decodeOnHost({tile})[0].bytes;
    subjects.push_back(gdeflateSubject(tile, bytes));
    subjects.push_back(gdeflateSubject({"stored", bytes, 101}, bytes));
    GstdCoded part;
    part.size = 101;
    part.literals.assign(bytes.begin(), bytes.begin() + 94);
    part.sequences = {{50, 7, 50}};
    Bytes copied(bytes.begin(), bytes.begin() + 50);
    copied.insert(copied.end(), bytes.begin(), bytes.begin() + 7);
    copied.insert(copied.end(), bytes.begin() + 50, bytes.begin() + 94);
    Bytes gstd = gstdTile(1, {codedPart(part)});
    gstd.push_back(0); // this byte is ignored
    subjects.push_back(gstdSubject(gstd, copied));
    subjects.push_back(gstdSubject(bytes, bytes));
    subjects.push_back(checksumSubject(bytes));
    const Words words = describe({records({columnRun(2, 0, 0, FilterPredictor::left)})});
    subjects.push_back(filterSubject(words, bytes, false));
    subjects.push_back(filterSubject(words, bytes, true));
    const Distribution distribution = {5, {20, 9, -1, 0, 2}, {0x50, 0x99, 0x18, 0, 0}, 3};
    subjects.push_back(fseSubject(distribution, false));
    subjects.push_back(fseSubject(distribution, true));
    subjects.push_back(tileStreamSubject({tile}, bytes));
    subjects.push_back(zstdSubject(bytes));
    for (const uint32_t elementSize : {1u, 2u, 3u, 4u, 7u, 8u, 16u})
        subjects.push_back(intervalSubject(bytes, elementSize));
    for (size_t first = 0; first < 4; ++first)
        subjects.push_back(floatSubject(SLUICE_FLOAT_BF16, first, 301));
    for (uint32_t type = 1; type < SLUICE_FLOAT_TYPE_COUNT; ++type)
        subjects.push_back(floatSubject(type, type % 4, 301));
    for (size_t first = 0; first < 5; ++first) {
        subjects.push_back(df11Subject(SLUICE_DF11_BF16, first, 2003));
        subjects.push_back(df11Subject(SLUICE_DF11_FP8_E4M3, first, 2003));
    }
    return subjects;
}

std::vector<Subject> largerSubjects()
{
    std::mt19937 random = makeRandom(802);
    std::vector<Subject> subjects;
    const Bytes text = copiesOfCopies(6000, random), noise = randomBytes(random, 3000);
    for (const uint32_t level : {1u, 9u}) {
        const Tile tile = {"encoded", encodedGdeflate(level, text), uint32_t(text.size())};
        subjects.push_back(gdeflateSubject(tile, text));
        subjects.push_back(tileStreamSubject({tile}, text));
    }
    const Tile literals = literalTile(3000, random);
    subjects.push_back(gdeflateSubject(literals, decodeOnHost({literals})[0].bytes));
    subjects.push_back(gdeflateSubject({"stored blocks", encodedGdeflate(9, noise), 3000}, noise));
    subjects.push_back(gdeflateSubject({"stored", noise, 3000}, noise));

    for (const uint32_t level : {1u, 12u}) {
        for (const uint32_t depth : {1u, 8u})
            subjects.push_back(gstdSubject(GstdEncoder(level, depth).encode(text), text));
    }
    Bytes skewed = randomBytes(random, 3000);
    for (uint8_t& byte : skewed)
        byte = uint8_t(byte & random() & random());
    subjects.push_back(gstdSubject(GstdEncoder(12, 4).encode(skewed), skewed));
    subjects.push_back(gstdSubject(GstdEncoder(12, 4).encode(noise), noise));
    subjects.push_back(gstdSubject(GstdEncoder(1, 4).encode(Bytes(3000, 7)), Bytes(3000, 7)));
    subjects.push_back(gstdSubject(noise, noise));
    subjects.push_back(checksumSubject(randomBytes(random, 20001)));

    const Bytes smooth = smoothBytes(random, 5001);
    for (const FilterPredictorRow& row : kFilterPredictors) {
        const FilterPredictor predictor = FilterPredictor(row.number);
        const Words run = {columnRun(3, 0, 0, predictor), columnRun(1, 2, 0, predictor)};
        subjects.push_back(filterSubject(
            describe({needsRows(predictor) ? rowsOf(20, run) : records(run)}), smooth, false));
    }
    subjects.push_back(filterSubject(
        describe({records({columnRun(4, 0, filterSplit, FilterPredictor::left)})}), smooth, false));
    const Distribution distribution = {5, {20, 9, -1, 0, 2}, {0x50, 0x99, 0x18, 0, 0}, 3};
    subjects.push_back(fseSubject(distribution, false));
    Distribution many = {9, {}, {}, 0}; // a table of 512 states
    for (uint32_t i = 0; i < 200; ++i)
        many.counts.push_back(int16_t(i % 5 == 0 ? -1 : i % 3));
    int16_t sum = 0;
    for (const int16_t one : many.counts)
        sum = int16_t(sum + std::abs(one));
    many.counts.push_back(int16_t(512 - sum));
    subjects.push_back(fseSubject(many, true));
    SectionWords packets = records({columnRun(3, 0, filterSplit, FilterPredictor::left)});
    packets.packets = true;
    subjects.push_back(filterSubject(describe({packets}), randomPackets(random, 4000, 3), false));
    subjects.push_back(zstdSubject(randomBytes(random, 9001)));
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT; ++type)
        subjects.push_back(floatSubject(type, 0, 8001));
    for (const uint32_t count : {300u, 9000u}) {
        subjects.push_back(df11Subject(SLUICE_DF11_BF16, 0, count));
        subjects.push_back(df11Subject(SLUICE_DF11_FP8_E4M3, 0, count));
    }
    return subjects;
}

} // namespace sluice::test
