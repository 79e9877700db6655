// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_images.h"

#include <algorithm>
#include <cctype>

#include <sluice/sluice_image_encode.h>

#include "encode/image/image_file.h"
#include "encode/image/texture.h"
#include "encode/image/uastc_image.h"
#include "formats/archive_layout.h"
#include "formats/image.h"
#include "tools/sluice/pack/textures.h"

namespace sluice {
namespace {

// Larger images keep their supercompression, and get no filters.
constexpr uint64_t kLargest = uint64_t(1) << 30;

bool endsWith(const std::string& name, const std::string& suffix)
{
    if (name.size() < suffix.size()) return false;
    return std::equal(suffix.begin(), suffix.end(), name.end() - ptrdiff_t(suffix.size()),
                      [](char a, char b) { return a == std::tolower(static_cast<uint8_t>(b)); });
}

// Returns the image as a file without supercompression. If that is not possible, returns no bytes,
// and `reason` says why.
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

// Makes a segment of the bytes from each cut to the next.
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

// Adds to the plan's messages what the key/value data of a KTX2 file say about its pixels. The
// pixels are packed unchanged.
void tellKeyValues(const InputFile& input, const SluiceImageInfo& info, PackPlan& plan)
{
    constexpr uint64_t most = uint64_t(1) << 20; // larger data are not looked at
    if (info.keyValueSize == 0 || info.keyValueSize > most) return;
    Bytes pairs(static_cast<size_t>(info.keyValueSize));
    input.read(info.keyValueOffset, pairs.data(), pairs.size());
    const auto find = [&](const char* key) {
        const void* value = nullptr;
        uint32_t size = 0;
        if (sluiceFindImageValue(pairs.data(), pairs.size(), key, &value, &size) != SLUICE_OK ||
            value == nullptr)
            return std::string();
        const std::string text(static_cast<const char*>(value), size);
        return text.substr(0, text.find('\0')).substr(0, 16);
    };
    const std::string orientation = find("KTXorientation"), swizzle = find("KTXswizzle");
    if (!orientation.empty() && orientation != std::string("rdi").substr(0, orientation.size()))
        addRemark(plan.warning, "its KTXorientation is '" + printable(orientation) +
                                    "', not 'rd' (right, down): it is packed as it is, for the "
                                    "renderer to turn");
    if (!swizzle.empty() && swizzle != "rgba")
        addRemark(plan.note,
                  "shaders read its channels as " + printable(swizzle) + " (KTXswizzle)");
}

bool isUastc(const ImageFile& image) { return (image.info.flags & SLUICE_IMAGE_TRANSCODE) != 0; }

// Returns the image in the form that --uastc asks for. Levels that are too large to be transcoded
// stay as they are.
Bytes convertedUastc(Bytes bytes, const ImageFile& image, const std::string& form, PackPlan& plan)
{
    const bool isSrgb = (image.info.flags & SLUICE_IMAGE_SRGB) != 0;
    if (form == "lean") {
        for (uint32_t i = 0; i < image.info.levels; ++i)
            zeroUastcHints(&bytes[size_t(image.levels[i].offset)], image.levels[i].size);
        addRemark(plan.note, "UASTC, without its hints for ETC1 and BC1");
        return bytes;
    }
    uint64_t invalid = 0;
    Bytes made = transcodeKtx2(bytes, image, uastcFormatNamed(form, isSrgb), invalid);
    if (made.empty()) {
        addRemark(plan.warning, "UASTC that is too large to be transcoded is packed as it is");
        return bytes;
    }
    addRemark(plan.note, "transcoded from UASTC to " + std::string(form == "bc7" ? "BC7" : "ASTC"));
    if (invalid != 0)
        addRemark(plan.warning,
                  formatText("%llu invalid blocks of UASTC become magenta", wide(invalid)));
    return made;
}

// Plans a KTX2 or DDS file. Returns false if it is to be packed like any other file.
bool planContainer(const InputFile& input, const AssetOptions& options, const Codec& codec,
                   PackPlan& plan)
{
    const Bytes start = input.readStart(SLUICE_IMAGE_START_SIZE);
    ImageFile image;
    ImageStart parsed = {start.data(), start.size(), input.size(), 0, "", false};
    const SluiceStatus status = parseImageStart(parsed, image.info, image.levels);
    if (status != SLUICE_OK) {
        plan.reason = parsed.reason[0] != 0 ? parsed.reason : sluiceGetStatusText(status);
        return false;
    }
    addRemark(parsed.isWarning ? plan.warning : plan.note, parsed.reason);
    tellKeyValues(input, image.info, plan);
    uint64_t size = input.size();
    const bool packed = image.info.scheme != SLUICE_IMAGE_SCHEME_NONE;
    const bool small = size <= kLargest;
    if (packed && !small) {
        plan.reason = "it is larger than 1 GiB";
        return false;
    }
    const bool converts = isUastc(image) && options.uastc != "keep" && small;
    if (isUastc(image) && !converts) addRemark(plan.note, "UASTC, as it is");
    const bool takesFilters = (codec.options & kFiltersOption) != 0;
    if (packed || converts || (small && takesFilters)) {
        Bytes bytes = packed ? withoutScheme(input, imageLimit(input, options), plan.reason)
                             : input.readAll();
        if (!plan.reason.empty()) return false;
        const auto parse = [&] {
            size = bytes.size();
            if (!image.parse(bytes.data(), size))
                throw Failure{exitFormat, input.name() + ": it changed while it was read"};
        };
        parse();
        if (converts) {
            bytes = convertedUastc(std::move(bytes), image, options.uastc, plan);
            parse();
        }
        if (takesFilters)
            plan.segments =
                planFilters(input.name(), bytes, SLUICE_FILTER_LAYOUT_IMAGE, options, plan.filters);
        plan.content = std::make_unique<InputFile>(input.name(), std::move(bytes));
    }
    if (!small && takesFilters)
        plan.reason = "it is larger than 1 GiB"; // that is why it has no filters
    if (plan.segments.empty()) plan.segments = segmentsAt(image.cuts(size), size, options, codec);
    uint8_t item[SLUICE_IMAGE_ITEM_SIZE];
    uint32_t itemBytes = 0, filterBytes = 0;
    // Cannot fail, since the image was parsed.
    sluiceMakeArchiveImageItem(&image.info, image.levels, item, &itemBytes);
    // Filters come first, so that their offsets in the parameter block stay valid.
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

bool planImage(const InputFile& input, const std::string& name, const AssetOptions& options,
               const Codec& codec, PackPlan& plan)
{
    const Bytes start = input.readStart(kKtx2MagicSize);
    if (isKtx2(start.data(), start.size()) || isDds(start.data(), start.size()) ||
        isKtx1(start.data(), start.size()))
        return planContainer(input, options, codec, plan);
    if (endsWith(name, ".ktx2") || endsWith(name, ".dds") || endsWith(name, ".ktx"))
        plan.reason = "it is neither KTX2 nor DDS";
    Texture texture = makeTexture(input, name, options);
    if (texture.file == nullptr) {
        if (!texture.reason.empty()) plan.reason = texture.reason;
        return false;
    }
    if (!planContainer(*texture.file, options, codec, plan))
        throw Failure{exitFormat, input.name() + ": its texture is not understood"};
    plan.note = texture.summary;
    plan.warning = texture.warning;
    if (plan.content == nullptr) plan.content = std::move(texture.file);
    return true;
}

} // namespace sluice
