// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists what differs between the assets of two archives, for `sluice diff`.
#pragma once

#include <string>
#include <vector>

#include "tools/common/container.h"

namespace sluice {

struct ArchiveChanges {
    struct Asset {
        std::string name;    // name in the new archive; if removed, in the old one
        std::string oldName; // name of a renamed asset in the old archive
        uint64_t size = 0, oldSize = 0;
    };
    std::vector<Asset> added, removed, changed, renamed; // each list is sorted by name
    uint64_t same = 0;
    // How many assets count as changed although their bytes were not compared. They have equal
    // sizes and different tiles, but are damaged, or beyond the limit of bytes to decode.
    uint64_t unread = 0;
};

// Compares the assets by what they decode to, not by how they are packed. Tiles are decoded, on the
// CPU, only where their checksums do not decide. `like` has for each new asset the number of the
// asset with the same name in `old`, or `none`.
ArchiveChanges compareArchives(const Container& old, const Container& now,
                               const std::vector<uint32_t>& like, uint32_t none,
                               const CommonOptions& common);

// Prints a line for each difference, and how many there are of each kind.
void printChanges(const ArchiveChanges& changes, std::FILE* out);
void printChangesJson(const ArchiveChanges& changes, const std::string& old,
                      const std::string& now);

} // namespace sluice
