// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes .sluice archives: assets in order of their names, tiles in order, so that the bytes depend
// on nothing else.
//
// Tiles are read ahead into the pool, across assets; whatever is the oldest is written next. An
// asset's place in the file is therefore known only when its first tile is written.
#include <sluice/sluice_archive.h>
#include <sluice/sluice_filter.h>
#include <sluice/sluice_float.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <system_error>

#include "../formats/archive_layout.h"
#include "tile_pool.h"

namespace sluice {
namespace {

constexpr uint64_t maxAssetSize = uint64_t(UINT32_MAX) * 65536;
// of all assets, a shared block counted for each
constexpr uint64_t maxParameterBytes = uint64_t(1) << 28;
// records kept before they are written
constexpr size_t recordBatchBytes = 4096 * size_t(recordBytes);

SluiceArchiveSegment defaultSegment(const SluiceArchiveWriterInfo& info, uint64_t size)
{
    const uint32_t tileSize = info.codec == SLUICE_CODEC_FLOAT ? 1u << SLUICE_ARCHIVE_MAX_TILE_LOG2
                              : info.codec == SLUICE_CODEC_GSTD
                                  ? (info.tileSize != 0 ? info.tileSize : 262144)
                                  : 65536;
    return {size, info.codec,         tileSize,       info.level, info.decodeSpeed,
            0,    SLUICE_FLOAT_BYTES, info.copyDepth, 0};
}

// An asset's segments, the caller's or a single one of ours.
struct Segments {
    const SluiceArchiveSegment* given;
    uint32_t count;
    SluiceArchiveSegment single;

    const SluiceArchiveSegment& operator[](uint32_t i) const
    {
        return given != nullptr ? given[i] : single;
    }
};

class ArchiveWriter {
public:
    explicit ArchiveWriter(const SluiceArchiveWriterInfo& info) : info_(info) {}

    void start() { pool_.start(info_.threadCount); }
    bool accepts(const SluiceArchiveAssetInfo& info) const;
    SluiceStatus add(const SluiceArchiveAssetInfo& info);
    SluiceStatus finish(SluiceArchiveStats* stats);

    SluiceStatus failure = SLUICE_OK; // the first one; final
    bool finished = false;

private:
    uint8_t* entry(uint32_t asset) { return entries_.data() + size_t(asset) * assetBytes; }
    SluiceStatus write(uint64_t offset, const void* bytes, size_t size)
    {
        return info_.write(info_.writeUser, offset, bytes, size);
    }
    Segments segmentsOf(const SluiceArchiveAssetInfo& info) const;
    bool acceptsSegments(const SluiceArchiveAssetInfo& info) const;
    bool acceptsParameters(const SluiceArchiveAssetInfo& info) const;
    uint32_t addParameters(const SluiceArchiveAssetInfo& info);
    void dropParameters();
    SluiceStatus addTile(const SluiceArchiveAssetInfo& info, const SluiceArchiveSegment& segment,
                         uint64_t position, uint64_t left);
    SluiceStatus writeOldest();
    SluiceStatus writeTile(TilePool::Tile& tile);
    SluiceStatus flushRecords();
    void placeAssets(uint32_t end);

    SluiceArchiveWriterInfo info_;
    TilePool pool_;
    std::vector<uint8_t> entries_; // the asset table
    std::vector<uint8_t> blocks_;  // parameter blocks
    std::string names_;
    std::vector<uint8_t> mayDrop_; // of each asset: its parameters may be left out, since no tile
                                   // has kept a filter yet
    uint32_t assetCount_ = 0;
    uint32_t lastBlock_ = noParameters; // offset in blocks_
    uint64_t parameterBytes_ = 0;       // of all assets
    SluiceArchiveStats stats_ = {};

    // What is being written.
    uint64_t position_ = headerBytes; // end of the data, always 16-byte aligned
    uint32_t placedAssets_ = 0;       // assets that have their offset
    uint32_t tilesWritten_ = 0;       // of the last placed asset
    std::vector<uint8_t> records_;    // its records that are not written yet
    uint64_t recordsWritten_ = 0;     // bytes of records before them
    Xxh32 recordHash_ = {};
};

// The asset's segments; one of the writer's default where it has none.
Segments ArchiveWriter::segmentsOf(const SluiceArchiveAssetInfo& info) const
{
    if (info.segmentCount != 0) {
        return {info.segments, info.segmentCount, {}};
    }
    return {nullptr, 1, defaultSegment(info_, info.size)};
}

// The item that describes the segment's filter, if the writer has accepted the asset; NULL: there
// is no filter.
const uint8_t* filterItemOf(const SluiceArchiveAssetInfo& info, const SluiceArchiveSegment& segment)
{
    return segment.filterOffset == 0
               ? nullptr
               : static_cast<const uint8_t*>(info.parameters) + segment.filterOffset - 4;
}

bool acceptsFilter(const SluiceArchiveAssetInfo& info, const SluiceArchiveSegment& segment)
{
    if (segment.filterOffset == 0) {
        return true;
    }
    const bool fits = segment.filterOffset >= 4 && segment.filterOffset % 4 == 0 &&
                      info.parameters != nullptr && info.parameterSize >= 8 &&
                      segment.filterOffset <= info.parameterSize - 4;
    if (!fits) {
        return false;
    }
    const uint8_t* item = filterItemOf(info, segment);
    const uint32_t size = loadLe32(item + 4);
    return loadLe16(item) == filterItemKind &&
           size <= info.parameterSize - (segment.filterOffset - 4) - 8 &&
           sluiceCheckFilter(item + 8, size) == SLUICE_OK;
}

// Segments add up to the asset, and tiles to what an asset may have.
bool ArchiveWriter::acceptsSegments(const SluiceArchiveAssetInfo& info) const
{
    if (info.segmentCount != 0 && info.segments == nullptr) {
        return false;
    }
    const Segments segments = segmentsOf(info);
    uint64_t left = info.size, tileCount = 0;
    for (uint32_t i = 0; i < segments.count; ++i) {
        const SluiceArchiveSegment& segment = segments[i];
        if (segment.size > left || segment.filterTrial > 1 || !isEncodable(segment)) {
            return false;
        }
        left -= segment.size;
        tileCount += countTiles(segment);
        if ((left != 0 && segment.size % 4 != 0) || tileCount > UINT32_MAX ||
            !acceptsFilter(info, segment)) {
            return false;
        }
    }
    return left == 0;
}

// Does it have filters that tiles may lose, and no other parameters?
bool triesFilters(const SluiceArchiveAssetInfo& info)
{
    bool tries = false;
    for (uint32_t i = 0; i < info.segmentCount; ++i)
        tries = tries || (info.segments[i].filterTrial != 0 && info.segments[i].filterOffset != 0);
    const uint8_t* items = static_cast<const uint8_t*>(info.parameters);
    for (uint32_t at = 0; tries && at < info.parameterSize;
         at += 8 + (loadLe32(items + at + 4) + 3) / 4 * 4)
        tries = loadLe16(items + at) == filterItemKind;
    return tries;
}

// As strict as a reader is with a block, but for kinds that this version does not know.
bool ArchiveWriter::acceptsParameters(const SluiceArchiveAssetInfo& info) const
{
    if (info.parameterSize == 0) {
        return true;
    }
    const uint64_t room = SLUICE_ARCHIVE_MAX_BLOCK_BYTES - blocks_.size();
    return info.parameters != nullptr && info.parameterSize % 4 == 0 &&
           uint64_t(info.parameterSize) + 4 <= room &&
           info.parameterSize <= maxParameterBytes - parameterBytes_ &&
           checkParameters(static_cast<const uint8_t*>(info.parameters), info.parameterSize) !=
               SLUICE_ERROR_FORMAT;
}

bool ArchiveWriter::accepts(const SluiceArchiveAssetInfo& info) const
{
    const auto nameAt = [&](uint32_t asset) {
        const uint8_t* entry = entries_.data() + size_t(asset) * assetBytes;
        return std::string_view(names_).substr(loadLe32(entry + assetNameOffset),
                                               loadLe16(entry + assetNameLength));
    };
    return sluiceIsArchiveName(info.name, info.nameLength) && info.size <= maxAssetSize &&
           (info.size == 0 || info.read != nullptr) && assetCount_ < SLUICE_ARCHIVE_MAX_ASSETS &&
           names_.size() + info.nameLength <= SLUICE_ARCHIVE_MAX_NAME_BYTES &&
           nameMayFollow(nameAt, assetCount_, std::string_view(info.name, info.nameLength)) &&
           acceptsSegments(info) && acceptsParameters(info);
}

// Where the asset's parameter block is; assets in a row with the same one share it.
uint32_t ArchiveWriter::addParameters(const SluiceArchiveAssetInfo& info)
{
    if (info.parameterSize == 0) {
        return noParameters;
    }
    const uint8_t* bytes = static_cast<const uint8_t*>(info.parameters);
    parameterBytes_ += info.parameterSize;
    if (lastBlock_ != noParameters && loadLe32(&blocks_[lastBlock_]) == info.parameterSize &&
        std::memcmp(&blocks_[lastBlock_ + 4], bytes, info.parameterSize) == 0) {
        return lastBlock_;
    }
    lastBlock_ = uint32_t(blocks_.size());
    blocks_.resize(blocks_.size() + 4);
    storeLe32(&blocks_[lastBlock_], info.parameterSize);
    blocks_.insert(blocks_.end(), bytes, bytes + info.parameterSize);
    return lastBlock_;
}

// Leaves out the blocks of assets whose tiles have all lost the trial of their filters. Offsets of
// blocks ascend.
void ArchiveWriter::dropParameters()
{
    uint32_t kept = 0; // bytes of blocks
    // the same block, where it was and where it is
    uint32_t last = noParameters, lastKept = noParameters;
    for (uint32_t asset = 0; asset < assetCount_; ++asset) {
        const uint32_t offset = loadLe32(entry(asset) + assetParameterOffset);
        const bool drop = offset == noParameters || mayDrop_[asset] != 0;
        if (!drop && offset != last) {
            last = offset;
            lastKept = kept;
            const uint32_t size = 4 + loadLe32(&blocks_[offset]);
            std::memmove(&blocks_[kept], &blocks_[offset], size);
            kept += size;
        }
        storeLe32(entry(asset) + assetParameterOffset, drop ? noParameters : lastKept);
    }
    blocks_.resize(kept);
}

SluiceStatus ArchiveWriter::add(const SluiceArchiveAssetInfo& info)
{
    const Segments segments = segmentsOf(info);
    uint64_t tileCount = 0;
    uint32_t tileSizeLog2 = SLUICE_ARCHIVE_MIN_TILE_LOG2;
    for (uint32_t i = 0; i < segments.count; ++i) {
        tileCount += countTiles(segments[i]);
        while (segments[i].size != 0 && segments[i].tileSize > 1u << tileSizeLog2) {
            ++tileSizeLog2;
        }
    }
    const uint32_t asset = assetCount_;
    entries_.resize(entries_.size() + assetBytes);
    storeLe64(entry(asset) + assetSize, info.size);
    storeLe32(entry(asset) + assetTileCount, uint32_t(tileCount));
    // of no records; replaced if there are any
    storeLe32(entry(asset) + assetTileChecksum, xxh32(nullptr, 0, 0));
    storeLe32(entry(asset) + assetNameOffset, uint32_t(names_.size()));
    storeLe16(entry(asset) + assetNameLength, uint32_t(info.nameLength));
    entry(asset)[assetTileSizeLog2] = uint8_t(tileSizeLog2);
    storeLe32(entry(asset) + assetType, info.type);
    storeLe32(entry(asset) + assetParameterOffset, addParameters(info));
    names_.append(info.name, info.nameLength);
    mayDrop_.push_back(triesFilters(info) ? 1 : 0);
    ++assetCount_;
    stats_.bytesIn += info.size;
    stats_.tileCount += tileCount;

    uint64_t position = 0;
    for (uint32_t i = 0; i < segments.count; ++i) {
        const uint64_t end = position + segments[i].size;
        while (position != end) {
            const SluiceStatus status = addTile(info, segments[i], position, end - position);
            if (status != SLUICE_OK) {
                return status;
            }
            position += nextTileSize(segments[i], end - position);
        }
    }
    return SLUICE_OK;
}

// Reads the next tile of the last asset, from `position` of it on, and hands it to the pool; left:
// bytes of the segment from there on.
SluiceStatus ArchiveWriter::addTile(const SluiceArchiveAssetInfo& info,
                                    const SluiceArchiveSegment& segment, uint64_t position,
                                    uint64_t left)
{
    if (pool_.full()) {
        const SluiceStatus status = writeOldest();
        if (status != SLUICE_OK) {
            return status;
        }
    }
    TilePool::Tile& tile = pool_.next();
    uint8_t* input = tile.resize(nextTileSize(segment, left));
    tile.asset = assetCount_ - 1;
    tile.segment = segment;
    tile.filter.clear();
    if (const uint8_t* item = filterItemOf(info, segment)) {
        tile.filter.assign(item + 8, item + 8 + loadLe32(item + 4));
    }
    SluiceStatus status = info.read(info.readUser, input, tile.size);
    tile.matchesKnown = info.readMatches != nullptr && segment.codec == SLUICE_CODEC_GSTD;
    if (status == SLUICE_OK && tile.matchesKnown) {
        uint32_t count = 0;
        tile.matches.resize(tile.size);
        status = info.readMatches(info.readUser, position, tile.size, tile.matches.data(), &count);
        tile.matches.resize(std::min(count, tile.size));
    }
    if (status == SLUICE_OK) {
        pool_.submit();
    }
    return status;
}

// Gives assets without a place, up to `end`, the current position; all but the last of them are
// empty.
void ArchiveWriter::placeAssets(uint32_t end)
{
    for (; placedAssets_ < end; ++placedAssets_) {
        storeLe64(entry(placedAssets_) + assetOffset, position_);
    }
}

SluiceStatus ArchiveWriter::writeOldest()
{
    TilePool::Tile& tile = pool_.oldest();
    const SluiceStatus status = tile.status != SLUICE_OK ? tile.status : writeTile(tile);
    pool_.release();
    return status;
}

SluiceStatus ArchiveWriter::writeTile(TilePool::Tile& tile)
{
    const uint32_t tileCount = loadLe32(entry(tile.asset) + assetTileCount);
    if (placedAssets_ <= tile.asset) { // the asset's first tile: its records come first
        placeAssets(tile.asset + 1);
        position_ += alignArchive(uint64_t(tileCount) * recordBytes);
        tilesWritten_ = 0;
        recordsWritten_ = 0;
        recordHash_.begin(0);
    }
    const bool stored = tile.output.empty() || tile.output.size() >= tile.size;
    std::vector<uint8_t>& bytes = stored ? tile.input : tile.output;
    const uint32_t storedSize = stored ? tile.size : uint32_t(tile.output.size());
    const size_t padded = size_t(alignArchive(storedSize));
    bytes.resize(std::max(bytes.size(), padded));
    std::memset(bytes.data() + storedSize, 0, padded - storedSize);
    SluiceStatus status = write(position_, bytes.data(), padded);
    if (status != SLUICE_OK) {
        return status;
    }

    const size_t at = records_.size();
    records_.resize(at + recordBytes);
    uint8_t* record = records_.data() + at;
    const SluiceCodec codec = stored ? SLUICE_CODEC_STORE : tile.segment.codec;
    storeLe64(record + recordOffset, position_ - loadLe64(entry(tile.asset) + assetOffset));
    storeLe32(record + recordStoredSize, storedSize);
    storeLe32(record + recordSizeAndCodec, tile.size | uint32_t(codec) << 24);
    storeLe32(record + recordChecksum, tile.checksum);
    storeLe32(record + recordFilterOffset,
              stored || tile.filter.empty() ? 0 : tile.segment.filterOffset);
    if (!stored && !tile.filter.empty()) {
        mayDrop_[tile.asset] = 0;
    }
    position_ += padded;
    stats_.storedTiles += stored ? 1 : 0;
    ++tilesWritten_;

    const bool last = tilesWritten_ == tileCount;
    if (last || records_.size() == recordBatchBytes) {
        status = flushRecords();
    }
    if (last) {
        storeLe32(entry(tile.asset) + assetTileChecksum, recordHash_.value());
    }
    return status;
}

// Writes the collected records of the last placed asset to their place before its data, with the
// padding after them.
SluiceStatus ArchiveWriter::flushRecords()
{
    const uint64_t offset = loadLe64(entry(placedAssets_ - 1) + assetOffset) + recordsWritten_;
    recordHash_.add(records_.data(), records_.size());
    recordsWritten_ += records_.size();
    // a full batch is aligned: only the last one is padded
    records_.resize(size_t(alignArchive(records_.size())));
    const SluiceStatus status = write(offset, records_.data(), records_.size());
    records_.clear();
    return status;
}

SluiceStatus ArchiveWriter::finish(SluiceArchiveStats* stats)
{
    while (!pool_.empty()) {
        const SluiceStatus status = writeOldest();
        if (status != SLUICE_OK) {
            return status;
        }
    }
    placeAssets(assetCount_);
    dropParameters();

    Xxh32 hash;
    hash.begin(0);
    hash.add(entries_.data(), entries_.size());
    hash.add(blocks_.data(), blocks_.size());
    hash.add(names_.data(), names_.size());
    const uint64_t namesAt = position_ + entries_.size() + blocks_.size(),
                   fileSize = namesAt + names_.size();
    uint8_t header[headerBytes] = {};
    std::memcpy(header + headerMagic, archiveMagic, sizeof(archiveMagic));
    storeLe16(header + headerVersionMajor, archiveVersionMajor);
    storeLe16(header + headerVersionMinor, archiveVersionMinor);
    storeLe32(header + headerAssetCount, assetCount_);
    storeLe64(header + headerFileSize, fileSize);
    storeLe64(header + headerIndexOffset, position_);
    storeLe64(header + headerTileCount, stats_.tileCount);
    storeLe32(header + headerBlockBytes, uint32_t(blocks_.size()));
    storeLe32(header + headerNameBytes, uint32_t(names_.size()));
    storeLe32(header + headerIndexChecksum, hash.value());
    storeLe32(header + headerChecksum, xxh32(header, headerChecksum, 0));

    SluiceStatus status = SLUICE_OK;
    if (!entries_.empty()) {
        status = write(position_, entries_.data(), entries_.size());
    }
    if (status == SLUICE_OK && !blocks_.empty()) {
        status = write(position_ + entries_.size(), blocks_.data(), blocks_.size());
    }
    if (status == SLUICE_OK && !names_.empty()) {
        status = write(namesAt, names_.data(), names_.size());
    }
    if (status == SLUICE_OK) {
        status = write(0, header, headerBytes);
    }
    stats_.assetCount = assetCount_;
    stats_.bytesOut = fileSize;
    if (stats != nullptr) {
        *stats = stats_;
    }
    return status;
}

// Runs `call`; the first failure sticks, since half an asset may have been written.
template <class Call>
SluiceStatus guarded(ArchiveWriter& writer, Call call)
{
    if (writer.failure != SLUICE_OK) {
        return writer.failure;
    }
    try {
        writer.failure = call();
    } catch (const std::bad_alloc&) {
        writer.failure = SLUICE_ERROR_OUT_OF_MEMORY;
    }
    return writer.failure;
}

} // namespace
} // namespace sluice

struct SluiceArchiveWriter_T {
    sluice::ArchiveWriter writer;
};

SluiceStatus sluiceCreateArchiveWriter(const SluiceArchiveWriterInfo* info,
                                       SluiceArchiveWriter* writer)
{
    if (info == nullptr || writer == nullptr || info->write == nullptr ||
        !sluice::isEncodable(sluice::defaultSegment(*info, 0))) {
        return SLUICE_ERROR_ARGUMENT;
    }
    SluiceArchiveWriter created = nullptr;
    SluiceStatus status = SLUICE_OK;
    try {
        created = new SluiceArchiveWriter_T{sluice::ArchiveWriter(*info)};
        created->writer.start();
    } catch (const std::bad_alloc&) {
        status = SLUICE_ERROR_OUT_OF_MEMORY;
    } catch (const std::system_error&) { // no thread to be had
        status = SLUICE_ERROR_OUT_OF_MEMORY;
    }
    if (status != SLUICE_OK) {
        delete created;
        created = nullptr;
    }
    *writer = created;
    return status;
}

void sluiceDestroyArchiveWriter(SluiceArchiveWriter writer) { delete writer; }

SluiceStatus sluiceAddArchiveAsset(SluiceArchiveWriter writer, const SluiceArchiveAssetInfo* info)
{
    if (writer == nullptr || info == nullptr || writer->writer.finished ||
        !writer->writer.accepts(*info)) {
        return SLUICE_ERROR_ARGUMENT;
    }
    return sluice::guarded(writer->writer, [&] { return writer->writer.add(*info); });
}

SluiceStatus sluiceFinishArchive(SluiceArchiveWriter writer, SluiceArchiveStats* stats)
{
    if (writer == nullptr || writer->writer.finished) {
        return SLUICE_ERROR_ARGUMENT;
    }
    const SluiceStatus status =
        sluice::guarded(writer->writer, [&] { return writer->writer.finish(stats); });
    writer->writer.finished = status == SLUICE_OK;
    return status;
}
