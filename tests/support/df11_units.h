// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes DF11 units for tests. A packer lays out units as the original packers do, for any code.
// Also holds the golden files, and decodes a list of units on a device.
#pragma once

#include <sluice/sluice_df11.h>

#include "tests/support/devices.h"

namespace sluice::test {

// Holds a unit's tensors as its file has them, and what it must decode to.
struct Df11Tensors {
    std::string name;
    SluiceDf11Kind kind = SLUICE_DF11_BF16;
    uint32_t elementCount = 0;
    Bytes luts, encoded, signMantissa, outputPositions, gaps;
    Bytes expected;

    uint32_t blockCount() const { return uint32_t((encoded.size() + 4095) / 4096); }
    SluiceDf11Tables tables() const;
    // Calls sluiceCheckDf11Unit.
    SluiceStatus check(SluiceDf11Unit& unit, std::string& reason) const;
};

constexpr uint32_t kDf11End = 256;         // the end mark's index among the lengths
using CodeLengths = std::vector<uint32_t>; // 257 of them, 0: no code

// Returns the lengths of a Huffman code of the exponents and one end mark.
CodeLengths huffmanLengths(const Bytes& exponents);
// Packs elements with these exponents. Signs and mantissas are random.
Df11Tensors packDf11(const std::string& name, SluiceDf11Kind kind, const Bytes& exponents,
                     const CodeLengths& lengths, std::mt19937& random);
// Returns exponents as weights have them: ever less likely with the distance from a middle.
Bytes weightExponents(SluiceDf11Kind kind, size_t count, std::mt19937& random);

struct Df11Golden {
    std::string file;
    uint64_t xxh64; // of the decoded bytes, with seed 0
    Df11Tensors tensors;
};
std::vector<Df11Golden> df11GoldenFiles();

struct DecodedDf11 {
    Words statuses; // one for each block
    Bytes bytes;
    bool ok() const;
};
// Decodes all units in one command. Checks the summary, and that no byte between the outputs of
// units has changed.
std::vector<DecodedDf11> decodeDf11(Device& device, const std::vector<Df11Tensors>& units);

} // namespace sluice::test
