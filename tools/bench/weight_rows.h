// SPDX-License-Identifier: MIT OR Apache-2.0
// Weights that the benchmark decodes: made up, or of the files that it is given.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sluice/sluice_df11.h>
#include <sluice/sluice_float.h>

#include "rows.h"

namespace sluice {

struct NumberFormat {
    uint32_t exponentBits, mantissaBits; // with the sign 8, 16 or 32 bits
};

// Normally distributed, rounded, the same ones each time. Too large for the format: its largest
// number.
std::vector<uint8_t> makeWeights(const NumberFormat& format, float sigma, uint64_t count);

// A tensor of the float codec.
struct EncodedTensor {
    std::vector<uint8_t> lengths, raw;
    std::vector<uint32_t> words, index;
};
EncodedTensor encodeTensor(SluiceFloatType type, const uint8_t* plain, uint64_t count);

// Lists of tensors and units, laid out as they go to the device but that addresses are offsets from
// the start of source and expected. What the decode must not write is kGap in expected, whose size
// is a multiple of 256 like source's.
constexpr uint8_t kGap = 0xee;
template <class Entry>
struct WeightSet {
    uint32_t kind;     // SluiceFloatType or SluiceDf11Kind
    const char* parts; // what the file calls the entries
    std::vector<Entry> entries;
    std::vector<uint8_t> source, expected;
    uint32_t statusCount = 0;                   // tiles or blocks
    uint64_t encodedBytes = 0, outputBytes = 0; // without gaps
};
using FloatSet = WeightSet<SluiceFloatTensor>;
using Df11Set = WeightSet<SluiceDf11Unit>;

// What a file holds of each wanted kind, about maxOutput bytes of output at most; nothing: none of
// these. Float: the tensors of a .safetensors file by their dtypes, encoded now; the tiles of a
// .sluice archive; any other file as plain bytes. Df11: the units of a .safetensors file, or those
// that pack would make of it. Throw a Failure.
using WantedKind = std::function<bool(uint32_t kind)>;
std::vector<FloatSet> loadFloatSets(const std::string& path, uint64_t maxOutput,
                                    const WantedKind& wanted);
std::vector<Df11Set> loadDf11Sets(const std::string& path, uint64_t maxOutput,
                                  const WantedKind& wanted);

// A decode that writes the plain bytes `copies` times. The last two words of status are its
// summary.
struct WeightDecode {
    const char* kernel;
    std::string name; // of the codec
    const BenchBuffer &destination, &status;
    uint64_t outputBytes, encodedBytes; // of all copies, without what lies between tensors
    const std::vector<uint8_t>& plain;
    uint64_t copies;
    std::function<void(SluiceCommands)> record;
};
// Runs it over other bytes, checks all that it wrote, then times it.
void benchDecode(const BenchDevice& device, const WeightDecode& decode, BenchReport& report);
// How often to decode a set of so many bytes, row by row.
std::vector<uint64_t> copiesOf(const BenchDevice& device, uint64_t outputBytes);

constexpr uint32_t kEncodes = 4; // of made-up weights in a run: long enough for threads to find
                                 // their cores

// The rates of an encoder: on one thread, and on as many as there are cores with the same work for
// each. Medians of five runs.
void benchEncode(const char* kernel, const char* name, uint64_t plainBytes,
                 const std::function<void()>& encode, BenchReport& report);

} // namespace sluice
