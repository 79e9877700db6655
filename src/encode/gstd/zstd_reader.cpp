// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gstd/zstd_reader.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>

#include "formats/little_endian.h"

namespace sluice {
SluiceStatus statusOfZstd(size_t result)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_no_error: return SLUICE_OK;
    case ZSTD_error_memory_allocation: return SLUICE_ERROR_OUT_OF_MEMORY;
    case ZSTD_error_checksum_wrong: return SLUICE_ERROR_CHECKSUM;
    case ZSTD_error_dictionary_wrong:
    case ZSTD_error_frameParameter_windowTooLarge:
    case ZSTD_error_frameParameter_unsupported: return SLUICE_ERROR_UNSUPPORTED;
    default: return SLUICE_ERROR_FORMAT;
    }
}

struct ZstdReader::Decoder {
    ZSTD_DCtx* context = ZSTD_createDCtx();
    std::vector<uint8_t> out;

    Decoder()
    {
        if (context == nullptr) throw std::bad_alloc();
        out.resize(ZSTD_DStreamOutSize());
    }
    ~Decoder() { ZSTD_freeDCtx(context); }
};

ZstdReader::ZstdReader(const uint8_t* frames, size_t size)
    : m_begin(frames), m_end(frames + size), m_at(frames), m_decoder(std::make_unique<Decoder>())
{
}

ZstdReader::~ZstdReader() = default;

// Gives bytes of a frame to libzstd and appends its output.
SluiceStatus ZstdReader::decode(const uint8_t* bytes, size_t size, std::vector<uint8_t>& content)
{
    ZSTD_inBuffer in = {bytes, size, 0};
    for (;;) {
        ZSTD_outBuffer out = {m_decoder->out.data(), m_decoder->out.size(), 0};
        const size_t result = ZSTD_decompressStream(m_decoder->context, &out, &in);
        if (ZSTD_isError(result) != 0) return statusOfZstd(result);
        content.insert(content.end(), m_decoder->out.begin(),
                       m_decoder->out.begin() + ptrdiff_t(out.pos));
        if (in.pos == in.size && out.pos < out.size) return SLUICE_OK;
        // The frame must not end earlier than its blocks say.
        if (in.pos < in.size && result == 0) return SLUICE_ERROR_FORMAT;
    }
}

// Goes to the next frame that is not skippable, or to the end.
SluiceStatus ZstdReader::skipFrames()
{
    while (m_end - m_at >= 4 && (loadLe32(m_at) & ~15u) == SLUICE_ZS_SKIPPABLE_MAGIC) {
        if (m_end - m_at < 8 || size_t(m_end - m_at) - 8 < loadLe32(m_at + 4))
            return SLUICE_ERROR_FORMAT;
        m_at += 8 + size_t(loadLe32(m_at + 4));
    }
    return m_at == m_end || (m_end - m_at >= 4 && loadLe32(m_at) == SLUICE_ZS_MAGIC)
               ? SLUICE_OK
               : SLUICE_ERROR_FORMAT;
}

SluiceStatus ZstdReader::readFrameHeader()
{
    ZSTD_frameHeader header;
    const size_t result = ZSTD_getFrameHeader(&header, m_at, size_t(m_end - m_at));
    if (ZSTD_isError(result) != 0) return statusOfZstd(result);
    if (result != 0) return SLUICE_ERROR_FORMAT; // it is cut off
    if (header.dictID != 0) return SLUICE_ERROR_UNSUPPORTED;
    ZSTD_DCtx_reset(m_decoder->context, ZSTD_reset_session_only);
    m_hasChecksum = header.checksumFlag != 0;
    std::vector<uint8_t> nothing;
    const SluiceStatus status = decode(m_at, header.headerSize, nothing);
    m_at += header.headerSize;
    m_inFrame = true;
    std::fill(std::begin(m_known), std::end(m_known), false);
    m_repeats[0] = 1;
    m_repeats[1] = 4;
    m_repeats[2] = 8;
    return status;
}

SluiceStatus ZstdReader::measure(uint64_t& size)
{
    size = 0;
    bool all = true;
    for (m_at = m_begin; all;) {
        const SluiceStatus status = skipFrames();
        if (status != SLUICE_OK) return status;
        if (m_at == m_end) return m_at = m_begin, SLUICE_OK;
        const uint64_t content = ZSTD_getFrameContentSize(m_at, size_t(m_end - m_at));
        const size_t compressed = ZSTD_findFrameCompressedSize(m_at, size_t(m_end - m_at));
        if (ZSTD_isError(compressed) != 0) {
            const bool window =
                ZSTD_getErrorCode(compressed) == ZSTD_error_frameParameter_windowTooLarge;
            return window ? SLUICE_ERROR_UNSUPPORTED : SLUICE_ERROR_FORMAT;
        }
        if (ZSTD_getDictID_fromFrame(m_at, size_t(m_end - m_at)) != 0)
            return SLUICE_ERROR_UNSUPPORTED;
        all = content != ZSTD_CONTENTSIZE_UNKNOWN;
        if (content == ZSTD_CONTENTSIZE_ERROR) return SLUICE_ERROR_FORMAT;
        // A block takes at least 3 bytes and holds at most 128 KiB; a frame that claims more is
        // damaged. So the sum is below 2^64.
        if (all && content / (128 * 1024) > compressed / 3) return SLUICE_ERROR_FORMAT;
        size += content;
        m_at += compressed;
    }
    // Some frame does not say how large it is.
    ZstdReader other(m_begin, size_t(m_end - m_begin));
    std::vector<uint8_t> content;
    std::vector<ZstdMatch> matches;
    size = 0;
    do {
        content.clear();
        matches.clear();
        const SluiceStatus status = other.next(content, matches);
        if (status != SLUICE_OK) return status;
        size += content.size();
    } while (other.m_at != other.m_end || other.m_inFrame);
    m_at = m_begin;
    return SLUICE_OK;
}

bool ZstdReader::wantsDictionary(const uint8_t* frames, size_t size)
{
    for (size_t at = 0; at < size;) {
        const size_t compressed = ZSTD_findFrameCompressedSize(frames + at, size - at);
        if (ZSTD_isError(compressed) != 0) return false;
        if (ZSTD_getDictID_fromFrame(frames + at, size - at) != 0) return true;
        at += compressed;
    }
    return false;
}

SluiceStatus ZstdReader::next(std::vector<uint8_t>& content, std::vector<ZstdMatch>& matches)
{
    const size_t before = content.size();
    while (content.size() == before) {
        if (!m_inFrame) {
            SluiceStatus status = skipFrames();
            if (status != SLUICE_OK || m_at == m_end) return status;
            status = readFrameHeader();
            if (status != SLUICE_OK) return status;
        }
        if (m_end - m_at < 3) return SLUICE_ERROR_FORMAT;
        const uint32_t header = loadLe24(m_at), kind = header >> 1 & 3, size = header >> 3;
        const bool last = (header & 1) != 0;
        const size_t stored = kind == 1 ? 1 : size, checksum = last && m_hasChecksum ? 4 : 0;
        if (kind == 3 || size_t(m_end - m_at) < 3 + stored + checksum) return SLUICE_ERROR_FORMAT;
        const uint64_t position = m_position;
        const SluiceStatus status = decode(m_at, 3 + stored + checksum, content);
        if (status != SLUICE_OK) return status;
        if (kind == 2 && !readSequences(m_at + 3, size, matches, position))
            return SLUICE_ERROR_FORMAT;
        m_position = position + (content.size() - before);
        m_at += 3 + stored + checksum;
        m_inFrame = !last;
        if (last && m_at == m_end) break;
    }
    return SLUICE_OK;
}

bool ZstdReader::readTable(uint32_t mode, uint32_t which, const uint8_t*& bytes, const uint8_t* end)
{
    if (mode == SLUICE_ZS_REPEAT) return m_known[which];
    m_known[which] = true;
    uint32_t used = 0;
    const uint32_t status =
        zstd::readSequenceTable(which, mode, bytes, size_t(end - bytes), m_tables[which], used);
    bytes += used;
    return status == SLUICE_TILE_OK;
}

// 3.1.1.3.1: the literals' header says how long they are. Moves `at` behind them.
bool ZstdReader::skipLiterals(const uint8_t*& at, const uint8_t* end)
{
    const size_t size = size_t(end - at);
    if (size < 2) return false;
    const uint32_t kind = at[0] & 3, format = at[0] >> 2 & 3;
    uint32_t headerSize;
    size_t stored;
    if (kind < 2) { // plain, or one byte that repeats
        headerSize = format == 1 ? 2 : format == 3 ? 3 : 1;
        if (size < headerSize) return false;
        const uint32_t header = uint32_t(loadLe(at, headerSize)),
                       count = header >> (headerSize == 1 ? 3 : 4);
        stored = kind == 1 ? 1 : count;
    } else { // compressed
        headerSize = format < 2 ? 3 : format == 2 ? 4 : 5;
        if (size < headerSize) return false;
        const uint32_t bits = format < 2 ? 10 : format == 2 ? 14 : 18;
        stored = size_t(loadLe(at, headerSize) >> (4 + bits) & ((uint64_t(1) << bits) - 1));
    }
    if (size - headerSize < stored) return false;
    at += headerSize + stored;
    return true;
}

// 3.1.1.5: offset codes 1 to 3 stand for earlier offsets.
uint64_t ZstdReader::readOffset(uint64_t code, bool literals)
{
    uint64_t offset = code - 3;
    uint32_t place = 2; // a new offset pushes out the last one
    if (code <= 3) {
        place = uint32_t(code) - 1 + (literals ? 0 : 1);
        offset = place == 3 ? m_repeats[0] - 1 : m_repeats[place];
    }
    if (place > 1) m_repeats[2] = m_repeats[1];
    if (place > 0) m_repeats[1] = m_repeats[0];
    return m_repeats[0] = offset;
}

// Reads the matches of a compressed block whose content libzstd has found to be right.
bool ZstdReader::readSequences(const uint8_t* block, size_t size, std::vector<ZstdMatch>& matches,
                               uint64_t position)
{
    const uint8_t* at = block;
    const uint8_t* const end = block + size;
    if (!skipLiterals(at, end) || at == end) return false;
    // 3.1.1.3.2: sequences
    uint32_t count = *at++;
    if (count == 0) return true;
    if (count >= 128) {
        const ptrdiff_t more = count == 255 ? 2 : 1;
        if (end - at < more) return false;
        count = count == 255 ? loadLe16(at) + 0x7f00 : (count - 128) << 8 | at[0];
        at += more;
    }
    if (at == end) return false;
    const uint32_t modes = *at++;
    for (uint32_t i = 0; i < SLUICE_ZS_TABLES; ++i)
        if (!readTable(modes >> (6 - 2 * i) & 3, i, at, end)) return false;
    m_sequences.resize(count);
    if (!zstd::readSequences(m_tables, at, size_t(end - at), m_sequences.data(), count))
        return false;
    for (const zstd::Sequence& sequence : m_sequences) {
        const uint64_t offset = readOffset(sequence.offsetValue, sequence.literals != 0);
        position += sequence.literals;
        if (offset <= UINT32_MAX) matches.push_back({position, sequence.length, uint32_t(offset)});
        position += sequence.length;
    }
    return true;
}

} // namespace sluice
