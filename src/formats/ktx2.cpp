// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads KTX2 files: https://registry.khronos.org/KTX/specs/2.0/ktxspec.v2.html
#include "formats/image.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace sluice {
namespace {

constexpr uint32_t kTransferSrgb = 2, kFlagPremultiplied = 1;
constexpr uint32_t kModelEtc1s = 163, kModelUastcHdr = 167;

// Returns whether the specification forbids a format: scaled formats, and formats with several
// planes.
bool isProhibited(uint32_t format)
{
    const auto scaled = [&](uint32_t first, uint32_t last, uint32_t kinds) {
        return format >= first && format <= last && (format - first) % kinds / 2 == 1;
    };
    const auto between = [&](uint32_t first, uint32_t last) {
        return format >= first && format <= last;
    };
    return scaled(9, 57, 7) || scaled(58, 69, 6) || scaled(70, 97, 7) ||
           between(1000156002, 1000156006) || between(1000156012, 1000156016) ||
           between(1000156022, 1000156026) || between(1000156029, 1000156033) ||
           between(1000330000, 1000330003);
}

// Reads extents, layers, faces and levels. Errors: FORMAT if they contradict each other.
SluiceStatus readShape(ImageStart& start, SluiceImageInfo& info)
{
    const uint8_t* header = start.bytes;
    const uint32_t width = loadLe32(header + ktx2Width), height = loadLe32(header + ktx2Height),
                   depth = loadLe32(header + ktx2Depth), layers = loadLe32(header + ktx2Layers),
                   faces = loadLe32(header + ktx2Faces), levels = loadLe32(header + ktx2Levels);
    constexpr SluiceStatus bad = SLUICE_ERROR_FORMAT;
    if (width == 0) return start.refuse(bad, "pixelWidth is 0, and at least 1 is allowed");
    if (height == 0 && depth != 0)
        return start.refuse(bad, "pixelDepth is %u though pixelHeight is 0", depth);
    if (faces != 1 && faces != 6)
        return start.refuse(bad, "faceCount is %u, and 1 or 6 is allowed", faces);
    if (faces == 6 && (width != height || depth != 0))
        return start.refuse(bad, "faceCount is 6, but %u x %u x %u texels are no square face",
                            width, height, depth);
    if (layers > UINT32_MAX / faces)
        return start.refuse(bad, "layerCount is %u, and with %u faces at most %u is allowed",
                            layers, faces, UINT32_MAX / faces);
    const uint32_t most = maxImageLevels(width, height, depth);
    if (levels > most)
        return start.refuse(bad, "levelCount is %u, and the extents have %u levels", levels, most);
    info.width = width;
    info.height = std::max(1u, height);
    info.depth = std::max(1u, depth);
    info.layers = std::max(1u, layers);
    info.faces = faces;
    info.levels = std::max(1u, levels);
    info.flags = (layers != 0 ? SLUICE_IMAGE_ARRAY : 0) | (faces == 6 ? SLUICE_IMAGE_CUBE : 0) |
                 (height == 0 ? SLUICE_IMAGE_1D : 0) | (depth != 0 ? SLUICE_IMAGE_3D : 0) |
                 (levels == 0 ? SLUICE_IMAGE_MAKE_LEVELS : 0);
    return SLUICE_OK;
}

// A range of bytes that the header names. It may be empty.
struct Range {
    const char* name;
    uint64_t offset, size;
    uint32_t alignment;
};

// Checks that a range begins at a multiple of its alignment, at or after `end`, and lies in the
// file. Moves `end` to the end of the range.
SluiceStatus takeRange(ImageStart& start, const Range& range, uint64_t& end)
{
    constexpr SluiceStatus bad = SLUICE_ERROR_FORMAT;
    const auto at = longOf(range.offset), size = longOf(range.size);
    if (range.size == 0)
        return range.offset == 0 ? SLUICE_OK
                                 : start.refuse(bad,
                                                "%s has the offset %llu but the size 0; with that "
                                                "size the offset is 0",
                                                range.name, at);
    if (range.offset < end)
        return start.refuse(bad, "%s begins at byte %llu, and what comes before it ends at %llu",
                            range.name, at, longOf(end));
    if (range.offset % range.alignment != 0)
        return start.refuse(bad, "%s begins at byte %llu, which is no multiple of %u", range.name,
                            at, range.alignment);
    if (range.offset > start.fileSize || range.size > start.fileSize - range.offset)
        return start.refuse(bad, "%s has %llu bytes from byte %llu on, and the file ends at %llu",
                            range.name, size, at, longOf(start.fileSize));
    end = range.offset + range.size;
    return SLUICE_OK;
}

// Checks the first block of the data format descriptor. Reads its colour model, transfer function
// and premultiplied flag, and the channelType of its first sample.
SluiceStatus readDescriptor(ImageStart& start, const uint8_t* dfd, uint32_t size,
                            SluiceImageInfo& info)
{
    const uint32_t block = loadLe16(dfd + dfdBlockSize), head = dfdBasicBytes - dfdVendorAndType;
    if (loadLe32(dfd) != size || size % 4 != 0)
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "dfdTotalSize is %u and dfdByteLength %u; they are equal, and "
                            "multiples of 4",
                            loadLe32(dfd), size);
    if (loadLe32(dfd + dfdVendorAndType) != 0)
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "the data format descriptor begins with vendor and type 0x%08x, and "
                            "the basic block, 0, is allowed",
                            loadLe32(dfd + dfdVendorAndType));
    if (block < head || (block - head) % dfdSampleBytes != 0 || block > size - dfdVendorAndType)
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "descriptorBlockSize is %u, and 24 and 16 a sample are allowed, in all "
                            "at most %u",
                            block, size - dfdVendorAndType);
    if (block != head) {
        const SluiceStatus status =
            start.require(uint64_t(dfd - start.bytes) + dfdBasicBytes + dfdSampleBytes);
        if (status != SLUICE_OK) return status;
        info.channel = dfd[dfdChannel] & 15;
    }
    info.colourModel = dfd[dfdModel];
    info.transfer = dfd[dfdTransfer];
    if ((dfd[dfdFlags] & kFlagPremultiplied) != 0) info.flags |= SLUICE_IMAGE_PREMULTIPLIED;
    return SLUICE_OK;
}

// Checks rules that need the table of formats, so they apply only to formats in the table.
SluiceStatus fitsFormat(ImageStart& start, const SluiceImageInfo& info)
{
    constexpr SluiceStatus bad = SLUICE_ERROR_FORMAT;
    SluiceImageFormat format;
    (void)sluiceGetImageFormat(info.format, &format); // setImageFormat has found it
    const uint32_t typeSize = loadLe32(start.bytes + ktx2TypeSize);
    if (typeSize != format.unitBytes)
        return start.refuse(bad, "typeSize is %u, and that of %s is %u", typeSize, format.name,
                            format.unitBytes);
    if (format.srgb != 0 && info.transfer != kTransferSrgb)
        return start.refuse(bad, "transferFunction is %u, and that of %s is %u (sRGB)",
                            info.transfer, format.name, kTransferSrgb);
    if (format.compressed != 0 && (info.flags & SLUICE_IMAGE_1D) != 0)
        return start.refuse(bad, "pixelHeight is 0, which blocks (%s) do not allow", format.name);
    if (format.compressed != 0 && (info.flags & SLUICE_IMAGE_MAKE_LEVELS) != 0)
        return start.refuse(bad, "levelCount is 0, which blocks (%s) do not allow", format.name);
    return SLUICE_OK;
}

// Reads where the levels lie. They must come after everything else, the smallest first.
SluiceStatus readPlaces(ImageStart& start, uint64_t metadataEnd, const SluiceImageInfo& info,
                        SluiceImageLevel* levels)
{
    uint64_t end = metadataEnd;
    for (uint32_t level = info.levels; level-- != 0;) {
        const uint8_t* entry = start.bytes + ktx2HeaderBytes + size_t(level) * ktx2LevelBytes;
        levels[level] = {};
        levels[level].offset = loadLe64(entry);
        levels[level].size = loadLe64(entry + 8);
        levels[level].decodedSize = loadLe64(entry + 16);
        const auto at = longOf(levels[level].offset);
        if (levels[level].size == 0)
            return start.refuse(SLUICE_ERROR_FORMAT, "level %u has the byteLength 0", level);
        if (levels[level].offset < end && level + 1 < info.levels)
            return start.refuse(SLUICE_ERROR_FORMAT,
                                "level %u begins at byte %llu, before the end of level %u at %llu; "
                                "the order of levels in a file is the smallest first",
                                level, at, level + 1, longOf(end));
        char name[24];
        (void)std::snprintf(name, sizeof name, "level %u", level);
        const SluiceStatus status =
            takeRange(start, {name, levels[level].offset, levels[level].size, 1}, end);
        if (status != SLUICE_OK) return status;
    }
    return SLUICE_OK;
}

// Checks the sizes of levels against extents and format, and fills in the levels' other members.
SluiceStatus fillLevels(ImageStart& start, const SluiceImageInfo& info, SluiceImageLevel* levels)
{
    constexpr SluiceStatus bad = SLUICE_ERROR_FORMAT;
    for (uint32_t level = 0; level < info.levels; ++level) {
        const SluiceImageLevel found = levels[level];
        SluiceImageLevel& full = levels[level];
        if (sluiceGetImageLevel(&info, level, &full) != SLUICE_OK)
            return start.refuse(bad, "level %u has 2^64 bytes or more", level);
        if (full.decodedSize != found.decodedSize)
            return start.refuse(bad,
                                "uncompressedByteLength of level %u is %llu, and its extents and "
                                "format give %llu",
                                level, longOf(found.decodedSize), longOf(full.decodedSize));
        if (info.scheme == SLUICE_IMAGE_SCHEME_NONE) {
            const uint32_t alignment = ktx2Alignment(info.blockBytes);
            if (found.size != full.decodedSize)
                return start.refuse(bad,
                                    "byteLength of level %u is %llu, and without a scheme it is "
                                    "uncompressedByteLength, %llu",
                                    level, longOf(found.size), longOf(full.decodedSize));
            if (found.offset % alignment != 0)
                return start.refuse(bad,
                                    "level %u begins at byte %llu, which is no multiple of %u; "
                                    "levels of this format begin at such, as GPUs copy them",
                                    level, longOf(found.offset), alignment);
        }
        full.offset = found.offset;
        full.size = found.size;
    }
    return SLUICE_OK;
}

// Returns VERSION, and says which scheme, colour model or format is not read.
SluiceStatus refuseKind(ImageStart& start, uint32_t format, uint32_t scheme, uint32_t model)
{
    constexpr SluiceStatus newer = SLUICE_ERROR_VERSION;
    if (scheme == 1 || (format == kUastcFormat && model == kModelEtc1s))
        return start.refuse(newer, "supercompressionScheme is 1 (BasisLZ, of ETC1S), which is not "
                                   "read; 0, 2 (Zstandard) and 3 (ZLIB) are, and UASTC in them");
    if (scheme > 3)
        return start.refuse(newer,
                            "supercompressionScheme is %u, and 0, 2 (Zstandard) and 3 "
                            "(ZLIB) are read",
                            scheme);
    if (format == kUastcFormat)
        return start.refuse(newer,
                            "vkFormat is 0 and the colour model %u%s; of formats without a "
                            "number, UASTC (model %u) is read",
                            model, model == kModelUastcHdr ? " (UASTC HDR)" : "", kModelUastc);
    return start.refuse(newer,
                        "vkFormat is %u, which is not read: formats of depth and stencil, "
                        "of several planes, of pairs of texels and of PVRTC are not",
                        format);
}

} // namespace

bool isKtx2(const uint8_t* bytes, uint64_t size)
{
    return size >= kKtx2MagicSize && std::memcmp(bytes, kKtx2Magic, kKtx2MagicSize) == 0;
}

bool isKtx1(const uint8_t* bytes, uint64_t size)
{
    static constexpr char magic[] = "\xabKTX 11\xbb\r\n\x1a\n";
    return size >= kKtx2MagicSize && std::memcmp(bytes, magic, kKtx2MagicSize) == 0;
}

SluiceStatus parseKtx2(ImageStart& start, SluiceImageInfo& info, SluiceImageLevel* levels)
{
    SluiceStatus status = start.require(ktx2HeaderBytes);
    if (status != SLUICE_OK) return status;
    const uint8_t* header = start.bytes;
    info.container = SLUICE_IMAGE_KTX2;
    status = readShape(start, info);
    if (status != SLUICE_OK) return status;

    // After the header come the index of levels, the descriptor, key/value data, and data of the
    // supercompression scheme.
    const uint32_t scheme = loadLe32(header + ktx2Scheme), dfdSize = loadLe32(header + ktx2DfdSize);
    const uint64_t dfdOffset = ktx2HeaderBytes + uint64_t(info.levels) * ktx2LevelBytes;
    uint64_t end = dfdOffset;
    if (loadLe32(header + ktx2DfdOffset) != dfdOffset)
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "dfdByteOffset is %u, and the level index ends at byte %llu, where the "
                            "data format descriptor begins",
                            loadLe32(header + ktx2DfdOffset), longOf(dfdOffset));
    if (dfdSize < dfdBasicBytes)
        return start.refuse(SLUICE_ERROR_FORMAT, "dfdByteLength is %u, and at least %u is allowed",
                            dfdSize, dfdBasicBytes);
    status = start.require(dfdOffset + dfdBasicBytes);
    if (status != SLUICE_OK) return status;
    info.keyValueOffset = loadLe32(header + ktx2KvdOffset);
    info.keyValueSize = loadLe32(header + ktx2KvdSize);
    const uint64_t sgdSize = loadLe64(header + ktx2SgdSize);
    status = takeRange(start, {"the data format descriptor", dfdOffset, dfdSize, 4}, end);
    if (status == SLUICE_OK) status = readDescriptor(start, header + dfdOffset, dfdSize, info);
    if (status == SLUICE_OK)
        status =
            takeRange(start, {"key/value data", info.keyValueOffset, info.keyValueSize, 4}, end);
    if (status == SLUICE_OK)
        status =
            takeRange(start, {"global data", loadLe64(header + ktx2SgdOffset), sgdSize, 8}, end);
    if (status == SLUICE_OK) status = readPlaces(start, end, info, levels);
    if (status != SLUICE_OK) return status;

    const uint32_t format = loadLe32(header + ktx2Format), model = header[dfdOffset + dfdModel];
    const bool isUastc = format == kUastcFormat && model == kModelUastc;
    if (isProhibited(format))
        return start.refuse(SLUICE_ERROR_FORMAT, "vkFormat is %u, which KTX2 does not allow",
                            format);
    if (scheme >= 0x20000)
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "supercompressionScheme is %u, and less than 131072 is allowed",
                            scheme);
    const bool knownScheme = scheme == SLUICE_IMAGE_SCHEME_NONE ||
                             scheme == SLUICE_IMAGE_SCHEME_ZSTD ||
                             scheme == SLUICE_IMAGE_SCHEME_ZLIB;
    if (knownScheme && sgdSize != 0)
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "sgdByteLength is %llu, and with supercompressionScheme %u it is 0",
                            longOf(sgdSize), scheme);
    if (!knownScheme || (format == kUastcFormat && !isUastc) ||
        setImageFormat(format, info) != SLUICE_OK)
        return refuseKind(start, format, scheme, model);
    if (isUastc) {
        info.flags |= SLUICE_IMAGE_TRANSCODE;
        if (info.transfer == kTransferSrgb) info.flags |= SLUICE_IMAGE_SRGB;
    }
    info.scheme = scheme;
    status = fitsFormat(start, info);
    return status == SLUICE_OK ? fillLevels(start, info, levels) : status;
}

} // namespace sluice

using namespace sluice;

SluiceStatus sluiceFindImageValue(const void* keyValues, size_t size, const char* key,
                                  const void** value, uint32_t* valueSize)
{
    if ((keyValues == nullptr && size != 0) || key == nullptr || value == nullptr ||
        valueSize == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    *value = nullptr;
    *valueSize = 0;
    const std::string_view wanted(key);
    const uint8_t* at = static_cast<const uint8_t*>(keyValues);
    // All pairs are checked, so that damage is found whatever key is asked for.
    for (size_t left = size; left != 0;) {
        if (left < 4 || loadLe32(at) > left - 4) return SLUICE_ERROR_FORMAT;
        const uint32_t pair = loadLe32(at);
        const void* end = std::memchr(at + 4, 0, pair);
        const uint64_t whole = 4 + alignUp(pair, 4);
        if (end == nullptr || end == at + 4 || whole > left) return SLUICE_ERROR_FORMAT;
        const size_t keySize = size_t(static_cast<const uint8_t*>(end) - (at + 4));
        const std::string_view found(reinterpret_cast<const char*>(at + 4), keySize);
        if (found == wanted && *value == nullptr) {
            *value = static_cast<const uint8_t*>(end) + 1;
            *valueSize = pair - uint32_t(keySize) - 1;
        }
        at += whole;
        left -= size_t(whole);
    }
    return SLUICE_OK;
}
