// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the command for regions of Zstandard frames, with the reference decoder.
#include "cpu/context.h"
#include "cpu/zstd_list.h"

namespace sluice::cpu {

SluiceStatus ReferenceBackend::cmdZstd(SluiceCommands, const SluiceZstdInfo& info)
{
    return zstdList(info, decodeZstd);
}

} // namespace sluice::cpu
