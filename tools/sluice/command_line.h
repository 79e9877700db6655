// SPDX-License-Identifier: MIT OR Apache-2.0
// The parsed command line of all verbs.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "tools/bench/bench.h"
#include "tools/common/tool.h"
#include "tools/sluice/report/field_report.h"
#include "tools/sluice/tune/tune.h"

namespace sluice {

struct CommandLine {
    CommonOptions common;
    PackOptions pack;
    JoinOptions join;
    TranscodeOptions transcode;
    UnpackOptions unpack;
    VerifyOptions verify;
    DeviceOptions selftest;
    BenchOptions bench;
    TuneOptions tune;
    PipelineOptions pipelines;
    ReportOptions report;
    std::string cacheAction, cacheFolder, cacheSize;
    DiffOptions diff;
    ApplyOptions patch;
    InfoOptions info;
    std::string shell, manVerb, manFolder;
    bool devicesJson = false, selftestJson = false;
};

// These define the options of the verbs about devices and about the tool itself. runBenchVerb and
// runManVerb run two of these verbs.
void defineDevices(CLI::App& verb, CommandLine& line);
void defineSelftest(CLI::App& verb, CommandLine& line);
void defineBench(CLI::App& verb, CommandLine& line);
void defineTune(CLI::App& verb, CommandLine& line);
void defineReport(CLI::App& verb, CommandLine& line);
void defineCompletion(CLI::App& verb, CommandLine& line);
void defineMan(CLI::App& verb, CommandLine& line);
int runBenchVerb(const CLI::App& verb, CommandLine& line);
int runManVerb(const CLI::App& verb, CommandLine& line);

} // namespace sluice
