// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads weights from files, for the rows of the float codec and of DFloat11 and ECF8.
#include <algorithm>
#include <memory>

#include <sluice/sluice_df11.h>
#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>

#include "tools/bench/input.h"
#include "tools/common/weight_decoder.h"
#include "tools/bench/weight_rows.h"

namespace sluice {
namespace {

constexpr uint64_t kSmallest = 1024; // bytes; timing a smaller tensor would tell nothing

// Appends values, and pads with `fill` to a multiple of 16 bytes. Returns the values' offset.
template <class T>
uint64_t place(Bytes& to, const T* values, uint64_t count, uint8_t fill = 0)
{
    const uint64_t at = to.size();
    const uint8_t* from = reinterpret_cast<const uint8_t*>(values);
    to.insert(to.end(), from, from + count * sizeof(T));
    to.resize((to.size() + 15) / 16 * 16, fill);
    return at;
}
template <class T>
uint64_t place(Bytes& to, const std::vector<T>& values)
{
    return place(to, values.data(), values.size());
}

template <class Entry>
void finish(WeightSet<Entry>& set)
{
    set.source.resize(aligned256(set.source.size()));
    set.expected.resize(aligned256(set.expected.size()), kGap);
}

void addTensor(FloatSet& set, const uint8_t* plain, uint64_t count)
{
    FloatTensor encoded;
    require(encoded.encode(set.kind, plain, count), "float tensor");
    const uint64_t size = count * sluiceFloatElementSize(set.kind);
    SluiceFloatTensor tensor = encoded.appendTo(set.source);
    tensor.output = place(set.expected, plain, size, kGap);
    tensor.firstTile = set.statusCount;
    set.entries.push_back(tensor);
    set.statusCount += uint32_t(encoded.index.size() - 1);
    set.encodedBytes +=
        tensor.wordsSize + encoded.index.size() * 4 + encoded.lengths.size() + encoded.raw.size();
    set.outputBytes += size;
}

// Returns how many of `size` bytes may be taken if `taken` of `limit` bytes are already taken. The
// result is a multiple of `step`: the bytes of an element, or of elements that must stay together.
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
        Bytes plain(size);
        file.read(tensor, 0, plain.data(), plain.size());
        addTensor(set, plain.data(), size / element);
    }
    finish(set);
    return set;
}

// Returns the archive's tiles of codec FLOAT as if each were a tensor, in one set for each type.
std::vector<FloatSet> floatsOfArchive(const Container& container, uint64_t limit,
                                      const WantedKind& wanted)
{
    std::vector<FloatSet> sets(SLUICE_FLOAT_TYPE_COUNT);
    std::vector<std::vector<ContainerTile>> tiles(sets.size());
    for (uint32_t type = 0; type < sets.size(); ++type) {
        sets[type].kind = type;
        sets[type].parts = "tiles";
    }
    Bytes bytes;
    for (uint32_t asset = 0; asset < container.assetCount(); ++asset) {
        if (!container.ownsTiles(asset)) continue;
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
            tiles[tensor.type].push_back(tile);
            tiles[tensor.type].back().offset = place(set.source, bytes);
            for (uint64_t* address : addressesOf(tensor))
                *address += tiles[tensor.type].back().offset;
            tensor.output = set.expected.size();
            set.expected.resize(set.expected.size() + (tile.size + 15) / 16 * 16, kGap);
            tensor.firstTile = set.statusCount;
            set.entries.push_back(tensor);
            set.statusCount += uint32_t((tensor.count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE);
            set.encodedBytes += bytes.size();
            set.outputBytes += tile.size;
        });
    }
    for (FloatSet& set : sets) {
        finish(set);
        std::vector<HostTile> list;
        for (size_t i = 0; i < set.entries.size(); ++i) {
            const ContainerTile& tile = tiles[set.kind][i];
            list.push_back({tile, &set.source[tile.offset], &set.expected[set.entries[i].output]});
        }
        decodeOnHost(list, true, container.file().name());
    }
    return sets;
}

// Adds a unit (tensors under one code) whose arrays were appended to `source` just before. The
// caller then appends the unit's decoded bytes to `expected`.
void addUnit(Df11Set& set, SluiceDf11Unit unit, uint64_t encodedBytes)
{
    unit.destinationOffset = set.expected.size();
    unit.firstBlock = set.statusCount;
    set.entries.push_back(unit);
    set.statusCount += blocksOf(unit);
    set.encodedBytes += encodedBytes;
    set.outputBytes += uint64_t{unit.elementCount} * df11Form(unit.kind).elementBytes;
}

// Adds the file's DFloat11 or ECF8 units, and to `expected` what the CPU reference decodes from
// them.
void addUnits(Df11Set& set, const WeightFile& file, uint64_t limit)
{
    SluiceDeviceInfo info = {};
    info.selector = "cpu";
    info.tier = "ref";
    const ToolDevice cpu(info);
    WeightDecoder decoder(cpu);
    for (const WeightUnit& unit : file.units()) {
        if (unit.description.kind != set.kind || unit.description.elementCount == 0 ||
            set.outputBytes >= limit)
            continue;
        SluiceDf11Unit entry = unit.description;
        const SafetensorsTensor* parts[] = {unit.luts, unit.encoded, unit.signMantissa,
                                            unit.positions, unit.gaps};
        for (size_t i = 0; i < std::size(parts); ++i)
            *offsetsOf(entry)[i] = place(set.source, file.readAll(*parts[i]));
        addUnit(set, entry, unit.storedSize());
        set.expected.resize((set.expected.size() + unit.size() + 15) / 16 * 16, kGap);
        uint8_t* const output = &set.expected[set.entries.back().destinationOffset];
        decoder.decode(file, unit, [&](uint64_t element, const uint8_t* bytes, uint64_t size) {
            std::copy_n(bytes, size, output + element * unit.elementBytes());
        });
    }
}

// Adds those tensors that the tool `pack` would encode, each as one unit. Leaves out tensors that
// the format cannot hold.
void packUnits(Df11Set& set, const WeightFile& file, uint64_t limit)
{
    const SluiceDf11Kind kind = SluiceDf11Kind(set.kind);
    Bytes plain;
    for (const SafetensorsTensor& tensor : file.header().tensors) {
        if (tensor.dtype != (kind == SLUICE_DF11_BF16 ? "BF16" : "F8_E4M3") ||
            tensor.shape.size() != 2 || !endsWith(tensor.name, ".weight") ||
            tensor.size() < kSmallest) {
            continue;
        }
        // On average a code has fewer bits than its element, so the encoded bytes stay below the
        // format's limit too.
        const uint64_t most = uint64_t{SLUICE_DF11_MAX_SIZE} / 2;
        plain.resize(sizeToTake(std::min(tensor.size(), most), set.outputBytes, limit, 2));
        if (plain.empty()) break;
        file.read(tensor, 0, plain.data(), plain.size());
        SluiceDf11Unit unit = {};
        const uint64_t size = encodeDf11Unit(
            kind, plain.data(), plain.size() / df11Form(kind).elementBytes, 1, set.source, unit);
        if (size == 0) continue;
        addUnit(set, unit, size);
        place(set.expected, plain.data(), plain.size(), kGap);
    }
}

} // namespace

template <>
std::vector<FloatSet> loadSets(const std::string& path, uint64_t maxOutput,
                               const WantedKind& wanted)
{
    std::vector<FloatSet> sets;
    auto input = openInput(path);
    if (input->size() == 0) throw Failure{exitFormat, path + ": is empty"};
    if (WeightFile::recognises(*input)) {
        const WeightFile file(std::move(input));
        for (const auto& [type, dtype] : kFloatDtypes) {
            if (wanted(type)) sets.push_back(floatsOfModel(file, type, dtype, maxOutput));
        }
    } else if (Container::recognises(*input)) {
        sets = floatsOfArchive(Container(std::move(input)), maxOutput, wanted);
    } else if (wanted(SLUICE_FLOAT_BYTES)) {
        const Bytes plain = input->readStart(maxOutput);
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

template <>
std::vector<Df11Set> loadSets(const std::string& path, uint64_t maxOutput, const WantedKind& wanted)
{
    std::vector<Df11Set> sets;
    auto input = openInput(path);
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
