// SPDX-License-Identifier: MIT OR Apache-2.0
// `pack --against OLD`: where the content of a tile of the older archive occurs in a file, the file
// is cut there in the same way. So bytes that are inserted into a file do not change later tiles,
// and a patch finds these tiles in OLD. All content is encoded anew: OLD decides where to cut and
// how to filter, never what the bytes are.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/codecs.h"
#include "tools/common/container.h"
#include "tools/common/device.h"

namespace sluice {

class OldTiles {
public:
    // Throws a Failure if the file is no archive or is damaged.
    OldTiles(const std::string& path, uint32_t threads, const CommonOptions& common);

    // Returns the properties of the old asset that influence how the file `name` is cut, as text
    // for the keys of cache entries and for shards. Empty if the archive has no such asset.
    std::string textFor(const std::string& name, const AssetOptions& options) const;
    // Plans how a file is cut into tiles. Where the file contains the content of a tile of the
    // older archive, that tile's cut is used again. The stretches between are cut as the options
    // say. Returns nothing if too little of the file is found in the older archive. The same
    // archive and file always give the same plan.
    std::optional<PackPlan> plan(const std::string& name, const InputFile& file,
                                 const AssetOptions& options) const;

private:
    struct Tile;

    std::optional<uint32_t> find(const std::string& name, const AssetOptions& options) const;
    std::vector<Tile> tilesOf(uint32_t asset, const AssetOptions& options) const;

    Container m_archive;
    std::unique_ptr<ToolDevice> m_device; // the CPU
};

} // namespace sluice
