// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice bench`: measures our kernels and their peers (other implementations that are present),
// each beside a plain copy in the same run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

struct BenchOptions {
    std::string device; // a selector for sluiceOpenDevice; empty: auto
    // A kernel is measured if its name contains one of these strings. "=NAME" selects only the
    // kernel of exactly that name. Empty: all kernels.
    std::vector<std::string> filters;
    // Paths of tile streams, archives, .safetensors or any other files; empty: made-up data.
    std::vector<std::string> inputs;
    std::string json, html; // files for the figures and for a page; empty: none
    // About how many seconds the run may take; 0: no limit. Below 0: 40 s without filters and
    // inputs, otherwise no limit.
    double seconds = -1;
    uint32_t decodeSpeed = 0; // for inputs that have to be packed
    // Values of SluiceGstdInfo::tilesAtOnce (how many tiles a command decodes at once) to measure;
    // empty: some usual ones.
    std::vector<uint32_t> tilesAtOnce;
    bool graphicsQueue = false;  // Vulkan: use a queue family that can also draw
    std::string tuning;          // a tuning row; empty: the device's own
    std::string streamFolder;    // stream: a folder on a disk; empty: $TMPDIR or /tmp
    uint64_t streamSize = 0;     // stream: bytes of output of a pass; 0: 8 GB on a GPU
    uint32_t streamThreads = 0;  // stream: reading threads; 0: up to 8
    bool streamOursOnly = false; // stream: measure no peers
    // stream: who decodes: "first" (the GPU first), "both", "gpu", "cpu". Each name gives rows of
    // its own.
    std::vector<std::string> streamSides = {"first"};
    bool force = false; // json and html may be overwritten
    int verbosity = 0;  // below 0: print no table
};

// Returns the names of all kernels, separated by commas.
std::string benchKernels();
// Prints the table to stdout, or to stderr if json or html is "-". Returns the exit code, or throws
// a Failure.
int runBench(const BenchOptions& options);

} // namespace sluice
