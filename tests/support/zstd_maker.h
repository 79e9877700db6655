// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes a Zstandard frame by hand, block by block, and what it decodes to.
#pragma once

#include <sluice/sluice.h>

#include "tests/support/zstd_decode.h"
#include "tests/support/zstd_frames.h"

#include <string>

namespace sluice::test {

inline Bytes fromHex(const std::string& text)
{
    Bytes bytes;
    std::string digits;
    for (const char c : text)
        if (c != ' ') digits.push_back(c);
    for (size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes.push_back(uint8_t(std::stoul(digits.substr(i, 2), nullptr, 16)));
    return bytes;
}
inline Bytes textBytes(const std::string& text) { return {text.begin(), text.end()}; }
inline Bytes counting(size_t count)
{
    Bytes bytes(count);
    for (size_t i = 0; i < count; ++i)
        bytes[i] = uint8_t(i * 7 + i / 256);
    return bytes;
}
// Returns bytes 'a' to 'd', for a code of four symbols.
inline Bytes fewLetters(size_t count)
{
    Bytes bytes(count);
    for (size_t i = 0; i < count; ++i)
        bytes[i] = uint8_t('a' + i * i / 3 % 4);
    return bytes;
}
inline ZstdWeights fewWeights()
{
    ZstdWeights weights('d' + 1);
    weights['a'] = 3;
    weights['b'] = 2;
    weights['c'] = weights['d'] = 1;
    return weights;
}

class ZstdMaker {
public:
    Bytes content;
    ZstdState state;

    void add(uint32_t kind, const Bytes& bytes)
    {
        m_last = m_blocks.size();
        append(m_blocks, zstdBlock(kind, bytes, false));
    }
    void raw(const Bytes& bytes)
    {
        add(SLUICE_ZS_RAW, bytes);
        append(content, bytes);
    }
    void rle(uint8_t byte, size_t size)
    {
        m_last = m_blocks.size();
        append(m_blocks, zstdRleBlock(byte, size, false));
        content.insert(content.end(), size, byte);
    }
    // Makes the parts of a compressed block and appends what they decode to to `content`.
    ZstdBlockParts parts(const Bytes& literals, const ZstdSequences& sequences,
                         const ZstdTable* tables = nullptr,
                         uint32_t literalKind = SLUICE_ZS_LITERALS_RAW, uint32_t streams = 1)
    {
        ZstdBlockParts made;
        if (literalKind == SLUICE_ZS_LITERALS_HUFFMAN) {
            state.weights = fewWeights();
            made.tree = zstdTree(state.weights, true);
        }
        if (literalKind >= SLUICE_ZS_LITERALS_HUFFMAN) {
            zstdStreams(made, state.weights, literals, streams);
            made.literalsHeader =
                zstdLiteralsHeader(literalKind, streams == 1 ? 0 : 3, literals.size(),
                                   made.tree.size() + made.jumps.size() + made.streams.size());
        } else {
            made.literalsHeader = zstdLiteralsHeader(literalKind, 3, literals.size(), 0);
            made.streams = literals;
            if (literalKind == SLUICE_ZS_LITERALS_RLE)
                made.streams = {literals.empty() ? uint8_t(0) : literals[0]};
        }
        const uint32_t count = uint32_t(sequences.size());
        made.sequencesHeader = zstdSequenceCount(count, count < 128 ? 1 : count < 0x7f00 ? 2 : 3);
        if (count != 0) {
            uint32_t modes = 0;
            for (uint32_t kind = 0; kind < SLUICE_ZS_TABLES; ++kind) {
                const ZstdTable table = tables != nullptr ? tables[kind] : ZstdTable();
                if (table.mode == SLUICE_ZS_FSE) append(made.tables, zstdDescription(table.counts));
                if (table.mode == SLUICE_ZS_ONE_SYMBOL)
                    made.tables.push_back(uint8_t(table.symbol));
                modes |= table.mode << (6 - 2 * kind);
                state.tables[kind] = zstdStates(kind, table, state.tables[kind]);
            }
            made.sequencesHeader.push_back(uint8_t(modes));
            made.bits = zstdSequenceBits(sequences, state.tables);
        }
        zstdExpand(content, state.repeats, sequences, literals);
        return made;
    }
    void coded(const Bytes& literals, const ZstdSequences& sequences,
               const ZstdTable* tables = nullptr, uint32_t literalKind = SLUICE_ZS_LITERALS_RAW,
               uint32_t streams = 1)
    {
        add(SLUICE_ZS_COMPRESSED,
            parts(literals, sequences, tables, literalKind, streams).joined());
    }

    Bytes blocks() const
    {
        Bytes bytes = m_blocks;
        bytes.at(m_last) |= 1;
        return bytes;
    }
    // The frame has no content size and a window of 128 KiB, unless the header says otherwise.
    Bytes frame(ZstdHeader header = {}) const
    {
        if (header.window == 0 && !header.singleSegment) header.window = 7 << 3;
        Bytes bytes = zstdHeader(header);
        append(bytes, blocks());
        if (header.checksum) append(bytes, zstdChecksum(content));
        return bytes;
    }

private:
    Bytes m_blocks;
    size_t m_last = 0;
};

inline uint32_t zstdStatus(const Bytes& frames, size_t size)
{
    return decodeZstd(frames, size).outcome.status;
}

// Checks that the frames decode to these bytes.
inline void checkZstd(const Bytes& frames, const Bytes& content)
{
    const ZstdDecoded decoded = decodeZstd(frames, content.size());
    CHECK(decoded.outcome.status == SLUICE_TILE_OK);
    CHECK((decoded.bytes == content));
}

} // namespace sluice::test
