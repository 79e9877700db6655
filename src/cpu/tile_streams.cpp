// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference for decoding whole tile streams (docs/format.md, section 2). A stream has a header,
// a table of its tiles, and the tiles. The command parses all streams, makes a list of regions of
// their tiles, decodes that list, and sets the final status of each stream.
#include <sluice/sluice_tile_streams.h>

#include "layout/tile_streams.h"
#include "api/plan_tile_streams.h"
#include "formats/tile_stream.h"
#include "cpu/context.h"
#include "cpu/memory.h"

namespace sluice::cpu {
namespace {

// The buffers of a command, as pointers to host memory.
struct Batch {
    explicit Batch(const SluiceTileStreamsInfo& info)
        : pairs(hasPairs(info) ? pointer<const uint32_t>(info.streams) : nullptr),
          ranges(pointer<const SluiceStreamRange>(info.streams)),
          count(pairs == nullptr ? countOf(info.streamCount, info.maxStreamCount)
                                 : std::min(pairs[0], info.maxStreamCount)),
          source(pointer<const uint8_t>(info.source)), sourceSize(info.source.size),
          destinationSize(logicalSize(info.destination.size, info.rowBytes, info.rowPitch)),
          results(pointer<SluiceStreamResult>(info.results)),
          summary(*reinterpret_cast<SluiceStreamSummary*>(results + info.maxStreamCount))
    {
    }

    // Returns where stream s is read and where it is written. A pair holds only the two offsets, so
    // both ranges then extend to the ends of their buffers.
    SluiceStreamRange range(uint32_t s) const
    {
        if (pairs == nullptr) return ranges[s];
        const uint64_t from = pairs[1 + 2 * size_t(s)], to = pairs[2 + 2 * size_t(s)];
        return {from, sourceSize - std::min(from, sourceSize), to,
                destinationSize - std::min(to, destinationSize)};
    }

    const uint32_t* pairs; // a count, then pairs of offsets; null: the list has ranges
    const SluiceStreamRange* ranges;
    uint32_t count; // number of streams
    const uint8_t* source;
    uint64_t sourceSize;
    uint64_t destinationSize; // in bytes, without the gaps between rows
    SluiceStreamResult* results;
    SluiceStreamSummary& summary;
};

// Returns whether a range of bytes is aligned and inside a buffer.
bool inside(uint64_t offset, uint64_t size, uint64_t bufferSize)
{
    return offset % 4 == 0 && offset <= bufferSize && size <= bufferSize - offset;
}

// Parses one stream: fills `stream` from its header, and calls take(i, tile) for its tiles up to
// the first bad one. Returns SLUICE_STREAM_ST_PENDING if the stream is valid, otherwise an error.
template <typename Take>
uint32_t parseStream(const Batch& batch, const SluiceStreamRange& range, SluiceTileStream& stream,
                     Take take)
{
    if (!inside(range.sourceOffset, range.sourceSize, batch.sourceSize) ||
        !inside(range.destinationOffset, range.destinationSize, batch.destinationSize))
        return SLUICE_STREAM_ST_BAD_RANGE;
    if (range.sourceSize < SLUICE_TILE_STREAM_HEADER_SIZE) return SLUICE_STREAM_ST_TRUNCATED;
    const uint8_t* bytes = batch.source + range.sourceOffset;
    const SluiceStatus header =
        sluiceParseTileStreamHeader(bytes, SLUICE_TILE_STREAM_HEADER_SIZE, &stream);
    if (header != SLUICE_OK)
        return header == SLUICE_ERROR_VERSION ? SLUICE_STREAM_ST_TILE_SIZE
                                              : SLUICE_STREAM_ST_BAD_HEADER;
    if (stream.dataOffset > range.sourceSize) return SLUICE_STREAM_ST_TRUNCATED;
    const SluiceStatus table = walkTileTable(stream, bytes + SLUICE_TILE_STREAM_HEADER_SIZE,
                                             range.sourceSize, batch.pairs != nullptr, take);
    if (table != SLUICE_OK)
        return table == SLUICE_ERROR_BUFFER_SIZE ? SLUICE_STREAM_ST_TRUNCATED
                                                 : SLUICE_STREAM_ST_BAD_TABLE;
    return stream.size > range.destinationSize ? SLUICE_STREAM_ST_NO_SPACE
                                               : SLUICE_STREAM_ST_PENDING;
}

// Parses all streams. Writes their statuses and their numbers of tiles.
void checkStreams(const SluiceTileStreamsInfo& info, const SluiceBuffer& counts)
{
    const Batch batch(info);
    // The list may have more pairs (streams) than maxStreamCount. These are not decoded and count
    // as failed.
    const uint32_t left = batch.pairs == nullptr ? 0 : batch.pairs[0] - batch.count;
    batch.summary = {left, left == 0 ? ~0u : batch.count, 0, 0};
    for (uint32_t s = 0; s < info.maxStreamCount; ++s) {
        SluiceStreamResult result = {SLUICE_STREAM_ST_PENDING, 0, 0, 0};
        if (s < batch.count) {
            SluiceTileStream stream = {};
            result.status = parseStream(batch, batch.range(s), stream,
                                        [](uint32_t, const SluiceTileStreamTile&) {});
            if (result.status == SLUICE_STREAM_ST_PENDING) {
                result.tileCount = stream.tileCount;
                result.size = uint32_t(stream.size);
            }
        }
        batch.results[s] = result;
        pointer<uint32_t>(counts)[s] = result.tileCount;
    }
}

// Writes the regions of the tiles of all valid streams. A stream whose tiles do not all fit into
// maxTileCount is refused. firstTiles: the index of each stream's first tile among all tiles.
void writeRegions(const SluiceTileStreamsInfo& info, const SluiceBuffer& firstTiles,
                  const SluiceBuffer& regions)
{
    const Batch batch(info);
    const uint64_t source = info.source.handle + info.source.offset;
    const uint64_t destination = info.destination.handle + info.destination.offset;
    batch.summary.tilesNeeded = batch.summary.tileCount;
    for (uint32_t s = 0; s < info.maxStreamCount; ++s) {
        SluiceStreamResult& result = batch.results[s];
        const uint32_t first = pointer<const uint32_t>(firstTiles)[s];
        result.firstTile = first;
        if (result.tileCount == 0) continue;
        if (uint64_t(first) + result.tileCount > info.maxTileCount) {
            result.status = SLUICE_STREAM_ST_NO_TILES;
            batch.summary.tileCount = std::min(batch.summary.tileCount, first);
            continue;
        }
        const SluiceStreamRange range = batch.range(s);
        SluiceRegion* list = pointer<SluiceRegion>(regions) + first;
        SluiceTileStream stream = {};
        parseStream(batch, range, stream, [&](uint32_t i, const SluiceTileStreamTile& tile) {
            list[i] = {source + range.sourceOffset + tile.offset,
                       destination + range.destinationOffset + uint64_t(i) * SLUICE_GD_TILE_BYTES,
                       tile.compressedSize, tile.size};
        });
    }
}

// Sets the final status of each stream from the statuses of its tiles, and counts failed streams.
void writeVerdicts(const SluiceTileStreamsInfo& info)
{
    const Batch batch(info);
    const uint32_t* tiles = pointer<const uint32_t>(info.status);
    for (uint32_t s = 0; s < batch.count; ++s) {
        SluiceStreamResult& result = batch.results[s];
        if (result.status == SLUICE_STREAM_ST_PENDING) {
            result.status = SLUICE_STREAM_ST_OK;
            for (uint32_t i = 0; i < result.tileCount; ++i) {
                if (tiles[result.firstTile + i] != SLUICE_ST_OK)
                    result.status = SLUICE_STREAM_ST_BAD_TILE;
            }
        }
        if (result.status == SLUICE_STREAM_ST_OK) continue;
        ++batch.summary.failedStreams;
        batch.summary.firstFailedStream = std::min(batch.summary.firstFailedStream, s);
    }
}

} // namespace

SluiceRequirements
ReferenceBackend::tileStreamsRequirements(const SluiceTileStreamsInfo& info) const
{
    return tileStreamsPlan(*this, info).requirements;
}

// plan.counts has a word for each stream. checkStreams writes the stream's number of tiles there;
// the scan replaces it by the index of the stream's first tile.
SluiceStatus ReferenceBackend::cmdTileStreams(SluiceCommands commands,
                                              const SluiceTileStreamsInfo& info)
{
    const TileStreamsPlan plan = tileStreamsPlan(*this, info);
    checkStreams(info, plan.counts);
    cmdScan(commands, plan.scan);
    writeRegions(info, plan.counts, plan.decode.regions);
    cmdGdeflate(commands, plan.decode);
    writeVerdicts(info);
    return SLUICE_OK;
}

} // namespace sluice::cpu
