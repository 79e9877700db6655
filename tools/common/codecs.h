// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of codecs. A row has everything that the verbs and the benchmark need to know about one
// codec.
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

// How one file goes into an archive.
struct PackPlan {
    std::vector<SluiceArchiveSegment> segments; // empty: one segment of Codec::fileCodec
    // Owns the filter descriptions of the segments.
    FilterPlan filters{nullptr, sluiceDestroyFilterPlan};
    uint32_t type = 0; // of the asset, as in SluiceArchiveAssetInfo
    // items() returns these bytes if type is not 0 or if there is no filter plan. Otherwise it
    // returns the parameters of the filter plan.
    Bytes parameters;
    std::unique_ptr<InputFile> content; // in memory, if planning read all of it
    std::string note;                   // what the file is or became, for -v; may be empty
    std::string warning; // what it says about its content that does not hold or is not obeyed
    std::string reason;  // why Codec::fallback applies to the file; empty if it does not

    // Returns the bytes that go into the asset's parameter block.
    Bytes items() const
    {
        if (type != 0 || filters == nullptr) return parameters;
        uint32_t size = 0;
        const void* found = sluiceGetFilterParameters(filters.get(), &size);
        const uint8_t* bytes = static_cast<const uint8_t*>(found);
        return Bytes(bytes, bytes + size);
    }
};

// Appends segments to a plan whose `filters` is null. The description of each segment's filter is
// copied into plan.parameters, equal descriptions only once.
class SegmentList {
public:
    explicit SegmentList(PackPlan& plan) : m_plan(plan) {}

    // The caller passes in `parameters` the parameter block to which segment.filterOffset refers.
    void add(SluiceArchiveSegment segment, const uint8_t* parameters);

private:
    PackPlan& m_plan;
    std::map<Bytes, uint32_t> m_items; // filter items in the plan, with the filterOffset of each
};

struct Codec {
    const char* name;      // for pack -c
    const char* help;      // what pack --help adds to the name
    uint32_t options;      // set of CodecOption: the options that the codec takes
    SluiceCodec fileCodec; // codec of files whose plan has no segments
    // Plans how a file goes into an archive; null if the codec is only for pack --raw.
    PackPlan (*plan)(const InputFile& input, const AssetOptions& options);
    // For pack's message if PackPlan::reason is set: this is "without filters" in "packed without
    // filters: it is larger than 1 GiB".
    const char* fallback;
    // Does pack --raw; null if the codec has no file format of its own.
    int (*packRaw)(const PackOptions& options, const CommonOptions& common);
    // The codec of the tiles that this row makes. If several rows make tiles of the same codec, the
    // first row describes them.
    SluiceCodec tileCodec;
    uint32_t kernels;                 // set of SluiceKernels that decode these tiles
    const char *infoColumn, *infoKey; // where `sluice info` counts these tiles; null: nowhere
};

constexpr size_t kCodecCount = 8;
extern const Codec kCodecs[kCodecCount];

const Codec& codecNamed(const std::string& name); // the table must have the name
const Codec& codecOfTiles(uint32_t tileCodec);    // tileCodec: a SluiceCodec of the table

// Returns one segment that packs a whole file, of `size` bytes, as tiles of codec.fileCodec.
SluiceArchiveSegment wholeSegment(const Codec& codec, const AssetOptions& options, uint64_t size);

PackPlan planGstd(const InputFile& input, const AssetOptions& options);
// Plans a .safetensors file. A floating-point tensor gets the codec FLOAT with the tensor's type.
// Another large tensor gets the codec that makes samples of the tensor smallest. Everything else
// gets GDeflate. The same bytes give the same segments. The plan of any other file has no segments;
// if the file's name ends in .safetensors, plan.reason says what is wrong with the file.
PackPlan planFloat(const InputFile& input, const AssetOptions& options);

int packTileStream(const PackOptions& options, const CommonOptions& common);
int packDf11(const PackOptions& options, const CommonOptions& common);
int packEcf8(const PackOptions& options, const CommonOptions& common);

} // namespace sluice
