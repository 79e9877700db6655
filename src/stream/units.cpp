// SPDX-License-Identifier: MIT OR Apache-2.0
// Cuts requests into units: reads of a bounded size, of whole tiles, and of images whole rows.
#include "stream/streamer.h"

#include <algorithm>

using namespace sluice::stream;
using sluice::divideUp;

namespace {

constexpr uint64_t kMaxImageSize = uint64_t(1) << 48;
constexpr uint32_t kMaxBlockSize = 64, kMaxBlockWidth = 16;
constexpr uint64_t kMostPad = 16 * kMaxBlockSize;

// What tiles of one unit add up to.
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

SluiceStatus sluice::stream::checkImage(const SluiceStreamRequest& request, bool hasGpu)
{
    if (!hasGpu) return SLUICE_ERROR_UNSUPPORTED;
    const SluiceStreamImage& image = request.image;
    if (image.image == 0 || image.blockWidth == 0 || image.blockHeight == 0 ||
        image.blockSize == 0 || image.blockWidth > kMaxBlockWidth ||
        image.blockHeight > kMaxBlockWidth || image.blockSize > kMaxBlockSize ||
        image.layerCount == 0 || (image.extent[2] != 1 && image.layerCount != 1) ||
        image.offset[0] % image.blockWidth != 0 || image.offset[1] % image.blockHeight != 0)
        return SLUICE_ERROR_ARGUMENT;
    uint64_t size = 1;
    for (const uint64_t factor :
         {rowSize(image), rowCount(image), uint64_t(image.extent[2]), uint64_t(image.layerCount)}) {
        if (factor == 0 || size > kMaxImageSize / factor) return SLUICE_ERROR_ARGUMENT;
        size *= factor;
    }
    if (size != request.size) return SLUICE_ERROR_ARGUMENT;
    return rowSize(image) <= kStripSize ? SLUICE_OK : SLUICE_ERROR_UNSUPPORTED;
}

// Groups of low priority leave a quarter to others, but a streamer that does nothing else always
// takes one unit.
bool SluiceStreamer_T::mayTake(const Group& group, uint64_t sourceSize, uint64_t outputSize) const
{
    if (m_unitsUsed == 0 || group.priority >= m_info.reserveAbove) return true;
    const auto leaves = [](const Blocks& blocks, uint64_t more) {
        return more == 0 || blocks.used() == 0 ||
               blocks.used() + blocks.blockSize(more) <= blocks.capacity() / 4 * 3;
    };
    return m_unitsUsed < m_info.maxUnits / 4 * 3 && leaves(m_source, sourceSize) &&
           leaves(m_output, outputSize);
}

bool SluiceStreamer_T::takeBlocks(const Group& group, Unit& unit, uint64_t sourceSize,
                                  uint64_t outputSize)
{
    if (!mayTake(group, sourceSize, outputSize)) return false;
    unit.source = sourceSize != 0 ? m_source.take(sourceSize) : Blocks::kNone;
    if (sourceSize != 0 && unit.source == Blocks::kNone) return false;
    unit.sourceBase = unit.source;
    unit.sourceEnd = unit.source + sourceSize;
    unit.output = outputSize != 0 ? m_output.take(outputSize) : Blocks::kNone;
    if (outputSize == 0 || unit.output != Blocks::kNone) return true;
    freeBlocks(unit);
    return false;
}

// A direct read wants the same place in a sector in memory as in the file, for which the block has
// `room`; what it reads too much on both sides stays in the block.
void SluiceStreamer_T::placeSource(const Request& request, Unit& unit, uint64_t fileOffset,
                                   uint64_t room) const
{
    if (room == 0) return;
    const uint64_t start = uint64_t(reinterpret_cast<uintptr_t>(m_info.source.host)) + unit.source;
    unit.sourceBase += (fileOffset - start) % request.info.file->directAlignment;
}

SluiceStreamer_T::Cut SluiceStreamer_T::cutUnit(Group& group, Unit& unit)
{
    while (group.currentRequest != kNone) {
        Request& request = m_requests[group.currentRequest];
        if (request.cut == request.info.size) {
            group.currentRequest = request.next;
            continue;
        }
        unit.group = indexOf(group);
        unit.request = group.currentRequest;
        unit.route = Route::host;
        unit.decodesOnCpu = unit.isRetried = false;
        unit.firstTile = unit.tileCount = 0;
        unit.decodedSize = 0;
        unit.planes = unit.rows = 0;
        const Cut result =
            request.info.target == SLUICE_STREAM_TO_IMAGE       ? cutImage(group, request, unit)
            : request.info.source == SLUICE_STREAM_FROM_ARCHIVE ? cutTiles(group, request, unit)
                                                                : cutPlain(request, unit);
        if (result == Cut::later) return result;
        if (result == Cut::done) { // it cannot be done, for which it was failed
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

// Bytes of files and memory go to the host without a ring, and by the ring to the GPU.
SluiceStreamer_T::Cut SluiceStreamer_T::cutPlain(Request& request, Unit& unit)
{
    unit.offset = request.info.offset + request.cut;
    unit.size = std::min<uint64_t>(request.info.size - request.cut, kUnitRead);
    if (request.info.target == SLUICE_STREAM_TO_HOST || m_info.gpu == nullptr)
        return mayTake(m_groups[unit.group], 0, 0) ? Cut::made : Cut::later;
    unit.route = Route::plain;
    const uint64_t room = roomOf(request);
    unit.size = std::min(unit.size, kUnitRead - room);
    if (!takeBlocks(m_groups[unit.group], unit, unit.size + room, 0)) return Cut::later;
    placeSource(request, unit, unit.offset, room);
    unit.outputBase = unit.sourceBase;
    return Cut::made;
}

// Where the CPU cannot reach the output ring it is of no use to know.
void SluiceStreamer_T::noteRefusedKernels()
{
    if (!m_gpuDecodes || m_info.output.host == nullptr || m_toRead.empty()) return;
    SluiceContextInfo about = {};
    if (sluiceGetContextInfo(m_info.context, &about) == SLUICE_OK)
        m_refusedKernels = about.refusedKernels;
}

bool SluiceStreamer_T::gpuDecodes(const SluiceStreamFile_T& file) const
{
    return m_gpuDecodes && (m_refusedKernels & file.kernels) == 0;
}

SluiceStreamer_T::Cut SluiceStreamer_T::cutTiles(Group& group, Request& request, Unit& unit)
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
    unit.offset = first;
    unit.size = std::min(last.outputOffset + last.size, end) - first;
    if (!takeBlocks(group, unit, sum.source + room, unit.route == Route::output ? sum.decoded : 0))
        return Cut::later;
    placeSource(request, unit, records[unit.firstTile].offset, room);
    unit.outputBase = unit.output;
    return Cut::made;
}

// Where in its block a unit begins, so that what is copied to the image begins at a multiple of a
// block of texels, and tiles at the multiples that their decoders want.
bool SluiceStreamer_T::placeOutput(const Request& request, Unit& unit, uint32_t blockSize,
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

SluiceStreamer_T::Cut SluiceStreamer_T::cutImage(Group& group, Request& request, Unit& unit)
{
    const SluiceStreamImage& image = request.info.image;
    const uint64_t row = rowSize(image), plane = row * rowCount(image);
    const uint64_t left = request.info.size - request.cut;
    unit.plane = uint32_t(request.cut / plane);
    unit.row = uint32_t(request.cut % plane / row);
    unit.offset = request.info.offset + request.cut;
    unit.planes = 1;
    unit.rows = uint32_t(rowCount(image)) - unit.row;
    if (unit.row == 0 && plane <= kStripSize)
        unit.planes = uint32_t(std::min(kStripSize / plane, left / plane));
    else
        unit.rows =
            uint32_t(std::min<uint64_t>(unit.rows, std::max<uint64_t>(kStripSize / row, 1)));
    const bool isArchive = request.info.source == SLUICE_STREAM_FROM_ARCHIVE;
    uint32_t count = 0;
    const TileRecord* records =
        isArchive ? request.info.file->records(request.info.asset, count) : nullptr;
    const uint64_t room = roomOf(request);
    TileSum sum;
    for (;;) {
        unit.size = uint64_t(unit.planes) * unit.rows * row;
        if (!isArchive) break;
        sum = {};
        unit.firstTile = tileAt(records, count, unit.offset);
        for (uint32_t i = unit.firstTile; i < count && sum.count <= kUnitTiles &&
                                          records[i].outputOffset < unit.offset + unit.size;
             ++i)
            sum.add(records[i]);
        unit.tileCount = sum.count;
        if (sum.fits(kUnitSource - room)) break;
        if (unit.planes == 1 && unit.rows == 1) {
            fail(group, request, {SLUICE_ERROR_UNSUPPORTED});
            return Cut::done;
        }
        (unit.planes > 1 ? unit.planes : unit.rows) /= 2;
    }
    uint64_t pad = 0;
    if (!isArchive) {
        unit.route = Route::plain;
        const uint64_t start = m_info.source.buffer.offset;
        if (!takeBlocks(group, unit, unit.size + image.blockSize, 0)) return Cut::later;
        unit.outputBase =
            divideUp<uint64_t>(start + unit.source, image.blockSize) * image.blockSize - start;
        return Cut::made;
    }
    unit.route = Route::output;
    unit.decodesOnCpu = !gpuDecodes(*request.info.file);
    unit.decodedSize = sum.decoded;
    unit.storedSize = sum.stored;
    // Blocks begin at multiples of 64 KiB, so that only blocks of 3 or 12 bytes depend on which one
    // is taken.
    const bool isOdd = (image.blockSize & (image.blockSize - 1)) != 0;
    if (!placeOutput(request, unit, isOdd ? 1 : image.blockSize, pad)) {
        fail(group, request, {SLUICE_ERROR_UNSUPPORTED});
        return Cut::done;
    }
    if (!takeBlocks(group, unit, sum.source + room, sum.decoded + (isOdd ? kMostPad : pad)))
        return Cut::later;
    placeSource(request, unit, records[unit.firstTile].offset, room);
    if (isOdd && !placeOutput(request, unit, image.blockSize, pad)) {
        freeBlocks(unit);
        fail(group, request, {SLUICE_ERROR_UNSUPPORTED});
        return Cut::done;
    }
    unit.outputBase = unit.output + pad;
    return Cut::made;
}
