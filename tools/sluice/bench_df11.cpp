// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of DFloat11 and ECF8: a unit of normally distributed weights, laid out as the original
// packers do, and how fast ours encodes it; or units of files.
#include <sluice/sluice_df11.h>

#include <algorithm>
#include <queue>

#include "bench_weights.h"
#include "encode/df11_encoder.h"

namespace sluice {
namespace {

struct UnitKind {
    SluiceDf11Kind kind;
    const char *kernel, *name;
    NumberFormat format;
    float sigma; // of fp8 such that the largest of many is near 448
    uint32_t gapBits, positionBytes;
};
constexpr UnitKind kinds[] = {
    {SLUICE_DF11_BF16, "df11 bf16", "DFloat11 bf16", {8, 7}, 0.02f, 5, 4},
    {SLUICE_DF11_FP8_E4M3, "df11 ecf8", "ECF8 e4m3", {4, 3}, 75.0f, 4, 8}};

constexpr uint64_t kMade = 1u << 22; // weights that are made; larger units repeat them
constexpr uint32_t kEnd = 256;       // the end code's place among the codes

struct Code {
    uint32_t bits = 0; // from the top of the word on
    uint32_t length = 0;
};

// A Huffman code of the exponents and one end; rare ones towards zero.
std::vector<Code> makeCodes(const std::vector<uint64_t>& counts)
{
    using Node = std::pair<uint64_t, std::vector<uint32_t>>; // weight, symbols
    std::priority_queue<Node, std::vector<Node>, std::greater<>> heap;
    for (uint32_t symbol = 0; symbol <= kEnd; ++symbol)
        if (counts[symbol] != 0) heap.push({counts[symbol], {symbol}});
    std::vector<Code> codes(kEnd + 1);
    while (heap.size() > 1) {
        Node first = heap.top();
        heap.pop();
        first.first += heap.top().first;
        first.second.insert(first.second.end(), heap.top().second.begin(), heap.top().second.end());
        heap.pop();
        for (const uint32_t symbol : first.second)
            ++codes[symbol].length;
        heap.push(first);
    }
    uint64_t next = 0;
    for (uint32_t length = 32; length > 0; --length) {
        for (uint32_t symbol = kEnd + 1; symbol-- > 0;) {
            if (codes[symbol].length != length) continue;
            codes[symbol].bits = static_cast<uint32_t>(next);
            next += uint64_t{1} << (32 - length);
        }
    }
    return codes;
}

std::vector<uint8_t> makeLuts(const std::vector<Code>& codes)
{
    constexpr uint32_t nothing = 256;
    std::vector<std::vector<uint32_t>> rows(1, std::vector<uint32_t>(256, nothing));
    std::vector<uint8_t> lengths;
    for (uint32_t symbol = 0; symbol < kEnd; ++symbol) {
        const Code& code = codes[symbol];
        lengths.push_back(static_cast<uint8_t>(code.length));
        if (code.length == 0) continue;
        size_t row = 0;
        uint32_t bits = code.bits, rest = code.length;
        for (; rest > 8; rest -= 8, bits <<= 8) {
            if (rows[row][bits >> 24] == nothing) {
                rows[row][bits >> 24] = static_cast<uint32_t>(256 - rows.size());
                rows.emplace_back(256, nothing);
            }
            row = 256 - rows[row][bits >> 24];
        }
        std::fill_n(rows[row].begin() + (bits >> 24), 1u << (8 - rest), symbol);
    }
    std::vector<uint8_t> luts;
    for (const std::vector<uint32_t>& row : rows)
        for (const uint32_t entry : row)
            luts.push_back(static_cast<uint8_t>(entry == nothing ? 0 : entry));
    luts.insert(luts.end(), lengths.begin(), lengths.end());
    return luts;
}

// Bits, most significant first.
class BitWriter {
public:
    // bits: from the top of the word on.
    void put(uint32_t bits, uint32_t count)
    {
        pending_ |= uint64_t{bits} << 32 >> filled_;
        for (filled_ += count; filled_ >= 8; filled_ -= 8, pending_ <<= 8)
            bytes.push_back(static_cast<uint8_t>(pending_ >> 56));
    }
    uint64_t bitCount() const { return bytes.size() * 8 + filled_; }

    std::vector<uint8_t> bytes;

private:
    uint64_t pending_ = 0;
    uint32_t filled_ = 0;
};

struct PackedUnit {
    std::vector<uint8_t> luts, encoded, positions, gaps, signMantissa;
};

// `count` elements, the plain ones over and over.
PackedUnit packUnit(const UnitKind& kind, const std::vector<uint8_t>& plain, uint64_t count)
{
    const bool bf16 = kind.kind == SLUICE_DF11_BF16;
    const uint64_t made = bf16 ? plain.size() / 2 : plain.size();
    std::vector<uint8_t> exponents(made), rest(made);
    std::vector<uint64_t> counts(kEnd + 1);
    for (uint64_t i = 0; i < made; ++i) {
        const uint32_t value = bf16 ? plain[2 * i] | uint32_t{plain[2 * i + 1]} << 8 : plain[i];
        exponents[i] = static_cast<uint8_t>(bf16 ? value >> 7 : value >> 3 & 15);
        rest[i] = static_cast<uint8_t>(bf16 ? (value >> 8 & 0x80) | (value & 0x7f)
                                            : (value >> 4 & 8) | (value & 7));
        counts[exponents[i]] += count / made;
    }
    counts[kEnd] = 1;
    const std::vector<Code> codes = makeCodes(counts);
    PackedUnit unit;
    unit.luts = makeLuts(codes);

    BitWriter stream, gaps;
    uint64_t windows = 0, blocks = 0;
    const auto position = [&](uint64_t element) {
        for (uint32_t i = 0; i < kind.positionBytes; ++i)
            unit.positions.push_back(static_cast<uint8_t>(element >> 8 * i));
    };
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t at = stream.bitCount();
        if (at / 64 >= windows) {
            gaps.put(static_cast<uint32_t>(at % 64) << (32 - kind.gapBits), kind.gapBits);
            ++windows;
        }
        if (at / (8 * SLUICE_DF11_BLOCK_BYTES) >= blocks) {
            position(i);
            ++blocks;
        }
        const Code& code = codes[exponents[i % made]];
        stream.put(code.bits, code.length);
        if (bf16) {
            unit.signMantissa.push_back(rest[i % made]);
        } else if (i % 2 == 0) {
            unit.signMantissa.push_back(static_cast<uint8_t>(rest[i % made] << 4));
        } else {
            unit.signMantissa.back() =
                static_cast<uint8_t>(unit.signMantissa.back() | rest[i % made]);
        }
    }
    position(count);
    stream.put(codes[kEnd].bits, static_cast<uint32_t>((8 - stream.bitCount() % 8) % 8));
    gaps.put(0, 8);
    unit.encoded = std::move(stream.bytes);
    unit.gaps = std::move(gaps.bytes);
    unit.gaps.resize((unit.encoded.size() + SLUICE_DF11_BLOCK_BYTES - 1) / SLUICE_DF11_BLOCK_BYTES *
                     64 * kind.gapBits);
    return unit;
}

// The set for a unit of made-up weights; expected are the plain ones, which may be fewer than the
// unit has.
Df11Set setOf(const UnitKind& kind, const PackedUnit& unit, uint64_t count)
{
    const SluiceDf11Tables tables = {
        unit.luts.data(), unit.luts.size(),    unit.positions.data(),   unit.positions.size(),
        unit.gaps.size(), unit.encoded.size(), unit.signMantissa.size()};
    SluiceDf11Unit description = {};
    require(sluiceCheckDf11Unit(&tables, &description, nullptr), "a df11 unit");
    const std::vector<uint8_t>* parts[] = {&unit.luts, &unit.encoded, &unit.signMantissa,
                                           &unit.positions, &unit.gaps};
    uint64_t* offsets[] = {&description.lutsOffset, &description.encodedOffset,
                           &description.signMantissaOffset, &description.outputPositionsOffset,
                           &description.gapsOffset};
    Df11Set set = {};
    set.kind = kind.kind;
    set.parts = "units";
    for (size_t i = 0; i < std::size(parts); ++i) {
        *offsets[i] = set.source.size();
        set.source.insert(set.source.end(), parts[i]->begin(), parts[i]->end());
        set.source.resize(aligned256(set.source.size()));
        set.encodedBytes += parts[i]->size();
    }
    set.entries = {description};
    set.outputBytes = count * (kind.kind == SLUICE_DF11_BF16 ? 2 : 1);
    set.statusCount =
        (description.encodedSize + SLUICE_DF11_BLOCK_BYTES - 1) / SLUICE_DF11_BLOCK_BYTES;
    return set;
}

// Units on the device, several times.
class Scene {
public:
    // outputSize: of one copy, with gaps.
    Scene(const BenchDevice& on, const Df11Set& set, uint64_t outputSize, uint64_t copies)
        : device(on), units(static_cast<uint32_t>(set.entries.size() * copies)),
          blocks(static_cast<uint32_t>(set.statusCount * copies)),
          destination(on.allocate(aligned256(outputSize * copies))),
          list(on.allocate(uint64_t{units} * sizeof(SluiceDf11Unit))),
          source(on.allocate(set.source.size() * copies)),
          status(on.allocate((uint64_t{blocks} + 2) * 4))
    {
        std::vector<SluiceDf11Unit> all;
        for (uint64_t i = 0; i < copies; ++i) {
            device.upload(source.part(i * set.source.size(), set.source.size()), set.source.data(),
                          set.source.size());
            for (SluiceDf11Unit one : set.entries) {
                for (uint64_t* offset :
                     {&one.lutsOffset, &one.encodedOffset, &one.signMantissaOffset,
                      &one.outputPositionsOffset, &one.gapsOffset})
                    *offset += i * set.source.size();
                one.destinationOffset += i * outputSize;
                one.firstBlock += static_cast<uint32_t>(i * set.statusCount);
                all.push_back(one);
            }
        }
        device.upload(list.whole(), all.data(), all.size() * sizeof all[0]);
    }

    void record(SluiceCommands commands) const
    {
        SluiceDf11Info info = {};
        info.maxUnitCount = units;
        info.maxBlockCount = blocks;
        info.units = list.whole();
        info.source = source.whole();
        info.destination = destination.whole();
        info.status = status.whole();
        require(sluiceCmdDf11(device.context(), commands, &info), "df11");
    }

    const BenchDevice& device;
    uint32_t units, blocks;
    BenchBuffer destination, list, source, status;
};

void benchUnit(const BenchDevice& device, const UnitKind& kind, uint64_t count, BenchReport& report)
{
    const std::vector<uint8_t> plain = makeWeights(kind.format, kind.sigma, std::min(count, kMade));
    const Df11Set set = setOf(kind, packUnit(kind, plain, count), count);
    const Scene scene(device, set, set.outputBytes, 1);
    benchDecode(device,
                {"df11", kind.name, scene.destination, scene.status, set.outputBytes,
                 set.encodedBytes, plain, set.outputBytes / plain.size(),
                 [&](SluiceCommands commands) { scene.record(commands); }},
                report);
}

// As pack does it: count, choose the code, encode in pieces that are written away.
void encodeUnit(const UnitKind& kind, const uint8_t* plain, uint64_t count)
{
    uint64_t histogram[256] = {};
    countDf11Symbols(kind.kind, plain, count, histogram);
    Df11Code code;
    makeDf11Code(kind.kind, histogram, 1, code);
    Df11Encoder encoder(kind.kind, code);
    const uint32_t size = kind.kind == SLUICE_DF11_BF16 ? 2 : 1;
    constexpr uint64_t piece = 1u << 20;
    for (uint64_t at = 0; at < count; at += piece) {
        encoder.add(plain + at * size, std::min(piece, count - at));
        for (std::vector<uint8_t>* part :
             {&encoder.encoded, &encoder.signMantissa, &encoder.positions, &encoder.gaps})
            part->clear();
    }
    encoder.finish();
}

} // namespace

void benchDf11(const BenchDevice& device, const Wanted& wanted, BenchReport& report)
{
    std::vector<uint64_t> counts = {1u << 18};
    if (device.isGpu()) counts = {1u << 23, 1u << 28}; // 16 MB of bf16, and what a large layer has
    for (const UnitKind& kind : kinds) {
        for (const uint64_t count : counts) {
            if (wanted(kind.kernel)) benchUnit(device, kind, count, report);
        }
        if (wanted("df11 encode")) {
            const std::vector<uint8_t> plain = makeWeights(kind.format, kind.sigma, kMade);
            const auto encode = [&] {
                for (uint32_t i = 0; i < kEncodes; ++i)
                    encodeUnit(kind, plain.data(), kMade);
            };
            benchEncode("df11 encode", kind.name, kEncodes * plain.size(), encode, report);
        }
    }
}

bool benchDf11File(const BenchDevice& device, const std::string& path, const Wanted& wanted,
                   BenchReport& report)
{
    const auto kindOf = [](uint32_t number) {
        return std::find_if(std::begin(kinds), std::end(kinds),
                            [&](const UnitKind& one) { return one.kind == number; });
    };
    const std::vector<Df11Set> sets =
        loadDf11Sets(path, decodeInputLimit(device), [&](uint32_t number) {
            return wanted(kindOf(number)->kernel) || wanted("df11 encode");
        });
    for (const Df11Set& set : sets) {
        const UnitKind& kind = *kindOf(set.kind);
        const char* name = kind.name;
        report.beginInput(path, name, set.parts, set.entries.size(), set.encodedBytes,
                          set.outputBytes);
        if (wanted("df11 encode")) {
            const auto encode = [&] {
                for (const SluiceDf11Unit& one : set.entries)
                    encodeUnit(kind, &set.expected[one.destinationOffset], one.elementCount);
            };
            benchEncode("df11 encode", name, set.outputBytes, encode, report);
        }
        if (!wanted(kind.kernel)) continue;
        for (const uint64_t copies : copiesOf(device, set.outputBytes)) {
            const Scene scene(device, set, set.expected.size(), copies);
            benchDecode(device,
                        {"df11", name, scene.destination, scene.status, set.outputBytes * copies,
                         set.encodedBytes * copies, set.expected, copies,
                         [&](SluiceCommands commands) { scene.record(commands); }},
                        report);
        }
    }
    return !sets.empty();
}

} // namespace sluice
