// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice pack -c float`: cuts a .safetensors file into segments and chooses the codec of each.
#include <sluice/sluice_float.h>

#include <algorithm>

#include "tools/common/codecs.h"
#include "encode/archive/tile_encoder.h"
#include "tools/common/weights.h"

namespace sluice {
namespace {

// A tensor of this many bytes or more gets a segment of its own, so that it can be found and
// decoded alone.
constexpr uint64_t kLargeTensor = 65536;
constexpr uint64_t kSmallFloats = 1024; // smaller tensors gain nothing by a code of their own
constexpr uint32_t kSampleBytes = 65536, kSampleCount = 4;
constexpr uint32_t kFloatTileBytes = 1u << SLUICE_ARCHIVE_MAX_TILE_LOG2, kGdeflateTileBytes = 65536;
// From this level on, fp8 is packed for size, not for fast decoding.
constexpr uint32_t kDenseLevel = 10;

// Returns the SluiceFloatType for a dtype of .safetensors, or -1 if the float codec has none.
int floatTypeOf(const std::string& dtype, uint32_t level)
{
    if (dtype == "F8_E4M3" && level >= kDenseLevel) return SLUICE_FLOAT_F8_E4M3_DENSE;
    const auto* known = std::find_if(std::begin(kFloatDtypes), std::end(kFloatDtypes),
                                     [&](const auto& one) { return dtype == one.second; });
    return known != std::end(kFloatDtypes) ? int(known->first) : -1;
}

uint64_t roundUp4(uint64_t offset) { return (offset + 3) & ~uint64_t(3); }

class SegmentPlan {
public:
    SegmentPlan(const InputFile& file, const AssetOptions& options)
        : m_file(file), m_level(options.level)
    {
        m_gdeflate.codec = SLUICE_CODEC_GDEFLATE;
        m_gdeflate.tileSize = kGdeflateTileBytes;
        m_gdeflate.level = options.level;
        m_gdeflate.decodeSpeed = options.decodeSpeed;
    }

    // Adds a tensor; tensors must come in the order of their bytes. `begin` and `end` are file
    // offsets.
    void addTensor(const std::string& dtype, uint64_t begin, uint64_t end)
    {
        // Segments begin and end at multiples of 4, except at the end of the file. The few bytes of
        // a tensor before and after such multiples are left to addRemains.
        const uint64_t from = roundUp4(begin), to = end == m_file.size() ? end : end & ~uint64_t(3);
        const int type = floatTypeOf(dtype, m_level);
        if (type >= 0 && (from - begin) % sluiceFloatElementSize(uint32_t(type)) == 0) {
            if (to >= from + kSmallFloats)
                add(floats(SluiceFloatType(type)), from, to, end - begin >= kLargeTensor);
        } else if (to >= from + kLargeTensor) {
            add(bestOnSamples(from, to), from, to, true);
        }
    }

    std::vector<SluiceArchiveSegment> finish()
    {
        addRemains(m_file.size());
        return std::move(m_segments);
    }

private:
    static SluiceArchiveSegment floats(SluiceFloatType type)
    {
        SluiceArchiveSegment segment = {};
        segment.codec = SLUICE_CODEC_FLOAT;
        segment.tileSize = kFloatTileBytes;
        segment.floatType = type;
        return segment;
    }

    // Makes a segment of the bytes between the last segment and `begin`.
    void addRemains(uint64_t begin)
    {
        if (begin != m_end) append(m_gdeflate, begin, false);
    }
    void add(const SluiceArchiveSegment& segment, uint64_t begin, uint64_t end, bool alone)
    {
        addRemains(begin);
        append(segment, end, alone);
    }
    void append(SluiceArchiveSegment segment, uint64_t end, bool alone)
    {
        segment.size = end - m_end;
        m_end = end;
        const bool same = !m_segments.empty() && m_segments.back().codec == segment.codec &&
                          m_segments.back().floatType == segment.floatType;
        if (same && !alone) {
            m_segments.back().size += segment.size;
        } else {
            m_segments.push_back(segment);
        }
    }

    // Returns the best segment for [begin, end) by samples: plain Huffman codes, GDeflate, or
    // stored.
    SluiceArchiveSegment bestOnSamples(uint64_t begin, uint64_t end)
    {
        SluiceArchiveSegment stored = {};
        stored.codec = SLUICE_CODEC_STORE;
        stored.tileSize = kFloatTileBytes;
        const SluiceArchiveSegment choices[] = {floats(SLUICE_FLOAT_BYTES), m_gdeflate, stored};
        uint64_t sizes[std::size(choices)] = {};
        Bytes sample(kSampleBytes), out;
        for (uint64_t i = 0; i < kSampleCount; ++i) {
            m_file.read(begin + (end - begin - kSampleBytes) / (kSampleCount - 1) * i,
                        sample.data(), sample.size());
            for (size_t choice = 0; choice < std::size(choices); ++choice) {
                const SluiceStatus status =
                    m_encoders.encode(choices[choice], sample.data(), kSampleBytes, out);
                if (status != SLUICE_OK)
                    throw Failure{exitCodeOf(status),
                                  m_file.name() + ": " + sluiceGetStatusText(status)};
                sizes[choice] +=
                    out.empty() ? kSampleBytes : std::min<size_t>(out.size(), kSampleBytes);
            }
        }
        return choices[std::min_element(std::begin(sizes), std::end(sizes)) - std::begin(sizes)];
    }

    const InputFile& m_file;
    uint32_t m_level;
    SluiceArchiveSegment m_gdeflate = {};
    TileEncoders m_encoders;
    std::vector<SluiceArchiveSegment> m_segments;
    uint64_t m_end = 0; // end of the last segment
};

} // namespace

PackPlan planFloat(const InputFile& input, const AssetOptions& options)
{
    PackPlan plan;
    if (!WeightFile::recognises(input)) {
        if (endsWith(input.name(), ".safetensors"))
            plan.reason = "it does not begin as a .safetensors file does";
        return plan;
    }
    SafetensorsHeader header;
    uint64_t dataOffset = 0;
    const SluiceStatus status = readHeader(input, header, dataOffset, plan.reason);
    if (status != SLUICE_OK) return plan;
    std::sort(
        header.tensors.begin(), header.tensors.end(),
        [](const SafetensorsTensor& a, const SafetensorsTensor& b) { return a.begin < b.begin; });
    SegmentPlan segments(input, options);
    for (const SafetensorsTensor& tensor : header.tensors)
        segments.addTensor(tensor.dtype, dataOffset + tensor.begin, dataOffset + tensor.end);
    plan.segments = segments.finish();
    return plan;
}

} // namespace sluice
