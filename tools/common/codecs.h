// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of codecs: everything that the verbs and the benchmark need for each of them.
#pragma once

#include <map>

#include "tools/common/files.h"
#include "tools/common/pack_filters.h"

namespace sluice {

// Options of `sluice pack` that only some codecs take.
enum CodecOption : uint32_t {
    kLevelOption = 1,
    kDecodeSpeedOption = 2,
    kCopyDepthOption = 4,
    kTileSizeOption = 8,
    kFiltersOption = 16,
    kGroupOption = 32,
};

// How a file goes into an archive.
struct PackPlan {
    std::vector<SluiceArchiveSegment> segments;           // empty: one segment of Codec::fileCodec
    FilterPlan filters{nullptr, sluiceDestroyFilterPlan}; // keeps the descriptions
    uint32_t type = 0;                                    // of the asset
    // items() returns these for an asset whose type is not 0 or that has no filter plan. Otherwise
    // it returns the parameters of the filter plan.
    Bytes parameters;
    std::unique_ptr<InputFile> content; // in memory, if the plan has read all of it
    std::string note;                   // how the file was converted; empty: not at all
    std::string reason; // why Codec::fallback applies to the file; empty: it does not

    // Returns what goes into the asset's parameter block.
    Bytes items() const
    {
        if (type != 0 || filters == nullptr) return parameters;
        uint32_t size = 0;
        const void* found = sluiceGetFilterParameters(filters.get(), &size);
        const uint8_t* bytes = static_cast<const uint8_t*>(found);
        return Bytes(bytes, bytes + size);
    }
};

// Appends segments to a plan that has no filter plan, and copies the parameters of their filters
// into plan.parameters.
class SegmentList {
public:
    explicit SegmentList(PackPlan& plan) : m_plan(plan) {}

    // `parameters` is the block that segment.filterOffset points into.
    void add(SluiceArchiveSegment segment, const uint8_t* parameters);

private:
    PackPlan& m_plan;
    std::map<Bytes, uint32_t> m_items; // items of filters, and their filterOffset
};

struct Codec {
    const char* name;      // for pack -c
    const char* help;      // what pack --help adds to the name
    uint32_t options;      // CodecOption
    SluiceCodec fileCodec; // for files without segments
    // Plans a file of an archive; null if the codec does not make archives.
    PackPlan (*plan)(const InputFile& input, const AssetOptions& options);
    const char* fallback;
    // Does pack --raw; null if the codec has no file format of its own.
    int (*packRaw)(const PackOptions& options, const CommonOptions& common);
    // The codec of the tiles that this row makes. If several rows make tiles of the same codec, the
    // first of them describes these tiles.
    SluiceCodec tileCodec;
    uint32_t kernels;                 // SluiceKernels decode them
    const char *infoColumn, *infoKey; // where `sluice info` counts them; null: nowhere
};

constexpr size_t kCodecCount = 7;
extern const Codec kCodecs[kCodecCount];

const Codec& codecNamed(const std::string& name); // the table must have it
const Codec& codecOfTiles(uint32_t tileCodec);    // a SluiceCodec

// Makes all of a file one segment of the codec.
SluiceArchiveSegment wholeSegment(const Codec& codec, const AssetOptions& options, uint64_t size);

PackPlan planGstd(const InputFile& input, const AssetOptions& options);
// In a .safetensors file, a floating-point tensor gets the codec FLOAT with its type, any other
// large tensor gets the codec that makes samples of it smallest, and everything else gets GDeflate.
// The same bytes give the same segments. For any other file the plan has no segments; if the file's
// name looks like .safetensors, the reason says why.
PackPlan planFloat(const InputFile& input, const AssetOptions& options);

int packTileStream(const PackOptions& options, const CommonOptions& common);
int packDf11(const PackOptions& options, const CommonOptions& common);
int packEcf8(const PackOptions& options, const CommonOptions& common);

} // namespace sluice
