// SPDX-License-Identifier: MIT OR Apache-2.0
// The rules of sluice pack --rules: a TOML file that chooses, by globs, how files are encoded.
//
//   [[rule]]
//   files = ["*.wav", "music/**"]   # globs as --exclude takes them
//   level = 12
//
// All rules that match a file's name apply, in order: what a later rule sets replaces what earlier
// rules and the command line set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace sluice {

// Most bytes of a file of rules: every rule is compared with every file's name.
constexpr uint64_t kMaxRulesBytes = 1 << 16;

struct ArchiveSource;
struct RuleSetting;

struct PackRule {
    uint32_t line = 0; // line of the file where it begins
    std::vector<std::string> globs;
    std::vector<const RuleSetting*> set; // the options that it sets
    AssetOptions values;
};

class PackRules {
public:
    PackRules() = default; // no rules
    // Reads the rules in `text`. `name` is the file's name for messages. Throws a Failure that says
    // where the text is wrong, and how.
    PackRules(std::string name, const std::string& text);
    // Reads a file. Throws also if this build has no TOML reader.
    static PackRules fromFile(const std::string& path);

    // Takes the values of --kind, "KIND=GLOB" each. Rules of the file override them. Throws a
    // Failure.
    void setKinds(const std::vector<std::string>& kinds);

    // Throws if a glob matches none of the files.
    void checkGlobs(const std::vector<ArchiveSource>& files) const;

    // Returns the options of a file: `base`, which the command line gives to all files, changed by
    // the rules.
    AssetOptions optionsFor(const std::string& name, const AssetOptions& base) const;
    // Says how a file is encoded, as text: a line for each option that matters, with its value and
    // where that comes from.
    std::string explain(const std::string& name, const AssetOptions& base) const;

private:
    // Returns what the command line says about a file.
    AssetOptions given(const std::string& name, AssetOptions options) const;

    std::string m_name;
    std::vector<PackRule> m_rules;
    std::vector<std::pair<std::string, std::string>> m_kinds; // kind and glob of each --kind
};

} // namespace sluice
