// SPDX-License-Identifier: MIT OR Apache-2.0
#include "self_test.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include <sluice/sluice_all.h>
#include <sluice/sluice_encode.h>
#include <sluice/sluice_filter_encode.h>

namespace sluice::dev {

namespace {

constexpr uint32_t poison = 0xa5a5a5a5u;
constexpr uint32_t goodTiles = 4; // the first of all tiles

// Device memory for one test; released at its end.
class Memory {
public:
    explicit Memory(SluiceDevice device) : device_(device) {}
    ~Memory()
    {
        for (const SluiceBuffer& buffer : buffers_)
            sluiceRelease(device_, buffer);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    SluiceBuffer make(const std::vector<uint32_t>& words)
    {
        SluiceBuffer buffer = make(words.size() * 4);
        if (status == SLUICE_OK && buffer.size != 0)
            status = sluiceUpload(device_, buffer, words.data(), buffer.size);
        return buffer;
    }
    SluiceBuffer make(uint64_t size)
    {
        SluiceBuffer buffer = {0, 0, 0};
        if (status != SLUICE_OK || size == 0) return buffer;
        status = sluiceAllocate(device_, size, &buffer);
        if (status == SLUICE_OK) buffers_.push_back(buffer);
        return buffer;
    }
    SluiceBuffer poisoned(uint64_t words) { return make(std::vector<uint32_t>(words, poison)); }
    // Zero where that is required, else certainly not.
    SluiceBuffer scratch(const SluiceRequirements& need)
    {
        return make(std::vector<uint32_t>((need.scratchSize + 3) / 4,
                                          need.zeroedScratch != 0 ? 0 : poison));
    }

    // Appends the contents of a buffer to `out`.
    void read(const SluiceBuffer& buffer, std::vector<uint32_t>& out)
    {
        if (status != SLUICE_OK) return;
        const size_t at = out.size();
        out.resize(at + buffer.size / 4);
        status = sluiceDownload(device_, buffer, out.data() + at, buffer.size);
    }

    SluiceStatus status = SLUICE_OK; // the first error

private:
    SluiceDevice device_;
    std::vector<SluiceBuffer> buffers_;
};

// Records with `record(context, commands)`, submits, waits.
template <typename Record>
void execute(SluiceDevice device, SluiceStatus& status, Record record)
{
    SluiceCommands commands = nullptr;
    if (status == SLUICE_OK) status = sluiceBegin(device, &commands);
    if (status != SLUICE_OK) return;
    const SluiceStatus recorded = record(sluiceGetDeviceContext(device), commands);
    status = sluiceSubmit(device, commands, nullptr);
    if (status == SLUICE_OK) status = recorded;
}

// Gives a command scratch as it requires.
template <typename Info>
void addScratch(SluiceDevice device, Memory& memory, Info& info,
                SluiceStatus (*getRequirements)(SluiceContext, const Info*, SluiceRequirements*))
{
    SluiceRequirements need = {};
    if (memory.status == SLUICE_OK)
        memory.status = getRequirements(sluiceGetDeviceContext(device), &info, &need);
    info.scratch = memory.scratch(need);
}

template <typename Info>
void runWithScratch(SluiceDevice device, Memory& memory, Info& info,
                    SluiceStatus (*getRequirements)(SluiceContext, const Info*,
                                                    SluiceRequirements*),
                    SluiceStatus (*command)(SluiceContext, SluiceCommands, const Info*))
{
    addScratch(device, memory, info, getRequirements);
    execute(device, memory.status, [&](SluiceContext context, SluiceCommands commands) {
        return command(context, commands, &info);
    });
}

// Text of few symbols, runs and noise: all block types and match lengths that an encoder makes.
std::vector<uint8_t> testBytes(size_t size, uint32_t seed)
{
    std::vector<uint8_t> bytes(size);
    uint32_t random = seed;
    for (size_t i = 0; i < size; ++i) {
        random = random * 1664525u + 1013904223u;
        const size_t part = i * 4 / size;
        const uint8_t noise = static_cast<uint8_t>(random >> 24);
        if (part == 0) bytes[i] = static_cast<uint8_t>("abcdefgh"[noise >> 5]);
        if (part == 1) bytes[i] = i >= 700 && noise > 8 ? bytes[i - 700] : noise;
        if (part == 2) bytes[i] = static_cast<uint8_t>(i / 300);
        if (part == 3) bytes[i] = noise;
    }
    return bytes;
}

// Appends a unit that decodes any stream to `source`: bf16 with codes of 1 and 9 bits, fp8 with
// codes of 4.
SluiceDf11Unit appendUnit(std::vector<uint8_t>& source, SluiceDf11Kind kind)
{
    const bool bf16 = kind == SLUICE_DF11_BF16;
    const std::vector<uint8_t> stream = testBytes(10001, kind);
    const uint32_t blocks = 3, gapBits = bf16 ? 5 : 4;
    const auto bitAt = [&](uint32_t at) { return stream[at / 8] >> (7 - at % 8) & 1; };
    const auto lengthAt = [&](uint32_t at) { return !bf16 ? 4u : bitAt(at) == 0 ? 1u : 9u; };
    std::vector<uint8_t> gaps(blocks * 64 * gapBits), positions;
    uint32_t at = 0, elements = 0, bits = static_cast<uint32_t>(stream.size()) * 8;
    for (uint32_t window = 0; window < blocks * SLUICE_DF11_WINDOWS; ++window) {
        for (uint32_t i = 0; i < (bf16 ? 4u : 8u) && window % SLUICE_DF11_WINDOWS == 0; ++i)
            positions.push_back(static_cast<uint8_t>(i < 4 ? elements >> 8 * i : 0));
        for (uint32_t i = 0; i < gapBits && at >= window * 64; ++i) {
            const uint32_t bit = window * gapBits + i,
                           value = (at - window * 64) >> (gapBits - 1 - i) & 1;
            gaps[bit / 8] = static_cast<uint8_t>(gaps[bit / 8] | value << (7 - bit % 8));
        }
        for (; at < (window + 1) * 64 && at < bits && at + lengthAt(at) <= bits; ++elements)
            at += lengthAt(at);
    }
    std::vector<uint8_t> luts(bf16 ? 768 : 512);
    for (uint32_t i = 0; i < 256; ++i) {
        luts[i] = static_cast<uint8_t>(!bf16 ? i / 16 : i < 128 ? 5 : 255); // 255: row 1
        if (bf16) luts[256 + i] = i < 128 ? 6 : 7;
    }
    for (uint32_t i = 0; i < 16; ++i)
        luts[luts.size() - 256 + i] = !bf16 ? 4 : i == 5 ? 1 : 9;

    const auto place = [&source](const std::vector<uint8_t>& table) {
        const uint64_t offset = source.size();
        source.insert(source.end(), table.begin(), table.end());
        source.resize((source.size() + 15) / 16 * 16);
        return offset;
    };
    SluiceDf11Unit unit = {};
    unit.lutsOffset = place(luts);
    unit.encodedOffset = place(stream);
    unit.signMantissaOffset = place(testBytes(bf16 ? elements : (elements + 1) / 2, 7));
    unit.outputPositionsOffset = place(positions);
    unit.gapsOffset = place(gaps);
    unit.kind = kind;
    unit.lutRows = static_cast<uint32_t>(luts.size() / 256);
    unit.elementCount = elements;
    unit.encodedSize = static_cast<uint32_t>(stream.size());
    return unit;
}

} // namespace

SluiceStatus SelfTest::prepare()
{
    for (uint32_t i = 0; i < 10007; ++i)
        values_.push_back(i * 2654435761u >> (i % 3 == 0 ? 31 : 8));

    SluiceGdeflateEncoder encoder = nullptr;
    SluiceGdeflateEncoderInfo info = {9, 0};
    SluiceStatus status = sluiceCreateGdeflateEncoder(&info, &encoder);
    for (const uint32_t size : {1u, 500u, 20001u, 65536u}) {
        if (status != SLUICE_OK) break;
        const std::vector<uint8_t> bytes = testBytes(size, size);
        Tile tile = {std::vector<uint8_t>(sluiceGdeflateTileBound(size)), size,
                     sluiceTileChecksum(bytes.data(), size)};
        size_t used = 0;
        status = sluiceEncodeGdeflateTile(encoder, bytes.data(), size, tile.stream.data(),
                                          tile.stream.size(), &used);
        tile.stream.resize(used);
        tiles_.push_back(tile);
    }
    sluiceDestroyGdeflateEncoder(encoder);
    if (status != SLUICE_OK) return status;
    // Three damaged tiles, and one whose checksum will not match.
    tiles_.push_back(tiles_[2]);
    tiles_.back().stream.resize(tiles_[2].stream.size() / 8 * 4);
    tiles_.push_back(tiles_[2]);
    tiles_.back().size -= 5;
    tiles_.push_back(tiles_[2]);
    tiles_.back().stream[0] |= 6; // the reserved block type
    tiles_.push_back(tiles_[1]);
    tiles_.back().checksum ^= 1;

    SluiceDeviceInfo cpu = {};
    cpu.selector = "cpu";
    SluiceDevice device = nullptr;
    status = sluiceOpenDevice(&cpu, &device, nullptr);
    for (size_t i = 0; i < kernelCount && status == SLUICE_OK; ++i) {
        status = answers(device, static_cast<Kernel>(i), expected_[i]);
    }
    if (device) sluiceCloseDevice(device);
    return status;
}

// Every operation and type, in segments and not. The values of f32 are such that sums are exact.
SluiceStatus SelfTest::scan(SluiceDevice device, Words& out) const
{
    Memory memory(device);
    Words floats;
    for (const uint32_t value : values_)
        floats.push_back((value & 1) != 0 ? 0x3f800000u : 0x40000000u);
    for (uint32_t i = 0; i < 48; ++i) {
        const SluiceValueType type = static_cast<SluiceValueType>(i % 4);
        const Words& values = type == SLUICE_VALUE_F32 ? floats : values_;
        SluiceScanInfo info = {};
        info.kind = static_cast<SluiceScanKind>(i / 4 % 2);
        info.operation = static_cast<SluiceOperation>(i / 8 % 3);
        info.type = type;
        info.maxCount = static_cast<uint32_t>(values.size()) / (type == SLUICE_VALUE_U64 ? 2 : 1);
        info.input = memory.make(values);
        info.output = memory.poisoned(values.size());
        if (i >= 24) info.heads = memory.make(Words((values.size() + 31) / 32, 0x00100401u));
        info.total = memory.poisoned(2);
        runWithScratch(device, memory, info, sluiceGetScanRequirements, sluiceCmdScan);
        memory.read(info.output, out);
        memory.read(info.total, out);
    }
    return memory.status;
}

SluiceStatus SelfTest::reduce(SluiceDevice device, Words& out) const
{
    Memory memory(device);
    for (uint32_t i = 0; i < 9; ++i) { // all but the sums of f32, which the scans use
        SluiceReduceInfo info = {};
        info.type = static_cast<SluiceValueType>(i % 3);
        info.operation = static_cast<SluiceOperation>(i / 3);
        info.maxCount =
            static_cast<uint32_t>(values_.size()) / (info.type == SLUICE_VALUE_U64 ? 2 : 1);
        info.input = memory.make(values_);
        info.result = memory.poisoned(2);
        runWithScratch(device, memory, info, sluiceGetReduceRequirements, sluiceCmdReduce);
        memory.read(info.result, out);
    }
    return memory.status != SLUICE_OK ? memory.status : scan(device, out);
}

SluiceStatus SelfTest::compact(SluiceDevice device, uint32_t elementSize, Words& out) const
{
    Memory memory(device);
    for (const size_t capacity : {values_.size(), values_.size() / 4}) {
        SluiceCompactInfo info = {};
        info.test = SLUICE_COMPACT_NON_ZERO;
        info.elementSize = elementSize;
        info.maxCount = static_cast<uint32_t>(values_.size() * 4 / elementSize);
        info.input = memory.make(values_);
        info.output = memory.poisoned(capacity);
        info.resultCount = memory.poisoned(1);
        runWithScratch(device, memory, info, sluiceGetCompactRequirements, sluiceCmdCompact);
        memory.read(info.output, out);
        memory.read(info.resultCount, out);
    }
    return memory.status;
}

// Decode and checksum of all tiles, which also is the test of the kernel that sets the status
// words.
SluiceStatus SelfTest::tiles(SluiceDevice device, bool byDriver, Words& out) const
{
    Memory memory(device);
    const uint32_t count = byDriver ? goodTiles : static_cast<uint32_t>(tiles_.size());
    SluiceContextInfo chosen = {};
    sluiceGetContextInfo(sluiceGetDeviceContext(device), &chosen);
    uint64_t sourceWords = 0;
    Words source, expected;
    for (uint32_t i = 0; i < count; ++i) {
        const Tile& tile = tiles_[i];
        source.resize(sourceWords + (tile.stream.size() + 3) / 4);
        std::memcpy(source.data() + sourceWords, tile.stream.data(), tile.stream.size());
        sourceWords = source.size();
        expected.push_back(tile.checksum);
    }
    const SluiceBuffer sourceBuffer = memory.make(source);
    const SluiceBuffer destination = memory.poisoned(uint64_t(count) * 16384);
    if (memory.status != SLUICE_OK) return memory.status;

    std::vector<SluiceRegion> regions;
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const Tile& tile = tiles_[i];
        SluiceRegion region;
        region.srcAddress = sluiceGetAddress(device, sourceBuffer) + at;
        region.dstAddress = sluiceGetAddress(device, destination) + regions.size() * 65536;
        region.compressedSize = tile.stream.size();
        region.decompressedSize = tile.size;
        regions.push_back(region);
        at += (tile.stream.size() + 3) / 4 * 4;
    }
    Words regionWords(regions.size() * sizeof(SluiceRegion) / 4);
    std::memcpy(regionWords.data(), regions.data(), regionWords.size() * 4);

    SluiceGdeflateInfo decode = {};
    decode.maxRegionCount = count;
    decode.regionStride = sizeof(SluiceRegion);
    decode.flags = byDriver && chosen.driverRegionLimit != 0 ? SLUICE_DECODE_BY_DRIVER : 0;
    decode.regions = memory.make(regionWords);
    decode.source = sourceBuffer;
    decode.destination = destination;
    decode.status = memory.poisoned(count + 2);
    addScratch(device, memory, decode, sluiceGetGdeflateRequirements);
    SluiceChecksumInfo check = {};
    check.maxRegionCount = count;
    check.regionStride = decode.regionStride;
    check.regions = decode.regions;
    check.destination = destination;
    check.expected = memory.make(expected);
    check.status = decode.status;
    execute(device, memory.status, [&](SluiceContext context, SluiceCommands commands) {
        const SluiceStatus decoded = sluiceCmdGdeflate(context, commands, &decode);
        sluiceCmdBarrier(context, commands);
        const SluiceStatus checked = sluiceCmdChecksum(context, commands, &check);
        return decoded != SLUICE_OK ? decoded : checked;
    });

    Words status, bytes;
    memory.read(decode.status, status);
    memory.read(destination, bytes);
    if (memory.status != SLUICE_OK) return memory.status;
    out.insert(out.end(), status.begin(), status.end());
    // A tile that failed to decode leaves its range unspecified; what lies behind the range is not.
    for (uint32_t i = 0; i < count; ++i) {
        const bool decoded = status[i] == SLUICE_TILE_OK || status[i] == SLUICE_TILE_BAD_CHECKSUM;
        const size_t from = decoded ? 0 : (tiles_[i].size + 3) / 4;
        out.insert(out.end(), bytes.begin() + static_cast<ptrdiff_t>(i * 16384 + from),
                   bytes.begin() + static_cast<ptrdiff_t>((i + 1) * 16384));
    }
    return SLUICE_OK;
}

// Each tile as a stream of its own; then one that is cut off, and one whose table says more than
// there is.
SluiceStatus SelfTest::tileStreams(SluiceDevice device, Words& out) const
{
    Memory memory(device);
    Words source;
    std::vector<SluiceStreamRange> ranges;
    for (const Tile& tile : tiles_) {
        SluiceStreamRange range = {source.size() * 4, 12 + tile.stream.size(),
                                   ranges.size() * 65536, 65536};
        source.insert(source.end(), {0x1fb04u, 1u | tile.size % 65536 << 2,
                                     static_cast<uint32_t>(tile.stream.size())});
        source.resize(source.size() + (tile.stream.size() + 3) / 4);
        std::memcpy(source.data() + range.sourceOffset / 4 + 3, tile.stream.data(),
                    tile.stream.size());
        ranges.push_back(range);
    }
    ranges.push_back(ranges[1]);
    ranges.back().sourceSize = 9;
    ranges.push_back(ranges[1]);
    ranges.back().sourceSize += 4;
    Words rangeWords(ranges.size() * sizeof(SluiceStreamRange) / 4);
    std::memcpy(rangeWords.data(), ranges.data(), rangeWords.size() * 4);

    SluiceTileStreamsInfo info = {};
    info.maxStreamCount = static_cast<uint32_t>(ranges.size());
    info.maxTileCount = static_cast<uint32_t>(tiles_.size()) - 1; // the last one does not fit
    info.streams = memory.make(rangeWords);
    info.source = memory.make(source);
    info.destination = memory.poisoned(tiles_.size() * 16384);
    info.results = memory.poisoned((ranges.size() + 1) * 4);
    info.status = memory.poisoned(tiles_.size() + 1);
    runWithScratch(device, memory, info, sluiceGetTileStreamsRequirements, sluiceCmdTileStreams);
    memory.read(info.results, out);
    memory.read(info.status, out);
    return memory.status;
}

// Tiles of one part and of several, one of them cut off. What a failed tile leaves is unspecified:
// statuses, and the others.
SluiceStatus SelfTest::gstd(SluiceDevice device, Words& out) const
{
    Memory memory(device);
    SluiceGstdEncoder encoder = nullptr;
    const SluiceGstdEncoderInfo encoding = {6, 0};
    memory.status = sluiceCreateGstdEncoder(&encoding, &encoder);
    Words source;
    std::vector<SluiceRegion> regions;
    uint64_t output = 0;
    for (const uint32_t size : {500u, 20001u, 70000u, 20001u}) {
        const std::vector<uint8_t> bytes = testBytes(size, size);
        std::vector<uint8_t> stream(sluiceGstdTileBound(size));
        size_t used = 0;
        if (memory.status == SLUICE_OK)
            memory.status = sluiceEncodeGstdTile(encoder, bytes.data(), size, stream.data(),
                                                 stream.size(), &used);
        if (regions.size() == 3) used = used / 8 * 4;
        regions.push_back({source.size() * 4, output, used, size});
        source.resize(source.size() + (used + 3) / 4);
        std::memcpy(source.data() + regions.back().srcAddress / 4, stream.data(), used);
        output += (size + 3) / 4 * 4;
    }
    sluiceDestroyGstdEncoder(encoder);
    SluiceGstdInfo info = {};
    info.maxRegionCount = static_cast<uint32_t>(regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.tilesAtOnce = 3;
    info.source = memory.make(source);
    info.destination = memory.poisoned(output / 4);
    if (memory.status != SLUICE_OK) return memory.status;
    for (SluiceRegion& region : regions) {
        region.srcAddress += sluiceGetAddress(device, info.source);
        region.dstAddress += sluiceGetAddress(device, info.destination);
    }
    Words regionWords(regions.size() * sizeof(SluiceRegion) / 4);
    std::memcpy(regionWords.data(), regions.data(), regionWords.size() * 4);
    info.regions = memory.make(regionWords);
    info.status = memory.poisoned(regions.size() + 2);
    runWithScratch(device, memory, info, sluiceGetGstdRequirements, sluiceCmdGstd);
    Words bytes;
    memory.read(info.status, out);
    memory.read(info.destination, bytes);
    if (memory.status == SLUICE_OK)
        out.insert(out.end(), bytes.begin(), bytes.end() - (20001 + 3) / 4);
    return memory.status;
}

// Descriptions of any bytes, most of which say something, of every log; then counts. What is left
// of a failed one is unspecified.
SluiceStatus SelfTest::fseTables(SluiceDevice device, Words& out) const
{
    Memory memory(device);
    constexpr uint32_t tables = 40, sourceBytes = 64,
                       room = SLUICE_FSE_TABLE_SIZE(SLUICE_FSE_MAX_LOG);
    for (const uint32_t flags : {0u, SLUICE_FSE_COUNTS}) {
        const std::vector<uint8_t> all = testBytes(4 * tables * sourceBytes, 3);
        std::vector<uint8_t> bytes(all.end() - tables * sourceBytes, all.end()); // noise
        for (uint32_t i = 0; i < tables; ++i) {
            uint8_t* const own = bytes.data() + i * sourceBytes;
            own[0] = uint8_t((own[0] & 0xf0) | i % 6);
            if (flags == 0) continue;
            int16_t counts[sourceBytes / 2];
            std::fill_n(counts, sourceBytes / 2, int16_t(i % 3 == 0 ? -1 : 1 << i % 5));
            std::memcpy(own, counts, sourceBytes);
        }
        Words source(bytes.size() / 4);
        std::memcpy(source.data(), bytes.data(), bytes.size());
        SluiceFseTablesInfo info = {};
        info.maxRegionCount = tables;
        info.regionStride = sizeof(SluiceRegion);
        info.flags = flags;
        info.maxSymbols = 53;
        info.maxLog = SLUICE_FSE_MAX_LOG;
        info.source = memory.make(source);
        info.destination = memory.poisoned(tables * room / 4);
        if (memory.status != SLUICE_OK) return memory.status;
        Words regionWords(tables * sizeof(SluiceRegion) / 4);
        for (uint32_t i = 0; i < tables; ++i) {
            const SluiceRegion region = {sluiceGetAddress(device, info.source) + i * sourceBytes,
                                         sluiceGetAddress(device, info.destination) + i * room,
                                         sourceBytes, room};
            std::memcpy(regionWords.data() + i * sizeof region / 4, &region, sizeof region);
        }
        info.regions = memory.make(regionWords);
        info.status = memory.poisoned(tables + 2);
        execute(device, memory.status, [&](SluiceContext context, SluiceCommands commands) {
            return sluiceCmdFseTables(context, commands, &info);
        });
        Words statuses, results;
        memory.read(info.status, statuses);
        memory.read(info.destination, results);
        if (memory.status != SLUICE_OK) return memory.status;
        out.insert(out.end(), statuses.begin(), statuses.end());
        for (uint32_t i = 0; i < tables; ++i) {
            const uint32_t* const table = results.data() + i * (room / 4);
            if (statuses[i] == SLUICE_TILE_OK)
                out.insert(out.end(), table, table + 1 + (1u << (table[0] >> 16 & 15)));
        }
    }
    return memory.status;
}

// Rows of records with every kind of column that a plan chooses for them.
SluiceStatus SelfTest::filters(SluiceDevice device, Words& out) const
{
    Memory memory(device);
    constexpr uint32_t size = 36000;
    const std::vector<uint8_t> bytes = testBytes(size, 5);
    SluiceFilterPlanInfo wanted = {};
    wanted.maxTileSize = size;
    wanted.features = SLUICE_FILTER_ALL;
    wanted.force = 1;
    wanted.layout = SLUICE_FILTER_LAYOUT_RECORDS;
    wanted.stride = 3;
    wanted.columnSize = 1;
    wanted.rowRecords = 100;
    SluiceFilterPlan plan = nullptr;
    memory.status = sluiceCreateFilterPlan(bytes.data(), bytes.size(), &wanted, &plan);
    if (memory.status != SLUICE_OK) return memory.status;
    uint32_t count = 0;
    const SluiceFilterSegment segment = *sluiceGetFilterSegments(plan, &count);
    const uint32_t tileSize = std::min<uint32_t>(segment.tileSize, size) / 4 * 4;
    Words filtered(tileSize / 4), description(segment.descriptionSize / 4);
    if (segment.description == nullptr) {
        memory.status = SLUICE_ERROR_ARGUMENT; // it was to be forced
    } else {
        std::memcpy(description.data(), segment.description, segment.descriptionSize);
        memory.status = sluiceApplyFilter(segment.description, segment.descriptionSize,
                                          bytes.data(), filtered.data(), tileSize);
    }
    sluiceDestroyFilterPlan(plan);
    SluiceFilterInfo info = {};
    info.maxTileCount = info.statusCount = 1;
    info.maxTileSize = tileSize;
    info.source = memory.make(filtered);
    info.destination = memory.poisoned(tileSize / 4);
    info.descriptions = memory.make(description);
    info.status = memory.make(Words{SLUICE_TILE_OK, 0, 0xffffffffu});
    if (memory.status != SLUICE_OK) return memory.status;
    const SluiceFilterTile tile = {sluiceGetAddress(device, info.source),
                                   sluiceGetAddress(device, info.destination),
                                   tileSize,
                                   0,
                                   segment.descriptionSize,
                                   0};
    Words tileWords(sizeof(tile) / 4);
    std::memcpy(tileWords.data(), &tile, sizeof(tile));
    info.tiles = memory.make(tileWords);
    runWithScratch(device, memory, info, sluiceGetFilterRequirements, sluiceCmdFilter);
    memory.read(info.status, out);
    memory.read(info.destination, out);
    return memory.status;
}

// A unit of each kind, then both with one gap wrong. What a failed block leaves is unspecified:
// statuses only.
SluiceStatus SelfTest::weights(SluiceDevice device, Words& out) const
{
    Memory memory(device);
    for (const bool damaged : {false, true}) {
        std::vector<uint8_t> source;
        std::vector<SluiceDf11Unit> units;
        uint64_t output = 0;
        for (const SluiceDf11Kind kind : {SLUICE_DF11_BF16, SLUICE_DF11_FP8_E4M3}) {
            SluiceDf11Unit unit = appendUnit(source, kind);
            if (damaged) source[unit.gapsOffset + 400] ^= 4;
            unit.firstBlock = static_cast<uint32_t>(units.size()) * 3;
            unit.destinationOffset = output;
            output +=
                (uint64_t(unit.elementCount) * (kind == SLUICE_DF11_BF16 ? 2 : 1) + 7) / 4 * 4;
            units.push_back(unit);
        }
        const auto words = [](const void* bytes, size_t size) {
            Words result(size / 4);
            std::memcpy(result.data(), bytes, size);
            return result;
        };
        SluiceDf11Info info = {};
        info.maxUnitCount = static_cast<uint32_t>(units.size());
        info.maxBlockCount = info.maxUnitCount * 3;
        info.units = memory.make(words(units.data(), units.size() * sizeof(SluiceDf11Unit)));
        info.source = memory.make(words(source.data(), source.size()));
        info.destination = memory.poisoned(output / 4);
        info.status = memory.poisoned(info.maxBlockCount + 2);
        execute(device, memory.status, [&](SluiceContext context, SluiceCommands commands) {
            return sluiceCmdDf11(context, commands, &info);
        });
        memory.read(info.status, out);
        if (!damaged) memory.read(info.destination, out);
    }
    return memory.status;
}

SluiceStatus SelfTest::answers(SluiceDevice device, Kernel kernel, Words& out) const
{
    if (kernel >= Kernel::reduce_sum) return reduce(device, out);
    if (kernel >= Kernel::scan_sum_ring) return scan(device, out);
    if (kernel <= Kernel::compact_16)
        return compact(device, 1u << static_cast<uint32_t>(kernel), out);
    switch (kernel) {
    case Kernel::compact_ring:
    case Kernel::compact_ring_selectors:
    case Kernel::compact_ring_words:
    case Kernel::compact_ring_bytes:
    case Kernel::compact_call:
    case Kernel::compact_call_selectors: return compact(device, 4, out);
    case Kernel::driver_regions: return tiles(device, true, out);
    case Kernel::tile_streams: return tileStreams(device, out);
    case Kernel::df11: return weights(device, out);
    case Kernel::gstd_symbols:
    case Kernel::gstd_expand: return gstd(device, out);
    case Kernel::fse_tables: return fseTables(device, out);
    case Kernel::filter: return filters(device, out);
    default: return tiles(device, false, out);
    }
}

std::string SelfTest::run(SluiceDevice device, Kernel kernel, bool& lost) const
{
    Words out;
    const SluiceStatus status = answers(device, kernel, out);
    lost = status != SLUICE_OK;
    if (lost)
        return std::string("the self-test could not run to its end: ") +
               sluiceGetStatusText(status);
    const Words& expected = expected_[static_cast<size_t>(kernel)];
    if (out == expected) return {};
    if (out.size() != expected.size()) return "other tiles fail than on the CPU";
    size_t first = 0;
    while (out[first] == expected[first])
        ++first;
    return "self-test: word " + std::to_string(first) + " of " + std::to_string(out.size()) +
           " is " + std::to_string(out[first]) + ", the CPU has " + std::to_string(expected[first]);
}

} // namespace sluice::dev
