// SPDX-License-Identifier: MIT OR Apache-2.0
// The sluice command: reads the command line and runs a verb.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include <sluice/sluice_encode.h>

#include "tools/sluice/pack/block_encoder.h"
#include "tools/sluice/pack/cache_folder.h"
#include "tools/common/codecs.h"
#include "tools/sluice/command_line.h"
#include "tools/sluice/command_table.h"
#include "tools/common/expand_paths.h"
#include "tools/common/files.h"
#include "tools/common/shard.h"
#include "tools/sluice/shared_options.h"
#include "tools/common/engine.h"
#include "tools/sluice/usage_error.h"

namespace {

using namespace sluice;

// Returns the help text of pack -c: "gstd (default); gdeflate; ...". `names` receives the values
// that -c takes.
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

// Adds the options that say which files are packed, and under which names.
void addNames(CLI::App& verb, PackOptions& options)
{
    verb.add_flag("-L,--dereference", options.dereference,
                  "follow links in folders and pack what they lead to; a link that is a FILE is "
                  "followed anyway");
    addValue(verb, "-C,--directory", "DIR", options.directory,
             "FILEs, and those of -T, are relative to this folder, and are stored under the names "
             "that they have in it");
    addValue(verb, "-T,--files-from", "LIST", options.list,
             "also pack the files and folders of this list, one a line, or with 0 between them; - "
             "is stdin. A tab and a NAME behind a file is what it is stored under");
    verb.add_option("--strip", options.strip,
                    "leave out the first N folders of each name; a NAME of -T stays whole")
        ->check(CLI::Range(0u, 4096u));
    addValue(verb, "--prefix", "FOLDER", options.prefix,
             "put this in front of each name, after --strip: textures makes textures/NAME");
    verb.add_flag("--skip-bad-names", options.skipBadNames,
                  "leave out files whose names cannot stand in an archive, such as names with "
                  "control characters; else they are an error");
}

void definePack(CLI::App& verb, CommandLine& line)
{
    PackOptions& options = line.pack;
    addValue(verb, "-o,--output", "FILE", options.output, "the archive; - is stdout");
    std::vector<std::string> names;
    const std::string help = codecHelp(names);
    addValue(verb, "-c,--codec", "CODEC", options.codec, help)->check(CLI::IsMember(names));
    verb.add_option("-l,--level", options.level,
                    "1 (fastest) to 12 (smallest); default 9; for float tiles it only decides "
                    "whether fp8 E4M3 is made smaller (10 and more)")
        ->check(CLI::Range(1u, 12u));
    addDecodeSpeed(verb, options.decodeSpeed);
    addCopyDepth(verb, options.copyDepth);
    addSize(verb, "--tile-size", {1024, 1024, 64 << 10, 256 << 10},
            "gstd, zstd: the most that a tile holds, in KiB unless a unit says else, 64 (short "
            "lists decode faster) to 256 (smallest); default " +
                std::to_string(kDefaultTileKib) + ", with zstd " + std::to_string(kZstdTileKib),
            [&options](uint64_t bytes) { options.tileKib = uint32_t(bytes >> 10); });
    addValue(verb, "--filters", "FILTERS", options.filters,
             "gstd, zstd: auto (default), by the file's type and trial; none; a list to use "
             "whether it pays or not: " +
                 filterNames(", ") +
                 "; or a list to leave out, the rest as with auto: no-planes,no-up and so "
                 "on. Files above 1 GiB get none");
    verb.add_flag(
        "--images", options.images,
        "KTX2 and DDS files as images: the supercompression of KTX2 is undone, filters go "
        "by the format, each level of 64 KiB or more starts a tile, and the index tells "
        "what the images are. TGA, PNG and JPEG files become KTX2 textures with mip levels");
    addValue(verb, "--bc", "FORMAT", options.bc,
             "--images: the blocks of textures made from pictures: none (default), RGBA8; auto, "
             "BC1 for opaque colours, BC3 for those with alpha, BC4 for a single channel, "
             "BC5 for normal maps; bc1, bc3, bc4, bc5")
        ->check(CLI::IsMember({"auto", "none", "bc1", "bc3", "bc4", "bc5"}));
    addValue(
        verb, "--uastc", "FORM", options.uastc,
        "--images: what becomes of UASTC in KTX2 files: lean (default), without the hints that "
        "only ETC and BC1 use, which compresses better; keep, as it is; bc7 or astc, the "
        "format of a GPU")
        ->check(CLI::IsMember({"keep", "lean", "bc7", "astc"}));
    addValue(verb, "--kind", "KIND=GLOB", options.kinds,
             "--images: what the pictures are whose names match the glob: color; data, such as "
             "roughness; normal; mask, of which red counts; or auto (default), by name and texels. "
             "The last one that matches counts")
        ->allow_extra_args(false);
    verb.add_flag("!--no-mips", options.mips, "--images: textures keep only their largest level");
    addMaxOutput(verb, options.maxOutput,
                 "--images: how large an image may be in memory; default 128M, or 16 times the "
                 "file's size if that is more. A larger one is packed as any other file");
    verb.add_flag("!--no-share", options.share,
                  "share no tiles: small files get tiles of their own, as all others do, and equal "
                  "tiles are stored again");
    addThreads(verb, options.threads);
    addValue(verb, "--exclude", "GLOB", options.excludes,
             "leave out files and folders that match this glob: * ? do not match /, ** "
             "does; without / it is compared with the last component of a name")
        ->allow_extra_args(false);
    addValue(verb, "--cache", "DIR", options.cache,
             "a folder that keeps what was encoded: files and tiles that an earlier run "
             "packed with the same options are taken from it. The archive is the same");
    addValue(verb, "--cache-size", "SIZE", line.cacheSize,
             "the most bytes that the cache keeps after the run, such as 500M or 1.5GiB: the "
             "least recently used go first; default: no limit");
    addValue(verb, "--rules", "FILE", options.rules,
             "a TOML file that says by globs how files are encoded");
    addValue(verb, "--explain", "NAME", options.explain,
             "pack nothing, but tell how the file of this name would be packed, and why");
    addValue(verb, "--order", "FILE", options.order,
             "lay files out in the order of this list of names, one per line, the rest "
             "after them");
    addValue(verb, "--against", "FILE", options.against,
             "an older archive of these files: tiles whose content is still in a file are "
             "cut as they were, so that a patch from it is small");
    addValue(verb, "--shard", "K/N", options.shard,
             "K/N: only the Kth of N parts of the archive; join puts them together");
    addValue(verb, "--emit-ninja", "FILE", options.emitNinja,
             "pack nothing, but write a build file for Ninja that packs in shards and joins "
             "them");
    verb.add_option("--shards", options.shards, "--emit-ninja: how many shards; default 8")
        ->check(CLI::Range(1u, 65535u));
    addNames(verb, options);
    verb.add_flag("--dry-run", options.dryRun, "list what would be packed, and write nothing");
    verb.add_flag("--raw", options.raw,
                  "one file by itself: a DirectStorage tile stream, or a .safetensors file of "
                  "DFloat11 or ECF8");
    addValue(verb, "--group", "REGEX", options.groups,
             "df11 and ecf8: join the weights below each module that this expression "
             "matches; it may use . [] () | * + ? \\d \\w")
        ->allow_extra_args(false);
    verb.add_option("FILE", options.inputs, "files and folders");
}

// Returns the options that each shard of --emit-ninja gets, as they were given.
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
        {"--dereference", options.dereference},
        {"--directory", !options.directory.empty()},
        {"--files-from", !options.list.empty()},
        {"--strip", options.strip != 0},
        {"--prefix", !options.prefix.empty()},
        {"--skip-bad-names", options.skipBadNames},
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
    if (options.uastc != "lean" && !options.images)
        throw Failure{exitUsage, "--uastc is for --images"};
    if (!options.kinds.empty() && !options.images)
        throw Failure{exitUsage, "--kind is for --images"};
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
        throw Failure{exitUsage, "-o is required: it names the archive; see sluice pack --help"};
    if (!options.shard.empty()) shardFromText(options.shard); // throws if the text is wrong
    if (options.emitNinja.empty() && options.shards != 0)
        throw Failure{exitUsage, "--shards is for --emit-ninja"};
    if (!options.emitNinja.empty()) {
        if (!options.shard.empty() || options.output == "-" || options.dryRun ||
            !options.explain.empty())
            throw Failure{exitUsage,
                          "--emit-ninja goes without --shard, --dry-run, --explain and -o -"};
        if (!options.list.empty() && !isFile(options.list))
            throw Failure{exitUsage, "--emit-ninja: each shard reads the list again, so -T takes "
                                     "a regular file, not stdin or a pipe"};
        if (options.shards == 0) options.shards = 8;
        options.words = shardWords(verb);
        for (const std::string& file :
             {options.rules, options.order, options.against, options.list})
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
    addValue(verb, "--cache-size", "SIZE", line.cacheSize,
             "trim: the most bytes that the cache keeps, such as 500M or 20G");
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
    verb.add_flag("--reblock", line.transcode.reblock,
                  "make a Zstandard file, not an archive: FILE with the same matches, in blocks of "
                  "at most 2,048 sequences, which GPUs decode sooner, and with a seek table");
    addSize(verb, "--frame-size", {1024, 1, 1024, 1 << 30},
            "with --reblock: begin a frame every so many KiB, and search for matches anew",
            [&options = line.transcode](uint64_t bytes) { options.frameSize = uint32_t(bytes); });
    verb.add_option("FILE", line.transcode.inputs,
                    "Zstandard files, with windows up to 128 MiB and without dictionaries")
        ->required();
}

void addOnly(CLI::App& verb, Selection& selection)
{
    addValue(verb, "--only", "GLOB", selection.globs,
             "also assets whose names match this glob, as for pack --exclude; may be given "
             "several times")
        ->allow_extra_args(false);
}

void addKeepGoing(CLI::App& verb, bool& keepGoing)
{
    verb.add_flag("--keep-going", keepGoing,
                  "report everything that is wrong in the file, not only the first error; the exit "
                  "code is the same");
}

void addZstd(CLI::App& verb, ZstdOptions& options)
{
    addValue(verb, "-D,--dictionary", "FILE", options.dictionary,
             "Zstandard files: the dictionary of their frames, trained or raw");
    verb.add_option_function<std::string>(
            "--max-window",
            [&options](const std::string& text) {
                options.maxWindow = sizeFromText("--max-window", text);
                if (options.maxWindow == 0)
                    throw Failure{exitUsage, "--max-window: 0 would refuse everything"};
            },
            "Zstandard files: refuse frames that need a larger window in memory; default 448M")
        ->type_name("SIZE");
}

void defineUnpack(CLI::App& verb, CommandLine& line)
{
    verb.add_option("IN", line.unpack.input,
                    "a .sluice archive, a tile stream, a Zstandard file or a .safetensors file of "
                    "DFloat11 or ECF8; - is stdin")
        ->required();
    verb.add_option("NAME", line.unpack.selection.names,
                    "further inputs of the same kind; and assets, or folders with everything "
                    "below them; default all. A word that is a name in the first archive is that");
    addOnly(verb, line.unpack.selection);
    verb.add_flag("--list", line.unpack.list,
                  "print the names, with -v the sizes, and unpack nothing");
    addKeepGoing(verb, line.unpack.keepGoing);
    addMaxOutput(verb, line.unpack.maxOutput);
    CLI::Option* folder = addValue(verb, "-C,--directory", "DIR", line.unpack.folder,
                                   "the folder to unpack into; default .");
    addValue(verb, "-o,--output", "FILE", line.unpack.output,
             "the file for a single asset; - is stdout")
        ->excludes(folder);
    addValue(verb, "--as", "FORMAT", line.unpack.as,
             "write UASTC images of an archive as KTX2 files of this format: bc7, astc or rgba8; "
             "other files stay as they are")
        ->check(CLI::IsMember({"bc7", "astc", "rgba8"}));
    addValue(verb, "--like", "FILE", line.unpack.like,
             "a .safetensors model whose tensor names and shapes to restore");
    addZstd(verb, line.unpack.zstd);
    addDevice(verb, line.unpack.device);
    addDecodeThreads(verb, line.unpack.device.threads);
}

void defineInfo(CLI::App& verb, CommandLine& line)
{
    verb.add_option(
            "IN", line.info.input,
            "a .sluice archive, a tile stream, a Zstandard file or a .safetensors file; - is "
            "stdin. Shows how many tiles have which filters; with -v also their settings, tile by "
            "tile")
        ->required();
    addValue(verb, "--sort", "KEY", line.info.sort,
             "name (default); size: stored bytes, largest first; ratio: what shrinks "
             "least comes first")
        ->check(CLI::IsMember({"name", "size", "ratio"}));
    CLI::Option* const page = addValue(verb, "--html", "FILE", line.info.html,
                                       "write a page about an archive to this file: a map "
                                       "of stored bytes, types, codecs, filters");
    verb.add_flag("--json", line.info.json, "everything, for programs")->excludes(page);
}

void defineVerify(CLI::App& verb, CommandLine& line)
{
    verb.add_option("IN", line.verify.input, "as for unpack; - is stdin")->required();
    verb.add_option("NAME", line.verify.selection.names, "as for unpack");
    addOnly(verb, line.verify.selection);
    addKeepGoing(verb, line.verify.keepGoing);
    addMaxOutput(verb, line.verify.maxOutput);
    addValue(verb, "--compare", "DIR", line.verify.compare,
             "compare every byte with the files below this folder");
    addZstd(verb, line.verify.zstd);
    addDevice(verb, line.verify.device);
    addDecodeThreads(verb, line.verify.device.threads);
}

void defineDiff(CLI::App& verb, CommandLine& line)
{
    verb.add_option("OLD", line.diff.old, "the archive that its users have")->required();
    verb.add_option("NEW", line.diff.now, "the archive that they are to get")->required();
    addValue(verb, "-o,--output", "FILE", line.diff.output,
             "also make a patch; - is stdout, which then gets no list");
    verb.add_flag("--json", line.diff.json, "the list, for programs");
}

void definePatch(CLI::App& verb, CommandLine& line)
{
    verb.add_option("OLD", line.patch.old, "the archive that the patch was made for")->required();
    verb.add_option("PATCH", line.patch.patch, "what diff wrote; - is stdin")->required();
    addMaxOutput(verb, line.patch.maxOutput);
    addValue(verb, "-o,--output", "FILE", line.patch.output,
             "the new archive; with -f it may be OLD, which is replaced only if all is right")
        ->required();
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
    {"transcode", "turn Zstandard files into an archive of gstd, or one into short blocks",
     defineTranscode,
     [](const CLI::App&, CommandLine& l) { return runTranscode(l.transcode, l.common); }},
    {"unpack", "decode an archive, a Zstandard file or a bare stream", defineUnpack,
     [](const CLI::App&, CommandLine& l) { return runUnpack(l.unpack, l.common); }},
    {"info", "show what is in an archive, a Zstandard file or a stream", defineInfo,
     [](const CLI::App&, CommandLine& l) { return runInfo(l.info, l.common); }},
    {"verify", "decode and check, write nothing", defineVerify,
     [](const CLI::App&, CommandLine& l) { return runVerify(l.verify, l.common); }},
    {"diff", "list what differs between two archives, and make a patch", defineDiff,
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
    {"bench", "measure the kernels, and the peers that are present", defineBench, runBenchVerb},
    {"report", "write what a problem report needs: machine, devices, tests, speed", defineReport,
     [](const CLI::App&, CommandLine& l) { return runReport(l.report, l.common); }},
    {"completion", "print the script that makes a shell complete command lines", defineCompletion,
     [](const CLI::App& verb, CommandLine& l) {
         return runCompletion(tableOf(*verb.get_parent()), l.shell);
     }},
    {"man", "print a manual page", defineMan, runManVerb}};

void define(CLI::App& app, CommandLine& line)
{
    app.formatter(helpFormatter());
    app.require_subcommand(1);
    app.fallthrough(); // so that -f, -q and -v may stand anywhere
    app.set_version_flag("-V,--version", formatText("sluice %u.%u.%u", SLUICE_VERSION_MAJOR,
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
           "how many bytes may come through a pipe, such as 500M or 1.5GiB; default 512M")
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
        checkTuning(line.common.tuning);
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
    std::cout.flush(); // CLI11 has printed help through it
    if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw Failure{exitIo, "stdout cannot be written"};
}

// Turns "help VERB" into "VERB --help".
std::vector<std::string> plainWords(std::vector<std::string> words)
{
    const auto first = std::find_if(words.begin(), words.end(), [](const std::string& word) {
        return word.empty() || word[0] != '-';
    });
    if (first == words.end() || *first != "help") return words;
    words.erase(first);
    words.push_back("--help");
    return words;
}

// Does what the command line asks for. Returns the exit code, or throws a Failure.
int run(CLI::App& app, CommandLine& line, const std::vector<std::string>& arguments)
{
    int code = exitOk;
    const std::string wrong = lookalikeError(app, arguments);
    if (!wrong.empty()) throw Failure{exitUsage, wrong};
    try {
        // CLI11 wants the last word first.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
        code = runVerb(app, line);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) throw Failure{exitUsage, usageError(app, error, arguments)};
        app.exit(error); // prints the help or the version, which were asked for
    }
    flushResults();
    return code;
}

} // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> arguments = plainWords(startProgram(argc, argv));
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
