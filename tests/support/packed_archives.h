// SPDX-License-Identifier: MIT OR Apache-2.0
// Archives whose assets hold tiles of every codec, with and without filters, packed in memory.
#pragma once

#include <sluice/sluice_archive.h>
#include <sluice/sluice_tiles.h>

#include "tests/support/archives.h"
#include "tests/support/filters.h"

#include <string>
#include <vector>

namespace sluice::test {

// An asset made of segments.
struct PackedAsset {
    std::string name;
    Bytes bytes;
    std::vector<SluiceArchiveSegment> segments;
    Bytes parameters;

    // filtered: the segment's tiles get the asset's filter, differences of bytes.
    void add(const Bytes& more, SluiceCodec codec, uint32_t tileSize, bool filtered = false);
};

// Every codec, with and without filters, tiles of many sizes; about 4 MB.
PackedAsset assetOfAllCodecs(const std::string& name, uint32_t seed);
// Assets that share tiles: they become whole's bytes, and its segments cut these.
struct PackedShare {
    std::vector<PackedAsset> parts; // in the order of their names; their segments mean nothing
    PackedAsset whole;

    // codec and what follows as in PackedAsset::add.
    PackedShare(std::vector<PackedAsset> assets, SluiceCodec codec, uint32_t tileSize,
                bool filtered = false);
};

// The assets in the order of their names, then the shares.
Bytes packArchive(const std::vector<PackedAsset>& assets,
                  const std::vector<PackedShare>& shares = {});

// An archive that was parsed.
class ParsedArchive {
public:
    explicit ParsedArchive(const Bytes& file);

    SluiceArchiveAsset asset(uint32_t number) const;
    std::vector<SluiceArchiveTile> records(uint32_t asset) const;
    // The file's own bytes of the extent.
    const uint8_t* extent(uint32_t asset) const;

private:
    const Bytes& m_file;
    OpenedArchive m_opened;
};

} // namespace sluice::test
