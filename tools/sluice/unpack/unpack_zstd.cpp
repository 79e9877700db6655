// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/unpack/unpack_zstd.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "tools/common/progress.h"
#include "tools/common/summary.h"
#include "tools/common/zstd/zstd_on_device.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

class SharedProgress {
public:
    explicit SharedProgress(Progress& progress) : m_progress(progress) {}
    void advance(uint64_t bytes)
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_progress.advance(bytes);
    }

private:
    Progress& m_progress;
    std::mutex m_mutex;
};

// Drops the content.
class NoSink : public ZstdSink {
public:
    explicit NoSink(Progress& progress) : m_progress(progress) {}
    void write(size_t, uint64_t, const uint8_t*, size_t size) override { m_progress.advance(size); }
    void end(size_t) override {}
    void stop(size_t) override {}

private:
    SharedProgress m_progress;
};

// Writes each piece of the content at its place in a file.
class PlacedSink : public ZstdSink {
public:
    PlacedSink(OutputFile& output, Progress& progress) : m_output(output), m_progress(progress) {}
    void write(size_t, uint64_t offset, const uint8_t* bytes, size_t size) override
    {
        m_output.write(offset, bytes, size);
        m_progress.advance(size);
    }
    void end(size_t) override {}
    void stop(size_t) override {}

private:
    OutputFile& m_output;
    SharedProgress m_progress;
};

// Writes the content to stdout, one run after the other, up to the first damage.
class StdoutOrder : public ZstdSink {
public:
    explicit StdoutOrder(Progress& progress) : m_progress(progress) {}

    void write(size_t run, uint64_t, const uint8_t* bytes, size_t size) override
    {
        std::unique_lock<std::mutex> lock(m_mutex);
        m_changed.wait(lock, [&] { return run == m_turn || run >= m_stop; });
        if (run >= m_stop) return;
        writeStdout(bytes, size);
        m_progress.advance(size);
    }
    void end(size_t run) override
    {
        std::unique_lock<std::mutex> lock(m_mutex);
        m_changed.wait(lock, [&] { return run == m_turn || run >= m_stop; });
        if (run == m_turn) ++m_turn;
        m_changed.notify_all();
    }
    void stop(size_t run) override
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_stop = std::min(m_stop, run);
        m_changed.notify_all();
    }

private:
    Progress& m_progress;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    size_t m_turn = 0, m_stop = SIZE_MAX; // m_stop: from this run on, nothing is written
};

struct Input {
    std::unique_ptr<ZstdFile> file;
    std::unique_ptr<ZstdPlan> plan;
    std::string output; // output file, for unpack only
};

void refuse(const std::string& file, std::initializer_list<std::pair<const char*, bool>> options)
{
    for (const auto& [name, isGiven] : options)
        if (isGiven) throw Failure{exitUsage, file + ": " + name + " is not for Zstandard files"};
}

// Returns whether frames are decoded on a device. The user has to name it, since the CPU needs the
// content in its own memory anyway.
bool wantsDevice(const DeviceOptions& options)
{
    return options.device != "auto" && options.device != "cpu";
}

void checkTier(const std::string& file, const DeviceOptions& options)
{
    if (!wantsDevice(options) && !options.tier.empty() && options.tier != "fast")
        throw Failure{exitUsage, file + ": on the CPU, Zstandard files have no tier but fast"};
}

std::vector<Input> openAll(std::unique_ptr<InputFile> first, const std::vector<std::string>& more,
                           const ZstdDictionary& dictionary)
{
    std::vector<Input> inputs;
    const auto open = [&](std::unique_ptr<InputFile> file) {
        inputs.emplace_back();
        inputs.back().file = std::make_unique<ZstdFile>(std::move(file), &dictionary);
    };
    const std::string name = first->name();
    open(std::move(first));
    for (const std::string& path : more) {
        auto file = std::make_unique<InputFile>(path);
        if (file->size() == 0) throw Failure{exitFormat, file->name() + ": the file is empty"};
        if (!ZstdFile::recognises(*file))
            throw Failure{exitUsage, path + ": is no Zstandard file, as " + name + " is"};
        open(std::move(file));
    }
    return inputs;
}

// Reads the frames of all inputs, before anything is written.
template <class Options>
void planAll(std::vector<Input>& inputs, const Options& options)
{
    for (Input& input : inputs)
        input.plan = std::make_unique<ZstdPlan>(
            *input.file, outputLimit(input.file->file().size(), options.maxOutput),
            options.zstd.maxWindow, options.keepGoing,
            wantsDevice(options.device) ? kZstdDeviceRun : kZstdThreadRun);
}

uint64_t sizeOf(const std::vector<Input>& inputs)
{
    uint64_t size = 0;
    for (const Input& input : inputs)
        size += input.plan->size();
    return size;
}

uint64_t storedSizeOf(const std::vector<Input>& inputs)
{
    uint64_t size = 0;
    for (const Input& input : inputs)
        size += input.file->file().size();
    return size;
}

// Returns the output file of an input whose output is not named.
std::string outputOf(const std::string& path)
{
    const std::string name = path == "-" ? "" : zstdContentName(path);
    if (name.empty())
        throw Failure{exitUsage, (path == "-" ? "stdin" : path) +
                                     ": has no suffix .zst, .zstd or .tzst to take off; name the "
                                     "output with -o"};
    return name;
}

void nameOutputs(std::vector<Input>& inputs, const std::vector<std::string>& paths,
                 const UnpackOptions& options, const CommonOptions& common)
{
    if (!options.output.empty() && inputs.size() != 1)
        throw Failure{exitUsage, formatText("-o takes one file, and there are %zu", inputs.size())};
    if (!options.folder.empty()) makeFolder(options.folder);
    std::vector<std::string> outputs, read = paths;
    read.push_back(options.zstd.dictionary);
    for (size_t i = 0; i < inputs.size(); ++i) {
        std::string& output = inputs[i].output;
        output = !options.output.empty() ? options.output : outputOf(paths[i]);
        if (!options.folder.empty())
            output = options.folder + "/" + fs::u8path(output).filename().u8string();
        checkOutput(output, common.force, read);
        outputs.push_back(output);
    }
    refuseSameOutputs(outputs);
}

std::optional<ToolDevice> openDevice(const std::vector<Input>& inputs, const DeviceOptions& options,
                                     const CommonOptions& common)
{
    if (!wantsDevice(options)) return {};
    return std::optional<ToolDevice>(std::in_place, options, common, SLUICE_KERNELS_ZSTD,
                                     pipelineFlagsFor(sizeOf(inputs)));
}

ZstdDamages decodeOnDevice(const ToolDevice& device, const Input& input, ZstdSink& sink,
                           bool keepGoing, bool isQuiet, Progress& progress)
{
    ZstdOnDevice decoder(device, *input.file, *input.plan, sink, keepGoing);
    const ZstdDamages damages = decoder.run();
    progress.clear();
    if (decoder.isAnyOfCpu() && !isQuiet)
        printMessage("sluice: %s: the CPU has decoded frames that are too large for a batch of the "
                     "device, or have too many blocks\n",
                     printable(input.file->file().name()).c_str());
    return damages;
}

// Decodes an input. Says what is damaged, or throws it without --keep-going. Returns the exit
// code.
template <class Options>
int decode(const Input& input, ZstdSink& sink, const std::optional<ToolDevice>& device,
           const Options& options, bool isQuiet, Progress& progress)
{
    const bool keepGoing = options.keepGoing;
    const std::vector<ZstdRun>& runs = input.plan->runs();
    const ZstdDamages& known = input.plan->damages();
    if (known.count() != 0) { // the output ends before frames that the plan has left out
        const auto behind = std::find_if(runs.begin(), runs.end(), [&](const ZstdRun& run) {
            return run.firstFrame > known.firstFrame();
        });
        if (behind != runs.end()) sink.stop(size_t(behind - runs.begin()));
    }
    const ZstdDamages damages =
        device ? decodeOnDevice(*device, input, sink, keepGoing, isQuiet, progress)
               : ZstdDecoder(*input.file, *input.plan, sink, keepGoing).run(options.device.threads);
    input.file->file().checkUnchanged();
    const std::vector<ZstdDamage> first = damages.first();
    for (const ZstdDamage& damage : first) {
        const std::string text = input.file->text(damage);
        if (!keepGoing) throw Failure{damage.exitCode(), text};
        progress.clear();
        sayError(text);
    }
    if (damages.count() == 0) return exitOk;
    const std::string name = printable(input.file->file().name());
    if (damages.count() > first.size())
        printMessage("sluice: %s: and %llu more\n", name.c_str(),
                     wide(damages.count() - first.size()));
    printMessage("sluice: %s: %llu of %llu frames are not right\n", name.c_str(),
                 wide(damages.count()), wide(input.file->allFrames()));
    return damages.exitCode();
}

// Returns one of two exit codes: exitFormat (damage) takes precedence over exitUnsupported.
int worse(int one, int other) { return one == exitFormat || other == exitOk ? one : other; }

std::vector<std::string> pathsOf(const std::string& first, const std::vector<std::string>& more)
{
    std::vector<std::string> paths = {first};
    paths.insert(paths.end(), more.begin(), more.end());
    return paths;
}

} // namespace

int runUnpackZstd(std::unique_ptr<InputFile> first, const UnpackOptions& options,
                  const CommonOptions& common)
{
    const Summary summary(common);
    refuse(options.input, {{"--like", !options.like.empty()},
                           {"--only", !options.selection.globs.empty()},
                           {"--list", options.list}});
    checkTier(options.input, options.device);
    const ZstdDictionary dictionary(options.zstd.dictionary);
    std::vector<Input> inputs = openAll(std::move(first), options.selection.names, dictionary);
    nameOutputs(inputs, pathsOf(options.input, options.selection.names), options, common);
    planAll(inputs, options);
    const std::optional<ToolDevice> device = openDevice(inputs, options.device, common);
    Progress progress("unpacking", sizeOf(inputs), common.quiet);
    int code = exitOk;
    size_t good = 0;
    for (const Input& input : inputs) {
        int one;
        if (input.output == "-") {
            StdoutOrder sink(progress);
            one = decode(input, sink, device, options, common.quiet, progress);
        } else {
            OutputFile output(input.output, common.force);
            PlacedSink sink(output, progress);
            one = decode(input, sink, device, options, common.quiet, progress);
            if (one == exitOk) output.commit();
        }
        good += one == exitOk ? 1 : 0;
        code = worse(code, one);
    }
    progress.clear();
    summary.print(good, sizeOf(inputs), storedSizeOf(inputs));
    return code;
}

int runVerifyZstd(std::unique_ptr<InputFile> first, const VerifyOptions& options,
                  const CommonOptions& common)
{
    const Summary summary(common);
    refuse(options.input,
           {{"--compare", !options.compare.empty()}, {"--only", !options.selection.globs.empty()}});
    checkTier(options.input, options.device);
    const ZstdDictionary dictionary(options.zstd.dictionary);
    std::vector<Input> inputs = openAll(std::move(first), options.selection.names, dictionary);
    planAll(inputs, options);
    const std::optional<ToolDevice> device = openDevice(inputs, options.device, common);
    Progress progress("verifying", sizeOf(inputs), common.quiet);
    int code = exitOk;
    std::string good; // a line for each input that is right
    for (const Input& input : inputs) {
        const ZstdFile& file = *input.file;
        NoSink sink(progress);
        int one = decode(input, sink, device, options, common.quiet, progress);
        if (file.seekTable().exists() && !file.seekTable().fits && one == exitOk) {
            const std::string text =
                file.file().name() + formatText(": the seek table at byte %llu contradicts the "
                                                "frames",
                                                wide(file.seekTable().offset));
            if (!options.keepGoing) throw Failure{exitFormat, text};
            progress.clear();
            sayError(text);
            one = exitFormat;
        }
        code = worse(code, one);
        if (one == exitOk)
            good += formatText("%s: ok, %llu frames, %s\n", printable(file.file().name()).c_str(),
                               wide(file.frames()), sizeText(input.plan->size()).c_str());
    }
    progress.clear();
    summary.print(inputs.size(), sizeOf(inputs), storedSizeOf(inputs));
    if (!common.quiet) std::fputs(good.c_str(), stdout);
    return code;
}

} // namespace sluice
