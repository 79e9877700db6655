// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/encoder_version.h"

#include <zstd.h>

namespace sluice {

uint64_t encoderId() { return uint64_t(kEncoderVersion) << 32 | ZSTD_versionNumber(); }

} // namespace sluice
