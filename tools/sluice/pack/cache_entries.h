// SPDX-License-Identifier: MIT OR Apache-2.0
// The content of a cache's entries, which cache_folder.h stores: encoded tiles, and for each file
// how the file was cut and into which tiles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sluice/sluice_archive.h>

#include "tools/sluice/pack/cache_folder.h"

namespace sluice {

// A message about a file, printed as `sluice: FILE: text`. A detail is printed only with -v.
struct PackNote {
    bool isDetail;
    std::string text;
};

struct TileEntry {
    bool filtered = false; // the tile was filtered before it was encoded
    Bytes bytes;           // as stored in the archive
};
Bytes writeTileEntry(const TileEntry& tile, uint32_t size);
// Returns nothing if `content` is no tile entry. `size` is the decoded size of the tile.
std::optional<TileEntry> readTileEntry(const Bytes& content, uint32_t size);

struct AssetEntry {
    struct Tile {
        Digest key;
        SluiceArchiveTile record; // its offset and outputOffset are 0
    };

    uint64_t size = 0; // decoded bytes of the asset, after conversion if `converted` is set
    bool converted = false;
    uint32_t type = 0;
    uint32_t tileSizeLog2 = 0;
    std::vector<PackNote> notes; // what packing the file reported
    Bytes parameters;
    std::vector<SluiceArchiveSegment> segments; // empty: the archive's default
    std::vector<Tile> tiles;

    uint64_t storedBytes() const; // bytes of all tiles
};
Bytes writeAssetEntry(const AssetEntry& asset);
std::optional<AssetEntry> readAssetEntry(const Bytes& content);

// The digest of a file's content, which holds as long as `status` stays the same.
struct Stamp {
    Digest status; // digest of path, inode, size and times
    Digest content;
};
Bytes writeStamps(const std::vector<Stamp>& stamps);
std::optional<std::vector<Stamp>> readStamps(const Bytes& content);

} // namespace sluice
