// SPDX-License-Identifier: MIT OR Apache-2.0
// Computes checksums of tiles (docs/format.md, section 3), for a command and sluiceTileChecksum.
#include "cpu/context.h"
#include "cpu/regions.h"

#include "formats/xxh32.h"

namespace sluice {
namespace {

// Computes a tile's checksum. The tile is cut into 32 pieces of whole words, so that on a GPU each
// of 32 lanes can hash one piece. The checksum is the hash of the hashes of all pieces. The caller
// may add the bytes in portions of any size.
class TileHash {
public:
    // size: bytes of the tile.
    explicit TileHash(size_t size)
        : m_pieceBytes(divideUp<size_t>(divideUp<size_t>(size, 4), kPieces) * 4),
          m_left(m_pieceBytes)
    {
        m_current.begin(0);
    }

    // Adds the next bytes of the tile.
    void add(const uint8_t* bytes, size_t size)
    {
        while (size != 0) {
            const size_t part = std::min(size, m_left);
            m_current.add(bytes, part);
            bytes += part;
            size -= part;
            m_left -= part;
            if (m_left == 0) endPiece();
        }
    }

    // Returns the checksum of all bytes that were added. Pieces without bytes are hashed as empty.
    uint32_t value()
    {
        while (m_piece < kPieces)
            endPiece();
        return xxh32(m_hashes, sizeof m_hashes, 0);
    }

private:
    static constexpr size_t kPieces = 32;

    // Stores the hash of the current piece and begins the next one.
    void endPiece()
    {
        storeLe32(m_hashes + 4 * m_piece++, m_current.value());
        m_current.begin(0);
        m_left = m_pieceBytes;
    }

    size_t m_pieceBytes, m_left, m_piece = 0; // m_left: bytes that the current piece lacks
    Xxh32 m_current;
    uint8_t m_hashes[kPieces * 4];
};

} // namespace

namespace cpu {

// Returns the checksum of a decoded tile. Gaps between the rows of the destination do not count.
static uint32_t regionChecksum(const SluiceChecksumInfo& info, const SluiceRegion& tile)
{
    TileHash hash(size_t(tile.decompressedSize));
    forEachRun(info, tile, [&](const uint8_t* run, size_t, size_t count) { hash.add(run, count); });
    return hash.value();
}

void compareChecksums(const SluiceChecksumInfo& info)
{
    StatusWords status(info.status, info.maxRegionCount);
    const uint32_t* expected = pointer<const uint32_t>(info.expected);
    const uint32_t count = countOf(info.regionCount, info.maxRegionCount);
    for (uint32_t i = 0; i < count; ++i) {
        if (status.get(i) != SLUICE_ST_OK && status.get(i) != SLUICE_ST_UNVERIFIED) continue;
        // The decoder has checked the address and size of this region, but the list may have been
        // overwritten since then. So they are checked again before the tile is read.
        const auto tile = entryAt<SluiceRegion>(info.regions, i, info.regionStride);
        const bool match = validDestination(info, tile, SLUICE_MAX_TILE_BYTES) &&
                           regionChecksum(info, tile) == expected[i];
        status.set(i, match ? SLUICE_ST_OK : SLUICE_ST_BAD_CHECKSUM);
    }
}

SluiceStatus ReferenceBackend::cmdChecksum(SluiceCommands, const SluiceChecksumInfo& info)
{
    compareChecksums(info);
    return SLUICE_OK;
}

} // namespace cpu
} // namespace sluice

uint32_t sluiceTileChecksum(const void* bytes, size_t size)
{
    sluice::TileHash hash(size);
    hash.add(static_cast<const uint8_t*>(bytes), size);
    return hash.value();
}
