// SPDX-License-Identifier: MIT OR Apache-2.0
// The sluice command: reads the command line and calls a verb.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include <sluice/sluice_encode.h>

#include "tools/sluice/pack/block_encoder.h"
#include "tools/sluice/pack/cache_folder.h"
#include "tools/common/codecs.h"
#include "tools/sluice/command_table.h"
#include "tools/common/expand_paths.h"
#include "tools/common/files.h"
#include "tools/sluice/report/field_report.h"
#include "tools/common/shard.h"
#include "tools/sluice/shared_options.h"
#include "tools/bench/bench.h"
#include "tools/common/engine.h"
#include "tools/sluice/tune/tune.h"
#include "tools/sluice/usage_error.h"

namespace {

using namespace sluice;

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

// Returns "gstd (default); gdeflate; ..."; `names` receives the values of -c.
std::string codecHelp(std::vector<std::string>& names)
{
    std::string archives, raw;
    for (const Codec& codec : kCodecs) {
        names.push_back(codec.name);
        if (codec.plan != nullptr) archives += codec.name + std::string(codec.help) + "; ";
        if (codec.packRaw != nullptr) raw += (raw.empty() ? "" : ", ") + std::string(codec.name);
    }
    return archives + "with --raw: " + raw;
}

void definePack(CLI::App& verb, CommandLine& line)
{
    PackOptions& options = line.pack;
    verb.add_option("-o,--output", options.output, "the archive; - is stdout")->type_name("FILE");
    std::vector<std::string> names;
    const std::string help = codecHelp(names);
    verb.add_option("-c,--codec", options.codec, help)
        ->type_name("CODEC")
        ->check(CLI::IsMember(names));
    verb.add_option("-l,--level", options.level,
                    "1 (fastest) to 12 (smallest); default 9; for float tiles it only decides "
                    "whether fp8 E4M3 is made smaller (10 and more)")
        ->check(CLI::Range(1u, 12u));
    addDecodeSpeed(verb, options.decodeSpeed);
    addCopyDepth(verb, options.copyDepth);
    verb.add_option("--tile-size", options.tileKib,
                    "gstd: the most KiB of a tile, 64 (short lists decode faster) to 256 "
                    "(smallest); default 256")
        ->check(CLI::Range(64u, 256u));
    verb.add_option("--filters", options.filters,
                    "gstd: auto (default), by the file's type and trial; none; a list to use "
                    "whether it pays or not: " +
                        filterNames(",") +
                        "; or a list to leave out, the rest as with auto: no-planes,no-up and so "
                        "on. Files above 1 GiB get none")
        ->type_name("FILTERS");
    verb.add_flag(
        "--images", options.images,
        "KTX2 and DDS files as images: the supercompression of KTX2 is undone, filters go "
        "by the format, each level of 64 KiB or more starts a tile, and the index tells "
        "what the images are. TGA, PNG and JPEG files become KTX2 textures with mip levels");
    verb.add_option(
            "--bc", options.bc,
            "--images: the blocks of textures made from pictures: none (default), RGBA8; auto, "
            "BC1 for opaque colours, BC3 for those with alpha, BC4 for a single channel, "
            "BC5 for normal maps; bc1, bc3, bc4, bc5")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"auto", "none", "bc1", "bc3", "bc4", "bc5"}));
    verb.add_flag("!--no-mips", options.mips, "--images: textures keep only their largest level");
    addMaxOutput(verb, options.maxOutput);
    verb.add_flag("!--no-share", options.share,
                  "share no tiles: small files get tiles of their own, as all others do");
    addThreads(verb, options.threads);
    verb.add_option("--exclude", options.excludes,
                    "leave out files and folders that match this glob: * ? do not match /, ** "
                    "does; without / it is compared with the last component of a name")
        ->type_name("GLOB")
        ->allow_extra_args(false);
    verb.add_option("--cache", options.cache,
                    "a folder that keeps what was encoded: files and tiles that an earlier run "
                    "packed with the same options are taken from it. The archive is the same")
        ->type_name("DIR");
    verb.add_option("--cache-size", line.cacheSize,
                    "the most bytes that the cache keeps after the run, such as 500M or 20G: the "
                    "least recently used go first; default: no limit")
        ->type_name("SIZE");
    verb.add_option("--rules", options.rules,
                    "a TOML file that says by globs how files are encoded")
        ->type_name("FILE");
    verb.add_option("--explain", options.explain,
                    "pack nothing, but tell how the file of this name would be packed, and why")
        ->type_name("NAME");
    verb.add_option("--order", options.order,
                    "lay files out in the order of this list of names, one per line, the rest "
                    "after them")
        ->type_name("FILE");
    verb.add_option("--against", options.against,
                    "an older archive of these files: tiles whose content is still in a file are "
                    "cut as they were, so that a patch from it is small")
        ->type_name("FILE");
    verb.add_option("--shard", options.shard,
                    "K/N: only the Kth of N parts of the archive; join puts them together")
        ->type_name("K/N");
    verb.add_option("--emit-ninja", options.emitNinja,
                    "pack nothing, but write a build file for Ninja that packs in shards and joins "
                    "them")
        ->type_name("FILE");
    verb.add_option("--shards", options.shards, "--emit-ninja: how many shards; default 8")
        ->check(CLI::Range(1u, 65535u));
    verb.add_flag("--dry-run", options.dryRun, "list what would be packed, and write nothing");
    verb.add_flag("--raw", options.raw,
                  "one file by itself: a DirectStorage tile stream, or a .safetensors file of "
                  "DFloat11 or ECF8");
    verb.add_option("--group", options.groups,
                    "df11 and ecf8: join the weights below each module that this expression "
                    "matches; it may use . [] () | * + ? \\d \\w")
        ->type_name("REGEX")
        ->allow_extra_args(false);
    verb.add_option("FILE", options.inputs, "files and folders")->required();
}

// Returns the options that each shard gets, as they were given.
std::vector<std::string> shardWords(const CLI::App& verb)
{
    std::vector<std::string> words;
    for (const CLI::Option* option : verb.get_options()) {
        if (option->count() == 0 || option->get_positional()) continue;
        const std::string longName =
            option->get_lnames().empty() ? "" : "--" + option->get_lnames()[0];
        if (longName == "--emit-ninja" || longName == "--shards") continue;
        const std::string name = longName.empty() ? "-" + option->get_snames().at(0) : longName;
        if (name == "--output") continue;
        if (option->get_expected_max() == 0) {
            words.push_back(name);
            continue;
        }
        for (const std::string& value : option->results()) {
            words.push_back(name);
            words.push_back(value);
        }
    }
    return words;
}

int pack(const CLI::App& verb, CommandLine& line)
{
    PackOptions& options = line.pack;
    if (options.codec.empty()) options.codec = options.raw ? "gdeflate" : "gstd";
    const Codec& codec = codecNamed(options.codec);
    if (options.raw && codec.packRaw == nullptr)
        throw Failure{exitUsage, "--raw writes gdeflate, df11 or ecf8 only"};
    const std::pair<const char*, bool> forArchives[] = {
        {"--images", options.images},
        {"--no-share", !options.share},
        {"--exclude", !options.excludes.empty()},
        {"--cache", !options.cache.empty()},
        {"--rules", !options.rules.empty()},
        {"--explain", !options.explain.empty()},
        {"--order", !options.order.empty()},
        {"--against", !options.against.empty()},
        {"--shard", !options.shard.empty()},
        {"--emit-ninja", !options.emitNinja.empty()},
        {"--dry-run", options.dryRun}};
    for (const auto& [name, isGiven] : forArchives)
        if (options.raw && isGiven)
            throw Failure{exitUsage, std::string(name) + " is not for --raw"};
    if (options.maxOutput != 0 && !options.images)
        throw Failure{exitUsage, "--max-output is for --images"};
    if (!options.mips && !options.images) throw Failure{exitUsage, "--no-mips is for --images"};
    if (options.bc != "none" && !options.images) throw Failure{exitUsage, "--bc is for --images"};
    if (options.bc != "none" && !hasBlockEncoder())
        throw Failure{exitUnsupported, "--bc needs libsquish, which this build does not have"};
    if (!options.raw && codec.plan == nullptr)
        throw Failure{exitUsage, "-c " + options.codec + " needs --raw"};
    const struct {
        const char* name;
        bool isGiven;
        uint32_t option;
    } limited[] = {{"--decode-speed", options.decodeSpeed != 0, kDecodeSpeedOption},
                   {"--copy-depth", options.copyDepth != 0, kCopyDepthOption},
                   {"--tile-size", options.tileKib != 0, kTileSizeOption},
                   {"--filters", options.filters != "auto", kFiltersOption},
                   {"--group", !options.groups.empty(), kGroupOption}};
    for (const auto& one : limited) {
        if (!one.isGiven || (codec.options & one.option) != 0) continue;
        std::string takers;
        for (const Codec& other : kCodecs) {
            if ((other.options & one.option) != 0)
                takers += (takers.empty() ? "-c " : " and -c ") + std::string(other.name);
        }
        throw Failure{exitUsage, std::string(one.name) + " is for " + takers};
    }
    if (options.output.empty() && (!options.writesNothing() || !options.emitNinja.empty()))
        throw Failure{exitUsage, "-o is required"};
    if (!options.shard.empty()) shardFromText(options.shard); // reports what is wrong with it
    if (options.emitNinja.empty() && options.shards != 0)
        throw Failure{exitUsage, "--shards is for --emit-ninja"};
    if (!options.emitNinja.empty()) {
        if (!options.shard.empty() || options.output == "-" || options.dryRun ||
            !options.explain.empty())
            throw Failure{exitUsage,
                          "--emit-ninja goes without --shard, --dry-run, --explain and -o -"};
        if (options.shards == 0) options.shards = 8;
        options.words = shardWords(verb);
        for (const std::string& file : {options.rules, options.order, options.against})
            if (!file.empty()) options.dependencies.push_back(file);
    }
    if (!line.cacheSize.empty()) {
        if (options.cache.empty()) throw Failure{exitUsage, "--cache-size is for --cache"};
        options.cacheSize = sizeFromText("--cache-size", line.cacheSize);
    }
    if (verb.count("-l") != 0 && (codec.options & kLevelOption) == 0)
        throw Failure{exitUsage, "-l is without effect for -c " + options.codec};
    return runPack(options, line.common);
}

void defineCache(CLI::App& verb, CommandLine& line)
{
    verb.add_option("ACTION", line.cacheAction,
                    "info: show what the cache holds; trim: remove what was least recently used, "
                    "and what killed processes left behind")
        ->check(CLI::IsMember({"info", "trim"}))
        ->required();
    verb.add_option("DIR", line.cacheFolder, "the folder of pack --cache")->required();
    verb.add_option("--cache-size", line.cacheSize,
                    "trim: the most bytes that the cache keeps, such as 500M or 20G")
        ->type_name("SIZE");
}

int cache(const CLI::App&, CommandLine& line)
{
    const bool trims = line.cacheAction == "trim";
    if (trims != !line.cacheSize.empty())
        throw Failure{exitUsage, trims ? "trim needs --cache-size" : "--cache-size is for trim"};
    if (!trims) return runCacheInfo(line.cacheFolder);
    return runCacheTrim(line.cacheFolder, sizeFromText("--cache-size", line.cacheSize),
                        line.common);
}

void defineJoin(CLI::App& verb, CommandLine& line)
{
    addOutput(verb, line.join.output);
    verb.add_option("SHARD", line.join.inputs, "all shards of an archive, in any order")
        ->required();
}

void defineTranscode(CLI::App& verb, CommandLine& line)
{
    addOutput(verb, line.transcode.output);
    verb.add_option("-l,--level", line.transcode.level, "1 (fastest) to 12 (smallest); default 9")
        ->check(CLI::Range(1u, 12u));
    addCopyDepth(verb, line.transcode.copyDepth);
    addThreads(verb, line.transcode.threads);
    addMaxOutput(verb, line.transcode.maxOutput);
    verb.add_option("FILE", line.transcode.inputs,
                    "Zstandard files, with windows up to 128 MiB and without dictionaries")
        ->required();
}

void addOnly(CLI::App& verb, Selection& selection)
{
    verb.add_option("--only", selection.globs,
                    "also assets whose names match this glob, as for pack --exclude; may be given "
                    "several times")
        ->type_name("GLOB")
        ->allow_extra_args(false);
}

void addKeepGoing(CLI::App& verb, bool& keepGoing)
{
    verb.add_flag("--keep-going", keepGoing,
                  "report everything that is wrong in the file, not only the first error; the exit "
                  "code is the same");
}

void defineUnpack(CLI::App& verb, CommandLine& line)
{
    verb.add_option("IN", line.unpack.input,
                    "a .sluice archive, a tile stream or a .safetensors file of DFloat11 or ECF8; "
                    "- is stdin")
        ->required();
    verb.add_option("NAME", line.unpack.selection.names,
                    "assets of an archive, or folders with everything below them; default all");
    addOnly(verb, line.unpack.selection);
    verb.add_flag("--list", line.unpack.list,
                  "print the names, with -v the sizes, and unpack nothing");
    addKeepGoing(verb, line.unpack.keepGoing);
    addMaxOutput(verb, line.unpack.maxOutput);
    CLI::Option* folder = verb.add_option("-C,--directory", line.unpack.folder,
                                          "the folder to unpack into; default .")
                              ->type_name("DIR");
    verb.add_option("-o,--output", line.unpack.output, "the file for a single asset; - is stdout")
        ->type_name("FILE")
        ->excludes(folder);
    verb.add_option("--like", line.unpack.like,
                    "a .safetensors model whose tensor names and shapes to restore")
        ->type_name("FILE");
    addDevice(verb, line.unpack.device);
    addDecodeThreads(verb, line.unpack.device.threads);
}

void defineInfo(CLI::App& verb, CommandLine& line)
{
    verb.add_option(
            "IN", line.info.input,
            "a .sluice archive, a tile stream or a .safetensors file; - is stdin. Shows how "
            "many tiles have which filters; with -v also their settings, tile by tile")
        ->required();
    verb.add_option("--sort", line.info.sort,
                    "name (default); size: stored bytes, largest first; ratio: what shrinks "
                    "least comes first")
        ->type_name("KEY")
        ->check(CLI::IsMember({"name", "size", "ratio"}));
    CLI::Option* const page = verb.add_option("--html", line.info.html,
                                              "write a page about an archive to this file: a map "
                                              "of stored bytes, types, codecs, filters")
                                  ->type_name("FILE");
    verb.add_flag("--json", line.info.json, "everything, for programs")->excludes(page);
}

void defineVerify(CLI::App& verb, CommandLine& line)
{
    verb.add_option("IN", line.verify.input, "as for unpack; - is stdin")->required();
    verb.add_option("NAME", line.verify.selection.names, "as for unpack");
    addOnly(verb, line.verify.selection);
    addKeepGoing(verb, line.verify.keepGoing);
    addMaxOutput(verb, line.verify.maxOutput);
    verb.add_option("--compare", line.verify.compare,
                    "compare every byte with the files below this folder")
        ->type_name("DIR");
    addDevice(verb, line.verify.device);
    addDecodeThreads(verb, line.verify.device.threads);
}

void defineDiff(CLI::App& verb, CommandLine& line)
{
    verb.add_option("OLD", line.diff.old, "the archive that its users have")->required();
    verb.add_option("NEW", line.diff.now, "the archive that they are to get")->required();
    verb.add_option("-o,--output", line.diff.output, "the patch; - is stdout")
        ->type_name("FILE")
        ->required();
}

void definePatch(CLI::App& verb, CommandLine& line)
{
    verb.add_option("OLD", line.patch.old, "the archive that the patch was made for")->required();
    verb.add_option("PATCH", line.patch.patch, "what diff wrote; - is stdin")->required();
    addMaxOutput(verb, line.patch.maxOutput);
    verb.add_option(
            "-o,--output", line.patch.output,
            "the new archive; with -f it may be OLD, which is replaced only if all is right")
        ->type_name("FILE")
        ->required();
}

void defineDevices(CLI::App& verb, CommandLine& line)
{
    verb.add_flag("--json", line.devicesJson, "the list, for programs");
    PipelineOptions& options = line.pipelines;
    CLI::Option* const show = verb.add_flag(
        "--pipelines", options.show,
        "a Vulkan device's pipelines instead, each made anew: milliseconds, bytes of SPIR-V and "
        "what the driver reports about its code; with -v everything it reports");
    verb.add_option("--device", options.device.device,
                    "only this one, as for unpack; with --pipelines default vulkan")
        ->type_name("DEV");
    verb.add_option("--tier", options.device.tier,
                    "the tier whose pipelines are made, as for unpack")
        ->type_name("TIER")
        ->needs(show);
    verb.add_option("--kernels", options.kernels,
                    "only these families: scan, compact, interval, gdeflate, gstd, filter, float, "
                    "df11, fse, tile_streams, checksum; several with commas")
        ->type_name("FAMILY")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->needs(show);
    verb.add_flag("--necessary", options.necessary, "leave out the variants that only serve speed")
        ->needs(show);
    verb.add_option("--threads", options.threads, "how many threads make them; default 1")
        ->check(CLI::Range(1u, 256u))
        ->needs(show);
    verb.add_option("--cache", options.cache, "a file that keeps what the driver compiled")
        ->type_name("FILE")
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
    verb.add_option("--device", line.selftest.device, "as for unpack, or all")->type_name("DEV");
    verb.add_option("--tier", line.selftest.tier,
                    "only this one; default: all that the device can run")
        ->type_name("TIER");
    verb.add_flag("--json", line.selftestJson, "the results, for programs");
}

void defineBench(CLI::App& verb, CommandLine& line)
{
    BenchOptions& options = line.bench;
    verb.add_option("--device", options.device, "as for unpack")->type_name("DEV");
    verb.add_flag("--graphics-queue", options.graphicsQueue,
                  "Vulkan: on a queue that also does graphics, not one for compute only");
    verb.add_option("--filter", options.filters,
                    "only kernels whose name contains this, or equals it if = comes first; several "
                    "with commas. They are " +
                        benchKernels())
        ->type_name("KERNEL")
        ->delimiter(',')
        ->allow_extra_args(false);
    verb.add_option("--input", options.inputs,
                    "a file to measure with: an archive, a tile stream, weights of a .safetensors "
                    "file, or any other, which is packed first; may be given several times; at "
                    "least one kernel must be able to use it")
        ->type_name("FILE")
        ->allow_extra_args(false);
    verb.add_option("--tiles-at-once", options.tilesAtOnce,
                    "gstd: how many tiles are in flight; several values with commas; default 512, "
                    "on GPUs also 2048 and 4096")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(1u, 1u << 24));
    addDecodeSpeed(verb, options.decodeSpeed);
    verb.add_option("--stream-folder", options.streamFolder,
                    "stream: a folder on the disk to measure; default $TMPDIR, or /tmp")
        ->type_name("DIR");
    verb.add_option("--stream-size", options.streamMegabytes,
                    "stream: MB of output per pass; default 8000 on a GPU, else twice the input")
        ->check(CLI::Range(1u, 1000000u));
    verb.add_option("--stream-threads", options.streamThreads,
                    "stream: how many threads of the streamer read; default 8, or one per core")
        ->check(CLI::Range(1u, 64u));
    verb.add_flag("--stream-ours", options.streamOursOnly, "stream: without the peers");
    verb.add_option("--seconds", options.seconds,
                    "about how long it may take; what is left out is named; 0: no limit; "
                    "default 40 without --filter and --input, else no limit")
        ->check(CLI::Range(0.0, 86400.0));
    verb.add_option("--json", options.json, "also write the figures to this file")
        ->type_name("FILE");
    verb.add_option("--html", options.html, "also write a page with plots and a table to this file")
        ->type_name("FILE");
}

int bench(const CLI::App&, CommandLine& line)
{
    line.bench.verbosity = line.common.quiet ? -1 : line.common.verbosity;
    line.bench.force = line.common.force;
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
    verb.add_option("--only", options.only,
                    "members to measure, such as scan.workgroups or scan; several are allowed")
        ->type_name("NAME");
    verb.add_flag("--candidates", options.candidates,
                  "measure nothing: print the row in use and what would be measured");
    verb.add_option("--json", options.json, "also write all measurements to this file")
        ->type_name("FILE");
}

void defineReport(CLI::App& verb, CommandLine& line)
{
    ReportOptions& options = line.report;
    verb.add_option("-o,--output", options.output, "the report, JSON; - is stdout")
        ->type_name("FILE")
        ->required();
    verb.add_option("--device", options.device, "as for unpack; default all")->type_name("DEV");
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
    verb.add_option("--folder", line.manFolder, "write the pages of all commands into this folder")
        ->type_name("DIR");
}

int man(const CLI::App& verb, CommandLine& line)
{
    if (!line.manVerb.empty() && !line.manFolder.empty())
        throw Failure{exitUsage, "--folder takes the pages of all commands"};
    return runManual(tableOf(*verb.get_parent()), line.manVerb, line.manFolder, line.common);
}

constexpr struct Verb {
    const char *name, *help;
    void (*define)(CLI::App& verb, CommandLine& line);
    int (*run)(const CLI::App& verb, CommandLine& line);
} kVerbs[] = {
    {"pack", "pack files and folders into a .sluice archive", definePack, pack},
    {"cache", "show or trim what pack --cache keeps", defineCache, cache},
    {"join", "join the shards of pack --shard into an archive", defineJoin,
     [](const CLI::App&, CommandLine& l) { return runJoin(l.join, l.common); }},
    {"transcode", "turn Zstandard files into an archive of gstd", defineTranscode,
     [](const CLI::App&, CommandLine& l) { return runTranscode(l.transcode, l.common); }},
    {"unpack", "decode an archive or a bare stream", defineUnpack,
     [](const CLI::App&, CommandLine& l) { return runUnpack(l.unpack, l.common); }},
    {"info", "show what is in an archive or a stream", defineInfo,
     [](const CLI::App&, CommandLine& l) { return runInfo(l.info, l.common); }},
    {"verify", "decode and check, write nothing", defineVerify,
     [](const CLI::App&, CommandLine& l) { return runVerify(l.verify, l.common); }},
    {"diff", "make a patch from an old archive to a new one", defineDiff,
     [](const CLI::App&, CommandLine& l) { return runDiff(l.diff, l.common); }},
    {"patch", "make the new archive from the old one and a patch", definePatch,
     [](const CLI::App&, CommandLine& l) { return runPatch(l.patch, l.common); }},
    {"devices", "list the devices", defineDevices,
     [](const CLI::App&, CommandLine& l) {
         return l.pipelines.show ? runPipelines(l.pipelines, l.devicesJson, l.common)
                                 : runDevices(l.pipelines.device.device, l.devicesJson, l.common);
     }},
    {"selftest", "compare every kernel with the CPU reference, on every tier of a device",
     defineSelftest,
     [](const CLI::App&, CommandLine& l) {
         return runSelftest(l.selftest, l.selftestJson, l.common);
     }},
    {"tune", "find the best row of tuning for the device by measuring", defineTune,
     [](const CLI::App&, CommandLine& l) { return runTune(l.tune, l.common); }},
    {"bench", "measure the kernels, and the peers that are present", defineBench, bench},
    {"report", "write what a problem report needs: machine, devices, tests, speed", defineReport,
     [](const CLI::App&, CommandLine& l) { return runReport(l.report, l.common); }},
    {"completion", "print the script that makes a shell complete command lines", defineCompletion,
     [](const CLI::App& verb, CommandLine& l) {
         return runCompletion(tableOf(*verb.get_parent()), l.shell);
     }},
    {"man", "print a manual page", defineMan, man}};

void define(CLI::App& app, CommandLine& line)
{
    app.formatter(helpFormatter());
    app.require_subcommand(1);
    app.fallthrough(); // -f, -q and -v may be anywhere on the line
    app.set_version_flag("--version", formatText("sluice %u.%u.%u", SLUICE_VERSION_MAJOR,
                                                 SLUICE_VERSION_MINOR, SLUICE_VERSION_PATCH));
    app.add_flag("-f,--force", line.common.force, "overwrite existing files");
    app.add_flag("-q,--quiet", line.common.quiet, "no output but errors");
    app.add_flag("-v,--verbose", line.common.verbosity, "more output; -vv for more");
    app.add_option(
           "--tuning", line.common.tuning,
           "verbs with --device: a row of tuning for it, as printed by tune; @FILE reads it "
           "from a file")
        ->type_name("ROW");
    app.add_option_function<std::string>(
           "--max-input",
           [](const std::string& text) { limitPipes(sizeFromText("--max-input", text)); },
           "how many bytes may come through a pipe, such as 500M or 20G; default 512M")
        ->type_name("SIZE");
    for (const Verb& verb : kVerbs)
        verb.define(*app.add_subcommand(verb.name, verb.help), line);
}

int runVerb(const CLI::App& app, CommandLine& line)
{
    const CLI::App& given = *app.get_subcommands().at(0);
    if (!line.common.tuning.empty()) {
        const std::string verb = given.get_name();
        if (given.get_option_no_throw("--device") == nullptr || verb == "tune" ||
            verb == "devices" || verb == "report")
            throw Failure{exitUsage, "--tuning is for unpack, verify, selftest and bench"};
        if (line.common.tuning[0] == '@')
            for (const std::string& output : {line.unpack.output, line.bench.json, line.bench.html})
                refuseOwnInput(output, {line.common.tuning.substr(1)});
        line.common.tuning = tuningText(line.common.tuning);
    }
    for (auto* const paths : {&line.pack.inputs, &line.join.inputs, &line.transcode.inputs})
        *paths = expandedPaths(*paths);
    for (const Verb& verb : kVerbs) {
        if (given.get_name() == verb.name) return verb.run(given, line);
    }
    return exitUsage;
}

void flushResults()
{
    std::cout.flush(); // CLI11 prints help by it
    if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw Failure{exitIo, "stdout cannot be written"};
}

// Does what the line asks for. Returns the exit code, or throws a Failure.
int run(CLI::App& app, CommandLine& line, const std::vector<std::string>& arguments)
{
    int code = exitOk;
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend())); // in reverse
        code = runVerb(app, line);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) throw Failure{exitUsage, usageError(app, error, arguments)};
        app.exit(error); // prints the help or the version that was asked for
    }
    flushResults();
    return code;
}

} // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> arguments = startProgram(argc, argv);
    CommandLine line;
    CLI::App app("Compressed assets in, bytes on the GPU out.", "sluice");
    try {
        define(app, line);
        return run(app, line, arguments);
    } catch (const Failure& failure) {
        std::fflush(stdout);
        sayError(failure.text);
        return failure.code;
    } catch (const EngineError& error) {
        sayError(error.what());
        return exitDevice;
    } catch (const std::bad_alloc&) {
        printMessage("sluice: out of memory\n");
        return exitIo;
    } catch (const std::exception& error) {
        sayError(error.what());
        return exitIo;
    }
}
