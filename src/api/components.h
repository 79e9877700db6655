// SPDX-License-Identifier: MIT OR Apache-2.0
// Which components this library was built with (cmake/Components.cmake).
#pragma once

#include <sluice/sluice.h>

// Scans and reductions belong to the primitives. The decode of whole tile streams uses them too.
#define SLUICE_HAVE_SUMS (SLUICE_HAVE_PRIMITIVES || SLUICE_HAVE_CODECS)

namespace sluice {

// The SluiceKernels that a context can have.
constexpr uint32_t kBuiltKernels =
    SLUICE_KERNELS_CHECKSUM |
    (SLUICE_HAVE_CODECS ? SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_TILE_STREAMS |
                              SLUICE_KERNELS_GSTD | SLUICE_KERNELS_FILTER | SLUICE_KERNELS_FSE
                        : 0) |
    (SLUICE_HAVE_PRIMITIVES ? SLUICE_KERNELS_SCAN | SLUICE_KERNELS_COMPACT | SLUICE_KERNELS_INTERVAL
                            : 0) |
    (SLUICE_HAVE_WEIGHTS ? SLUICE_KERNELS_FLOAT | SLUICE_KERNELS_DF11 : 0);

} // namespace sluice
