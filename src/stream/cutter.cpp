// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/cutter.h"

#include <sluice/sluice_zstd.h>

#include <algorithm>

#include "stream/transcodes.h"

namespace sluice::stream {

namespace {

constexpr uint64_t kMostPad = 16 * kMaxBlockSize;
// Tile records are read ahead, for at most this many requests of a group from its current one on.
constexpr uint32_t kRequestsAhead = 64;

// The most regions of a unit that is transcoded: the pieces that the transcoder is given
// (regionCount). A unit that is a whole level of a KTX2 file may have more.
constexpr uint32_t kPlanesAtOnce = 64;
constexpr uint64_t kMostMadeBlock = 64; // bytes of 4 x 4 texels

// Returns the target size in bytes of a unit of UASTC blocks. It is smaller for blocks that become
// texels, since these grow to four times their size.
uint64_t blockStrip(const SluiceStreamImage& image)
{
    return makesTexels(image) ? kStripSize / 4 : kStripSize;
}

// Adds up the sizes of the tiles of one unit.
struct TileSum {
    uint64_t source = 0, stored = 0, decoded = 0;
    uint32_t count = 0, largest = 0;

    void add(const TileRecord& tile)
    {
        source += storedRoom(tile);
        stored += tile.storedSize;
        decoded += tile.size;
        largest = std::max<uint32_t>(largest, tile.size);
        ++count;
    }
    bool fits(uint64_t sourceLimit) const
    {
        return count <= kUnitTiles && source <= sourceLimit && decoded <= kUnitOutput / 2 &&
               uint64_t(count) * largest <= kUnitWork;
    }
};

// Returns whether the request is for a level of a KTX2 file, which is a single tile. Such a tile
// may have any size, and may begin at any byte of the file.
bool isOfLevel(const Request& request)
{
    return request.info.source == SLUICE_STREAM_FROM_ARCHIVE && request.info.file->ktx2 != nullptr;
}

uint64_t roomOf(const Request& request)
{
    return request.info.source != SLUICE_STREAM_FROM_MEMORY && !isOfLevel(request)
               ? request.info.file->directRoom()
               : 0;
}

uint32_t tileAt(const TileRecord* records, uint32_t count, uint64_t offset)
{
    const TileRecord* after =
        std::upper_bound(records, records + count, offset, [](uint64_t at, const TileRecord& tile) {
            return at < tile.outputOffset;
        });
    return uint32_t(after - records) - 1;
}

} // namespace

bool Cutter::takeBlocks(Held& held, const Group& group, Unit& unit, uint64_t sourceSize,
                        uint64_t outputSize)
{
    return m_ledger.mayTakeUnit(held, group, sourceSize, outputSize) &&
           m_ledger.rings.take(held, unit, sourceSize, outputSize);
}

// Sets where the unit's stored bytes begin in their block. A direct read needs a memory address and
// a file offset that are congruent modulo the alignment of direct reads, so the unit's bytes are
// shifted in their block. room: additional bytes of the block, for the shift and for the surplus
// that is read on both sides; 0: no direct reads.
void Cutter::placeSource(const Request& request, Unit& unit, uint64_t fileOffset,
                         uint64_t room) const
{
    if (room == 0) return;
    const uint64_t start = uint64_t(reinterpret_cast<uintptr_t>(m_info.source.host)) + unit.source;
    unit.sourceBase += (fileOffset - start) % request.info.file->directAlignment;
}

Cutter::Cut Cutter::cut(Held& held, Group& group, Unit& unit)
{
    while (group.currentRequest != kNone) {
        Request& request = m_ledger.requests[group.currentRequest];
        if (request.cut == request.info.size) {
            group.currentRequest = request.next;
            continue;
        }
        if (request.info.source == SLUICE_STREAM_FROM_ARCHIVE) {
            const Extent& extent = extentOf(request);
            if (extent.state == Extent::failed) {
                m_ledger.fail(held, group, request,
                              {extent.error.status, kNone, SLUICE_TILE_OK, extent.error.osError,
                               extent.error.offset});
                request.cut = request.info.size;
                continue;
            }
            if (extent.state != Extent::ready) return Cut::records;
        }
        unit.group = m_ledger.groups.numberOf(group);
        unit.request = group.currentRequest;
        unit.route = Route::host;
        unit.decodesOnCpu = unit.isRetried = false;
        unit.reason = SLUICE_STREAM_GPU;
        unit.gpuSlowest = unit.gpuBytes = unit.cpuTime = 0;
        unit.firstTile = unit.tileCount = 0;
        unit.decodedSize = 0;
        unit.isTranscoded = isTranscoded(request.info);
        unit.planes = unit.rows = 0;
        unit.offset = request.info.offset + request.cut;
        const Cut result = request.info.target == SLUICE_STREAM_TO_IMAGE || unit.isTranscoded
                               ? cutImage(held, group, request, unit)
                           : request.info.source == SLUICE_STREAM_FROM_ARCHIVE
                               ? cutTiles(held, group, request, unit)
                               : cutPlain(held, group, request, unit);
        if (result == Cut::later) return result;
        if (result == Cut::done) { // the request was refused
            request.cut = request.info.size;
            continue;
        }
        request.cut += unit.size;
        if (unit.tileCount == 0) unit.storedSize = unit.size;
        ++request.openUnits;
        ++group.openUnits;
        if (unit.route != Route::host) {
            ++request.unrecorded;
            ++group.unrecorded;
        }
        if (request.cut == request.info.size) group.currentRequest = request.next;
        return Cut::made;
    }
    return Cut::done;
}

const Request* Cutter::takeRecords(Held&, const Group& group)
{
    uint32_t number = group.currentRequest;
    for (uint32_t i = 0; i < kRequestsAhead && number != kNone; ++i) {
        const Request& request = m_ledger.requests[number];
        number = request.next;
        if (request.info.source != SLUICE_STREAM_FROM_ARCHIVE || request.info.size == 0) continue;
        Extent& extent = extentOf(request);
        if (extent.state != Extent::unread) continue;
        extent.state = Extent::reading;
        return &request;
    }
    return nullptr;
}

// Cuts a unit of plain bytes of a file or of memory, which need no decoding. Such bytes go to host
// memory directly, and to the GPU through the source ring.
Cutter::Cut Cutter::cutPlain(Held& held, Group& group, Request& request, Unit& unit)
{
    unit.size = std::min<uint64_t>(request.info.size - request.cut, kUnitRead);
    if (request.info.target == SLUICE_STREAM_TO_HOST || m_info.gpu == nullptr)
        return m_ledger.mayTakeUnit(held, group, 0, 0) ? Cut::made : Cut::later;
    unit.route = Route::plain;
    const uint64_t room = roomOf(request);
    unit.size = std::min(unit.size, kUnitRead - room);
    if (!takeBlocks(held, group, unit, unit.size + room, 0)) return Cut::later;
    placeSource(request, unit, unit.offset, room);
    unit.outputBase = unit.sourceBase;
    return Cut::made;
}

Cutter::Cut Cutter::cutTiles(Held& held, Group& group, Request& request, Unit& unit)
{
    const bool isHost = request.info.target == SLUICE_STREAM_TO_HOST || m_info.gpu == nullptr;
    uint32_t count = 0;
    const TileRecord* records = request.info.file->records(request.info.asset, count);
    const uint64_t first = request.info.offset + request.cut;
    const uint64_t end = request.info.offset + request.info.size;
    SluiceStreamReason reason = SLUICE_STREAM_CPU_HOST;
    const auto isForCpu = [&](const TileRecord& tile) {
        return isHost || m_ledger.sides.isForCpu(held, tile, reason);
    };
    const auto routeOf = [&](const TileRecord& tile) {
        if (isHost) return Route::host;
        if (isForCpu(tile) || tile.outputOffset < first || tile.outputOffset + tile.size > end)
            return Route::output;
        const uint64_t place =
            request.info.buffer.offset + (tile.outputOffset - request.info.offset);
        return place % (isPlainFloat(tile) ? kFloatAlignment : 4) == 0 ? Route::direct
                                                                       : Route::output;
    };
    unit.firstTile = tileAt(records, count, first);
    unit.route = routeOf(records[unit.firstTile]);
    unit.decodesOnCpu = isForCpu(records[unit.firstTile]);
    if (unit.decodesOnCpu) unit.reason = uint8_t(reason);
    const uint64_t room = roomOf(request);
    TileSum sum;
    for (uint32_t i = unit.firstTile; i < count && records[i].outputOffset < end; ++i) {
        TileSum more = sum;
        more.add(records[i]);
        const uint64_t place = records[i].outputOffset - records[unit.firstTile].outputOffset;
        const bool isMisplaced =
            unit.route == Route::output && isPlainFloat(records[i]) && place % kFloatAlignment != 0;
        if (i != unit.firstTile &&
            (!more.fits(kUnitRead - room) || routeOf(records[i]) != unit.route ||
             isForCpu(records[i]) != unit.decodesOnCpu || isMisplaced))
            break;
        sum = more;
    }
    const TileRecord& last = records[unit.firstTile + sum.count - 1];
    unit.tileCount = sum.count;
    unit.decodedSize = sum.decoded;
    unit.storedSize = sum.stored;
    unit.size = std::min(last.outputOffset + last.size, end) - first;
    if (!canDecode(held, request, unit, sum.source + room, sum.decoded))
        return refuse(held, group, request);
    if (!takeBlocks(held, group, unit, sum.source + room,
                    unit.route == Route::output ? sum.decoded : 0))
        return Cut::later;
    placeSource(request, unit, records[unit.firstTile].offset, room);
    unit.outputBase = unit.output;
    return Cut::made;
}

// Finds the offset `pad`, in the unit's block of the output ring, at which the unit's tiles begin.
// With it, the bytes to copy to the image start at a multiple of the texel block's size, and each
// tile at a multiple of the alignment that its decoder needs. Returns false if there is none.
bool Cutter::placeOutput(const Request& request, const Unit& unit, uint32_t blockSize,
                         uint64_t& pad) const
{
    uint32_t count = 0;
    const TileRecord* records = request.info.file->records(request.info.asset, count);
    const TileRecord* tiles = records + unit.firstTile;
    const uint64_t start =
        m_info.output.buffer.offset + (unit.output != Blocks::kNone ? unit.output : 0);
    const uint64_t before = unit.offset - tiles[0].outputOffset;
    for (pad = 0; pad < kMostPad; pad += 4) {
        bool isGood = (start + pad + before) % blockSize == 0;
        for (uint32_t i = 0; i < unit.tileCount && isGood; ++i)
            isGood = !isPlainFloat(tiles[i]) ||
                     (pad + tiles[i].outputOffset - tiles[0].outputOffset) % kFloatAlignment == 0;
        if (isGood) return true;
    }
    return false;
}

// Returns whether the unit, which consists of whole tiles, can ever be read and decoded. Tiles of
// archives always can, but a level of a KTX2 file may be too large. Without a GPU there is no
// output ring, and the CPU decodes into other memory; the source ring's size then also limits the
// decoded bytes.
bool Cutter::canDecode(Held& held, const Request& request, const Unit& unit, uint64_t sourceSize,
                       uint64_t outputSize) const
{
    if (!isOfLevel(request)) return true;
    uint32_t count = 0;
    const TileRecord& tile = request.info.file->records(request.info.asset, count)[unit.firstTile];
    const bool isOnlyForCpu = m_ledger.sides.isTooLargeForGpu(held, tile);
    return tile.size <= SLUICE_ZSTD_MAX_REGION_SIZE &&
           (m_info.gpu != nullptr
                ? m_ledger.rings.canTake(held, sourceSize, outputSize)
                : m_ledger.rings.canTake(held, std::max(sourceSize, outputSize), 0)) &&
           (!isOnlyForCpu || m_info.output.host != nullptr);
}

Cutter::Cut Cutter::refuse(Held& held, Group& group, Request& request)
{
    m_ledger.fail(held, group, request, {SLUICE_ERROR_UNSUPPORTED});
    return Cut::done;
}

Cutter::Cut Cutter::cutImage(Held& held, Group& group, Request& request, Unit& unit)
{
    const SluiceStreamImage& image = request.info.image;
    const uint64_t row = rowSize(image), plane = row * rowCount(image);
    const uint64_t left = request.info.size - request.cut;
    const uint64_t strip = unit.isTranscoded ? blockStrip(image) : kStripSize;
    unit.plane = uint32_t(request.cut / plane);
    unit.row = uint32_t(request.cut % plane / row);
    unit.planes = 1;
    unit.rows = uint32_t(rowCount(image)) - unit.row;
    if (isOfLevel(request)) // its tile is decoded as a whole
        unit.planes = uint32_t(left / plane);
    else if (unit.row == 0 && plane <= strip)
        unit.planes = uint32_t(std::min(strip / plane, left / plane));
    else
        unit.rows = uint32_t(std::min<uint64_t>(unit.rows, std::max<uint64_t>(strip / row, 1)));
    if (unit.isTranscoded && !isOfLevel(request) && regionCount(image, unit) > kPlanesAtOnce)
        unit.planes = kPlanesAtOnce;
    unit.size = uint64_t(unit.planes) * unit.rows * row;
    if (request.info.source == SLUICE_STREAM_FROM_ARCHIVE)
        return cutImageOfArchive(held, group, request, unit);
    if (unit.isTranscoded) return cutBlocks(held, group, request, unit);
    unit.route = Route::plain;
    if (!takeBlocks(held, group, unit, unit.size + image.blockSize, 0)) return Cut::later;
    const uint64_t start = m_info.source.buffer.offset;
    unit.outputBase =
        divideUp<uint64_t>(start + unit.source, image.blockSize) * image.blockSize - start;
    return Cut::made;
}

// Cuts UASTC blocks that are not in tiles. They are read into the source ring and transcoded into
// the output ring.
Cutter::Cut Cutter::cutBlocks(Held& held, Group& group, Request& request, Unit& unit)
{
    SluiceStreamReason reason = SLUICE_STREAM_GPU;
    unit.route = Route::output;
    unit.decodesOnCpu = m_ledger.sides.isTranscodeForCpu(held, reason);
    if (unit.decodesOnCpu) unit.reason = uint8_t(reason);
    if (!takeBlocks(held, group, unit, unit.size, madeSize(request.info.image, unit)))
        return Cut::later;
    unit.blocks = unit.sourceBase;
    unit.made = unit.outputBase = unit.output;
    return Cut::made;
}

// Cuts a unit of an image that is stored in tiles. Halves the unit's number of planes or rows until
// the tiles with their bytes fit into one unit.
Cutter::Cut Cutter::cutImageOfArchive(Held& held, Group& group, Request& request, Unit& unit)
{
    const SluiceStreamImage& image = request.info.image;
    uint32_t count = 0;
    const TileRecord* records = request.info.file->records(request.info.asset, count);
    const uint64_t room = roomOf(request);
    TileSum sum;
    for (;;) {
        unit.size = uint64_t(unit.planes) * unit.rows * rowSize(image);
        sum = {};
        unit.firstTile = tileAt(records, count, unit.offset);
        for (uint32_t i = unit.firstTile; i < count && sum.count <= kUnitTiles &&
                                          records[i].outputOffset < unit.offset + unit.size;
             ++i)
            sum.add(records[i]);
        unit.tileCount = sum.count;
        if (isOfLevel(request) || sum.fits(kUnitSource - room)) break;
        if (unit.planes == 1 && unit.rows == 1) return refuse(held, group, request);
        (unit.planes > 1 ? unit.planes : unit.rows) /= 2;
    }
    unit.route = Route::output;
    SluiceStreamReason reason = SLUICE_STREAM_GPU;
    for (uint32_t i = 0; i < unit.tileCount && !unit.decodesOnCpu; ++i)
        unit.decodesOnCpu = m_ledger.sides.isForCpu(held, records[unit.firstTile + i], reason);
    if (unit.isTranscoded && !unit.decodesOnCpu)
        unit.decodesOnCpu = m_ledger.sides.isTranscodeForCpu(held, reason);
    if (unit.decodesOnCpu) unit.reason = uint8_t(reason);
    unit.decodedSize = sum.decoded;
    unit.storedSize = sum.stored;
    // The padding before the tiles must be known before the unit gets its block of the ring. Blocks
    // start at multiples of 64 KiB, so the padding is the same in every block, unless a texel block
    // has 3 or 12 bytes. In that case leave room for the largest padding.
    const bool isOdd = (image.blockSize & (image.blockSize - 1)) != 0;
    uint64_t pad = 0;
    if (!placeOutput(request, unit, isOdd ? 1 : image.blockSize, pad))
        return refuse(held, group, request);
    uint64_t outputSize = sum.decoded + (isOdd ? kMostPad : pad);
    const bool isInPlace = !unit.isTranscoded || keepsPlaces(image);
    const uint64_t made = alignUp(outputSize, kMostMadeBlock);
    if (!isInPlace) outputSize = made + madeSize(image, unit);
    if (unit.isTranscoded && (regionCount(image, unit) > kTranscodeRegions ||
                              unit.size / SLUICE_UA_BLOCK_BYTES > SLUICE_UASTC_MAX_BLOCKS))
        return refuse(held, group, request);
    if (!canDecode(held, request, unit, sum.source + room, outputSize))
        return refuse(held, group, request);
    if (!takeBlocks(held, group, unit, sum.source + room, outputSize)) return Cut::later;
    placeSource(request, unit, records[unit.firstTile].offset, room);
    if (isOdd && !placeOutput(request, unit, image.blockSize, pad)) {
        m_ledger.rings.give(held, unit);
        return refuse(held, group, request);
    }
    unit.outputBase = unit.output + pad;
    unit.blocks = unit.outputBase + unit.offset - records[unit.firstTile].outputOffset;
    unit.made = isInPlace ? unit.blocks : unit.output + made;
    return Cut::made;
}

} // namespace sluice::stream
