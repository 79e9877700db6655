// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the command that transcodes regions of UASTC blocks, with the reference transcoder.
#include "cpu/uastc.h"

#include <sluice/sluice_uastc.h>

#include "cpu/context.h"
#include "cpu/uastc_regions.h"

namespace sluice::cpu {

SluiceStatus ReferenceBackend::cmdUastc(SluiceCommands, const SluiceUastcInfo& info)
{
    const uint32_t target = uastcTarget(info.format, info.flags);
    transcodeRegions(info, [&](const uint8_t* block, uint8_t* made) {
        return transcodeUastc(target, block, made);
    });
    return SLUICE_OK;
}

} // namespace sluice::cpu
