// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/zstd/zstd_file.h"

#include <algorithm>
#include <filesystem>

#include "formats/little_endian.h"

namespace sluice {
namespace {

using cpu::fast::ZstdFrames;

constexpr uint64_t kSkippableHeader = 8, kFooter = zstd::kTableFooterBytes;

// Compares the entries of a seek table with the frames that the file has. The format does not say
// whether skippable frames have entries, so either is accepted.
class TableCheck {
public:
    TableCheck(const InputFile& file, const ZstdSeekTable& table) : m_file(file), m_table(table) {}

    void add(const ZstdFrame& frame)
    {
        if (!m_table.exists()) return;
        if (frame.offset + kSkippableHeader == m_table.offset) {
            m_isFrame = frame.isSkippable && frame.magic == zstd::kTableMagic;
            return;
        }
        compare(frame, m_all);
        if (!frame.isSkippable) compare(frame, m_data);
    }
    void end(ZstdSeekTable& table) const
    {
        if (!m_isFrame) { // the content of another frame looks like a table
            table = {};
            return;
        }
        const bool all = m_all.fits && m_all.entry == m_table.entries,
                   data = m_data.fits && m_data.entry == m_table.entries;
        table.fits = all || data;
        table.skipsSkippable = !all;
    }

private:
    // Reads the entries in order. Two cursors read them, one as if skippable frames had entries
    // (m_all) and one as if they had none (m_data). One cursor may get far ahead of the other, so
    // each holds bytes of its own.
    struct Cursor {
        uint64_t entry = 0, first = 0; // `held` has entries from `first` on
        bool fits = true;
        Bytes held;
    };

    void compare(const ZstdFrame& frame, Cursor& cursor) const
    {
        if (!cursor.fits) return;
        const uint64_t entry = cursor.entry++, width = m_table.entrySize;
        cursor.fits = entry < m_table.entries;
        if (!cursor.fits) return;
        if (entry - cursor.first >= cursor.held.size() / width) {
            constexpr uint64_t kHeld = 8192;
            cursor.first = entry;
            cursor.held.resize(size_t(std::min(kHeld, m_table.entries - entry) * width));
            m_file.read(m_table.offset + entry * width, cursor.held.data(), cursor.held.size());
        }
        const uint8_t* at = cursor.held.data() + (entry - cursor.first) * width;
        const uint64_t size = frame.isSkippable ? 0 : frame.size;
        cursor.fits =
            loadLe32(at) == frame.storedSize && (size == kZstdUnknown || loadLe32(at + 4) == size);
    }

    const InputFile& m_file;
    const ZstdSeekTable m_table;
    bool m_isFrame = false; // a frame with the table's magic number begins at the table
    Cursor m_all, m_data;
};

bool isBefore(const ZstdDamage& a, const ZstdDamage& b) { return a.frame < b.frame; }

} // namespace

ZstdDictionary::ZstdDictionary(const std::string& path)
    : m_path(path), m_dictionary(std::make_unique<zstd::Dictionary>())
{
    if (path.empty()) return;
    m_bytes = InputFile(path).readAll();
    const uint32_t status = zstd::readDictionary(m_bytes.data(), m_bytes.size(), *m_dictionary);
    if (status != SLUICE_TILE_OK)
        throw Failure{exitFormat,
                      path + ": damaged dictionary: " + sluiceGetTileStatusText(status)};
}

std::string zstdContentName(const std::string& path)
{
    const std::pair<const char*, const char*> suffixes[] = {
        {".zst", ""}, {".zstd", ""}, {".tzst", ".tar"}};
    const std::filesystem::path whole = std::filesystem::u8path(path);
    const std::string suffix = lower(whole.extension().u8string());
    for (const auto& [from, to] : suffixes)
        if (suffix == from) return (whole.parent_path() / whole.stem()).generic_u8string() + to;
    return "";
}

bool ZstdFile::recognises(const InputFile& file)
{
    const Bytes start = file.readStart(4);
    if (start.size() < 4) return false;
    const uint32_t magic = loadLe32(start.data());
    return magic == SLUICE_ZS_MAGIC || (magic & ~15u) == SLUICE_ZS_SKIPPABLE_MAGIC;
}

ZstdFile::ZstdFile(std::unique_ptr<InputFile> file, const ZstdDictionary* dictionary)
    : m_file(std::move(file)), m_dictionary(dictionary)
{
    findSeekTable();
}

void ZstdFile::findSeekTable()
{
    const uint64_t size = m_file->size();
    uint8_t bytes[kFooter];
    if (size < kSkippableHeader + kFooter) return;
    m_file->read(size - kFooter, bytes, kFooter);
    const uint32_t descriptor = bytes[4];
    if (loadLe32(bytes + 5) != zstd::kTableFooterMagic || (descriptor & 0x7c) != 0) return;
    ZstdSeekTable table;
    table.entries = loadLe32(bytes);
    table.entrySize = (descriptor & 0x80) != 0 ? 12 : 8;
    const uint64_t tableSize = table.entries * table.entrySize + kFooter;
    if (tableSize > size - kSkippableHeader) return;
    table.offset = size - tableSize;
    uint8_t header[kSkippableHeader];
    m_file->read(table.offset - kSkippableHeader, header, kSkippableHeader);
    if (loadLe32(header) == zstd::kTableMagic && loadLe32(header + 4) == tableSize) m_table = table;
}

ZstdFrames ZstdFile::reader(uint64_t begin, uint64_t end) const
{
    return {
        [this](uint64_t offset, void* bytes, size_t size) { m_file->read(offset, bytes, size); },
        begin, end, m_dictionary != nullptr ? &m_dictionary->get().info : nullptr};
}

uint32_t ZstdFile::tableWord(uint64_t entry, uint32_t offset) const
{
    uint8_t bytes[4];
    m_file->read(m_table.offset + entry * m_table.entrySize + offset, bytes, sizeof bytes);
    return loadLe32(bytes);
}

void ZstdFile::scan(uint64_t most, const std::function<void(const ZstdFrame&)>& call,
                    const std::function<void(const ZstdDamage&)>& damaged)
{
    const zstd::Dictionary none;
    cpu::fast::ZstdCounter counter(m_dictionary != nullptr ? m_dictionary->get() : none,
                                   m_dictionary != nullptr);
    ZstdFrames frames = reader(0, m_file->size());
    TableCheck check(*m_file, m_table);
    uint64_t total = 0, number = 0;
    m_frames = m_allFrames = 0;
    const auto report = [&](const ZstdDamage& damage) {
        if (!damaged) throw Failure{damage.exitCode(), text(damage)};
        damaged(damage);
    };
    for (;; ++number) {
        const ZstdFrames::Kind kind = frames.next();
        if (kind == ZstdFrames::Kind::end) break;
        ZstdFrame frame = {};
        frame.number = number;
        frame.offset = frames.offset();
        frame.magic = frames.magic();
        frame.isSkippable = kind == ZstdFrames::Kind::skippable;
        ++m_allFrames;
        if (kind == ZstdFrames::Kind::damaged) {
            report({number, frame.offset, 0, frame.offset, frames.status(), frames.isCutOff()});
            return; // nobody knows where the next frame begins
        }
        bool isGood = true;
        if (frame.isSkippable) {
            frame.storedSize = frames.position() - frame.offset + frames.skippableSize();
        } else {
            ++m_frames;
            frame.header = frames.header();
            isGood = kind == ZstdFrames::Kind::frame;
            if (!isGood) {
                report({number, frame.offset, 0, frame.offset, SLUICE_TILE_UNSUPPORTED});
            } else if (const uint32_t status = counter.count(frames, most - total);
                       status != SLUICE_TILE_OK) {
                isGood = false;
                report({number, frame.offset, counter.allBlocks(), counter.blockOffset(), status,
                        frames.isCutOff()});
            }
            if (!isGood) {
                zstd::Block block;
                while (frames.nextBlock(block)) {
                }
                if (frames.status() != SLUICE_TILE_OK) return;
            }
            std::copy_n(counter.blocks(), 3, frame.blocks);
            frame.storedSize = frames.position() - frame.offset;
            frame.size = counter.size();
            if (isGood && frame.size != kZstdUnknown) {
                if (frame.size > most - total)
                    throw Failure{exitFormat,
                                  m_file->name() + formatText(": decodes to more than %llu bytes, "
                                                              "which is the limit; --max-output "
                                                              "sets another",
                                                              wide(most))};
                total += frame.size;
            }
        }
        if (!isGood) frame.size = kZstdUnknown;
        check.add(frame);
        if (isGood) call(frame);
    }
    if (m_table.exists()) check.end(m_table);
}

int ZstdDamage::exitCode() const
{
    return status == SLUICE_TILE_UNSUPPORTED ? exitUnsupported : exitFormat;
}

void ZstdDamages::add(const ZstdDamage& damage)
{
    ++m_count;
    m_firstFrame = std::min(m_firstFrame, damage.frame);
    if (m_exitCode != exitFormat) m_exitCode = damage.exitCode();
    m_kept.push_back(damage);
    std::push_heap(m_kept.begin(), m_kept.end(), isBefore);
    if (m_kept.size() <= kMostKept) return;
    std::pop_heap(m_kept.begin(), m_kept.end(), isBefore);
    m_kept.pop_back();
}

std::vector<ZstdDamage> ZstdDamages::first() const
{
    std::vector<ZstdDamage> damages = m_kept;
    std::sort_heap(damages.begin(), damages.end(), isBefore);
    return damages;
}

// Returns whether the bytes from `offset` on begin as a frame or a skippable frame does, as far as
// the file goes.
bool ZstdFile::mayBeginAt(uint64_t offset) const
{
    const auto matches = [&](uint32_t magic, uint32_t free) {
        uint8_t bytes[4]; // those that are cut off count as right
        storeLe32(bytes, magic);
        m_file->read(offset, bytes, size_t(std::min<uint64_t>(4, m_file->size() - offset)));
        return ((loadLe32(bytes) ^ magic) & ~free) == 0;
    };
    return matches(SLUICE_ZS_MAGIC, 0) || matches(SLUICE_ZS_SKIPPABLE_MAGIC, 15);
}

std::string ZstdFile::text(const ZstdDamage& damage) const
{
    std::string place = m_file->name() + formatText(": frame %llu at byte %llu", wide(damage.frame),
                                                    wide(damage.offset));
    if (damage.window != 0)
        return place + formatText(" needs a window of %llu bytes, and the limit is %llu; "
                                  "--max-window sets another",
                                  wide(damage.window), wide(damage.maxWindow));
    if (damage.status == SLUICE_TILE_UNSUPPORTED) {
        ZstdFrames frames([this](uint64_t offset, void* bytes,
                                 size_t size) { m_file->read(offset, bytes, size); },
                          damage.offset,
                          std::min(m_file->size(), damage.offset + zstd::kMostHeaderBytes),
                          nullptr);
        frames.next();
        place += formatText(" needs the dictionary %u", frames.header().dictionaryId);
        return m_dictionary->isGiven()
                   ? place + formatText(", and %s has %u", m_dictionary->path().c_str(),
                                        m_dictionary->get().info.id)
                   : place + "; --dictionary gives it";
    }
    if (damage.blockOffset == damage.offset && !mayBeginAt(damage.offset))
        return place + ": no frame begins there";
    if (damage.isCutOff) return place + ": the file is cut off";
    if (damage.blockOffset != damage.offset)
        place +=
            formatText(", block %llu at byte %llu", wide(damage.block), wide(damage.blockOffset));
    switch (damage.status) { // sluiceGetTileStatusText speaks of tiles, not of frames
    case SLUICE_TILE_LIMIT: return place + ": a block is larger than the frame allows";
    case SLUICE_TILE_BAD_OFFSET:
        return place + ": a match reaches before the window, the frame or the dictionary";
    default: return place + ": " + sluiceGetTileStatusText(damage.status);
    }
}

} // namespace sluice
