// SPDX-License-Identifier: MIT OR Apache-2.0
// Does pack --against: if the content of an older archive's tile occurs anywhere in a file, the
// file is cut there as before. So bytes that are inserted before it do not change later tiles, and
// a patch from the older archive finds them. The content is encoded anew: the older archive says
// where to cut and how to filter, never what the bytes are.
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
    // Throws a Failure if the file is no archive, or damaged.
    OldTiles(const std::string& path, uint32_t threads, const CommonOptions& common);

    // Returns a text about the properties of the old asset that influence how a file is cut. The
    // text goes into the names of cache entries and shards; it is empty if there is no asset of
    // this name.
    std::string textFor(const std::string& name, const AssetOptions& options) const;
    // Returns the plan of a file: old tiles where their content occurs, and between them what codec
    // and options choose. Returns none if too little of the file is old. The result is
    // deterministic.
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
