// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the measurements of a run, as JSON and as a page with plots that needs no other file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace viewer {

struct FrameSample {
    float milliseconds;          // GPU time of the whole frame
    float streamingMilliseconds; // batches in it, or outside that ended meanwhile
    uint64_t imageBytes, wantedBytes;
    uint32_t groups;  // under way
    uint32_t missing; // textures that wait for levels
};

struct BatchSample {
    float predicted, measured; // milliseconds
    uint64_t bytes;            // decoded
};

struct MemorySample {
    float seconds;
    uint64_t residentBytes; // of the process
    uint64_t deviceBytes;   // allocated by the viewer
};

struct ClassLatencies {
    std::string name;
    std::vector<float> milliseconds; // from submit to the end event
};

struct Comparison {
    bool wasMade = false;
    uint64_t differentBytes = 0;
    uint32_t reducedTextures = 0; // those that lacked levels when streamed
};

struct Report {
    std::string device, context, maps;
    std::string queue; // of batches: frames (they are in frames), own, or shared with frames
    bool isBindless = false, hasTimestamps = false;
    uint32_t width = 0, height = 0;
    float budgetMilliseconds = 0;
    uint64_t budgetBytes = 0;
    std::vector<FrameSample> streamed, resident; // frames of the same flight
    std::vector<BatchSample> batches;
    std::vector<ClassLatencies> latencies;
    std::vector<MemorySample> memory; // with random teleports
    Comparison comparison;
    float floorMilliseconds = 0; // of a batch, as learnt
    uint32_t textures = 0, bias = 0;
    uint64_t raised = 0, lowered = 0, cancelled = 0, damaged = 0;
    uint64_t bytesRead = 0, bytesDecoded = 0, wastedBytes = 0;
    uint64_t peakImageBytes = 0, deviceBytes = 0;
    uint64_t failedGroups = 0;
    uint32_t validationErrors = 0;
};

// Returns the value that `share` of the values do not exceed; 0 if there are none.
double percentile(std::vector<float> values, double share);
// Returns whether memory in the last tenth of the samples has not grown since the first fifth.
bool isFlat(const std::vector<MemorySample>& samples);

std::string jsonOf(const Report& report);
std::string pageOf(const Report& report);

} // namespace viewer
