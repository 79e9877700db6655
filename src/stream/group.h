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

// Limits of one unit, a piece of a request. They are small, so that an urgent group never waits
// long for other units.
constexpr uint32_t kUnitTiles = 256;
constexpr uint64_t kUnitRead = SLUICE_STREAM_READ_SIZE;    // target size in bytes
constexpr uint64_t kUnitSource = SLUICE_STREAM_MIN_SOURCE; // image rows may exceed kUnitRead
constexpr uint64_t kUnitOutput = SLUICE_STREAM_BLOCK_SIZE;
constexpr uint64_t kUnitWork = uint64_t(8) << 20; // tile count times largest tile; limits scratch
constexpr uint64_t kStripSize = SLUICE_STREAM_READ_SIZE; // target size of image rows in bytes
constexpr uint32_t kMaxBlockSize = 64;                   // bytes of a texel block

// The number of units that a loop handles per hold of the lock. It is bounded so that other threads
// get the lock in between.
constexpr uint32_t kUnitsAtOnce = 16;
// The number of parked groups (they wait for tile records) that a loop handles per hold of the
// lock.
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
    ready,    // to be recorded; if it is in the line, a thread may decode it instead
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
    uint8_t reason = 0;        // SluiceStreamReason: who decodes a unit of an archive, and why
    bool isRetried = false;    // the GPU failed to decode it, so the CPU does
    bool isTranscoded = false; // its bytes are UASTC blocks, which are transcoded
    bool beginsImage = false, endsImage = false; // the layout changes before / after its copy
    uint32_t group = 0, request = 0;
    uint32_t next = kNone; // next unit in the list of its group or batch
    // Units of an archive consist of tiles of the asset. All other units are byte ranges of the
    // file or of memory, and have no tiles.
    uint32_t firstTile = 0, tileCount = 0;
    uint64_t offset = 0, size = 0; // the requested bytes of asset, file or memory
    uint64_t decodedSize = 0;      // decoded bytes of its tiles
    uint64_t storedSize = 0;       // stored bytes of its tiles; without tiles, `size`
    uint64_t source = Blocks::kNone, output = Blocks::kNone; // offsets of its blocks in the rings
    uint64_t sourceBase = 0; // where its stored bytes begin in the source ring
    uint64_t sourceEnd = 0;  // where its block in the source ring ends
    // Where the unit's first tile begins in the output ring. For a unit of plain bytes: where these
    // begin in the source ring.
    uint64_t outputBase = 0;
    // Where the unit's copy reads. It is outputBase, or the offset at which another unit of the
    // same batch decodes the same tiles.
    uint64_t copyBase = 0;
    // For a unit that is transcoded. blocks: where the unit's UASTC blocks begin, in the output
    // ring or, if it has no tiles, in the source ring. made: where the transcoded bytes begin in
    // the output ring.
    uint64_t blocks = 0, made = 0;
    // Predicted milliseconds. gpuSlowest and gpuBytes: on the GPU, for the unit's slowest tile and
    // for its bytes (cost_model.h). cpuTime: on one thread of the CPU.
    float gpuSlowest = 0, gpuBytes = 0, cpuTime = 0;
    // The group's event.value before the unit's batch, for a batch that is taken back.
    uint64_t valueBefore = 0;
    // For images: the unit's first plane (a layer or slice) and number of planes, its first row of
    // texel blocks and number of rows.
    uint32_t plane = 0, planes = 0, row = 0, rows = 0;
};

// Returns whether the GPU decodes or transcodes a unit.
inline bool isDecodedByGpu(const Unit& unit)
{
    return !unit.decodesOnCpu && (unit.route == Route::direct || unit.route == Route::output);
}
inline bool isTranscodedByGpu(const Unit& unit)
{
    return unit.isTranscoded && isDecodedByGpu(unit);
}
// Returns whether the GPU copies a unit.
inline bool isCopied(const Unit& unit)
{
    return unit.route == Route::output || unit.route == Route::plain;
}
// Returns whether the unit is copied from tiles that another unit of the batch decodes.
inline bool isDecodedElsewhere(const Unit& unit) { return unit.copyBase != unit.outputBase; }

struct Request {
    SluiceStreamRequest info{};
    uint32_t index = 0; // index in its group
    uint32_t next = kNone;
    uint64_t cut = 0;                // bytes that have been cut into units
    uint32_t openUnits = 0;          // units that are not finished
    uint32_t unrecorded = 0;         // units for the GPU that are not recorded yet
    uint64_t begunIn = 0, endIn = 0; // numbers of the batches that change its layout; 0: none yet
    bool hasFailed = false;
};

// The stages of a group's life. In the stages after `cancelled` the group has ended.
enum class Life : uint8_t {
    waiting, // for its semaphore
    running,
    // Too late to cancel, because all units are in batches: the group runs to its end, unless the
    // batch is discarded.
    tooLate,
    // Units that threads or batches are working on still run to their end.
    cancelled,
    ended,     // END event not returned yet, semaphore, if any, not signalled yet
    signalled, // semaphore signalled, END event not returned yet
    told,      // END event returned, semaphore not signalled yet
};

// The state of a group's RECORDED event: not due, to be returned by Poll, or returned.
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
    uint32_t next = kNone;       // next group in the list of free or ended groups
    uint32_t nextSignal = kNone; // next group in the list for the same semaphore
    Links recorded;              // in the list of RECORDED events to return
    SluiceStreamEvent event{};   // the END event, as far as it is known
    // If the group waits for tile records to be read: the extent (a range of an archive) that they
    // belong to, and the group's place in the list of groups that wait for it.
    struct Extent* parkedAt = nullptr;
    Links parked;

    bool isCancelled() const { return life == Life::cancelled; }
    bool hasEnded() const { return life > Life::cancelled; }
};

// Groups that wait until the tile records of one extent (a range of an archive) are read.
using Parked = LinkedList<Group, &Group::parked>;

// Why a request failed.
struct Failure {
    SluiceStatus status;
    uint32_t tile = kNone, tileStatus = SLUICE_TILE_OK;
    int32_t osError = 0;
    uint64_t fileOffset = 0;
};

// Returns the size of a row of texel blocks in bytes.
inline uint64_t rowSize(const SluiceStreamImage& image)
{
    return (uint64_t(image.extent[0]) + image.blockWidth - 1) / image.blockWidth * image.blockSize;
}
// Returns the number of rows of texel blocks in a plane.
inline uint64_t rowCount(const SluiceStreamImage& image)
{
    return (uint64_t(image.extent[1]) + image.blockHeight - 1) / image.blockHeight;
}

} // namespace sluice::stream
