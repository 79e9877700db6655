// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of the float codec: normally distributed weights of every type, decoded, and how fast
// they are encoded; or those of files.
#include <algorithm>

#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>

#include "bench_rows.h"
#include "bench_weights.h"
#include "encode/tile_encoder.h"

namespace sluice {
namespace {

struct FloatKind {
    SluiceFloatType type;
    const char* name;
    uint32_t exponentBits, mantissaBits;
    float sigma;
};
// Standard deviations of weights; of E4M3 such that the largest of many is near 448.
constexpr FloatKind kinds[] = {{SLUICE_FLOAT_BF16, "bf16", 8, 7, 0.02f},
                               {SLUICE_FLOAT_F16, "f16", 5, 10, 0.02f},
                               {SLUICE_FLOAT_F32, "f32", 8, 23, 0.02f},
                               {SLUICE_FLOAT_F8_E4M3, "e4m3", 4, 3, 75.0f},
                               {SLUICE_FLOAT_F8_E4M3_DENSE, "e4m3 dense", 4, 3, 75.0f},
                               {SLUICE_FLOAT_F8_E5M2, "e5m2", 5, 2, 0.02f},
                               {SLUICE_FLOAT_BYTES, "huff", 0, 0, 0.02f}};

constexpr uint64_t kBlock = 1u << 22; // weights that are made; larger tensors repeat them

// kBlock elements of a type; plain bytes are the exponents of bf16.
std::vector<uint8_t> makePlain(const FloatKind& kind)
{
    if (kind.type != SLUICE_FLOAT_BYTES)
        return makeWeights({kind.exponentBits, kind.mantissaBits}, kind.sigma, kBlock);
    const std::vector<uint8_t> bf16 = makeWeights({8, 7}, kind.sigma, kBlock);
    std::vector<uint8_t> bytes(kBlock);
    for (size_t i = 0; i < kBlock; ++i)
        bytes[i] = static_cast<uint8_t>(bf16[2 * i + 1] << 1 | bf16[2 * i] >> 7);
    return bytes;
}

// A list of tensors on the device; who makes it fills list and source.
struct Tensors {
    Tensors(const BenchDevice& on, uint64_t tensorCount, uint64_t tileCount, uint64_t outputSize)
        : device(on), tensors(static_cast<uint32_t>(tensorCount)),
          tiles(static_cast<uint32_t>(tileCount)), destination(on.allocate(aligned256(outputSize))),
          status(on.allocate((tileCount + 2) * 4)),
          list(on.allocate(tensorCount * sizeof(SluiceFloatTensor)))
    {
    }

    void record(SluiceCommands commands) const
    {
        SluiceFloatDecodeInfo info = {};
        info.tensorCount = tensors;
        info.tileCount = tiles;
        info.tensors = list.whole();
        info.source = source.whole();
        info.destination = destination.whole();
        info.status = status.whole();
        require(sluiceCmdFloatDecode(device.context(), commands, &info), "float decode");
    }

    const BenchDevice& device;
    uint32_t tensors, tiles;
    BenchBuffer source, destination, status, list;
};

// A tensor of `blocks` times the same weights.
struct Scene : Tensors {
    Scene(const BenchDevice& on, const FloatKind& kind, const std::vector<uint8_t>& plain,
          const EncodedTensor& block, uint64_t blocks)
        : Tensors(on, 1, blocks * kBlock / SLUICE_FLOAT_TILE,
                  blocks * kBlock * sluiceFloatElementSize(kind.type)),
          count(blocks * kBlock), outputBytes(count * sluiceFloatElementSize(kind.type))
    {
        const uint64_t wordBytes = blocks * block.words.size() * 4,
                       indexBytes = (uint64_t{tiles} + 1) * 4;
        const uint64_t rawBytes = sluiceFloatRawSize(kind.type, count);
        encodedBytes = wordBytes + indexBytes + rawBytes + SLUICE_FLOAT_LENGTHS_SIZE;
        const uint64_t indexAt = aligned256(wordBytes),
                       lengthsAt = indexAt + aligned256(indexBytes), rawAt = lengthsAt + 256;
        source = device.allocate(rawAt + aligned256(rawBytes));
        std::vector<uint32_t> index;
        for (uint64_t i = 0; i < blocks; ++i) {
            device.upload(source.part(i * block.words.size() * 4, block.words.size() * 4),
                          block.words.data(), block.words.size() * 4);
            for (size_t tile = 0; tile + 1 < block.index.size(); ++tile)
                index.push_back(
                    static_cast<uint32_t>(i * block.words.size() / 2 + block.index[tile]));
        }
        index.push_back(static_cast<uint32_t>(blocks * block.words.size() / 2));
        device.upload(source.part(indexAt, indexBytes), index.data(), indexBytes);
        device.upload(source.part(lengthsAt, block.lengths.size()), block.lengths.data(),
                      block.lengths.size());
        if (rawBytes != 0) {
            std::vector<uint8_t> raw(rawBytes);
            for (uint64_t i = 0; i < blocks; ++i)
                require(sluiceFloatPackRaw(kind.type, count, plain.data(), i * kBlock, kBlock,
                                           raw.data()),
                        "float raw");
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

    uint64_t count, outputBytes, encodedBytes = 0;
};

// What a file holds of a type, several times.
struct FileScene : Tensors {
    FileScene(const BenchDevice& on, const FloatSet& set, uint64_t copies)
        : Tensors(on, set.entries.size() * copies, set.statusCount * copies,
                  set.expected.size() * copies)
    {
        source = device.allocate(set.source.size() * copies);
        std::vector<SluiceFloatTensor> all;
        for (uint64_t i = 0; i < copies; ++i) {
            device.upload(source.part(i * set.source.size(), set.source.size()), set.source.data(),
                          set.source.size());
            for (SluiceFloatTensor one : set.entries) {
                for (uint64_t* place : {&one.words, &one.index, &one.lengths, &one.raw})
                    *place += source.address() + i * set.source.size();
                one.output += destination.address() + i * set.expected.size();
                one.firstTile += static_cast<uint32_t>(i * set.statusCount);
                all.push_back(one);
            }
        }
        device.upload(list.whole(), all.data(), all.size() * sizeof all[0]);
    }
};

// As pack does it, tile by tile of 1 MiB.
void encodeTiles(SluiceFloatType type, const uint8_t* plain, uint64_t size)
{
    SluiceArchiveSegment segment = {};
    segment.codec = SLUICE_CODEC_FLOAT;
    segment.tileSize = 1u << SLUICE_ARCHIVE_MAX_TILE_LOG2;
    segment.floatType = type;
    TileEncoders encoders;
    std::vector<uint8_t> out;
    for (uint64_t at = 0; at < size; at += segment.tileSize) {
        const uint32_t bytes =
            static_cast<uint32_t>(std::min<uint64_t>(segment.tileSize, size - at));
        require(encoders.encode(segment, plain + at, bytes, out), "encode");
    }
}

std::string kernelOf(const FloatKind& kind) { return std::string("float ") + kind.name; }

void benchKind(const BenchDevice& device, const FloatKind& kind, const Wanted& wanted,
               BenchReport& report)
{
    const bool decodes = wanted(kernelOf(kind).c_str()), encodes = wanted("float encode");
    if (!decodes && !encodes) return;
    const std::vector<uint8_t> plain = makePlain(kind);
    std::vector<uint64_t> sizes = {1};
    if (device.isGpu()) sizes = {2, 64}; // 16 MB of bf16, and 2^28 weights
    if (decodes) {
        const EncodedTensor block = encodeTensor(kind.type, plain.data(), kBlock);
        for (const uint64_t blocks : sizes) {
            const Scene scene(device, kind, plain, block, blocks);
            benchDecode(device,
                        {"float", kind.name, scene.destination, scene.status, scene.outputBytes,
                         scene.encodedBytes, plain, blocks,
                         [&](SluiceCommands commands) { scene.record(commands); }},
                        report);
        }
    }
    const auto encode = [&] {
        for (uint32_t i = 0; i < kEncodes; ++i)
            encodeTiles(kind.type, plain.data(), plain.size());
    };
    if (encodes) benchEncode("float encode", kind.name, kEncodes * plain.size(), encode, report);
}

} // namespace

void benchFloat(const BenchDevice& device, const Wanted& wanted, BenchReport& report)
{
    for (const FloatKind& kind : kinds)
        benchKind(device, kind, wanted, report);
}

bool benchFloatFile(const BenchDevice& device, const std::string& path, const Wanted& wanted,
                    BenchReport& report)
{
    const auto kindOf = [](uint32_t type) {
        return std::find_if(std::begin(kinds), std::end(kinds),
                            [&](const FloatKind& one) { return one.type == type; });
    };
    const std::vector<FloatSet> sets =
        loadFloatSets(path, decodeInputLimit(device), [&](uint32_t type) {
            return wanted(kernelOf(*kindOf(type)).c_str()) || wanted("float encode");
        });
    for (const FloatSet& set : sets) {
        const FloatKind& kind = *kindOf(set.kind);
        const char* name = kind.name;
        report.beginInput(path, name, set.parts, set.entries.size(), set.encodedBytes,
                          set.outputBytes);
        if (wanted("float encode")) {
            const auto encode = [&] {
                for (const SluiceFloatTensor& one : set.entries)
                    encodeTiles(kind.type, &set.expected[one.output],
                                one.count * sluiceFloatElementSize(kind.type));
            };
            benchEncode("float encode", name, set.outputBytes, encode, report);
        }
        if (!wanted(kernelOf(kind).c_str())) continue;
        for (const uint64_t copies : copiesOf(device, set.outputBytes)) {
            const FileScene scene(device, set, copies);
            benchDecode(device,
                        {"float", name, scene.destination, scene.status, set.outputBytes * copies,
                         set.encodedBytes * copies, set.expected, copies,
                         [&](SluiceCommands commands) { scene.record(commands); }},
                        report);
        }
    }
    return !sets.empty();
}

} // namespace sluice
