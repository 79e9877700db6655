// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gstd/zstd_reader.h"

#include <cstring>

namespace sluice {
namespace {

using cpu::fast::ZstdFrames;

constexpr uint64_t kMostWindow = uint64_t(128) << 20;

ZstdFrames framesOf(const uint8_t* bytes, size_t size, const zstd::DictionaryInfo* dictionary)
{
    return {[bytes](uint64_t offset, void* to, size_t count) {
                std::memcpy(to, bytes + offset, count);
            },
            0, size, dictionary};
}

} // namespace

SluiceStatus statusOfZstd(uint32_t status)
{
    switch (status) {
    case SLUICE_ST_OK: return SLUICE_OK;
    case SLUICE_ST_BAD_CHECKSUM: return SLUICE_ERROR_CHECKSUM;
    case SLUICE_ST_UNSUPPORTED: return SLUICE_ERROR_UNSUPPORTED;
    default: return SLUICE_ERROR_FORMAT;
    }
}

ZstdReader::ZstdReader(const uint8_t* frames, size_t size)
    : m_bytes(frames), m_bytesSize(size), m_frames(framesOf(frames, size, &m_none.info)),
      m_window(m_none)
{
}

SluiceStatus ZstdReader::measure(uint64_t& size, uint64_t most) const
{
    ZstdFrames frames = framesOf(m_bytes, m_bytesSize, &m_none.info);
    cpu::fast::ZstdCounter counter(m_none, true);
    size = 0;
    while (size <= most) {
        const ZstdFrames::Kind kind = frames.next();
        if (kind == ZstdFrames::Kind::end) break;
        if (kind == ZstdFrames::Kind::otherDictionary) return SLUICE_ERROR_UNSUPPORTED;
        if (kind == ZstdFrames::Kind::damaged) return statusOfZstd(frames.status());
        if (kind == ZstdFrames::Kind::skippable) continue;
        const uint32_t status = counter.count(frames, most - size);
        if (status != SLUICE_ST_OK) return statusOfZstd(status);
        // The size of a frame is at most what its blocks can decode to, so the sum is below 2^64.
        size += counter.size();
    }
    return SLUICE_OK;
}

bool ZstdReader::wantsDictionary(const uint8_t* bytes, size_t size)
{
    ZstdFrames frames = framesOf(bytes, size, nullptr);
    for (;;) {
        const ZstdFrames::Kind kind = frames.next();
        if (kind == ZstdFrames::Kind::end || kind == ZstdFrames::Kind::damaged) return false;
        if (kind == ZstdFrames::Kind::skippable) continue;
        if (frames.header().dictionaryId != 0) return true;
        zstd::Block block;
        while (frames.nextBlock(block)) {
        }
    }
}

SluiceStatus ZstdReader::next(std::vector<uint8_t>& content, std::vector<ZstdMatch>& matches)
{
    const size_t before = content.size();
    while (content.size() == before) {
        if (!m_inFrame) {
            const ZstdFrames::Kind kind = m_frames.next();
            if (kind == ZstdFrames::Kind::end) return SLUICE_OK;
            if (kind == ZstdFrames::Kind::otherDictionary) return SLUICE_ERROR_UNSUPPORTED;
            if (kind == ZstdFrames::Kind::damaged) return statusOfZstd(m_frames.status());
            if (kind == ZstdFrames::Kind::skippable) continue;
            if (cpu::fast::ZstdWindow::reachOf(m_frames.header(), UINT64_MAX) > kMostWindow)
                return SLUICE_ERROR_UNSUPPORTED;
            m_window.begin(m_frames.header(), UINT64_MAX);
            m_inFrame = true;
        }
        zstd::Block block;
        if (!m_frames.nextBlock(block)) return statusOfZstd(m_frames.status());
        const uint32_t status = m_window.decode(block, m_frames.checksum());
        if (status != SLUICE_ST_OK) return statusOfZstd(status);
        if (block.kind == SLUICE_ZS_COMPRESSED) addMatches(matches);
        content.insert(content.end(), m_window.bytes(), m_window.bytes() + m_window.size());
        m_position += m_window.size();
        m_inFrame = !block.last;
        if (block.last && m_frames.position() == m_bytesSize) break;
    }
    return SLUICE_OK;
}

void ZstdReader::addMatches(std::vector<ZstdMatch>& matches) const
{
    uint64_t position = m_position;
    for (const cpu::fast::ZstdBlocks::Sequence& sequence : m_window.blocks().sequences()) {
        position += sequence.literals;
        matches.push_back({position, sequence.length, sequence.offset});
        position += sequence.length;
    }
}

} // namespace sluice
