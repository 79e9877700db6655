// SPDX-License-Identifier: MIT OR Apache-2.0
// An input of the tool, recognised by its content: a .sluice archive, or a bare tile stream seen as
// one asset.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <sluice/sluice_formats.h>

#include "tools/common/files.h"

namespace sluice {

struct ContainerTile {
    uint64_t offset; // from the start of the file
    uint32_t storedSize;
    uint32_t size;
    uint32_t codec;     // SluiceCodec
    uint32_t checksum;  // archives only
    const void* filter; // its description, owned by the container; NULL: none
    uint32_t filterSize;
    uint64_t outputOffset = 0; // offset in the decoded bytes of its extent
};

struct ContainerAsset {
    std::string name; // empty for a bare stream
    uint64_t size;
    uint32_t tileCount;
};

class Container {
public:
    // Reads and checks header and index (or table). Throws Failure{exitFormat or exitUnsupported}.
    explicit Container(const std::string& path) : Container(std::make_unique<InputFile>(path)) {}
    explicit Container(std::unique_ptr<InputFile> file);
    static bool recognises(const InputFile& file);

    bool isArchive() const { return m_isArchive; }
    const InputFile& file() const { return *m_file; }
    const SluiceArchive& archive() const { return m_archive; } // isArchive only
    uint32_t assetCount() const { return m_isArchive ? m_archive.assetCount : 1; }
    uint64_t decodedSize() const; // all assets together
    ContainerAsset asset(uint32_t number) const;
    SluiceArchiveAsset archiveAsset(uint32_t number) const; // isArchive only

    // Returns the number of the asset of this name, if there is one; isArchive only.
    std::optional<uint32_t> find(const std::string& name) const;
    // Returns the assets in the order of their extents; isArchive only.
    std::vector<uint32_t> order() const;
    // Returns whether the tiles are counted for this asset. Shared tiles are counted only for the
    // first of the assets that share them.
    bool ownsTiles(uint32_t number) const
    {
        return !m_isArchive || archiveAsset(number).tilesOffset == 0;
    }
    // Returns the number of stored bytes of an asset. If it shares tiles, that is its proportional
    // part of them.
    uint64_t storedSize(uint32_t number) const;
    // Returns all tile records of an asset, checked; isArchive only. Throws Failure.
    std::vector<SluiceArchiveTile> records(uint32_t number) const;
    // Checks all tile records of an asset, then calls back for each of them, including tiles of its
    // share that hold no part of the asset. Throws Failure.
    void
    forEachTile(uint32_t asset,
                const std::function<void(uint32_t number, const ContainerTile& tile)>& call) const;
    // Does the same, but only for tiles that hold a part of the asset.
    void forEachOwnTile(
        uint32_t asset,
        const std::function<void(uint32_t number, const ContainerTile& tile)>& call) const;

    // Returns the SluiceKernels that the tiles of these assets need. Returns all that any tile can
    // need if the records are bad or there are too many assets to read them.
    uint32_t kernelsOf(const std::vector<uint32_t>& assets) const;

    // Returns "FILE: asset 'NAME'" or "FILE", for messages.
    std::string place(uint32_t asset) const;
    // Returns the tile's place in the file, for example "tile 3, bytes 4096 to 8191".
    static std::string tilePlace(uint32_t number, const ContainerTile& tile);

private:
    void readArchive();
    void readStream();
    void readRecords(uint32_t asset,
                     const std::function<void(uint32_t, const SluiceArchiveTile&)>& call) const;
    void readTiles(uint32_t asset,
                   const std::function<void(uint32_t, const ContainerTile&)>& call) const;
    const std::vector<ContainerTile>& shareTiles(uint32_t asset) const;

    std::unique_ptr<InputFile> m_file;
    bool m_isArchive = false;
    SluiceArchive m_archive = {};
    Bytes m_index;
    // For each parameter block, the filters that the parser has already checked.
    mutable std::unordered_map<const void*, Bytes> m_checkedFilters;
    mutable std::unordered_map<uint32_t, std::vector<ContainerTile>> m_shareTiles; // by share
    SluiceTileStream m_stream = {};
    std::vector<SluiceTileStreamTile> m_tiles;
};

} // namespace sluice
