// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/archive/archive_index.h"

#include <sluice/sluice_encode.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string_view>

#include "formats/archive_layout.h"

namespace sluice {
namespace {

constexpr SluiceGstdEncoderInfo kEncoder = {12, 0};
// The index is cut into pieces by its contents: a piece ends when it has kLeastPiece bytes and the
// hash of its last name is a multiple of kEndingNames. So changed entries change only the pieces
// that hold them, and a patch carries only those pieces.
constexpr uint32_t kEndingNames = 256, kLeastPiece = 4096;

class Coder {
public:
    Coder(const std::vector<uint8_t>& entries, const std::string& names)
        : m_table(entries), m_names(names)
    {
    }

    void addEntry(uint32_t entry, uint32_t place, uint64_t share, uint64_t next);
    // Returns whether a piece of `size` bytes may end after the entry that was added last.
    bool endsPiece(size_t size) const
    {
        return size >= kLeastPiece && xxh32(m_name.data(), m_name.size(), 0) % kEndingNames == 0;
    }
    void addBytes(const void* bytes, size_t size)
    {
        const uint8_t* from = static_cast<const uint8_t*>(bytes);
        m_coded.insert(m_coded.end(), from, from + size);
    }
    const std::vector<uint8_t>& coded() const { return m_coded; }

private:
    void add(uint64_t value)
    {
        for (; value >= 128; value >>= 7)
            m_coded.push_back(uint8_t(value | 128));
        m_coded.push_back(uint8_t(value));
    }
    // Adds `value` minus `from` in zigzag form: twice the absolute value of the difference, less 1
    // if the difference is negative.
    void addNear(uint64_t value, uint64_t from)
    {
        const uint64_t difference = value - from;
        add(difference << 1 ^ (0 - (difference >> 63)));
    }
    void addName(std::string_view name);

    const std::vector<uint8_t>& m_table;
    const std::string& m_names;
    std::vector<uint8_t> m_coded;
    std::string_view m_name;
    uint64_t m_extent = 0, m_block = 0, m_share = 0;
};

void Coder::addName(std::string_view name)
{
    size_t common = 0;
    while (common < std::min(name.size(), m_name.size()) && name[common] == m_name[common])
        ++common;
    add(common);
    add(name.size() - common);
    addBytes(name.data() + common, name.size() - common);
    m_name = name;
}

// Adds the entry m_table[number]. place: the entry's index in the archive; share: for a part of a
// share, the index of that share; next: the index of the entry whose tiles come next in the file.
void Coder::addEntry(uint32_t number, uint32_t place, uint64_t share, uint64_t next)
{
    const uint8_t* entry = &m_table[size_t(number) * assetBytes];
    const uint32_t kind = entry[assetReserved], type = loadLe32(entry + assetType);
    const uint32_t parameters = loadLe32(entry + assetParameterOffset);
    add(kind | (type != 0 ? kCodedType : 0) | (parameters != kNoParameters ? kCodedParameters : 0));
    if (kind != entryShare)
        addName(std::string_view(m_names).substr(loadLe32(entry + assetNameOffset),
                                                 loadLe16(entry + assetNameLength)));
    add(loadLe64(entry + assetSize));
    if (type != 0) add(type);
    if (parameters != kNoParameters) {
        addNear(parameters, m_block);
        m_block = parameters;
    }
    if (kind == entryPart) {
        addNear(share, m_share);
        m_share = share;
        return;
    }
    const uint64_t extent = loadLe64(entry + assetOffset) / SLUICE_ARCHIVE_ALIGNMENT;
    addNear(extent, m_extent);
    m_extent = extent;
    add(loadLe32(entry + assetTileCount));
    add(entry[assetTileSizeLog2]);
    addBytes(entry + assetTileChecksum, 4);
    addNear(next, uint64_t(place) + 1);
}

// Appends a piece in compressed form, or plain if compression gains nothing. A reader refuses a
// piece that expands by more than kMaxIndexRatio, so a piece that compresses better is padded with
// zeros, which the decoder ignores.
void packPiece(SluiceGstdEncoder encoder, const uint8_t* bytes, size_t size,
               std::vector<uint8_t>& packed)
{
    std::vector<uint8_t> tile(sluiceGstdTileBound(size));
    size_t taken = 0;
    if (sluiceEncodeGstdTile(encoder, bytes, size, tile.data(), tile.size(), &taken) != SLUICE_OK)
        throw std::bad_alloc(); // the only possible error
    tile.resize(taken);
    tile.resize(std::max(taken, size_t(divideUp<size_t>(size, kMaxIndexRatio))));
    if (tile.size() >= size) tile.assign(bytes, bytes + size);
    const size_t at = packed.size();
    packed.resize(at + kIndexPieceHead);
    storeLe32(&packed[at], uint32_t(tile.size()));
    storeLe32(&packed[at + 4], uint32_t(size));
    packed.insert(packed.end(), tile.begin(), tile.end());
}

} // namespace

std::vector<uint8_t> packArchiveIndex(const std::vector<uint8_t>& entries, const std::string& names,
                                      const std::vector<uint8_t>& blocks,
                                      const std::vector<uint32_t>& order, uint32_t& codedSize)
{
    const uint32_t count = uint32_t(entries.size() / assetBytes), assets = uint32_t(order.size());
    const auto kindOf = [&](uint32_t number) {
        return entries[size_t(number) * assetBytes + assetReserved];
    };
    std::vector<uint32_t> all = order, place(count), next(count, kNoSuccessor);
    for (uint32_t i = 0; i < count; ++i)
        if (kindOf(i) == entryShare) all.push_back(i);
    for (uint32_t i = 0; i < count; ++i)
        place[all[i]] = i;
    for (uint32_t i = count, last = kNoSuccessor; i-- != 0;) {
        if (kindOf(i) == entryPart) continue;
        next[i] = last;
        last = place[i];
    }
    Coder coder(entries, names);
    std::vector<size_t> ends = {0};
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t number = all[i];
        const bool isPart = kindOf(number) == entryPart;
        const uint32_t share = loadLe32(&entries[size_t(number) * assetBytes + assetTileChecksum]);
        coder.addEntry(number, i, isPart ? place[share] - assets : 0, next[number]);
        if (coder.endsPiece(coder.coded().size() - ends.back()))
            ends.push_back(coder.coded().size());
    }
    coder.addBytes(blocks.data(), blocks.size());
    codedSize = uint32_t(coder.coded().size());
    ends.push_back(codedSize);

    SluiceGstdEncoder created = nullptr;
    if (sluiceCreateGstdEncoder(&kEncoder, &created) != SLUICE_OK) throw std::bad_alloc();
    const std::unique_ptr<SluiceGstdEncoder_T, decltype(&sluiceDestroyGstdEncoder)> encoder(
        created, sluiceDestroyGstdEncoder);
    std::vector<uint8_t> packed;
    for (size_t i = 1; i < ends.size(); ++i)
        for (size_t at = ends[i - 1]; at < ends[i]; at += kIndexPieceBytes)
            packPiece(created, coder.coded().data() + at,
                      std::min<size_t>(kIndexPieceBytes, ends[i] - at), packed);
    return packed;
}

} // namespace sluice
