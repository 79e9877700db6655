// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures what the device decodes if nothing has to be read, and what the way to its memory takes.
#pragma once

#include "tools/bench/stream/stream_content.h"
#include "tools/bench/stream/stream_engine.h"
#include "tools/bench/stream/stream_ours.h"

namespace sluice {

// Batches as a streamer with that setup records them, of tiles that lie in the device's memory or,
// if the setup says so, in the system's. Throws a Failure where a tile does not come out right.
BenchRow timeDecode(StreamEngine& engine, const StreamContent& content, const StreamSetup& setup,
                    SluiceBuffer destination, const std::string& size, const std::string& who,
                    bool fromSystem);
// Copies from the system's memory to the device's.
BenchRow timeLink(StreamEngine& engine, SluiceBuffer destination, const std::string& size);

} // namespace sluice
