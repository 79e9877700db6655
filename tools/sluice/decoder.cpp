// SPDX-License-Identifier: MIT OR Apache-2.0
#include "decoder.h"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// A GPU wants many tiles at once; a software device shall show progress.
constexpr uint64_t gpuBatchBytes = uint64_t(256) << 20, softwareBatchBytes = uint64_t(8) << 20;
constexpr size_t batchTiles = 65536;
constexpr uint32_t deviceTileBytes = 65536; // larger ones are stored, and stay on the host
constexpr uint64_t placeAlignment = 16;

uint64_t place(uint64_t& end, uint64_t size)
{
    const uint64_t start = end;
    end = (end + size + placeAlignment - 1) / placeAlignment * placeAlignment;
    return start;
}

} // namespace

Decoder::Decoder(const ToolDevice& device, Done done)
    : device_(device), done_(std::move(done)),
      batchBytes_(device.properties().isSoftware != 0 ? softwareBatchBytes : gpuBatchBytes), sourceBuffer_(device),
      destinationBuffer_(device), regionBuffer_(device), expectedBuffer_(device), statusBuffer_(device),
      scratchBuffer_(device)
{
}

uint8_t* Decoder::add(const DecodeTile& tile)
{
    if (!entries_.empty() && (destinationSize_ + tile.size > batchBytes_ ||
                              sourceSize_ + tile.compressedSize > batchBytes_ || entries_.size() == batchTiles)) {
        flush();
    }
    Entry entry = {tile, place(sourceSize_, tile.compressedSize), 0, tile.size <= deviceTileBytes};
    if (entry.onDevice) {
        entry.destination = place(destinationSize_, tile.size);
    }
    entries_.push_back(entry);
    if (source_.size() < sourceSize_) {
        source_.resize(std::max<size_t>(sourceSize_, source_.size() * 2));
    }
    return source_.data() + entry.source;
}

void Decoder::flush()
{
    if (destinationSize_ != 0) {
        decodeOnDevice();
    }
    std::vector<Entry> entries; // done may throw: nothing is given back twice
    entries.swap(entries_);
    sourceSize_ = destinationSize_ = 0;
    uint32_t region = 0;
    for (const Entry& entry : entries) {
        uint32_t status = SLUICE_TILE_OK;
        const uint8_t* bytes = source_.data() + entry.source;
        if (entry.onDevice) {
            status = status_[region++];
            bytes = destination_.data() + entry.destination;
        } else if (entry.tile.hasChecksum && sluiceTileChecksum(bytes, entry.tile.size) != entry.tile.checksum) {
            status = SLUICE_TILE_BAD_CHECKSUM;
        }
        stats_.bytesIn += entry.tile.compressedSize;
        stats_.bytesOut += entry.tile.size;
        ++stats_.tiles;
        done_(entry.tile, status, bytes);
    }
}

void Decoder::decodeOnDevice()
{
    const SluiceDevice device = device_.handle();
    const DecodeTile& first = entries_.front().tile; // a batch holds tiles of one kind of file
    const SluiceBuffer source = sourceBuffer_.reserve(sourceSize_);
    const SluiceBuffer destination = destinationBuffer_.reserve(destinationSize_);
    const uint64_t sourceAddress = sluiceGetAddress(device, source);
    const uint64_t destinationAddress = sluiceGetAddress(device, destination);
    std::vector<SluiceRegion> regions;
    std::vector<uint32_t> expected;
    for (const Entry& entry : entries_) {
        if (entry.onDevice) {
            regions.push_back({sourceAddress + entry.source, destinationAddress + entry.destination,
                               entry.tile.compressedSize, entry.tile.size});
            expected.push_back(entry.tile.checksum);
        }
    }
    const uint32_t count = uint32_t(regions.size());

    SluiceGdeflateInfo decode = {};
    decode.maxRegionCount = count;
    decode.regionStride = sizeof(SluiceRegion);
    decode.flags = first.hasChecksum ? SLUICE_DECODE_STORED_IF_EQUAL : 0; // archives store, tile streams never do
    decode.regions = regionBuffer_.reserve(count * sizeof(SluiceRegion));
    decode.source = source;
    decode.destination = destination;
    decode.status = statusBuffer_.reserve((uint64_t(count) + 2) * 4);
    SluiceRequirements requirements = {};
    device_.check(sluiceGetGdeflateRequirements(device_.context(), &decode, &requirements), "requirements");
    decode.scratch = scratchBuffer_.reserve(requirements.scratchSize);

    SluiceChecksumInfo checksum = {};
    checksum.maxRegionCount = count;
    checksum.regionStride = sizeof(SluiceRegion);
    checksum.regions = decode.regions;
    checksum.destination = destination;
    checksum.expected = expectedBuffer_.reserve(uint64_t(count) * 4);
    checksum.status = decode.status;

    device_.check(sluiceUpload(device, source, source_.data(), sourceSize_), "upload");
    device_.check(sluiceUpload(device, decode.regions, regions.data(), decode.regions.size), "upload");
    if (first.hasChecksum) {
        device_.check(sluiceUpload(device, checksum.expected, expected.data(), checksum.expected.size), "upload");
    }
    SluiceCommands commands = nullptr;
    device_.check(sluiceBegin(device, &commands), "commands");
    device_.check(sluiceCmdGdeflate(device_.context(), commands, &decode), "decode");
    if (first.hasChecksum) {
        device_.check(sluiceCmdBarrier(device_.context(), commands), "barrier");
        device_.check(sluiceCmdChecksum(device_.context(), commands, &checksum), "checksum");
    }
    double milliseconds = 0;
    device_.check(sluiceSubmit(device, commands, &milliseconds), "submit");
    stats_.gpuMilliseconds += milliseconds;

    status_.resize(size_t(count) + 2);
    destination_.resize(std::max<size_t>(destination_.size(), destinationSize_));
    device_.check(sluiceDownload(device, decode.status, status_.data(), decode.status.size), "download");
    device_.check(sluiceDownload(device, destination, destination_.data(), destinationSize_), "download");
}

} // namespace sluice
