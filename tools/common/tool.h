// SPDX-License-Identifier: MIT OR Apache-2.0
// The parts that all verbs have in common: exit codes, errors, options and messages.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include <sluice/sluice.h>

// Lets the compiler compare the arguments with the format, as it does for printf. On mingw-w64 the
// name "printf" would mean the printf of Microsoft's old runtime.
#if defined(__MINGW32__)
#define SLUICE_PRINTF(format_, first) __attribute__((format(gnu_printf, format_, first)))
#elif defined(__GNUC__)
#define SLUICE_PRINTF(format_, first) __attribute__((format(printf, format_, first)))
#else
#define SLUICE_PRINTF(format_, first)
#endif

namespace sluice {

using Bytes = std::vector<uint8_t>;
using Words = std::vector<uint32_t>;

enum ExitCode : int {
    exitOk = 0,
    exitUsage = 1,
    exitIo = 2,     // also a refused overwrite
    exitFormat = 3, // a file is damaged or of a wrong kind
    exitDevice = 4,
    exitUnsupported = 5, // a newer version or codec; or the build or device lacks something
};

// An exception that ends the program: main prints "sluice: TEXT" and returns the code.
struct Failure {
    int code;
    std::string text;
};

struct CommonOptions {
    bool force = false;
    bool quiet = false;
    int verbosity = 0;
    std::string tuning; // a tuning row; empty: the device's own
};

struct DeviceOptions {
    std::string device = "auto";
    std::string tier;     // empty: the best tier
    uint32_t threads = 1; // for decoding, if the device is the CPU; 0: one per core
};

struct PipelineOptions {
    bool show = false;
    DeviceOptions device = {"", ""};  // empty: the first Vulkan device
    std::vector<std::string> kernels; // empty: all
    bool necessary = false;           // leave out pipelines that are only for speed
    uint32_t threads = 1;
    std::string cache;         // a file; empty: none
    uint32_t subgroupSize = 0; // 0: the context's choice
};

// The most KiB of a Gstd tile, unless --tile-size gives another number. The slowest tile decides
// how long a batch takes. With tiles of 256 KiB, archives are 1 to 3 % smaller, but stream at less
// than half the rate (docs/notes/streaming.md).
constexpr uint32_t kDefaultTileKib = 160;
// The most KiB of a Zstandard tile. It is larger than kDefaultTileKib, because the time of a batch
// depends on the slowest Zstandard block, not on the slowest tile.
constexpr uint32_t kZstdTileKib = 256;

// How a file is encoded. encodingText() must contain every new member on which the bytes depend.
struct AssetOptions {
    uint32_t threads = 0; // 0: one per core
    std::string codec;    // a name in kCodecs; empty: gstd, or gdeflate with --raw
    uint32_t copyDepth = 0;
    uint32_t tileKib = 0; // --tile-size; 0: kDefaultTileKib or kZstdTileKib
    std::string filters = "auto";
    uint32_t level = 9;
    uint32_t decodeSpeed = 0;
    bool images = false;
    std::string bc = "none";    // --bc: the format of textures
    std::string uastc = "lean"; // --uastc: what becomes of UASTC images
    std::string kind = "auto";  // --kind: what a picture is
    bool mips = true;           // textures get all mip levels
    uint64_t maxOutput = 0;     // most bytes of an image in memory; 0: see outputLimit
    // If set, small files may share tiles, and equal tiles are stored once. Neither changes how a
    // tile is encoded, so encodingText() does not contain this option.
    bool share = true;
};

// Returns the most bytes of a tile of codec gstd or zstd: --tile-size or the codec's default.
uint32_t tileBytes(const AssetOptions& options);
// Returns these options as text: "codec=gstd level=9 ...". The text is part of the keys of cache
// entries, and tells shards of different archives apart.
std::string encodingText(const AssetOptions& options);

struct PackOptions : AssetOptions {
    std::string output;
    bool raw = false;
    bool dryRun = false;
    bool dereference = false;          // --dereference
    bool skipBadNames = false;         // --skip-bad-names
    std::string directory;             // --directory: inputs are relative to it; empty: "."
    std::string prefix;                // --prefix
    uint32_t strip = 0;                // --strip
    std::string list;                  // --files-from: a file; "-": stdin; empty: none
    std::string cache;                 // --cache: a folder; empty: none
    uint64_t cacheSize = 0;            // --cache-size: bytes; 0: there is no limit
    std::string rules;                 // --rules: a file; empty: none
    std::string explain;               // --explain: a name in the archive; empty: none
    std::string order;                 // --order: a file; empty: none
    std::string against;               // --against: an archive; empty: none
    std::string shard;                 // --shard: "K/N"; empty: everything
    std::string emitNinja;             // --emit-ninja: a file; empty: none
    uint32_t shards = 0;               // --shards: number of shards of the build file
    std::vector<std::string> excludes; // --exclude: globs
    std::vector<std::string> groups;   // --group: regular expressions of modules
    std::vector<std::string> kinds;    // --kind: "KIND=GLOB"
    std::vector<std::string> inputs;
    // For --emit-ninja: the options as they were given, and the files that they name.
    std::vector<std::string> words, dependencies;

    bool writesNothing() const { return dryRun || !explain.empty() || !emitNinja.empty(); }
};

struct JoinOptions {
    std::string output;
    std::vector<std::string> inputs;
};

struct TranscodeOptions {
    std::string output;
    bool reblock = false;
    uint32_t frameSize = 0; // --frame-size; 0: not given
    uint32_t copyDepth = 0;
    uint32_t level = 9;
    uint32_t threads = 0;   // 0: one per core
    uint64_t maxOutput = 0; // 0: not given
    std::vector<std::string> inputs;
};

// Options of verbs that decode Zstandard files.
struct ZstdOptions {
    std::string dictionary; // --dictionary: a file; empty: none
    uint64_t maxWindow = 0; // --max-window; 0: not given

    bool isGiven() const { return !dictionary.empty() || maxWindow != 0; }
};

// The assets that the user asked for. An empty selection means all.
struct Selection {
    std::vector<std::string> names; // names of assets, or of folders, which stand for all below
    std::vector<std::string> globs; // patterns for matchesPath

    bool empty() const { return names.empty() && globs.empty(); }
};

struct UnpackOptions {
    std::string input;
    std::string folder; // -C; empty: not given
    std::string output; // -o; empty: not given
    std::string like;   // --like, for .safetensors; empty: not given
    std::string as;     // --as: what UASTC images become; empty: not given
    Selection selection;
    bool list = false, keepGoing = false;
    uint64_t maxOutput = 0; // 0: not given
    DeviceOptions device;
    ZstdOptions zstd;
};

struct VerifyOptions {
    std::string input;
    std::string compare; // --compare: a folder; empty: not given
    Selection selection;
    bool keepGoing = false;
    uint64_t maxOutput = 0; // 0: not given
    DeviceOptions device;
    ZstdOptions zstd;
};

struct DiffOptions {
    std::string old, now;
    std::string output; // the patch to make; empty: none
    bool json = false;
};

struct ApplyOptions {
    std::string old, patch, output;
    uint64_t maxOutput = 0; // 0: not given
};

struct InfoOptions {
    std::string input;
    std::string sort = "name"; // name, size or ratio
    std::string html;          // --html: a file for an HTML page; empty: none
    bool json = false;
};

// The verbs. Each returns an exit code or throws a Failure. Results go to stdout, messages to
// stderr.
int runPack(const PackOptions& options, const CommonOptions& common);
int runJoin(const JoinOptions& options, const CommonOptions& common);
int runTranscode(const TranscodeOptions& options, const CommonOptions& common);
int runUnpack(const UnpackOptions& options, const CommonOptions& common);
int runVerify(const VerifyOptions& options, const CommonOptions& common);
int runInfo(const InfoOptions& options, const CommonOptions& common);
int runDiff(const DiffOptions& options, const CommonOptions& common);
int runPatch(const ApplyOptions& options, const CommonOptions& common);
std::vector<std::string> pipelineFamilies(); // the names that PipelineOptions::kernels may contain
// Lists the devices that the selector `device` matches; empty: all devices.
int runDevices(const std::string& device, bool json, const CommonOptions& common);
int runPipelines(const PipelineOptions& options, bool json, const CommonOptions& common);
int runSelftest(const DeviceOptions& options, bool json, const CommonOptions& common);

// A character of UTF-8, or a byte that belongs to no character.
struct Character {
    uint32_t code = 0;
    size_t bytes = 1;
    bool isValid = false;
};
Character characterAt(const std::string& text, size_t at);

int exitCodeOf(SluiceStatus status);
// Returns the exit code for a tile with this SluiceTileStatus.
int exitCodeOfTile(uint32_t status);
// Returns the text with the letters of ASCII in lower case.
inline std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return char(std::tolower(uint8_t(c))); });
    return text;
}
// Returns a size as "12.3 MB": decimal units, three digits.
std::string sizeText(uint64_t bytes);
// Returns the bytes that an option's value means. In "500m", "1.5G" and "20GiB" the unit is a power
// of 1,024, in "20GB" a power of 1,000; a number alone counts `unit` bytes. Throws a
// Failure{exitUsage} that names the option.
uint64_t sizeFromText(const std::string& option, const std::string& text, uint64_t unit = 1);
std::string formatText(const char* format, ...) SLUICE_PRINTF(1, 2);
// Returns how many bytes a file of this size may decode to: `ratio` times its size, but at least
// `least`. A small file that becomes very large is most often an attack. `asked` is the value of
// --max-output, which replaces this limit; 0 if it was not given.
uint64_t outputLimit(uint64_t fileSize, uint64_t asked, uint64_t least = uint64_t(512) << 20,
                     uint64_t ratio = 100);
// Returns a message if `bytes` exceeds the limit of --max-output; otherwise an empty text.
std::string whyTooLarge(uint64_t bytes, uint64_t limit);
// Throws a Failure if a file decodes to more bytes than --max-output allows; maxOutput 0 means the
// default limit (outputLimit).
void checkOutputSize(const std::string& file, uint64_t fileSize, uint64_t decodedSize,
                     uint64_t maxOutput);
// Converts a number for printf: %llu takes an unsigned long long, and on some systems uint64_t is
// another type.
inline unsigned long long wide(uint64_t value) { return value; }
// Returns how many threads -j asks for: 0 means one per core.
uint32_t threadCount(uint32_t asked);
// Returns the text with '?' in place of each byte that is not UTF-8 and each character on which a
// terminal would act: control characters, ends of lines, changes of direction.
std::string printable(const std::string& text);
// Prints to stderr in one write: other processes may write there too, and a console garbles UTF-8
// that arrives byte by byte.
void printMessage(const char* format, ...) SLUICE_PRINTF(1, 2);
// Prints "sluice: TEXT" to stderr. Each line passes through printable().
void sayError(const std::string& text);
// Returns the text as a JSON string. What printable() would replace is escaped, so that the file is
// safe to show on a terminal.
std::string jsonText(const std::string& text);

} // namespace sluice
