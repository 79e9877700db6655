// SPDX-License-Identifier: MIT OR Apache-2.0
// The options of the verbs about devices and about the tool itself.
#include "tools/sluice/command_line.h"

#include "tools/sluice/command_table.h"
#include "tools/sluice/shared_options.h"

namespace sluice {

void defineDevices(CLI::App& verb, CommandLine& line)
{
    verb.add_flag("--json", line.devicesJson, "the list, for programs");
    PipelineOptions& options = line.pipelines;
    CLI::Option* const show = verb.add_flag(
        "--pipelines", options.show,
        "a Vulkan device's pipelines instead, each made anew: milliseconds, bytes of SPIR-V and "
        "what the driver reports about its code; with -v everything it reports");
    addValue(verb, "--device", "DEV", options.device.device,
             "only this one, as for unpack; with --pipelines default vulkan");
    addValue(verb, "--tier", "TIER", options.device.tier,
             "the tier whose pipelines are made, as for unpack")
        ->needs(show);
    addValue(verb, "--kernels", "FAMILY", options.kernels,
             "only these families: scan, compact, interval, gdeflate, gstd, filter, float, "
             "df11, fse, tile_streams, checksum, zstd, uastc; several with commas")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->needs(show);
    verb.add_flag("--necessary", options.necessary, "leave out the variants that only serve speed")
        ->needs(show);
    verb.add_option("--threads", options.threads,
                    "how many threads make them; 0 is one per core; default 1")
        ->check(CLI::Range(0u, 256u))
        ->needs(show);
    addValue(verb, "--cache", "FILE", options.cache, "a file that keeps what the driver compiled")
        ->needs(show);
    verb.add_option(
            "--subgroup-size", options.subgroupSize,
            "compile for subgroups of this many lanes, if the device has them; default: the "
            "size that a context takes")
        ->check(CLI::Range(4u, 128u))
        ->needs(show);
}

void defineSelftest(CLI::App& verb, CommandLine& line)
{
    addValue(verb, "--device", "DEV", line.selftest.device, "as for unpack, or all");
    addValue(verb, "--tier", "TIER", line.selftest.tier,
             "only this one; default: all that the device can run");
    verb.add_flag("--json", line.selftestJson, "the results, for programs");
}

void defineBench(CLI::App& verb, CommandLine& line)
{
    BenchOptions& options = line.bench;
    addValue(verb, "--device", "DEV", options.device, "as for unpack");
    verb.add_flag("--graphics-queue", options.graphicsQueue,
                  "Vulkan: on a queue that also does graphics, not one for compute only");
    addValue(verb, "--filter", "KERNEL", options.filters,
             "only kernels whose name contains this, or equals it if = comes first; several "
             "with commas. They are " +
                 benchKernels())
        ->delimiter(',')
        ->allow_extra_args(false);
    addValue(verb, "--input", "FILE", options.inputs,
             "a file to measure with: an archive, a tile stream, weights of a .safetensors "
             "file, a Zstandard file (zstd), or any other, which is packed first; may be given "
             "several times; at least one kernel must be able to use it")
        ->allow_extra_args(false);
    verb.add_option("--tiles-at-once", options.tilesAtOnce,
                    "gstd: how many tiles are in flight; several values with commas; default 512, "
                    "on GPUs also 2048 and 4096")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(1u, 1u << 24));
    addDecodeSpeed(verb, options.decodeSpeed);
    addValue(verb, "--stream-folder", "DIR", options.streamFolder,
             "stream: a folder on the disk to measure; default $TMPDIR, or /tmp");
    addSize(verb, "--stream-size", {1000000, 1, 1000000, 1000000000000},
            "stream: output per pass, in MB unless a unit such as GB says else; default 8000 on a "
            "GPU, else twice the input",
            [&options](uint64_t bytes) { options.streamSize = bytes; });
    verb.add_option("--stream-threads", options.streamThreads,
                    "stream: how many threads of the streamer read; default 8, or one per core")
        ->check(CLI::Range(1u, 64u));
    verb.add_option("--stream-sides", options.streamSides,
                    "stream: who decodes: first (the GPU if it has the pipelines), both, gpu, cpu; "
                    "several with "
                    "commas; default first")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"first", "both", "gpu", "cpu"}));
    verb.add_flag("--stream-ours", options.streamOursOnly, "stream: without the peers");
    verb.add_option("--seconds", options.seconds,
                    "about how long it may take; what is left out is named; 0: no limit; "
                    "default 40 without --filter and --input, else no limit")
        ->check(CLI::Range(0.0, 86400.0));
    addValue(verb, "--json", "FILE", options.json, "also write the figures to this file");
    addValue(verb, "--html", "FILE", options.html,
             "also write a page with plots and a table to this file");
}

int runBenchVerb(const CLI::App&, CommandLine& line)
{
    line.bench.verbosity = line.common.quiet ? -1 : line.common.verbosity;
    line.bench.force = line.common.force;
    line.bench.tuning = line.common.tuning;
    if (line.bench.json == "-" && line.bench.html == "-")
        throw Failure{exitUsage, "--json - and --html - would be mixed on stdout"};
    return runBench(line.bench);
}

void defineTune(CLI::App& verb, CommandLine& line)
{
    TuneOptions& options = line.tune;
    addDevice(verb, options.device);
    verb.add_option("--seconds", options.seconds, "about how long it takes; default 60")
        ->check(CLI::Range(0.0, 86400.0));
    addValue(verb, "--only", "NAME", options.only,
             "members to measure, such as scan.workgroups or scan; several are allowed");
    verb.add_flag("--candidates", options.candidates,
                  "measure nothing: print the row in use and what would be measured");
    addValue(verb, "--json", "FILE", options.json, "also write all measurements to this file");
}

void defineReport(CLI::App& verb, CommandLine& line)
{
    ReportOptions& options = line.report;
    addValue(verb, "-o,--output", "FILE", options.output, "the report, JSON; - is stdout")
        ->required();
    addValue(verb, "--device", "DEV", options.device, "as for unpack; default all");
    verb.add_option("--seconds", options.seconds,
                    "about how long it may take; what is left out is named; 0: no limit; "
                    "default 90")
        ->check(CLI::Range(0.0, 86400.0));
}

void defineCompletion(CLI::App& verb, CommandLine& line)
{
    verb.add_option("SHELL", line.shell, "the shell that is to complete verbs, options and values")
        ->check(CLI::IsMember(kShells))
        ->required();
}

void defineMan(CLI::App& verb, CommandLine& line)
{
    verb.add_option("COMMAND", line.manVerb,
                    "the command whose page to print; without it the page of sluice itself");
    addValue(verb, "--folder", "DIR", line.manFolder,
             "write the pages of all commands into this folder");
}

int runManVerb(const CLI::App& verb, CommandLine& line)
{
    if (!line.manVerb.empty() && !line.manFolder.empty())
        throw Failure{exitUsage, "--folder takes the pages of all commands"};
    return runManual(tableOf(*verb.get_parent()), line.manVerb, line.manFolder, line.common);
}

} // namespace sluice
