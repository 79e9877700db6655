// SPDX-License-Identifier: MIT OR Apache-2.0
#include "decoder.h"

#include <algorithm>
#include <utility>

#include <sluice/sluice_filter.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_formats.h>

namespace sluice {
namespace {

// A GPU wants many tiles at once; a software device shall show progress.
constexpr uint64_t gpuBatchBytes = uint64_t(256) << 20, softwareBatchBytes = uint64_t(8) << 20;
constexpr size_t batchTiles = 65536;
// larger stored ones stay on the host
constexpr uint32_t gdeflateTileBytes = 65536, gstdTileBytes = 262144;
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
      batchBytes_(device.properties().isSoftware != 0 ? softwareBatchBytes : gpuBatchBytes),
      tileDecode_(device)
{
}

uint8_t* Decoder::add(const DecodeTile& tile)
{
    if (!entries_.empty() &&
        (destinationSize_ + tile.size > batchBytes_ ||
         sourceSize_ + tile.compressedSize > batchBytes_ || entries_.size() == batchTiles)) {
        flush();
    }
    const bool stored = tile.codec == SLUICE_CODEC_STORE;
    const Way way = tile.codec == SLUICE_CODEC_FLOAT            ? Way::tensor
                    : tile.codec == SLUICE_CODEC_GSTD           ? Way::gstdRegion
                    : !stored || tile.size <= gdeflateTileBytes ? Way::region
                    : tile.size <= gstdTileBytes                ? Way::gstdRegion
                                                                : Way::host;
    Entry entry = {tile, place(sourceSize_, tile.compressedSize), 0, 0, way, SLUICE_TILE_OK};
    if (way != Way::host) {
        entry.destination = place(destinationSize_, tile.size);
    }
    if (tile.filter != nullptr && (way == Way::region || way == Way::gstdRegion)) {
        entry.filtered = place(filteredSize_, tile.size);
    }
    entries_.push_back(entry);
    if (source_.size() < sourceSize_) {
        source_.resize(
            std::max<size_t>(sourceSize_, std::min<size_t>(source_.size() * 2, batchBytes_)));
    }
    return source_.data() + entry.source;
}

void Decoder::flush()
{
    std::vector<Entry> entries; // done may throw: nothing is given back twice
    entries.swap(entries_);
    if (destinationSize_ != 0) {
        decodeOnDevice(entries);
    }
    sourceSize_ = destinationSize_ = filteredSize_ = 0;
    for (const Entry& entry : entries) {
        const bool onDevice = entry.way != Way::host;
        const uint8_t* bytes =
            onDevice ? destination_.data() + entry.destination : source_.data() + entry.source;
        const bool checked = isCheckedOnDevice(entry);
        uint32_t status = entry.status;
        std::vector<uint8_t> unfiltered;
        if (!checked && entry.tile.filter != nullptr && status == SLUICE_TILE_OK) {
            unfiltered.resize(entry.tile.size);
            if (sluiceUndoFilter(entry.tile.filter, entry.tile.filterSize, bytes, unfiltered.data(),
                                 entry.tile.size) != SLUICE_OK) {
                status = SLUICE_TILE_BAD_FILTER;
            }
            bytes = unfiltered.data();
        }
        status = checked ? status : checkedOnHost(entry.tile, status, bytes);
        stats_.bytesIn += entry.tile.compressedSize;
        stats_.bytesOut += entry.tile.size;
        ++stats_.tiles;
        done_(entry.tile, status, bytes);
    }
}

uint32_t Decoder::checkedOnHost(const DecodeTile& tile, uint32_t status, const uint8_t* bytes) const
{
    const bool wrong = status == SLUICE_TILE_OK && tile.hasChecksum &&
                       sluiceTileChecksum(bytes, tile.size) != tile.checksum;
    return wrong ? uint32_t(SLUICE_TILE_BAD_CHECKSUM) : status;
}

uint32_t Decoder::groupOf(const Entry& entry)
{
    if (entry.way == Way::tensor) return kTensorGroup;
    return (entry.way == Way::gstdRegion ? 2u : 0u) + (entry.tile.filter != nullptr ? 1u : 0u);
}

// With its filter. Float tiles that have one, which the tool never makes, have it undone on the
// host.
bool Decoder::isCheckedOnDevice(const Entry& entry)
{
    return entry.way == Way::region || entry.way == Way::gstdRegion ||
           (entry.way == Way::tensor && entry.tile.hasChecksum && entry.tile.filter == nullptr);
}

void Decoder::addRegion(const Entry& entry, TileList& list) const
{
    TileGroup& group = list.groups[groupOf(entry)];
    const DecodeTile& tile = entry.tile;
    if (tile.hasChecksum) group.expected.push_back(tile.checksum);
    if (tile.filter != nullptr) {
        // Tiles in a row mostly have the same filter.
        const uint8_t* bytes = static_cast<const uint8_t*>(tile.filter);
        const bool same =
            !group.filters.empty() && group.filters.back().descriptionSize == tile.filterSize &&
            std::equal(bytes, bytes + tile.filterSize,
                       list.descriptions.data() + group.filters.back().descriptionOffset);
        const uint32_t at =
            same ? group.filters.back().descriptionOffset : uint32_t(list.descriptions.size());
        if (!same)
            list.descriptions.insert(list.descriptions.end(), bytes, bytes + tile.filterSize);
        group.filters.push_back({entry.filtered, entry.destination, tile.size, at, tile.filterSize,
                                 uint32_t(group.regions.size())});
    }
    group.regions.push_back({entry.source, entry.destination, tile.compressedSize, tile.size});
}

// False if the tile's header makes no sense.
bool Decoder::addTensor(const Entry& entry, TileList& list) const
{
    SluiceFloatTensor tensor = {};
    const uint8_t* bytes = source_.data() + entry.source;
    if (sluiceParseFloatTile(bytes, entry.tile.compressedSize, entry.tile.size, &tensor) !=
        SLUICE_OK) {
        return false;
    }
    for (uint64_t* part : {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw}) {
        *part += entry.source;
    }
    tensor.output = entry.destination;
    tensor.firstTile = list.tensorTiles;
    list.tensorTiles += uint32_t((tensor.count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE);
    list.tensors.push_back(tensor);
    return true;
}

void Decoder::decodeOnDevice(std::vector<Entry>& entries)
{
    const SluiceDevice device = device_.handle();
    // a batch holds tiles of one kind of file
    const bool fromArchive = entries.front().tile.hasChecksum;
    TileList list = {};
    list.source = source_.data();
    list.sourceSize = sourceSize_;
    list.destinationSize = destinationSize_;
    list.filteredSize = filteredSize_;
    if (fromArchive) list.flags = SLUICE_DECODE_STORED_IF_EQUAL; // tile streams never store
    for (Entry& entry : entries) {
        if (entry.way == Way::tensor && !addTensor(entry, list)) {
            entry.status = SLUICE_TILE_BAD_REGION;
        } else if (isCheckedOnDevice(entry)) {
            addRegion(entry, list);
        }
    }
    const TileCommands& decode = tileDecode_.prepare(list);
    SluiceCommands commands = nullptr;
    device_.check(sluiceBegin(device, &commands), "commands");
    tileDecode_.record(commands);
    double milliseconds = 0;
    device_.check(sluiceSubmit(device, commands, &milliseconds), "submit");
    stats_.gpuMilliseconds += milliseconds;

    const auto download = [&](const SluiceBuffer& buffer, auto& to, size_t count) {
        to.resize(std::max(to.size(), count));
        device_.check(sluiceDownload(device, buffer, to.data(), buffer.size), "download");
    };
    download(decode.destination, destination_, size_t(destinationSize_));
    for (uint32_t g = 0; g < kTileGroups; ++g) {
        if (!list.groups[g].regions.empty()) {
            download(decode.status[g], status_[g], list.groups[g].regions.size() + 2);
        }
    }
    if (!list.tensors.empty())
        download(decode.floats.status, tensorStatus_, size_t(list.tensorTiles) + 2);
    size_t region[kTileGroups] = {}, tensor = 0;
    for (Entry& entry : entries) {
        if (entry.way == Way::host || entry.status != SLUICE_TILE_OK) continue;
        if (isCheckedOnDevice(entry)) {
            const uint32_t group = groupOf(entry);
            entry.status = status_[group][region[group]++];
        }
        if (entry.way == Way::tensor) {
            const uint32_t* status = tensorStatus_.data() + list.tensors[tensor].firstTile;
            const uint64_t tiles =
                (list.tensors[tensor++].count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE;
            const uint32_t* bad = std::find_if(status, status + tiles,
                                               [](uint32_t s) { return s != SLUICE_TILE_OK; });
            if (bad != status + tiles) entry.status = *bad;
        }
    }
}

} // namespace sluice
