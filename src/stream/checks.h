// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the arguments of sluiceStreamSubmit.
#pragma once

#include <sluice/sluice_stream.h>

#include "api/arguments.h"
#include "stream/gpu.h"
#include "stream/monitor.h"

namespace sluice::stream {

// Checks the group's requests and semaphores, each independently of the others. Errors: those of
// sluiceStreamSubmit.
void checkGroup(ArgumentChecker& check, Held&, const SluiceStreamGroupInfo& info,
                SluiceStreamer streamer, uint32_t maxRequests, const Gpu& gpu);

} // namespace sluice::stream
