// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_df11.h>

#include "tests/support/df11_units.h"
#include "test_paths.h"

#include "formats/safetensors.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <sstream>

namespace sluice::test {
namespace {

constexpr uint64_t kDestinationGap = 52;

struct Code {
    uint32_t bits = 0;
    uint32_t length = 0;
};

// Makes the codes as the original packers do: the longest ones get the smallest values, the end
// mark the smallest of all.
std::vector<Code> makeCodes(const CodeLengths& lengths)
{
    std::vector<uint32_t> order;
    for (uint32_t symbol = 0; symbol <= kDf11End; ++symbol) {
        if (lengths[symbol] != 0) order.push_back(symbol);
    }
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a > b;
    });
    std::vector<Code> codes(kDf11End + 1);
    uint64_t next = 0; // in units of 2^-32
    for (const uint32_t symbol : order) {
        codes[symbol] = {uint32_t(next >> (32 - lengths[symbol])), lengths[symbol]};
        next += uint64_t(1) << (32 - lengths[symbol]);
    }
    REQUIRE(next <= uint64_t(1) << 32);
    return codes;
}

class BitWriter {
public:
    void put(uint32_t value, uint32_t count)
    {
        for (uint32_t i = count; i-- > 0; ++bits) {
            if (bits % 8 == 0) bytes.push_back(0);
            bytes.back() = uint8_t(bytes.back() | (value >> i & 1) << (7 - bits % 8));
        }
    }
    Bytes bytes;
    uint64_t bits = 0;
};

void appendPosition(Df11Tensors& unit, uint64_t value)
{
    for (uint32_t i = 0; i < (unit.kind == SLUICE_DF11_BF16 ? 4u : 8u); ++i)
        unit.outputPositions.push_back(uint8_t(value >> 8 * i));
}

void encode(Df11Tensors& unit, const Bytes& exponents, const std::vector<Code>& codes)
{
    BitWriter stream, gaps;
    const uint32_t gapBits = unit.kind == SLUICE_DF11_BF16 ? 5 : 4;
    uint64_t windows = 0, blocks = 0;
    for (size_t i = 0; i < exponents.size(); ++i) {
        if (stream.bits / 64 + 1 > windows) {
            gaps.put(uint32_t(stream.bits % 64), gapBits);
            ++windows;
        }
        if (stream.bits / 32768 + 1 > blocks) {
            appendPosition(unit, i);
            ++blocks;
        }
        const Code& code = codes[exponents[i]];
        REQUIRE(code.length != 0);
        stream.put(code.bits, code.length);
    }
    const Code& end = codes[kDf11End];
    const uint32_t rest = uint32_t((8 - stream.bits % 8) % 8);
    if (rest != 0)
        stream.put(end.length >= rest ? end.bits >> (end.length - rest)
                                      : end.bits << (rest - end.length),
                   rest);
    appendPosition(unit, exponents.size());
    unit.encoded = stream.bytes;
    unit.gaps = gaps.bytes;
    unit.gaps.resize(size_t(unit.blockCount()) * 64 * gapBits);
}

// Makes the tables. DFloat11's packer lets the last value of a row go on into the next row; ECF8's
// does not.
void makeLuts(Df11Tensors& unit, const std::vector<Code>& codes)
{
    std::set<std::pair<uint32_t, uint32_t>> prefixes = {{0, 0}}; // pairs of length and bits
    for (const Code& code : codes) {
        for (uint32_t length = 8; length < code.length; length += 8)
            prefixes.insert({length, code.bits >> (code.length - length)});
    }
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> rowOf;
    for (const auto& prefix : prefixes)
        rowOf.emplace(prefix, uint32_t(rowOf.size()));
    uint8_t value = 0;
    for (const auto& [length, bits] : prefixes) {
        std::map<uint32_t, uint8_t> keys;
        for (uint32_t symbol = 0; symbol < kDf11End; ++symbol) {
            const Code& code = codes[symbol];
            if (code.length <= length || code.length > length + 8 ||
                code.bits >> (code.length - length) != bits)
                continue;
            keys[(code.bits << (length + 8 - code.length)) & 0xff] = uint8_t(symbol);
        }
        for (const auto& [prefix, row] : rowOf) {
            if (prefix.first == length + 8 && prefix.second >> 8 == bits)
                keys[prefix.second & 0xff] = uint8_t(256 - row);
        }
        if (unit.kind != SLUICE_DF11_BF16) value = 0;
        for (uint32_t i = 0; i < 256; ++i) {
            if (const auto key = keys.find(i); key != keys.end()) value = key->second;
            unit.luts.push_back(value);
        }
    }
    for (uint32_t symbol = 0; symbol < kDf11End; ++symbol)
        unit.luts.push_back(uint8_t(codes[symbol].length));
}

Bytes readFile(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file, path);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

Df11Tensors readGolden(const std::string& path)
{
    const Bytes file = readFile(path);
    SafetensorsHeader header;
    std::string error;
    uint64_t size = 0;
    REQUIRE(readSafetensorsSize(file.data(), file.size(), size, error) == SLUICE_OK);
    const uint8_t* data = file.data() + 8 + size;
    const std::string_view json(reinterpret_cast<const char*>(file.data()) + 8, size_t(size));
    REQUIRE(parseSafetensors(json, file.size() - 8 - size, header, error) == SLUICE_OK);
    Df11Tensors unit;
    std::map<std::string, Bytes*> parts = {{"layer.luts", &unit.luts},
                                           {"layer.encoded_exponent", &unit.encoded},
                                           {"layer.sign_mantissa", &unit.signMantissa},
                                           {"layer.output_positions", &unit.outputPositions},
                                           {"layer.gaps", &unit.gaps}};
    for (const SafetensorsTensor& tensor : header.tensors) {
        const auto part = parts.find(tensor.name);
        if (part == parts.end()) continue;
        part->second->assign(data + tensor.begin, data + tensor.end);
        parts.erase(part);
    }
    REQUIRE(parts.empty());
    return unit;
}

// Appends a table where a unit may have one and returns its offset.
uint64_t place(Bytes& source, const Bytes& table)
{
    const uint64_t offset = source.size();
    source.insert(source.end(), table.begin(), table.end());
    source.resize((source.size() + 15) / 16 * 16, 0xEE);
    return offset;
}

} // namespace

SluiceDf11Tables Df11Tensors::tables() const
{
    return {luts.data(), luts.size(),    outputPositions.data(), outputPositions.size(),
            gaps.size(), encoded.size(), signMantissa.size()};
}

SluiceStatus Df11Tensors::check(SluiceDf11Unit& unit, std::string& reason) const
{
    const SluiceDf11Tables all = tables();
    const char* text = nullptr;
    const SluiceStatus status = sluiceCheckDf11Unit(&all, &unit, &text);
    reason = text != nullptr ? text : "";
    return status;
}

CodeLengths huffmanLengths(const Bytes& exponents)
{
    struct Node {
        uint64_t weight;
        std::vector<uint32_t> symbols;
        bool operator>(const Node& other) const { return weight > other.weight; }
    };
    std::map<uint32_t, uint64_t> counts = {{kDf11End, 1}};
    for (const uint8_t exponent : exponents)
        ++counts[exponent];
    std::priority_queue<Node, std::vector<Node>, std::greater<>> heap;
    for (const auto& [symbol, count] : counts)
        heap.push({count, {symbol}});
    CodeLengths lengths(kDf11End + 1);
    while (heap.size() > 1) {
        Node first = heap.top();
        heap.pop();
        const Node second = heap.top();
        heap.pop();
        first.weight += second.weight;
        first.symbols.insert(first.symbols.end(), second.symbols.begin(), second.symbols.end());
        for (const uint32_t symbol : first.symbols)
            ++lengths[symbol];
        heap.push(first);
    }
    return lengths;
}

Df11Tensors packDf11(const std::string& name, SluiceDf11Kind kind, const Bytes& exponents,
                     const CodeLengths& lengths, std::mt19937& random)
{
    Df11Tensors unit;
    unit.name = name;
    unit.kind = kind;
    unit.elementCount = uint32_t(exponents.size());
    for (size_t i = 0; i < exponents.size(); ++i) {
        const uint32_t exponent = exponents[i];
        const uint32_t rest = uint32_t(random()) & (kind == SLUICE_DF11_BF16 ? 0xff : 0xf);
        if (kind == SLUICE_DF11_BF16) {
            unit.signMantissa.push_back(uint8_t(rest));
            unit.expected.push_back(uint8_t((exponent & 1) << 7 | (rest & 0x7f)));
            unit.expected.push_back(uint8_t((rest & 0x80) | exponent >> 1));
        } else {
            if (i % 2 == 0) unit.signMantissa.push_back(0);
            unit.signMantissa.back() =
                uint8_t(unit.signMantissa.back() | rest << (i % 2 == 0 ? 4 : 0));
            unit.expected.push_back(uint8_t((rest & 8) << 4 | exponent << 3 | (rest & 7)));
        }
    }
    const std::vector<Code> codes = makeCodes(lengths);
    encode(unit, exponents, codes);
    makeLuts(unit, codes);
    return unit;
}

Bytes weightExponents(SluiceDf11Kind kind, size_t count, std::mt19937& random)
{
    Bytes exponents(count);
    for (uint8_t& exponent : exponents) {
        uint32_t below = 0; // each step down is half as likely
        while (below < 40 && random() % 2 == 0)
            ++below;
        exponent = uint8_t(kind == SLUICE_DF11_BF16 ? 121 - below : 11 - std::min(below, 11u));
    }
    return exponents;
}

std::vector<Df11Golden> df11GoldenFiles()
{
    const std::string folder = std::string(SLUICE_TEST_DATA_DIR) + "/df11/";
    const Bytes manifest = readFile(folder + "manifest.txt");
    std::istringstream lines(std::string(manifest.begin(), manifest.end()));
    std::vector<Df11Golden> files;
    Df11Golden golden;
    uint64_t size = 0;
    std::string sha256;
    while (lines >> golden.file >> size >> std::hex >> golden.xxh64 >> std::dec >> sha256) {
        golden.tensors = readGolden(folder + golden.file);
        golden.tensors.name = golden.file;
        SluiceDf11Unit unit = {};
        std::string reason;
        CAPTURE(golden.file);
        CHECK(golden.tensors.check(unit, reason) == SLUICE_OK);
        CHECK(reason == "");
        golden.tensors.kind = SluiceDf11Kind(unit.kind);
        golden.tensors.elementCount = unit.elementCount;
        CHECK(uint64_t(unit.elementCount) * (unit.kind == SLUICE_DF11_BF16 ? 2 : 1) == size);
        files.push_back(golden);
    }
    REQUIRE(!files.empty());
    return files;
}

bool DecodedDf11::ok() const
{
    return std::all_of(statuses.begin(), statuses.end(),
                       [](uint32_t status) { return status == SLUICE_TILE_OK; });
}

std::vector<DecodedDf11> decodeDf11(Device& device, const std::vector<Df11Tensors>& units)
{
    Bytes sourceBytes;
    std::vector<SluiceDf11Unit> list;
    uint64_t destinationSize = kDestinationGap;
    uint32_t blocks = 0;
    for (const Df11Tensors& tensors : units) {
        SluiceDf11Unit unit = {};
        unit.lutsOffset = place(sourceBytes, tensors.luts);
        unit.encodedOffset = place(sourceBytes, tensors.encoded);
        unit.signMantissaOffset = place(sourceBytes, tensors.signMantissa);
        unit.outputPositionsOffset = place(sourceBytes, tensors.outputPositions);
        unit.gapsOffset = place(sourceBytes, tensors.gaps);
        unit.destinationOffset = destinationSize;
        unit.kind = tensors.kind;
        unit.lutRows = uint32_t(tensors.luts.size() / 256);
        unit.elementCount = tensors.elementCount;
        unit.encodedSize = uint32_t(tensors.encoded.size());
        unit.firstBlock = blocks;
        list.push_back(unit);
        blocks += tensors.blockCount();
        const uint64_t bytes =
            uint64_t(tensors.elementCount) * (tensors.kind == SLUICE_DF11_BF16 ? 2 : 1);
        destinationSize = (destinationSize + bytes + 3) / 4 * 4 + kDestinationGap;
    }
    Buffer source(device, sourceBytes), destination(device, destinationSize),
        unitList(device, bytesOf(list));
    Buffer status(device, (uint64_t(blocks) + 2) * 4);

    SluiceDf11Info info = {};
    info.maxUnitCount = uint32_t(list.size());
    info.maxBlockCount = blocks;
    info.units = unitList.range();
    info.source = source.range();
    info.destination = destination.range();
    info.status = status.range();
    runWithScratch(device, info, sluiceGetDf11Requirements, sluiceCmdDf11);

    const Words words = status.words();
    Bytes output = destination.bytes();
    std::vector<DecodedDf11> results;
    uint32_t failed = 0, firstFailed = ~0u;
    for (uint32_t i = 0; i < blocks; ++i) {
        if (words[i] != SLUICE_TILE_OK && failed++ == 0) firstFailed = i;
    }
    for (size_t i = 0; i < units.size(); ++i) {
        const auto word = words.begin() + std::ptrdiff_t(list[i].firstBlock);
        const auto begin = output.begin() + std::ptrdiff_t(list[i].destinationOffset);
        const auto end = begin + std::ptrdiff_t(units[i].elementCount) *
                                     (units[i].kind == SLUICE_DF11_BF16 ? 2 : 1);
        results.push_back(
            {Words(word, word + std::ptrdiff_t(units[i].blockCount())), Bytes(begin, end)});
        std::fill(begin, end, Buffer::kPoison);
    }
    CHECK(words[blocks] == failed);
    CHECK(words[size_t(blocks) + 1] == firstFailed);
    CHECK_MESSAGE(std::all_of(output.begin(), output.end(),
                              [](uint8_t byte) { return byte == Buffer::kPoison; }),
                  "bytes between the units changed");
    return results;
}

} // namespace sluice::test
