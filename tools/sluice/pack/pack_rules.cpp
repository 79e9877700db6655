// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/pack_rules.h"

#include <algorithm>
#include <functional>

#include "tools/common/archive_writer.h"
#include "tools/sluice/pack/block_encoder.h"
#include "tools/common/codecs.h"
#include "tools/common/files.h"
#include "tools/common/glob.h"

#if SLUICE_HAVE_TOML
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>
#endif

namespace sluice {
namespace {

// The options of a file that rules may set, in the order in which --explain lists them.
struct Setting {
    const char* name; // name in the file of rules
    std::function<std::string(const AssetOptions&)> text;
    std::function<bool(const PackRule&)> isSet;
    uint32_t codecOption; // the codecs that take it; 0: all
};

const std::vector<Setting>& settings()
{
    const auto number = [](uint32_t value) { return std::to_string(value); };
    const auto truth = [](bool value) { return std::string(value ? "true" : "false"); };
    static const std::vector<Setting> all = {
        {"codec", [](const AssetOptions& o) { return o.codec; },
         [](const PackRule& r) { return r.codec.has_value(); }, 0},
        {"level", [=](const AssetOptions& o) { return number(o.level); },
         [](const PackRule& r) { return r.level.has_value(); }, kLevelOption},
        {"decode-speed", [=](const AssetOptions& o) { return number(o.decodeSpeed); },
         [](const PackRule& r) { return r.decodeSpeed.has_value(); }, kDecodeSpeedOption},
        {"copy-depth",
         [=](const AssetOptions& o) { return number(o.copyDepth != 0 ? o.copyDepth : 4); },
         [](const PackRule& r) { return r.copyDepth.has_value(); }, kCopyDepthOption},
        {"tile-size", [=](const AssetOptions& o) { return number(gstdTileBytes(o) / 1024); },
         [](const PackRule& r) { return r.tileKib.has_value(); }, kTileSizeOption},
        {"filters", [](const AssetOptions& o) { return o.filters; },
         [](const PackRule& r) { return r.filters.has_value(); }, kFiltersOption},
        {"images", [=](const AssetOptions& o) { return truth(o.images); },
         [](const PackRule& r) { return r.images.has_value(); }, 0},
        {"bc", [](const AssetOptions& o) { return o.bc; },
         [](const PackRule& r) { return r.bc.has_value(); }, 0},
        {"mips", [=](const AssetOptions& o) { return truth(o.mips); },
         [](const PackRule& r) { return r.mips.has_value(); }, 0},
        {"share", [=](const AssetOptions& o) { return truth(o.share); },
         [](const PackRule& r) { return r.share.has_value(); }, 0},
    };
    return all;
}

void apply(const PackRule& rule, AssetOptions& options)
{
    options.codec = rule.codec.value_or(options.codec);
    options.filters = rule.filters.value_or(options.filters);
    options.level = rule.level.value_or(options.level);
    options.decodeSpeed = rule.decodeSpeed.value_or(options.decodeSpeed);
    options.copyDepth = rule.copyDepth.value_or(options.copyDepth);
    options.tileKib = rule.tileKib.value_or(options.tileKib);
    options.images = rule.images.value_or(options.images);
    options.bc = rule.bc.value_or(options.bc);
    options.mips = rule.mips.value_or(options.mips);
    options.share = rule.share.value_or(options.share);
}

// Returns the first of the rule's globs that matches the name; null if none does.
const std::string* matchOf(const PackRule& rule, const std::string& name)
{
    const auto found =
        std::find_if(rule.globs.begin(), rule.globs.end(),
                     [&](const std::string& glob) { return matchesPath(glob, name); });
    return found == rule.globs.end() ? nullptr : &*found;
}

#if SLUICE_HAVE_TOML

// Reads one [[rule]].
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
        if (key == "codec") return readText(key, node, m_rule.codec);
        if (key == "filters") return readText(key, node, m_rule.filters);
        if (key == "bc") return readText(key, node, m_rule.bc);
        if (key == "level") return readNumber(key, node, 1, 12, m_rule.level);
        if (key == "decode-speed")
            return readNumber(key, node, 0, SLUICE_GDEFLATE_MAX_DECODE_SPEED, m_rule.decodeSpeed);
        if (key == "copy-depth")
            return readNumber(key, node, 1, SLUICE_GSTD_MAX_DEPTH, m_rule.copyDepth);
        if (key == "tile-size") return readNumber(key, node, 64, 256, m_rule.tileKib);
        if (key == "images") return readTruth(key, node, m_rule.images);
        if (key == "mips") return readTruth(key, node, m_rule.mips);
        if (key == "share") return readTruth(key, node, m_rule.share);
        std::string known = "files";
        for (const Setting& setting : settings())
            known += std::string(", ") + setting.name;
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

    void readText(const std::string& key, const toml::node& node, std::optional<std::string>& to)
    {
        if (!node.is_string()) fail(node.source().begin.line, key + " is a string");
        to = node.value<std::string>();
        const uint32_t line = node.source().begin.line;
        if (key == "bc") checkBlocks(line, *to);
        if (key != "filters") return;
        try {
            checkFilterList(*to);
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

    void readNumber(const std::string& key, const toml::node& node, int64_t least, int64_t most,
                    std::optional<uint32_t>& to)
    {
        const auto value = node.value<int64_t>();
        if (!node.is_integer() || !value || *value < least || *value > most)
            fail(node.source().begin.line,
                 formatText("%s is a number from %lld to %lld", key.c_str(),
                            static_cast<long long>(least), static_cast<long long>(most)));
        to = uint32_t(*value);
    }

    void readTruth(const std::string& key, const toml::node& node, std::optional<bool>& to)
    {
        if (!node.is_boolean()) fail(node.source().begin.line, key + " is true or false");
        to = node.value<bool>();
    }

    // Checks that the codec exists, is allowed in archives and takes the rule's other options.
    void checkCodec() const
    {
        if (!m_rule.codec) return;
        const Codec* codec =
            std::find_if(std::begin(kCodecs), std::end(kCodecs), [&](const Codec& c) {
                return c.plan != nullptr && *m_rule.codec == c.name;
            });
        if (codec == std::end(kCodecs)) {
            std::string known;
            for (const Codec& one : kCodecs)
                if (one.plan != nullptr)
                    known += (known.empty() ? "" : ", ") + std::string(one.name);
            fail(m_rule.line, "codec '" + printable(*m_rule.codec) + "' is none of " + known);
        }
        for (const Setting& setting : settings())
            if (setting.codecOption != 0 && setting.isSet(m_rule) &&
                (codec->options & setting.codecOption) == 0)
                fail(m_rule.line,
                     std::string(setting.name) + " is without effect for codec " + codec->name);
    }

    const std::string& m_file;
    PackRule m_rule;
};

// Returns the same rules in ASCII: any other character becomes a question mark in a comment and an
// escape in a string "...". toml++ 3.3 needs this, because it terminates the program at some
// characters in the many places where it looks for white space. Sets `stray` to the line of the
// first character that cannot be replaced, because TOML or the rules do not allow it there, or of
// the first bytes that are not UTF-8; 0 if there is none.
std::string inAscii(const std::string& text, uint32_t& stray)
{
    // Rules have no dotted keys, and toml++ uses stack for each part of one.
    constexpr uint32_t kMostDots = 16; // in one line
    uint32_t dots = 0;
    enum class In {
        plain,
        comment,
        string, // "..."
        other   // strings without escapes, or of several lines
    } in = In::plain;
    std::string ascii, end; // `end` is what ends `other`
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
            ++i; // also copies the escaped character
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

void PackRules::checkGlobs(const std::vector<ArchiveSource>& files) const
{
    for (const PackRule& rule : m_rules)
        for (const std::string& glob : rule.globs)
            if (std::none_of(files.begin(), files.end(), [&](const ArchiveSource& file) {
                    return matchesPath(glob, file.name);
                }))
                throw Failure{exitUsage, m_name + ":" + std::to_string(rule.line) +
                                             ": no name matches '" + printable(glob) + "'"};
}

AssetOptions PackRules::optionsFor(const std::string& name, const AssetOptions& base) const
{
    AssetOptions options = base;
    for (const PackRule& rule : m_rules)
        if (matchOf(rule, name) != nullptr) apply(rule, options);
    return options;
}

std::string PackRules::explain(const std::string& name, const AssetOptions& base) const
{
    const AssetOptions options = optionsFor(name, base);
    AssetOptions none;
    none.codec = "gstd";
    const Codec& codec = codecNamed(options.codec);
    std::string text;
    for (const Setting& setting : settings()) {
        if (setting.codecOption != 0 && (codec.options & setting.codecOption) == 0) continue;
        std::string origin = setting.text(base) == setting.text(none) ? "default" : "command line";
        for (const PackRule& rule : m_rules) {
            const std::string* glob = matchOf(rule, name);
            if (glob != nullptr && setting.isSet(rule))
                origin = m_name + ":" + std::to_string(rule.line) + ", files = \"" +
                         printable(*glob) + "\"";
        }
        text += formatText("%-14s %-10s (%s)\n", setting.name, setting.text(options).c_str(),
                           origin.c_str());
    }
    return text;
}

} // namespace sluice
