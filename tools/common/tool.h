// SPDX-License-Identifier: MIT OR Apache-2.0
// Exit codes, errors, options and messages of all verbs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sluice/sluice.h>

// Lets the compiler compare the arguments with the format, as for C99's printf. On mingw-w64
// "printf" would mean the one of Microsoft's old runtime.
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
    exitIo = 2,     // a refused overwrite included
    exitFormat = 3, // anything wrong in a file
    exitDevice = 4,
    exitUnsupported = 5, // a newer version or codec; a build or device that lacks something
};

// Ends a verb: main prints the text as "sluice: text" and returns the code.
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
    std::string tier;     // empty: the best
    uint32_t threads = 1; // threads that decode tiles if the device is the CPU; 0: one per core
};

struct PipelineOptions {
    bool show = false;
    DeviceOptions device = {"", ""};  // none: the first Vulkan device
    std::vector<std::string> kernels; // none: all
    bool necessary = false;           // leaves out pipelines that only serve speed
    uint32_t threads = 1;
    std::string cache;         // a file; empty: none
    uint32_t subgroupSize = 0; // 0: the context's choice
};

// Says how a file is encoded. Every new member must also go into encodingText, unless the bytes do
// not depend on it.
struct AssetOptions {
    uint32_t threads = 0; // 0: one per core
    std::string codec;    // a name of kCodecs; empty: gstd, or gdeflate if raw
    uint32_t copyDepth = 0;
    uint32_t tileKib = 0; // 0: 256
    std::string filters = "auto";
    uint32_t level = 9;
    uint32_t decodeSpeed = 0;
    bool images = false;
    std::string bc = "none"; // block format of textures made of pictures
    bool mips = true;        // whether these have all mip levels
    uint64_t maxOutput = 0;  // most bytes of an image in memory; 0: see outputLimit
    // Lets small files share tiles. encodingText lacks this, because shareTiles decides which do.
    bool share = true;
};

// Returns all options as text, "codec=gstd level=9 ...". The text is part of the names of cache
// entries, and distinguishes shards of different archives.
std::string encodingText(const AssetOptions& options);

struct PackOptions : AssetOptions {
    std::string output;
    bool raw = false;
    bool dryRun = false;
    std::string cache;                 // --cache: a folder; empty: none
    uint64_t cacheSize = 0;            // --cache-size: bytes; 0: there is no limit
    std::string rules;                 // --rules: a file; empty: none
    std::string explain;               // --explain: a name in the archive; empty: none
    std::string order;                 // --order: a file; empty: none
    std::string against;               // --against: an archive; empty: none
    std::string shard;                 // --shard: "K/N"; empty: everything
    std::string emitNinja;             // --emit-ninja: a file; empty: none
    uint32_t shards = 0;               // --shards, of the build file
    std::vector<std::string> excludes; // globs
    std::vector<std::string> groups;   // --group
    std::vector<std::string> inputs;
    // For the build file: the options as they were given, and the files that they name.
    std::vector<std::string> words, dependencies;

    bool writesNothing() const { return dryRun || !explain.empty() || !emitNinja.empty(); }
};

struct JoinOptions {
    std::string output;
    std::vector<std::string> inputs;
};

struct TranscodeOptions {
    std::string output;
    uint32_t copyDepth = 0;
    uint32_t level = 9;
    uint32_t threads = 0;   // 0: one per core
    uint64_t maxOutput = 0; // 0: not given
    std::vector<std::string> inputs;
};

// The assets of an archive that a verb was asked for; none means all.
struct Selection {
    std::vector<std::string> names; // names of assets, or of folders with all that is below them
    std::vector<std::string> globs; // globs for matchesPath

    bool empty() const { return names.empty() && globs.empty(); }
};

struct UnpackOptions {
    std::string input;
    std::string folder; // -C; empty: not given
    std::string output; // -o; empty: not given
    std::string like;   // --like, for .safetensors; empty: not given
    Selection selection;
    bool list = false, keepGoing = false;
    uint64_t maxOutput = 0; // 0: not given
    DeviceOptions device;
};

struct VerifyOptions {
    std::string input;
    std::string compare; // folder; empty: not given
    Selection selection;
    bool keepGoing = false;
    uint64_t maxOutput = 0; // 0: not given
    DeviceOptions device;
};

struct DiffOptions {
    std::string old, now, output;
};

struct ApplyOptions {
    std::string old, patch, output;
    uint64_t maxOutput = 0; // 0: not given
};

struct InfoOptions {
    std::string input;
    std::string sort = "name"; // name, size or ratio
    std::string html;          // where a page goes; empty: nowhere
    bool json = false;
};

// The verbs. They return an exit code or throw a Failure. Results go to stdout, everything else to
// stderr.
int runPack(const PackOptions& options, const CommonOptions& common);
int runJoin(const JoinOptions& options, const CommonOptions& common);
int runTranscode(const TranscodeOptions& options, const CommonOptions& common);
int runUnpack(const UnpackOptions& options, const CommonOptions& common);
int runVerify(const VerifyOptions& options, const CommonOptions& common);
int runInfo(const InfoOptions& options, const CommonOptions& common);
int runDiff(const DiffOptions& options, const CommonOptions& common);
int runPatch(const ApplyOptions& options, const CommonOptions& common);
std::vector<std::string> pipelineFamilies(); // of PipelineOptions::kernels
// `device` is a selector, or empty for all
int runDevices(const std::string& device, bool json, const CommonOptions& common);
int runPipelines(const PipelineOptions& options, bool json, const CommonOptions& common);
int runSelftest(const DeviceOptions& options, bool json, const CommonOptions& common);

// A UTF-8 character, or a byte that belongs to none.
struct Character {
    uint32_t code = 0;
    size_t bytes = 1;
    bool isValid = false;
};
Character characterAt(const std::string& text, size_t at);

int exitCodeOf(SluiceStatus status);
// `status` is a SluiceTileStatus
int exitCodeOfTile(uint32_t status);
// "12.3 MB": decimal units, three digits.
std::string sizeText(uint64_t bytes);
std::string formatText(const char* format, ...) SLUICE_PRINTF(1, 2);
// Returns how many bytes a file of this size may decode to unless the user allows more: `ratio`
// times its size, but at least `least`. A small file that becomes very large is most often an
// attack. `asked` is the value of --max-output, which replaces this limit;
// 0 if it was not given.
uint64_t outputLimit(uint64_t fileSize, uint64_t asked, uint64_t least = uint64_t(512) << 20,
                     uint64_t ratio = 100);
// Returns a text that says that this number exceeds the limit of --max-output; empty if it does
// not.
std::string whyTooLarge(uint64_t bytes, uint64_t limit);
// Refuses a file that decodes to more bytes than --max-output allows; 0 means the default.
void checkOutputSize(const std::string& file, uint64_t fileSize, uint64_t decodedSize,
                     uint64_t maxOutput);
// printf's %llu takes no uint64_t.
inline unsigned long long wide(uint64_t value) { return value; }
// Resolves the value of -j: 0 asks for one thread per core.
uint32_t threadCount(uint32_t asked);
// Returns the text with '?' in place of bytes that are not UTF-8 and of characters on which a
// terminal would act: control characters, line ends, changes of direction.
std::string printable(const std::string& text);
// Prints to stderr in one piece. Other processes may write there too, and a console garbles UTF-8
// that arrives byte by byte.
void printMessage(const char* format, ...) SLUICE_PRINTF(1, 2);
// Prints "sluice: TEXT" to stderr. Each line passes through printable().
void sayError(const std::string& text);
// Returns the text as a JSON string. Characters that printable() would replace are escaped, so that
// the file is safe to display.
std::string jsonText(const std::string& text);

} // namespace sluice
