// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice bench: measures our kernels and the peers that are present, each as a ratio to a plain
// copy in the same run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

struct BenchOptions {
    std::string device;                // a selector for sluiceOpenDevice; empty: auto
    std::vector<std::string> filters;  // only kernels whose name contains one of these, or is
                                       // one behind a '='; none: all
    std::vector<std::string> inputs;   // tile streams, archives, .safetensors or any other files;
                                       // none: made-up data
    std::string json, html;            // files that also get the figures, or a page; empty: none
    double seconds = -1;               // about how long it may take; 0: no limit; below: 40 if
                                       // there are neither filters nor inputs, else no limit
    uint32_t decodeSpeed = 0;          // for input that has to be packed
    std::vector<uint32_t> tilesAtOnce; // SluiceGstdInfo has it; none: some values
    bool graphicsQueue = false;        // Vulkan: use a family that also does graphics
    std::string tuning;                // a tuning row; empty: the device's own
    std::string streamFolder;          // stream: folder on a disk; empty: $TMPDIR, or /tmp
    uint32_t streamMegabytes = 0;      // stream: output per pass; 0: 8,000 on a GPU
    uint32_t streamThreads = 0;        // stream: reading threads of a streamer; 0: up to 8
    bool streamOursOnly = false;       // stream: without the peers
    bool force = false;                // json and html may overwrite files
    int verbosity = 0;                 // below 0: no table
};

// Returns the kernel names that filters are compared with.
std::string benchKernels();
// Prints the table to stdout (stderr if json or html is "-"). Returns the tool's exit code or
// throws a Failure.
int runBench(const BenchOptions& options);

} // namespace sluice
