// SPDX-License-Identifier: MIT OR Apache-2.0
// Groups, the requests that they consist of, the units that requests are cut into, and the limits of
// all three.
#pragma once

#include <sluice/sluice_stream.h>

#include "stream/blocks.h"
#include "stream/queue.h"
#include "stream/slots.h"

namespace sluice::stream {

// Limits of SluiceStreamerInfo.
constexpr uint32_t kMaxGroups = 65536, kMaxRequests = 1u << 24, kMaxUnits = 1u << 20;
constexpr uint32_t kMaxBatches = 16, kMaxBatchTiles = 65536, kMaxThreads = 64;

// Limits of one unit, so that an urgent group never waits for much.
constexpr uint32_t kUnitTiles = 256;
constexpr uint64_t kUnitRead = SLUICE_STREAM_READ_SIZE;    // bytes aimed at
constexpr uint64_t kUnitSource = SLUICE_STREAM_MIN_SOURCE; // rows of images may need more
constexpr uint64_t kUnitOutput = SLUICE_STREAM_BLOCK_SIZE;
constexpr uint64_t kUnitWork = uint64_t(8) << 20;        // its tiles times the largest, for scratch
constexpr uint64_t kStripSize = SLUICE_STREAM_READ_SIZE; // rows of images, bytes aimed at
constexpr uint32_t kMaxBlockSize = 64;                   // bytes of a block of an image

// How many units are handled between one lock and the next where there may be any number of them.
constexpr uint32_t kUnitsAtOnce = 16;

// The queues that a group can be in.
enum GroupQueue : uint32_t {
    kReadQueue,
    kDecodeQueue,
    kRecordQueue,
    kGroupQueues
};

enum class UnitState : uint8_t {
    free,
    reading,
    toDecode, // by the CPU
    decoding,
    ready, // to be recorded
    recorded,
    count
};

// How a unit's bytes come to their destination.
enum class Route : uint8_t {
    host,   // the CPU puts them there: host memory, or buffers without a GPU
    direct, // the GPU decodes to the buffer
    output, // decoded into the output ring, then copied
    plain,  // copied from the source ring
};

struct Unit {
    UnitState state = UnitState::free;
    Route route = Route::host;
    bool decodesOnCpu = false;
    bool isRetried = false;                      // the GPU could not decode it, so the CPU does
    bool beginsImage = false, endsImage = false; // it changes the layout, before and after its copy
    uint32_t group = 0, request = 0;
    uint32_t next = kNone; // in a list of its group, or of its batch
    // An archive is read in tiles of the asset, everything else in bytes of the file or of memory.
    uint32_t firstTile = 0, tileCount = 0;
    uint64_t offset = 0, size = 0; // the bytes wanted of the asset, file or memory
    uint64_t decodedSize = 0;      // of its tiles
    uint64_t storedSize = 0;       // of its tiles, or `size`
    uint64_t source = Blocks::kNone, output = Blocks::kNone; // blocks of the rings
    uint64_t sourceBase = 0; // where its stored bytes begin in the source ring
    uint64_t sourceEnd = 0;  // where its block there ends
    uint64_t outputBase = 0; // where its first tile goes in output, or its plain bytes in source
    // Images: planes (layers or slices) and rows of blocks.
    uint32_t plane = 0, planes = 0, row = 0, rows = 0;
};

struct Request {
    SluiceStreamRequest info{};
    uint32_t index = 0; // in its group
    uint32_t next = kNone;
    uint64_t cut = 0;                // bytes that units have been made of
    uint32_t openUnits = 0;          // units that are not done
    uint32_t unrecorded = 0;         // units for the GPU that are not recorded yet
    uint64_t begunIn = 0, endIn = 0; // the batches in which its image changed its layout; 0: none
    bool hasFailed = false;
};

// A group's life. What comes after `cancelled` has ended.
enum class Life : uint8_t {
    waiting, // for its semaphore
    running,
    tooLate,   // to cancel it, as all of it is in batches: it runs, but for one that is discarded
    cancelled, // what threads read or decode, or batches decode, ends by itself
    ended,     // its event is not told, and its semaphore, if it has one, not signalled
    signalled, // its event is not told
    told,      // its semaphore is not signalled
};

// The RECORDED event of a group.
enum class RecordedEvent : uint8_t {
    none,
    toTell,
    told
};

struct Group {
    int32_t priority = 0;
    uint64_t sequence = 0; // the order of submission
    uint32_t place[kGroupQueues] = {kNotQueued, kNotQueued, kNotQueued};
    SluiceStreamGroup handle = 0; // 0: free
    uint32_t flags = 0;
    Life life = Life::running;
    RecordedEvent recordedEvent = RecordedEvent::none;
    SluiceStreamSync wait{}, signal{};
    uint32_t firstRequest = kNone, currentRequest = kNone, requestCount = 0;
    uint32_t openUnits = 0;
    Queue toDecode, ready;       // its units in these states
    uint32_t unrecorded = 0;     // units for the GPU
    uint32_t underWay = 0;       // units that are UnitState::recorded
    uint32_t next = kNone;       // in the list of free groups, or of those that have ended
    uint32_t nextSignal = kNone; // in the list of those that signal the same semaphore
    Links recorded;              // in the list of those whose RECORDED event is to be told
    SluiceStreamEvent event{};   // END, as far as it is known

    bool isCancelled() const { return life == Life::cancelled; }
    bool hasEnded() const { return life > Life::cancelled; }
};

// Why a request failed.
struct Failure {
    SluiceStatus status;
    uint32_t tile = kNone, tileStatus = SLUICE_TILE_OK;
    int32_t osError = 0;
    uint64_t fileOffset = 0;
};

// Bytes of a row of blocks of an image, and rows of blocks of a plane.
inline uint64_t rowSize(const SluiceStreamImage& image)
{
    return (uint64_t(image.extent[0]) + image.blockWidth - 1) / image.blockWidth * image.blockSize;
}
inline uint64_t rowCount(const SluiceStreamImage& image)
{
    return (uint64_t(image.extent[1]) + image.blockHeight - 1) / image.blockHeight;
}

} // namespace sluice::stream
