// SPDX-License-Identifier: MIT OR Apache-2.0
// The UASTC transcoder of the tier `fast`.
#pragma once

#include <sluice/sluice_uastc.h>

namespace sluice::cpu::fast {

// Runs sluiceCmdUastc.
void uastc(const SluiceUastcInfo& info);

} // namespace sluice::cpu::fast
