// SPDX-License-Identifier: MIT OR Apache-2.0
#include "formats/zstd.h"

#include <algorithm>

#include "formats/little_endian.h"

namespace sluice::zstd {
namespace {

// The sizes in bytes of two fields of a frame header. Two bits of the descriptor are the index.
constexpr uint32_t kDictionaryIdBytes[4] = {0, 1, 2, 4}, kContentSizeBytes[4] = {0, 2, 4, 8};

uint64_t windowSize(uint32_t descriptor)
{
    const uint64_t base = uint64_t(1) << (10 + (descriptor >> 3));
    return base + base / 8 * (descriptor & 7);
}

} // namespace

uint32_t readFrameHeader(const uint8_t* bytes, size_t size, Frame& frame, uint32_t& used)
{
    if (size == 0) return SLUICE_ST_TRUNCATED;
    const uint32_t descriptor = bytes[0];
    if ((descriptor >> 3 & 1) != 0) return SLUICE_ST_BAD_CODE;
    const bool singleSegment = (descriptor >> 5 & 1) != 0;
    const uint32_t windowBytes = singleSegment ? 0 : 1,
                   idBytes = kDictionaryIdBytes[descriptor & 3], sizeFlag = descriptor >> 6,
                   sizeBytes = sizeFlag == 0 && singleSegment ? 1 : kContentSizeBytes[sizeFlag];
    used = 1 + windowBytes + idBytes + sizeBytes;
    if (size < used) return SLUICE_ST_TRUNCATED;
    const uint8_t* const fields = bytes + 1;
    frame = {};
    frame.hasChecksum = (descriptor >> 2 & 1) != 0;
    frame.hasContentSize = sizeBytes != 0;
    frame.dictionaryId = uint32_t(loadLe(fields + windowBytes, idBytes));
    frame.contentSize = loadLe(fields + windowBytes + idBytes, sizeBytes);
    if (sizeBytes == 2) frame.contentSize += 256;
    frame.window = singleSegment ? frame.contentSize : windowSize(fields[0]);
    frame.blockMaximum =
        uint32_t(std::clamp<uint64_t>(frame.window, SLUICE_ZS_MIN_WINDOW, SLUICE_ZS_BLOCK_BYTES));
    return SLUICE_ST_OK;
}

StructureReader::StructureReader(const uint8_t* source, size_t size, uint64_t decodedSize,
                                 const DictionaryInfo& dictionary, uint32_t maxBlocks)
    : m_at(source), m_end(source + size), m_decodedSize(decodedSize), m_dictionary(dictionary),
      m_maxBlocks(maxBlocks), m_status(size == 0 ? SLUICE_ST_BAD_REGION : SLUICE_ST_OK)
{
}

StructureReader::StructureReader(uint64_t decodedSize, const DictionaryInfo& dictionary)
    : m_at(nullptr), m_end(nullptr), m_decodedSize(decodedSize), m_dictionary(dictionary),
      m_maxBlocks(UINT32_MAX), m_status(SLUICE_ST_OK), m_isStream(true)
{
}

bool StructureReader::fail(uint32_t status)
{
    m_status = status;
    return false;
}

bool StructureReader::failCutOff()
{
    m_isCutOff = true;
    return fail(SLUICE_ST_TRUNCATED);
}

bool StructureReader::next(Block& block)
{
    if (m_status != SLUICE_ST_OK) return false;
    block = {};
    block.first = !m_inFrame;
    while (!m_inFrame) {
        if (left() == 0 || !beginFrame()) return false;
    }
    if (!m_isStream && (m_frameBlocks == m_maxFrameBlocks || m_blocks == m_maxBlocks))
        return fail(SLUICE_ST_LIMIT);
    if (!readBlockHeader(block)) return false;
    if (block.kind == SLUICE_ZS_COMPRESSED &&
        !(readLiteralsHeader(block) && readSequencesHeader(block)))
        return false;
    // A block whose output cannot fit into the region is refused before it is decoded, so that the
    // region's size bounds the work.
    m_leastSize += block.size + block.literals + block.sequences * SLUICE_ZS_MIN_MATCH;
    if (m_leastSize > m_decodedSize) return fail(SLUICE_ST_TOO_LONG);
    if (block.last && m_frame.hasChecksum) {
        if (left() < 4) return failCutOff();
        m_frame.checksum = loadLe32(m_at);
        m_at += 4;
    }
    m_inFrame = !block.last;
    ++m_frameBlocks;
    ++m_blocks;
    return true;
}

// Reads the header of a frame, or skips a skippable frame.
bool StructureReader::beginFrame()
{
    if (!m_isStream && m_frames == SLUICE_ZS_MAX_FRAMES) return fail(SLUICE_ST_LIMIT);
    ++m_frames;
    if (left() < 4) return failCutOff();
    const uint32_t magic = loadLe32(m_at);
    m_at += 4;
    if (magic == SLUICE_ZS_MAGIC) return enterFrame();
    if ((magic & ~15u) != SLUICE_ZS_SKIPPABLE_MAGIC) return fail(SLUICE_ST_BAD_CODE);
    if (left() < 4 || loadLe32(m_at) > left() - 4) return failCutOff();
    m_at += 4 + size_t(loadLe32(m_at));
    return true;
}

bool StructureReader::enterFrame()
{
    uint32_t used;
    const uint32_t status = readFrameHeader(m_at, left(), m_frame, used);
    if (status == SLUICE_ST_TRUNCATED) return failCutOff();
    if (status != SLUICE_ST_OK) return fail(status);
    m_at += used;
    if (m_frame.dictionaryId != 0 && m_frame.dictionaryId != m_dictionary.id)
        return fail(SLUICE_ST_UNSUPPORTED);
    const uint64_t decoded = m_frame.hasContentSize ? m_frame.contentSize : m_decodedSize;
    if (!m_isStream && (decoded > SLUICE_ZS_MAX_HISTORY ||
                        m_dictionary.contentSize > SLUICE_ZS_MAX_HISTORY - decoded))
        return fail(SLUICE_ST_LIMIT);
    m_maxFrameBlocks = uint32_t(SLUICE_ZS_FRAME_BLOCKS(decoded));
    m_frameBlocks = 0;
    m_hasTree = m_hasTables = m_dictionary.hasTables;
    m_inFrame = true;
    return true;
}

bool StructureReader::readBlockHeader(Block& block)
{
    if (left() < 3) return failCutOff();
    const uint32_t header = loadLe24(m_at), size = header >> 3;
    m_at += 3;
    block.last = (header & 1) != 0;
    block.kind = header >> 1 & 3;
    if (block.kind > SLUICE_ZS_COMPRESSED) return fail(SLUICE_ST_BAD_CODE);
    if (size > m_frame.blockMaximum) return fail(SLUICE_ST_LIMIT);
    block.content = m_at;
    block.contentSize = block.kind == SLUICE_ZS_RLE ? 1 : size;
    block.size = block.kind == SLUICE_ZS_COMPRESSED ? 0 : size;
    if (block.contentSize > left()) return failCutOff();
    m_at += block.contentSize;
    return true;
}

bool StructureReader::readLiteralsHeader(Block& block)
{
    const uint32_t size = block.contentSize;
    if (size == 0) return fail(SLUICE_ST_TRUNCATED);
    const uint32_t format = block.content[0] >> 2 & 3;
    block.literalKind = block.content[0] & 3;
    const bool coded = block.literalKind >= SLUICE_ZS_LITERALS_HUFFMAN;
    constexpr uint32_t kPlainBytes[4] = {1, 2, 1, 3}, kCodedBytes[4] = {3, 3, 4, 5},
                       kCodedBits[4] = {10, 10, 14, 18};
    const uint32_t headerBytes = coded ? kCodedBytes[format] : kPlainBytes[format];
    if (size < headerBytes) return fail(SLUICE_ST_TRUNCATED);
    const uint64_t header = loadLe(block.content, headerBytes);
    if (coded) {
        const uint32_t bits = kCodedBits[format], mask = (1u << bits) - 1;
        block.literals = uint32_t(header >> 4) & mask;
        block.literalBytes = uint32_t(header >> (4 + bits)) & mask;
        block.streams = format == 0 ? 1 : 4;
    } else {
        block.literals = uint32_t(header >> ((format & 1) == 0 ? 3 : 4));
        block.literalBytes = block.literalKind == SLUICE_ZS_LITERALS_RLE ? 1 : block.literals;
    }
    if (block.literals > m_frame.blockMaximum) return fail(SLUICE_ST_LIMIT);
    if (block.streams == 4 && block.literals < SLUICE_ZS_FOUR_STREAMS_LITERALS)
        return fail(SLUICE_ST_BAD_CODE);
    if (block.literalKind == SLUICE_ZS_LITERALS_TREELESS && !m_hasTree)
        return fail(SLUICE_ST_BAD_CODE);
    if (block.literalBytes > size - headerBytes) return fail(SLUICE_ST_TRUNCATED);
    m_hasTree = m_hasTree || block.literalKind == SLUICE_ZS_LITERALS_HUFFMAN;
    block.literalContent = block.content + headerBytes;
    return true;
}

bool StructureReader::readSequencesHeader(Block& block)
{
    const uint8_t* at = block.literalContent + block.literalBytes;
    const uint8_t* const end = block.content + block.contentSize;
    if (at == end) return fail(SLUICE_ST_TRUNCATED);
    const uint32_t first = *at, bytes = first < 128 ? 1 : first < 255 ? 2 : 3;
    if (size_t(end - at) < bytes) return fail(SLUICE_ST_TRUNCATED);
    block.sequences = bytes == 1   ? first
                      : bytes == 2 ? (first - 128) << 8 | at[1]
                                   : loadLe16(at + 1) + 0x7f00;
    at += bytes;
    if (block.sequences == 0) return at == end || fail(SLUICE_ST_BAD_CODE);
    if (block.sequences * SLUICE_ZS_MIN_MATCH > m_frame.blockMaximum) return fail(SLUICE_ST_LIMIT);
    if (at == end) return fail(SLUICE_ST_TRUNCATED);
    const uint32_t modes = *at++;
    if ((modes & 3) != 0) return fail(SLUICE_ST_BAD_CODE);
    for (uint32_t i = 0; i < SLUICE_ZS_TABLES; ++i) {
        block.modes[i] = modes >> (6 - 2 * i) & 3;
        if (block.modes[i] == SLUICE_ZS_REPEAT && !m_hasTables) return fail(SLUICE_ST_BAD_CODE);
    }
    m_hasTables = true; // every block with sequences has all three tables
    block.tables = at;
    block.tableBytes = uint32_t(end - at);
    return true;
}

} // namespace sluice::zstd
