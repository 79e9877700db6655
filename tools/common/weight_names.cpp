// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the names and shapes of the tensors in a unit of weights. The file does not hold them: they
// come from config.json or pattern_dict.json beside it, or from another .safetensors file (--like).
#include <algorithm>
#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

#include "tools/common/module_pattern.h"
#include "tools/common/tool.h"
#include "tools/common/weights.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// An entry of a configuration's pattern_dict. If `form` matches the name M of a module, the
// module's unit holds the tensors M.ATTRIBUTE.weight, one for each of `attributes`, in this order.
struct Pattern {
    ModulePattern form;
    std::vector<std::string> attributes;
};

const Json* memberOf(const Json& object, const char* name)
{
    if (!object.is_object()) return nullptr;
    const auto found = object.find(name);
    return found != object.end() ? &*found : nullptr;
}

const Json* patternsOf(const Json& object) { return memberOf(object, "pattern_dict"); }

const Json* anyPatterns(const Json& config)
{
    const Json* found = patternsOf(config);
    for (auto member = config.begin();
         config.is_object() && found == nullptr && member != config.end(); ++member) {
        found = patternsOf(*member);
    }
    return found;
}

class Config {
public:
    // Reads the configuration in the folder of the .safetensors file `path`, if there is one.
    // isEcf8 says that ECF8's packer made the file. The packers of both formats, ECF8 and DFloat11,
    // may have left a pattern_dict in the folder; that of the file's own format is preferred.
    Config(const std::string& path, bool isEcf8)
    {
        if (path == "-") return;
        const std::filesystem::path folder = std::filesystem::u8path(path).parent_path();
        m_path = (folder / "config.json").generic_u8string();
        const Json config = readJsonBeside(m_path);
        const Json* own = memberOf(config, isEcf8 ? "dfloat_config" : "dfloat11_config");
        const Json* patterns = own != nullptr ? patternsOf(*own) : nullptr;
        if (patterns == nullptr && !isEcf8) patterns = anyPatterns(config);
        if (patterns != nullptr) {
            readPatterns(*patterns);
            return;
        }
        const std::string inConfig = m_path;
        m_path = (folder / "pattern_dict.json").generic_u8string(); // ECF8's packer writes it
        const Json dictionary = readJsonBeside(m_path);
        if (!dictionary.is_null()) {
            readPatterns(dictionary);
        } else if (const Json* others = anyPatterns(config)) {
            m_path = inConfig;
            readPatterns(*others);
        }
    }

    const std::string& path() const { return m_path; }

    // Returns the first pattern that matches the module's whole name, or nullptr.
    const Pattern* find(const std::string& module) const
    {
        for (const Pattern& pattern : m_patterns) {
            if (pattern.form.matches(module)) return &pattern;
        }
        return nullptr;
    }

private:
    void readPatterns(const Json& dictionary)
    {
        // ECF8's dictionary has a member for each type of weights. Only the type fp8 is packed.
        const Json* fp8 = memberOf(dictionary, "fp8");
        const Json& patterns = fp8 != nullptr && fp8->is_object() ? *fp8 : dictionary;
        const auto fail = [this] {
            throw Failure{exitFormat,
                          m_path + ": pattern_dict does not map patterns to lists of names"};
        };
        if (!patterns.is_object()) fail();
        if (patterns.size() > kMaxPatterns)
            throw Failure{exitFormat, m_path + ": pattern_dict has more than " +
                                          std::to_string(kMaxPatterns) + " patterns"};
        for (const auto& [regex, attributes] : patterns.items()) {
            if (attributes.is_null()) { // the model has no module that this pattern matches
                continue;
            }
            if (!attributes.is_array()) fail();
            m_patterns.emplace_back();
            std::string reason;
            if (!m_patterns.back().form.compile(regex, reason))
                throw Failure{exitFormat, m_path + ": pattern_dict: cannot use the pattern " +
                                              jsonText(regex) + ": " + reason};
            for (const auto& attribute : attributes) {
                if (!attribute.is_string()) fail();
                m_patterns.back().attributes.push_back(attribute.get<std::string>());
            }
        }
    }

    std::string m_path;
    std::vector<Pattern> m_patterns;
};

// Returns the names of a unit's tensors. If a unit has several tensors and no pattern says what
// they are called, their names are the module's name and a number, and `numbered` becomes true.
std::vector<std::string> namesOf(const WeightUnit& unit, const Config& config, bool& numbered)
{
    const size_t count = unit.splits.size() - 1;
    const Pattern* pattern = config.find(unit.module);
    std::vector<std::string> names;
    numbered = false;
    if (pattern != nullptr && !pattern->attributes.empty()) {
        for (const std::string& attribute : pattern->attributes) {
            // "" stands for the module itself
            names.push_back(unit.module + (attribute.empty() ? "" : "." + attribute) + ".weight");
        }
        if (names.size() != count)
            throw Failure{exitFormat, config.path() + ": pattern_dict names " +
                                          std::to_string(names.size()) + " tensors for " +
                                          unit.place() + ", which has " + std::to_string(count)};
    } else if (count == 1) {
        names.push_back(unit.module + ".weight");
    } else {
        numbered = true;
        for (size_t i = 0; i < count; ++i)
            names.push_back(unit.module + "." + std::to_string(i));
    }
    return names;
}

class Like {
public:
    Like(const WeightFile& model, const WeightFile& input) : m_model(model)
    {
        for (size_t i = 0; i < model.header().tensors.size(); ++i)
            m_byName.emplace(model.header().tensors[i].name, i);
        for (size_t i = 0; i < input.header().tensors.size(); ++i) {
            if (input.unitOf(i) < 0) m_plain.emplace(input.header().tensors[i].name, i);
        }
    }

    // Gives a tensor of a unit the shape of the model's tensor of the same name. With `numbered`,
    // the tensor has only a number instead of a name. Then it first gets the name of the tensor of
    // the model that is in the same module and has the same type and size. Throws a Failure unless
    // there is exactly one.
    void apply(const WeightUnit& unit, SafetensorsTensor& tensor, bool numbered) const
    {
        if (numbered) tensor.name = nameBySize(unit, tensor);
        const auto found = m_byName.find(tensor.name);
        if (found == m_byName.end()) fail("has no tensor '" + printable(tensor.name) + "'");
        const SafetensorsTensor& original = m_model.header().tensors[found->second];
        if (original.dtype != tensor.dtype || elements(original) != elements(tensor))
            fail("tensor '" + printable(tensor.name) + "' has another type or size");
        tensor.shape = original.shape;
    }

    // Returns the tensor's index in the model. A tensor that the model lacks gets an index behind
    // all others, so that it sorts last.
    size_t rank(const SafetensorsTensor& tensor) const
    {
        const auto found = m_byName.find(tensor.name);
        return found != m_byName.end() ? found->second : m_byName.size();
    }

private:
    [[noreturn]] void fail(const std::string& text) const
    {
        throw Failure{exitFormat, m_model.file().name() + ": " + text};
    }

    static uint64_t elements(const SafetensorsTensor& tensor)
    {
        uint64_t count = 0;
        safetensorsElements(tensor.shape, count); // cannot overflow: the header was checked
        return count;
    }

    std::string nameBySize(const WeightUnit& unit, const SafetensorsTensor& tensor) const
    {
        const std::string prefix = unit.module + ".";
        std::string name;
        for (auto i = m_byName.lower_bound(prefix);
             i != m_byName.end() && i->first.compare(0, prefix.size(), prefix) == 0; ++i) {
            const SafetensorsTensor& candidate = m_model.header().tensors[i->second];
            if (candidate.dtype != tensor.dtype || elements(candidate) != elements(tensor) ||
                m_plain.count(candidate.name) != 0) {
                continue;
            }
            if (!name.empty())
                fail("several tensors of " + unit.place() +
                     " have the same size; a config.json with pattern_dict beside the input would "
                     "tell them apart");
            name = candidate.name;
        }
        if (name.empty())
            fail("has no tensor of " + std::to_string(elements(tensor)) + " elements in " +
                 unit.place());
        return name;
    }

    const WeightFile& m_model;
    std::map<std::string, size_t> m_byName, m_plain;
};

} // namespace

std::vector<OutputTensor> planOutput(const WeightFile& file, const std::string& path,
                                     const std::string& likePath)
{
    const bool isEcf8 = std::any_of(file.units().begin(), file.units().end(),
                                    [](const auto& unit) { return unit.hasEcf8Names; });
    const Config config(path, isEcf8);
    std::unique_ptr<WeightFile> model;
    std::unique_ptr<Like> like;
    if (!likePath.empty()) {
        model = std::make_unique<WeightFile>(likePath);
        like = std::make_unique<Like>(*model, file);
    }
    std::vector<OutputTensor> outputs;
    std::vector<bool> planned(file.units().size());
    for (size_t i = 0; i < file.header().tensors.size(); ++i) {
        const int64_t number = file.unitOf(i);
        if (number < 0) {
            outputs.push_back({file.header().tensors[i], -1, i, 0});
            continue;
        }
        if (planned[size_t(number)]) continue;
        planned[size_t(number)] = true;
        const WeightUnit& unit = file.units()[size_t(number)];
        bool numbered = false;
        const std::vector<std::string> names = namesOf(unit, config, numbered);
        for (size_t part = 0; part < names.size(); ++part) {
            OutputTensor output;
            output.tensor.name = names[part];
            output.tensor.dtype = unit.dtype();
            output.tensor.shape = {unit.splits[part + 1] - unit.splits[part]};
            output.unit = number;
            output.first = unit.splits[part];
            if (like) like->apply(unit, output.tensor, numbered);
            outputs.push_back(std::move(output));
        }
    }
    if (like)
        std::stable_sort(outputs.begin(), outputs.end(),
                         [&](const OutputTensor& a, const OutputTensor& b) {
                             return like->rank(a.tensor) < like->rank(b.tensor);
                         });
    return outputs;
}

} // namespace sluice
