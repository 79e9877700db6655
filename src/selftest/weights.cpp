// SPDX-License-Identifier: MIT OR Apache-2.0
// The float codec and the units of DFloat11 files.
#include "cases.h"

#include <algorithm>

#include <sluice/sluice_df11.h>
#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>

#include "encode/df11_encoder.h"

namespace sluice::selftest {

namespace {

// Appends a table at a place of the alignment that all tables have; returns where it begins.
uint64_t place(Bytes& source, const void* bytes, size_t size)
{
    const uint64_t offset = source.size();
    source.resize((source.size() + size + 15) / 16 * 16);
    if (size != 0) std::memcpy(source.data() + offset, bytes, size);
    return offset;
}

// Elements whose symbols are few and of very different frequency, so that codes have all lengths.
Bytes madeUpElements(uint32_t type, uint32_t count, uint32_t seed)
{
    struct Form {
        uint32_t firstBit, symbols, least; // where the symbol stands, how many, the first of them
    };
    constexpr Form forms[SLUICE_FLOAT_TYPE_COUNT] = {
        {7, 40, 90}, {10, 30, 1}, {23, 40, 90}, {3, 14, 1}, {2, 30, 1}, {0, 200, 20}, {1, 60, 2}};
    const Form form = forms[type];
    const uint32_t bytes = sluiceFloatElementSize(type);
    Random random(seed);
    Bytes elements(size_t(count) * bytes);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t symbol = 0;
        while (symbol + 1 < form.symbols && random.below(3) != 0)
            ++symbol;
        uint32_t bits = random.next() << 8 ^ random.next();
        const uint32_t used = type == SLUICE_FLOAT_BYTES                                 ? 0xffu
                              : type == SLUICE_FLOAT_F8_E4M3                             ? 0xfu
                              : type == SLUICE_FLOAT_F8_E4M3_DENSE                       ? 0x3fu
                              : type == SLUICE_FLOAT_F8_E5M2 || type == SLUICE_FLOAT_F16 ? 0x1fu
                                                                                         : 0xffu;
        bits = (bits & ~(used << form.firstBit)) | (form.least + symbol) << form.firstBit;
        std::memcpy(&elements[size_t(i) * bytes], &bits, bytes);
    }
    return elements;
}

struct FloatTensors {
    Bytes source;
    std::vector<SluiceFloatTensor> tensors; // addresses count from source and destination
    uint64_t outputSize = 0;
    uint32_t tiles = 0;

    void add(SluiceFloatTensor tensor)
    {
        const uint64_t bytes = tensor.count * sluiceFloatElementSize(tensor.type);
        tensor.output = outputSize;
        tensor.firstTile = tiles;
        outputSize += (bytes + 15) / 16 * 16 + 16;
        tiles += static_cast<uint32_t>((tensor.count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE);
        tensors.push_back(tensor);
    }
    SluiceStatus encode(uint32_t type, uint32_t count, uint32_t seed);
};

SluiceStatus FloatTensors::encode(uint32_t type, uint32_t count, uint32_t seed)
{
    const Bytes elements = madeUpElements(type, count, seed);
    uint64_t histogram[256] = {};
    uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE];
    SluiceStatus status = sluiceFloatCountSymbols(type, elements.data(), count, histogram);
    if (status == SLUICE_OK) status = sluiceFloatCodeLengths(histogram, lengths);
    Words words, index;
    for (uint32_t first = 0; first < count && status == SLUICE_OK; first += SLUICE_FLOAT_TILE) {
        uint32_t tile[SLUICE_FLOAT_TILE_BOUND], used = 0;
        index.push_back(static_cast<uint32_t>(words.size() / 2));
        status = sluiceFloatEncodeTile(type, lengths,
                                       &elements[size_t(first) * sluiceFloatElementSize(type)],
                                       std::min<uint32_t>(count - first, SLUICE_FLOAT_TILE), tile,
                                       SLUICE_FLOAT_TILE_BOUND, &used);
        words.insert(words.end(), tile, tile + used);
    }
    index.push_back(static_cast<uint32_t>(words.size() / 2));
    Bytes raw(static_cast<size_t>(sluiceFloatRawSize(type, count)));
    if (status == SLUICE_OK)
        status = sluiceFloatPackRaw(type, count, elements.data(), 0, count, raw.data());
    SluiceFloatTensor tensor = {};
    tensor.words = place(source, words.data(), words.size() * 4);
    tensor.wordsSize = words.size() * 4;
    tensor.index = place(source, index.data(), index.size() * 4);
    tensor.lengths = place(source, lengths, sizeof(lengths));
    tensor.raw = place(source, raw.data(), raw.size());
    tensor.count = count;
    tensor.type = type;
    add(tensor);
    return status;
}

} // namespace

// Tensors of some tiles of every type; then so many small ones that their statuses take more than 8
// KiB; then ones with each kind of damage.
void testFloatDecode(CaseBuffers& on)
{
    FloatTensors list;
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT && on.status == SLUICE_OK; ++type)
        on.status = list.encode(type, 3 * SLUICE_FLOAT_TILE - 1001, type);
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT && on.status == SLUICE_OK; ++type)
        on.status = list.encode(type, 77 + type, 50 + type);
    if (on.status != SLUICE_OK) return;
    for (uint32_t i = 0; i < 2100; ++i)
        list.add(list.tensors[SLUICE_FLOAT_TYPE_COUNT + i % SLUICE_FLOAT_TYPE_COUNT]);
    const auto good = static_cast<uint32_t>(list.tensors.size());
    SluiceFloatTensor damaged = list.tensors[0];
    damaged.wordsSize -= 800;
    list.add(damaged);
    damaged = list.tensors[1];
    damaged.type = SLUICE_FLOAT_TYPE_COUNT;
    list.add(damaged);
    damaged = list.tensors[2];
    damaged.lengths += 16;
    list.add(damaged);
    damaged = list.tensors[3];
    damaged.index += 4;
    list.add(damaged);
    damaged = list.tensors[4];
    damaged.raw += 8;
    list.add(damaged);

    SluiceFloatDecodeInfo info = {};
    info.tensorCount = static_cast<uint32_t>(list.tensors.size());
    info.tileCount = list.tiles;
    info.source = on.input(list.source);
    info.destination = on.output(list.outputSize);
    std::vector<SluiceFloatTensor> tensors = list.tensors;
    for (SluiceFloatTensor& tensor : tensors) {
        for (uint64_t* address : {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw})
            *address += on.address(info.source);
        tensor.output += on.address(info.destination);
    }
    info.tensors = on.input(tensors);
    info.status = on.output((uint64_t(info.tileCount) + 2) * 4);
    on.addScratch(info, sluiceGetFloatDecodeRequirements);
    on.run(sluiceCmdFloatDecode, info);
    on.take(info.status);
    on.take(info.destination, [&](uint8_t* bytes) {
        const uint64_t end = list.tensors[good].output;
        std::fill(bytes + end, bytes + list.outputSize, CaseBuffers::kPoison);
    });
}

namespace {

struct Df11Units {
    Bytes source;
    std::vector<SluiceDf11Unit> units;
    uint64_t outputSize = 0;
    uint32_t blocks = 0;

    void add(SluiceDf11Unit unit)
    {
        unit.destinationOffset = outputSize;
        unit.firstBlock = blocks;
        outputSize +=
            (uint64_t(unit.elementCount) * (unit.kind == SLUICE_DF11_BF16 ? 2 : 1) + 3) / 4 * 4 + 4;
        blocks += (unit.encodedSize + SLUICE_DF11_BLOCK_BYTES - 1) / SLUICE_DF11_BLOCK_BYTES;
        units.push_back(unit);
    }
    SluiceStatus encode(SluiceDf11Kind kind, uint32_t count, uint32_t seed);
};

SluiceStatus Df11Units::encode(SluiceDf11Kind kind, uint32_t count, uint32_t seed)
{
    const Bytes elements = madeUpElements(
        kind == SLUICE_DF11_BF16 ? SLUICE_FLOAT_BF16 : SLUICE_FLOAT_F8_E4M3, count, seed);
    uint64_t histogram[256] = {};
    countDf11Symbols(kind, elements.data(), count, histogram);
    Df11Code code;
    if (!makeDf11Code(kind, histogram, 1, code)) return SLUICE_ERROR_ARGUMENT;
    Df11Encoder encoder(kind, code);
    encoder.add(elements.data(), count);
    encoder.finish();
    SluiceDf11Tables tables = {};
    tables.luts = code.luts.data();
    tables.lutsSize = code.luts.size();
    tables.outputPositions = encoder.positions.data();
    tables.outputPositionsSize = encoder.positions.size();
    tables.gapsSize = encoder.gaps.size();
    tables.encodedSize = encoder.encoded.size();
    tables.signMantissaSize = encoder.signMantissa.size();
    SluiceDf11Unit unit = {};
    const SluiceStatus status = sluiceCheckDf11Unit(&tables, &unit, nullptr);
    unit.lutsOffset = place(source, code.luts.data(), code.luts.size());
    unit.encodedOffset = place(source, encoder.encoded.data(), encoder.encoded.size());
    unit.signMantissaOffset =
        place(source, encoder.signMantissa.data(), encoder.signMantissa.size());
    unit.outputPositionsOffset = place(source, encoder.positions.data(), encoder.positions.size());
    unit.gapsOffset = place(source, encoder.gaps.data(), encoder.gaps.size());
    add(unit);
    return status;
}

} // namespace

// Units of some blocks of both kinds; then so many small ones that their statuses take more than 8
// KiB; then ones with each kind of damage.
void testDf11(CaseBuffers& on)
{
    Df11Units list;
    constexpr SluiceDf11Kind kinds[] = {SLUICE_DF11_BF16, SLUICE_DF11_FP8_E4M3};
    for (const uint32_t count : {50002u, 302u}) {
        for (const SluiceDf11Kind kind : kinds) {
            if (on.status == SLUICE_OK) on.status = list.encode(kind, count, count);
        }
    }
    if (on.status != SLUICE_OK) return;
    for (uint32_t i = 0; i < 2100; ++i)
        list.add(list.units[2 + i % 2]);
    const auto good = static_cast<uint32_t>(list.units.size());
    for (uint32_t i = 0; i < 2; ++i) {
        SluiceDf11Unit damaged = list.units[i];
        damaged.encodedSize -= 700; // cut off
        list.add(damaged);
        damaged = list.units[i];
        damaged.lutsOffset += 256; // other tables
        list.add(damaged);
        damaged = list.units[i];
        damaged.gapsOffset += 16;
        list.add(damaged);
        damaged = list.units[i];
        damaged.outputPositionsOffset += 16;
        list.add(damaged);
        damaged = list.units[i];
        damaged.lutRows = 19;
        list.add(damaged);
    }
    SluiceDf11Info info = {};
    info.maxUnitCount = static_cast<uint32_t>(list.units.size()) + 2;
    info.maxBlockCount = list.blocks + 10;
    std::vector<SluiceDf11Unit> units = list.units;
    units.resize(info.maxUnitCount);
    info.units = on.input(units);
    info.unitCount = on.input(Words{info.maxUnitCount - 2});
    info.source = on.input(list.source);
    info.destination = on.output(list.outputSize);
    info.status = on.output((uint64_t(info.maxBlockCount) + 2) * 4);
    on.addScratch(info, sluiceGetDf11Requirements);
    on.run(sluiceCmdDf11, info);
    on.take(info.status);
    on.take(info.destination, [&](uint8_t* bytes) {
        const uint64_t end = list.units[good].destinationOffset;
        std::fill(bytes + end, bytes + list.outputSize, CaseBuffers::kPoison);
    });
}

} // namespace sluice::selftest
