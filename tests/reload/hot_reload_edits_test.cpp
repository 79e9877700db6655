// SPDX-License-Identifier: MIT OR Apache-2.0
// Edits every shader of the folder so that its result is wrong, in three ways that keep its
// interface: main does nothing; one bit of the output is flipped; only the first 4 KiB of each
// buffer are right. Hot reload must refuse each edit, and then take the good text again.
#include "tests/reload/hot_reload_program.h"
#include "test_paths.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "api/components.h"
#include "api/plan_zstd.h"
#include "reload/test_device.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// Returns the shader's text with includes and macros expanded.
std::string preprocessed(const fs::path& folder, const std::string& shader,
                         const std::string& defines)
{
    const std::string command = std::string(SLUICE_GLSLANG) + " -E " + defines + " -I" +
                                folder.string() + " " + (folder / (shader + ".comp")).string();
    std::string text;
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    for (int character; (character = std::fgetc(pipe)) != EOF;)
        text.push_back(static_cast<char>(character));
    REQUIRE(pclose(pipe) == 0);
    // #line with names of files needs an extension, so these lines are dropped.
    std::string result;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (line.rfind("#line", 0) != 0 && !line.empty()) result += line + "\n";
    return result;
}

// Holds the tokens of preprocessed GLSL and what the edits must know: types of buffer references,
// variables of such types, and the addresses among the push constants.
class Source {
public:
    explicit Source(const std::string& text) : m_text(text)
    {
        split();
        readDeclarations();
    }

    std::string doingNothing() const { return replaced("main", "kernelMain") + "void main() {}\n"; }
    // Returns a text that flips one bit of what is stored `at` bytes after the beginning of a
    // buffer.
    std::string flipped(uint32_t at) const
    {
        return edited(
                   [this](const Access& a, const std::string& value) {
                       const bool byte = a.type.find("int8_t") != std::string::npos;
                       const std::string wrong =
                           byte ? a.type + "(wrongByte(uint(" + value + "), " + a.place + "))"
                                : "wrongBits(" + value + ", " + a.place + ")";
                       return text(a) + " = " + wrong + ";";
                   },
                   nullptr) +
               helpers(at);
    }
    // Returns a text that stores only into the first 4 KiB of a buffer.
    std::string rightAtFirst() const
    {
        return edited(
                   [this](const Access& a, const std::string& value) {
                       return "{ if (rightPlace(" + a.place + ")) " + text(a) + " = " + value +
                              "; }";
                   },
                   nullptr) +
               helpers(0);
    }
    // Returns a text, for kernels with a short output, that reads zeros after the first 4 KiB of
    // the input.
    std::string readingAtFirst() const
    {
        return edited(nullptr,
                      [this](const Access& a) {
                          const bool known =
                              a.type == "uint" || a.type == "uvec2" || a.type == "uvec4";
                          return known ? "(rightPlace(" + a.place + ") ? " + text(a) + " : " +
                                             a.type + "(0u))"
                                       : text(a);
                      }) +
               helpers(0);
    }

private:
    struct Token {
        size_t begin, end;
    };
    struct Member {
        std::string type;
        uint32_t offset, stride;
    };
    struct Block {
        bool isReadonly = false;
        std::map<std::string, Member> members;
    };
    struct Access {        // an access to a member of a buffer
        size_t begin, end; // numbers of tokens; `end` is not part of it
        std::string type, place;
    };

    std::string word(size_t token) const
    {
        if (token >= m_tokens.size()) return {};
        return m_text.substr(m_tokens[token].begin, m_tokens[token].end - m_tokens[token].begin);
    }
    std::string text(size_t begin, size_t end) const
    {
        return begin == end ? ""
                            : m_text.substr(m_tokens[begin].begin,
                                            m_tokens[end - 1].end - m_tokens[begin].begin);
    }
    std::string text(const Access& a) const { return text(a.begin, a.end); }

    void split()
    {
        static const std::array<std::string, 16> operators = {
            "<<=", ">>=", "==", "<=", ">=", "!=", "+=", "-=",
            "*=",  "/=",  "|=", "&=", "^=", "<<", ">>", "++"};
        const auto isName = [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
        };
        for (size_t at = 0; at < m_text.size();) {
            size_t end = at + 1;
            // A directive of the preprocessor.
            if (m_text[at] == '#' && (at == 0 || m_text[at - 1] == '\n')) {
                at = m_text.find('\n', at);
                continue;
            }
            if (std::isspace(static_cast<unsigned char>(m_text[at]))) {
                ++at;
                continue;
            }
            if (isName(m_text[at])) {
                while (end < m_text.size() && isName(m_text[end]))
                    ++end;
            } else {
                for (const std::string& one : operators)
                    if (m_text.compare(at, one.size(), one) == 0)
                        end = std::max(end, at + one.size());
            }
            m_tokens.push_back({at, end});
            at = end;
        }
    }

    // Returns the number of the token after the bracket that closes the one at `open`.
    size_t behind(size_t open) const
    {
        const std::string opening = word(open), closing = opening == "("   ? ")"
                                                          : opening == "[" ? "]"
                                                                           : "}";
        size_t depth = 0, at = open;
        do {
            if (word(at) == opening) ++depth;
            if (word(at) == closing) --depth;
            ++at;
        } while (depth != 0 && at < m_tokens.size());
        return at;
    }

    void readBlock(size_t at) // `at`: the token "buffer" of "buffer NAME {"
    {
        Block block;
        for (size_t back = at; back > 0 && word(back) != ")"; --back)
            if (word(back) == "readonly") block.isReadonly = true;
        uint32_t offset = 0;
        const size_t end = behind(at + 2);
        for (size_t t = at + 3; t + 1 < end;) {
            while (word(t) == "coherent" || word(t) == "volatile" || word(t) == "readonly")
                ++t;
            const std::map<std::string, uint32_t> sizes = {
                {"uint", 4}, {"uvec2", 8}, {"uvec4", 16}, {"int8_t", 1}, {"uint8_t", 1}};
            const std::string type = word(t), name = word(t + 1);
            if (sizes.count(type) == 0) break;
            const uint32_t size = sizes.at(type);
            t += 2;
            uint32_t count = 1;
            if (word(t) == "[") {
                count = static_cast<uint32_t>(std::atoi(word(t + 1).c_str()));
                t = behind(t);
            }
            offset = (offset + size - 1) / size * size;
            block.members[name] = {type, offset, size};
            offset += size * count;
            ++t; // skips the semicolon
        }
        m_blocks[word(at + 1)] = block;
    }

    void readDeclarations()
    {
        for (size_t t = 0; t < m_tokens.size(); ++t)
            if (word(t) == "buffer" && word(t + 2) == "{") readBlock(t);
        std::string pushed; // the name of the structure of push constants
        for (size_t t = 0; t < m_tokens.size(); ++t) {
            const std::string next = word(t + 2);
            if (m_blocks.count(word(t)) != 0 &&
                (next == "=" || next == ";" || next == "," || next == ")"))
                m_variables[word(t + 1)][t] = word(t);
            if (word(t) == "push_constant") {
                while (word(t) != "{")
                    ++t;
                pushed = word(t + 1);
                m_push = word(t + 2);
            }
        }
        for (size_t t = 0; t < m_tokens.size(); ++t) {
            if (word(t) != "struct" || word(t + 1) != pushed) continue;
            for (size_t m = t + 3; word(m) != "}"; ++m)
                if (word(m) == "uvec2") m_addresses.push_back(word(m + 1));
        }
    }

    // Returns whether an access begins at token t and, if so, tells about it.
    bool accessAt(size_t t, Access& access, bool& isReadonly) const
    {
        std::string type;
        size_t at = t + 1;
        const std::string before = t == 0 ? "" : word(t - 1);
        if (m_blocks.count(word(t)) != 0 && word(at) == "(") {
            type = word(t);
            at = behind(at);
        } else if (m_variables.count(word(t)) != 0 && before != ".") {
            const std::map<size_t, std::string>& declared = m_variables.at(word(t));
            const auto next = declared.upper_bound(t);
            if (next != declared.begin()) type = std::prev(next)->second;
        }
        if (type.empty() || word(at) != ".") return false;
        const Block& block = m_blocks.at(type);
        const auto member = block.members.find(word(at + 1));
        if (member == block.members.end()) return false;
        std::string more = std::to_string(member->second.offset) + "u";
        const std::string reference = text(t, at);
        at += 2;
        if (word(at) == "[") {
            const size_t end = behind(at);
            more += " + " + std::to_string(member->second.stride) + "u * uint(" +
                    text(at + 1, end - 1) + ")";
            at = end;
        }
        access = {t, at, member->second.type, "uvec2(" + reference + "), " + more};
        isReadonly = block.isReadonly;
        return true;
    }

    // Returns the text with stores replaced by what `store` returns, or loads by what `load` does.
    // The other one is nullptr.
    template <typename Store, typename Load>
    std::string edited(Store store, Load load) const
    {
        std::string result;
        size_t copied = 0;
        for (size_t t = 0; t < m_tokens.size(); ++t) {
            Access access;
            bool isReadonly = false;
            if (!accessAt(t, access, isReadonly)) continue;
            std::string with;
            size_t end = access.end;
            if constexpr (!std::is_null_pointer_v<Store>) {
                if (isReadonly || word(end) != "=") continue;
                while (word(end) != ";")
                    end = word(end) == "(" || word(end) == "[" ? behind(end) : end + 1;
                with = store(access, text(access.end + 1, end));
                // The semicolon is replaced, too: the new text is one statement, so `if` and `else`
                // keep their meaning.
                ++end;
            } else {
                if (!isReadonly) continue;
                with = load(access);
            }
            result += m_text.substr(copied, m_tokens[t].begin - copied) + with;
            copied = m_tokens[end - 1].end;
            t = end - 1;
        }
        return declared(result + m_text.substr(copied));
    }

    std::string replaced(const std::string& name, const std::string& with) const
    {
        std::string result;
        size_t copied = 0;
        for (size_t t = 0; t < m_tokens.size(); ++t) {
            if (word(t) != name) continue;
            result += m_text.substr(copied, m_tokens[t].begin - copied) + with;
            copied = m_tokens[t].end;
        }
        return result + m_text.substr(copied);
    }

    // The helper functions are declared at the beginning; they are defined after the push
    // constants.
    static std::string declared(const std::string& text)
    {
        const size_t at = text.find('\n', text.find("#version")) + 1;
        return text.substr(0, at) +
               "uint wrongBits(uint value, uvec2 base, uint more);\n"
               "uvec2 wrongBits(uvec2 value, uvec2 base, uint more);\n"
               "uvec4 wrongBits(uvec4 value, uvec2 base, uint more);\n"
               "uint wrongByte(uint value, uvec2 base, uint more);\n"
               "bool rightPlace(uvec2 base, uint more);\n" +
               text.substr(at);
    }
    std::string helpers(uint32_t at) const
    {
        std::string text = "uint bufferOffset(uvec2 base, uint more) {\n"
                           "    uint carry, low = uaddCarry(base.x, more, carry), best = ~0u;\n"
                           "    uint high = base.y + carry;\n";
        for (const std::string& address : m_addresses) {
            const std::string from = m_push + "." + address;
            text += "    if (" + from + " != uvec2(0u) && high - " + from + ".y - uint(low < " +
                    from + ".x) == 0u) best = min(best, low - " + from + ".x);\n";
        }
        const std::string place = std::to_string(at) + "u";
        return text +
               "    return best;\n}\n"
               "uint wrongBits(uint value, uvec2 base, uint more) {\n"
               "    uint at = bufferOffset(base, more);\n"
               "    bool here = at <= " +
               place + " && " + place +
               " - at < 4u;\n"
               "    return here ? value ^ 1u << 8u * (" +
               place +
               " - at) : value;\n}\n"
               "uvec2 wrongBits(uvec2 value, uvec2 base, uint more) {\n"
               "    return uvec2(wrongBits(value.x, base, more),\n"
               "                 wrongBits(value.y, base, more + 4u));\n}\n"
               "uvec4 wrongBits(uvec4 value, uvec2 base, uint more) {\n"
               "    return uvec4(wrongBits(value.xy, base, more),\n"
               "                 wrongBits(value.zw, base, more + 8u));\n}\n"
               "uint wrongByte(uint value, uvec2 base, uint more) {\n"
               "    return bufferOffset(base, more) == " +
               place +
               " ? value ^ 1u : value;\n}\n"
               "bool rightPlace(uvec2 base, uint more) {\n"
               "    uint at = bufferOffset(base, more);\n"
               "    return at < 4096u || at == ~0u;\n}\n";
    }

    std::string m_text;
    std::vector<Token> m_tokens;
    std::map<std::string, Block> m_blocks;
    // Holds for the name of a variable the tokens of its declarations, each with the type of buffer
    // that is declared there.
    std::map<std::string, std::map<size_t, std::string>> m_variables;
    std::string m_push;
    std::vector<std::string> m_addresses;
};

std::string definesOf(const DeviceTraits& device)
{
    if (device.isEmulated()) return "-DSLUICE_EMU";
    std::string defines = device.subgroupSize < 32 ? "-DSLUICE_NARROW " : "";
    const bool ext = device.variant == ShaderVariant::ext ||
                     device.variant == ShaderVariant::extNarrow ||
                     device.variant == ShaderVariant::extInt64;
    if (ext) defines += "-DSLUICE_EXT ";
    if (device.variant == ShaderVariant::extInt64) defines += "-DSLUICE_INT64";
    return defines;
}

// Returns whether the backend has a pipeline of the shader.
bool isUsed(const VulkanBackend& backend, const std::string& shader)
{
    SluiceContextInfo info = {};
    backend.contextInfo(info);
    for (const Pipeline pipeline : AllPipelines()) {
        const PipelineRow& row = pipelineRow(pipeline);
        const bool byDriver = row.selfTest == SelfTestCase::gdeflate_by_driver;
        if (shader == row.shader && backend.pipelines().has(pipeline) &&
            (!byDriver || info.driverRegionLimit != 0))
            return true;
    }
    return false;
}

} // namespace

TEST_CASE("a wrong edit of any shader is refused, and the good text is taken again")
{
    Program program(kBuiltKernels);
    const VulkanBackend& backend = *dev::vulkanBackend(program.context());
    const std::string defines = definesOf(backend.traits());
    // These kernels have an output of one element.
    const std::set<std::string> shortOutputs = {"reduce", "reduce64"};
    // These kernels write only scratch, of which few bytes matter. A bit is flipped in a word of
    // the self-test's first block, or in its first literals. Its first region has one block.
    SluiceZstdInfo first = {};
    first.maxRegionCount = 19;
    first.regionsAtOnce = 2;
    first.maxRegionSize = 24000;
    first.maxBlocks = 64;
    const auto block =
        uint32_t(zstdPoolOffset(first, ZstdTuning{first.maxRegionSize, 0, 1, kZstdSteps}));
    const std::map<std::string, uint32_t> scratchPlaces = {
        {"zstd_walk", block + 4 * SLUICE_ZS_BLOCK_SIZE},
        {"zstd_sequences", block + 4 * SLUICE_ZS_BLOCK_TAKEN},
        {"zstd_place", block + 4 * SLUICE_ZS_BLOCK_BEGIN},
        {"zstd_literals", block + SLUICE_ZS_BLOCK_UNITS(1) * SLUICE_ZS_UNIT}};
    std::map<std::string, std::string> good;
    for (const fs::directory_entry& entry : fs::directory_iterator(program.folder))
        if (entry.path().extension() == ".comp")
            good[entry.path().stem().string()] = program.read(entry.path().filename().string());
    REQUIRE(good.size() > 20);

    // Most of the time is that of the driver's compiler. So short runs make one wrong edit of each
    // shader; with SLUICE_MUTATIONS of 1,000 or more all of them are made.
    const char* const edits[] = {"main does nothing", "one bit flipped",
                                 "right for the first 4 KiB", "good"};
    constexpr size_t kGood = 3;
    const char* const mutations = std::getenv("SLUICE_MUTATIONS");
    const size_t rounds = mutations != nullptr && std::atoi(mutations) >= 1000 ? kGood : 1;
    for (size_t round = 0; round <= rounds; ++round) {
        std::map<std::string, size_t> editOf;
        for (const auto& [shader, text] : good) {
            const size_t edit = round == rounds ? kGood : (editOf.size() + round) % kGood;
            editOf[shader] = edit;
            const bool isShort = shortOutputs.count(shader) != 0;
            const Source source(preprocessed(SLUICE_SHADER_DIR, shader, defines));
            const auto place = scratchPlaces.find(shader);
            const uint32_t flipped = isShort                        ? 0
                                     : place != scratchPlaces.end() ? place->second
                                                                    : 5000;
            program.write(shader + ".comp", edit == kGood ? text
                                            : edit == 0   ? source.doingNothing()
                                            : edit == 1   ? source.flipped(flipped)
                                            : isShort     ? source.readingAtFirst()
                                                          : source.rightAtFirst());
        }
        for (const auto& [shader, edit] : editOf) {
            const Event event = program.next(shader, 600);
            const std::string said = shader + ", " + edits[edit];
            CAPTURE(said);
            const SluiceReloadResult wanted = !isUsed(backend, shader) ? SLUICE_RELOAD_NOT_USED
                                              : edit == kGood          ? SLUICE_RELOAD_SWAPPED
                                                                       : SLUICE_RELOAD_WRONG_RESULT;
            CHECK_MESSAGE(event.result == wanted, event.text);
            MESSAGE(said << ": " << event.compileMilliseconds << " + " << event.selfTestMilliseconds
                         << " ms " << event.text);
        }
    }
    CHECK(program.quiet());
    CHECK(program.scan() == 776);
}
