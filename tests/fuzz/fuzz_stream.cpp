// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the streamer: any bytes are opened as an archive, through an engine's own file functions,
// and everything in it is requested, at a cost that its size explains. The first byte says how many
// bytes a read gives at most, and which reads fail.
#include "tests/fuzz/archive_checksums.h"
#include "tests/fuzz/archive_streamer.h"

using namespace sluice::fuzz;

namespace {

constexpr uint32_t kMaxAssets = 8;                // how many assets are requested
constexpr uint64_t kMaxBytes = uint64_t(1) << 22; // most bytes requested of each

void requestAll(ArchiveStreamer& streamer, SluiceStreamFile file, uint32_t parts, CostLimit& cost)
{
    SluiceArchive archive;
    require(sluiceStreamGetArchive(file, &archive) == SLUICE_OK);
    std::vector<std::vector<uint8_t>> places; // each of exactly the size that was requested
    for (uint32_t i = 0; i < std::min(archive.assetCount, kMaxAssets); ++i) {
        SluiceArchiveAsset about;
        require(sluiceStreamGetAsset(file, i, &about) == SLUICE_OK);
        for (uint32_t part = 0; part <= parts; ++part) {
            const uint64_t offset = about.size / 3 * part;
            places.emplace_back(size_t(std::min(about.size - offset, kMaxBytes)));
            streamer.request(file, i, offset, places.back());
            cost.moreBytes(places.back().size());
        }
    }
    SluiceStreamEvent events[64];
    require(streamer.turn(events, 64) == places.size());
    SluiceStreamCounters counters;
    require(sluiceStreamGetCounters(streamer.handle, &counters) == SLUICE_OK);
    require(counters.groups == 0 && counters.requests == 0 && counters.sourceUsed == 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static ArchiveStreamer streamer;
    if (size == 0) return 0;
    CostLimit cost(size);
    StreamedFile file;
    file.bytes.assign(data + 1, data + size);
    repairChecksums(file.bytes);
    if ((data[0] & 1) != 0) file.mostAtOnce = 1 + data[0] / 2;
    if ((data[0] & 6) == 6) file.failEvery = 2 + data[0] / 8;
    SluiceStreamFile opened = nullptr;
    if (streamer.open(file, &opened) == SLUICE_OK) requestAll(streamer, opened, data[0] >> 7, cost);
    require(sluiceStreamClose(streamer.handle, opened) == SLUICE_OK);
    require(file.closes == 1);
    return 0;
}
