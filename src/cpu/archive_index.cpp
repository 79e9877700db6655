// SPDX-License-Identifier: MIT OR Apache-2.0
// Unpacks the stored index of an archive of version 3 (docs/format.md, 4.11). The stored index
// consists of *pieces*, each of which is plain or a Gstd tile. The decoded pieces, joined, are the
// *coded* index, whose entries are lists of variable-length numbers. It is expanded to a *table* of
// entries of fixed size. There are three kinds of entries: an asset with tiles of its own; a
// *share*, a set of tiles that holds several small assets; and a *part*, one of the assets in a
// share.
#include "formats/archive_layout.h"
#include "cpu/fast/gstd.h"

#include <algorithm>

using namespace sluice;

namespace {

// Reads the coded index. If a read fails, it and all later reads return 0 or nullptr, and isGood()
// returns false.
class CodedReader {
public:
    CodedReader(const uint8_t* bytes, size_t size) : m_at(bytes), m_end(bytes + size) {}

    // Reads a number of variable length. Each byte has seven bits of the number, the lowest bits
    // first; bit 7 of a byte says that another byte follows.
    uint64_t number()
    {
        uint64_t value = 0;
        for (uint32_t shift = 0; shift < 64 && m_at != m_end; shift += 7) {
            const uint8_t byte = *m_at++;
            if (shift == 63 && byte > 1) break;
            value |= uint64_t(byte & 127) << shift;
            if (byte < 128) {
                if (byte == 0 && shift != 0) break; // refuse more bytes than the number needs
                return value;
            }
        }
        fail();
        return 0;
    }
    // Reads a number that must not exceed `most`.
    uint32_t number(uint32_t most)
    {
        const uint64_t value = number();
        m_isBad = m_isBad || value > most;
        return value > most ? 0 : uint32_t(value);
    }
    // Reads a number that is stored as its difference from `from`. The difference is in zigzag
    // form: twice its absolute value, less 1 if it is negative.
    uint64_t numberNear(uint64_t from)
    {
        const uint64_t value = number();
        return from + ((value >> 1) ^ (0 - (value & 1)));
    }
    // Returns the next `size` bytes.
    const uint8_t* bytes(size_t size)
    {
        if (size > size_t(m_end - m_at)) {
            fail();
            return nullptr;
        }
        m_at += size;
        return m_at - size;
    }

    void fail()
    {
        m_isBad = true;
        m_at = m_end;
    }
    bool isGood() const { return !m_isBad; }
    bool isAtEnd() const { return m_at == m_end; }

private:
    const uint8_t* m_at;
    const uint8_t* m_end;
    bool m_isBad = false;
};

// Decodes the stored index, which is cut into pieces, to `coded`. scratch: kIndexScratchBytes of
// memory at any address. Returns false if a piece is invalid, or if the pieces do not decode to
// exactly codedSize bytes.
bool decodePieces(const uint8_t* stored, size_t storedSize, uint8_t* coded, size_t codedSize,
                  uint8_t* scratch)
{
    scratch += (0 - reinterpret_cast<uintptr_t>(scratch)) % cpu::fast::kGstdScratchAlignment;
    while (codedSize != 0) {
        if (storedSize < kIndexPieceHead) return false;
        const uint32_t taken = loadLe32(stored), size = loadLe32(stored + 4);
        if (size > std::min<size_t>(codedSize, kIndexPieceBytes)) return false;
        stored += kIndexPieceHead;
        storedSize -= kIndexPieceHead;
        if (taken == 0 || taken > size || taken > storedSize) return false;
        if (taken == size)
            std::memcpy(coded, stored, size);
        else if (cpu::fast::decodeGstdTile(stored, taken, coded, size, scratch) != SLUICE_ST_OK)
            return false;
        stored += taken;
        storedSize -= taken;
        coded += size;
        codedSize -= size;
    }
    return storedSize == 0;
}

// Expands the coded index to the table, the successors, the parameter blocks and the names, which
// are stored one behind the other. The table has an entry for each asset and each share (tiles that
// hold several small assets, its parts). An entry's *successor* is another entry's index: for a
// part, the next part of its share; otherwise, the entry whose tiles come next in the file.
class Expander {
public:
    Expander(const SluiceArchive& archive, uint8_t* index)
        : m_archive(archive), m_entries(archive.assetCount + archive.shareCount), m_table(index),
          m_successors(index + size_t(m_entries) * assetBytes),
          m_blocks(m_successors + size_t(m_entries) * kSuccessorBytes),
          m_names(m_blocks + archive.blockBytes),
          m_reader(index + (archive.indexSize - archive.codedIndexSize), archive.codedIndexSize)
    {
    }

    // Expands the index. Returns false if the coded form breaks a rule.
    bool run();

private:
    // Return the addresses of the entry with the index `number` and of its successor.
    uint8_t* entry(uint32_t number) { return m_table + size_t(number) * assetBytes; }
    uint8_t* successor(uint32_t number) { return m_successors + size_t(number) * kSuccessorBytes; }
    void readName(uint8_t* to);
    void readExtent(uint32_t number, uint8_t* to);
    bool linkParts();

    const SluiceArchive& m_archive;
    const uint32_t m_entries;
    uint8_t *m_table, *m_successors, *m_blocks, *m_names;
    CodedReader m_reader;
    uint32_t m_nameEnd = 0, m_lastName = 0; // offsets in m_names: end and start of the last name
    // Three members of an entry are stored as differences from the last entry that has the member.
    // The last values are kept here. m_extent: the file offset of the entry's tiles, in units of
    // SLUICE_ARCHIVE_ALIGNMENT bytes; m_block: the offset of its parameter block; m_share: the
    // index of a part's share.
    uint64_t m_extent = 0, m_block = 0, m_share = 0;
};

// Reads an asset's name, appends it to the names, and stores its offset and length in the entry
// `to`. A name is stored as the length of the prefix that it shares with the name before it, and
// the bytes after this prefix.
void Expander::readName(uint8_t* to)
{
    const uint32_t common = m_reader.number(m_nameEnd - m_lastName);
    const uint32_t more = m_reader.number(SLUICE_ARCHIVE_MAX_NAME_LENGTH);
    const uint8_t* bytes = m_reader.bytes(more);
    const uint32_t length = common + more;
    if (bytes == nullptr || length > SLUICE_ARCHIVE_MAX_NAME_LENGTH ||
        length > m_archive.nameBytes - m_nameEnd) {
        m_reader.fail();
        return;
    }
    std::memmove(m_names + m_nameEnd, m_names + m_lastName, common);
    std::memcpy(m_names + m_nameEnd + common, bytes, more);
    storeLe32(to + assetNameOffset, m_nameEnd);
    storeLe16(to + assetNameLength, length);
    m_lastName = m_nameEnd;
    m_nameEnd += length;
}

// Reads the members of an entry that has tiles of its own: the file offset of the tiles, their
// number, the log2 of their size, their checksum, and the entry's successor. number: the index of
// the entry `to`.
void Expander::readExtent(uint32_t number, uint8_t* to)
{
    m_extent = m_reader.numberNear(m_extent);
    storeLe64(to + assetOffset, m_extent * SLUICE_ARCHIVE_ALIGNMENT);
    storeLe32(to + assetTileCount, m_reader.number(UINT32_MAX));
    to[assetTileSizeLog2] = uint8_t(m_reader.number(SLUICE_ARCHIVE_MAX_TILE_LOG2));
    if (const uint8_t* checksum = m_reader.bytes(4))
        std::memcpy(to + assetTileChecksum, checksum, 4);
    storeLe32(successor(number), uint32_t(m_reader.numberNear(uint64_t(number) + 1)));
}

// Links the parts of each share (the small assets in its tiles) to a list, in ascending order: the
// share's entry holds the index of its first part, and each part's successor is the next part. Then
// sets each part's offset in the decoded share. Returns false if a part's share does not exist or a
// share is too large.
bool Expander::linkParts()
{
    // Go backwards and put each part in front of its share's list, so that the order is ascending.
    for (uint32_t number = m_archive.assetCount; number-- != 0;) {
        uint8_t* part = entry(number);
        if (part[assetReserved] != entryPart) continue;
        const uint32_t share = loadLe32(part + assetTileChecksum);
        if (share >= m_archive.shareCount) return false;
        uint8_t* first = entry(m_archive.assetCount + share) + assetNameOffset;
        storeLe32(successor(number), loadLe32(first));
        storeLe32(first, number);
    }
    for (uint32_t share = 0; share < m_archive.shareCount; ++share) {
        uint64_t end = 0;
        for (uint32_t at = loadLe32(entry(m_archive.assetCount + share) + assetNameOffset);
             at != kNoSuccessor; at = loadLe32(successor(at))) {
            end = alignUp(end, kPartAlignment);
            storeLe64(entry(at) + assetOffset, end);
            const uint64_t size = loadLe64(entry(at) + assetSize);
            if (size > UINT64_MAX / 2 - end) return false;
            end += size;
        }
    }
    return true;
}

bool Expander::run()
{
    for (uint32_t number = 0; number < m_entries && m_reader.isGood(); ++number) {
        uint8_t* to = entry(number);
        std::memset(to, 0, assetBytes);
        // The low two bits are an ArchiveEntryKind. The flags above them say which optional members
        // follow: a type, and the offset of a parameter block.
        const uint32_t head = m_reader.number(entryShare | kCodedType | kCodedParameters);
        const uint32_t kind = head & 3;
        if ((number < m_archive.assetCount) == (kind == entryShare)) return false;
        to[assetReserved] = uint8_t(kind);
        if (kind != entryShare) readName(to);
        storeLe64(to + assetSize, m_reader.number());
        if ((head & kCodedType) != 0) storeLe32(to + assetType, m_reader.number(UINT32_MAX));
        if ((head & kCodedParameters) != 0) m_block = m_reader.numberNear(m_block);
        storeLe32(to + assetParameterOffset,
                  (head & kCodedParameters) != 0 ? uint32_t(m_block) : kNoParameters);
        if (kind == entryPart) {
            m_share = m_reader.numberNear(m_share);
            storeLe32(to + assetTileChecksum, uint32_t(m_share));
            if (m_share >= m_archive.shareCount) return false;
            continue;
        }
        readExtent(number, to);
        if (kind == entryShare) storeLe32(to + assetNameOffset, kNoSuccessor);
    }
    const uint8_t* blocks = m_reader.bytes(m_archive.blockBytes);
    if (!m_reader.isGood() || !m_reader.isAtEnd() || m_nameEnd != m_archive.nameBytes) return false;
    if (m_archive.blockBytes != 0) std::memcpy(m_blocks, blocks, m_archive.blockBytes);
    return linkParts();
}

} // namespace

SluiceStatus sluiceUnpackArchiveIndex(const SluiceArchive* archive, const void* stored,
                                      size_t storedSize, void* index, size_t indexSize)
{
    if (archive == nullptr || (stored == nullptr && storedSize != 0) ||
        (index == nullptr && indexSize != 0))
        return SLUICE_ERROR_ARGUMENT;
    if (storedSize < archive->storedIndexSize || indexSize < archive->indexSize)
        return SLUICE_ERROR_BUFFER_SIZE;
    storedSize = size_t(archive->storedIndexSize);
    if (xxh32(stored, storedSize, 0) != archive->indexChecksum) return SLUICE_ERROR_CHECKSUM;
    uint8_t* to = static_cast<uint8_t*>(index);
    if (archive->codedIndexSize == 0) {
        if (storedSize != 0) std::memcpy(to, stored, storedSize);
        return SLUICE_OK;
    }
    uint8_t* coded = to + (archive->indexSize - archive->codedIndexSize);
    if (cpu::fast::kGstdScratchSize + cpu::fast::kGstdScratchAlignment > kIndexScratchBytes)
        return SLUICE_ERROR_OUT_OF_MEMORY;
    // The caller's buffer has room for the output at its start (table, successors, blocks and
    // names), for the coded index at its end, and for the decoder's scratch memory before the coded
    // index.
    if (!decodePieces(static_cast<const uint8_t*>(stored), storedSize, coded,
                      archive->codedIndexSize, coded - kIndexScratchBytes))
        return SLUICE_ERROR_FORMAT;
    return Expander(*archive, to).run() ? SLUICE_OK : SLUICE_ERROR_FORMAT;
}
