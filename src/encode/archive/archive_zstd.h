// SPDX-License-Identifier: MIT OR Apache-2.0
// Adds Zstandard frames to an archive, for callers that have measured the size of their content.
#pragma once

#include <sluice/sluice_archive.h>

namespace sluice {

// Adds an asset with the content of the frames. `size` is the size of this content, which
// ZstdReader::measure finds. That may take as long as decoding, so only the caller does it.
SluiceStatus addArchiveZstd(SluiceArchiveWriter writer, const SluiceArchiveZstdInfo& info,
                            uint64_t size);

} // namespace sluice
