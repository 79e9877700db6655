// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/zstd/zstd_literals.h"

#include <algorithm>

#include "encode/gdeflate/package_merge.h"
#include "encode/zstd/zstd_fse.h"

namespace sluice::zstd {
namespace {

constexpr uint32_t kLongest = SLUICE_ZS_MAX_CODE_LENGTH;

// Describes the weights of a Huffman code, compressed with an FSE table of 2^log states. A decoder
// alternates between two states. Returns nothing if the description is longer than a byte can say.
std::vector<uint8_t> withFse(const uint8_t* weights, uint32_t count, uint32_t log)
{
    Histogram histogram;
    for (uint32_t i = 0; i < count; ++i)
        histogram.add(weights[i]);
    // If one weight had all states, symbols would take no bits, and a decoder could not find the
    // end. So give another weight a state too.
    if (histogram.used() == 1) histogram.add(weights[0] == 0 ? 1 : 0);
    const std::unique_ptr<FseCode> code = fitFse(histogram, log);
    if (code == nullptr) return {};
    std::vector<uint8_t> bytes = {0};
    bytes.insert(bytes.end(), code->description.begin(), code->description.end());
    BitWriter bits(bytes);
    uint32_t state[2] = {};
    for (uint32_t i = count; i-- > 0;) {
        uint32_t& one = state[i % 2];
        one = i + 2 >= count ? code->first(weights[i]) : code->next(one, weights[i], bits);
    }
    code->flush(state[1], bits);
    code->flush(state[0], bits);
    bits.finish();
    if (bytes.size() > 128) return {};
    bytes[0] = uint8_t(bytes.size() - 1);
    return bytes;
}

// Returns the shortest description of a Huffman code with these weights, from which a decoder gets
// code lengths. The last symbol's weight is not among them: a decoder computes it from the others.
std::vector<uint8_t> describe(const uint8_t* weights, uint32_t count)
{
    std::vector<uint8_t> best;
    if (count <= 128) {
        best.push_back(uint8_t(127 + count));
        for (uint32_t i = 0; i < count; i += 2)
            best.push_back(uint8_t(weights[i] << 4 | (i + 1 < count ? weights[i + 1] : 0)));
    }
    for (uint32_t log = fse::kMinLog; count >= 2 && log <= SLUICE_ZS_WEIGHT_LOG; ++log) {
        std::vector<uint8_t> coded = withFse(weights, count, log);
        if (!coded.empty() && (best.empty() || coded.size() < best.size())) best.swap(coded);
    }
    return best;
}

} // namespace

void LiteralCounts::add(const LiteralCounts& other)
{
    for (uint32_t i = 0; i < 256; ++i)
        count[i] += other.count[i];
}

uint32_t LiteralCounts::used() const
{
    return uint32_t(std::count_if(count, count + 256, [](uint32_t c) { return c != 0; }));
}

uint64_t LiteralCode::bits(const LiteralCounts& literals) const
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 256; ++i) {
        if (literals.count[i] != 0 && m_length[i] == 0) return UINT64_MAX;
        sum += uint64_t(literals.count[i]) * m_length[i];
    }
    return sum;
}

void LiteralCode::write(const uint8_t* literals, uint32_t count, std::vector<uint8_t>& to) const
{
    BitWriter bits(to);
    while (count-- > 0)
        bits.put(m_bits[literals[count]], m_length[literals[count]]);
    bits.finish();
}

std::unique_ptr<LiteralCode> fitLiterals(const LiteralCounts& literals)
{
    uint8_t symbols[256], lengths[256];
    uint32_t used = 0;
    for (uint32_t i = 0; i < 256; ++i)
        if (literals.count[i] != 0) symbols[used++] = uint8_t(i);
    if (used < 2) return nullptr;
    const uint32_t symbolCount = symbols[used - 1] + 1u;
    std::stable_sort(symbols, symbols + used,
                     [&](uint8_t a, uint8_t b) { return literals.count[a] < literals.count[b]; });
    std::unique_ptr<LiteralCode> best;
    uint64_t bestBits = 0;
    // A smaller limit on the code lengths may make the description shorter, so try three limits.
    for (uint32_t longest = kLongest; longest >= kLongest - 2 && used <= 1u << longest; --longest) {
        packageMerge<uint32_t, 256, kLongest>(
            used, longest, lengths, [&](uint32_t leaf) { return literals.count[symbols[leaf]]; });
        auto code = std::make_unique<LiteralCode>();
        uint8_t weights[256] = {};
        const uint32_t log = *std::max_element(lengths, lengths + used);
        for (uint32_t i = 0; i < used; ++i) {
            code->m_length[symbols[i]] = lengths[i];
            weights[symbols[i]] = uint8_t(log + 1 - lengths[i]);
        }
        code->description = describe(weights, symbolCount - 1);
        if (code->description.empty()) continue;
        const uint64_t bits = 8 * code->description.size() + code->bits(literals);
        if (best != nullptr && bits >= bestBits) continue;
        uint32_t at = 0;
        for (uint32_t weight = 1; weight <= log; ++weight) {
            for (uint32_t s = 0; s < symbolCount; ++s) {
                if (weights[s] != weight) continue;
                code->m_bits[s] = uint16_t(at >> (weight - 1));
                at += 1u << (weight - 1);
            }
        }
        best = std::move(code);
        bestBits = bits;
    }
    return best;
}

} // namespace sluice::zstd
