// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of the float codec: decoding made-up, normally distributed weights of each type or the
// weights of a file, and the speed of encoding.
#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>

#include "encode/archive/tile_encoder.h"
#include "tools/bench/weight_rows.h"

namespace sluice {
namespace {

constexpr WeightKind kKinds[] = {
    {SLUICE_FLOAT_BF16, "float bf16", "bf16", {8, 7}, 0.02f},
    {SLUICE_FLOAT_F16, "float f16", "f16", {5, 10}, 0.02f},
    {SLUICE_FLOAT_F32, "float f32", "f32", {8, 23}, 0.02f},
    {SLUICE_FLOAT_F8_E4M3, "float e4m3", "e4m3", {4, 3}, 75.0f},
    {SLUICE_FLOAT_F8_E4M3_DENSE, "float e4m3 dense", "e4m3 dense", {4, 3}, 75.0f},
    {SLUICE_FLOAT_F8_E5M2, "float e5m2", "e5m2", {5, 2}, 0.02f},
    // Bytes distributed like bf16's exponents.
    {SLUICE_FLOAT_BYTES, "float huff", "huff", {8, 7}, 0.02f}};

constexpr uint64_t kBlock = 1u << 22; // number of made-up weights; larger tensors repeat them

Bytes makePlain(const WeightKind& kind)
{
    const Bytes weights = makeWeights(kind.format, kind.sigma, kBlock);
    if (kind.kind != SLUICE_FLOAT_BYTES) return weights;
    Bytes bytes(kBlock);
    for (size_t i = 0; i < kBlock; ++i)
        bytes[i] = uint8_t(weights[2 * i + 1] << 1 | weights[2 * i] >> 7);
    return bytes;
}

struct TensorScene : WeightScene<SluiceFloatTensor> {
    TensorScene(const BenchDevice& on, uint32_t type, const Bytes& plain, const FloatTensor& block,
                uint64_t blocks)
        : WeightScene(on, 1, blocks * kBlock / SLUICE_FLOAT_TILE, plain.size() * blocks)
    {
        const uint64_t count = blocks * kBlock, blockBytes = block.words.size() * 4;
        const uint64_t wordBytes = blocks * blockBytes,
                       indexBytes = (uint64_t{statusCount} + 1) * 4,
                       rawBytes = sluiceFloatRawSize(type, count);
        encodedBytes = wordBytes + indexBytes + rawBytes + SLUICE_FLOAT_LENGTHS_SIZE;
        const uint64_t indexAt = aligned256(wordBytes),
                       lengthsAt = indexAt + aligned256(indexBytes), rawAt = lengthsAt + 256;
        source = on.allocate(rawAt + aligned256(rawBytes));
        Words index;
        for (uint64_t i = 0; i < blocks; ++i) {
            on.upload(source.part(i * blockBytes, blockBytes), block.words.data(), blockBytes);
            for (size_t tile = 0; tile + 1 < block.index.size(); ++tile)
                index.push_back(uint32_t(i * blockBytes / 8 + block.index[tile]));
        }
        index.push_back(uint32_t(wordBytes / 8));
        on.upload(source.part(indexAt, indexBytes), index.data(), indexBytes);
        on.upload(source.part(lengthsAt, block.lengths.size()), block.lengths.data(),
                  block.lengths.size());
        if (rawBytes != 0) {
            Bytes raw(rawBytes);
            for (uint64_t i = 0; i < blocks; ++i)
                require(
                    sluiceFloatPackRaw(type, count, plain.data(), i * kBlock, kBlock, raw.data()),
                    "float raw");
            on.upload(source.part(rawAt, rawBytes), raw.data(), rawBytes);
        }
        SluiceFloatTensor tensor = {};
        tensor.wordsSize = wordBytes;
        tensor.index = indexAt;
        tensor.lengths = lengthsAt;
        tensor.raw = rawAt;
        tensor.count = count;
        tensor.type = type;
        place(tensor, 0, 0, 0);
        list = on.allocate(std::vector<SluiceFloatTensor>{tensor});
    }

    uint64_t encodedBytes = 0;
};

// Encodes as `pack` does, in tiles of 1 MiB.
void encodeTiles(uint32_t type, const uint8_t* plain, uint64_t size)
{
    SluiceArchiveSegment segment = {};
    segment.codec = SLUICE_CODEC_FLOAT;
    segment.tileSize = 1u << SLUICE_ARCHIVE_MAX_TILE_LOG2;
    segment.floatType = type;
    TileEncoders encoders;
    Bytes out;
    for (uint64_t at = 0; at < size; at += segment.tileSize) {
        const uint32_t bytes = uint32_t(std::min<uint64_t>(segment.tileSize, size - at));
        require(encoders.encode(segment, plain + at, bytes, out), "encode");
    }
}

} // namespace

template <>
void WeightScene<SluiceFloatTensor>::record(SluiceCommands commands) const
{
    SluiceFloatDecodeInfo info = {};
    info.tensorCount = entryCount;
    info.tileCount = statusCount;
    info.tensors = list.whole();
    info.source = source.whole();
    info.destination = destination.whole();
    info.status = status.whole();
    require(sluiceCmdFloatDecode(device.context(), commands, &info), "float decode");
}

template <>
void WeightScene<SluiceFloatTensor>::place(SluiceFloatTensor& tensor, uint64_t sourceBytes,
                                           uint64_t outputBytes, uint32_t statuses) const
{
    for (uint64_t* address : addressesOf(tensor))
        *address += source.address() + sourceBytes;
    tensor.output += destination.address() + outputBytes;
    tensor.firstTile += statuses;
}

void benchFloat(const BenchDevice& device, const Wanted& wanted, BenchReport& report)
{
    std::vector<uint64_t> sizes = {1};
    // Sizes count blocks of kBlock (2^22) weights. GPUs get 2^23 weights, which are 16 MB of bf16,
    // and 2^26 or 2^28.
    if (device.isGpu()) sizes = {2, device.isBrief() ? 16u : 64u};
    for (const WeightKind& kind : kKinds) {
        const bool decodes = wanted(kind.filter), encodes = wanted("float encode");
        if (!decodes && !encodes) continue;
        report.showStep(kind.filter);
        const Bytes plain = makePlain(kind);
        if (decodes) {
            FloatTensor block;
            require(block.encode(kind.kind, plain.data(), kBlock), "float tensor");
            for (const uint64_t blocks : report.budget().ordered(sizes)) {
                if (!report.hasTime(kind.filter, sizeText(plain.size() * blocks))) continue;
                const TensorScene scene(device, kind.kind, plain, block, blocks);
                benchDecode(scene, "float", kind.name, plain.size() * blocks, scene.encodedBytes,
                            plain, blocks, report);
            }
        }
        const auto encode = [&] {
            for (uint32_t i = 0; i < kEncodes; ++i)
                encodeTiles(kind.kind, plain.data(), plain.size());
        };
        if (encodes && report.hasTime("float encode", kind.name))
            benchEncode("float encode", kind.name, kEncodes * plain.size(), encode, report);
    }
}

bool benchFloatFile(const BenchDevice& device, const std::string& path, const Wanted& wanted,
                    BenchReport& report)
{
    const auto encode = [](const WeightKind& kind, const uint8_t* plain,
                           const SluiceFloatTensor& tensor) {
        encodeTiles(kind.kind, plain + tensor.output,
                    tensor.count * sluiceFloatElementSize(kind.kind));
    };
    return benchFile<SluiceFloatTensor>(device, path, "float", "float encode", kKinds, encode,
                                        wanted, report);
}

} // namespace sluice
