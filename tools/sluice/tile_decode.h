// SPDX-License-Identifier: MIT OR Apache-2.0
// One decode of a list of tiles: the buffers that it needs, filled, and the structure of the command.
#pragma once

#include <vector>

#include "device.h"

namespace sluice {

struct TileList {
    const void* source; // compressed bytes
    uint64_t sourceSize;
    uint64_t destinationSize;
    std::vector<SluiceRegion> regions; // addresses count from the start of source and of destination
    std::vector<uint32_t> expected;    // a checksum for each; may be empty
    uint32_t flags = 0;                // SluiceDecodeFlags
};

class TileDecode {
public:
    explicit TileDecode(const ToolDevice& device);

    // Uploads the list. What is returned is good until the next call.
    SluiceGdeflateInfo prepare(const TileList& list);

private:
    SluiceBuffer upload(DeviceBuffer& buffer, const void* bytes, uint64_t size);

    const ToolDevice& device_;
    DeviceBuffer source_, destination_, regions_, expected_, status_, scratch_;
};

} // namespace sluice
