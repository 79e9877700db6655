// SPDX-License-Identifier: MIT OR Apache-2.0
// The measurements of the benchmark, one function a kernel. Each checks its results before it times
// them and throws a Failure where they are wrong.
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

// cudaDevice: the device on which CUB runs, the same chip as `device` (or `device` itself);
// nullptr: there is none.
void benchScan(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
               BenchReport& report);
void benchCompact(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
                  BenchReport& report);
void benchInterval(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
                   BenchReport& report);

void benchGdeflate(const BenchDevice& device, const TileSet& tiles, BenchReport& report);
// tilesAtOnce: of SluiceGstdInfo; at least one value, each gives rows of its own.
void benchGstd(const BenchDevice& device, const TileSet& tiles, Words tilesAtOnce,
               const Wanted& wanted, BenchReport& report);
// The float codec, made-up weights of every type; or those of a file. False: it holds none.
void benchFloat(const BenchDevice& device, const Wanted& wanted, BenchReport& report);
bool benchFloatFile(const BenchDevice& device, const std::string& path, const Wanted& wanted,
                    BenchReport& report);
// DFloat11 and ECF8, likewise.
void benchDf11(const BenchDevice& device, const Wanted& wanted, BenchReport& report);
bool benchDf11File(const BenchDevice& device, const std::string& path, const Wanted& wanted,
                   BenchReport& report);
// FSE tables. cudaDevice: as for benchScan, for rANS tables.
void benchFse(const BenchDevice& device, const BenchDevice* cudaDevice, BenchReport& report);
// The slowest legal tiles of each codec, and typical ones.
void benchWorst(const BenchDevice& device, BenchReport& report);
// One core of the CPU beside libdeflate or libzstd, whatever the device.
void benchCpuDecode(const TileSet& tiles, BenchReport& report);
void benchTileStreams(const BenchDevice& device, const TileSet& tiles, BenchReport& report);

// Bytes of the largest batch of a GPU, which is far larger than any cache.
inline uint64_t gpuOutputBudget(const BenchDevice& device)
{
    const uint64_t most = device.isBrief() ? 400000000 : 1350000000;
    return std::min(most, device.properties().memorySize / 4);
}

// Rounds up to the next place of a buffer where a copy may start.
inline uint64_t aligned256(uint64_t value) { return (value + 255) / 256 * 256; }

// How many bytes of made-up or real output the decode rows take at most on this device.
uint64_t decodeInputLimit(const BenchDevice& device);

} // namespace sluice
