// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the assets of an archive that the user asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/common/container.h"

namespace sluice {

// An input of `unpack` or `verify`, and the numbers of the assets that are wanted of it, in
// ascending order.
struct PackedInput {
    std::string path; // as it was given; "-" is stdin
    std::unique_ptr<Container> container;
    std::vector<uint32_t> assets;

    uint64_t decodedSize() const;
};

// Takes `first`, which is the open file at `path`. Also opens each word of selection.names that is
// the path of a packed file and no name in `first`; such a word selects no assets. Selects assets
// by the remaining names and the globs, or all assets if there are none. Throws a Failure:
// exitUsage if a name or a glob matches nothing in any of the files.
std::vector<PackedInput> openInputs(const std::string& path, std::unique_ptr<InputFile> first,
                                    Selection selection);

} // namespace sluice
