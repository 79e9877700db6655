// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_float.h>

#include "pack_weights.h"

#include <algorithm>

#include "encode/tile_encoder.h"
#include "formats/safetensors.h"
#include "weights.h"

namespace sluice {
namespace {

constexpr uint64_t largeTensor = 65536; // bytes: starts a segment, so that it can be found and
                                        // decoded alone
constexpr uint64_t smallFloats = 1024;  // fewer bytes are not worth a code of their own
constexpr uint32_t sampleBytes = 65536, sampleCount = 4;
constexpr uint32_t floatTileBytes = 1u << SLUICE_ARCHIVE_MAX_TILE_LOG2, gdeflateTileBytes = 65536;
constexpr uint32_t denseLevel = 10; // from which fp8 is packed smaller rather than decoded faster

// SluiceFloatType, or -1.
int floatTypeOf(const std::string& dtype, uint32_t level)
{
    if (dtype == "F8_E4M3" && level >= denseLevel) return SLUICE_FLOAT_F8_E4M3_DENSE;
    static const std::pair<const char*, SluiceFloatType> types[] = {
        {"BF16", SLUICE_FLOAT_BF16},
        {"F16", SLUICE_FLOAT_F16},
        {"F32", SLUICE_FLOAT_F32},
        {"F8_E4M3", SLUICE_FLOAT_F8_E4M3},
        {"F8_E5M2", SLUICE_FLOAT_F8_E5M2}};
    for (const auto& [name, type] : types) {
        if (dtype == name) {
            return int(type);
        }
    }
    return -1;
}

uint64_t roundUp4(uint64_t offset) { return (offset + 3) & ~uint64_t(3); }

class SegmentPlan {
public:
    SegmentPlan(const InputFile& file, const PackOptions& options)
        : file_(file), level_(options.level)
    {
        gdeflate_.codec = SLUICE_CODEC_GDEFLATE;
        gdeflate_.tileSize = gdeflateTileBytes;
        gdeflate_.level = options.level;
        gdeflate_.decodeSpeed = options.decodeSpeed;
    }

    // Tensors come in the order of their bytes; begin and end count from the start of the file.
    void addTensor(const std::string& dtype, uint64_t begin, uint64_t end)
    {
        // Segments start at multiples of 4 and end there too, but for the last: the few bytes
        // around a tensor that does not are remains.
        const uint64_t from = roundUp4(begin), to = end == file_.size() ? end : end & ~uint64_t(3);
        const int type = floatTypeOf(dtype, level_);
        if (type >= 0 && (from - begin) % sluiceFloatElementSize(uint32_t(type)) == 0) {
            if (to >= from + smallFloats) {
                add(floats(SluiceFloatType(type)), from, to, end - begin >= largeTensor);
            }
        } else if (to >= from + largeTensor) {
            add(bestOnSamples(from, to), from, to, true);
        }
    }

    std::vector<SluiceArchiveSegment> finish()
    {
        addRemains(file_.size());
        return std::move(segments_);
    }

private:
    static SluiceArchiveSegment floats(SluiceFloatType type)
    {
        SluiceArchiveSegment segment = {};
        segment.codec = SLUICE_CODEC_FLOAT;
        segment.tileSize = floatTileBytes;
        segment.floatType = type;
        return segment;
    }

    // What is between the last segment and `begin`.
    void addRemains(uint64_t begin)
    {
        if (begin != end_) {
            append(gdeflate_, begin, false);
        }
    }
    void add(const SluiceArchiveSegment& segment, uint64_t begin, uint64_t end, bool alone)
    {
        addRemains(begin);
        append(segment, end, alone);
    }
    void append(SluiceArchiveSegment segment, uint64_t end, bool alone)
    {
        segment.size = end - end_;
        end_ = end;
        const bool same = !segments_.empty() && segments_.back().codec == segment.codec &&
                          segments_.back().floatType == segment.floatType;
        if (same && !alone) {
            segments_.back().size += segment.size;
        } else {
            segments_.push_back(segment);
        }
    }

    // Plain Huffman, GDeflate or neither for [begin, end).
    SluiceArchiveSegment bestOnSamples(uint64_t begin, uint64_t end)
    {
        SluiceArchiveSegment stored = {};
        stored.codec = SLUICE_CODEC_STORE;
        stored.tileSize = floatTileBytes;
        const SluiceArchiveSegment choices[] = {floats(SLUICE_FLOAT_BYTES), gdeflate_, stored};
        uint64_t sizes[std::size(choices)] = {};
        std::vector<uint8_t> sample(sampleBytes), out;
        for (uint64_t i = 0; i < sampleCount; ++i) {
            file_.read(begin + (end - begin - sampleBytes) / (sampleCount - 1) * i, sample.data(),
                       sample.size());
            for (size_t choice = 0; choice < std::size(choices); ++choice) {
                const SluiceStatus status =
                    encoders_.encode(choices[choice], sample.data(), sampleBytes, out);
                if (status != SLUICE_OK) {
                    throw Failure{exitCodeOf(status),
                                  file_.name() + ": " + sluiceGetStatusText(status)};
                }
                sizes[choice] +=
                    out.empty() ? sampleBytes : std::min<size_t>(out.size(), sampleBytes);
            }
        }
        return choices[std::min_element(std::begin(sizes), std::end(sizes)) - std::begin(sizes)];
    }

    const InputFile& file_;
    const uint32_t level_;
    SluiceArchiveSegment gdeflate_ = {};
    TileEncoders encoders_;
    std::vector<SluiceArchiveSegment> segments_;
    uint64_t end_ = 0; // of the last segment
};

} // namespace

std::vector<SluiceArchiveSegment>
planWeightSegments(const InputFile& file, const PackOptions& options, std::string& reason)
{
    reason.clear();
    if (!WeightFile::recognises(file)) {
        if (endsWith(file.name(), ".safetensors")) {
            reason = "it does not begin as a .safetensors file does";
        }
        return {};
    }
    uint8_t start[8] = {};
    file.read(0, start, sizeof(start));
    uint64_t headerSize = 0;
    SafetensorsHeader header;
    SluiceStatus status = readSafetensorsSize(start, file.size(), headerSize, reason);
    const uint64_t dataOffset = 8 + headerSize;
    if (status == SLUICE_OK) {
        std::string json(size_t(headerSize), '\0');
        file.read(8, json.data(), json.size());
        status = parseSafetensors(json, file.size() - dataOffset, header, reason);
    }
    if (status != SLUICE_OK) {
        reason = reason.empty() ? sluiceGetStatusText(status) : reason;
        return {};
    }
    std::sort(
        header.tensors.begin(), header.tensors.end(),
        [](const SafetensorsTensor& a, const SafetensorsTensor& b) { return a.begin < b.begin; });
    SegmentPlan plan(file, options);
    for (const SafetensorsTensor& tensor : header.tensors) {
        plan.addTensor(tensor.dtype, dataOffset + tensor.begin, dataOffset + tensor.end);
    }
    return plan.finish();
}

} // namespace sluice
