// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes what a run measured: as JSON, and as a page with plots that needs no other file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/samples/viewer/residency.h"

namespace viewer {

struct FrameSample {
    float milliseconds;          // GPU time of the whole frame
    float streamingMilliseconds; // GPU time of batches in the frame, or that ended during it
    uint64_t imageBytes, wantedBytes;
    uint32_t groups;  // groups under way
    uint32_t missing; // textures that wait for levels
    // Textures in memory, by how many of their largest levels are absent.
    std::array<uint32_t, kLevelBands> textures;
};

struct BatchSample {
    float predicted, measured; // milliseconds
    uint64_t bytes;            // decoded bytes
};

struct MemorySample {
    float seconds;
    uint64_t residentBytes; // resident memory of the process
    uint64_t deviceBytes;   // device memory that the viewer has allocated
};

struct ClassLatencies {
    std::string name;
    std::vector<float> milliseconds; // for each group: from its submit to its end event
};

struct Comparison {
    bool wasMade = false;
    uint64_t differentBytes = 0;
    uint32_t reducedTextures = 0; // textures without all levels in the streamed frame
};

struct Report {
    std::string device, context, maps;
    // Where batches run: "frames" (recorded into frames), "own" (a queue of their own) or "shared".
    std::string queue;
    bool isBindless = false, hasTimestamps = false;
    uint32_t width = 0, height = 0;
    float budgetMilliseconds = 0;
    float loadMilliseconds = 0; // GPU time of the load in each frame; 0: no load
    uint64_t budgetBytes = 0;
    // Frames of the same flight: with streaming, and with everything in memory from the beginning.
    std::vector<FrameSample> streamed, resident;
    std::vector<BatchSample> batches;
    std::vector<ClassLatencies> latencies;
    std::vector<MemorySample> memory; // samples while the camera jumps to random places
    Comparison comparison;
    float floorMilliseconds = 0; // fixed cost of a batch, as the streamer has learnt it
    uint32_t textures = 0, bias = 0;
    uint64_t raised = 0, lowered = 0, cancelled = 0, damaged = 0;
    uint64_t bytesRead = 0, bytesDecoded = 0, wastedBytes = 0;
    uint64_t peakImageBytes = 0, deviceBytes = 0;
    uint64_t failedGroups = 0;
    uint32_t validationErrors = 0;
};

// Returns the smallest value that at least `share` of all values do not exceed; 0 if there are
// none.
double percentile(std::vector<float> values, double share);
// Returns the frames per second of the slowest hundredth of the frames; 0 if there are none.
double lowestHundredth(std::vector<float> milliseconds);
// Returns true if memory has stopped growing. In the last tenth of the samples, it may exceed its
// maximum between the first fifth and the middle of the samples by at most 2 % and kNoise.
bool isFlat(const std::vector<MemorySample>& samples);

std::string jsonOf(const Report& report);
std::string pageOf(const Report& report);

} // namespace viewer
