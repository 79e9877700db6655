// SPDX-License-Identifier: MIT OR Apache-2.0
// Groups, their requests, the units that requests are cut into, and the limits of all three.
#pragma once

#include <sluice/sluice_stream.h>

#include "stream/blocks.h"
#include "stream/queue.h"
#include "stream/slots.h"

namespace sluice::stream {

// Limits of SluiceStreamerInfo.
constexpr uint32_t kMaxGroups = 65536, kMaxRequests = 1u << 24, kMaxUnits = 1u << 20;
constexpr uint32_t kMaxBatches = 16, kMaxBatchTiles = 65536, kMaxThreads = 64;
constexpr uint32_t kPumpDecodes = 16; // threads of the engine that may decode at a time

// Limits of one unit. They are small, so that an urgent group never waits long for other units.
constexpr uint32_t kUnitTiles = 256;
constexpr uint64_t kUnitRead = SLUICE_STREAM_READ_SIZE;    // target size in bytes
constexpr uint64_t kUnitSource = SLUICE_STREAM_MIN_SOURCE; // image rows may exceed kUnitRead
constexpr uint64_t kUnitOutput = SLUICE_STREAM_BLOCK_SIZE;
constexpr uint64_t kUnitWork = uint64_t(8) << 20; // tile count times largest tile; limits scratch
constexpr uint64_t kStripSize = SLUICE_STREAM_READ_SIZE; // target size of image rows in bytes
constexpr uint32_t kMaxBlockSize = 64;                   // bytes of a texel block

// The number of units that are handled per hold of the lock, where there may be any number of
// units.
constexpr uint32_t kUnitsAtOnce = 16;
// The number of parked groups, which wait for records, that are handled per hold of the lock.
constexpr uint32_t kParkedAtOnce = 64;

// The queues that a group can be in.
enum GroupQueue : uint32_t {
    kReadQueue,
    kDecodeQueue,
    kLineQueue,
    kCopyQueue,
    kGroupQueues
};

enum class UnitState : uint8_t {
    free,
    reading,
    toDecode, // only by the CPU
    decoding, // by the CPU
    ready,    // to be recorded; in the line, a thread may decode it first
    recorded,
    count
};

// The way that a unit's bytes take to their destination.
enum class Route : uint8_t {
    host,   // the CPU writes them: to host memory, or to buffers if there is no GPU
    direct, // the GPU decodes into the destination buffer
    output, // decoded or transcoded into the output ring, then copied
    plain,  // copied from the source ring
};

struct Unit {
    UnitState state = UnitState::free;
    Route route = Route::host;
    bool decodesOnCpu = false; // the CPU decodes the unit, or has decoded it
    uint8_t reason = 0;     // of units of archives: who decodes them, and why (SluiceStreamReason)
    bool isRetried = false; // the GPU failed to decode it, so the CPU does
    bool isTranscoded = false;                   // its bytes are UASTC blocks, which are transcoded
    bool beginsImage = false, endsImage = false; // the layout changes before it, after it
    uint32_t group = 0, request = 0;
    uint32_t next = kNone; // in the list of its group or of its batch
    // Units of an archive consist of tiles of the asset. All other units are byte ranges of the
    // file or of memory, and have no tiles.
    uint32_t firstTile = 0, tileCount = 0;
    uint64_t offset = 0, size = 0; // the requested bytes of asset, file or memory
    uint64_t decodedSize = 0;      // of its tiles
    uint64_t storedSize = 0;       // of its tiles, or `size`
    uint64_t source = Blocks::kNone, output = Blocks::kNone; // blocks of the rings
    uint64_t sourceBase = 0; // where its stored bytes begin in the source ring
    uint64_t sourceEnd = 0;  // where its block in the source ring ends
    // Where its first tile begins in the output ring, or where its plain bytes begin in the source
    // ring.
    uint64_t outputBase = 0;
    // The place that its copy reads: outputBase, or the place where another unit of its batch has
    // the same tiles decoded.
    uint64_t copyBase = 0;
    // Of a unit that is transcoded: where its blocks begin, in the output ring or, if it has no
    // tiles, in the source ring; and where what they become begins in the output ring.
    uint64_t blocks = 0, made = 0;
    // Predicted milliseconds: on the GPU, of its slowest tile and of its bytes; on one thread of
    // the CPU.
    float gpuSlowest = 0, gpuBytes = 0, cpuTime = 0;
    // For images: the planes (layers or slices) and the rows of texel blocks.
    uint32_t plane = 0, planes = 0, row = 0, rows = 0;
};

// These say whether the GPU decodes or transcodes a unit, and whether the GPU copies it.
inline bool isDecodedByGpu(const Unit& unit)
{
    return !unit.decodesOnCpu && (unit.route == Route::direct || unit.route == Route::output);
}
inline bool isTranscodedByGpu(const Unit& unit)
{
    return unit.isTranscoded && isDecodedByGpu(unit);
}
inline bool isCopied(const Unit& unit)
{
    return unit.route == Route::output || unit.route == Route::plain;
}
// Returns whether another unit of the batch decodes the unit's tiles.
inline bool isDecodedElsewhere(const Unit& unit) { return unit.copyBase != unit.outputBase; }

struct Request {
    SluiceStreamRequest info{};
    uint32_t index = 0; // in its group
    uint32_t next = kNone;
    uint64_t cut = 0;                // bytes that have been cut into units
    uint32_t openUnits = 0;          // units that are not finished
    uint32_t unrecorded = 0;         // units for the GPU that are not recorded yet
    uint64_t begunIn = 0, endIn = 0; // batches of its layout transitions; 0: none
    bool hasFailed = false;
};

// The stages of a group's life. In those after `cancelled` the group has ended.
enum class Life : uint8_t {
    waiting, // for its semaphore
    running,
    // Too late to cancel, because all units are in batches: the group runs to its end, unless the
    // batch is discarded.
    tooLate,
    // Units that threads or batches are working on still run to their end.
    cancelled,
    ended,     // its event is not returned, and its semaphore, if any, not signalled
    signalled, // its event is not returned yet
    told,      // its semaphore is not signalled yet
};

// The RECORDED event of a group.
enum class RecordedEvent : uint8_t {
    none,
    toTell,
    told
};

struct Group {
    int32_t priority = 0;
    uint64_t sequence = 0; // rises with each submitted group
    uint32_t place[kGroupQueues] = {kNotQueued, kNotQueued, kNotQueued, kNotQueued};
    SluiceStreamGroup handle = 0; // 0: free
    uint32_t flags = 0;
    Life life = Life::running;
    RecordedEvent recordedEvent = RecordedEvent::none;
    SluiceStreamSync wait{}, signal{};
    uint32_t firstRequest = kNone, currentRequest = kNone, requestCount = 0;
    uint32_t openUnits = 0;
    Queue toDecode;              // its units that are UnitState::toDecode
    Queue line;                  // its ready units that the GPU decodes, unless a thread does
    Queue ready;                 // its other ready units, which are copied
    uint32_t unrecorded = 0;     // units for the GPU that are not recorded yet
    uint32_t underWay = 0;       // units that are UnitState::recorded
    uint32_t next = kNone;       // in the list of free or ended groups
    uint32_t nextSignal = kNone; // in the list of groups with the same semaphore
    Links recorded;              // in the list of RECORDED events to return
    SluiceStreamEvent event{};   // the END event, as far as it is known
    // The extent whose records the group waits for, and its place in that extent's list.
    struct Extent* parkedAt = nullptr;
    Links parked;

    bool isCancelled() const { return life == Life::cancelled; }
    bool hasEnded() const { return life > Life::cancelled; }
};

// Groups that wait for the records of an extent.
using Parked = LinkedList<Group, &Group::parked>;

// Why a request failed.
struct Failure {
    SluiceStatus status;
    uint32_t tile = kNone, tileStatus = SLUICE_TILE_OK;
    int32_t osError = 0;
    uint64_t fileOffset = 0;
};

// Return the bytes of a row of texel blocks, and the number of such rows in a plane.
inline uint64_t rowSize(const SluiceStreamImage& image)
{
    return (uint64_t(image.extent[0]) + image.blockWidth - 1) / image.blockWidth * image.blockSize;
}
inline uint64_t rowCount(const SluiceStreamImage& image)
{
    return (uint64_t(image.extent[1]) + image.blockHeight - 1) / image.blockHeight;
}

} // namespace sluice::stream
