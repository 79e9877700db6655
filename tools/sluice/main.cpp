// SPDX-License-Identifier: MIT OR Apache-2.0
// The sluice command: reads the command line and calls a verb.
#include <algorithm>
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include <sluice/sluice_encode.h>

#include "bench.h"
#include "tool.h"
#include "tune.h"

namespace {

using namespace sluice;

struct CommandLine {
    CommonOptions common;
    PackOptions pack;
    TranscodeOptions transcode;
    UnpackOptions unpack;
    VerifyOptions verify;
    DeviceOptions selftest;
    BenchOptions bench;
    TuneOptions tune;
    std::string infoInput;
    bool infoJson = false, devicesJson = false, selftestJson = false;
};

void addDevice(CLI::App& verb, DeviceOptions& options, bool tier)
{
    verb.add_option("--device", options.device,
                    "auto, cpu, vulkan, vulkan:N, vulkan:TEXT, cuda or cuda:N");
    if (tier) {
        verb.add_option("--tier", options.tier,
                        "base, ext, emu4 ... emu128, native or ref; the best one if not given");
    }
}

void addDecodeSpeed(CLI::App& verb, uint32_t& value)
{
    verb.add_option("--decode-speed", value,
                    formatText("0 (smallest) to %u: larger files that decode faster; default 0",
                               SLUICE_GDEFLATE_MAX_DECODE_SPEED))
        ->check(CLI::Range(0u, SLUICE_GDEFLATE_MAX_DECODE_SPEED));
}

void addCopyDepth(CLI::App& verb, uint32_t& value)
{
    verb.add_option("--copy-depth", value,
                    formatText("gstd: 1 (fastest to decode) to %u (smallest): how deep copies are "
                               "nested; default 4",
                               SLUICE_GSTD_MAX_DEPTH))
        ->check(CLI::Range(1u, SLUICE_GSTD_MAX_DEPTH));
}

void defineTune(CLI::App& verb, TuneOptions& options)
{
    addDevice(verb, options.device, true);
    verb.add_option("--seconds", options.seconds, "about how long it takes; default 60")
        ->check(CLI::Range(0.0, 86400.0));
    verb.add_option("--only", options.only,
                    "members to measure, scan.workgroups or scan; several are allowed");
    verb.add_option("--json", options.json, "also write all measurements to this file");
}

void define(CLI::App& app, CommandLine& line)
{
    app.require_subcommand(1);
    app.fallthrough(); // -f, -q and -v stand anywhere on the line
    app.set_version_flag("--version", formatText("sluice %u.%u.%u", SLUICE_VERSION_MAJOR,
                                                 SLUICE_VERSION_MINOR, SLUICE_VERSION_PATCH));
    app.add_flag("-f", line.common.force, "overwrite existing files");
    app.add_flag("-q", line.common.quiet, "no output but errors");
    app.add_flag("-v", line.common.verbosity, "more output; -vv for more");
    app.add_option("--tuning", line.common.tuning,
                   "verbs with --device: a row of tuning for it, as tune prints it; @FILE reads it "
                   "from a file");

    CLI::App& pack = *app.add_subcommand("pack", "pack files and folders into a .sluice archive");
    pack.add_option("-o", line.pack.output, "the archive; - is stdout")->required();
    pack.add_option("-c", line.pack.codec,
                    "gstd (default); gdeflate; float: for the weights of .safetensors files, "
                    "gdeflate for the rest; huff: "
                    "Huffman codes of plain bytes; store; with --raw: gdeflate, df11 or ecf8")
        ->check(CLI::IsMember({"gstd", "gdeflate", "float", "huff", "store", "df11", "ecf8"}));
    pack.add_option("-l", line.pack.level,
                    "1 (fastest) to 12 (smallest); default 9; of float tiles only whether fp8 E4M3 "
                    "is to be smaller (10 and more)")
        ->check(CLI::Range(1u, 12u));
    addDecodeSpeed(pack, line.pack.decodeSpeed);
    addCopyDepth(pack, line.pack.copyDepth);
    pack.add_option("--tile-size", line.pack.tileKib,
                    "gstd: KiB that a tile has at most, 64 (short lists decode faster) to 256 "
                    "(smallest); default 256")
        ->check(CLI::Range(64u, 256u));
    pack.add_option("--filters", line.pack.filters,
                    "gstd: auto (default), by the file's type and trial; none; those to use "
                    "whether they pay or not: "
                    "planes,difference,up,gradient,median,subtract,float,blocks,packets; or those "
                    "to do without, the rest as with "
                    "auto: no-planes,no-up and so on. Files above 1 GiB get none");
    pack.add_option("-j", line.pack.threads, "threads; default one a core")
        ->check(CLI::Range(1u, 4096u));
    pack.add_flag("--raw", line.pack.raw,
                  "one file by itself: a DirectStorage tile stream, or a .safetensors file of "
                  "DFloat11 or ECF8");
    pack.add_option("--group", line.pack.groups,
                    "df11 and ecf8: join the weights below each module that this expression "
                    "matches; it may use . [] () | * + ? "
                    "\\d \\w")
        ->allow_extra_args(false);
    pack.add_option("FILE", line.pack.inputs, "files and folders")->required();

    CLI::App& transcode =
        *app.add_subcommand("transcode", "Zstandard files into an archive of gstd");
    transcode.add_option("-o", line.transcode.output, "the archive; - is stdout")->required();
    transcode.add_option("-l", line.transcode.level, "1 (fastest) to 12 (smallest); default 9")
        ->check(CLI::Range(1u, 12u));
    addCopyDepth(transcode, line.transcode.copyDepth);
    transcode.add_option("-j", line.transcode.threads, "threads; default one a core")
        ->check(CLI::Range(1u, 4096u));
    transcode
        .add_option("FILE", line.transcode.inputs,
                    "Zstandard files, with windows up to 128 MiB and without dictionaries")
        ->required();

    CLI::App& unpack = *app.add_subcommand("unpack", "decode an archive or a bare stream");
    unpack
        .add_option("IN", line.unpack.input,
                    "a .sluice archive, a tile stream or a .safetensors file of DFloat11 or ECF8; "
                    "- is stdin")
        ->required();
    CLI::Option* folder =
        unpack.add_option("-C", line.unpack.folder, "the folder to unpack into; default .");
    unpack.add_option("-o", line.unpack.output, "the file for a single asset; - is stdout")
        ->excludes(folder);
    unpack.add_option("--like", line.unpack.like,
                      "a .safetensors model whose tensor names and shapes to restore");
    addDevice(unpack, line.unpack.device, true);

    CLI::App& info = *app.add_subcommand("info", "show what is in an archive or a stream");
    info.add_option("IN", line.infoInput,
                    "a .sluice archive, a tile stream or a .safetensors file; - is stdin. Says how "
                    "many tiles have which "
                    "filters; with -v also, tile by tile, how they are set")
        ->required();
    info.add_flag("--json", line.infoJson, "everything, for programs");

    CLI::App& verify = *app.add_subcommand("verify", "decode and check, write nothing");
    verify.add_option("IN", line.verify.input, "as for unpack; - is stdin")->required();
    verify.add_option("--compare", line.verify.compare,
                      "compare every byte with the files below this folder");
    addDevice(verify, line.verify.device, true);

    CLI::App& devices = *app.add_subcommand("devices", "list the devices");
    devices.add_flag("--json", line.devicesJson, "the list, for programs");

    CLI::App& selftest = *app.add_subcommand(
        "selftest",
        "golden vectors and made-up data through every kernel, on every tier of a device");
    selftest.add_option("--device", line.selftest.device, "as for unpack, or all");
    selftest.add_flag("--json", line.selftestJson, "the results, for programs");

    CLI::App& bench =
        *app.add_subcommand("bench", "measure the kernels, and the peers that are present");
    bench.add_option("--device", line.bench.device, "as for unpack");
    bench.add_flag("--graphics-queue", line.bench.graphicsQueue,
                   "Vulkan: on a queue that also does graphics, not one for compute alone");
    bench
        .add_option("--filter", line.bench.filters,
                    "only kernels whose name contains this; several with commas. They are " +
                        benchKernels())
        ->delimiter(',')
        ->allow_extra_args(false);
    bench
        .add_option("--input", line.bench.inputs,
                    "a file to measure with: an archive, a tile stream, weights of a .safetensors "
                    "file, or any other, which is "
                    "packed first; may be given several times, and each must be of use to a kernel")
        ->allow_extra_args(false);
    bench
        .add_option("--tiles-at-once", line.bench.tilesAtOnce,
                    "gstd: how many tiles are in flight; several values with commas; default 512, "
                    "on GPUs also 2048 and "
                    "4096")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(1u, 1u << 24));
    addDecodeSpeed(bench, line.bench.decodeSpeed);
    bench.add_option("--json", line.bench.json, "also write the figures to this file");

    defineTune(*app.add_subcommand("tune", "measure what the device's row of tuning should be"),
               line.tune);
}

int runVerb(CLI::App& app, CommandLine& line)
{
    const CLI::App& given = *app.get_subcommands().at(0);
    const std::string verb = given.get_name();
    if (!line.common.tuning.empty()) {
        if (given.get_option_no_throw("--device") == nullptr || verb == "tune")
            throw Failure{exitUsage, "--tuning is for unpack, verify, selftest and bench"};
        line.common.tuning = tuningText(line.common.tuning);
    }
    if (verb == "pack") {
        if (line.pack.codec.empty()) {
            line.pack.codec = line.pack.raw ? "gdeflate" : "gstd";
        }
        const bool df11 = line.pack.codec == "df11" || line.pack.codec == "ecf8";
        if (line.pack.raw != df11 && (df11 || line.pack.codec != "gdeflate")) {
            throw Failure{exitUsage, df11
                                         ? "-c " + line.pack.codec + " needs --raw"
                                         : std::string("--raw writes gdeflate, df11 or ecf8 only")};
        }
        if (line.pack.decodeSpeed != 0 && line.pack.codec != "gdeflate") {
            throw Failure{exitUsage, "--decode-speed is for -c gdeflate"};
        }
        if (line.pack.copyDepth != 0 && line.pack.codec != "gstd") {
            throw Failure{exitUsage, "--copy-depth is for -c gstd"};
        }
        if (line.pack.tileKib != 0 && line.pack.codec != "gstd") {
            throw Failure{exitUsage, "--tile-size is for -c gstd"};
        }
        if (line.pack.filters != "auto" && line.pack.codec != "gstd") {
            throw Failure{exitUsage, "--filters is for -c gstd"};
        }
        if (given.count("-l") != 0 &&
            (df11 || line.pack.codec == "store" || line.pack.codec == "huff")) {
            throw Failure{exitUsage, "-l is without effect for -c " + line.pack.codec};
        }
        if (!df11 && !line.pack.groups.empty()) {
            throw Failure{exitUsage, "--group is for -c df11 and -c ecf8"};
        }
        return df11 ? runPackDf11(line.pack, line.common) : runPack(line.pack, line.common);
    }
    if (verb == "transcode") {
        return runTranscode(line.transcode, line.common);
    }
    if (verb == "unpack") {
        return runUnpack(line.unpack, line.common);
    }
    if (verb == "info") {
        return runInfo(line.infoInput, line.infoJson, line.common);
    }
    if (verb == "verify") {
        return runVerify(line.verify, line.common);
    }
    if (verb == "devices") {
        return runDevices(line.devicesJson, line.common);
    }
    if (verb == "selftest") {
        return runSelftest(line.selftest, line.selftestJson, line.common);
    }
    if (verb == "tune") {
        return runTune(line.tune, line.common);
    }
    line.bench.tuning = line.common.tuning;
    line.bench.verbosity = line.common.quiet ? -1 : line.common.verbosity;
    line.bench.force = line.common.force;
    return runBench(line.bench);
}

} // namespace

int main(int argc, char** argv)
{
    CommandLine line;
    CLI::App app("Compressed assets in, bytes on the GPU out.", "sluice");
    try {
        define(app, line);
        app.parse(argc, argv);
        const int code = runVerb(app, line);
        if (std::fflush(stdout) != 0) {
            throw Failure{exitIo, "stdout cannot be written"};
        }
        return code;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
            return app.exit(error); // prints the help or the version that was asked for
        }
        const char* const* const verb =
            std::find_if(argv + 1, argv + argc, [](const char* word) { return *word != '-'; });
        // CLI11 says only that there is none
        if (app.get_subcommands().empty() && verb != argv + argc) {
            std::fprintf(stderr, "sluice: there is no command '%s'; see sluice --help\n",
                         printable(*verb).c_str());
        } else {
            std::fprintf(stderr, "sluice: %s; see sluice --help\n", error.what());
        }
        return exitUsage;
    } catch (const Failure& failure) {
        std::fflush(stdout);
        std::fprintf(stderr, "sluice: %s\n", failure.text.c_str());
        return failure.code;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "sluice: out of memory\n");
        return exitIo;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sluice: %s\n", error.what());
        return exitIo;
    }
}
