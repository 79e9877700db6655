// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/cutter.h"

#include <algorithm>

namespace sluice::stream {

namespace {

constexpr uint64_t kMostPad = 16 * kMaxBlockSize;

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

uint64_t roomOf(const Request& request)
{
    return request.info.source != SLUICE_STREAM_FROM_MEMORY ? request.info.file->directRoom() : 0;
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

void Cutter::noteRefusedKernels(Held& held)
{
    // If the CPU cannot access the output ring, it cannot decode instead of the GPU.
    if (!m_gpuDecodes || m_info.output.host == nullptr || m_ledger.work.toRead(held) == nullptr)
        return;
    SluiceContextInfo about = {};
    if (sluiceGetContextInfo(m_info.context, &about) == SLUICE_OK)
        m_refusedKernels = about.refusedKernels;
}

bool Cutter::takeBlocks(Held& held, const Group& group, Unit& unit, uint64_t sourceSize,
                        uint64_t outputSize)
{
    return m_ledger.mayTakeUnit(held, group, sourceSize, outputSize) &&
           m_ledger.rings.take(held, unit, sourceSize, outputSize);
}

// A direct read needs memory and file offset to be congruent modulo the alignment of direct reads.
// The block has `room` for the shift, and for the surplus that is read on both sides.
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
        unit.group = m_ledger.groups.numberOf(group);
        unit.request = group.currentRequest;
        unit.route = Route::host;
        unit.decodesOnCpu = unit.isRetried = false;
        unit.firstTile = unit.tileCount = 0;
        unit.decodedSize = 0;
        unit.planes = unit.rows = 0;
        unit.offset = request.info.offset + request.cut;
        const Cut result = request.info.target == SLUICE_STREAM_TO_IMAGE
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

// Bytes of files and of memory reach the host directly. They reach the GPU through the source ring.
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
    const bool onGpu = gpuDecodes(*request.info.file);
    uint32_t count = 0;
    const TileRecord* records = request.info.file->records(request.info.asset, count);
    const uint64_t first = request.info.offset + request.cut;
    const uint64_t end = request.info.offset + request.info.size;
    const auto routeOf = [&](const TileRecord& tile) {
        if (request.info.target == SLUICE_STREAM_TO_HOST || m_info.gpu == nullptr)
            return Route::host;
        if (!onGpu || tile.outputOffset < first || tile.outputOffset + tile.size > end)
            return Route::output;
        const uint64_t place =
            request.info.buffer.offset + (tile.outputOffset - request.info.offset);
        return place % (isPlainFloat(tile) ? kFloatAlignment : 4) == 0 ? Route::direct
                                                                       : Route::output;
    };
    unit.firstTile = tileAt(records, count, first);
    unit.route = routeOf(records[unit.firstTile]);
    unit.decodesOnCpu = unit.route == Route::host || !onGpu;
    const uint64_t room = roomOf(request);
    TileSum sum;
    for (uint32_t i = unit.firstTile; i < count && records[i].outputOffset < end; ++i) {
        TileSum more = sum;
        more.add(records[i]);
        const uint64_t place = records[i].outputOffset - records[unit.firstTile].outputOffset;
        const bool isMisplaced =
            unit.route == Route::output && isPlainFloat(records[i]) && place % kFloatAlignment != 0;
        if (i != unit.firstTile &&
            (!more.fits(kUnitRead - room) || routeOf(records[i]) != unit.route || isMisplaced))
            break;
        sum = more;
    }
    const TileRecord& last = records[unit.firstTile + sum.count - 1];
    unit.tileCount = sum.count;
    unit.decodedSize = sum.decoded;
    unit.storedSize = sum.stored;
    unit.size = std::min(last.outputOffset + last.size, end) - first;
    if (!takeBlocks(held, group, unit, sum.source + room,
                    unit.route == Route::output ? sum.decoded : 0))
        return Cut::later;
    placeSource(request, unit, records[unit.firstTile].offset, room);
    unit.outputBase = unit.output;
    return Cut::made;
}

// Finds the offset `pad` in the output block at which the unit's tiles begin. With it, the bytes to
// copy to the image start at a multiple of the texel block's size, and each tile starts at a
// multiple of the alignment that its decoder needs.
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
    unit.plane = uint32_t(request.cut / plane);
    unit.row = uint32_t(request.cut % plane / row);
    unit.planes = 1;
    unit.rows = uint32_t(rowCount(image)) - unit.row;
    if (unit.row == 0 && plane <= kStripSize)
        unit.planes = uint32_t(std::min(kStripSize / plane, left / plane));
    else
        unit.rows =
            uint32_t(std::min<uint64_t>(unit.rows, std::max<uint64_t>(kStripSize / row, 1)));
    unit.size = uint64_t(unit.planes) * unit.rows * row;
    if (request.info.source == SLUICE_STREAM_FROM_ARCHIVE)
        return cutImageOfArchive(held, group, request, unit);
    unit.route = Route::plain;
    if (!takeBlocks(held, group, unit, unit.size + image.blockSize, 0)) return Cut::later;
    const uint64_t start = m_info.source.buffer.offset;
    unit.outputBase =
        divideUp<uint64_t>(start + unit.source, image.blockSize) * image.blockSize - start;
    return Cut::made;
}

// Halves the number of planes or rows until their tiles fit into one unit.
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
        if (sum.fits(kUnitSource - room)) break;
        if (unit.planes == 1 && unit.rows == 1) return refuse(held, group, request);
        (unit.planes > 1 ? unit.planes : unit.rows) /= 2;
    }
    unit.route = Route::output;
    unit.decodesOnCpu = !gpuDecodes(*request.info.file);
    unit.decodedSize = sum.decoded;
    unit.storedSize = sum.stored;
    // Blocks of the ring start at multiples of 64 KiB. The padding is therefore the same in every
    // block, unless a texel block has 3 or 12 bytes, which is not a power of two.
    const bool isOdd = (image.blockSize & (image.blockSize - 1)) != 0;
    uint64_t pad = 0;
    if (!placeOutput(request, unit, isOdd ? 1 : image.blockSize, pad))
        return refuse(held, group, request);
    if (!takeBlocks(held, group, unit, sum.source + room, sum.decoded + (isOdd ? kMostPad : pad)))
        return Cut::later;
    placeSource(request, unit, records[unit.firstTile].offset, room);
    if (isOdd && !placeOutput(request, unit, image.blockSize, pad)) {
        m_ledger.rings.give(held, unit);
        return refuse(held, group, request);
    }
    unit.outputBase = unit.output + pad;
    return Cut::made;
}

} // namespace sluice::stream
