// SPDX-License-Identifier: MIT OR Apache-2.0
// Weights for the benchmark to decode: made-up ones, or those of files. Weights of the float codec
// form tensors; weights of DFloat11 and ECF8 form units.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <sluice/sluice_df11.h>
#include <sluice/sluice_float.h>

#include "encode/weights/float_tile_encoder.h"
#include "tools/bench/rows.h"
#include "tools/common/weights.h"

namespace sluice {

inline std::array<uint64_t*, 4> addressesOf(SluiceFloatTensor& tensor)
{
    return {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw};
}

struct NumberFormat {
    uint32_t exponentBits, mantissaBits; // with the sign they make 8, 16 or 32 bits
};

struct WeightKind {
    uint32_t kind;      // a SluiceFloatType or SluiceDf11Kind
    const char* filter; // its name in --filter
    const char* name;   // its name in rows
    NumberFormat format;
    float sigma; // standard deviation; E4M3's makes the largest weights about 448, its limit
};

// Makes normally distributed weights, the same each time. A weight that is too large for the format
// becomes the format's largest number.
Bytes makeWeights(const NumberFormat& format, float sigma, uint64_t count);

// Tensors or units (entries) as they lie on the device, but addresses are offsets in `source` and
// `expected`. In `expected`, bytes that a decoder must not write are kGap. The sizes of both arrays
// are multiples of 256 bytes.
constexpr uint8_t kGap = 0xee;
template <class Entry>
struct WeightSet {
    uint32_t kind;
    const char* parts; // what the file's format calls the entries
    std::vector<Entry> entries;
    Bytes source, expected;
    uint32_t statusCount = 0;                   // number of tiles or blocks
    uint64_t encodedBytes = 0, outputBytes = 0; // without gaps
};
using FloatSet = WeightSet<SluiceFloatTensor>;
using Df11Set = WeightSet<SluiceDf11Unit>;

// Loads a set of each wanted kind in the file, with at most about maxOutput bytes of output. For
// the float codec: the tensors of a .safetensors file by type, which are encoded here; or the tiles
// of a .sluice archive; or the bytes of any other file. For DFloat11: the units of a .safetensors
// file, or those that `pack` would make of it. Throws a Failure.
using WantedKind = std::function<bool(uint32_t kind)>;
template <class Entry>
std::vector<WeightSet<Entry>> loadSets(const std::string& path, uint64_t maxOutput,
                                       const WantedKind& wanted);
template <>
std::vector<FloatSet> loadSets(const std::string&, uint64_t, const WantedKind&);
template <>
std::vector<Df11Set> loadSets(const std::string&, uint64_t, const WantedKind&);

template <class Entry>
struct WeightScene {
    // Makes the other buffers; the caller fills `source` (encoded bytes) and `list` (entries).
    WeightScene(const BenchDevice& on, uint64_t entries, uint64_t statuses, uint64_t outputSize)
        : device(on), entryCount(uint32_t(entries)), statusCount(uint32_t(statuses)),
          destination(on.allocate(aligned256(outputSize))), status(on.allocate((statuses + 2) * 4))
    {
    }
    // Holds `copies` copies of a set. outputSize: bytes of the output of one copy, with gaps.
    WeightScene(const BenchDevice& on, const WeightSet<Entry>& set, uint64_t outputSize,
                uint64_t copies)
        : WeightScene(on, set.entries.size() * copies, set.statusCount * copies,
                      outputSize * copies)
    {
        const uint64_t size = set.source.size();
        source = on.allocate(size * copies);
        std::vector<Entry> all;
        for (uint64_t i = 0; i < copies; ++i) {
            on.upload(source.part(i * size, size), set.source.data(), size);
            for (Entry entry : set.entries) {
                place(entry, i * size, i * outputSize, uint32_t(i * set.statusCount));
                all.push_back(entry);
            }
        }
        list = on.allocate(all);
    }

    void record(SluiceCommands commands) const;
    // Makes an entry's offsets those of one copy of the set: adds sourceBytes to its offsets in
    // `source`, outputBytes to its offset in the output, and `statuses` to the index of its first
    // status word. Offsets of a SluiceFloatTensor become addresses.
    void place(Entry& entry, uint64_t sourceBytes, uint64_t outputBytes, uint32_t statuses) const;

    const BenchDevice& device;
    uint32_t entryCount, statusCount;
    DeviceBuffer destination, status, source, list;
};

template <>
void WeightScene<SluiceFloatTensor>::record(SluiceCommands) const;
template <>
void WeightScene<SluiceFloatTensor>::place(SluiceFloatTensor&, uint64_t, uint64_t, uint32_t) const;
template <>
void WeightScene<SluiceDf11Unit>::record(SluiceCommands) const;
template <>
void WeightScene<SluiceDf11Unit>::place(SluiceDf11Unit&, uint64_t, uint64_t, uint32_t) const;

// A decode to measure, which writes the plain bytes `copies` times. The last two words of `status`
// summarise all statuses.
struct WeightDecode {
    const char *kernel, *name; // `name` is that of the codec
    const DeviceBuffer &destination, &status;
    uint64_t outputBytes, encodedBytes; // of all copies, without gaps
    const Bytes& plain;
    uint64_t copies;
    std::function<void(SluiceCommands)> record;
};
// Runs the decode over memory with a pattern, checks all that it wrote, then times it.
void benchDecode(const BenchDevice& device, const WeightDecode& decode, BenchReport& report);
template <class Entry>
void benchDecode(const WeightScene<Entry>& scene, const char* kernel, const char* name,
                 uint64_t outputBytes, uint64_t encodedBytes, const Bytes& plain, uint64_t copies,
                 BenchReport& report)
{
    benchDecode(scene.device,
                {kernel, name, scene.destination, scene.status, outputBytes, encodedBytes, plain,
                 copies, [&](SluiceCommands commands) { scene.record(commands); }},
                report);
}
// Returns the numbers of copies of a set to decode, one for each row.
std::vector<uint64_t> copiesOf(const BenchDevice& device, uint64_t outputBytes);

// How many times one run encodes made-up weights: several, so that the run is long enough for the
// system to spread the threads over the cores.
constexpr uint32_t kEncodes = 4;

// Adds the rates of an encoder: on one thread, and on all cores with the same work for each. Rates
// are medians of five runs.
void benchEncode(const char* kernel, const char* name, uint64_t plainBytes,
                 const std::function<void()>& encode, BenchReport& report);

// Adds the rows of a file. `encode` encodes the plain bytes of one entry as `pack` does. Returns
// false if the file has none of the wanted kinds.
template <class Entry, class Kinds, class Encode>
bool benchFile(const BenchDevice& device, const std::string& path, const char* kernel,
               const char* encodeKernel, const Kinds& kinds, const Encode& encode,
               const Wanted& wanted, BenchReport& report)
{
    const auto kindOf = [&](uint32_t number) -> const WeightKind& {
        return *std::find_if(std::begin(kinds), std::end(kinds),
                             [&](const WeightKind& one) { return one.kind == number; });
    };
    const auto sets = loadSets<Entry>(path, decodeInputLimit(device), [&](uint32_t number) {
        return wanted(kindOf(number).filter) || wanted(encodeKernel);
    });
    for (const WeightSet<Entry>& set : sets) {
        const WeightKind& kind = kindOf(set.kind);
        report.beginInput(path, kind.name, set.parts, set.entries.size(), set.encodedBytes,
                          set.outputBytes);
        if (wanted(encodeKernel) && report.hasTime(encodeKernel, kind.name)) {
            const auto encodeAll = [&] {
                for (const Entry& entry : set.entries)
                    encode(kind, set.expected.data(), entry);
            };
            benchEncode(encodeKernel, kind.name, set.outputBytes, encodeAll, report);
        }
        if (!wanted(kind.filter)) continue;
        for (const uint64_t copies : copiesOf(device, set.outputBytes)) {
            if (!report.hasTime(kind.filter, sizeText(set.outputBytes * copies))) continue;
            const WeightScene<Entry> scene(device, set, set.expected.size(), copies);
            benchDecode(scene, kernel, kind.name, set.outputBytes * copies,
                        set.encodedBytes * copies, set.expected, copies, report);
        }
    }
    return !sets.empty();
}

} // namespace sluice
