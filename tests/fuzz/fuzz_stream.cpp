// SPDX-License-Identifier: MIT OR Apache-2.0
// The streamer opens arbitrary bytes as an archive, through an engine's own file, and everything in
// it is requested. The first byte says how many bytes a read gives at most, and where reads fail.
// Checksums are made right first, since nothing would get past them otherwise.
#include <sluice/sluice_stream.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../../src/formats/archive_layout.h"

using namespace sluice;

namespace {

constexpr uint32_t kMaxAssets = 8;                // requested
constexpr uint64_t kMaxBytes = uint64_t(1) << 22; // of each

void require(bool condition)
{
    if (!condition) std::abort();
}

void repairChecksums(std::vector<uint8_t>& file)
{
    const uint64_t index = loadLe64(&file[headerIndexOffset]);
    const uint64_t assets = loadLe32(&file[headerAssetCount]);
    if (index >= headerBytes && index <= file.size()) {
        for (uint64_t i = 0; i < assets && (i + 1) * assetBytes <= file.size() - index; ++i) {
            uint8_t* entry = file.data() + index + i * assetBytes;
            const uint64_t offset = loadLe64(entry + assetOffset);
            const uint64_t size = uint64_t(loadLe32(entry + assetTileCount)) * recordBytes;
            if (offset <= file.size() && size <= file.size() - offset)
                storeLe32(entry + assetTileChecksum, xxh32(file.data() + offset, size_t(size), 0));
        }
        storeLe32(&file[headerIndexChecksum],
                  xxh32(file.data() + index, file.size() - size_t(index), 0));
    }
    storeLe32(&file[headerChecksum], xxh32(file.data(), headerChecksum, 0));
}

struct File {
    std::vector<uint8_t> bytes;
    uint64_t mostAtOnce = UINT64_MAX;
    uint32_t failEvery = 0, reads = 0, closes = 0;
};

int64_t readFile(void* user, uint64_t offset, void* bytes, uint64_t size)
{
    File& file = *static_cast<File*>(user);
    ++file.reads;
    if (file.failEvery != 0 && file.reads % file.failEvery == 0) return -EIO;
    if (offset >= file.bytes.size()) return 0;
    const uint64_t count = std::min({size, uint64_t(file.bytes.size()) - offset, file.mostAtOnce});
    std::memcpy(bytes, file.bytes.data() + offset, size_t(count));
    return int64_t(count);
}

void closeFile(void* user) { ++static_cast<File*>(user)->closes; }

// What is made once: a streamer without threads.
struct Streamer {
    SluiceContext context = nullptr;
    SluiceStreamer handle = nullptr;
    std::vector<uint8_t> ring = std::vector<uint8_t>(SLUICE_STREAM_MIN_SOURCE + 64);

    Streamer()
    {
        require(sluiceCreateCpuContext(&context) == SLUICE_OK);
        SluiceStreamerInfo info = {};
        info.context = context;
        uint8_t* start = ring.data() + (64 - reinterpret_cast<uintptr_t>(ring.data()) % 64) % 64;
        info.source = {{uint64_t(reinterpret_cast<uintptr_t>(start)), 0, SLUICE_STREAM_MIN_SOURCE},
                       start};
        info.maxGroups = 64;
        info.maxRequests = 64;
        info.maxBatches = 1;
        require(sluiceCreateStreamer(&info, &handle) == SLUICE_OK);
    }

    // Pumps until there is nothing to do, and polls. Returns how many events came.
    uint32_t turn(SluiceStreamEvent* events, uint32_t room)
    {
        uint32_t done = 0;
        do
            require(sluiceStreamPump(handle, 64, &done) == SLUICE_OK);
        while (done == 64);
        uint32_t count = room;
        require(sluiceStreamPoll(handle, events, &count) == SLUICE_OK);
        return count;
    }
};

void requestAll(Streamer& streamer, SluiceStreamFile file, uint32_t parts)
{
    SluiceArchive archive;
    require(sluiceStreamGetArchive(file, &archive) == SLUICE_OK);
    std::vector<std::vector<uint8_t>> places; // of exactly the size asked for
    uint32_t groups = 0;
    for (uint32_t i = 0; i < std::min(archive.assetCount, kMaxAssets); ++i) {
        SluiceArchiveAsset about;
        require(sluiceStreamGetAsset(file, i, &about) == SLUICE_OK);
        for (uint32_t part = 0; part <= parts; ++part) {
            SluiceStreamRequest request = {};
            request.source = SLUICE_STREAM_FROM_ARCHIVE;
            request.file = file;
            request.asset = i;
            request.offset = about.size / 3 * part;
            request.size = std::min(about.size - request.offset, kMaxBytes);
            places.emplace_back(size_t(request.size));
            request.host = places.back().data();
            const SluiceStreamGroupInfo info = {&request, 1, int32_t(i), 0, 0, 0, {}, {}};
            SluiceStreamGroup group = 0;
            require(sluiceStreamSubmit(streamer.handle, &info, &group) == SLUICE_OK);
            ++groups;
        }
    }
    SluiceStreamEvent events[64];
    const uint32_t ended = streamer.turn(events, 64);
    require(ended == groups);
    SluiceStreamCounters counters;
    require(sluiceStreamGetCounters(streamer.handle, &counters) == SLUICE_OK);
    require(counters.groups == 0 && counters.requests == 0 && counters.sourceUsed == 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static Streamer streamer;
    if (size == 0) return 0;
    File file;
    file.bytes.assign(data + 1, data + size);
    if (file.bytes.size() >= headerBytes) repairChecksums(file.bytes);
    if ((data[0] & 1) != 0) file.mostAtOnce = 1 + data[0] / 2;
    if ((data[0] & 6) == 6) file.failEvery = 2 + data[0] / 8;
    const SluiceStreamFileInterface interface = {&file, file.bytes.size(), readFile, closeFile};
    const SluiceStreamOpenInfo info = {nullptr, &interface, 1, 0};
    SluiceStreamFile opened = nullptr;
    require(sluiceStreamOpen(streamer.handle, &info, &opened) == SLUICE_OK);
    SluiceStreamEvent event;
    require(streamer.turn(&event, 1) == 1 && event.kind == SLUICE_STREAM_OPENED);
    if (event.status == SLUICE_OK) requestAll(streamer, opened, data[0] >> 7);
    require(sluiceStreamClose(streamer.handle, opened) == SLUICE_OK);
    require(file.closes == 1);
    return 0;
}
