// SPDX-License-Identifier: MIT OR Apache-2.0
// What the files that the benchmark is given hold for the float codec, and for DFloat11 and ECF8.
#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include <sluice/sluice_df11.h>
#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>

#include "bench_weights.h"
#include "container.h"
#include "encode/df11_encoder.h"
#include "weights.h"

namespace sluice {
namespace {

constexpr uint64_t kSmallest = 1024; // bytes of a tensor; fewer say nothing
constexpr std::pair<uint32_t, const char*> kFloatDtypes[] = {
    {SLUICE_FLOAT_BF16, "BF16"},       {SLUICE_FLOAT_F16, "F16"},
    {SLUICE_FLOAT_F32, "F32"},         {SLUICE_FLOAT_F8_E4M3, "F8_E4M3"},
    {SLUICE_FLOAT_F8_E5M2, "F8_E5M2"}, {SLUICE_FLOAT_F8_E4M3_DENSE, "F8_E4M3"}};

// Puts bytes at a multiple of 16 and returns where.
uint64_t place(std::vector<uint8_t>& to, const void* bytes, uint64_t size, uint8_t fill)
{
    const uint64_t at = to.size();
    const uint8_t* from = static_cast<const uint8_t*>(bytes);
    to.insert(to.end(), from, from + size);
    to.resize((to.size() + 15) / 16 * 16, fill);
    return at;
}

template <class Entry>
void finish(WeightSet<Entry>& set)
{
    set.source.resize(aligned256(set.source.size()));
    set.expected.resize(aligned256(set.expected.size()), kGap);
}

void addTensor(FloatSet& set, const uint8_t* plain, uint64_t count)
{
    const SluiceFloatType type = static_cast<SluiceFloatType>(set.kind);
    const EncodedTensor encoded = encodeTensor(type, plain, count);
    const uint64_t size = count * sluiceFloatElementSize(type);
    SluiceFloatTensor tensor = {};
    tensor.wordsSize = encoded.words.size() * 4;
    tensor.words = place(set.source, encoded.words.data(), tensor.wordsSize, 0);
    tensor.index = place(set.source, encoded.index.data(), encoded.index.size() * 4, 0);
    tensor.lengths = place(set.source, encoded.lengths.data(), encoded.lengths.size(), 0);
    tensor.raw = place(set.source, encoded.raw.data(), encoded.raw.size(), 0);
    tensor.output = place(set.expected, plain, size, kGap);
    tensor.count = count;
    tensor.type = set.kind;
    tensor.firstTile = set.statusCount;
    set.entries.push_back(tensor);
    set.statusCount += static_cast<uint32_t>(encoded.index.size() - 1);
    set.encodedBytes +=
        tensor.wordsSize + encoded.index.size() * 4 + encoded.lengths.size() + encoded.raw.size();
    set.outputBytes += size;
}

// Whole elements, at most up to the limit; `step` bytes are one, or as many as must stay together.
uint64_t sizeToTake(uint64_t size, uint64_t taken, uint64_t limit, uint64_t step)
{
    return taken >= limit ? 0 : std::min(size, limit - taken) / step * step;
}

FloatSet floatsOfModel(const WeightFile& file, uint32_t type, const char* dtype, uint64_t limit)
{
    FloatSet set = {};
    set.kind = type;
    set.parts = "tensors";
    for (size_t i = 0; i < file.header().tensors.size(); ++i) {
        const SafetensorsTensor& tensor = file.header().tensors[i];
        if (file.unitOf(i) >= 0 || tensor.dtype != dtype || tensor.size() < kSmallest) continue;
        const uint64_t element = sluiceFloatElementSize(type),
                       size = sizeToTake(tensor.size(), set.outputBytes, limit, element);
        if (size == 0) break;
        std::vector<uint8_t> plain(size);
        file.read(tensor, 0, plain.data(), plain.size());
        addTensor(set, plain.data(), size / element);
    }
    finish(set);
    return set;
}

// Decodes tensors [begin, end) by the CPU reference into expected; firstBad: the first status that
// is not OK.
SluiceStatus decodeFloats(FloatSet& set, size_t begin, size_t end, uint32_t& firstBad)
{
    std::vector<SluiceFloatTensor> tensors(set.entries.begin() + static_cast<ptrdiff_t>(begin),
                                           set.entries.begin() + static_cast<ptrdiff_t>(end));
    uint32_t tiles = 0;
    const uintptr_t source = reinterpret_cast<uintptr_t>(set.source.data());
    for (SluiceFloatTensor& one : tensors) {
        for (uint64_t* offset : {&one.words, &one.index, &one.lengths, &one.raw})
            *offset += source;
        one.output += reinterpret_cast<uintptr_t>(set.expected.data());
        one.firstTile = tiles;
        tiles += static_cast<uint32_t>((one.count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE);
    }
    std::vector<uint32_t> status(tiles + 2);
    SluiceFloatDecodeInfo info = {};
    info.tensorCount = static_cast<uint32_t>(tensors.size());
    info.tileCount = tiles;
    info.tensors = hostBuffer(tensors);
    info.source = hostBuffer(set.source);
    info.destination = hostBuffer(set.expected);
    info.status = hostBuffer(status);
    const SluiceStatus result = runOnCpu(sluiceCmdFloatDecode, info);
    firstBad = result != SLUICE_OK || status[tiles] == 0 ? uint32_t{SLUICE_TILE_OK}
                                                         : status[status[tiles + 1]];
    return result;
}

// Tiles of the codec FLOAT.
std::vector<FloatSet> floatsOfArchive(const Container& container, uint64_t limit,
                                      const WantedKind& wanted)
{
    std::vector<FloatSet> sets;
    std::vector<std::vector<uint32_t>> checksums;
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT; ++type) {
        sets.emplace_back();
        sets.back().kind = type;
        sets.back().parts = "tiles";
    }
    checksums.resize(sets.size());
    std::vector<uint8_t> bytes;
    for (uint32_t asset = 0; asset < container.assetCount(); ++asset) {
        container.forEachTile(asset, [&](uint32_t number, const ContainerTile& tile) {
            if (tile.codec != SLUICE_CODEC_FLOAT) return;
            bytes.resize(tile.storedSize);
            container.file().read(tile.offset, bytes.data(), bytes.size());
            SluiceFloatTensor tensor = {};
            const SluiceStatus status =
                sluiceParseFloatTile(bytes.data(), bytes.size(), tile.size, &tensor);
            if (status != SLUICE_OK) {
                throw Failure{exitFormat, container.place(asset) + ", tile " +
                                              std::to_string(number) + ": " +
                                              sluiceGetStatusText(status)};
            }
            FloatSet& set = sets[tensor.type];
            if (!wanted(tensor.type) || set.outputBytes >= limit) return;
            const uint64_t at = place(set.source, bytes.data(), bytes.size(), 0);
            for (uint64_t* offset : {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw})
                *offset += at;
            tensor.output = set.expected.size();
            set.expected.resize(set.expected.size() + (tile.size + 15) / 16 * 16, kGap);
            tensor.firstTile = set.statusCount;
            set.entries.push_back(tensor);
            set.statusCount +=
                static_cast<uint32_t>((tensor.count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE);
            set.encodedBytes += bytes.size();
            set.outputBytes += tile.size;
            checksums[tensor.type].push_back(tile.checksum);
        });
    }
    for (FloatSet& set : sets) {
        if (set.entries.empty()) continue;
        finish(set);
        const size_t count = set.entries.size(),
                     shares = std::max(1u, std::thread::hardware_concurrency());
        std::vector<uint32_t> tiles(shares, SLUICE_TILE_OK);
        std::vector<SluiceStatus> results(shares);
        std::vector<std::thread> threads;
        for (size_t share = 0; share < shares; ++share) {
            threads.emplace_back([&, share] {
                results[share] = decodeFloats(set, count * share / shares,
                                              count * (share + 1) / shares, tiles[share]);
            });
        }
        for (std::thread& thread : threads)
            thread.join();
        for (const SluiceStatus result : results)
            require(result, "decode on the CPU");
        for (size_t i = 0; i < count; ++i) {
            const SluiceFloatTensor& tensor = set.entries[i];
            const uint32_t size =
                static_cast<uint32_t>(tensor.count * sluiceFloatElementSize(set.kind));
            if (sluiceTileChecksum(set.expected.data() + tensor.output, size) !=
                checksums[set.kind][i])
                tiles.push_back(SLUICE_TILE_BAD_CHECKSUM);
        }
        for (const uint32_t status : tiles) {
            if (status != SLUICE_TILE_OK)
                throw Failure{exitFormat,
                              container.file().name() + ": " + sluiceGetTileStatusText(status)};
        }
    }
    return sets;
}

// The unit's parts are in source; entry: with the sizes of the unit. Its output will follow in
// expected.
void addUnit(Df11Set& set, SluiceDf11Unit entry, const std::vector<uint8_t>* const (&parts)[5])
{
    uint64_t* offsets[] = {&entry.lutsOffset, &entry.encodedOffset, &entry.signMantissaOffset,
                           &entry.outputPositionsOffset, &entry.gapsOffset};
    for (size_t i = 0; i < std::size(parts); ++i) {
        *offsets[i] = place(set.source, parts[i]->data(), parts[i]->size(), 0);
        set.encodedBytes += parts[i]->size();
    }
    entry.destinationOffset = set.expected.size();
    entry.firstBlock = set.statusCount;
    set.entries.push_back(entry);
    set.statusCount += (entry.encodedSize + SLUICE_DF11_BLOCK_BYTES - 1) / SLUICE_DF11_BLOCK_BYTES;
    set.outputBytes += uint64_t{entry.elementCount} * (entry.kind == SLUICE_DF11_BF16 ? 2 : 1);
}

// The units of the file, decoded by the CPU reference.
void addUnits(Df11Set& set, const WeightFile& file, uint64_t limit)
{
    for (const WeightUnit& unit : file.units()) {
        if (unit.description.kind != set.kind || unit.description.elementCount == 0 ||
            set.outputBytes >= limit)
            continue;
        const std::vector<uint8_t> luts = file.readAll(*unit.luts),
                                   encoded = file.readAll(*unit.encoded);
        const std::vector<uint8_t> rest = file.readAll(*unit.signMantissa),
                                   positions = file.readAll(*unit.positions);
        const std::vector<uint8_t> gaps = file.readAll(*unit.gaps);
        addUnit(set, unit.description, {&luts, &encoded, &rest, &positions, &gaps});
        set.expected.resize((set.expected.size() + unit.size() + 15) / 16 * 16, kGap);
    }
    if (set.entries.empty()) return;
    std::vector<uint32_t> status(set.statusCount + 2);
    SluiceDf11Info info = {};
    info.maxUnitCount = static_cast<uint32_t>(set.entries.size());
    info.maxBlockCount = set.statusCount;
    info.units = hostBuffer(set.entries);
    info.source = hostBuffer(set.source);
    info.destination = hostBuffer(set.expected);
    info.status = hostBuffer(status);
    require(runOnCpu(sluiceCmdDf11, info), "decode on the CPU");
    if (status[set.statusCount] != 0) {
        throw Failure{exitFormat, file.file().name() + ": " +
                                      sluiceGetTileStatusText(status[status[set.statusCount + 1]])};
    }
}

// The tensors that pack would make units of, each a unit, as far as the format can hold them.
void packUnits(Df11Set& set, const WeightFile& file, uint64_t limit)
{
    const bool bf16 = set.kind == SLUICE_DF11_BF16;
    const SluiceDf11Kind kind = static_cast<SluiceDf11Kind>(set.kind);
    std::vector<uint8_t> plain;
    for (const SafetensorsTensor& tensor : file.header().tensors) {
        if (tensor.dtype != (bf16 ? "BF16" : "F8_E4M3") || tensor.shape.size() != 2 ||
            !endsWith(tensor.name, ".weight") || tensor.size() < kSmallest) {
            continue;
        }
        // bytes of codes stay below that limit too
        const uint64_t most = uint64_t{SLUICE_DF11_MAX_SIZE} / 2;
        plain.resize(sizeToTake(std::min(tensor.size(), most), set.outputBytes, limit, 2));
        if (plain.empty()) break;
        file.read(tensor, 0, plain.data(), plain.size());
        const uint64_t count = plain.size() / (bf16 ? 2 : 1);
        uint64_t histogram[256] = {};
        countDf11Symbols(kind, plain.data(), count, histogram);
        Df11Code code;
        if (!makeDf11Code(kind, histogram, 1, code)) continue;
        Df11Encoder encoder(kind, code);
        encoder.add(plain.data(), count);
        encoder.finish();
        const SluiceDf11Tables tables = {code.luts.data(),           code.luts.size(),
                                         encoder.positions.data(),   encoder.positions.size(),
                                         encoder.gaps.size(),        encoder.encoded.size(),
                                         encoder.signMantissa.size()};
        SluiceDf11Unit entry = {};
        require(sluiceCheckDf11Unit(&tables, &entry, nullptr), "a df11 unit");
        addUnit(set, entry,
                {&code.luts, &encoder.encoded, &encoder.signMantissa, &encoder.positions,
                 &encoder.gaps});
        place(set.expected, plain.data(), plain.size(), kGap);
    }
}

} // namespace

EncodedTensor encodeTensor(SluiceFloatType type, const uint8_t* plain, uint64_t count)
{
    EncodedTensor tensor;
    tensor.lengths.resize(SLUICE_FLOAT_LENGTHS_SIZE);
    tensor.raw.resize(sluiceFloatRawSize(type, count));
    const uint32_t size = sluiceFloatElementSize(type);
    uint64_t histogram[256] = {};
    require(sluiceFloatCountSymbols(type, plain, count, histogram), "float histogram");
    require(sluiceFloatCodeLengths(histogram, tensor.lengths.data()), "float code lengths");
    tensor.index.push_back(0);
    for (uint64_t first = 0; first < count; first += SLUICE_FLOAT_TILE) {
        uint32_t words[SLUICE_FLOAT_TILE_BOUND], wordCount = 0;
        const uint32_t elements =
            static_cast<uint32_t>(std::min<uint64_t>(SLUICE_FLOAT_TILE, count - first));
        require(sluiceFloatEncodeTile(type, tensor.lengths.data(), plain + first * size, elements,
                                      words, SLUICE_FLOAT_TILE_BOUND, &wordCount),
                "float tile");
        tensor.words.insert(tensor.words.end(), words, words + wordCount);
        tensor.index.push_back(static_cast<uint32_t>(tensor.words.size() / 2));
    }
    require(sluiceFloatPackRaw(type, count, plain, 0, count, tensor.raw.data()), "float raw");
    return tensor;
}

std::vector<FloatSet> loadFloatSets(const std::string& path, uint64_t maxOutput,
                                    const WantedKind& wanted)
{
    std::vector<FloatSet> sets;
    auto input = std::make_unique<InputFile>(path);
    if (input->size() == 0) throw Failure{exitFormat, path + ": is empty"};
    uint8_t start[8] = {};
    input->read(0, start, static_cast<size_t>(std::min<uint64_t>(input->size(), sizeof start)));
    if (WeightFile::recognises(*input)) {
        const WeightFile file(std::move(input));
        for (const auto& [type, dtype] : kFloatDtypes) {
            if (wanted(type)) sets.push_back(floatsOfModel(file, type, dtype, maxOutput));
        }
    } else if (std::memcmp(start, "\x8bSLUICE\n", 8) == 0) {
        sets = floatsOfArchive(Container(std::move(input)), maxOutput, wanted);
    } else if (wanted(SLUICE_FLOAT_BYTES) &&
               std::memcmp(start, "\x04\xfb", 2) != 0) { // no tile stream
        std::vector<uint8_t> plain(static_cast<size_t>(std::min(input->size(), maxOutput)));
        input->read(0, plain.data(), plain.size());
        sets.emplace_back();
        sets.back().kind = SLUICE_FLOAT_BYTES;
        sets.back().parts = "pieces";
        addTensor(sets.back(), plain.data(), plain.size());
        finish(sets.back());
    }
    sets.erase(std::remove_if(sets.begin(), sets.end(),
                              [](const FloatSet& set) { return set.entries.empty(); }),
               sets.end());
    return sets;
}

std::vector<Df11Set> loadDf11Sets(const std::string& path, uint64_t maxOutput,
                                  const WantedKind& wanted)
{
    std::vector<Df11Set> sets;
    auto input = std::make_unique<InputFile>(path);
    if (!WeightFile::recognises(*input)) return sets;
    const WeightFile file(std::move(input));
    for (const SluiceDf11Kind kind : {SLUICE_DF11_BF16, SLUICE_DF11_FP8_E4M3}) {
        if (!wanted(kind)) continue;
        Df11Set set = {};
        set.kind = kind;
        set.parts = "units";
        file.units().empty() ? packUnits(set, file, maxOutput) : addUnits(set, file, maxOutput);
        finish(set);
        if (!set.entries.empty()) sets.push_back(std::move(set));
    }
    return sets;
}

} // namespace sluice
