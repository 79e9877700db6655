// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes Gstd tiles that are mostly right. The tests' word writer writes parts of literals and
// sequences, then some of the tile's words are damaged. All decoders must agree, and an undamaged
// tile must decode to what its parts say.
#include <fuzzer/FuzzedDataProvider.h>
#include <sluice/sluice_encode.h>

#include <algorithm>
#include <vector>

#include "cpu/fast/gstd.h"
#include "cpu/gstd.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/support/gstd_word_writer.h"

using namespace sluice;
using namespace sluice::fuzz;
using namespace sluice::test;

namespace {

using Bytes = std::vector<uint8_t>;
constexpr uint32_t kMaxPartSize = 65536;

// The parts of a tile, and what they decode to.
struct Content {
    Bytes output;
    std::vector<GstdPart> parts;
    bool keepsRules = true; // false if the parts are known to break a rule
};

// The word writer's prefix codes have room for twelve different bytes.
void addLiterals(FuzzedDataProvider& input, Bytes& literals, uint32_t count)
{
    const uint32_t first = input.ConsumeIntegral<uint8_t>(),
                   distinct = input.ConsumeIntegralInRange<uint32_t>(1, 12);
    uint32_t random = input.ConsumeIntegral<uint32_t>();
    for (uint32_t i = 0; i < count; ++i) {
        random = random * 1664525 + 1013904223;
        literals.push_back(uint8_t(first + (random >> 16) % distinct));
    }
}

void addCoded(FuzzedDataProvider& input, Content& content)
{
    GstdCoded part;
    part.literalKind = input.ConsumeIntegralInRange<uint32_t>(0, 3);
    part.literalLog = input.ConsumeIntegralInRange<uint32_t>(6, 11);
    part.sequenceLog = input.ConsumeIntegralInRange<uint32_t>(6, 10);
    part.modulus = input.ConsumeIntegralInRange<uint32_t>(1, 64);
    uint32_t repeats[3] = {1, 4, 8}, literal = 0;
    const size_t begin = content.output.size();
    addLiterals(input, part.literals, input.ConsumeIntegralInRange<uint32_t>(0, 3000));
    if (part.literalKind == 3)
        std::fill(part.literals.begin(), part.literals.end(),
                  part.literals.empty() ? uint8_t(0) : part.literals[0]);
    // Literals end when sequences have used them up, or go on after the last sequence.
    while (input.ConsumeBool() && part.sequences.size() < 3000) {
        GstdSequence sequence = {};
        const uint32_t left = uint32_t(part.literals.size()) - literal;
        sequence.literals =
            std::min<uint32_t>(left, input.ConsumeBool() ? input.ConsumeIntegral<uint8_t>() % 8
                                                         : input.ConsumeIntegral<uint16_t>());
        sequence.length = 3 + (input.ConsumeBool() ? input.ConsumeIntegral<uint8_t>() % 16
                                                   : input.ConsumeIntegral<uint16_t>() % 5000);
        content.output.insert(content.output.end(), part.literals.begin() + literal,
                              part.literals.begin() + literal + sequence.literals);
        literal += sequence.literals;
        sequence.repeats = input.ConsumeBool();
        uint32_t place = 2;
        if (sequence.repeats) {
            sequence.offset = input.ConsumeIntegralInRange<uint32_t>(0, 2);
            place = (sequence.offset + (sequence.literals == 0 ? 1 : 0)) % 3;
        } else {
            sequence.offset = input.ConsumeIntegralInRange<uint32_t>(
                1, std::max<uint32_t>(1, uint32_t(content.output.size())));
        }
        const uint32_t offset = sequence.repeats ? repeats[place] : sequence.offset;
        for (; place > 0; --place)
            repeats[place] = repeats[place - 1];
        repeats[0] = offset;
        if (content.output.size() - begin + sequence.length > kMaxPartSize / 2) break;
        content.keepsRules = content.keepsRules && offset <= content.output.size();
        for (uint32_t i = 0; i < sequence.length; ++i)
            content.output.push_back(offset <= content.output.size()
                                         ? content.output[content.output.size() - offset]
                                         : uint8_t(0));
        part.sequences.push_back(sequence);
    }
    content.output.insert(content.output.end(), part.literals.begin() + literal,
                          part.literals.end());
    part.size = uint32_t(content.output.size() - begin);
    if (part.size != 0 && part.size <= kMaxPartSize)
        content.parts.push_back(codedPart(part));
    else
        content.output.resize(begin);
}

void addPart(FuzzedDataProvider& input, Content& content)
{
    const uint32_t kind = input.ConsumeIntegralInRange<uint32_t>(0, 7);
    const uint32_t size = input.ConsumeIntegralInRange<uint32_t>(1, 2000);
    if (kind == 0) {
        Bytes bytes;
        addLiterals(input, bytes, size);
        content.parts.push_back(plainPart(bytes));
        content.output.insert(content.output.end(), bytes.begin(), bytes.end());
    } else if (kind == 1) {
        const uint8_t byte = input.ConsumeIntegral<uint8_t>();
        content.parts.push_back(runPart(byte, size));
        content.output.insert(content.output.end(), size, byte);
    } else {
        addCoded(input, content);
    }
}

// Damages some words. Returns whether anything was changed.
bool damage(FuzzedDataProvider& input, Bytes& tile)
{
    bool changed = false;
    for (uint32_t n = input.ConsumeIntegralInRange<uint32_t>(0, 3); n > 0; --n) {
        const size_t at = input.ConsumeIntegralInRange<size_t>(0, tile.size() - 1);
        const uint8_t flip = input.ConsumeIntegral<uint8_t>();
        tile[at] = uint8_t(tile[at] ^ flip);
        changed = changed || flip != 0;
    }
    if (input.ConsumeBool() && tile.size() > 8) {
        tile.resize(tile.size() - input.ConsumeIntegralInRange<size_t>(1, 4));
        changed = true;
    }
    return changed;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    FuzzedDataProvider input(data, size);
    Content content;
    const uint32_t depth = input.ConsumeIntegralInRange<uint32_t>(1, SLUICE_GSTD_MAX_DEPTH);
    for (uint32_t n = input.ConsumeIntegralInRange<uint32_t>(1, 4); n > 0; --n)
        addPart(input, content);
    if (content.parts.empty()) return 0;
    Bytes tile = gstdTile(depth, content.parts);
    const bool isDamaged = damage(input, tile);
    Bytes reference(content.output.size(), 0x5a), fast;
    const uint32_t status =
        cpu::decodeGstdTile(tile.data(), tile.size(), reference.data(), reference.size());
    require(status != SLUICE_TILE_PENDING && status <= SLUICE_TILE_LIMIT);
    if (!isDamaged && status == SLUICE_TILE_OK) require(reference == content.output);
    if (!isDamaged && !content.keepsRules) require(status != SLUICE_TILE_OK);
    std::vector<uint64_t> scratch(cpu::fast::kGstdScratchSize / 8 + 1);
    for (const auto decode : {cpu::fast::decodeGstdTile, cpu::fast::decodeGstdTilePortably}) {
        fast.assign(reference.size(), 0x5a);
        require(decode(tile.data(), tile.size(), fast.data(), fast.size(), scratch.data()) ==
                status);
        require(status != SLUICE_TILE_OK || fast == reference);
    }
    return 0;
}
