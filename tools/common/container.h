// SPDX-License-Identifier: MIT OR Apache-2.0
// An input of the tool that holds packed data: a .sluice archive, or a bare tile stream, which
// counts as one asset. Assets are numbered in the order of their names.
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
    uint32_t checksum;  // checksum of the decoded bytes, in archives only
    const void* filter; // filter description, owned by the container; null: none
    uint32_t filterSize;
    // The tile's offset in the decoded bytes of all tiles of its asset or, if several assets are
    // stored in the same tiles (a share), in the decoded bytes of the share.
    uint64_t outputOffset = 0;
};

struct ContainerAsset {
    std::string name; // empty for a bare stream
    uint64_t size;
    uint32_t tileCount;
};

class Container {
public:
    // Reads and checks the header and the index of an archive, or the header and the tile table of
    // a tile stream. Throws a Failure: exitFormat or exitUnsupported.
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

    // Returns the number of the asset with this name, if there is one; isArchive only.
    std::optional<uint32_t> find(const std::string& name) const;
    // Returns the numbers of all assets, sorted by where their tiles lie in the file; isArchive
    // only.
    std::vector<uint32_t> order() const;
    // Returns whether the tiles of this asset are counted for this asset. If several assets share
    // tiles, the tiles are counted only for the first of these assets.
    bool ownsTiles(uint32_t number) const
    {
        return !m_isArchive || archiveAsset(number).tilesOffset == 0;
    }
    // Returns how many stored bytes an asset takes. The stored bytes of shared tiles are divided
    // among the assets in proportion to their decoded bytes. A tile whose stored bytes are those of
    // an equal, earlier tile counts as 0.
    uint64_t storedSize(uint32_t number) const;
    // Returns all tile records of an asset, after checking them; isArchive only. Throws a Failure.
    std::vector<SluiceArchiveTile> records(uint32_t number) const;
    // Checks all tile records of an asset, then calls `call` for each tile. If several assets share
    // tiles, these are all the shared tiles, even those without a byte of this asset. Throws a
    // Failure.
    void
    forEachTile(uint32_t asset,
                const std::function<void(uint32_t number, const ContainerTile& tile)>& call) const;
    // Like forEachTile, but calls `call` only for tiles that hold a part of the asset.
    void forEachOwnTile(
        uint32_t asset,
        const std::function<void(uint32_t number, const ContainerTile& tile)>& call) const;

    // Returns the set of SluiceKernels that the tiles of these assets need. If tile records are
    // bad, or if there are too many assets (kMostAssets) to read the records of all, returns all
    // kernels that tiles can need.
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
    // For each parameter block (SluiceArchiveAsset::tileParameters): the memory in which readers of
    // records note which descriptions of filters they have checked.
    mutable std::unordered_map<const void*, Bytes> m_checkedFilters;
    mutable std::unordered_map<uint32_t, std::vector<ContainerTile>> m_shareTiles; // key: share
    SluiceTileStream m_stream = {};
    std::vector<SluiceTileStreamTile> m_tiles;
};

} // namespace sluice
