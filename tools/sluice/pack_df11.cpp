// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice pack --raw -c df11|ecf8: a .safetensors file whose weights are units that DFloat11's or ECF8's kernels decode.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "encode/df11_encoder.h"
#include "module_pattern.h"
#include "progress.h"
#include "weights.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t pieceBytes = 4 << 20;
const std::string weightSuffix = ".weight";

struct Format {
    SluiceDf11Kind kind;
    const char* dtype;
    uint32_t elementBytes;
    const char *encodedName, *signMantissaName;
};
constexpr Format df11Format = {SLUICE_DF11_BF16, "BF16", 2, encodedName, signMantissaName};
constexpr Format ecf8Format = {SLUICE_DF11_FP8_E4M3, "F8_E4M3", 1, ecf8EncodedName, ecf8SignMantissaName};

// The tensors of a unit, in the order of their attributes, and what has been decided about it.
struct Unit {
    std::string module;
    std::string regex;                        // of --group; empty: a single tensor
    std::map<std::string, size_t> attributes; // of the module, to tensors of the input
    uint64_t histogram[256] = {};
    uint64_t elements = 0;
    std::string plain; // why it stays plain; empty: it does not
    Df11Code code;
    Df11Sizes sizes = {};
};

class Df11Packer {
public:
    Df11Packer(const WeightFile& input, const Format& format, const PackOptions& options, const CommonOptions& common)
        : input_(input), format_(format), progress_("packing", input.file().size() * 2, common.quiet),
          quiet_(common.quiet)
    {
        planUnits(options.groups);
        for (Unit& unit : units_) {
            count(unit);
        }
    }

    void write(OutputFile& output);
    Json patterns() const; // the pattern_dict
    uint64_t packedUnits() const { return packedUnits_; }
    uint64_t outputSize() const { return outputSize_; }
    void clearProgress() { progress_.clear(); }

private:
    const SafetensorsTensor& tensor(size_t number) const { return input_.header().tensors[number]; }
    bool isWeight(const SafetensorsTensor& tensor) const;
    void planUnits(const std::vector<std::string>& groups);
    void count(Unit& unit);
    void chooseCode(Unit& unit);
    template <class Take>
    void readPieces(const SafetensorsTensor& tensor, Take take, bool shown = true); // shown: as progress
    template <class Take>
    void readElements(const Unit& unit, Take take, bool shown = true);
    void addParts(const Unit& unit, SafetensorsHeader& header) const;
    void writeUnit(const Unit& unit, OutputFile& output, const std::map<std::string, uint64_t>& places);

    const WeightFile& input_;
    const Format& format_;
    Progress progress_;
    bool quiet_;
    std::vector<Unit> units_;
    std::vector<int64_t> unitOf_; // of each tensor; -1: none
    std::vector<uint8_t> piece_;
    uint64_t packedUnits_ = 0, outputSize_ = 0;
};

bool Df11Packer::isWeight(const SafetensorsTensor& tensor) const
{
    return tensor.dtype == format_.dtype && tensor.shape.size() == 2 && tensor.size() != 0 &&
           endsWith(tensor.name, weightSuffix);
}

// A tensor joins the group whose expression matches the names in front of a dot of its own; else it is alone.
void Df11Packer::planUnits(const std::vector<std::string>& groups)
{
    std::vector<ModulePattern> patterns(groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
        if (!patterns[i].compile(groups[i])) {
            throw Failure{exitUsage, "--group " + groups[i] + ": cannot use this expression"};
        }
    }
    std::map<std::string, size_t> unitByModule;
    unitOf_.assign(input_.header().tensors.size(), -1);
    for (size_t i = 0; i < unitOf_.size(); ++i) {
        if (!isWeight(tensor(i))) {
            continue;
        }
        std::string module = tensor(i).name.substr(0, tensor(i).name.size() - weightSuffix.size()), attribute, regex;
        for (size_t group = 0; group < groups.size() && regex.empty(); ++group) {
            for (size_t dot = module.find('.'); dot != std::string::npos; dot = module.find('.', dot + 1)) {
                if (patterns[group].matches(module.substr(0, dot))) {
                    regex = groups[group];
                    attribute = module.substr(dot + 1);
                    module.resize(dot);
                    break;
                }
            }
        }
        const auto [place, isNew] = unitByModule.emplace(module, units_.size());
        if (isNew) {
            units_.emplace_back();
            units_.back().module = module;
            units_.back().regex = regex;
        }
        Unit& unit = units_[place->second];
        if (unit.regex != regex) {
            throw Failure{exitUsage, "'" + printable(module) + "' is a group and a tensor"};
        }
        unit.attributes.emplace(attribute, i);
        unitOf_[i] = int64_t(place->second);
    }
}

template <class Take>
void Df11Packer::readPieces(const SafetensorsTensor& tensor, Take take, bool shown)
{
    piece_.resize(pieceBytes);
    for (uint64_t at = 0; at < tensor.size(); at += pieceBytes) {
        const uint64_t size = std::min(pieceBytes, tensor.size() - at);
        input_.read(tensor, at, piece_.data(), size_t(size));
        take(piece_.data(), size);
        progress_.advance(shown ? size : 0);
    }
}

template <class Take>
void Df11Packer::readElements(const Unit& unit, Take take, bool shown)
{
    for (const auto& [attribute, number] : unit.attributes) {
        readPieces(
            tensor(number), [&](const uint8_t* bytes, uint64_t size) { take(bytes, size / format_.elementBytes); },
            shown);
    }
}

void Df11Packer::count(Unit& unit)
{
    for (const auto& [attribute, number] : unit.attributes) {
        unit.elements += tensor(number).size() / format_.elementBytes;
    }
    if (unit.elements > SLUICE_DF11_MAX_SIZE) {
        unit.plain = "more than 2^31 - 1 elements";
    } else if (format_.kind == SLUICE_DF11_FP8_E4M3 && unit.elements % 2 != 0) {
        unit.plain = "ECF8 cannot hold an odd number of elements";
    } else {
        chooseCode(unit);
    }
    if (unit.plain.empty()) {
        ++packedUnits_;
    } else if (!quiet_) {
        std::fprintf(stderr, "sluice: '%s' stays plain: %s\n", printable(unit.module).c_str(), unit.plain.c_str());
    }
}

void Df11Packer::chooseCode(Unit& unit)
{
    readElements(unit, [&](const uint8_t* elements, uint64_t number) {
        countDf11Symbols(format_.kind, elements, number, unit.histogram);
    });
    if (!makeDf11Code(format_.kind, unit.histogram, 1, unit.code)) {
        unit.plain = "an exponent of 240 or more, which DFloat11 cannot hold";
        return;
    }
    if (format_.kind == SLUICE_DF11_BF16 && unit.code.minLength() == 1) {
        // Many elements in few bits may need more shared memory than the kernel has; where, only encoding tells.
        Df11Encoder trial(format_.kind, unit.code);
        const auto encode = [&](const uint8_t* elements, uint64_t number) {
            trial.add(elements, number);
            for (std::vector<uint8_t>* part : {&trial.encoded, &trial.signMantissa, &trial.positions, &trial.gaps}) {
                part->clear();
            }
        };
        readElements(unit, encode, false);
        trial.finish();
        if (trial.maxBlockElements() > df11MaxSharedElements) {
            makeDf11Code(format_.kind, unit.histogram, 2, unit.code);
        }
    }
    unit.sizes = df11Sizes(format_.kind, unit.histogram, unit.code);
    if (unit.sizes.encoded > SLUICE_DF11_MAX_SIZE) {
        unit.plain = "more than 2^31 - 1 bytes of codes";
    }
}

void Df11Packer::addParts(const Unit& unit, SafetensorsHeader& header) const
{
    const auto add = [&](const char* name, const char* dtype, const std::vector<uint64_t>& shape) {
        header.tensors.push_back({unit.module + "." + name, dtype, shape, 0, 0});
    };
    add(lutsName, "U8", {unit.code.luts.size() / 256, 256});
    add(format_.encodedName, "U8", {unit.sizes.encoded});
    add(format_.signMantissaName, "U8", {unit.sizes.signMantissa});
    add(positionsName, "U8", {unit.sizes.positions});
    add(gapsName, "U8", {unit.sizes.gaps});
    add(splitsName, "I64", {unit.attributes.size() - 1});
}

void Df11Packer::write(OutputFile& output)
{
    SafetensorsHeader header;
    header.hasMetadata = input_.header().hasMetadata;
    header.metadata = input_.header().metadata;
    std::set<int64_t> added;
    for (size_t i = 0; i < unitOf_.size(); ++i) {
        if (unitOf_[i] < 0 || !units_[size_t(unitOf_[i])].plain.empty()) {
            header.tensors.push_back(tensor(i));
        } else if (added.insert(unitOf_[i]).second) {
            addParts(units_[size_t(unitOf_[i])], header);
        }
    }
    // Wide elements first, so that each lies at a multiple of its size; the positions of ECF8 are u64, though called U8.
    const auto width = [this](const SafetensorsTensor& tensor) {
        const bool positions = format_.kind == SLUICE_DF11_FP8_E4M3 && tensor.shape.size() == 1 &&
                               tensor.shape[0] % 8 == 0 && endsWith(tensor.name, std::string(".") + positionsName);
        return positions ? 64u : safetensorsBits(tensor.dtype);
    };
    std::stable_sort(header.tensors.begin(), header.tensors.end(),
                     [&](const auto& a, const auto& b) { return width(a) > width(b); });
    std::string start, error;
    const SluiceStatus status = makeSafetensors(header, start, error);
    if (status != SLUICE_OK) {
        throw Failure{exitFormat, input_.file().name() + ": the output: " + error};
    }
    std::map<std::string, uint64_t> places;
    for (const SafetensorsTensor& placed : header.tensors) {
        places.emplace(placed.name, start.size() + placed.begin);
    }
    outputSize_ = start.size() + (header.tensors.empty() ? 0 : header.tensors.back().end);
    output.write(0, start.data(), start.size());
    for (size_t i = 0; i < unitOf_.size(); ++i) {
        if (unitOf_[i] < 0 || !units_[size_t(unitOf_[i])].plain.empty()) {
            const uint64_t place = places.at(tensor(i).name);
            readPieces(tensor(i), [&, at = place](const uint8_t* bytes, uint64_t size) mutable {
                output.write(at, bytes, size_t(size));
                at += size;
            });
        }
    }
    for (const Unit& unit : units_) {
        if (unit.plain.empty()) {
            writeUnit(unit, output, places);
        }
    }
}

void Df11Packer::writeUnit(const Unit& unit, OutputFile& output, const std::map<std::string, uint64_t>& places)
{
    const auto placeOf = [&](const char* name) { return places.at(unit.module + "." + name); };
    output.write(placeOf(lutsName), unit.code.luts.data(), unit.code.luts.size());
    if (unit.attributes.size() > 1) {
        std::vector<uint8_t> splits;
        uint64_t end = 0;
        for (const auto& [attribute, number] : unit.attributes) {
            end += tensor(number).size() / format_.elementBytes;
            for (uint32_t byte = 0; byte < 8 && end != unit.elements; ++byte) {
                splits.push_back(uint8_t(end >> 8 * byte));
            }
        }
        output.write(placeOf("split_positions"), splits.data(), splits.size());
    }
    Df11Encoder encoder(format_.kind, unit.code);
    struct Part {
        std::vector<uint8_t>& bytes;
        uint64_t place;
    } parts[] = {{encoder.encoded, placeOf(format_.encodedName)},
                 {encoder.signMantissa, placeOf(format_.signMantissaName)},
                 {encoder.positions, placeOf(positionsName)},
                 {encoder.gaps, placeOf(gapsName)}};
    const auto flush = [&] {
        for (Part& part : parts) {
            output.write(part.place, part.bytes.data(), part.bytes.size());
            part.place += part.bytes.size();
            part.bytes.clear();
        }
    };
    readElements(unit, [&](const uint8_t* elements, uint64_t number) {
        encoder.add(elements, number);
        flush();
    });
    encoder.finish();
    flush();
}

// "model.layers.7.q" as an expression; general: any number in the place of each.
std::string expressionOf(const std::string& module, bool general)
{
    std::string regex;
    for (size_t begin = 0; begin <= module.size();) {
        const size_t end = std::min(module.find('.', begin), module.size());
        const std::string component = module.substr(begin, end - begin);
        const bool number = !component.empty() && component.find_first_not_of("0123456789") == std::string::npos;
        regex += begin != 0 ? "\\." : "";
        for (const char c : number&& general ? std::string() : component) {
            regex += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<signed char>(c) < 0
                         ? std::string(1, c)
                         : std::string("\\") + c;
        }
        regex += number && general ? "\\d+" : "";
        begin = end + 1;
    }
    return regex;
}

// One expression serves all modules that it matches if they are packed alike; else each has one of its own.
Json Df11Packer::patterns() const
{
    const auto general = [](const Unit& unit) {
        return unit.regex.empty() ? expressionOf(unit.module, true) : unit.regex;
    };
    const auto names = [this](const Unit& unit) {
        std::vector<std::string> list;
        for (const auto& [attribute, number] : unit.attributes) {
            if (!unit.regex.empty() || format_.kind == SLUICE_DF11_FP8_E4M3) { // ECF8 calls the module itself ""
                list.push_back(attribute);
            }
        }
        return list;
    };
    std::map<std::string, std::optional<std::vector<std::string>>> shared; // nothing: not all of them are alike
    for (const Unit& unit : units_) {
        const auto [place, isNew] = shared.emplace(general(unit), names(unit));
        if (!unit.plain.empty() || (place->second && *place->second != names(unit))) {
            place->second.reset();
        }
    }
    Json result = Json::object();
    for (const Unit& unit : units_) {
        if (unit.plain.empty()) {
            result[shared.at(general(unit)) ? general(unit) : expressionOf(unit.module, false)] = names(unit);
        }
    }
    if (result.size() > maxPatterns) {
        throw Failure{exitFormat, "the modules have more than " + std::to_string(maxPatterns) +
                                      " forms of names, which is more than a pattern_dict may have"};
    }
    return result;
}

struct ConfigFile {
    std::string path;
    Json json;
};

// The files that the loaders need beside `output`. plain: the config.json of the model.
std::vector<ConfigFile> makeConfigs(const Format& format, const fs::path& output, Json plain, Json patterns)
{
    const auto path = [&](const char* name) { return (output.parent_path() / name).string(); };
    if (format.kind == SLUICE_DF11_BF16) {
        plain["dfloat11_config"] = {{"version", "0.5.0"},
                                    {"threads_per_block", {SLUICE_DF11_WINDOWS}},
                                    {"bytes_per_thread", 8},
                                    {"pattern_dict", std::move(patterns)}};
        return {{path("config.json"), std::move(plain)}};
    }
    // Language models have it in config.json, pipelines of diffusion models in a file of its own.
    const Json config = {{"version", "0.2.0"}, {"threads_per_block", SLUICE_DF11_WINDOWS}, {"bytes_per_thread", 8}};
    plain["dfloat_config"] = config;
    return {{path("config.json"), std::move(plain)},
            {path("dfloat_config.json"), config},
            {path("pattern_dict.json"), {{"fp8", std::move(patterns)}, {"bf16", Json::object()}}}};
}

// The config.json beside `output`, or else beside `input`, as far as there is one.
Json readConfig(const fs::path& output, const fs::path& input)
{
    for (const fs::path& path : {output.parent_path() / "config.json", input.parent_path() / "config.json"}) {
        std::error_code error;
        if (!fs::is_regular_file(path, error)) {
            continue;
        }
        Json config = readJsonBeside(path);
        if (!config.is_object()) {
            throw Failure{exitFormat, path.string() + ": is no JSON object"};
        }
        return config;
    }
    return Json::object();
}

} // namespace

int runPackDf11(const PackOptions& options, const CommonOptions& common)
{
    if (options.inputs.size() != 1) {
        throw Failure{exitUsage, "--raw packs one file"};
    }
    const Format& format = options.codec == "df11" ? df11Format : ecf8Format;
    auto file = std::make_unique<InputFile>(options.inputs[0]);
    if (!WeightFile::recognises(*file)) {
        throw Failure{exitFormat, file->name() + ": is no .safetensors file"};
    }
    const WeightFile input(std::move(file));
    const bool hasConfig = options.output != "-";
    checkOverwrite(options.output, common.force);
    Json config;
    if (hasConfig) {
        for (const ConfigFile& one : makeConfigs(format, options.output, {}, {})) {
            checkOverwrite(one.path, common.force);
        }
        config = readConfig(options.output, options.inputs[0] == "-" ? "" : options.inputs[0]);
    }
    Df11Packer packer(input, format, options, common);
    OutputFile output(options.output, common.force);
    packer.write(output);
    if (hasConfig) {
        std::vector<std::unique_ptr<OutputFile>> files;
        for (const ConfigFile& one : makeConfigs(format, options.output, std::move(config), packer.patterns())) {
            const std::string text = one.json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
            files.push_back(std::make_unique<OutputFile>(one.path, common.force));
            files.back()->write(0, text.data(), text.size());
        }
        output.commit();
        for (const auto& one : files) {
            one->commit();
        }
    } else {
        output.commit();
    }
    packer.clearProgress();
    if (common.verbosity > 0 && !common.quiet) {
        const uint64_t bytesIn = input.file().size(), bytesOut = packer.outputSize();
        std::fprintf(stderr, "units      %llu\nbytes in   %llu\nbytes out  %llu\nratio      %.3f\n",
                     static_cast<unsigned long long>(packer.packedUnits()), static_cast<unsigned long long>(bytesIn),
                     static_cast<unsigned long long>(bytesOut), double(bytesIn) / double(bytesOut));
    }
    return exitOk;
}

} // namespace sluice
