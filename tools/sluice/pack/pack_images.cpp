// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_images.h"

#include <algorithm>
#include <cctype>

#include <sluice/sluice_image_encode.h>

#include "encode/image/image_file.h"
#include "formats/archive_layout.h"
#include "formats/image.h"
#include "tools/sluice/pack/textures.h"

namespace sluice {
namespace {

constexpr uint64_t kLargest = uint64_t(1) << 30; // most bytes of an image in memory

bool endsWith(const std::string& name, const std::string& suffix)
{
    if (name.size() < suffix.size()) return false;
    return std::equal(suffix.begin(), suffix.end(), name.end() - ptrdiff_t(suffix.size()),
                      [](char a, char b) { return a == std::tolower(static_cast<uint8_t>(b)); });
}

// Returns the image without its supercompression scheme. Returns no bytes if that is not possible;
// `reason` then says why.
Bytes withoutScheme(const InputFile& input, uint64_t limit, std::string& reason)
{
    const Bytes file = input.readAll();
    SluiceImageInfo info;
    SluiceImageLevel packed[SLUICE_IMAGE_MAX_LEVELS], plain[SLUICE_IMAGE_MAX_LEVELS];
    uint64_t startSize = 0, size = 0;
    SluiceStatus status =
        sluiceParseImage(file.data(), file.size(), file.size(), &info, packed, nullptr);
    if (status == SLUICE_OK)
        status = sluiceKtx2PlanPlain(file.data(), file.size(), file.size(), nullptr, 0, &startSize,
                                     plain, &size);
    if (status == SLUICE_OK) reason = whyTooLarge(size, limit);
    if (!reason.empty()) return {};
    Bytes bytes(status == SLUICE_OK ? size_t(size) : 0);
    if (status == SLUICE_OK)
        status = sluiceKtx2PlanPlain(file.data(), file.size(), file.size(), bytes.data(),
                                     size_t(startSize), &startSize, plain, &size);
    for (uint32_t i = 0; status == SLUICE_OK && i < info.levels; ++i)
        status = sluiceKtx2DecodeLevel(info.scheme, &file[size_t(packed[i].offset)],
                                       size_t(packed[i].size), &bytes[size_t(plain[i].offset)],
                                       size_t(plain[i].size));
    if (status == SLUICE_OK) return bytes;
    reason = sluiceGetStatusText(status);
    return {};
}

// Makes a segment from each cut to the next.
std::vector<SluiceArchiveSegment> segmentsAt(const std::vector<uint64_t>& cuts, uint64_t size,
                                             const AssetOptions& options, const Codec& codec)
{
    std::vector<SluiceArchiveSegment> segments;
    uint64_t begin = 0;
    for (size_t i = 0; i <= cuts.size(); ++i) {
        const uint64_t end = i < cuts.size() ? cuts[i] : size;
        segments.push_back(wholeSegment(codec, options, end - begin));
        begin = end;
    }
    return segments;
}

// Plans a KTX2 or DDS file. Returns false if it is to be packed like any other.
bool planContainer(const InputFile& input, const AssetOptions& options, const Codec& codec,
                   PackPlan& plan)
{
    const Bytes start = input.readStart(SLUICE_IMAGE_START_SIZE);
    ImageFile image;
    const SluiceStatus status = sluiceParseImage(start.data(), start.size(), input.size(),
                                                 &image.info, image.levels, nullptr);
    if (status != SLUICE_OK) {
        plan.reason = sluiceGetStatusText(status);
        return false;
    }
    uint64_t size = input.size();
    const bool packed = image.info.scheme != SLUICE_IMAGE_SCHEME_NONE;
    const bool small = size <= kLargest;
    if (packed && !small) {
        plan.reason = "it is larger than 1 GiB";
        return false;
    }
    if (packed || (small && codec.fileCodec == SLUICE_CODEC_GSTD)) {
        Bytes bytes = packed ? withoutScheme(input, imageLimit(input, options), plan.reason)
                             : input.readAll();
        size = bytes.size();
        if (!plan.reason.empty()) return false;
        if (!image.parse(bytes.data(), size))
            throw Failure{exitFormat, input.name() + ": it changed while it was read"};
        if (codec.fileCodec == SLUICE_CODEC_GSTD)
            plan.segments =
                planFilters(input.name(), bytes, SLUICE_FILTER_LAYOUT_IMAGE, options, plan.filters);
        plan.content = std::make_unique<InputFile>(input.name(), std::move(bytes));
    }
    if (!small && codec.fileCodec == SLUICE_CODEC_GSTD)
        plan.reason = "it is larger than 1 GiB"; // the reason why it has no filters
    if (plan.segments.empty()) plan.segments = segmentsAt(image.cuts(size), size, options, codec);
    uint8_t item[SLUICE_IMAGE_ITEM_SIZE];
    uint32_t itemBytes = 0, filterBytes = 0;
    // This cannot fail: the image was parsed.
    sluiceMakeArchiveImageItem(&image.info, image.levels, item, &itemBytes);
    // The filters come first, so that their offsets stay valid.
    const void* filters = sluiceGetFilterParameters(plan.filters.get(), &filterBytes);
    plan.parameters.resize(filterBytes);
    if (filterBytes != 0) std::memcpy(plan.parameters.data(), filters, filterBytes);
    plan.parameters.insert(plan.parameters.end(), item, item + itemBytes);
    plan.type = SLUICE_ASSET_IMAGE;
    return true;
}

} // namespace

bool isPackedKtx2(const InputFile& input)
{
    if (!endsWith(input.name(), ".ktx2")) return false;
    const Bytes start = input.readStart(ktx2HeaderBytes);
    if (start.size() != ktx2HeaderBytes || !isKtx2(start.data(), start.size())) return false;
    const uint32_t scheme = loadLe32(&start[ktx2Scheme]);
    return scheme == SLUICE_IMAGE_SCHEME_ZSTD || scheme == SLUICE_IMAGE_SCHEME_ZLIB;
}

bool planImage(const InputFile& input, const AssetOptions& options, const Codec& codec,
               PackPlan& plan)
{
    const Bytes start = input.readStart(kKtx2MagicSize);
    if (isKtx2(start.data(), start.size()) || isDds(start.data(), start.size()))
        return planContainer(input, options, codec, plan);
    if (endsWith(input.name(), ".ktx2") || endsWith(input.name(), ".dds"))
        plan.reason = "it is neither KTX2 nor DDS";
    Texture texture = makeTexture(input, options);
    if (texture.file == nullptr) {
        if (!texture.reason.empty()) plan.reason = texture.reason;
        return false;
    }
    if (!planContainer(*texture.file, options, codec, plan))
        throw Failure{exitFormat, input.name() + ": its texture is not understood"};
    plan.note = texture.summary;
    if (plan.content == nullptr) plan.content = std::move(texture.file);
    return true;
}

} // namespace sluice
