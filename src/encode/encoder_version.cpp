// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/encoder_version.h"

#include <zstd.h>

namespace sluice {

u64 encoderId() { return u64(kEncoderVersion) << 32 | ZSTD_versionNumber(); }

} // namespace sluice
