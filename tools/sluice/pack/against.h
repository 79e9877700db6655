// SPDX-License-Identifier: MIT OR Apache-2.0
// What pack --against does: tiles of an older archive whose content stands somewhere in a file are
// cut out of it as they were, so that what is inserted in front of them does not move them, and a
// patch from that archive finds them. The content is encoded anew: an older archive says where to
// cut and how to filter, never what the bytes are.
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
    // Throws a Failure where the archive is none, or damaged.
    OldTiles(const std::string& path, uint32_t threads, const CommonOptions& common);

    // What of the old asset has a say in how a file is cut, for the names of cache entries and
    // shards: empty if there is no asset of this name.
    std::string textFor(const std::string& name, const AssetOptions& options) const;
    // The plan of a file: tiles of the old asset where they stand in it, what is between them as
    // codec and options say. None if too little of it is old. Deterministic.
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
