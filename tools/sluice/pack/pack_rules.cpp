// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_rules.h"

#include <algorithm>
#include <variant>

#include "tools/common/archive_writer.h"
#include "tools/sluice/pack/block_encoder.h"
#include "tools/common/codecs.h"
#include "tools/common/files.h"
#include "tools/common/glob.h"
#include "tools/sluice/pack/texture_kind.h"

#if SLUICE_HAVE_TOML
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>
#endif

namespace sluice {
namespace {

std::string textOf(const std::string& value) { return value; }
std::string textOf(uint32_t value) { return std::to_string(value); }
std::string textOf(bool value) { return value ? "true" : "false"; }

} // namespace

// An option that a rule may set for a file.
struct RuleSetting {
    const char* name; // its name in the rules
    std::variant<std::string AssetOptions::*, uint32_t AssetOptions::*, bool AssetOptions::*>
        option;
    uint32_t codecOption = 0;     // its flag in Codec::options; 0: all codecs take it
    uint32_t least = 0, most = 0; // bounds of the value if it is a number

    std::string text(const AssetOptions& options) const
    {
        AssetOptions used = options;
        if (used.copyDepth == 0) used.copyDepth = 4;
        used.tileKib = tileBytes(options) / 1024;
        return std::visit([&](auto member) { return textOf(used.*member); }, option);
    }
};

namespace {

// The settings are in the order in which --explain lists them.
constexpr RuleSetting kSettings[] = {
    {"codec", &AssetOptions::codec},
    {"level", &AssetOptions::level, kLevelOption, 1, 12},
    {"decode-speed", &AssetOptions::decodeSpeed, kDecodeSpeedOption, 0,
     SLUICE_GDEFLATE_MAX_DECODE_SPEED},
    {"copy-depth", &AssetOptions::copyDepth, kCopyDepthOption, 1, SLUICE_GSTD_MAX_DEPTH},
    {"tile-size", &AssetOptions::tileKib, kTileSizeOption, 64, 256},
    {"filters", &AssetOptions::filters, kFiltersOption},
    {"images", &AssetOptions::images},
    {"bc", &AssetOptions::bc},
    {"uastc", &AssetOptions::uastc},
    {"kind", &AssetOptions::kind},
    {"mips", &AssetOptions::mips},
    {"share", &AssetOptions::share},
};
constexpr const RuleSetting& kCodecSetting = kSettings[0];

bool isSet(const PackRule& rule, const RuleSetting& setting)
{
    return std::find(rule.set.begin(), rule.set.end(), &setting) != rule.set.end();
}

void apply(const PackRule& rule, AssetOptions& options)
{
    for (const RuleSetting* setting : rule.set)
        std::visit([&](auto member) { options.*member = rule.values.*member; }, setting->option);
}

// Returns the first of the rule's globs that matches the name, or null.
const std::string* matchOf(const PackRule& rule, const std::string& name)
{
    const auto found =
        std::find_if(rule.globs.begin(), rule.globs.end(),
                     [&](const std::string& glob) { return matchesPath(glob, name); });
    return found == rule.globs.end() ? nullptr : &*found;
}

#if SLUICE_HAVE_TOML

// Reads one [[rule]] of the file.
class RuleReader {
public:
    RuleReader(const std::string& file, const toml::table& table) : m_file(file)
    {
        m_rule.line = table.source().begin.line;
        for (const auto& [key, node] : table)
            read(std::string(key.str()), node);
        if (m_rule.globs.empty())
            fail(m_rule.line, "a rule needs files = \"GLOB\" or [\"GLOB\", ...]");
        checkCodec();
    }
    PackRule take() { return std::move(m_rule); }

private:
    [[noreturn]] void fail(uint32_t line, const std::string& what) const
    {
        throw Failure{exitUsage, m_file + ":" + std::to_string(line) + ": " + what};
    }

    void read(const std::string& key, const toml::node& node)
    {
        if (key == "files") return readGlobs(node);
        std::string known = "files";
        for (const RuleSetting& setting : kSettings) {
            known += std::string(", ") + setting.name;
            if (key != setting.name) continue;
            m_rule.set.push_back(&setting);
            return std::visit([&](auto member) { read(setting, node, m_rule.values.*member); },
                              setting.option);
        }
        fail(node.source().begin.line, "'" + printable(key) + "' is none of " + known);
    }

    void readGlobs(const toml::node& node)
    {
        const uint32_t line = node.source().begin.line;
        const auto add = [&](const toml::node& one) {
            const auto text = one.value<std::string>();
            if (!one.is_string() || !text || text->empty()) fail(line, "files: a glob is a string");
            m_rule.globs.push_back(*text);
        };
        if (const toml::array* array = node.as_array()) {
            for (const toml::node& one : *array)
                add(one);
        } else {
            add(node);
        }
    }

    void read(const RuleSetting& setting, const toml::node& node, std::string& to) const
    {
        const uint32_t line = node.source().begin.line;
        const std::string key = setting.name;
        if (!node.is_string()) fail(line, key + " is a string");
        to = node.value<std::string>().value_or("");
        if (key == "bc") checkBlocks(line, to);
        if (key == "uastc" && to != "keep" && to != "lean" && to != "bc7" && to != "astc")
            fail(line, "uastc '" + printable(to) + "' is none of keep, lean, bc7, astc");
        if (key == "kind" && !isKindName(to))
            fail(line, "kind '" + printable(to) + "' is none of " + kKindList);
        if (key != "filters") return;
        try {
            checkFilterList(to);
        } catch (const Failure& failure) {
            fail(line, failure.text);
        }
    }

    void checkBlocks(uint32_t line, const std::string& text) const
    {
        static const char* const known[] = {"auto", "none", "bc1", "bc3", "bc4", "bc5"};
        if (std::find(std::begin(known), std::end(known), text) == std::end(known))
            fail(line, "bc '" + printable(text) + "' is none of auto, none, bc1, bc3, bc4, bc5");
        if (text != "none" && !hasBlockEncoder())
            throw Failure{exitUnsupported,
                          m_file + ":" + std::to_string(line) +
                              ": bc needs libsquish, which this build does not have"};
    }

    void read(const RuleSetting& setting, const toml::node& node, uint32_t& to) const
    {
        const auto value = node.value<int64_t>();
        if (!node.is_integer() || !value || *value < setting.least || *value > setting.most)
            fail(node.source().begin.line, formatText("%s is a number from %u to %u", setting.name,
                                                      setting.least, setting.most));
        to = uint32_t(*value);
    }

    void read(const RuleSetting& setting, const toml::node& node, bool& to) const
    {
        if (!node.is_boolean())
            fail(node.source().begin.line, std::string(setting.name) + " is true or false");
        to = node.value<bool>().value_or(false);
    }

    // Checks that the codec exists, may be used in archives, and takes the rule's other options.
    void checkCodec() const
    {
        if (!isSet(m_rule, kCodecSetting)) return;
        const Codec* codec =
            std::find_if(std::begin(kCodecs), std::end(kCodecs), [&](const Codec& c) {
                return c.plan != nullptr && m_rule.values.codec == c.name;
            });
        if (codec == std::end(kCodecs)) {
            std::string known;
            for (const Codec& one : kCodecs)
                if (one.plan != nullptr)
                    known += (known.empty() ? "" : ", ") + std::string(one.name);
            fail(m_rule.line, "codec '" + printable(m_rule.values.codec) + "' is none of " + known);
        }
        for (const RuleSetting& setting : kSettings)
            if (setting.codecOption != 0 && isSet(m_rule, setting) &&
                (codec->options & setting.codecOption) == 0)
                fail(m_rule.line,
                     std::string(setting.name) + " is without effect for codec " + codec->name);
    }

    const std::string& m_file;
    PackRule m_rule;
};

// Returns the same rules in ASCII, because some other characters make toml++ 3.3 end the program. A
// character that is not ASCII becomes a question mark in a comment, and an escape in a string
// "...". If there is one elsewhere, if the text is not UTF-8, or if a line has too many dots,
// returns an empty text, and `stray` receives the line. Otherwise `stray` is 0.
std::string inAscii(const std::string& text, uint32_t& stray)
{
    // Rules have no dotted keys (a.b.c), and toml++ recurses for each dot, so dots are limited.
    constexpr uint32_t kMostDots = 16; // in one line
    uint32_t dots = 0;
    enum class In {
        plain,
        comment,
        string, // "..."
        other   // strings '...', and strings of several lines
    } in = In::plain;
    std::string ascii, end; // `end` is the text that ends a string
    uint32_t line = 1;
    stray = 0;
    for (size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (c == '\n') {
            ++line;
            dots = 0;
        }
        if (c == '.' && in == In::plain && ++dots > kMostDots) {
            stray = line;
            return {};
        }
        if (uint8_t(c) > 0x7f) {
            const Character character = characterAt(text, i);
            if (!character.isValid || in == In::plain || in == In::other) {
                stray = line;
                return {};
            }
            ascii += in == In::comment ? "?" : formatText("\\U%08x", character.code);
            i += character.bytes;
            continue;
        }
        if (in == In::plain && c == '#') {
            in = In::comment;
        } else if (in == In::plain && (c == '"' || c == '\'')) {
            end =
                text.compare(i, 3, std::string(3, c)) == 0 ? std::string(3, c) : std::string(1, c);
            in = c == '"' && end.size() == 1 ? In::string : In::other;
            ascii += end;
            i += end.size();
            continue;
        } else if (in != In::comment && in != In::plain && text.compare(i, end.size(), end) == 0) {
            in = In::plain;
            ascii += end;
            i += end.size();
            continue;
        } else if (c == '\n' && end.size() != 3) {
            in = In::plain;
        } else if (c == '\\' && in != In::plain && in != In::comment && end[0] == '"' &&
                   i + 1 < text.size() && uint8_t(text[i + 1]) <= 0x7f && text[i + 1] != '\n') {
            ascii += c;
            ++i; // copies the escaped character too
        }
        ascii += text[i++];
    }
    return ascii;
}

#endif

} // namespace

#if SLUICE_HAVE_TOML

PackRules::PackRules(std::string name, const std::string& text) : m_name(std::move(name))
{
    const auto fail = [&](uint32_t line, const std::string& what) {
        throw Failure{exitUsage, m_name + ":" + std::to_string(line) + ": " + what};
    };
    uint32_t stray = 0;
    const std::string ascii = inAscii(text, stray);
    if (stray != 0)
        fail(stray, "only comments and strings in \"\" of one line hold other characters than "
                    "ASCII's or more than 16 dots");
    const toml::parse_result parsed = toml::parse(ascii, m_name);
    if (!parsed)
        fail(parsed.error().source().begin.line,
             printable(std::string(parsed.error().description())));
    for (const auto& [key, node] : parsed.table()) {
        const toml::array* rules = node.as_array();
        if (key.str() != "rule" || rules == nullptr)
            fail(node.source().begin.line,
                 "'" + printable(std::string(key.str())) + "': there are only [[rule]] tables");
        for (const toml::node& rule : *rules) {
            const toml::table* table = rule.as_table();
            if (table == nullptr) fail(rule.source().begin.line, "a rule is a [[rule]] table");
            m_rules.push_back(RuleReader(m_name, *table).take());
        }
    }
}

#else

PackRules::PackRules(std::string name, const std::string&) : m_name(std::move(name))
{
    throw Failure{exitUnsupported,
                  "--rules: this build has no reader for TOML (toml++, libtomlplusplus-dev)"};
}

#endif

PackRules PackRules::fromFile(const std::string& path)
{
    const InputFile file(path);
    return PackRules(file.name(), file.readText(kMaxRulesBytes));
}

void PackRules::setKinds(const std::vector<std::string>& kinds)
{
    for (const std::string& text : kinds) {
        const size_t equals = text.find('=');
        const std::string kind = text.substr(0, equals);
        if (equals == std::string::npos || equals + 1 == text.size() || !isKindName(kind))
            throw Failure{exitUsage, "--kind " + printable(text) + ": is not KIND=GLOB with " +
                                         kKindList + " as KIND"};
        m_kinds.emplace_back(kind, text.substr(equals + 1));
    }
}

void PackRules::checkGlobs(const std::vector<ArchiveSource>& files) const
{
    for (const auto& [kind, glob] : m_kinds)
        if (std::none_of(files.begin(), files.end(),
                         [&, &pattern = glob](const ArchiveSource& file) {
                             return matchesPath(pattern, file.name);
                         }))
            throw Failure{exitUsage,
                          "--kind " + printable(kind + "=" + glob) + ": no name matches the glob"};
    for (const PackRule& rule : m_rules)
        for (const std::string& glob : rule.globs)
            if (std::none_of(files.begin(), files.end(), [&](const ArchiveSource& file) {
                    return matchesPath(glob, file.name);
                }))
                throw Failure{exitUsage, m_name + ":" + std::to_string(rule.line) +
                                             ": no name matches '" + printable(glob) + "'"};
}

AssetOptions PackRules::given(const std::string& name, AssetOptions options) const
{
    for (const auto& [kind, glob] : m_kinds)
        if (matchesPath(glob, name)) options.kind = kind;
    return options;
}

AssetOptions PackRules::optionsFor(const std::string& name, const AssetOptions& base) const
{
    AssetOptions options = given(name, base);
    for (const PackRule& rule : m_rules)
        if (matchOf(rule, name) != nullptr) apply(rule, options);
    return options;
}

std::string PackRules::explain(const std::string& name, const AssetOptions& all) const
{
    const AssetOptions base = given(name, all);
    const AssetOptions options = optionsFor(name, base);
    AssetOptions none;
    none.codec = "gstd";
    const Codec& codec = codecNamed(options.codec);
    std::string text;
    for (const RuleSetting& setting : kSettings) {
        if (setting.codecOption != 0 && (codec.options & setting.codecOption) == 0) continue;
        std::string origin = setting.text(base) == setting.text(none) ? "default" : "command line";
        for (const PackRule& rule : m_rules) {
            const std::string* glob = matchOf(rule, name);
            if (glob != nullptr && isSet(rule, setting))
                origin = m_name + ":" + std::to_string(rule.line) + ", files = \"" +
                         printable(*glob) + "\"";
        }
        text += formatText("%-14s %-10s (%s)\n", setting.name, setting.text(options).c_str(),
                           origin.c_str());
    }
    return text;
}

} // namespace sluice
