// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures what the device decodes if nothing has to be read, and what the way to its memory takes.
#pragma once

#include "tools/bench/stream/stream_content.h"
#include "tools/bench/stream/stream_engine.h"
#include "tools/bench/stream/stream_ours.h"

namespace sluice {

// Times batches as a streamer with that setup records them. Their tiles lie in the device's memory
// or, with fromSystem, in the system's. Throws a Failure if a tile is not right.
BenchRow timeDecode(StreamEngine& engine, const StreamContent& content, const StreamSetup& setup,
                    SluiceBuffer destination, const std::string& size, const std::string& who,
                    bool fromSystem);
// Times copies from system memory to device memory.
BenchRow timeLink(StreamEngine& engine, SluiceBuffer destination, const std::string& size);

} // namespace sluice
