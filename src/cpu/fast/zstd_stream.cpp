// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/fast/zstd_stream.h"

#include "cpu/fast/copy.h"
#include "formats/little_endian.h"

#include <algorithm>
#include <cstring>

namespace sluice::cpu::fast {
namespace {

using zstd::kMagicBytes;

constexpr size_t kBefore = 8; // ZstdBlocks may read this many bytes before a block
constexpr size_t kBufferBytes = size_t(512) << 10;
static_assert(kBufferBytes >= 2 * zstd::kMostBlockBytes);
constexpr size_t kSizeBytes = 4;

// Limits, in bytes, of the room for decoded content behind the window. When the room is full, the
// window is moved to the front of the memory. The room is as large as the window if these limits
// allow, so each byte is moved about once.
constexpr uint64_t kLeastRoom = uint64_t(1) << 20, kMostRoom = uint64_t(16) << 20;

} // namespace

ZstdFrames::ZstdFrames(Read read, uint64_t begin, uint64_t end,
                       const zstd::DictionaryInfo* dictionary)
    : m_read(std::move(read)), m_end(end), m_dictionary(dictionary),
      m_buffer(size_t(std::min<uint64_t>(kBufferBytes, end - begin)) + kBefore), m_position(begin),
      m_reader(0, {})
{
}

// Reads until the buffer has the next `size` bytes of the input, or all that are left.
void ZstdFrames::fill(size_t size)
{
    const uint64_t unread = m_end - m_position;
    if (m_filled >= size || m_filled == unread) return;
    // Keep kBefore bytes before the unread ones, since ZstdBlocks may read them.
    uint8_t* const buffer = m_buffer.data();
    std::memmove(buffer, buffer + m_used, kBefore + m_filled);
    m_used = 0;
    const size_t wanted = size_t(std::min<uint64_t>(unread, m_buffer.size() - kBefore)) - m_filled;
    m_read(m_position + m_filled, buffer + kBefore + m_filled, wanted);
    m_filled += wanted;
}

ZstdFrames::Kind ZstdFrames::fail(uint32_t status)
{
    m_status = status;
    m_isCutOff = status == SLUICE_ST_TRUNCATED;
    return Kind::damaged;
}

ZstdFrames::Kind ZstdFrames::next()
{
    if (m_status != SLUICE_ST_OK) return Kind::damaged;
    if (m_magic != 0 && m_magic != SLUICE_ZS_MAGIC) { // skip the content of a skippable frame
        const size_t buffered = size_t(std::min<uint64_t>(m_filled, m_skippableSize));
        m_used += buffered;
        m_filled -= buffered;
        m_position += m_skippableSize;
    }
    m_offset = m_position;
    m_magic = 0;
    if (m_position == m_end) return Kind::end;
    fill(zstd::kMostHeaderBytes);
    const uint8_t* at = m_buffer.data() + kBefore + m_used;
    if (m_filled < kMagicBytes) return fail(SLUICE_ST_TRUNCATED);
    m_magic = loadLe32(at);
    if (m_magic == SLUICE_ZS_MAGIC) {
        uint32_t used;
        const uint32_t status =
            zstd::readFrameHeader(at + kMagicBytes, m_filled - kMagicBytes, m_header, used);
        if (status != SLUICE_ST_OK) return fail(status);
        const bool isOther = m_dictionary != nullptr && m_header.dictionaryId != 0 &&
                             m_header.dictionaryId != m_dictionary->id;
        const zstd::DictionaryInfo any = {m_header.dictionaryId, UINT64_MAX, true};
        m_reader =
            zstd::StructureReader(m_header.hasContentSize ? m_header.contentSize : UINT64_MAX,
                                  m_dictionary == nullptr || isOther ? any : *m_dictionary);
        return isOther ? Kind::otherDictionary : Kind::frame;
    }
    if ((m_magic & ~15u) != SLUICE_ZS_SKIPPABLE_MAGIC) return fail(SLUICE_ST_BAD_CODE);
    if (m_filled < kMagicBytes + kSizeBytes) return fail(SLUICE_ST_TRUNCATED);
    m_skippableSize = loadLe32(at + kMagicBytes);
    m_used += kMagicBytes + kSizeBytes;
    m_filled -= kMagicBytes + kSizeBytes;
    m_position += kMagicBytes + kSizeBytes;
    if (m_skippableSize > m_end - m_position) return fail(SLUICE_ST_TRUNCATED);
    return Kind::skippable;
}

bool ZstdFrames::nextBlock(zstd::Block& block)
{
    if (m_status != SLUICE_ST_OK || m_magic != SLUICE_ZS_MAGIC) return false;
    if (m_position != m_offset && !m_reader.inFrame()) return false;
    fill(zstd::kMostBlockBytes);
    const uint8_t* const begin = m_buffer.data() + kBefore + m_used;
    m_reader.continueAt(begin, m_filled);
    const bool read = m_reader.next(block);
    if (!read) {
        m_status = m_reader.status();
        m_isCutOff = m_reader.isCutOff();
        return false;
    }
    const size_t used = size_t(m_reader.rest() - begin);
    m_used += used;
    m_filled -= used;
    m_position += used;
    return true;
}

uint32_t ZstdCounter::count(ZstdFrames& frames, uint64_t most)
{
    const zstd::Frame& frame = frames.header();
    const bool decodes = m_decodes && !frame.hasContentSize;
    uint64_t total = 0;
    m_size = UINT64_MAX;
    std::fill(std::begin(m_count), std::end(m_count), 0);
    if (decodes) m_blocks.beginFrame();
    m_blockOffset = frames.position();
    for (zstd::Block block; frames.nextBlock(block); m_blockOffset = frames.position()) {
        uint32_t size = block.kind == SLUICE_ZS_COMPRESSED ? frame.blockMaximum : block.size;
        if (decodes) {
            uint32_t status = m_blocks.readTables(block);
            if (status == SLUICE_ST_OK && !m_blocks.decodeSequences(block))
                status = SLUICE_ST_BAD_CODE;
            if (status == SLUICE_ST_OK) status = m_blocks.measure(frame, block, size);
            if (status != SLUICE_ST_OK) return status;
        }
        ++m_count[block.kind];
        total += size;
        if (decodes && total > most) break;
    }
    if (frames.status() != SLUICE_ST_OK) return frames.status();
    if (frame.hasContentSize) {
        // `total` is an upper bound of the decoded size, since it counts the largest size for
        // compressed blocks.
        if (total < frame.contentSize) return SLUICE_ST_TOO_SHORT;
        m_size = frame.contentSize;
    } else if (decodes) {
        m_size = total;
    }
    return SLUICE_ST_OK;
}

uint64_t ZstdWindow::reachOf(const zstd::Frame& frame, uint64_t most)
{
    const uint64_t size = frame.hasContentSize ? std::min(most, frame.contentSize) : most;
    return std::min(std::max<uint64_t>(frame.window, SLUICE_ZS_MIN_WINDOW), size);
}

uint64_t ZstdWindow::memoryFor(const zstd::Frame& frame, uint64_t most)
{
    const uint64_t size = frame.hasContentSize ? std::min(most, frame.contentSize) : most,
                   reach = reachOf(frame, most), room = std::clamp(reach, kLeastRoom, kMostRoom);
    const uint64_t capacity = size > reach && size - reach > room ? reach + room : size;
    return capacity > UINT64_MAX - kWildBytes ? UINT64_MAX : capacity + kWildBytes;
}

void ZstdWindow::begin(const zstd::Frame& frame, uint64_t most, bool hashes)
{
    const uint64_t capacity = memoryFor(frame, most);
    if (capacity > SIZE_MAX / 2) throw std::bad_alloc();
    if (capacity > m_allocated) {
        m_memory.reset();
        m_memory.reset(new uint8_t[size_t(capacity)]); // not zeroed: unused pages cost nothing
        m_allocated = size_t(capacity);
    }
    m_capacity = size_t(capacity);
    m_reach = size_t(reachOf(frame, most));
    m_frame = frame;
    m_most = frame.hasContentSize ? std::min(most, frame.contentSize) : most;
    m_at = 0;
    m_done = m_size = 0;
    m_hashes = hashes || frame.hasChecksum;
    m_hash = Xxh64Stream();
    m_blocks.beginFrame();
}

uint32_t ZstdWindow::decode(const zstd::Block& block, uint32_t checksum)
{
    m_size = 0;
    uint32_t size;
    uint32_t status = m_blocks.readTables(block);
    if (status == SLUICE_ST_OK && !m_blocks.decodeSymbols(block)) status = SLUICE_ST_BAD_CODE;
    if (status == SLUICE_ST_OK) status = m_blocks.measure(m_frame, block, size);
    if (status != SLUICE_ST_OK) return status;
    const uint64_t done = m_done + size;
    if (done > m_most) return SLUICE_ST_TOO_LONG;
    if (block.last && m_frame.hasContentSize && done < m_frame.contentSize)
        return SLUICE_ST_TOO_SHORT;
    if (size > m_capacity - m_at) {
        std::memmove(m_memory.get(), m_memory.get() + m_at - m_reach, m_reach);
        m_at = m_reach;
    }
    const ZstdPlace place = {m_memory.get() + m_at, m_capacity - m_at, m_done, m_reach};
    if (!m_blocks.write(block, place)) return SLUICE_ST_BAD_OFFSET;
    m_size = size;
    m_at += size;
    m_done = done;
    if (m_hashes) m_hash.add(bytes(), size);
    return !block.last || !m_frame.hasChecksum || hash() == checksum ? SLUICE_ST_OK
                                                                     : SLUICE_ST_BAD_CHECKSUM;
}

} // namespace sluice::cpu::fast
