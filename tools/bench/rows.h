// SPDX-License-Identifier: MIT OR Apache-2.0
// The measurements of the benchmark, one function per kernel. Each checks its results before it
// times them, and throws a Failure if they are wrong.
#pragma once

#include <algorithm>
#include <functional>

#include "tools/bench/bench_device.h"
#include "tools/bench/input.h"
#include "tools/bench/report.h"

namespace sluice {

void benchCopy(const BenchDevice& device, BenchReport& report);

// Says whether the rows of a kernel were asked for.
using Wanted = std::function<bool(const char* kernel)>;

// cudaDevice is the device on which CUB runs: the same chip as `device`, or `device` itself.
// nullptr means that there is none.
void benchScan(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
               BenchReport& report);
void benchCompact(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
                  BenchReport& report);
void benchInterval(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
                   BenchReport& report);

void benchGdeflate(const BenchDevice& device, const TileSet& tiles, BenchReport& report);
// tilesAtOnce holds values of SluiceGstdInfo::tilesAtOnce. There is at least one; each gives rows
// of its own.
void benchGstd(const BenchDevice& device, const TileSet& tiles, Words tilesAtOnce,
               const Wanted& wanted, BenchReport& report);
// Measure the float codec with generated weights of every type, or with those of a file. The result
// is false if the file has none.
void benchFloat(const BenchDevice& device, const Wanted& wanted, BenchReport& report);
bool benchFloatFile(const BenchDevice& device, const std::string& path, const Wanted& wanted,
                    BenchReport& report);
// Measure DFloat11 and ECF8 in the same ways.
void benchDf11(const BenchDevice& device, const Wanted& wanted, BenchReport& report);
bool benchDf11File(const BenchDevice& device, const std::string& path, const Wanted& wanted,
                   BenchReport& report);
// Measures FSE tables. cudaDevice is that of benchScan, for rANS tables.
void benchFse(const BenchDevice& device, const BenchDevice* cudaDevice, BenchReport& report);
// Measures the slowest legal tiles of each codec, and typical ones.
void benchWorst(const BenchDevice& device, BenchReport& report);
// Measures one core of the CPU beside libdeflate or libzstd, whichever device is chosen.
void benchCpuDecode(const TileSet& tiles, BenchReport& report);
void benchTileStreams(const BenchDevice& device, const TileSet& tiles, BenchReport& report);

// Returns the bytes of the largest batch of a GPU, which is far larger than any cache.
inline uint64_t gpuOutputBudget(const BenchDevice& device)
{
    const uint64_t most = device.isBrief() ? 400000000 : 1350000000;
    return std::min(most, device.properties().memorySize / 4);
}

// Rounds up to the next offset in a buffer at which a copy may start.
inline uint64_t aligned256(uint64_t value) { return (value + 255) / 256 * 256; }

// Returns the most bytes of output, generated or from files, that the decode rows use on this
// device.
uint64_t decodeInputLimit(const BenchDevice& device);

} // namespace sluice
