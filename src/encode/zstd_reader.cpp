// SPDX-License-Identifier: MIT OR Apache-2.0
#include "zstd_reader.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace sluice {
namespace {

constexpr uint32_t kLiteralLengths = 0, kOffsets = 1, kMatchLengths = 2;
constexpr uint32_t kMaxLog[3] = {9, 8, 9}, kMaxSymbols[3] = {36, 32, 53};

// RFC 8878, 3.1.1.3.2.2: the distributions that need no description.
constexpr int8_t kDefaultLiteralLengths[36] = {4, 3, 2, 2, 2, 2, 2, 2, 2,  2,  2,  2,
                                               2, 1, 1, 1, 2, 2, 2, 2, 2,  2,  2,  2,
                                               2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
constexpr int8_t kDefaultMatchLengths[53] = {
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
constexpr int8_t kDefaultOffsets[29] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                        1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

// 3.1.1.3.2.1.1: lengths as codes.
struct Range {
    uint32_t base, bits;
};
constexpr Range kLiteralRanges[36] = {
    {0, 0},     {1, 0},      {2, 0},      {3, 0},     {4, 0},   {5, 0},     {6, 0},     {7, 0},
    {8, 0},     {9, 0},      {10, 0},     {11, 0},    {12, 0},  {13, 0},    {14, 0},    {15, 0},
    {16, 1},    {18, 1},     {20, 1},     {22, 1},    {24, 2},  {28, 2},    {32, 3},    {40, 3},
    {48, 4},    {64, 6},     {128, 7},    {256, 8},   {512, 9}, {1024, 10}, {2048, 11}, {4096, 12},
    {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}};

Range matchRange(uint32_t code)
{
    if (code < 32) return {code + 3, 0};
    constexpr Range ranges[21] = {
        {35, 1},    {37, 1},    {39, 1},    {41, 1},    {43, 2},     {47, 2},     {51, 3},
        {59, 3},    {67, 4},    {83, 4},    {99, 5},    {131, 7},    {259, 8},    {515, 9},
        {1027, 10}, {2051, 11}, {4099, 12}, {8195, 13}, {16387, 14}, {32771, 15}, {65539, 16}};
    return ranges[code - 32];
}

fse::Distribution defaultDistribution(uint32_t which)
{
    fse::Distribution result;
    const int8_t* const counts[3] = {kDefaultLiteralLengths, kDefaultOffsets, kDefaultMatchLengths};
    const uint32_t symbols[3] = {36, 29, 53}, logs[3] = {6, 5, 6};
    result.log = logs[which];
    result.symbols = symbols[which];
    std::copy_n(counts[which], result.symbols, result.count);
    return result;
}

uint32_t load24(const uint8_t* bytes)
{
    return uint32_t(bytes[0] | bytes[1] << 8 | bytes[2] << 16);
}

uint32_t load32(const uint8_t* bytes) { return load24(bytes) | uint32_t(bytes[3]) << 24; }

constexpr uint32_t kMagic = 0xfd2fb528, kSkippableMagic = 0x184d2a50;

// Bits of a block's sequences, from the last byte's highest on down. Past the start they are 0.
class BackwardBits {
public:
    BackwardBits(const uint8_t* bytes, size_t size) : bytes_(bytes), left_(0)
    {
        if (size == 0 || bytes[size - 1] == 0) {
            bad_ = true;
            return;
        }
        uint32_t top = 7;
        while (bytes[size - 1] >> top == 0)
            --top;
        left_ = int64_t(size - 1) * 8 + top;
    }
    uint32_t take(uint32_t n)
    {
        left_ -= n;
        uint64_t value = 0;
        const int64_t from = std::max<int64_t>(left_, 0), to = left_ + n;
        if (to <= 0) {
            bad_ = bad_ || n != 0;
            return 0;
        }
        const size_t first = size_t(from / 8), last = size_t((to + 7) / 8);
        for (size_t i = last; i-- > first;)
            value = value << 8 | bytes_[i];
        value = value >> from % 8 & ((uint64_t(1) << (to - from)) - 1);
        if (left_ < 0) {
            bad_ = true;
            value <<= -left_;
        }
        return uint32_t(value);
    }
    bool bad() const { return bad_; }

private:
    const uint8_t* bytes_;
    int64_t left_; // bits that are not taken
    bool bad_ = false;
};

SluiceStatus statusOf(size_t result)
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

} // namespace

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
    : begin_(frames), end_(frames + size), at_(frames), decoder_(std::make_unique<Decoder>())
{
}

ZstdReader::~ZstdReader() = default;

// Gives bytes of a frame to libzstd and appends what comes out.
SluiceStatus ZstdReader::decode(const uint8_t* bytes, size_t size, std::vector<uint8_t>& content)
{
    ZSTD_inBuffer in = {bytes, size, 0};
    for (;;) {
        ZSTD_outBuffer out = {decoder_->out.data(), decoder_->out.size(), 0};
        const size_t result = ZSTD_decompressStream(decoder_->context, &out, &in);
        if (ZSTD_isError(result) != 0) return statusOf(result);
        content.insert(content.end(), decoder_->out.begin(),
                       decoder_->out.begin() + std::ptrdiff_t(out.pos));
        if (in.pos == in.size && out.pos < out.size) return SLUICE_OK;
        // the frame ends earlier than its blocks say
        if (in.pos < in.size && result == 0) return SLUICE_ERROR_FORMAT;
    }
}

// Goes to the next frame that is not skippable, or to the end.
SluiceStatus ZstdReader::skipFrames()
{
    while (end_ - at_ >= 4 && (load32(at_) & ~15u) == kSkippableMagic) {
        if (end_ - at_ < 8 || size_t(end_ - at_) - 8 < load32(at_ + 4)) return SLUICE_ERROR_FORMAT;
        at_ += 8 + size_t(load32(at_ + 4));
    }
    return at_ == end_ || (end_ - at_ >= 4 && load32(at_) == kMagic) ? SLUICE_OK
                                                                     : SLUICE_ERROR_FORMAT;
}

SluiceStatus ZstdReader::readFrameHeader()
{
    ZSTD_frameHeader header;
    const size_t result = ZSTD_getFrameHeader(&header, at_, size_t(end_ - at_));
    if (ZSTD_isError(result) != 0) return statusOf(result);
    if (result != 0) return SLUICE_ERROR_FORMAT; // it is cut off
    if (header.dictID != 0) return SLUICE_ERROR_UNSUPPORTED;
    ZSTD_DCtx_reset(decoder_->context, ZSTD_reset_session_only);
    hasChecksum_ = header.checksumFlag != 0;
    std::vector<uint8_t> nothing;
    const SluiceStatus status = decode(at_, header.headerSize, nothing);
    at_ += header.headerSize;
    inFrame_ = true;
    std::fill(std::begin(known_), std::end(known_), false);
    repeats_[0] = 1;
    repeats_[1] = 4;
    repeats_[2] = 8;
    return status;
}

SluiceStatus ZstdReader::measure(uint64_t& size)
{
    size = 0;
    bool all = true;
    for (at_ = begin_; all;) {
        const SluiceStatus status = skipFrames();
        if (status != SLUICE_OK) return status;
        if (at_ == end_) return at_ = begin_, SLUICE_OK;
        const unsigned long long content = ZSTD_getFrameContentSize(at_, size_t(end_ - at_));
        const size_t compressed = ZSTD_findFrameCompressedSize(at_, size_t(end_ - at_));
        if (ZSTD_isError(compressed) != 0) {
            const bool window =
                ZSTD_getErrorCode(compressed) == ZSTD_error_frameParameter_windowTooLarge;
            return window ? SLUICE_ERROR_UNSUPPORTED : SLUICE_ERROR_FORMAT;
        }
        if (ZSTD_getDictID_fromFrame(at_, size_t(end_ - at_)) != 0) return SLUICE_ERROR_UNSUPPORTED;
        all = content != ZSTD_CONTENTSIZE_UNKNOWN;
        if (content == ZSTD_CONTENTSIZE_ERROR) return SLUICE_ERROR_FORMAT;
        // A block, at least 3 bytes, holds 128 KiB at most: what says more is damaged. So the sum
        // is below 2^64.
        if (all && content / (128 * 1024) > compressed / 3) return SLUICE_ERROR_FORMAT;
        size += content;
        at_ += compressed;
    }
    // Some frame does not say how large it is.
    ZstdReader other(begin_, size_t(end_ - begin_));
    std::vector<uint8_t> content;
    std::vector<ZstdMatch> matches;
    size = 0;
    do {
        content.clear();
        matches.clear();
        const SluiceStatus status = other.next(content, matches);
        if (status != SLUICE_OK) return status;
        size += content.size();
    } while (other.at_ != other.end_ || other.inFrame_);
    at_ = begin_;
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
        if (!inFrame_) {
            SluiceStatus status = skipFrames();
            if (status != SLUICE_OK || at_ == end_) return status;
            status = readFrameHeader();
            if (status != SLUICE_OK) return status;
        }
        if (end_ - at_ < 3) return SLUICE_ERROR_FORMAT;
        const uint32_t header = load24(at_), kind = header >> 1 & 3, size = header >> 3;
        const bool last = (header & 1) != 0;
        const size_t stored = kind == 1 ? 1 : size, checksum = last && hasChecksum_ ? 4 : 0;
        if (kind == 3 || size_t(end_ - at_) < 3 + stored + checksum) return SLUICE_ERROR_FORMAT;
        const uint64_t position = position_;
        const SluiceStatus status = decode(at_, 3 + stored + checksum, content);
        if (status != SLUICE_OK) return status;
        if (kind == 2 && !readSequences(at_ + 3, size, matches, position))
            return SLUICE_ERROR_FORMAT;
        position_ = position + (content.size() - before);
        at_ += 3 + stored + checksum;
        inFrame_ = !last;
        if (last && at_ == end_) break;
    }
    return SLUICE_OK;
}

bool ZstdReader::readTable(uint32_t mode, uint32_t which, const uint8_t*& bytes, const uint8_t* end)
{
    Table& table = tables_[which];
    if (mode == 3) return known_[which];
    known_[which] = true;
    if (mode == 1) { // one symbol
        if (bytes == end || *bytes >= kMaxSymbols[which]) return false;
        table.log = 0;
        table.states[0] = {0, *bytes++, 0};
        return true;
    }
    fse::Distribution distribution = defaultDistribution(which);
    if (mode == 2) {
        const size_t size = size_t(end - bytes);
        if (fse::readDistribution(bytes, size, kMaxSymbols[which], kMaxLog[which], distribution) !=
            SLUICE_TILE_OK)
            return false;
        bytes += distribution.bytes;
    }
    table.log = distribution.log;
    fse::buildStates(distribution, table.states);
    return true;
}

// The matches of a compressed block whose content libzstd has found to be right.
bool ZstdReader::readSequences(const uint8_t* block, size_t size, std::vector<ZstdMatch>& matches,
                               uint64_t position)
{
    const uint8_t* at = block;
    const uint8_t* const end = block + size;
    // 3.1.1.3.1: the literals' header says how long they are.
    if (size < 2) return false;
    const uint32_t kind = at[0] & 3, format = at[0] >> 2 & 3;
    if (kind < 2) {
        const uint32_t headerSize = format == 1 ? 2 : format == 3 ? 3 : 1;
        if (size < headerSize) return false;
        const uint32_t count = format == 1   ? uint32_t(at[0] | at[1] << 8) >> 4
                               : format == 3 ? load24(at) >> 4
                                             : uint32_t(at[0]) >> 3;
        const size_t stored = kind == 1 ? 1 : count;
        if (size - headerSize < stored) return false;
        at += headerSize + stored;
    } else {
        const uint32_t headerSize = format < 2 ? 3 : format == 2 ? 4 : 5;
        if (size < headerSize) return false;
        uint64_t header = 0;
        for (uint32_t i = headerSize; i-- > 0;)
            header = header << 8 | at[i];
        const uint32_t bits = format < 2 ? 10 : format == 2 ? 14 : 18;
        const size_t stored = size_t(header >> (4 + bits) & ((uint64_t(1) << bits) - 1));
        if (size - headerSize < stored) return false;
        at += headerSize + stored;
    }
    // 3.1.1.3.2: sequences
    if (at == end) return false;
    uint32_t count = *at++;
    if (count == 0) return true;
    if (count >= 128) {
        const ptrdiff_t more = count == 255 ? 2 : 1;
        if (end - at < more) return false;
        count = count == 255 ? uint32_t(at[0] | at[1] << 8) + 0x7f00 : (count - 128) << 8 | at[0];
        at += more;
    }
    if (at == end) return false;
    const uint32_t modes = *at++;
    if (!readTable(modes >> 6, kLiteralLengths, at, end) ||
        !readTable(modes >> 4 & 3, kOffsets, at, end) ||
        !readTable(modes >> 2 & 3, kMatchLengths, at, end))
        return false;
    BackwardBits bits(at, size_t(end - at));
    uint32_t state[3];
    for (uint32_t i = 0; i < 3; ++i)
        state[i] = bits.take(tables_[i].log);
    for (uint32_t i = 0; i < count && !bits.bad(); ++i) {
        const fse::State& literalState = tables_[kLiteralLengths].states[state[kLiteralLengths]];
        const fse::State& offsetState = tables_[kOffsets].states[state[kOffsets]];
        const fse::State& matchState = tables_[kMatchLengths].states[state[kMatchLengths]];
        const uint64_t code = (uint64_t(1) << offsetState.symbol) + bits.take(offsetState.symbol);
        const Range match = matchRange(matchState.symbol),
                    literal = kLiteralRanges[literalState.symbol];
        const uint32_t length = match.base + bits.take(match.bits),
                       literals = literal.base + bits.take(literal.bits);
        uint64_t offset = code - 3;
        if (code <= 3) {
            const uint32_t place = uint32_t(code) - 1 + (literals == 0 ? 1 : 0);
            offset = place == 3 ? repeats_[0] - 1 : repeats_[place];
            if (place > 1) repeats_[2] = repeats_[1];
            if (place > 0) repeats_[1] = repeats_[0];
        } else {
            repeats_[2] = repeats_[1];
            repeats_[1] = repeats_[0];
        }
        repeats_[0] = offset;
        position += literals;
        if (offset <= UINT32_MAX) matches.push_back({position, length, uint32_t(offset)});
        position += length;
        if (i + 1 == count) break;
        for (const uint32_t which : {kLiteralLengths, kMatchLengths, kOffsets}) {
            const fse::State& from = tables_[which].states[state[which]];
            state[which] = from.base + bits.take(from.bits);
        }
    }
    return !bits.bad();
}

} // namespace sluice
