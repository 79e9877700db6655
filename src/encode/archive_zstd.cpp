// SPDX-License-Identifier: MIT OR Apache-2.0
// Zstandard frames as an asset of an archive: their bytes a tile at a time, and the matches that go
// with them.
#include <sluice/sluice_archive.h>

#include "zstd_reader.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace sluice {
namespace {

class ZstdSource {
public:
    ZstdSource(const uint8_t* frames, size_t size) : reader_(frames, size) {}

    SluiceStatus measure(uint64_t& size)
    {
        const SluiceStatus status = reader_.measure(size);
        left_ = size;
        return status == SLUICE_OK && size == 0 ? finish() : status;
    }

    SluiceStatus read(uint8_t* bytes, size_t size)
    {
        while (content_.size() - used_ < size) {
            content_.erase(content_.begin(), content_.begin() + std::ptrdiff_t(used_));
            used_ = 0;
            const size_t before = content_.size();
            const SluiceStatus status = reader_.next(content_, matches_);
            if (status != SLUICE_OK) return status;
            if (content_.size() == before) return SLUICE_ERROR_FORMAT; // less than the frames say
        }
        std::memcpy(bytes, content_.data() + used_, size);
        used_ += size;
        left_ -= size;
        return left_ == 0 ? finish() : SLUICE_OK;
    }

    // Of the bytes that were read last. A match over the tile's end goes on in the next.
    uint32_t matches(uint64_t position, uint32_t size, SluiceGstdMatch* matches)
    {
        uint32_t count = 0;
        size_t done = 0;
        for (; done < matches_.size() && matches_[done].position < position + size; ++done) {
            ZstdMatch& match = matches_[done];
            const uint64_t left = position + size - match.position;
            const uint32_t length = uint32_t(std::min<uint64_t>(match.length, left));
            matches[count++] = {uint32_t(match.position - position), length, match.offset};
            if (length != match.length) {
                match.position += length;
                match.length -= length;
                break;
            }
        }
        matches_.erase(matches_.begin(), matches_.begin() + std::ptrdiff_t(done));
        return count;
    }

private:
    // Nothing but empty blocks may be left, the last of which may have a checksum. Matches stay for
    // the tile that was read.
    SluiceStatus finish()
    {
        const size_t before = content_.size();
        const SluiceStatus status =
            used_ == before ? reader_.next(content_, matches_) : SLUICE_ERROR_FORMAT;
        return status == SLUICE_OK && content_.size() != before ? SLUICE_ERROR_FORMAT : status;
    }

    ZstdReader reader_;
    uint64_t left_ = 0;
    std::vector<uint8_t> content_;
    size_t used_ = 0;
    std::vector<ZstdMatch> matches_;
};

SluiceStatus readBytes(void* user, void* bytes, size_t size)
{
    return static_cast<ZstdSource*>(user)->read(static_cast<uint8_t*>(bytes), size);
}

SluiceStatus readMatches(void* user, uint64_t position, uint32_t size, SluiceGstdMatch* matches,
                         uint32_t* count)
{
    *count = static_cast<ZstdSource*>(user)->matches(position, size, matches);
    return SLUICE_OK;
}

} // namespace
} // namespace sluice

SluiceStatus sluiceAddArchiveZstd(SluiceArchiveWriter writer, const SluiceArchiveZstdInfo* info)
{
    if (writer == nullptr || info == nullptr ||
        (info->frames == nullptr && info->framesSize != 0)) {
        return SLUICE_ERROR_ARGUMENT;
    }
    try {
        sluice::ZstdSource source(static_cast<const uint8_t*>(info->frames), info->framesSize);
        uint64_t size = 0;
        const SluiceStatus status = source.measure(size);
        if (status != SLUICE_OK) {
            return status;
        }
        SluiceArchiveSegment segment = {};
        segment.size = size;
        segment.codec = SLUICE_CODEC_GSTD;
        segment.tileSize = 262144;
        segment.level = info->level;
        segment.copyDepth = info->copyDepth;
        SluiceArchiveAssetInfo asset = {};
        asset.name = info->name;
        asset.nameLength = info->nameLength;
        asset.size = size;
        asset.read = sluice::readBytes;
        asset.readUser = &source;
        asset.segments = &segment;
        asset.segmentCount = 1;
        asset.readMatches = sluice::readMatches;
        return sluiceAddArchiveAsset(writer, &asset);
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
}
