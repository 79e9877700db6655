// SPDX-License-Identifier: MIT OR Apache-2.0
// Says with which components this library was built (cmake/Components.cmake).
#pragma once

#include <sluice/sluice.h>

// Scans and reductions belong to the primitives. They are also built with the codecs, because the
// decode of whole tile streams uses them.
#define SLUICE_HAVE_SUMS (SLUICE_HAVE_PRIMITIVES || SLUICE_HAVE_CODECS)

namespace sluice {

// All SluiceKernels, also those that this build leaves out.
constexpr uint32_t kAllKernels = SLUICE_KERNELS_ALL | SLUICE_KERNELS_ZSTD | SLUICE_KERNELS_UASTC;

// The SluiceKernels whose components are in this build.
constexpr uint32_t kBuiltKernels =
    SLUICE_KERNELS_CHECKSUM |
    (SLUICE_HAVE_CODECS ? SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_TILE_STREAMS |
                              SLUICE_KERNELS_GSTD | SLUICE_KERNELS_FILTER | SLUICE_KERNELS_FSE
                        : 0) |
    (SLUICE_HAVE_PRIMITIVES ? SLUICE_KERNELS_SCAN | SLUICE_KERNELS_COMPACT | SLUICE_KERNELS_INTERVAL
                            : 0) |
    (SLUICE_HAVE_WEIGHTS ? SLUICE_KERNELS_FLOAT | SLUICE_KERNELS_DF11 : 0) |
    (SLUICE_HAVE_ZSTD ? SLUICE_KERNELS_ZSTD : 0) | (SLUICE_HAVE_UASTC ? SLUICE_KERNELS_UASTC : 0);

} // namespace sluice
