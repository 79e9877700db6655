// SPDX-License-Identifier: MIT OR Apache-2.0
// The measurements of the benchmark, a function for each kernel. Each checks results before it
// times them, and throws a Failure if they are wrong.
#pragma once

#include <algorithm>
#include <functional>

#include "tools/bench/bench_device.h"
#include "tools/bench/input.h"
#include "tools/bench/report.h"

namespace sluice {

void benchCopy(const BenchDevice& device, BenchReport& report);

// Returns whether rows of a kernel were asked for.
using Wanted = std::function<bool(const char* kernel)>;

// cudaDevice is where CUB runs: the same GPU as `device`, opened by CUDA, or `device` itself;
// nullptr if there is none.
void benchScan(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
               BenchReport& report);
void benchCompact(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
                  BenchReport& report);
void benchInterval(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
                   BenchReport& report);

void benchGdeflate(const BenchDevice& device, const TileSet& tiles, BenchReport& report);
// tilesAtOnce has the values of SluiceGstdInfo::tilesAtOnce to measure; each gives rows of its own.
void benchGstd(const BenchDevice& device, const TileSet& tiles, Words tilesAtOnce,
               const Wanted& wanted, BenchReport& report);
// These measure the float codec with made-up weights of each type, or with the weights of a file.
// benchFloatFile returns false if the file has none.
void benchFloat(const BenchDevice& device, const Wanted& wanted, BenchReport& report);
bool benchFloatFile(const BenchDevice& device, const std::string& path, const Wanted& wanted,
                    BenchReport& report);
// These measure DFloat11 and ECF8 with made-up weights, or with the weights of a file.
// benchDf11File returns false if the file has none.
void benchDf11(const BenchDevice& device, const Wanted& wanted, BenchReport& report);
bool benchDf11File(const BenchDevice& device, const std::string& path, const Wanted& wanted,
                   BenchReport& report);
// Measures FSE tables on `device` and, for comparison, rANS tables on cudaDevice.
void benchFse(const BenchDevice& device, const BenchDevice* cudaDevice, BenchReport& report);
// Measures the slowest legal tiles of each codec, and typical ones for comparison.
void benchWorst(const BenchDevice& device, BenchReport& report);
// Measures our decoders and, for comparison, libdeflate or libzstd on one core of the CPU. This
// does not depend on the device.
void benchCpuDecode(const TileSet& tiles, BenchReport& report);
// Packs what the tiles decode to as frames of Zstandard, and measures decoding these frames.
void benchZstd(const BenchDevice& device, const TileSet& tiles, BenchReport& report);
// Measures tiles of loadZstdTiles.
void benchZstdTiles(const BenchDevice& device, const TileSet& tiles, BenchReport& report);
// Measures the frames of a Zstandard file as they are, each as a region.
void benchZstdFile(const BenchDevice& device, const std::string& path, BenchReport& report);
void benchUastc(const BenchDevice& device, BenchReport& report);
void benchTileStreams(const BenchDevice& device, const TileSet& tiles, BenchReport& report);

// Returns how many bytes a GPU's largest batch has, far more than any cache holds.
inline uint64_t gpuOutputBudget(const BenchDevice& device)
{
    const uint64_t most = device.isBrief() ? 400000000 : 1350000000;
    return std::min(most, device.properties().memorySize / 4);
}

// Rounds up to an offset at which copies between buffers may start.
inline uint64_t aligned256(uint64_t value) { return (value + 255) / 256 * 256; }

// Returns how many bytes of output the decode rows use at most on this device.
uint64_t decodeInputLimit(const BenchDevice& device);

} // namespace sluice
