// SPDX-License-Identifier: MIT OR Apache-2.0
// sluiceAddArchiveZstd for callers that have measured the frames.
#pragma once

#include <sluice/sluice_archive.h>

namespace sluice {

// size: what ZstdReader::measure says of the frames. Measuring may take as long as decoding.
SluiceStatus addArchiveZstd(SluiceArchiveWriter writer, const SluiceArchiveZstdInfo& info,
                            uint64_t size);

} // namespace sluice
