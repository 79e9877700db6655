// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/cpu_decoder.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace sluice::stream {

namespace {

// The size of each buffer of a workspace. It suffices for a tile of an archive, and for the lists
// with which it is decoded.
constexpr size_t kPartSize = (size_t(1) << 20) + 65536;

// Enlarges `memory` from `has` to `size` bytes if it is smaller; its content is then lost. Returns
// false if memory has run out.
template <class Element>
bool grow(std::unique_ptr<Element[]>& memory, uint64_t& has, uint64_t size)
{
    if (size <= has) return true;
    has = 0;
    memory.reset(new (std::nothrow)
                     Element[size_t((size + sizeof(Element) - 1) / sizeof(Element))]);
    if (memory == nullptr) return false;
    has = size;
    return true;
}

} // namespace

SluiceStatus CpuDecoder::start()
{
    const SluiceStatus status = sluiceCreateCpuContext(&m_context);
    if (status != SLUICE_OK) return status;
    for (Workspace& workspace : m_workspaces) {
        // The allocations are not zeroed, so the system backs only the pages that are used.
        for (std::unique_ptr<uint8_t[]>* part :
             {&workspace.control, &workspace.results, &workspace.scratch, &workspace.bounce})
            part->reset(new uint8_t[kPartSize]);
        workspace.bounceSize = kPartSize;
    }
    return SLUICE_OK;
}

Workspace* CpuDecoder::take(Held&)
{
    for (Workspace& workspace : m_workspaces) {
        if (workspace.isTaken) continue;
        workspace.isTaken = true;
        return &workspace;
    }
    return nullptr;
}

// The destination of the requested bytes of a tile. A ring receives the whole tile, and the host
// may receive only a part of it.
struct CpuDecoder::Place {
    uint8_t* to;
    uint64_t begin, end; // the requested range, in bytes of the tile
    bool isDirect;       // the tile can be decoded to `to`, without `bounce`
};

CpuDecoder::Place CpuDecoder::placeOf(const Unit& unit, const SluiceStreamRequest& request,
                                      const TileRecord& tile, const TileRecord& first,
                                      uint8_t* blocks) const
{
    const auto isAligned = [](const uint8_t* to, uint64_t alignment) {
        return reinterpret_cast<uintptr_t>(to) % alignment == 0;
    };
    if (unit.route == Route::host) {
        const uint64_t begin = std::max(tile.outputOffset, unit.offset);
        const uint64_t end = std::min(tile.outputOffset + tile.size, unit.offset + unit.size);
        uint8_t* to = hostPlace(request, begin);
        return {to, begin - tile.outputOffset, end - tile.outputOffset,
                end - begin == tile.size && isAligned(to, 16)};
    }
    const uint64_t place = unit.outputBase + tile.outputOffset - first.outputOffset;
    uint8_t* to =
        blocks != nullptr ? blocks + (place - unit.output) : ringPlace(m_info.output, place);
    // Decoders read back what they have written, which is slow where memory is not cached. So into
    // an uncached ring a tile is not decoded directly, but copied.
    return {to, 0, tile.size,
            (m_isRingCached || blocks != nullptr) &&
                isAligned(to, isPlainFloat(tile) ? kFloatAlignment : 4)};
}

// Decodes a tile whose stored bytes are at `source`. Returns its SluiceTileStatus.
uint32_t CpuDecoder::decodeTile(const TileRecord& tile, uint8_t* source, uint8_t* to,
                                const SluiceStreamRequest& request, Workspace& workspace) const
{
    const SluiceArchiveAsset asset = request.file->filtersOf(request.asset);
    const SluiceArchiveTile record = archiveTileOf(tile);
    SluiceTile one = {};
    SluiceTilesInfo info = {};
    const auto memory = [](void* bytes, uint64_t size) {
        return SluiceBuffer{uint64_t(reinterpret_cast<uintptr_t>(bytes)), 0, size};
    };
    info.tiles = &one;
    info.tileCount = 1;
    info.flags = request.file->tileFlags();
    info.sourceHost = source;
    info.source = memory(source, tile.storedSize);
    info.destination = memory(to, tile.size);
    info.controlHost = workspace.control.get();
    info.control = memory(info.controlHost, kPartSize);
    info.resultsHost = workspace.results.get();
    info.results = memory(info.resultsHost, kPartSize);
    info.scratch = memory(workspace.scratch.get(), kPartSize);
    uint32_t result = SLUICE_TILE_INTERNAL;
    SluiceStatus called = sluiceGetArchiveTile(&asset, &record, 0, 0, &one);
    if (called == SLUICE_OK) called = sluicePrepareTiles(m_context, &info);
    if (called == SLUICE_OK) called = sluiceCmdTiles(m_context, nullptr, &info);
    if (called == SLUICE_OK) called = sluiceGetTileResults(&info, &result, nullptr);
    if (called != SLUICE_OK && result == SLUICE_TILE_OK) result = SLUICE_TILE_INTERNAL;
    return result;
}

void CpuDecoder::transcode(const Unit& unit, const SluiceStreamRequest& request,
                           const uint8_t* blocks, Done& done, BadTile& bad) const
{
    const Clock::time_point begin = Clock::now();
    bad.transcoded =
        transcodeOnCpu(m_context, request.image, unit, blocks, ringPlace(m_info.output, unit.made));
    const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
    addTranscode(done.inputs, request.image, unit);
    done.milliseconds.of[kCpuUastc][0] += time.count();
}

BadTile CpuDecoder::decode(const Unit& unit, const SluiceStreamRequest& request,
                           Workspace& workspace, Done& done) const
{
    const TileRecord* tiles = tilesOf(request, unit);
    uint8_t* source = ringPlace(m_info.source, unit.sourceBase);
    uint8_t* blocks = nullptr; // if not NULL, receives the tiles instead of the output ring
    if (unit.isTranscoded && unit.tileCount != 0) {
        const uint64_t size = unit.outputBase - unit.output + unit.decodedSize;
        if (!grow(workspace.blocks, workspace.blocksSize, size)) return {unit.firstTile, 0, true};
        blocks = workspace.blocks[0].bytes;
    }
    for (uint32_t i = 0; i < unit.tileCount; source += storedRoom(tiles[i]), ++i) {
        const TileRecord& tile = tiles[i];
        const Place place = placeOf(unit, request, tile, tiles[0], blocks);
        const bool isThere = !place.isDirect && workspace.bouncedFile == request.file->serial &&
                             workspace.bouncedTile == &tile;
        if (!isThere) {
            if (!place.isDirect) {
                workspace.bouncedFile = 0;
                if (!grow(workspace.bounce, workspace.bounceSize, tile.size))
                    return {unit.firstTile + i, 0, true};
            }
            const Clock::time_point begin = Clock::now();
            const uint32_t status =
                decodeTile(tile, source, place.isDirect ? place.to : workspace.bounce.get(),
                           request, workspace);
            if (status != SLUICE_TILE_OK) return {unit.firstTile + i, status};
            const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
            const bool isFiltered = tile.filterOffset != 0;
            done.bytes += tile.size;
            done.inputs.addTile(cpuCodecOf(tile), tile.size, isFiltered);
            done.milliseconds.of[cpuCodecOf(tile)][isFiltered] += time.count();
        }
        if (place.isDirect) continue;
        workspace.bouncedFile = request.file->serial;
        workspace.bouncedTile = &tile;
        std::memcpy(place.to, workspace.bounce.get() + place.begin,
                    size_t(place.end - place.begin));
    }
    BadTile bad;
    if (unit.isTranscoded)
        transcode(unit, request,
                  blocks != nullptr ? blocks + (unit.blocks - unit.output)
                                    : ringPlace(m_info.source, unit.blocks),
                  done, bad);
    return bad;
}

} // namespace sluice::stream
