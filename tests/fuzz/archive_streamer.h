// SPDX-License-Identifier: MIT OR Apache-2.0
// A streamer without threads, which opens a file in memory.
#pragma once

#include <sluice/sluice_stream.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "tests/fuzz/fuzzing.h"

namespace sluice::fuzz {

struct StreamedFile {
    std::vector<uint8_t> bytes;
    uint64_t mostAtOnce = UINT64_MAX;
    uint32_t failEvery = 0, reads = 0, closes = 0;

    static int64_t read(void* user, uint64_t offset, void* bytes, uint64_t size)
    {
        StreamedFile& file = *static_cast<StreamedFile*>(user);
        ++file.reads;
        if (file.failEvery != 0 && file.reads % file.failEvery == 0) return -EIO;
        if (offset >= file.bytes.size()) return 0;
        const uint64_t count =
            std::min({size, uint64_t(file.bytes.size()) - offset, file.mostAtOnce});
        std::memcpy(bytes, file.bytes.data() + offset, size_t(count));
        return int64_t(count);
    }
    static void close(void* user) { ++static_cast<StreamedFile*>(user)->closes; }
};

struct ArchiveStreamer {
    SluiceContext context = nullptr;
    SluiceStreamer handle = nullptr;
    std::vector<uint8_t> ring = std::vector<uint8_t>(SLUICE_STREAM_MIN_SOURCE + 64);

    ArchiveStreamer()
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

    // Opens the file as an archive. The status says whether it is one.
    SluiceStatus open(StreamedFile& file, SluiceStreamFile* opened)
    {
        const SluiceStreamFileInterface functions = {&file, file.bytes.size(), StreamedFile::read,
                                                     StreamedFile::close};
        const SluiceStreamOpenInfo info = {nullptr, &functions, 1, 0};
        require(sluiceStreamOpen(handle, &info, opened) == SLUICE_OK);
        SluiceStreamEvent event;
        require(turn(&event, 1) == 1 && event.kind == SLUICE_STREAM_OPENED);
        return event.status;
    }

    // Requests bytes of an asset, which turn() reads into `place`.
    void request(SluiceStreamFile file, uint32_t asset, uint64_t offset,
                 std::vector<uint8_t>& place)
    {
        SluiceStreamRequest request = {};
        request.source = SLUICE_STREAM_FROM_ARCHIVE;
        request.file = file;
        request.asset = asset;
        request.offset = offset;
        request.size = place.size();
        request.host = place.data();
        const SluiceStreamGroupInfo info = {&request, 1, int32_t(asset), 0, 0, 0, {}, {}};
        SluiceStreamGroup group = 0;
        require(sluiceStreamSubmit(handle, &info, &group) == SLUICE_OK);
    }

    // Pumps until there is nothing left to do, then polls. Returns the number of events.
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

} // namespace sluice::fuzz
