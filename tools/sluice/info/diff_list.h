// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists what differs between the assets of two archives, for `sluice diff`.
#pragma once

#include <string>
#include <vector>

#include "tools/common/container.h"

namespace sluice {

struct ArchiveChanges {
    struct Asset {
        std::string name;    // in the new archive, or of a removed asset in the old one
        std::string oldName; // of a renamed one
        uint64_t size = 0, oldSize = 0;
    };
    std::vector<Asset> added, removed, changed, renamed; // each in the order of names
    uint64_t same = 0;
    // How many counted as changed without a comparison of their bytes: they have the same size and
    // other tiles, and are damaged, or more than the archives may decode to.
    uint64_t unread = 0;
};

// Compares the assets by what they decode to, not by how they are packed. Tiles are decoded, on the
// CPU, only where checksums do not tell. `like` has the number of each new asset's namesake in
// `old`, or `none`.
ArchiveChanges compareArchives(const Container& old, const Container& now,
                               const std::vector<uint32_t>& like, uint32_t none,
                               const CommonOptions& common);

// Prints a line for each difference, and how many there are of each kind.
void printChanges(const ArchiveChanges& changes, std::FILE* out);
void printChangesJson(const ArchiveChanges& changes, const std::string& old,
                      const std::string& now);

} // namespace sluice
