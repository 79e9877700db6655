// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/gemv/matrix.h"
#include "tools/samples/require.h"

#include <algorithm>
#include <cstring>
#include <random>

#include <sluice/sluice_encode.h>

namespace {

constexpr uint32_t kType = SLUICE_FLOAT_BF16;

uint16_t toBf16(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    // Round to the nearest value, halves to even.
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Takes each weight from a list of 65,536 normally distributed ones, since drawing billions would
// be slow.
std::vector<uint16_t> makeWeights(size_t count)
{
    std::mt19937 engine(1);
    std::normal_distribution<float> normal(0.0f, 0.02f);
    uint16_t drawn[65'536];
    for (uint16_t& weight : drawn)
        weight = toBf16(normal(engine));
    std::vector<uint16_t> weights(count);
    for (uint16_t& weight : weights)
        weight = drawn[engine() >> 16];
    return weights;
}

class Encoder {
public:
    explicit Encoder(Matrix& into) : m_matrix(into), m_count(into.weights.size()) {}

    void encode()
    {
        uint64_t histogram[256] = {};
        uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE];
        require(sluiceFloatCountSymbols(kType, m_matrix.weights.data(), m_count, histogram),
                "count symbols");
        require(sluiceFloatCodeLengths(histogram, lengths), "code lengths");
        std::vector<uint32_t> words, index = {0};
        for (uint64_t first = 0; first < m_count; first += SLUICE_FLOAT_TILE) {
            uint32_t tile[SLUICE_FLOAT_TILE_BOUND], size = 0;
            const uint32_t elements =
                uint32_t(std::min<uint64_t>(SLUICE_FLOAT_TILE, m_count - first));
            require(sluiceFloatEncodeTile(kType, lengths, m_matrix.weights.data() + first, elements,
                                          tile, SLUICE_FLOAT_TILE_BOUND, &size),
                    "encode tile");
            words.insert(words.end(), tile, tile + size);
            index.push_back(uint32_t(words.size() / 2));
        }
        std::vector<uint8_t> raw(sluiceFloatRawSize(kType, m_count));
        require(sluiceFloatPackRaw(kType, m_count, m_matrix.weights.data(), 0, m_count, raw.data()),
                "pack raw");

        SluiceFloatTensor& tensor = m_matrix.tensor;
        tensor.lengths = place(lengths, sizeof lengths);
        tensor.index = place(index.data(), index.size() * 4);
        tensor.raw = place(raw.data(), raw.size());
        tensor.words = place(words.data(), words.size() * 4);
        tensor.wordsSize = words.size() * 4;
        tensor.count = m_count;
        tensor.type = kType;
        m_matrix.tiles = index.size() - 1;
    }

private:
    uint64_t place(const void* bytes, size_t size)
    {
        const size_t at = m_matrix.encoded.size();
        m_matrix.encoded.resize(at + (size + 255) / 256 * 256);
        std::memcpy(m_matrix.encoded.data() + at, bytes, size);
        m_matrix.encodedSize += size;
        return at;
    }

    Matrix& m_matrix;
    const uint64_t m_count;
};

} // namespace

Matrix makeMatrix(uint32_t rows, uint32_t columns)
{
    Matrix matrix;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.weights = makeWeights(size_t{rows} * columns);
    Encoder(matrix).encode();
    return matrix;
}

double toDouble(uint16_t bf16)
{
    const uint32_t bits = uint32_t{bf16} << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return double(value);
}
