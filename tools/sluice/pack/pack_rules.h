// SPDX-License-Identifier: MIT OR Apache-2.0
// The rules of sluice pack --rules: a TOML file that chooses, by globs, how files are encoded.
//
//   [[rule]]
//   files = ["*.wav", "music/**"]   # globs as --exclude takes them
//   level = 12
//
// All rules that match a file apply in turn: a later rule overrides earlier ones and the command
// line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace sluice {

// Limits a file of rules, because every rule is compared with every file name.
constexpr uint64_t kMaxRulesBytes = 1 << 16;

struct ArchiveSource;

struct PackRule {
    uint32_t line = 0; // of the file
    std::vector<std::string> globs;
    std::optional<std::string> codec, filters, bc;
    std::optional<uint32_t> level, decodeSpeed, copyDepth, tileKib;
    std::optional<bool> images, mips, share;
};

class PackRules {
public:
    PackRules() = default; // none
    // `name` is the name of the rules file, for messages. Throws a Failure that says where the text
    // is wrong and how.
    PackRules(std::string name, const std::string& text);
    // Also throws if this build has no TOML reader.
    static PackRules fromFile(const std::string& path);

    // Throws if a glob matches none of the files.
    void checkGlobs(const std::vector<ArchiveSource>& files) const;

    // Returns the options of a file: the options that the command line gives to all files, as
    // changed by the rules.
    AssetOptions optionsFor(const std::string& name, const AssetOptions& base) const;
    // Returns these options as text. There is a line for each option that matters, with its value
    // and its source.
    std::string explain(const std::string& name, const AssetOptions& base) const;

private:
    std::string m_name;
    std::vector<PackRule> m_rules;
};

} // namespace sluice
