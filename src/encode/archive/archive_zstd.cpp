// SPDX-License-Identifier: MIT OR Apache-2.0
// Adds the content of Zstandard frames to an archive as an asset. Each tile is encoded with the
// matches that its frame has, so no new search for matches is needed.
#include "encode/archive/archive_zstd.h"

#include "layout/gstd.h"
#include "formats/errors.h"
#include "encode/gstd/zstd_reader.h"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

class ZstdSource {
public:
    ZstdSource(const uint8_t* frames, size_t size) : m_reader(frames, size) {}

    // Must be called before read(). `size` is the number of bytes that all frames decode to.
    SluiceStatus begin(uint64_t size)
    {
        m_left = size;
        return size == 0 ? finish() : SLUICE_OK;
    }

    SluiceStatus read(uint8_t* bytes, size_t size)
    {
        while (m_content.size() - m_used < size) {
            m_content.erase(m_content.begin(), m_content.begin() + ptrdiff_t(m_used));
            m_used = 0;
            const size_t before = m_content.size();
            const SluiceStatus status = m_reader.next(m_content, m_matches);
            if (status != SLUICE_OK) return status;
            if (m_content.size() == before) return SLUICE_ERROR_FORMAT; // less than measured
        }
        std::memcpy(bytes, m_content.data() + m_used, size);
        m_used += size;
        m_left -= size;
        return m_left == 0 ? finish() : SLUICE_OK;
    }

    // Returns the matches of the tile that was read last. A match that crosses the tile's end is
    // cut there and continues in the next tile.
    uint32_t matches(uint64_t position, uint32_t size, SluiceGstdMatch* matches)
    {
        uint32_t count = 0;
        size_t done = 0;
        for (; done < m_matches.size() && m_matches[done].position < position + size; ++done) {
            ZstdMatch& match = m_matches[done];
            const uint64_t left = position + size - match.position;
            const uint32_t length = uint32_t(std::min<uint64_t>(match.length, left));
            matches[count++] = {uint32_t(match.position - position), length, match.offset};
            if (length != match.length) {
                match.position += length;
                match.length -= length;
                break;
            }
        }
        m_matches.erase(m_matches.begin(), m_matches.begin() + ptrdiff_t(done));
        return count;
    }

private:
    // Checks that the frames end after this tile: only empty blocks may be left, and a checksum,
    // which is compared. Keeps the matches of the tile that was read last.
    SluiceStatus finish()
    {
        const size_t before = m_content.size();
        const SluiceStatus status =
            m_used == before ? m_reader.next(m_content, m_matches) : SLUICE_ERROR_FORMAT;
        return status == SLUICE_OK && m_content.size() != before ? SLUICE_ERROR_FORMAT : status;
    }

    ZstdReader m_reader;
    uint64_t m_left = 0;
    std::vector<uint8_t> m_content;
    size_t m_used = 0;
    std::vector<ZstdMatch> m_matches;
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

SluiceStatus addArchiveZstd(SluiceArchiveWriter writer, const SluiceArchiveZstdInfo& info,
                            uint64_t size)
{
    return withoutExceptions([&] {
        ZstdSource source(static_cast<const uint8_t*>(info.frames), info.framesSize);
        const SluiceStatus status = source.begin(size);
        if (status != SLUICE_OK) return status;
        SluiceArchiveSegment segment = {};
        segment.size = size;
        segment.codec = SLUICE_CODEC_GSTD;
        segment.tileSize = SLUICE_GS_TILE_BYTES;
        segment.level = info.level;
        segment.copyDepth = info.copyDepth;
        SluiceArchiveAssetInfo asset = {};
        asset.name = info.name;
        asset.nameLength = info.nameLength;
        asset.size = size;
        asset.read = readBytes;
        asset.readUser = &source;
        asset.segments = &segment;
        asset.segmentCount = 1;
        asset.readMatches = readMatches;
        return sluiceAddArchiveAsset(writer, &asset);
    });
}

} // namespace sluice

using namespace sluice;

SluiceStatus sluiceAddArchiveZstd(SluiceArchiveWriter writer, const SluiceArchiveZstdInfo* info)
{
    if (writer == nullptr || info == nullptr || (info->frames == nullptr && info->framesSize != 0))
        return SLUICE_ERROR_ARGUMENT;
    return withoutExceptions([&] {
        const ZstdReader reader(static_cast<const uint8_t*>(info->frames), info->framesSize);
        uint64_t size = 0;
        const SluiceStatus status = reader.measure(size);
        return status == SLUICE_OK ? addArchiveZstd(writer, *info, size) : status;
    });
}
