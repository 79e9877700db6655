// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes what a run measured, as JSON and as a page with plots that needs nothing beside itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace viewer {

struct FrameSample {
    float milliseconds;          // of the GPU, all of the frame
    float streamingMilliseconds; // of batches in it, or that ended beside it
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
    uint64_t deviceBytes;   // that the viewer has allocated
};

struct ClassLatencies {
    std::string name;
    std::vector<float> milliseconds; // from submit to the event of its end
};

struct Comparison {
    bool wasMade = false;
    uint64_t differentBytes = 0;
    uint32_t reducedTextures = 0; // that lacked levels in the streamed frame
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

// The value below or at which `share` of the values are; 0 if there is none.
double percentile(std::vector<float> values, double share);
// Compares memory in the last tenth of the samples with that after the first fifth: did it grow?
bool isFlat(const std::vector<MemorySample>& samples);

std::string jsonOf(const Report& report);
std::string pageOf(const Report& report);

} // namespace viewer
