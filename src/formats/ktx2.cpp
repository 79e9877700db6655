// SPDX-License-Identifier: MIT OR Apache-2.0
// KTX2: https://registry.khronos.org/KTX/specs/2.0/ktxspec.v2.html
#include "formats/image.h"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

constexpr uint8_t kKtx2Magic[kKtx2MagicSize] = {0xab, 'K',  'T',  'X',  ' ',  '2',
                                                '0',  0xbb, 0x0d, 0x0a, 0x1a, 0x0a};

constexpr uint32_t kTransferSrgb = 2, kFlagPremultiplied = 1, kModelUastc = 166;

// Returns whether the specification prohibits a format: scaled formats and those with several
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

// Checks that extents, layers and faces go together, and that they allow this number of levels.
bool readShape(const uint8_t* header, SluiceImageInfo& info)
{
    const uint32_t width = loadLe32(header + ktx2Width), height = loadLe32(header + ktx2Height),
                   depth = loadLe32(header + ktx2Depth), layers = loadLe32(header + ktx2Layers),
                   faces = loadLe32(header + ktx2Faces), levels = loadLe32(header + ktx2Levels);
    if (width == 0 || (height == 0 && depth != 0)) return false;
    if (faces != 1 && (faces != 6 || width != height || depth != 0)) return false;
    if (levels > maxImageLevels(width, height, depth)) return false;
    info.width = width;
    info.height = std::max(1u, height);
    info.depth = std::max(1u, depth);
    info.layers = std::max(1u, layers);
    info.faces = faces;
    info.levels = std::max(1u, levels);
    info.flags = (layers != 0 ? SLUICE_IMAGE_ARRAY : 0) | (faces == 6 ? SLUICE_IMAGE_CUBE : 0) |
                 (height == 0 ? SLUICE_IMAGE_1D : 0) | (depth != 0 ? SLUICE_IMAGE_3D : 0) |
                 (levels == 0 ? SLUICE_IMAGE_MAKE_LEVELS : 0);
    return true;
}

// Checks an optional range of the file. It begins at a multiple of `alignment` behind `end`, which
// then moves behind the range.
bool takeRange(uint64_t offset, uint64_t size, uint32_t alignment, uint64_t fileSize, uint64_t& end)
{
    if (size == 0) return offset == 0;
    if (offset < end || offset % alignment != 0 || offset > fileSize || size > fileSize - offset)
        return false;
    end = offset + size;
    return true;
}

// Checks the descriptor's first block, whose head is at hand. Its samples are ignored.
bool readDescriptor(const uint8_t* dfd, uint32_t size, SluiceImageInfo& info)
{
    const uint32_t block = loadLe16(dfd + dfdBlockSize), head = dfdBasicBytes - dfdVendorAndType;
    if (loadLe32(dfd) != size || size % 4 != 0 || loadLe32(dfd + dfdVendorAndType) != 0 ||
        block < head || (block - head) % dfdSampleBytes != 0 || block > size - dfdVendorAndType)
        return false;
    info.transfer = dfd[dfdTransfer];
    if ((dfd[dfdFlags] & kFlagPremultiplied) != 0) info.flags |= SLUICE_IMAGE_PREMULTIPLIED;
    return true;
}

// Checks rules that only apply to formats of the table.
bool fitsFormat(const uint8_t* header, const SluiceImageInfo& info)
{
    SluiceImageFormat format;
    if (sluiceGetImageFormat(info.format, &format) != SLUICE_OK ||
        loadLe32(header + ktx2TypeSize) != format.unitBytes)
        return false;
    if (format.srgb != 0 && info.transfer != kTransferSrgb) return false;
    const uint32_t flags = SLUICE_IMAGE_1D | SLUICE_IMAGE_MAKE_LEVELS;
    return format.compressed == 0 || (info.flags & flags) == 0;
}

// Checks the places of the levels: the smallest comes first in the file, behind everything else.
bool readPlaces(const uint8_t* index, uint64_t metadataEnd, uint64_t fileSize,
                const SluiceImageInfo& info, SluiceImageLevel* levels)
{
    uint64_t end = metadataEnd;
    for (uint32_t level = info.levels; level-- != 0;) {
        const uint8_t* entry = index + size_t(level) * ktx2LevelBytes;
        levels[level] = {};
        levels[level].offset = loadLe64(entry);
        levels[level].size = loadLe64(entry + 8);
        levels[level].decodedSize = loadLe64(entry + 16);
        if (levels[level].size == 0 ||
            !takeRange(levels[level].offset, levels[level].size, 1, fileSize, end))
            return false;
    }
    return true;
}

// Compares the sizes with those that extents and format give, and completes the levels.
bool fillLevels(const SluiceImageInfo& info, SluiceImageLevel* levels)
{
    for (uint32_t level = 0; level < info.levels; ++level) {
        const SluiceImageLevel found = levels[level];
        SluiceImageLevel& full = levels[level];
        if (sluiceGetImageLevel(&info, level, &full) != SLUICE_OK ||
            full.decodedSize != found.decodedSize)
            return false;
        if (info.scheme == SLUICE_IMAGE_SCHEME_NONE &&
            (found.size != full.decodedSize || found.offset % ktx2Alignment(info.blockBytes) != 0))
            return false;
        full.offset = found.offset;
        full.size = found.size;
    }
    return true;
}

} // namespace

bool isKtx2(const uint8_t* bytes, uint64_t size)
{
    return size >= kKtx2MagicSize && std::memcmp(bytes, kKtx2Magic, kKtx2MagicSize) == 0;
}

void writeKtx2Magic(uint8_t* file) { std::memcpy(file, kKtx2Magic, kKtx2MagicSize); }

SluiceStatus parseKtx2(ImageStart& start, SluiceImageInfo& info, SluiceImageLevel* levels)
{
    SluiceStatus status = start.require(ktx2HeaderBytes);
    if (status != SLUICE_OK) return status;
    const uint8_t* header = start.bytes;
    info.container = SLUICE_IMAGE_KTX2;
    if (!readShape(header, info)) return SLUICE_ERROR_FORMAT;

    // Behind the header stand the index of the levels, the descriptor, key/value data and the
    // scheme's own data.
    const uint32_t scheme = loadLe32(header + ktx2Scheme), dfdSize = loadLe32(header + ktx2DfdSize);
    uint64_t end = ktx2HeaderBytes + uint64_t(info.levels) * ktx2LevelBytes;
    if (loadLe32(header + ktx2DfdOffset) != end || dfdSize < dfdBasicBytes)
        return SLUICE_ERROR_FORMAT;
    const uint64_t dfdOffset = end;
    status = start.require(dfdOffset + dfdBasicBytes);
    if (status != SLUICE_OK) return status;
    info.keyValueOffset = loadLe32(header + ktx2KvdOffset);
    info.keyValueSize = loadLe32(header + ktx2KvdSize);
    const uint64_t sgdSize = loadLe64(header + ktx2SgdSize);
    if (!takeRange(dfdOffset, dfdSize, 4, start.fileSize, end) ||
        !readDescriptor(header + dfdOffset, dfdSize, info) ||
        !takeRange(info.keyValueOffset, info.keyValueSize, 4, start.fileSize, end) ||
        !takeRange(loadLe64(header + ktx2SgdOffset), sgdSize, 8, start.fileSize, end) ||
        !readPlaces(header + ktx2HeaderBytes, end, start.fileSize, info, levels))
        return SLUICE_ERROR_FORMAT;

    const uint32_t format = loadLe32(header + ktx2Format);
    const bool isUastc = format == kUastcFormat && header[dfdOffset + dfdModel] == kModelUastc;
    if (isProhibited(format) || scheme >= 0x20000) return SLUICE_ERROR_FORMAT;
    const bool knownScheme = scheme == SLUICE_IMAGE_SCHEME_NONE ||
                             scheme == SLUICE_IMAGE_SCHEME_ZSTD ||
                             scheme == SLUICE_IMAGE_SCHEME_ZLIB;
    if (knownScheme && sgdSize != 0) return SLUICE_ERROR_FORMAT;
    if (!knownScheme || (format == kUastcFormat && !isUastc) ||
        setImageFormat(format, info) != SLUICE_OK)
        return SLUICE_ERROR_VERSION;
    if (isUastc) {
        info.flags |= SLUICE_IMAGE_TRANSCODE;
        if (info.transfer == kTransferSrgb) info.flags |= SLUICE_IMAGE_SRGB;
    }
    info.scheme = scheme;
    return fitsFormat(header, info) && fillLevels(info, levels) ? SLUICE_OK : SLUICE_ERROR_FORMAT;
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
    // This looks at all pairs, so that damage is found whichever key is asked for.
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
