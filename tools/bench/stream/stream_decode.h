// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how fast the device decodes if nothing has to be read, and how fast bytes reach its
// memory.
#pragma once

#include "tools/bench/stream/stream_content.h"
#include "tools/bench/stream/stream_engine.h"
#include "tools/bench/stream/stream_ours.h"

namespace sluice {

// Times batches like those that a streamer with this setup records. The tiles lie in the device's
// memory or, with fromSystem, in the host's. Throws a Failure if a tile is wrong.
BenchRow timeDecode(StreamEngine& engine, const StreamContent& content, const StreamSetup& setup,
                    SluiceBuffer destination, const std::string& size, const std::string& who,
                    bool fromSystem);
// Times copies from host memory to device memory.
BenchRow timeLink(StreamEngine& engine, SluiceBuffer destination, const std::string& size);

} // namespace sluice
