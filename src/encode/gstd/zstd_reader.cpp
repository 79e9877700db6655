// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gstd/zstd_reader.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <new>

#include "formats/little_endian.h"

namespace sluice {
namespace {

constexpr uint32_t kLiteralLengths = 0, kOffsets = 1, kMatchLengths = 2;

// RFC 8878, 3.1.1.3.2.2: the distributions that need no description.
constexpr int8_t kDefaultLiteralLengths[36] = {4, 3, 2, 2, 2, 2, 2, 2, 2,  2,  2,  2,
                                               2, 1, 1, 1, 2, 2, 2, 2, 2,  2,  2,  2,
                                               2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
constexpr int8_t kDefaultMatchLengths[53] = {
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
constexpr int8_t kDefaultOffsets[29] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                        1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

constexpr struct {
    uint32_t maxLog, maxSymbols;
    uint32_t defaultLog, defaultSymbols;
    const int8_t* defaultCounts;
} kTables[3] = {{9, 36, 6, 36, kDefaultLiteralLengths},
                {8, 32, 5, 29, kDefaultOffsets},
                {9, 53, 6, 53, kDefaultMatchLengths}};

// 3.1.1.3.2.1.1: a length is the base of its code and some extra bits.
struct Range {
    uint32_t base, extraBits;
};
// The values of the codes follow each other from `first` on; only the last codes have extra bits.
template <size_t kCodes, size_t kExtra>
constexpr std::array<Range, kCodes> makeRanges(uint32_t first, const uint8_t (&extraBits)[kExtra])
{
    std::array<Range, kCodes> ranges = {};
    for (size_t code = 0; code < kCodes; ++code) {
        const uint32_t bits = code < kCodes - kExtra ? 0 : extraBits[code - (kCodes - kExtra)];
        ranges[code] = {first, bits};
        first += 1u << bits;
    }
    return ranges;
}
constexpr auto kLiteralRanges =
    makeRanges<36>(0, {1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
constexpr auto kMatchRanges =
    makeRanges<53>(3, {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});

constexpr uint32_t kMagic = 0xfd2fb528, kSkippableMagic = 0x184d2a50;

// The bits of a block's sequences, read backwards from the highest one of the last byte; the highest
// bit that is set marks the end. Bits before the start are 0.
class BackwardBits {
public:
    BackwardBits(const uint8_t* bytes, size_t size) : m_bytes(bytes), m_left(0)
    {
        if (size == 0 || bytes[size - 1] == 0) {
            m_bad = true;
            return;
        }
        m_left = int64_t(size - 1) * 8 + floorLog2(bytes[size - 1]);
    }
    uint32_t take(uint32_t n)
    {
        m_left -= n;
        uint64_t value = 0;
        const int64_t from = std::max<int64_t>(m_left, 0), to = m_left + n;
        if (to <= 0) {
            m_bad = m_bad || n != 0;
            return 0;
        }
        const size_t first = size_t(from / 8), last = size_t((to + 7) / 8);
        for (size_t i = last; i-- > first;)
            value = value << 8 | m_bytes[i];
        value = value >> from % 8 & ((uint64_t(1) << (to - from)) - 1);
        if (m_left < 0) {
            m_bad = true;
            value <<= -m_left;
        }
        return uint32_t(value);
    }
    bool bad() const { return m_bad; }

private:
    const uint8_t* m_bytes;
    int64_t m_left; // bits that have not been read
    bool m_bad = false;
};

} // namespace

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
    while (m_end - m_at >= 4 && (loadLe32(m_at) & ~15u) == kSkippableMagic) {
        if (m_end - m_at < 8 || size_t(m_end - m_at) - 8 < loadLe32(m_at + 4))
            return SLUICE_ERROR_FORMAT;
        m_at += 8 + size_t(loadLe32(m_at + 4));
    }
    return m_at == m_end || (m_end - m_at >= 4 && loadLe32(m_at) == kMagic) ? SLUICE_OK
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
    Table& table = m_tables[which];
    const auto& limits = kTables[which];
    if (mode == 3) return m_known[which];
    m_known[which] = true;
    if (mode == 1) { // one symbol
        if (bytes == end || *bytes >= limits.maxSymbols) return false;
        table.log = 0;
        table.states[0] = {0, *bytes++, 0};
        return true;
    }
    fse::Distribution distribution;
    if (mode == 0) {
        distribution.log = limits.defaultLog;
        distribution.symbols = limits.defaultSymbols;
        std::copy_n(limits.defaultCounts, limits.defaultSymbols, distribution.count);
    } else if (fse::readDistribution(bytes, size_t(end - bytes), limits.maxSymbols, limits.maxLog,
                                     distribution) != SLUICE_TILE_OK) {
        return false;
    }
    bytes += distribution.bytes;
    table.log = distribution.log;
    fse::buildStates(distribution, table.states);
    return true;
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
    if (!readTable(modes >> 6, kLiteralLengths, at, end) ||
        !readTable(modes >> 4 & 3, kOffsets, at, end) ||
        !readTable(modes >> 2 & 3, kMatchLengths, at, end))
        return false;
    BackwardBits bits(at, size_t(end - at));
    const fse::State* state[3];
    for (uint32_t i = 0; i < 3; ++i)
        state[i] = &m_tables[i].states[bits.take(m_tables[i].log)];
    for (uint32_t i = 0; i < count && !bits.bad(); ++i) {
        const uint32_t offsetBits = state[kOffsets]->symbol;
        const uint64_t code = (uint64_t(1) << offsetBits) + bits.take(offsetBits);
        const Range match = kMatchRanges[state[kMatchLengths]->symbol],
                    literal = kLiteralRanges[state[kLiteralLengths]->symbol];
        const uint32_t length = match.base + bits.take(match.extraBits),
                       literals = literal.base + bits.take(literal.extraBits);
        const uint64_t offset = readOffset(code, literals != 0);
        position += literals;
        if (offset <= UINT32_MAX) matches.push_back({position, length, uint32_t(offset)});
        position += length;
        if (i + 1 == count) break;
        for (const uint32_t which : {kLiteralLengths, kMatchLengths, kOffsets})
            state[which] =
                &m_tables[which].states[state[which]->base + bits.take(state[which]->bits)];
    }
    return !bits.bad();
}

} // namespace sluice
