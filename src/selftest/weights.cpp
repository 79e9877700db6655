// SPDX-License-Identifier: MIT OR Apache-2.0
// The cases for the float codec and for units of DFloat11 and ECF8.
#include "selftest/cases.h"

#include <algorithm>

#include <sluice/sluice_df11.h>
#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>

#include "formats/df11_form.h"
#include "encode/weights/df11_encoder.h"
#include "encode/weights/float_tile_encoder.h"

namespace sluice::selftest {

namespace {

// Makes elements of a SluiceFloatType. Their symbols, the bits that are coded, have very different
// frequencies, so that codes of all lengths occur.
Bytes madeUpElements(uint32_t type, uint32_t count, uint32_t seed)
{
    struct Form {
        // The position of the symbol's lowest bit in an element, the number of different symbols,
        // and the smallest symbol.
        uint32_t firstBit, symbols, least;
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

// A list of coded tensors. Their addresses are still offsets in source and destination.
struct FloatTensors {
    Bytes source;
    std::vector<SluiceFloatTensor> tensors;
    uint64_t outputSize = 0;
    uint32_t tiles = 0;

    // Adds a tensor whose data is in `source` already, with an output of its own.
    void add(SluiceFloatTensor tensor)
    {
        const uint64_t bytes = tensor.count * sluiceFloatElementSize(tensor.type);
        tensor.output = outputSize;
        tensor.firstTile = tiles;
        outputSize += (bytes + 15) / 16 * 16 + 16;
        tiles += uint32_t((tensor.count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE);
        tensors.push_back(tensor);
    }
    // Encodes made-up elements and adds the tensor.
    SluiceStatus encode(uint32_t type, uint32_t count, uint32_t seed);
};

SluiceStatus FloatTensors::encode(uint32_t type, uint32_t count, uint32_t seed)
{
    const Bytes elements = madeUpElements(type, count, seed);
    FloatTensor tensor;
    const SluiceStatus status = tensor.encode(type, elements.data(), count);
    add(tensor.appendTo(source));
    return status;
}

} // namespace

// Decodes a list: tensors of every type with several tiles each, then many small tensors, whose
// statuses take more than 8 KiB so that a kernel that does only the start of a list gives wrong
// results, then one tensor for each kind of damage.
template <>
void SelfTestCases::test<SelfTestCase::float_decode>(CaseBuffers& on)
{
    FloatTensors list;
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT && on.status == SLUICE_OK; ++type)
        on.status = list.encode(type, 3 * SLUICE_FLOAT_TILE - 1001, type);
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT && on.status == SLUICE_OK; ++type)
        on.status = list.encode(type, 77 + type, 50 + type);
    if (on.status != SLUICE_OK) return;
    for (uint32_t i = 0; i < 2100; ++i)
        list.add(list.tensors[SLUICE_FLOAT_TYPE_COUNT + i % SLUICE_FLOAT_TYPE_COUNT]);
    const auto good = uint32_t(list.tensors.size());
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
    info.tensorCount = uint32_t(list.tensors.size());
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
        // The bytes of damaged tensors are unspecified.
        const uint64_t end = list.tensors[good].output;
        std::fill(bytes + end, bytes + list.outputSize, CaseBuffers::kPoison);
    });
}

namespace {

// A list of DFloat11 and ECF8 units, with their common source.
struct Df11Units {
    Bytes source;
    std::vector<SluiceDf11Unit> units;
    uint64_t outputSize = 0;
    uint32_t blocks = 0;

    // Adds a unit whose data is in `source` already, with an output of its own.
    void add(SluiceDf11Unit unit)
    {
        unit.destinationOffset = outputSize;
        unit.firstBlock = blocks;
        outputSize +=
            (uint64_t(unit.elementCount) * df11Form(unit.kind).elementBytes + 3) / 4 * 4 + 4;
        blocks += blocksOf(unit);
        units.push_back(unit);
    }
    // Encodes made-up elements and adds the unit.
    SluiceStatus encode(SluiceDf11Kind kind, uint32_t count, uint32_t seed);
};

SluiceStatus Df11Units::encode(SluiceDf11Kind kind, uint32_t count, uint32_t seed)
{
    const Bytes elements = madeUpElements(
        kind == SLUICE_DF11_BF16 ? SLUICE_FLOAT_BF16 : SLUICE_FLOAT_F8_E4M3, count, seed);
    SluiceDf11Unit unit = {};
    if (encodeDf11Unit(kind, elements.data(), count, 1, source, unit) == 0)
        return SLUICE_ERROR_ARGUMENT;
    add(unit);
    return SLUICE_OK;
}

} // namespace

// Decodes a list: units of both kinds with several blocks each, then many small units, whose
// statuses take more than 8 KiB so that a kernel that does only the start of a list gives wrong
// results, then one unit for each kind of damage.
template <>
void SelfTestCases::test<SelfTestCase::df11>(CaseBuffers& on)
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
    const auto good = uint32_t(list.units.size());
    for (uint32_t i = 0; i < 2; ++i) {
        SluiceDf11Unit damaged = list.units[i];
        damaged.encodedSize -= 700; // the stream is cut off
        list.add(damaged);
        damaged = list.units[i];
        damaged.lutsOffset += 256; // the lookup tables are read from a wrong place
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
    info.maxUnitCount = uint32_t(list.units.size()) + 2;
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
        // The bytes of damaged units are unspecified.
        const uint64_t end = list.units[good].destinationOffset;
        std::fill(bytes + end, bytes + list.outputSize, CaseBuffers::kPoison);
    });
}

} // namespace sluice::selftest
