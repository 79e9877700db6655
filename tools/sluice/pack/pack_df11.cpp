// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice pack --raw -c df11|ecf8`: makes a .safetensors file whose weights are coded in units that
// the kernels of DFloat11 or ECF8 decode. A unit is a set of tensors of one module, under one code.
#include <sluice/sluice_df11.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "tools/common/codecs.h"
#include "encode/weights/df11_encoder.h"
#include "tools/common/module_pattern.h"
#include "tools/common/progress.h"
#include "tools/common/summary.h"
#include "tools/common/weights.h"

namespace fs = std::filesystem;

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kPieceBytes = 4 << 20;
const std::string kWeightSuffix = ".weight";

struct Format {
    SluiceDf11Kind kind;
    const char *dtype, *encodedName, *signMantissaName;
};
constexpr Format kDf11Format = {SLUICE_DF11_BF16, "BF16", kEncodedName, kSignMantissaName};
constexpr Format kEcf8Format = {SLUICE_DF11_FP8_E4M3, "F8_E4M3", kEcf8EncodedName,
                                kEcf8SignMantissaName};

// Tensors that are packed together, sorted by their attributes.
struct Unit {
    std::string module;
    int64_t group = -1; // index of the --group that it belongs to; -1: a single tensor
    // Key: attribute of the module; value: index of its tensor in the input.
    std::map<std::string, size_t> attributes;
    uint64_t histogram[256] = {};
    uint64_t elements = 0;
    std::string plain; // why its tensors stay plain; empty: they are packed
    Df11Code code;
    Df11Sizes sizes = {};
};

class Df11Packer {
public:
    Df11Packer(const WeightFile& input, const Format& format, const PackOptions& options,
               const CommonOptions& common)
        : m_input(input), m_format(format),
          m_progress("packing", input.file().size() * 2, common.quiet), m_quiet(common.quiet),
          m_groups(options.groups)
    {
        planUnits();
        for (Unit& unit : m_units) {
            checkNames(unit);
            count(unit);
        }
    }

    Json patterns() const; // the content of pattern_dict. Throws a Failure
    void write(OutputFile& output);
    uint64_t packedUnits() const { return m_packedUnits; }
    uint64_t outputSize() const { return m_outputSize; }
    void clearProgress() { m_progress.clear(); }

private:
    const SafetensorsTensor& tensor(size_t number) const
    {
        return m_input.header().tensors[number];
    }
    // Returns the unit that tensor `number` is packed in, or nullptr if the tensor stays plain.
    const Unit* packedUnitOf(size_t number) const
    {
        const Unit* unit = m_unitOf[number] < 0 ? nullptr : &m_units[size_t(m_unitOf[number])];
        return unit != nullptr && unit->plain.empty() ? unit : nullptr;
    }
    bool isWeight(const SafetensorsTensor& tensor) const;
    void planUnits();
    void checkNames(Unit& unit) const;
    void count(Unit& unit);
    void chooseCode(Unit& unit);
    template <class Take>
    void readPieces(const SafetensorsTensor& tensor, Take take, bool shown = true);
    template <class Take>
    void readElements(const Unit& unit, Take take, bool shown = true);
    void addParts(const Unit& unit, SafetensorsHeader& header) const;
    void writeUnit(const Unit& unit, OutputFile& output,
                   const std::map<std::string, uint64_t>& places);

    const WeightFile& m_input;
    const Format& m_format;
    Progress m_progress;
    bool m_quiet;
    const std::vector<std::string>& m_groups;
    std::vector<ModulePattern> m_groupPatterns;
    std::vector<Unit> m_units;
    std::vector<int64_t> m_unitOf; // index of each tensor's unit; -1: none
    std::set<std::string> m_names; // the names of all tensors
    Bytes m_piece;
    uint64_t m_packedUnits = 0, m_outputSize = 0;
};

bool Df11Packer::isWeight(const SafetensorsTensor& tensor) const
{
    return tensor.dtype == m_format.dtype && tensor.shape.size() == 2 && tensor.size() != 0 &&
           endsWith(tensor.name, kWeightSuffix);
}

// Returns a regular expression that matches a module's name, for example "model.layers.7.q". If
// `general` is set, the expression has \d+ in place of each component that is a number.
std::string expressionOf(const std::string& module, bool general)
{
    std::string regex;
    for (size_t begin = 0; begin <= module.size();) {
        const size_t end = std::min(module.find('.', begin), module.size());
        const std::string component = module.substr(begin, end - begin);
        const bool number =
            !component.empty() && component.find_first_not_of("0123456789") == std::string::npos;
        regex += begin != 0 ? "\\." : "";
        for (const char c : number&& general ? std::string() : component)
            regex += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
                             static_cast<signed char>(c) < 0
                         ? std::string(1, c)
                         : std::string("\\") + c;
        regex += number && general ? "\\d+" : "";
        begin = end + 1;
    }
    return regex;
}

// Returns whether a reader can find the module by this expression; readers limit the length of
// both.
bool isFoundBy(const std::string& regex, const std::string& module, std::string& reason)
{
    ModulePattern pattern;
    if (!pattern.compile(regex, reason)) return false;
    reason = "it is too long";
    return pattern.matches(module);
}

// Divides the weights (isWeight) into units; all other tensors stay plain. A weight belongs to a
// group (--group) if the group's expression matches its name up to one of the dots. The weights of
// a module that matches make one unit; any other weight is a unit by itself.
void Df11Packer::planUnits()
{
    for (const SafetensorsTensor& one : m_input.header().tensors)
        m_names.insert(one.name);
    m_groupPatterns.resize(m_groups.size());
    for (size_t i = 0; i < m_groups.size(); ++i) {
        std::string reason;
        if (!m_groupPatterns[i].compile(m_groups[i], reason))
            throw Failure{exitUsage, "--group " + m_groups[i] + ": cannot use this expression: " +
                                         reason + " (docs/format.md, 5.5, says what is)"};
    }
    std::map<std::string, size_t> unitByModule;
    std::vector<bool> used(m_groups.size());
    m_unitOf.assign(m_input.header().tensors.size(), -1);
    for (size_t i = 0; i < m_unitOf.size(); ++i) {
        if (!isWeight(tensor(i))) continue;
        std::string module = tensor(i).name.substr(0, tensor(i).name.size() - kWeightSuffix.size()),
                    attribute;
        int64_t joins = -1;
        for (size_t group = 0; group < m_groups.size() && joins < 0; ++group) {
            for (size_t dot = module.find('.', 1); dot < module.size() - 1;
                 dot = module.find('.', dot + 1)) {
                if (m_groupPatterns[group].matches(module.substr(0, dot))) {
                    joins = int64_t(group);
                    used[group] = true;
                    attribute = module.substr(dot + 1);
                    module.resize(dot);
                    break;
                }
            }
        }
        const auto [place, isNew] = unitByModule.emplace(module, m_units.size());
        if (isNew) {
            m_units.emplace_back();
            m_units.back().module = module;
            m_units.back().group = joins;
        }
        Unit& unit = m_units[place->second];
        if (unit.group != joins)
            throw Failure{exitUsage, "'" + printable(module) + "' is a group and a tensor"};
        unit.attributes.emplace(attribute, i);
        m_unitOf[i] = int64_t(place->second);
    }
    for (size_t i = 0; i < m_groups.size(); ++i) {
        if (!used[i])
            throw Failure{exitUsage, "--group " + m_groups[i] +
                                         ": matches no module above a two-dimensional weight of " +
                                         m_format.dtype + " that is in no other group"};
    }
}

// Leaves a unit plain if readers could not handle its name or the number of its tensors, or if the
// file already has a tensor with a name that the packed unit would need.
void Df11Packer::checkNames(Unit& unit) const
{
    std::string reason;
    if (!isFoundBy(expressionOf(unit.module, false), unit.module, reason)) {
        unit.plain = "no pattern can stand for its name: " + reason;
    } else if (unit.attributes.size() > kMaxUnitTensors) {
        unit.plain = "more than " + std::to_string(kMaxUnitTensors) + " tensors in a unit";
    }
    for (const char* part : {kLutsName, kEncodedName, kEcf8EncodedName, kSignMantissaName,
                             kEcf8SignMantissaName, kPositionsName, kGapsName, kSplitsName}) {
        if (unit.plain.empty() && m_names.count(unit.module + "." + part) != 0)
            unit.plain = std::string("the file has a '") + part + "' of that name already";
    }
}

template <class Take>
void Df11Packer::readPieces(const SafetensorsTensor& tensor, Take take, bool shown)
{
    m_piece.resize(kPieceBytes);
    for (uint64_t at = 0; at < tensor.size(); at += kPieceBytes) {
        const uint64_t size = std::min(kPieceBytes, tensor.size() - at);
        m_input.read(tensor, at, m_piece.data(), size_t(size));
        take(m_piece.data(), size);
        m_progress.advance(shown ? size : 0);
    }
}

template <class Take>
void Df11Packer::readElements(const Unit& unit, Take take, bool shown)
{
    for (const auto& [attribute, number] : unit.attributes)
        readPieces(
            tensor(number),
            [&](const uint8_t* bytes, uint64_t size) {
                take(bytes, size / df11Form(m_format.kind).elementBytes);
            },
            shown);
}

void Df11Packer::count(Unit& unit)
{
    for (const auto& [attribute, number] : unit.attributes)
        unit.elements += tensor(number).size() / df11Form(m_format.kind).elementBytes;
    if (unit.plain.empty() && unit.elements > SLUICE_DF11_MAX_SIZE)
        unit.plain = "more than 2^31 - 1 elements";
    if (unit.plain.empty() && m_format.kind == SLUICE_DF11_FP8_E4M3 && unit.elements % 2 != 0)
        unit.plain = "ECF8 cannot hold an odd number of elements";
    if (unit.plain.empty()) chooseCode(unit);
    if (unit.plain.empty()) {
        ++m_packedUnits;
    } else if (!m_quiet) {
        printMessage("sluice: '%s' stays plain: %s\n", printable(unit.module).c_str(),
                     unit.plain.c_str());
    }
}

void Df11Packer::chooseCode(Unit& unit)
{
    readElements(unit, [&](const uint8_t* elements, uint64_t number) {
        countDf11Symbols(m_format.kind, elements, number, unit.histogram);
    });
    if (!makeDf11Code(m_format.kind, unit.histogram, 1, unit.code)) {
        unit.plain = "an exponent of 240 or more, which DFloat11 cannot hold";
        return;
    }
    if (m_format.kind == SLUICE_DF11_BF16 && unit.code.minLength() == 1) {
        // If many elements have codes of 1 bit, a block may have more elements than fit into the
        // kernel's shared memory. Only encoding the unit shows whether that happens. If it does,
        // all codes get at least 2 bits.
        Df11Encoder trial(m_format.kind, unit.code);
        const auto encode = [&](const uint8_t* elements, uint64_t number) {
            trial.add(elements, number);
            for (Bytes* part :
                 {&trial.encoded, &trial.signMantissa, &trial.positions, &trial.gaps}) {
                part->clear();
            }
        };
        readElements(unit, encode, false);
        trial.finish();
        if (trial.maxBlockElements() > kDf11MaxSharedElements)
            makeDf11Code(m_format.kind, unit.histogram, 2, unit.code);
    }
    unit.sizes = df11Sizes(m_format.kind, unit.histogram, unit.code);
    if (unit.sizes.encoded > SLUICE_DF11_MAX_SIZE) unit.plain = "more than 2^31 - 1 bytes of codes";
}

void Df11Packer::addParts(const Unit& unit, SafetensorsHeader& header) const
{
    const auto add = [&](const char* name, const char* dtype, const std::vector<uint64_t>& shape) {
        header.tensors.push_back({unit.module + "." + name, dtype, shape, 0, 0});
    };
    add(kLutsName, "U8", {unit.code.luts.size() / 256, 256});
    add(m_format.encodedName, "U8", {unit.sizes.encoded});
    add(m_format.signMantissaName, "U8", {unit.sizes.signMantissa});
    add(kPositionsName, "U8", {unit.sizes.positions});
    add(kGapsName, "U8", {unit.sizes.gaps});
    add(kSplitsName, "I64", {unit.attributes.size() - 1});
}

void Df11Packer::write(OutputFile& output)
{
    SafetensorsHeader header;
    header.hasMetadata = m_input.header().hasMetadata;
    header.metadata = m_input.header().metadata;
    std::set<const Unit*> added;
    for (size_t i = 0; i < m_unitOf.size(); ++i) {
        const Unit* unit = packedUnitOf(i);
        if (unit == nullptr) {
            header.tensors.push_back(tensor(i));
        } else if (added.insert(unit).second) {
            addParts(*unit, header);
        }
    }
    // Wide elements come first, so that each tensor is aligned to the width of its elements. ECF8's
    // positions are numbers of 64 bits, although their dtype is U8.
    const auto width = [this](const SafetensorsTensor& tensor) {
        const bool positions = m_format.kind == SLUICE_DF11_FP8_E4M3 && tensor.shape.size() == 1 &&
                               tensor.shape[0] % 8 == 0 &&
                               endsWith(tensor.name, std::string(".") + kPositionsName);
        return positions ? 64u : safetensorsBits(tensor.dtype);
    };
    std::stable_sort(header.tensors.begin(), header.tensors.end(),
                     [&](const auto& a, const auto& b) { return width(a) > width(b); });
    std::string start, error;
    const SluiceStatus status = makeSafetensors(header, start, error);
    if (status != SLUICE_OK)
        throw Failure{exitFormat, m_input.file().name() + ": the output: " + error};
    std::map<std::string, uint64_t> places;
    for (const SafetensorsTensor& placed : header.tensors)
        places.emplace(placed.name, start.size() + placed.begin);
    m_outputSize = start.size() + (header.tensors.empty() ? 0 : header.tensors.back().end);
    output.write(0, start.data(), start.size());
    for (size_t i = 0; i < m_unitOf.size(); ++i) {
        if (packedUnitOf(i) != nullptr) continue;
        readPieces(tensor(i), [&, at = places.at(tensor(i).name)](const uint8_t* bytes,
                                                                  uint64_t size) mutable {
            output.write(at, bytes, size_t(size));
            at += size;
        });
    }
    for (const Unit& unit : m_units) {
        if (unit.plain.empty()) writeUnit(unit, output, places);
    }
}

void Df11Packer::writeUnit(const Unit& unit, OutputFile& output,
                           const std::map<std::string, uint64_t>& places)
{
    const auto placeOf = [&](const char* name) { return places.at(unit.module + "." + name); };
    output.write(placeOf(kLutsName), unit.code.luts.data(), unit.code.luts.size());
    if (unit.attributes.size() > 1) {
        Bytes splits;
        uint64_t end = 0;
        for (const auto& [attribute, number] : unit.attributes) {
            end += tensor(number).size() / df11Form(m_format.kind).elementBytes;
            for (uint32_t byte = 0; byte < 8 && end != unit.elements; ++byte)
                splits.push_back(uint8_t(end >> 8 * byte));
        }
        output.write(placeOf(kSplitsName), splits.data(), splits.size());
    }
    Df11Encoder encoder(m_format.kind, unit.code);
    struct Part {
        Bytes& bytes;
        uint64_t place;
    } parts[] = {{encoder.encoded, placeOf(m_format.encodedName)},
                 {encoder.signMantissa, placeOf(m_format.signMantissaName)},
                 {encoder.positions, placeOf(kPositionsName)},
                 {encoder.gaps, placeOf(kGapsName)}};
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

// Returns a dictionary from regular expressions for the names of modules to the attributes of those
// modules that are packed (for example, "weight"). Modules that are packed alike share an
// expression that matches all of them; any other module has one of its own. No module may match two
// expressions, since our reader takes the first match and DFloat11's loaders take all.
Json Df11Packer::patterns() const
{
    const auto names = [this](const Unit& unit) {
        std::vector<std::string> list;
        // For a unit of a single tensor, ECF8 writes "" and DFloat11 an empty list.
        if (unit.group < 0 && m_format.kind == SLUICE_DF11_BF16) return list;
        for (const auto& [attribute, number] : unit.attributes)
            list.push_back(attribute);
        return list;
    };
    struct Shared {
        std::vector<std::string> names;
        int64_t group;
        bool good;
    };
    std::map<std::string, Shared> shared;
    std::vector<std::string> general;
    for (const Unit& unit : m_units) {
        std::string reason;
        general.push_back(unit.group < 0 ? expressionOf(unit.module, true)
                                         : m_groups[size_t(unit.group)]);
        const bool good = unit.plain.empty() && isFoundBy(general.back(), unit.module, reason);
        Shared& one =
            shared.emplace(general.back(), Shared{names(unit), unit.group, true}).first->second;
        one.good = one.good && good && one.names == names(unit) && one.group == unit.group;
    }
    // An expression is good only if it matches no module that belongs to another group or to none.
    // This must be checked because an expression of --group may match any module.
    for (auto& [regex, one] : shared) {
        std::string reason;
        ModulePattern pattern;
        one.good = one.good && pattern.compile(regex, reason);
        for (size_t i = 0; one.good && i < m_units.size(); ++i) {
            const bool mayMatch = m_units[i].plain.empty() && m_units[i].group != one.group;
            one.good = !mayMatch || !pattern.matches(m_units[i].module);
        }
    }
    Json result = Json::object();
    for (size_t i = 0; i < m_units.size(); ++i) {
        if (m_units[i].plain.empty())
            result[shared.at(general[i]).good ? general[i]
                                              : expressionOf(m_units[i].module, false)] =
                names(m_units[i]);
    }
    if (result.size() > kMaxPatterns)
        throw Failure{exitFormat,
                      "the modules have more than " + std::to_string(kMaxPatterns) +
                          " forms of names, which is more than a pattern_dict may have"};
    return result;
}

struct ConfigFile {
    std::string path;
    Json json;
    bool keepsRest; // the file's other members are kept
};

// Returns the files that loaders need beside `output`. `plain` is the model's config.json,
// `patterns` what Df11Packer::patterns() returned.
std::vector<ConfigFile> makeConfigs(const Format& format, const fs::path& output, Json plain,
                                    Json patterns)
{
    const auto path = [&](const char* name) {
        return (output.parent_path() / name).generic_u8string();
    };
    if (format.kind == SLUICE_DF11_BF16) {
        plain["dfloat11_config"] = {{"version", "0.5.0"},
                                    {"threads_per_block", {SLUICE_DF11_WINDOWS}},
                                    {"bytes_per_thread", 8},
                                    {"pattern_dict", std::move(patterns)}};
        return {{path("config.json"), std::move(plain), true}};
    }
    // Loaders of language models read config.json, those of diffusion models dfloat_config.json.
    const Json config = {
        {"version", "0.2.0"}, {"threads_per_block", SLUICE_DF11_WINDOWS}, {"bytes_per_thread", 8}};
    plain["dfloat_config"] = config;
    return {{path("config.json"), std::move(plain), true},
            {path("dfloat_config.json"), config, false},
            {path("pattern_dict.json"),
             {{"fp8", std::move(patterns)}, {"bf16", Json::object()}},
             false}};
}

// Reads config.json from the folder of `output` or, if it has none there, of `input`. Returns an
// empty object if neither folder has one.
Json readConfig(const fs::path& output, const fs::path& input)
{
    for (const fs::path& path :
         {output.parent_path() / "config.json", input.parent_path() / "config.json"}) {
        if (!isFile(path.generic_u8string())) continue;
        Json config = readJsonBeside(path.generic_u8string());
        if (!config.is_object())
            throw Failure{exitFormat, path.generic_u8string() + ": is no JSON object"};
        return config;
    }
    return Json::object();
}

int packUnits(const Format& format, const PackOptions& options, const CommonOptions& common)
{
    if (options.inputs.size() != 1) throw Failure{exitUsage, "--raw packs one file"};
    const WeightFile input(options.inputs[0]);
    const bool hasConfig = options.output != "-";
    checkOutput(options.output, common.force, options.inputs);
    Json config;
    if (hasConfig) {
        std::vector<std::string> outputs = {options.output};
        for (const ConfigFile& one : makeConfigs(format, fs::u8path(options.output), {}, {})) {
            refuseOwnInput(one.path, options.inputs);
            outputs.push_back(one.path);
            checkOverwrite(one.path, common.force,
                           one.keepsRest ? "would be changed; -f allows it"
                                         : "exists; -f overwrites it");
        }
        refuseSameOutputs(outputs);
        config = readConfig(fs::u8path(options.output),
                            fs::u8path(options.inputs[0] == "-" ? "" : options.inputs[0]));
    }
    Df11Packer packer(input, format, options, common);
    std::vector<std::pair<std::string, std::string>> texts; // paths and contents
    if (hasConfig) {
        for (const ConfigFile& one : makeConfigs(format, fs::u8path(options.output),
                                                 std::move(config), packer.patterns())) {
            texts.emplace_back(one.path,
                               one.json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
            if (texts.back().second.size() > kMaxJsonBytes)
                throw Failure{exitFormat,
                              one.path + ": would be larger than 1 MiB, and then not be read"};
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
    for (const auto& one : files)
        one->commit();
    packer.clearProgress();
    if (common.verbosity > 0 && !common.quiet) {
        const uint64_t bytesIn = input.file().size(), bytesOut = packer.outputSize();
        printMessage("units      %llu\nbytes in   %llu\nbytes out  %llu\nratio      %s\n",
                     wide(packer.packedUnits()), wide(bytesIn), wide(bytesOut),
                     ratioText(bytesOut, bytesIn).c_str());
    }
    return exitOk;
}

} // namespace

int packDf11(const PackOptions& options, const CommonOptions& common)
{
    return packUnits(kDf11Format, options, common);
}

int packEcf8(const PackOptions& options, const CommonOptions& common)
{
    return packUnits(kEcf8Format, options, common);
}

} // namespace sluice
