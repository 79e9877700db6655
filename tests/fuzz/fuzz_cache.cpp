// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes entries of a cache whose checksums are right: their content goes to an archive writer, as
// `pack` does it, which must refuse it or write it.
#include <sluice/sluice_archive.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tools/sluice/pack/cache_entries.h"

namespace {

using namespace sluice;

SluiceStatus writeNowhere(void*, uint64_t, const void*, size_t) { return SLUICE_OK; }
SluiceStatus readZeros(void*, void* bytes, size_t size)
{
    std::memset(bytes, 0, size);
    return SLUICE_OK;
}
SluiceStatus readTile(void*, uint32_t, void* bytes, uint32_t size)
{
    return readZeros(nullptr, bytes, size);
}

void addAsset(const AssetEntry& entry)
{
    SluiceArchiveWriterInfo info = {};
    info.write = writeNowhere;
    SluiceArchiveWriter writer = nullptr;
    if (sluiceCreateArchiveWriter(&info, &writer) != SLUICE_OK) std::abort();
    std::vector<SluiceArchiveTile> records;
    for (const AssetEntry::Tile& tile : entry.tiles)
        records.push_back(tile.record);
    SluiceEncodedAssetInfo encoded = {};
    encoded.name = "a";
    encoded.nameLength = 1;
    encoded.type = entry.type;
    encoded.tileSizeLog2 = entry.tileSizeLog2;
    encoded.size = entry.size;
    encoded.parameters = entry.parameters.data();
    encoded.parameterSize = uint32_t(entry.parameters.size());
    encoded.tileCount = uint32_t(records.size());
    encoded.tiles = records.data();
    encoded.readTile = readTile;
    sluiceAddEncodedArchiveAsset(writer, &encoded);
    SluiceArchiveAssetInfo plain = {};
    plain.name = "b";
    plain.nameLength = 1;
    plain.type = entry.type;
    plain.size = entry.size;
    plain.read = readZeros;
    plain.segments = entry.segments.data();
    plain.segmentCount = uint32_t(entry.segments.size());
    plain.parameters = entry.parameters.data();
    plain.parameterSize = uint32_t(entry.parameters.size());
    if (entry.size < 100000) sluiceAddArchiveAsset(writer, &plain);
    sluiceFinishArchive(writer, nullptr);
    sluiceDestroyArchiveWriter(writer);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const Bytes content(data, data + size);
    const Digest digest = {};
    readCacheEntry(EntryKind::tile, digest, content);
    const Bytes file = makeCacheEntry(EntryKind::asset, digest, content);
    if (readCacheEntry(EntryKind::asset, digest, file) != content) std::abort();
    if (const auto tile = readTileEntry(content, 1000))
        if (tile->bytes.empty() || tile->bytes.size() > 1000) std::abort();
    readStamps(content);
    if (const auto asset = readAssetEntry(content)) addAsset(*asset);
    return 0;
}
