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

// Opens what is at `path`, which was opened as `first`, and what else among selection.names is a
// packed file and not a name in it; those words are removed from the selection. Selects assets; all
// if the selection is empty then. Throws a Failure: exitUsage if a name or a glob matches nothing
// in any of the files.
std::vector<PackedInput> openInputs(const std::string& path, std::unique_ptr<InputFile> first,
                                    Selection selection);

} // namespace sluice
