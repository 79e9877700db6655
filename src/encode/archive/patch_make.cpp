// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes a patch. Parts of the new file that the old file has too are copied. Tables are stored as
// byte-wise differences from the old tables. All other bytes are carried: they are compressed, with
// the similar bytes of the old file as zstd's prefix.
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <new>

#include "formats/errors.h"
#include "formats/xxh32.h"
#include "encode/archive/patch.h"
#include "encode/archive/patch_layout.h"

namespace sluice {
namespace {

using Bytes = std::vector<uint8_t>;

// A part of the old file, with the hash by which it is found.
struct KnownPart {
    uint64_t hash, offset;
    uint32_t size;

    bool operator<(const KnownPart& other) const
    {
        if (hash != other.hash) return hash < other.hash;
        if (size != other.size) return size < other.size;
        return offset < other.offset;
    }
};

// zstd indexes the whole prefix (the old bytes that a frame refers to) for each frame, at 6 MB/s on
// level 19 and 40 MB/s on level 12, however few bytes the frame has. A file in which known and new
// bytes alternate needs many prefixes, so their total size is limited. At the requested level
// prefixes may have kSlowBytes plus twice the size of the new file, then at kQuickLevel kQuickBytes
// plus four times that size. After that no prefix is used.
constexpr uint64_t kSlowBytes = 16u << 20, kQuickBytes = 64u << 20;
constexpr int kQuickLevel = 12;

class Compressor {
public:
    Compressor() : m_context(ZSTD_createCCtx(), ZSTD_freeCCtx)
    {
        if (m_context == nullptr) throw std::bad_alloc();
    }

    // Returns a frame, or nothing if the frame would not be smaller than the bytes.
    const Bytes& compress(const Bytes& bytes, const Bytes& prefix, int level)
    {
        constexpr uint32_t least = 10; // the smallest windowLog that zstd accepts
        const uint32_t window = floorLog2(uint32_t(bytes.size() + prefix.size())) + 1;
        ZSTD_CCtx_reset(m_context.get(), ZSTD_reset_session_and_parameters);
        ZSTD_CCtx_setParameter(m_context.get(), ZSTD_c_compressionLevel, level);
        ZSTD_CCtx_setParameter(m_context.get(), ZSTD_c_windowLog, int(std::max(window, least)));
        // With a prefix, also search for long matches: data that hardly compresses has no other
        // matches.
        ZSTD_CCtx_setParameter(m_context.get(), ZSTD_c_enableLongDistanceMatching,
                               prefix.empty() ? 0 : 1);
        if (!prefix.empty()) ZSTD_CCtx_refPrefix(m_context.get(), prefix.data(), prefix.size());
        m_frame.resize(ZSTD_compressBound(bytes.size()));
        const size_t size = ZSTD_compress2(m_context.get(), m_frame.data(), m_frame.size(),
                                           bytes.data(), bytes.size());
        if (ZSTD_isError(size)) throw std::bad_alloc(); // the only possible error
        m_frame.resize(size < bytes.size() ? size : 0);
        return m_frame;
    }

private:
    std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> m_context;
    Bytes m_frame;
};

class PatchMaker {
public:
    PatchMaker(const PatchFile& oldFile, const PatchFile& newFile, int level,
               const PatchWrite& write, PatchStats& stats)
        : m_old(oldFile), m_new(newFile), m_write(write), m_stats(stats), m_level(level),
          m_slowLeft(kSlowBytes + 2 * newFile.size), m_quickLeft(kQuickBytes + 4 * newFile.size)
    {
    }

    SluiceStatus run(const std::vector<PatchPart>& oldParts, const std::vector<PatchPart>& newParts,
                     const std::function<void(uint64_t)>& progress);

private:
    void learn(const std::vector<PatchPart>& parts);
    bool copyKnown(const PatchPart& part);
    bool addTable(const PatchPart& part);
    void pend(const PatchPart& part);
    void flushPending();
    void addOperation(const PatchOperation& operation);
    void flushOperation();
    void writeData(const Bytes& bytes)
    {
        m_write(m_position, bytes.data(), bytes.size());
        m_position += bytes.size();
    }
    void putNumber(uint64_t value);
    void putOffset(uint64_t oldOffset);
    void finish();

    const PatchFile& m_old;
    const PatchFile& m_new;
    const PatchWrite& m_write;
    PatchStats& m_stats;
    int m_level;
    uint64_t m_slowLeft, m_quickLeft; // prefix bytes that each level may still use
    Compressor m_compressor;
    std::vector<KnownPart> m_known;
    WholeChecksum m_checksum;
    uint64_t m_position = patchHeaderBytes; // offset in the patch
    uint64_t m_oldEnd = 0;                  // the end of the last copy or sum in the old file
    Bytes m_list;
    PatchOperation m_last = {};      // the last operation, not in m_list yet; size 0: none
    Bytes m_part, m_other, m_prefix; // the current part; the old bytes compared with it; a prefix
    Bytes m_pending;                 // bytes that are nowhere in the old file
    uint64_t m_likeOffset = 0, m_likeSize = 0; // similar range of the old file
    // Offsets in the new file. m_pending begins at m_pendingFrom. The byte at m_likeFrom
    // corresponds to the byte at m_likeOffset of the old file.
    uint64_t m_pendingFrom = 0, m_likeFrom = 0;
};

void PatchMaker::learn(const std::vector<PatchPart>& parts)
{
    m_known.reserve(parts.size());
    for (const PatchPart& part : parts) {
        m_part.resize(part.size);
        m_old.read(part.offset, m_part.data(), m_part.size());
        m_known.push_back({XXH3_64bits(m_part.data(), m_part.size()), part.offset, part.size});
    }
    std::sort(m_known.begin(), m_known.end());
}

void PatchMaker::putNumber(uint64_t value)
{
    for (; value >= 128; value >>= 7)
        m_list.push_back(uint8_t(value | 128));
    m_list.push_back(uint8_t(value));
}

// Stores an offset in the old file as its signed distance from the end of the range that the last
// copy or sum took from that file.
void PatchMaker::putOffset(uint64_t oldOffset)
{
    const uint64_t forward = oldOffset - m_oldEnd, back = m_oldEnd - oldOffset;
    putNumber(oldOffset >= m_oldEnd ? forward << 1 : (back << 1) - 1);
}

void PatchMaker::flushOperation()
{
    const PatchOperation& last = m_last;
    if (last.size == 0) return;
    putNumber(last.size << 2 | uint64_t(last.kind));
    if (last.kind == PatchKind::difference || last.kind == PatchKind::sum) putNumber(last.stored);
    if (last.kind != PatchKind::carry) putOffset(last.oldOffset);
    if (last.kind == PatchKind::difference) putNumber(last.prefix);
    if (last.kind == PatchKind::copy || last.kind == PatchKind::sum)
        m_oldEnd = last.oldOffset + last.size;
    ++m_stats.operations;
    m_last.size = 0;
}

void PatchMaker::addOperation(const PatchOperation& operation)
{
    const bool joins = m_last.size != 0 && m_last.kind == operation.kind &&
                       (operation.kind == PatchKind::carry ||
                        (operation.kind == PatchKind::copy &&
                         m_last.oldOffset + m_last.size == operation.oldOffset));
    if (joins) {
        m_last.size += operation.size;
    } else {
        flushOperation();
        m_last = operation;
    }
    (operation.kind == PatchKind::copy ? m_stats.copied : m_stats.carried) += operation.size;
}

// Copies a part from the old file if that file has the same bytes. m_part holds the part's bytes.
bool PatchMaker::copyKnown(const PatchPart& part)
{
    // Prefer a copy that continues the last copy, because the two then become one operation.
    const uint64_t goesOn = m_last.size != 0 && m_last.kind == PatchKind::copy
                                ? m_last.oldOffset + m_last.size
                                : m_oldEnd;
    KnownPart wanted = {XXH3_64bits(m_part.data(), m_part.size()), goesOn, part.size};
    auto found = std::lower_bound(m_known.begin(), m_known.end(), wanted);
    const auto fits = [&] {
        return found != m_known.end() && found->hash == wanted.hash && found->size == wanted.size;
    };
    if (!fits() || found->offset != goesOn) {
        wanted.offset = 0;
        found = std::lower_bound(m_known.begin(), m_known.end(), wanted);
    }
    if (!fits()) return false;
    m_other.resize(part.size);
    m_old.read(found->offset, m_other.data(), m_other.size());
    if (m_other != m_part) return false; // different bytes with the same hash
    flushPending();
    addOperation({PatchKind::copy, part.size, found->offset, 0, 0});
    return true;
}

bool PatchMaker::addTable(const PatchPart& part)
{
    m_other.resize(part.size);
    m_old.read(part.likeOffset, m_other.data(), m_other.size());
    for (size_t i = 0; i < m_other.size(); ++i)
        m_other[i] = uint8_t(m_part[i] - m_other[i]);
    flushPending();
    const Bytes& frame = m_compressor.compress(m_other, {}, m_level);
    if (frame.empty()) return false;
    writeData(frame);
    addOperation({PatchKind::sum, part.size, part.likeOffset, uint32_t(frame.size()), 0});
    flushOperation();
    return true;
}

void PatchMaker::pend(const PatchPart& part)
{
    const bool isAlike = part.likeOffset == m_likeOffset && part.likeSize == m_likeSize;
    if (!m_pending.empty() && (!isAlike || m_pending.size() + part.size > kPatchPieceBytes))
        flushPending();
    if (!isAlike) m_likeFrom = part.offset;
    if (m_pending.empty()) m_pendingFrom = part.offset;
    m_likeOffset = part.likeOffset;
    m_likeSize = part.likeSize;
    m_pending.insert(m_pending.end(), m_part.begin(), m_part.end());
}

void PatchMaker::flushPending()
{
    if (m_pending.empty()) return;
    // The prefix is the old range similar to the pending bytes. If it is too long, use a piece of
    // it, centred if possible on the byte that corresponds to the first pending byte.
    uint64_t from = m_likeOffset, size = m_likeSize;
    const bool isQuick = std::min<uint64_t>(size, kPatchPrefixBytes) > m_slowLeft;
    uint64_t& left = isQuick ? m_quickLeft : m_slowLeft;
    const uint64_t most = std::min<uint64_t>(kPatchPrefixBytes, left);
    if (size > most) {
        const uint64_t ahead = std::min(m_pendingFrom - m_likeFrom, size);
        from += std::min(ahead - std::min<uint64_t>(ahead, most / 2), size - most);
        size = most;
    }
    left -= size;
    m_prefix.resize(size_t(size));
    if (size != 0) m_old.read(from, m_prefix.data(), m_prefix.size());
    const Bytes& frame =
        m_compressor.compress(m_pending, m_prefix, isQuick ? kQuickLevel : m_level);
    if (frame.empty()) {
        writeData(m_pending);
        addOperation({PatchKind::carry, m_pending.size(), 0, 0, 0});
    } else {
        writeData(frame);
        addOperation({PatchKind::difference, m_pending.size(), from, uint32_t(frame.size()),
                      uint32_t(size)});
        flushOperation();
    }
    m_pending.clear();
}

SluiceStatus PatchMaker::run(const std::vector<PatchPart>& oldParts,
                             const std::vector<PatchPart>& newParts,
                             const std::function<void(uint64_t)>& progress)
{
    learn(oldParts);
    for (const PatchPart& part : newParts) {
        m_part.resize(part.size);
        m_new.read(part.offset, m_part.data(), m_part.size());
        m_checksum.add(m_part.data(), m_part.size());
        const bool isDone =
            copyKnown(part) || (part.isTable && part.likeSize == part.size && addTable(part));
        if (!isDone) pend(part);
        if (m_list.size() > kPatchMaxListBytes) return SLUICE_ERROR_UNSUPPORTED;
        progress(part.size);
    }
    flushPending();
    flushOperation();
    if (m_list.size() > kPatchMaxListBytes) return SLUICE_ERROR_UNSUPPORTED;
    finish();
    return SLUICE_OK;
}

void PatchMaker::finish()
{
    Bytes list(m_list.empty() ? 0 : ZSTD_compressBound(m_list.size()));
    if (!list.empty()) {
        constexpr int level = 19;
        const size_t size =
            ZSTD_compress(list.data(), list.size(), m_list.data(), m_list.size(), level);
        if (ZSTD_isError(size)) throw std::bad_alloc();
        list.resize(size); // stays below kPatchMaxListBytes, since compression makes it smaller
    }
    uint8_t start[kPatchStartBytes];
    const size_t startSize = size_t(std::min<uint64_t>(m_old.size, sizeof start));
    m_old.read(0, start, startSize);
    uint8_t header[patchHeaderBytes] = {};
    std::memcpy(header + patchMagic, kPatchMagic, sizeof kPatchMagic);
    storeLe16(header + patchVersionMajor, kPatchVersionMajor);
    storeLe16(header + patchVersionMinor, kPatchVersionMinor);
    storeLe32(header + patchOperationCount, m_stats.operations);
    storeLe64(header + patchOldSize, m_old.size);
    storeLe64(header + patchNewSize, m_new.size);
    storeLe64(header + patchOldStart, XXH3_64bits(start, startSize));
    m_checksum.store(header + patchNewChecksum);
    storeLe64(header + patchListOffset, m_position);
    storeLe32(header + patchListStored, uint32_t(list.size()));
    storeLe32(header + patchListSize, uint32_t(m_list.size()));
    storeLe32(header + patchListChecksum, xxh32(list.data(), list.size(), 0));
    storeLe32(header + patchHeaderChecksum, xxh32(header, patchHeaderChecksum, 0));
    writeData(list);
    m_write(0, header, sizeof header);
    m_stats.patchSize = m_position;
}

} // namespace

SluiceStatus makePatch(const PatchFile& oldFile, const std::vector<PatchPart>& oldParts,
                       const PatchFile& newFile, const std::vector<PatchPart>& newParts, int level,
                       const PatchWrite& write, const std::function<void(uint64_t)>& progress,
                       PatchStats& stats)
{
    return withoutExceptions([&] {
        stats = {};
        PatchMaker maker(oldFile, newFile, level, write, stats);
        return maker.run(oldParts, newParts, progress);
    });
}

} // namespace sluice
