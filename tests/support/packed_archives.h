// SPDX-License-Identifier: MIT OR Apache-2.0
// Packs archives in memory. Their assets have tiles of every codec, with filters and without.
#pragma once

#include <sluice/sluice_archive.h>
#include <sluice/sluice_tiles.h>

#include "tests/support/archives.h"
#include "tests/support/filters.h"

#include <string>
#include <vector>

namespace sluice::test {

// Holds an asset that consists of segments.
struct PackedAsset {
    std::string name;
    Bytes bytes;
    std::vector<SluiceArchiveSegment> segments;
    Bytes parameters;

    // Adds a segment of these bytes. filtered: its tiles get the asset's filter, which takes
    // differences of bytes.
    void add(const Bytes& more, SluiceCodec codec, uint32_t tileSize, bool filtered = false);
};

// Returns an asset of about 4 MB with every codec, with filters and without, in tiles of many
// sizes.
PackedAsset assetOfAllCodecs(const std::string& name, uint32_t seed, bool zstd = false);
// Holds assets that share tiles: the bytes of all of them form those of `whole`, whose segments say
// how these are cut into tiles.
struct PackedShare {
    std::vector<PackedAsset> parts; // in the order of their names; their own segments are not used
    PackedAsset whole;

    // codec, tileSize and filtered are those of PackedAsset::add.
    PackedShare(std::vector<PackedAsset> assets, SluiceCodec codec, uint32_t tileSize,
                bool filtered = false);
};

// Packs the assets in the order of their names, then the shares.
Bytes packArchive(const std::vector<PackedAsset>& assets,
                  const std::vector<PackedShare>& shares = {}, bool equalTilesOnce = false,
                  uint32_t threads = 1);

// Holds an archive that has been parsed.
class ParsedArchive {
public:
    explicit ParsedArchive(const Bytes& file);

    SluiceArchiveAsset asset(uint32_t number) const;
    std::vector<SluiceArchiveTile> records(uint32_t asset) const;
    // Returns the extent's bytes in the file.
    const uint8_t* extent(uint32_t asset) const;

private:
    const Bytes& m_file;
    OpenedArchive m_opened;
};

} // namespace sluice::test
