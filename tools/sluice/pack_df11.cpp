// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice pack --raw -c df11|ecf8: a .safetensors file whose weights are units that DFloat11's or
// ECF8's kernels decode.
#include <sluice/sluice_df11.h>

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
constexpr Format ecf8Format = {SLUICE_DF11_FP8_E4M3, "F8_E4M3", 1, ecf8EncodedName,
                               ecf8SignMantissaName};

// The tensors of a unit, in the order of their attributes, and what has been decided about it.
struct Unit {
    std::string module;
    int64_t group = -1;                       // --group that joins it; -1: a single tensor
    std::map<std::string, size_t> attributes; // of the module, to tensors of the input
    uint64_t histogram[256] = {};
    uint64_t elements = 0;
    std::string plain; // why it stays plain; empty: it does not
    Df11Code code;
    Df11Sizes sizes = {};
};

class Df11Packer {
public:
    Df11Packer(const WeightFile& input, const Format& format, const PackOptions& options,
               const CommonOptions& common)
        : input_(input), format_(format),
          progress_("packing", input.file().size() * 2, common.quiet), quiet_(common.quiet),
          groups_(options.groups)
    {
        planUnits();
        for (Unit& unit : units_) {
            checkNames(unit);
            count(unit);
        }
    }

    Json patterns() const; // the pattern_dict. Throws Failure
    void write(OutputFile& output);
    uint64_t packedUnits() const { return packedUnits_; }
    uint64_t outputSize() const { return outputSize_; }
    void clearProgress() { progress_.clear(); }

private:
    const SafetensorsTensor& tensor(size_t number) const { return input_.header().tensors[number]; }
    bool isWeight(const SafetensorsTensor& tensor) const;
    void planUnits();
    void checkNames(Unit& unit) const;
    void count(Unit& unit);
    void chooseCode(Unit& unit);
    template <class Take>
    // shown: as progress
    void readPieces(const SafetensorsTensor& tensor, Take take, bool shown = true);
    template <class Take>
    void readElements(const Unit& unit, Take take, bool shown = true);
    void addParts(const Unit& unit, SafetensorsHeader& header) const;
    void writeUnit(const Unit& unit, OutputFile& output,
                   const std::map<std::string, uint64_t>& places);

    const WeightFile& input_;
    const Format& format_;
    Progress progress_;
    bool quiet_;
    const std::vector<std::string>& groups_;
    std::vector<ModulePattern> groupPatterns_;
    std::vector<Unit> units_;
    std::vector<int64_t> unitOf_; // of each tensor; -1: none
    std::set<std::string> names_; // of all tensors
    std::vector<uint8_t> piece_;
    uint64_t packedUnits_ = 0, outputSize_ = 0;
};

bool Df11Packer::isWeight(const SafetensorsTensor& tensor) const
{
    return tensor.dtype == format_.dtype && tensor.shape.size() == 2 && tensor.size() != 0 &&
           endsWith(tensor.name, weightSuffix);
}

// "model.layers.7.q" as an expression; general: any number in the place of each.
std::string expressionOf(const std::string& module, bool general)
{
    std::string regex;
    for (size_t begin = 0; begin <= module.size();) {
        const size_t end = std::min(module.find('.', begin), module.size());
        const std::string component = module.substr(begin, end - begin);
        const bool number =
            !component.empty() && component.find_first_not_of("0123456789") == std::string::npos;
        regex += begin != 0 ? "\\." : "";
        for (const char c : number&& general ? std::string() : component) {
            regex += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
                             static_cast<signed char>(c) < 0
                         ? std::string(1, c)
                         : std::string("\\") + c;
        }
        regex += number && general ? "\\d+" : "";
        begin = end + 1;
    }
    return regex;
}

// Can a reader find the module by this expression? There are limits to both.
bool isFoundBy(const std::string& regex, const std::string& module, std::string& reason)
{
    ModulePattern pattern;
    if (!pattern.compile(regex, reason)) return false;
    reason = "it is too long";
    return pattern.matches(module);
}

// A tensor joins the group whose expression matches the names in front of a dot of its own; else it
// is alone.
void Df11Packer::planUnits()
{
    for (const SafetensorsTensor& one : input_.header().tensors) {
        names_.insert(one.name);
    }
    groupPatterns_.resize(groups_.size());
    for (size_t i = 0; i < groups_.size(); ++i) {
        std::string reason;
        if (!groupPatterns_[i].compile(groups_[i], reason)) {
            throw Failure{exitUsage, "--group " + groups_[i] + ": cannot use this expression: " +
                                         reason + " (docs/format.md, 5.5, says what is)"};
        }
    }
    std::map<std::string, size_t> unitByModule;
    std::vector<bool> used(groups_.size());
    unitOf_.assign(input_.header().tensors.size(), -1);
    for (size_t i = 0; i < unitOf_.size(); ++i) {
        if (!isWeight(tensor(i))) {
            continue;
        }
        std::string module = tensor(i).name.substr(0, tensor(i).name.size() - weightSuffix.size()),
                    attribute;
        int64_t joins = -1;
        for (size_t group = 0; group < groups_.size() && joins < 0; ++group) {
            for (size_t dot = module.find('.', 1); dot < module.size() - 1;
                 dot = module.find('.', dot + 1)) {
                if (groupPatterns_[group].matches(module.substr(0, dot))) {
                    joins = int64_t(group);
                    used[group] = true;
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
            units_.back().group = joins;
        }
        Unit& unit = units_[place->second];
        if (unit.group != joins) {
            throw Failure{exitUsage, "'" + printable(module) + "' is a group and a tensor"};
        }
        unit.attributes.emplace(attribute, i);
        unitOf_[i] = int64_t(place->second);
    }
    for (size_t i = 0; i < groups_.size(); ++i) {
        if (!used[i]) {
            throw Failure{exitUsage, "--group " + groups_[i] +
                                         ": matches no module above a two-dimensional weight of " +
                                         format_.dtype + " that is in no other group"};
        }
    }
}

// A unit stays plain if what it would be called is something that a reader cannot take.
void Df11Packer::checkNames(Unit& unit) const
{
    std::string reason;
    if (!isFoundBy(expressionOf(unit.module, false), unit.module, reason)) {
        unit.plain = "no pattern can stand for its name: " + reason;
    } else if (unit.attributes.size() > maxUnitTensors) {
        unit.plain = "more than " + std::to_string(maxUnitTensors) + " tensors in a unit";
    }
    for (const char* part : {lutsName, encodedName, ecf8EncodedName, signMantissaName,
                             ecf8SignMantissaName, positionsName, gapsName, splitsName}) {
        if (unit.plain.empty() && names_.count(unit.module + "." + part) != 0) {
            unit.plain = std::string("the file has a '") + part + "' of that name already";
        }
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
            tensor(number),
            [&](const uint8_t* bytes, uint64_t size) { take(bytes, size / format_.elementBytes); },
            shown);
    }
}

void Df11Packer::count(Unit& unit)
{
    for (const auto& [attribute, number] : unit.attributes) {
        unit.elements += tensor(number).size() / format_.elementBytes;
    }
    if (!unit.plain.empty()) {
        // It has been found not to fit.
    } else if (unit.elements > SLUICE_DF11_MAX_SIZE) {
        unit.plain = "more than 2^31 - 1 elements";
    } else if (format_.kind == SLUICE_DF11_FP8_E4M3 && unit.elements % 2 != 0) {
        unit.plain = "ECF8 cannot hold an odd number of elements";
    } else {
        chooseCode(unit);
    }
    if (unit.plain.empty()) {
        ++packedUnits_;
    } else if (!quiet_) {
        std::fprintf(stderr, "sluice: '%s' stays plain: %s\n", printable(unit.module).c_str(),
                     unit.plain.c_str());
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
        // Many elements in few bits may need more shared memory than the kernel has; where, only
        // encoding tells.
        Df11Encoder trial(format_.kind, unit.code);
        const auto encode = [&](const uint8_t* elements, uint64_t number) {
            trial.add(elements, number);
            for (std::vector<uint8_t>* part :
                 {&trial.encoded, &trial.signMantissa, &trial.positions, &trial.gaps}) {
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
    // Wide elements first, so that each lies at a multiple of its size; the positions of ECF8 are
    // u64, though called U8.
    const auto width = [this](const SafetensorsTensor& tensor) {
        const bool positions = format_.kind == SLUICE_DF11_FP8_E4M3 && tensor.shape.size() == 1 &&
                               tensor.shape[0] % 8 == 0 &&
                               endsWith(tensor.name, std::string(".") + positionsName);
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

void Df11Packer::writeUnit(const Unit& unit, OutputFile& output,
                           const std::map<std::string, uint64_t>& places)
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

// One expression serves all modules that it matches if they are packed alike; else each has one of
// its own. No module is matched by two of them: readers of ours take the first one, loaders of
// DFloat11 take all.
Json Df11Packer::patterns() const
{
    const auto names = [this](const Unit& unit) {
        std::vector<std::string> list;
        for (const auto& [attribute, number] : unit.attributes) {
            // ECF8 calls the module itself ""
            if (unit.group >= 0 || format_.kind == SLUICE_DF11_FP8_E4M3) {
                list.push_back(attribute);
            }
        }
        return list;
    };
    struct Shared {
        std::vector<std::string> names;
        int64_t group;
        bool good;
    };
    std::map<std::string, Shared> shared;
    std::vector<std::string> general;
    for (const Unit& unit : units_) {
        std::string reason;
        general.push_back(unit.group < 0 ? expressionOf(unit.module, true)
                                         : groups_[size_t(unit.group)]);
        const bool good = unit.plain.empty() && isFoundBy(general.back(), unit.module, reason);
        Shared& one =
            shared.emplace(general.back(), Shared{names(unit), unit.group, true}).first->second;
        one.good = one.good && good && one.names == names(unit) && one.group == unit.group;
    }
    // Expressions that are made here match only modules of one form; those of --group may match
    // any.
    for (auto& [regex, one] : shared) {
        std::string reason;
        ModulePattern pattern;
        one.good = one.good && pattern.compile(regex, reason);
        for (size_t i = 0; one.good && i < units_.size(); ++i) {
            const bool mayMatch = units_[i].plain.empty() && units_[i].group != one.group;
            one.good = !mayMatch || !pattern.matches(units_[i].module);
        }
    }
    Json result = Json::object();
    for (size_t i = 0; i < units_.size(); ++i) {
        if (units_[i].plain.empty()) {
            result[shared.at(general[i]).good ? general[i]
                                              : expressionOf(units_[i].module, false)] =
                names(units_[i]);
        }
    }
    if (result.size() > maxPatterns) {
        throw Failure{exitFormat,
                      "the modules have more than " + std::to_string(maxPatterns) +
                          " forms of names, which is more than a pattern_dict may have"};
    }
    return result;
}

struct ConfigFile {
    std::string path;
    Json json;
    bool keepsRest; // of what the file had
};

// The files that the loaders need beside `output`. plain: the config.json of the model.
std::vector<ConfigFile> makeConfigs(const Format& format, const fs::path& output, Json plain,
                                    Json patterns)
{
    const auto path = [&](const char* name) { return (output.parent_path() / name).string(); };
    if (format.kind == SLUICE_DF11_BF16) {
        plain["dfloat11_config"] = {{"version", "0.5.0"},
                                    {"threads_per_block", {SLUICE_DF11_WINDOWS}},
                                    {"bytes_per_thread", 8},
                                    {"pattern_dict", std::move(patterns)}};
        return {{path("config.json"), std::move(plain), true}};
    }
    // Language models have it in config.json, pipelines of diffusion models in a file of its own.
    const Json config = {
        {"version", "0.2.0"}, {"threads_per_block", SLUICE_DF11_WINDOWS}, {"bytes_per_thread", 8}};
    plain["dfloat_config"] = config;
    return {{path("config.json"), std::move(plain), true},
            {path("dfloat_config.json"), config, false},
            {path("pattern_dict.json"),
             {{"fp8", std::move(patterns)}, {"bf16", Json::object()}},
             false}};
}

// The config.json beside `output`, or else beside `input`, as far as there is one.
Json readConfig(const fs::path& output, const fs::path& input)
{
    for (const fs::path& path :
         {output.parent_path() / "config.json", input.parent_path() / "config.json"}) {
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
            checkOverwrite(one.path, common.force,
                           one.keepsRest ? "would be changed; -f allows it"
                                         : "exists; -f overwrites it");
        }
        config = readConfig(options.output, options.inputs[0] == "-" ? "" : options.inputs[0]);
    }
    Df11Packer packer(input, format, options, common);
    std::vector<std::pair<std::string, std::string>> texts; // paths and contents
    if (hasConfig) {
        for (const ConfigFile& one :
             makeConfigs(format, options.output, std::move(config), packer.patterns())) {
            texts.emplace_back(one.path,
                               one.json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
            if (texts.back().second.size() > maxJsonBytes) {
                throw Failure{exitFormat,
                              one.path + ": would be larger than 1 MiB, and then not be read"};
            }
        }
    }
    OutputFile output(options.output, common.force);
    packer.write(output);
    std::vector<std::unique_ptr<OutputFile>> files;
    for (const auto& [path, text] : texts) {
        files.push_back(std::make_unique<OutputFile>(path, common.force));
        files.back()->write(0, text.data(), text.size());
    }
    output.commit();
    for (const auto& one : files) {
        one->commit();
    }
    packer.clearProgress();
    if (common.verbosity > 0 && !common.quiet) {
        const uint64_t bytesIn = input.file().size(), bytesOut = packer.outputSize();
        std::fprintf(stderr, "units      %llu\nbytes in   %llu\nbytes out  %llu\nratio      %.3f\n",
                     static_cast<unsigned long long>(packer.packedUnits()),
                     static_cast<unsigned long long>(bytesIn),
                     static_cast<unsigned long long>(bytesOut), double(bytesIn) / double(bytesOut));
    }
    return exitOk;
}

} // namespace sluice
