// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a patch as strictly as docs/format.md, 11, demands, and writes the new file. The whole list
// of operations is checked before the first byte is written.
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

// Reads the operations of a list one by one.
class ListReader {
public:
    ListReader(const Bytes& list, const PatchHeader& header) : m_list(list), m_header(header) {}

    bool atEnd() const { return m_at == m_list.size(); }
    // Returns false if the list breaks a rule.
    bool next(PatchOperation& operation);

private:
    bool number(uint64_t& value);
    bool offset(uint64_t& value);
    bool lies(uint64_t begin, uint64_t size) const
    {
        return begin <= m_header.oldSize && size <= m_header.oldSize - begin;
    }

    const Bytes& m_list;
    const PatchHeader& m_header;
    size_t m_at = 0;
    uint64_t m_oldEnd = 0;
};

// Reads a number that is stored with seven bits per byte, the lowest first. Bit 7 of a byte says
// that another byte follows. An encoding that is longer than necessary is refused.
bool ListReader::number(uint64_t& value)
{
    value = 0;
    for (uint32_t shift = 0; shift < 64 && m_at < m_list.size(); shift += 7) {
        const uint64_t byte = m_list[m_at++], bits = byte & 127;
        if (bits << shift >> shift != bits) return false;
        value |= bits << shift;
        if (byte < 128) return byte != 0 || shift == 0;
    }
    return false;
}

bool ListReader::offset(uint64_t& value)
{
    uint64_t away = 0;
    if (!number(away)) return false;
    const uint64_t distance = (away >> 1) + (away & 1);
    if ((away & 1) != 0 ? distance > m_oldEnd : distance > m_header.oldSize) return false;
    value = (away & 1) != 0 ? m_oldEnd - distance : m_oldEnd + distance;
    return value <= m_header.oldSize;
}

bool ListReader::next(PatchOperation& operation)
{
    operation = {};
    uint64_t sizeAndKind = 0, stored = 0, prefix = 0;
    if (!number(sizeAndKind)) return false;
    operation.kind = PatchKind(sizeAndKind & 3);
    operation.size = sizeAndKind >> 2;
    const bool isFrame =
        operation.kind == PatchKind::difference || operation.kind == PatchKind::sum;
    if (operation.size == 0 || (isFrame && operation.size > kPatchPieceBytes)) return false;
    if (isFrame && (!number(stored) || stored == 0 || stored >= operation.size)) return false;
    if (operation.kind != PatchKind::carry && !offset(operation.oldOffset)) return false;
    if (operation.kind == PatchKind::difference && (!number(prefix) || prefix > kPatchPrefixBytes))
        return false;
    operation.stored = uint32_t(stored);
    operation.prefix = uint32_t(prefix);
    if (operation.kind == PatchKind::difference) return lies(operation.oldOffset, prefix);
    if (operation.kind == PatchKind::carry) return true;
    if (!lies(operation.oldOffset, operation.size)) return false;
    m_oldEnd = operation.oldOffset + operation.size;
    return true;
}

// Decodes Zstandard frames, all with the same context of libzstd.
class FrameReader {
public:
    FrameReader() : m_context(ZSTD_createDCtx(), ZSTD_freeDCtx)
    {
        if (m_context == nullptr) throw std::bad_alloc();
    }
    // Decodes a frame into `bytes`. Returns false unless it decodes to exactly `size` bytes.
    // `prefix` is NULL, or the bytes before the content, from which the frame may copy.
    bool decode(const Bytes& frame, const Bytes* prefix, size_t size, Bytes& bytes)
    {
        if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != size) return false;
        bytes.resize(size);
        ZSTD_DCtx_reset(m_context.get(), ZSTD_reset_session_and_parameters);
        if (prefix != nullptr &&
            ZSTD_isError(ZSTD_DCtx_refPrefix(m_context.get(), prefix->data(), prefix->size())))
            return false;
        return ZSTD_findFrameCompressedSize(frame.data(), frame.size()) == frame.size() &&
               ZSTD_decompressDCtx(m_context.get(), bytes.data(), size, frame.data(),
                                   frame.size()) == size;
    }

private:
    std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> m_context;
};

class PatchApplier {
public:
    PatchApplier(const PatchFile& oldFile, const PatchFile& patch, const PatchWrite& write,
                 const std::function<void(uint64_t)>& progress)
        : m_old(oldFile), m_patch(patch), m_write(write), m_progress(progress)
    {
    }
    SluiceStatus run(PatchStats& stats, std::string& reason);

private:
    bool readList();
    bool checkList() const;
    bool apply(const PatchOperation& operation);
    void pass(const PatchFile& from, uint64_t offset, uint64_t size);
    void give(const Bytes& bytes)
    {
        m_checksum.add(bytes.data(), bytes.size());
        m_write(m_position, bytes.data(), bytes.size());
        m_position += bytes.size();
        m_progress(bytes.size());
    }

    const PatchFile& m_old;
    const PatchFile& m_patch;
    const PatchWrite& m_write;
    const std::function<void(uint64_t)>& m_progress;
    PatchHeader m_header = {};
    Bytes m_list, m_frame, m_prefix, m_bytes;
    FrameReader m_frames;
    WholeChecksum m_checksum;
    uint64_t m_position = 0;            // offset in the new file
    uint64_t m_data = patchHeaderBytes; // offset in the patch
};

bool PatchApplier::readList()
{
    if (m_header.listSize == 0) return true;
    Bytes stored(m_header.listStored);
    m_patch.read(m_header.listOffset, stored.data(), stored.size());
    return xxh32(stored.data(), stored.size(), 0) == m_header.listChecksum &&
           m_frames.decode(stored, nullptr, m_header.listSize, m_list);
}

// Returns whether the operations make a file of the right size and use all of the patch's data.
bool PatchApplier::checkList() const
{
    ListReader reader(m_list, m_header);
    uint64_t left = m_header.newSize, data = m_header.listOffset - patchHeaderBytes;
    uint32_t count = 0;
    for (PatchOperation operation; !reader.atEnd(); ++count) {
        if (count == m_header.operationCount || !reader.next(operation) || operation.size > left)
            return false;
        const uint64_t carried =
            operation.kind == PatchKind::carry ? operation.size : operation.stored;
        if (carried > data) return false;
        left -= operation.size;
        data -= carried;
    }
    return count == m_header.operationCount && left == 0 && data == 0;
}

void PatchApplier::pass(const PatchFile& from, uint64_t offset, uint64_t size)
{
    constexpr uint64_t piece = 1 << 20;
    for (uint64_t at = 0; at < size; at += m_bytes.size()) {
        m_bytes.resize(size_t(std::min(piece, size - at)));
        from.read(offset + at, m_bytes.data(), m_bytes.size());
        give(m_bytes);
    }
}

bool PatchApplier::apply(const PatchOperation& operation)
{
    if (operation.kind == PatchKind::copy) {
        pass(m_old, operation.oldOffset, operation.size);
        return true;
    }
    if (operation.kind == PatchKind::carry) {
        pass(m_patch, m_data, operation.size);
        m_data += operation.size;
        return true;
    }
    m_frame.resize(operation.stored);
    m_patch.read(m_data, m_frame.data(), m_frame.size());
    m_data += operation.stored;
    m_prefix.resize(operation.kind == PatchKind::sum ? operation.size : operation.prefix);
    if (!m_prefix.empty()) m_old.read(operation.oldOffset, m_prefix.data(), m_prefix.size());
    const bool isSum = operation.kind == PatchKind::sum;
    if (!m_frames.decode(m_frame, isSum ? nullptr : &m_prefix, size_t(operation.size), m_bytes))
        return false;
    for (size_t i = 0; isSum && i < m_bytes.size(); ++i)
        m_bytes[i] = uint8_t(m_bytes[i] + m_prefix[i]);
    give(m_bytes);
    return true;
}

SluiceStatus PatchApplier::run(PatchStats& stats, std::string& reason)
{
    const SluiceStatus status = readPatchHeader(m_patch, m_header, reason);
    if (status != SLUICE_OK) return status;
    uint8_t start[kPatchStartBytes];
    const size_t startSize = size_t(std::min<uint64_t>(m_old.size, sizeof start));
    m_old.read(0, start, startSize);
    if (m_old.size != m_header.oldSize || XXH3_64bits(start, startSize) != m_header.oldStart)
        return fail(SLUICE_ERROR_ARGUMENT, "the patch is for another file", reason);
    if (!readList())
        return fail(SLUICE_ERROR_CHECKSUM, "its list of operations is damaged", reason);
    if (!checkList())
        return fail(SLUICE_ERROR_FORMAT, "its list of operations breaks a rule", reason);
    ListReader reader(m_list, m_header);
    stats = {};
    stats.patchSize = m_patch.size;
    for (PatchOperation operation; !reader.atEnd() && reader.next(operation);) {
        const uint64_t at = m_data;
        if (!apply(operation))
            return fail(SLUICE_ERROR_FORMAT,
                        "the bytes from " + std::to_string(at) + " on are damaged", reason);
        (operation.kind == PatchKind::copy ? stats.copied : stats.carried) += operation.size;
        ++stats.operations;
    }
    uint8_t checksum[sizeof m_header.newChecksum];
    m_checksum.store(checksum);
    if (std::memcmp(checksum, m_header.newChecksum, sizeof checksum) != 0)
        return fail(SLUICE_ERROR_CHECKSUM,
                    "what it makes has a wrong checksum: it or the old file is damaged", reason);
    return SLUICE_OK;
}

} // namespace

SluiceStatus readPatchHeader(const PatchFile& patch, PatchHeader& header, std::string& reason)
{
    uint8_t bytes[patchHeaderBytes] = {};
    const size_t size = size_t(std::min<uint64_t>(patch.size, sizeof bytes));
    patch.read(0, bytes, size);
    if (size < sizeof kPatchMagic || std::memcmp(bytes, kPatchMagic, sizeof kPatchMagic) != 0)
        return fail(SLUICE_ERROR_FORMAT, "is no patch", reason);
    if (size < sizeof bytes) return fail(SLUICE_ERROR_FORMAT, "the file is cut off", reason);
    if (loadLe32(bytes + patchHeaderChecksum) != xxh32(bytes, patchHeaderChecksum, 0))
        return fail(SLUICE_ERROR_CHECKSUM, "its header is damaged", reason);
    header.versionMajor = uint16_t(loadLe16(bytes + patchVersionMajor));
    header.versionMinor = uint16_t(loadLe16(bytes + patchVersionMinor));
    if (header.versionMajor > kPatchVersionMajor)
        return fail(SLUICE_ERROR_VERSION, "is a patch of a newer version", reason);
    header.operationCount = loadLe32(bytes + patchOperationCount);
    header.oldSize = loadLe64(bytes + patchOldSize);
    header.newSize = loadLe64(bytes + patchNewSize);
    header.oldStart = loadLe64(bytes + patchOldStart);
    std::memcpy(header.newChecksum, bytes + patchNewChecksum, sizeof header.newChecksum);
    header.listOffset = loadLe64(bytes + patchListOffset);
    header.listStored = loadLe32(bytes + patchListStored);
    header.listSize = loadLe32(bytes + patchListSize);
    header.listChecksum = loadLe32(bytes + patchListChecksum);
    bool isReserved = false;
    for (uint32_t at = patchReserved; at < patchHeaderChecksum; ++at)
        isReserved = isReserved || bytes[at] != 0;
    const bool isEmpty = header.listSize == 0;
    if (header.versionMajor != kPatchVersionMajor ||
        (isReserved && header.versionMinor <= kPatchVersionMinor) ||
        header.listOffset < patchHeaderBytes || header.listOffset > patch.size ||
        header.listStored != patch.size - header.listOffset ||
        header.listSize > kPatchMaxListBytes || header.listStored > kPatchMaxListBytes ||
        isEmpty != (header.operationCount == 0) || isEmpty != (header.listStored == 0) ||
        isEmpty != (header.newSize == 0))
        return fail(SLUICE_ERROR_FORMAT, "its header breaks a rule", reason);
    return SLUICE_OK;
}

SluiceStatus applyPatch(const PatchFile& oldFile, const PatchFile& patch, const PatchWrite& write,
                        const std::function<void(uint64_t)>& progress, PatchStats& stats,
                        std::string& reason)
{
    return withoutExceptions([&] {
        PatchApplier applier(oldFile, patch, write, progress);
        return applier.run(stats, reason);
    });
}

} // namespace sluice
