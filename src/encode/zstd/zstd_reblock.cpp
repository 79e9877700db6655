// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/zstd/zstd_reblock.h"

#include <algorithm>

#include "formats/little_endian.h"
#include "formats/xxh64.h"

namespace sluice::zstd {
namespace {

using cpu::fast::ZstdFrames;

constexpr uint32_t kLongestRun = 16;
constexpr size_t kPieceBytes = 1 << 20; // tables are planned for this many bytes at a time
constexpr size_t kChecksumBytes = 4;
constexpr uint8_t kChecksumFlag = 4;

constexpr size_t kMostEntries = 1 << 27; // of the table of frames (seekable format)

} // namespace

Reblocker::Reblocker(const ReblockInfo& info)
    : m_info(info), m_frames(info.read, 0, info.size, &m_none.info), m_window(m_none)
{
}

void Reblocker::put(const void* bytes, size_t size)
{
    m_info.write(bytes, size);
    m_bytesOut += size;
}

// Adds a complete frame, which began at byte `begin` of the output, to the table of frames.
void Reblocker::endFrame(uint64_t begin, uint64_t decoded)
{
    const uint64_t stored = m_bytesOut - begin;
    m_hasTable = m_hasTable && stored <= UINT32_MAX && decoded <= UINT32_MAX &&
                 m_entries.size() < kMostEntries;
    if (m_hasTable) m_entries.push_back({uint32_t(stored), uint32_t(decoded)});
}

uint32_t Reblocker::run()
{
    for (;;) {
        uint32_t status = SLUICE_ST_OK;
        switch (m_frames.next()) {
        case ZstdFrames::Kind::end: writeTable(); return SLUICE_ST_OK;
        case ZstdFrames::Kind::damaged: return m_frames.status();
        case ZstdFrames::Kind::otherDictionary: return SLUICE_ST_UNSUPPORTED;
        case ZstdFrames::Kind::skippable: copySkippable(); continue;
        case ZstdFrames::Kind::frame: break;
        }
        const Frame& header = m_frames.header();
        const uint64_t most = header.hasContentSize ? header.contentSize : UINT64_MAX;
        if (cpu::fast::ZstdWindow::reachOf(header, most) > m_info.maxWindow) return SLUICE_ST_LIMIT;
        m_window.begin(header, most);
        m_piece.clear();
        status = m_info.frameSize == 0 ? keepFrame() : cutFrame();
        if (status != SLUICE_ST_OK) return status;
    }
}

// Writes a frame with its old header and checksum. Wherever an old block ends, a new block ends
// too.
uint32_t Reblocker::keepFrame()
{
    const uint64_t begin = m_bytesOut, decoded = m_decoded;
    const Frame header = m_frames.header();
    uint8_t bytes[kMostHeaderBytes];
    const size_t size = size_t(std::min<uint64_t>(sizeof bytes, m_info.size - m_frames.offset()));
    m_info.read(m_frames.offset(), bytes, size);
    Frame same;
    uint32_t used = 0;
    const uint32_t status = readFrameHeader(bytes + kMagicBytes, size - kMagicBytes, same, used);
    if (status != SLUICE_ST_OK) return status;
    put(bytes, kMagicBytes + used);
    m_blocks.begin(header.blockMaximum);
    Block block;
    while (m_frames.nextBlock(block)) {
        const uint32_t decodes = m_window.decode(block, m_frames.checksum());
        if (decodes != SLUICE_ST_OK) return decodes;
        uint32_t position = uint32_t(m_piece.size());
        m_piece.insert(m_piece.end(), m_window.bytes(), m_window.bytes() + m_window.size());
        m_decoded += m_window.size();
        if (block.kind == SLUICE_ZS_COMPRESSED) {
            for (const auto& sequence : m_window.blocks().sequences()) {
                position += sequence.literals;
                m_matches.push_back({position, sequence.length, sequence.offset});
                position += sequence.length;
            }
        }
        if (m_window.size() != 0) m_ends.push_back(uint32_t(m_piece.size()));
        if (block.last || m_piece.size() >= kPieceBytes) writePiece(block.last);
    }
    if (m_frames.status() != SLUICE_ST_OK) return m_frames.status();
    if (header.hasChecksum) {
        storeLe32(bytes, m_frames.checksum());
        put(bytes, kChecksumBytes);
    }
    endFrame(begin, m_decoded - decoded);
    return SLUICE_ST_OK;
}

void Reblocker::writePiece(bool last)
{
    if (m_ends.empty()) m_ends.push_back(0); // an empty block ends the frame
    m_out.clear();
    m_blocks.write(m_piece.data(), m_ends, m_matches, last, kLongestRun, m_out);
    put(m_out.data(), m_out.size());
    m_piece.clear();
    m_matches.clear();
    m_ends.clear();
}

uint32_t Reblocker::cutFrame()
{
    Block block;
    bool hasTile = false;
    while (m_frames.nextBlock(block)) {
        const uint32_t status = m_window.decode(block, m_frames.checksum());
        if (status != SLUICE_ST_OK) return status;
        m_piece.insert(m_piece.end(), m_window.bytes(), m_window.bytes() + m_window.size());
        m_decoded += m_window.size();
        while (m_piece.size() >= m_info.frameSize) {
            writeTile(m_info.frameSize);
            hasTile = true;
        }
    }
    if (m_frames.status() != SLUICE_ST_OK) return m_frames.status();
    if (!m_piece.empty() || !hasTile) writeTile(m_piece.size());
    return SLUICE_ST_OK;
}

// Writes the first `size` bytes of m_piece as a frame.
void Reblocker::writeTile(size_t size)
{
    const uint64_t begin = m_bytesOut;
    m_encoder.encode(m_info.level, m_piece.data(), uint32_t(size), m_out);
    if (m_frames.header().hasChecksum) {
        m_out[kMagicBytes] |= kChecksumFlag;
        m_out.resize(m_out.size() + kChecksumBytes);
        storeLe32(&m_out[m_out.size() - kChecksumBytes], uint32_t(xxh64(m_piece.data(), size, 0)));
    }
    put(m_out.data(), m_out.size());
    m_piece.erase(m_piece.begin(), m_piece.begin() + ptrdiff_t(size));
    endFrame(begin, size);
}

// Copies a skippable frame. An old table of frames is left out, because a new one is written.
void Reblocker::copySkippable()
{
    const uint64_t begin = m_bytesOut, size = m_frames.skippableSize();
    const uint64_t from = m_frames.position();
    uint8_t bytes[4096];
    if (m_frames.magic() == kTableMagic && size >= kTableFooterBytes) {
        m_info.read(from + size - 4, bytes, 4);
        if (loadLe32(bytes) == kTableFooterMagic) return;
    }
    storeLe32(bytes, m_frames.magic());
    storeLe32(bytes + 4, uint32_t(size));
    put(bytes, 8);
    for (uint64_t done = 0; done < size;) {
        const size_t part = size_t(std::min<uint64_t>(sizeof bytes, size - done));
        m_info.read(from + done, bytes, part);
        put(bytes, part);
        done += part;
    }
    endFrame(begin, 0);
}

void Reblocker::writeTable()
{
    if (!m_hasTable) return;
    const size_t size = m_entries.size() * sizeof(Entry) + kTableFooterBytes;
    std::vector<uint8_t> table(8 + size);
    storeLe32(table.data(), kTableMagic);
    storeLe32(table.data() + 4, uint32_t(size));
    uint8_t* to = table.data() + 8;
    for (const Entry& entry : m_entries) {
        storeLe32(to, entry.stored);
        storeLe32(to + 4, entry.decoded);
        to += sizeof(Entry);
    }
    storeLe32(to, uint32_t(m_entries.size()));
    to[4] = 0; // the table has no checksums
    storeLe32(to + 5, kTableFooterMagic);
    put(table.data(), table.size());
}

} // namespace sluice::zstd
