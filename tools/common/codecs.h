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
    std::vector<SluiceArchiveSegment> segments; // empty: one segment, of Codec::fileCodec
    // Owns the filter descriptions of the segments.
    FilterPlan filters{nullptr, sluiceDestroyFilterPlan};
    uint32_t type = 0; // SluiceArchiveAssetInfo::type
    // The content of the asset's parameter block, unless `filters` is set and `type` is 0. Then the
    // block holds the parameters of `filters` instead (items).
    Bytes parameters;
    std::unique_ptr<InputFile> content; // in memory, if planning read all of it
    std::string note;                   // what the file is or became, for -v; may be empty
    std::string warning;                // false or ignored claims of the file about its content
    std::string reason; // why Codec::fallback applies to the file; empty if it does not

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

// Appends segments to a plan and copies their filter descriptions, equal ones only once, into
// plan.parameters. The plan's `filters` must be null, so that these parameters are used.
class SegmentList {
public:
    explicit SegmentList(PackPlan& plan) : m_plan(plan) {}

    // Appends a segment. segment.filterOffset is where its filter description lies in `parameters`,
    // the parameter block that the description is copied from; 0: the segment has no filter.
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
    // Says how a file is packed if the codec does not suit it: "without filters" in the message
    // "packed without filters: it is larger than 1 GiB". PackPlan::reason is the second half.
    const char* fallback;
    // Runs `sluice pack --raw`, which writes a file of the codec's own format and no archive; null
    // if the codec has no such format.
    int (*packRaw)(const PackOptions& options, const CommonOptions& common);
    // The codec of the tiles that packing with this row of kCodecs makes. If several rows have the
    // same tileCodec, the two members below count in the first of these rows only.
    SluiceCodec tileCodec;
    uint32_t kernels;                 // set of SluiceKernels that decode these tiles
    const char *infoColumn, *infoKey; // `sluice info` counts these tiles there; null: nowhere
};

constexpr size_t kCodecCount = 8;
extern const Codec kCodecs[kCodecCount];

const Codec& codecNamed(const std::string& name); // `name` must be in the table
const Codec& codecOfTiles(uint32_t tileCodec);    // tileCodec: a SluiceCodec of the table

// Returns one segment that packs a whole file, of `size` bytes, as tiles of codec.fileCodec.
SluiceArchiveSegment wholeSegment(const Codec& codec, const AssetOptions& options, uint64_t size);

// Returns whether filters are planned for files with these options.
bool mayFilter(const AssetOptions& options);
PackPlan planFiltered(const InputFile& input, const AssetOptions& options);
// Plans a .safetensors file. A floating-point tensor gets the codec FLOAT with the tensor's type.
// Another large tensor gets the codec that makes samples of the tensor smallest. Everything else
// gets GDeflate. The same bytes give the same segments. The plan of any other file has no segments;
// if the file's name ends in .safetensors, plan.reason says what is wrong with the file.
PackPlan planFloat(const InputFile& input, const AssetOptions& options);

int packTileStream(const PackOptions& options, const CommonOptions& common);
int packDf11(const PackOptions& options, const CommonOptions& common);
int packEcf8(const PackOptions& options, const CommonOptions& common);

} // namespace sluice
