// SPDX-License-Identifier: MIT OR Apache-2.0
// Defines what the entries of a cache hold (cache_folder.h keeps them): encoded tiles, and for each
// file how it was cut and which tiles it became.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sluice/sluice_archive.h>

#include "tools/sluice/pack/cache_folder.h"

namespace sluice {

// A message of pack about a file: `sluice: FILE: text`. A detail is shown only with -v.
struct PackNote {
    bool isDetail;
    std::string text;
};

struct TileEntry {
    bool filtered = false; // the stored bytes are those of the filtered tile
    Bytes bytes;           // stored
};
Bytes writeTileEntry(const TileEntry& tile, uint32_t size);
// `size` is the decoded size of the tile.
std::optional<TileEntry> readTileEntry(const Bytes& content, uint32_t size);

struct AssetEntry {
    struct Tile {
        Digest key;
        SluiceArchiveTile record; // offset and outputOffset are 0
    };

    uint64_t size = 0; // bytes of the content in the archive, which may be converted from the file
    bool converted = false;
    uint32_t type = 0;
    uint32_t tileSizeLog2 = 0;
    std::vector<PackNote> notes; // what pack reported about the file
    Bytes parameters;
    std::vector<SluiceArchiveSegment> segments; // none: the writer's default
    std::vector<Tile> tiles;

    uint64_t storedBytes() const; // of all tiles
};
Bytes writeAssetEntry(const AssetEntry& asset);
std::optional<AssetEntry> readAssetEntry(const Bytes& content);

// The digest of a file's content, found by the properties that the file system reports.
struct Stamp {
    Digest status; // of path, inode, size and times
    Digest content;
};
Bytes writeStamps(const std::vector<Stamp>& stamps);
std::optional<std::vector<Stamp>> readStamps(const Bytes& content);

} // namespace sluice
