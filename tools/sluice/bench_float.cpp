// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of the float codec: normally distributed weights of every type, decoded, and how fast they are encoded.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>

#include "bench_rows.h"
#include "bench_weights.h"

namespace sluice {
namespace {

struct FloatKind {
    SluiceFloatType type;
    const char* name;
    uint32_t exponentBits, mantissaBits;
    float sigma;
};
// Standard deviations of weights; of E4M3 such that the largest of many is near 448.
constexpr FloatKind kinds[] = {{SLUICE_FLOAT_BF16, "bf16", 8, 7, 0.02f},     {SLUICE_FLOAT_F16, "f16", 5, 10, 0.02f},
                               {SLUICE_FLOAT_F32, "f32", 8, 23, 0.02f},      {SLUICE_FLOAT_F8_E4M3, "e4m3", 4, 3, 75.0f},
                               {SLUICE_FLOAT_F8_E4M3_DENSE, "e4m3 dense", 4, 3, 75.0f},
                               {SLUICE_FLOAT_F8_E5M2, "e5m2", 5, 2, 0.02f},  {SLUICE_FLOAT_BYTES, "huff", 0, 0, 0.02f}};

constexpr uint64_t kBlock = 1u << 22; // weights that are made; larger tensors repeat them

// kBlock elements of a type; plain bytes are the exponents of bf16.
std::vector<uint8_t> makePlain(const FloatKind& kind)
{
    if (kind.type != SLUICE_FLOAT_BYTES) return makeWeights({kind.exponentBits, kind.mantissaBits}, kind.sigma, kBlock);
    const std::vector<uint8_t> bf16 = makeWeights({8, 7}, kind.sigma, kBlock);
    std::vector<uint8_t> bytes(kBlock);
    for (size_t i = 0; i < kBlock; ++i)
        bytes[i] = static_cast<uint8_t>(bf16[2 * i + 1] << 1 | bf16[2 * i] >> 7);
    return bytes;
}

struct EncodedBlock {
    std::vector<uint8_t> plain;
    uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE];
    std::vector<uint32_t> words, index;
    double milliseconds = 0; // of one thread
};

EncodedBlock encodeBlock(const FloatKind& kind)
{
    EncodedBlock block;
    block.plain = makePlain(kind);
    const uint32_t size = sluiceFloatElementSize(kind.type);
    std::vector<uint8_t> raw(sluiceFloatRawSize(kind.type, kBlock));
    const auto begin = std::chrono::steady_clock::now();
    uint64_t histogram[256] = {};
    require(sluiceFloatCountSymbols(kind.type, block.plain.data(), kBlock, histogram), "float histogram");
    require(sluiceFloatCodeLengths(histogram, block.lengths), "float code lengths");
    block.index.push_back(0);
    for (uint64_t first = 0; first < kBlock; first += SLUICE_FLOAT_TILE) {
        uint32_t words[SLUICE_FLOAT_TILE_BOUND], count = 0;
        require(sluiceFloatEncodeTile(kind.type, block.lengths, block.plain.data() + first * size, SLUICE_FLOAT_TILE, words,
                                      SLUICE_FLOAT_TILE_BOUND, &count),
                "float tile");
        block.words.insert(block.words.end(), words, words + count);
        block.index.push_back(static_cast<uint32_t>(block.words.size()));
    }
    require(sluiceFloatPackRaw(kind.type, kBlock, block.plain.data(), 0, kBlock, raw.data()), "float raw");
    block.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return block;
}

// A tensor of `blocks` times the same weights on the device.
class Scene {
public:
    Scene(const BenchDevice& on, const FloatKind& kind, const EncodedBlock& block, uint64_t blocks)
        : device(on), count(blocks * kBlock), tiles(static_cast<uint32_t>(count / SLUICE_FLOAT_TILE)),
          outputBytes(count * sluiceFloatElementSize(kind.type))
    {
        const uint64_t wordBytes = blocks * block.words.size() * 4, indexBytes = (uint64_t{tiles} + 1) * 4;
        const uint64_t rawBytes = sluiceFloatRawSize(kind.type, count);
        encodedBytes = wordBytes + indexBytes + rawBytes + SLUICE_FLOAT_LENGTHS_SIZE;
        const uint64_t indexAt = aligned256(wordBytes), lengthsAt = indexAt + aligned256(indexBytes), rawAt = lengthsAt + 256;
        source = device.allocate(rawAt + aligned256(rawBytes));
        destination = device.allocate(aligned256(outputBytes));
        status = device.allocate((uint64_t{tiles} + 2) * 4);
        list = device.allocate(sizeof(SluiceFloatTensor));
        std::vector<uint32_t> index;
        for (uint64_t i = 0; i < blocks; ++i) {
            device.upload(source.part(i * block.words.size() * 4, block.words.size() * 4), block.words.data(),
                          block.words.size() * 4);
            for (size_t tile = 0; tile + 1 < block.index.size(); ++tile)
                index.push_back(static_cast<uint32_t>(i * block.words.size() + block.index[tile]));
        }
        index.push_back(static_cast<uint32_t>(blocks * block.words.size()));
        device.upload(source.part(indexAt, indexBytes), index.data(), indexBytes);
        device.upload(source.part(lengthsAt, sizeof block.lengths), block.lengths, sizeof block.lengths);
        if (rawBytes != 0) {
            std::vector<uint8_t> raw(rawBytes);
            for (uint64_t i = 0; i < blocks; ++i)
                require(sluiceFloatPackRaw(kind.type, count, block.plain.data(), i * kBlock, kBlock, raw.data()), "float raw");
            device.upload(source.part(rawAt, rawBytes), raw.data(), rawBytes);
        }
        SluiceFloatTensor tensor = {};
        tensor.words = source.address();
        tensor.wordsSize = wordBytes;
        tensor.index = source.address() + indexAt;
        tensor.lengths = source.address() + lengthsAt;
        tensor.raw = source.address() + rawAt;
        tensor.output = destination.address();
        tensor.count = count;
        tensor.type = kind.type;
        device.upload(list.whole(), &tensor, sizeof tensor);
    }

    void record(SluiceCommands commands) const
    {
        SluiceFloatDecodeInfo info = {};
        info.tensorCount = 1;
        info.tileCount = tiles;
        info.tensors = list.whole();
        info.source = source.whole();
        info.destination = destination.whole();
        info.status = status.whole();
        require(sluiceCmdFloatDecode(device.context(), commands, &info), "float decode");
    }

    const BenchDevice& device;
    uint64_t count;
    uint32_t tiles;
    uint64_t outputBytes, encodedBytes = 0;
    BenchBuffer source, destination, status, list;
};

void benchKind(const BenchDevice& device, const FloatKind& kind, BenchReport& report)
{
    const EncodedBlock block = encodeBlock(kind);
    std::vector<uint64_t> sizes = {1};
    if (device.isGpu()) sizes = {2, 64}; // 16 MB of bf16, and 2^28 weights
    for (const uint64_t blocks : sizes) {
        const Scene scene(device, kind, block, blocks);
        benchDecode(device,
                    {"float", kind.name, scene.destination, scene.status, scene.outputBytes, scene.encodedBytes, block.plain,
                     [&](SluiceCommands commands) { scene.record(commands); }},
                    report);
    }
    BenchRow encode;
    encode.kernel = "float encode";
    encode.size = sizeText(block.plain.size());
    encode.who = std::string("sluice, ") + kind.name + ", one thread";
    encode.bytes = block.plain.size();
    encode.timing.median = encode.timing.fastest = encode.timing.slowest = block.milliseconds;
    encode.timing.runs = 1;
    report.addGroup({encode});
}

} // namespace

void benchFloat(const BenchDevice& device, BenchReport& report)
{
    for (const FloatKind& kind : kinds) benchKind(device, kind, report);
}

} // namespace sluice
