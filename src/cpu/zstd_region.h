// SPDX-License-Identifier: MIT OR Apache-2.0
// The order in which a region of Zstandard frames is decoded and checked, which decides its status
// (docs/format.md, 12.3). The reference and the fast decoder share it; they differ in how they
// decode a block.
#pragma once

#include "cpu/zstd.h"
#include "formats/xxh64.h"

#include <algorithm>
#include <memory>

namespace sluice::cpu {

// Where the decoded bytes of a block are written.
struct ZstdPlace {
    uint8_t* to;
    size_t room;     // bytes that may be written from `to` on
    uint64_t before; // bytes of the frame that precede `to`
    uint64_t reach;  // how many bytes a match may reach back in the frame
};

// Writes a raw or RLE block. Returns false if the block is compressed.
inline bool writeUncompressed(const zstd::Block& block, uint8_t* to)
{
    if (block.kind == SLUICE_ZS_RAW)
        std::copy_n(block.content, block.size, to);
    else if (block.kind == SLUICE_ZS_RLE)
        std::fill_n(to, block.size, block.content[0]);
    else
        return false;
    return true;
}

// The template parameter Blocks decodes blocks in these steps, which have the order of ZstdPhase:
//   void beginFrame()
//   uint32_t readTables(const Block&)    returns a status
//   bool decodeSymbols(const Block&)     returns false if the bits break a rule
//   uint32_t measure(const Frame&, const Block&, uint32_t& size)
//                                        returns a status; size: decoded bytes of the block
//   bool write(const Block&, const ZstdPlace&)
//                                        returns false if an offset breaks a rule
template <class Blocks>
class ZstdRegionDecoder {
public:
    ZstdRegionDecoder(const ZstdRegion& region, const zstd::Dictionary& dictionary)
        : m_region(region), m_dictionary(dictionary.info), m_blocks(dictionary)
    {
    }

    ZstdOutcome decode()
    {
        ZstdOutcome outcome;
        zstd::Block block;
        zstd::StructureReader structure = reader();
        while (structure.next(block)) {
        }
        if (structure.status() != SLUICE_ST_OK)
            return {structure.status(), ZstdPhase::structure, structure.blocks(), 0};

        // An error of an earlier phase takes precedence, even if it is in a later block. So after
        // an error in a block, the blocks after it still go through the earlier phases. `wanted` is
        // the last phase that they go through.
        ZstdPhase wanted = ZstdPhase::output;
        for (zstd::StructureReader blocks = reader(); blocks.next(block);) {
            const uint32_t number = blocks.blocks() - 1;
            if (block.first) {
                m_frameBegin = m_position;
                m_blocks.beginFrame();
            }
            if (const uint32_t status = m_blocks.readTables(block); status != SLUICE_ST_OK)
                return {status, ZstdPhase::tables, number, outcome.bytes};
            if (wanted >= ZstdPhase::symbols && !m_blocks.decodeSymbols(block)) {
                outcome = {SLUICE_ST_BAD_CODE, ZstdPhase::symbols, number, outcome.bytes};
                wanted = ZstdPhase::tables;
            }
            if (wanted < ZstdPhase::output) continue;
            const uint32_t status = makeOutput(blocks.frame(), block, isLast(blocks, block));
            if (status != SLUICE_ST_OK) {
                outcome = {status, ZstdPhase::output, number, outcome.bytes};
                wanted = ZstdPhase::symbols;
            } else {
                outcome.bytes = m_position;
            }
        }
        // Without an error, makeOutput has checked the size of the whole output at the last block.
        // So the output is too short only if there is no block, because all frames are skippable.
        if (outcome.status == SLUICE_ST_OK && m_position != m_region.size)
            outcome = {SLUICE_ST_TOO_SHORT, ZstdPhase::output, structure.blocks(), outcome.bytes};
        return outcome;
    }

private:
    zstd::StructureReader reader() const
    {
        return {m_region.source, m_region.sourceSize, m_region.size, m_dictionary,
                m_region.maxBlocks};
    }

    // Returns whether this is the last block of the region. Skippable frames may still follow.
    static bool isLast(zstd::StructureReader reader, const zstd::Block& block)
    {
        zstd::Block following;
        return block.last && !reader.next(following);
    }

    // Checks the size of a block and then writes its bytes. After the last block of a frame, also
    // compares the frame's checksum.
    uint32_t makeOutput(const zstd::Frame& frame, const zstd::Block& block, bool last)
    {
        uint32_t size;
        if (const uint32_t status = m_blocks.measure(frame, block, size); status != SLUICE_ST_OK)
            return status;
        const uint64_t room = m_region.size - m_position,
                       inFrame = m_position - m_frameBegin + size;
        if (size > room || (frame.hasContentSize && inFrame > frame.contentSize))
            return SLUICE_ST_TOO_LONG;
        if ((last && size < room) ||
            (block.last && frame.hasContentSize && inFrame < frame.contentSize))
            return SLUICE_ST_TOO_SHORT;
        const ZstdPlace place = {m_region.destination + m_position, size_t(room),
                                 m_position - m_frameBegin, UINT64_MAX};
        if (!m_blocks.write(block, place)) return SLUICE_ST_BAD_OFFSET;
        m_position += size;
        if (!block.last || !frame.hasChecksum || !m_region.checksums) return SLUICE_ST_OK;
        const uint64_t hash =
            xxh64(m_region.destination + m_frameBegin, m_position - m_frameBegin, 0);
        return uint32_t(hash) == frame.checksum ? SLUICE_ST_OK : SLUICE_ST_BAD_CHECKSUM;
    }

    const ZstdRegion& m_region;
    const zstd::DictionaryInfo m_dictionary;
    Blocks m_blocks;
    size_t m_position = 0, m_frameBegin = 0; // offsets in the output
};

// Decodes a region. Blocks is constructed with the region's dictionary, or with an empty one if the
// region has none.
template <class Blocks>
ZstdOutcome decodeZstdRegion(const ZstdRegion& region)
{
    const auto none = std::make_unique<zstd::Dictionary>();
    const zstd::Dictionary& dictionary = region.dictionary != nullptr ? *region.dictionary : *none;
    return std::make_unique<ZstdRegionDecoder<Blocks>>(region, dictionary)->decode();
}

} // namespace sluice::cpu
