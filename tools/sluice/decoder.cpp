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
      batchBytes_(device.properties().isSoftware != 0 ? softwareBatchBytes : gpuBatchBytes), tileDecode_(device)
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
    const bool fromArchive = entries_.front().tile.hasChecksum; // a batch holds tiles of one kind of file
    TileList list = {source_.data(), sourceSize_, destinationSize_, {}, {}, 0};
    if (fromArchive) list.flags = SLUICE_DECODE_STORED_IF_EQUAL; // tile streams never store
    for (const Entry& entry : entries_) {
        if (!entry.onDevice) continue;
        list.regions.push_back({entry.source, entry.destination, entry.tile.compressedSize, entry.tile.size});
        if (fromArchive) list.expected.push_back(entry.tile.checksum);
    }
    const SluiceGdeflateInfo decode = tileDecode_.prepare(list);
    SluiceCommands commands = nullptr;
    device_.check(sluiceBegin(device, &commands), "commands");
    device_.check(sluiceCmdGdeflate(device_.context(), commands, &decode), "decode");
    double milliseconds = 0;
    device_.check(sluiceSubmit(device, commands, &milliseconds), "submit");
    stats_.gpuMilliseconds += milliseconds;

    status_.resize(list.regions.size() + 2);
    destination_.resize(std::max<size_t>(destination_.size(), destinationSize_));
    device_.check(sluiceDownload(device, decode.status, status_.data(), decode.status.size), "download");
    device_.check(sluiceDownload(device, decode.destination, destination_.data(), destinationSize_), "download");
}

} // namespace sluice
