// SPDX-License-Identifier: MIT OR Apache-2.0
// Stands in for the .cu files in a build without CUDA: the peers that need CUDA are absent.
#ifndef SLUICE_HAVE_CUDA

#include "tools/bench/peers.h"

namespace sluice {

std::vector<Copier> makeCudaCopiers() { return {}; }

bool cubIsBuiltIn() { return false; }

uint64_t cubScratchSize(const CubCall&) { throw Failure{exitUnsupported, "built without CUB"}; }

void recordCub(SluiceCommands, const CubCall&)
{
    throw Failure{exitUnsupported, "built without CUB"};
}

void recordRansTables(SluiceCommands, uint32_t, uint32_t, uint32_t, SluiceBuffer, SluiceBuffer,
                      SluiceBuffer)
{
    throw Failure{exitUnsupported, "built without CUDA"};
}

BenchDevice::RecordRun captureCudaGraph(const BenchDevice::RecordRun& record) { return record; }

} // namespace sluice

#endif
