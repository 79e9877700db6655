// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice unpack`, `verify` and `info` for .safetensors files: units of DFloat11 or ECF8 become
// plain tensors.
#include <sluice/sluice_df11.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tools/common/progress.h"
#include "tools/common/tool.h"
#include "tools/common/weight_decoder.h"

namespace sluice {
namespace {

constexpr uint64_t kCopyBytes = 4 << 20;

// Returns the value of -o, or the input's own name below -C. One of these must be given: the
// input's own name in its own folder would overwrite the input.
std::string outputPath(const UnpackOptions& options)
{
    if (!options.output.empty()) return options.output;
    const std::string name = std::filesystem::u8path(options.input).filename().u8string();
    if (options.folder.empty() || options.input == "-" || name.empty())
        throw Failure{exitUsage,
                      options.input + ": name the output with -o, or its folder with -C"};
    makeFolder(options.folder);
    return options.folder + "/" + name;
}

class WeightUnpacker {
public:
    WeightUnpacker(const WeightFile& input, const std::vector<OutputTensor>& outputs,
                   const std::string& start, OutputFile& output, Progress& progress)
        : m_input(input), m_outputs(outputs), m_dataOffset(start.size()), m_output(output),
          m_progress(progress)
    {
        m_output.write(0, start.data(), start.size());
    }

    void copyPlain()
    {
        Bytes bytes;
        for (const OutputTensor& to : m_outputs) {
            if (to.unit >= 0) continue;
            const SafetensorsTensor& from = m_input.header().tensors[to.plain];
            for (uint64_t at = 0; at < from.size(); at += bytes.size()) {
                bytes.resize(size_t(std::min(kCopyBytes, from.size() - at)));
                m_input.read(from, at, bytes.data(), bytes.size());
                m_output.write(m_dataOffset + to.tensor.begin + at, bytes.data(), bytes.size());
                m_progress.advance(bytes.size());
            }
        }
    }

    void decode(WeightDecoder& decoder)
    {
        std::vector<std::vector<const OutputTensor*>> tensorsOf(m_input.units().size());
        for (const OutputTensor& to : m_outputs) {
            if (to.unit >= 0) tensorsOf[size_t(to.unit)].push_back(&to);
        }
        for (size_t i = 0; i < m_input.units().size(); ++i) {
            const WeightUnit& unit = m_input.units()[i];
            decoder.decode(m_input, unit,
                           [&](uint64_t element, const uint8_t* bytes, uint64_t size) {
                               for (const OutputTensor* to : tensorsOf[i])
                                   write(*to, unit.elementBytes(), element, bytes, size);
                               m_progress.advance(size);
                           });
        }
    }

private:
    // Writes the part of a tensor that lies in a piece of its unit, if there is any. The piece has
    // `size` bytes and begins at `element` of the unit.
    void write(const OutputTensor& to, uint64_t elementBytes, uint64_t element,
               const uint8_t* bytes, uint64_t size)
    {
        const uint64_t pieceBegin = element * elementBytes, pieceEnd = pieceBegin + size;
        const uint64_t tensorBegin = to.first * elementBytes,
                       tensorEnd = tensorBegin + to.tensor.size();
        const uint64_t begin = std::max(pieceBegin, tensorBegin),
                       end = std::min(pieceEnd, tensorEnd);
        if (begin < end)
            m_output.write(m_dataOffset + to.tensor.begin + (begin - tensorBegin),
                           bytes + (begin - pieceBegin), size_t(end - begin));
    }

    const WeightFile& m_input;
    const std::vector<OutputTensor>& m_outputs;
    uint64_t m_dataOffset;
    OutputFile& m_output;
    Progress& m_progress;
};

// Assigns an offset to each output. Returns the beginning of the file: everything before the
// tensors. `size` receives the number of bytes of all tensors.
std::string makeStart(const WeightFile& input, std::vector<OutputTensor>& outputs, uint64_t& size)
{
    SafetensorsHeader header;
    header.hasMetadata = input.header().hasMetadata;
    header.metadata = input.header().metadata;
    for (const OutputTensor& output : outputs)
        header.tensors.push_back(output.tensor);
    std::string start, error;
    const SluiceStatus status = makeSafetensors(header, start, error);
    if (status != SLUICE_OK)
        throw Failure{exitFormat, input.file().name() + ": the output: " + error};
    for (size_t i = 0; i < outputs.size(); ++i)
        outputs[i].tensor = header.tensors[i];
    size = header.tensors.empty() ? 0 : header.tensors.back().end;
    return start;
}

void printInfo(const WeightFile& file)
{
    std::printf("%s: safetensors, %zu tensors, %zu units of DFloat11 or ECF8, %s\n",
                printable(file.file().name()).c_str(), file.header().tensors.size(),
                file.units().size(), sizeText(file.file().size()).c_str());
    std::printf("%14s %14s %7s %8s %8s  %-8s  %s\n", "size", "stored", "bits", "blocks", "tensors",
                "kind", "name");
    for (const WeightUnit& unit : file.units()) {
        const double bits =
            unit.size() != 0 ? 8 * double(unit.storedSize()) / unit.description.elementCount : 0;
        std::printf("%14llu %14llu %7.3f %8u %8zu  %-8s  %s\n", wide(unit.size()),
                    wide(unit.storedSize()), bits, blocksOf(unit.description),
                    unit.splits.size() - 1, unit.kindName(), printable(unit.module).c_str());
    }
    for (size_t i = 0; i < file.header().tensors.size(); ++i) {
        const SafetensorsTensor& tensor = file.header().tensors[i];
        if (file.unitOf(i) < 0)
            std::printf("%14llu %14llu %7s %8s %8s  %-8s  %s\n", wide(tensor.size()),
                        wide(tensor.size()), "", "", "", tensor.dtype.c_str(),
                        printable(tensor.name).c_str());
    }
}

void printInfoJson(const WeightFile& file)
{
    std::printf("{\"schemaVersion\": 1, \"file\": %s, \"kind\": \"safetensors\", \"fileSize\": "
                "%llu,\n \"units\": [",
                jsonText(file.file().name()).c_str(), wide(file.file().size()));
    const char* separator = "";
    for (const WeightUnit& unit : file.units()) {
        std::printf("%s\n  {\"module\": %s, \"kind\": \"%s\", \"elements\": %u, \"size\": %llu, "
                    "\"storedSize\": %llu, "
                    "\"encodedSize\": %u, \"rows\": %u, \"tensors\": [",
                    separator, jsonText(unit.module).c_str(), unit.kindName(),
                    unit.description.elementCount, wide(unit.size()), wide(unit.storedSize()),
                    unit.description.encodedSize, unit.description.lutRows);
        for (size_t i = 1; i < unit.splits.size(); ++i)
            std::printf("%s%llu", i == 1 ? "" : ", ", wide(unit.splits[i] - unit.splits[i - 1]));
        std::printf("]}");
        separator = ",";
    }
    std::printf("\n ],\n \"plain\": [");
    separator = "";
    for (size_t i = 0; i < file.header().tensors.size(); ++i) {
        const SafetensorsTensor& tensor = file.header().tensors[i];
        if (file.unitOf(i) < 0) {
            std::printf("%s\n  {\"name\": %s, \"dtype\": \"%s\", \"size\": %llu}", separator,
                        jsonText(tensor.name).c_str(), tensor.dtype.c_str(), wide(tensor.size()));
            separator = ",";
        }
    }
    std::printf("\n ]}\n");
}

} // namespace

int runUnpackWeights(const WeightFile& input, const UnpackOptions& options,
                     const CommonOptions& common)
{
    std::vector<OutputTensor> outputs = planOutput(input, options.input, options.like);
    uint64_t size = 0;
    const std::string start = makeStart(input, outputs, size);
    checkOutputSize(input.file().name(), input.file().size(), start.size() + size,
                    options.maxOutput);
    const std::string path = outputPath(options);
    checkOutput(path, common.force, {options.input, options.like});
    const ToolDevice device(options.device, common, SLUICE_KERNELS_DF11);
    WeightDecoder decoder(device);
    Progress progress("unpacking", size, common.quiet);
    OutputFile output(path, common.force);
    WeightUnpacker unpacker(input, outputs, start, output, progress);
    unpacker.decode(decoder);
    unpacker.copyPlain();
    output.commit();
    progress.clear();
    if (common.verbosity > 0 && !common.quiet)
        printMessage("units      %zu\nbytes in   %llu\nbytes out  %llu\ndevice     %s\ntier       "
                     "%s\n%-10s %.3f\n",
                     input.units().size(), wide(input.file().size()), wide(start.size() + size),
                     device.properties().name, device.tier(), device.millisecondsName(),
                     decoder.gpuMilliseconds());
    return exitOk;
}

int runVerifyWeights(const WeightFile& input, const VerifyOptions& options,
                     const CommonOptions& common)
{
    if (!options.compare.empty())
        throw Failure{exitUsage, input.file().name() +
                                     ": --compare needs an archive, whose assets have names"};
    uint64_t size = 0;
    for (const WeightUnit& unit : input.units())
        size += unit.size();
    checkOutputSize(input.file().name(), input.file().size(), size, options.maxOutput);
    const ToolDevice device(options.device, common, SLUICE_KERNELS_DF11);
    WeightDecoder decoder(device);
    Progress progress("verifying", size, common.quiet);
    for (const WeightUnit& unit : input.units())
        decoder.decode(input, unit,
                       [&](uint64_t, const uint8_t*, uint64_t bytes) { progress.advance(bytes); });
    progress.clear();
    if (!common.quiet)
        std::printf("%s: ok, %zu units, %s\n", printable(input.file().name()).c_str(),
                    input.units().size(), sizeText(size).c_str());
    return exitOk;
}

int runWeightInfo(const WeightFile& file, bool json)
{
    json ? printInfoJson(file) : printInfo(file);
    return exitOk;
}

} // namespace sluice
