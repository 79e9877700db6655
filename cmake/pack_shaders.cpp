// SPDX-License-Identifier: MIT OR Apache-2.0
// A program of the build: packs the variants of one shader into a header.
//
//   sluice_pack_shaders KERNEL OUT.h VARIANT[@ID:VALUE,...]=FILE.spv...
//
// The header has the packed bytes as KERNEL_packed, and a row of the table of shader_code.cpp for
// each variant; ids and values are of the specialization constants that a module has fixed.
// src/vulkan/shader_packing.h says how they are packed. The variant that most devices take comes
// first, because those after it are unpacked with it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "../src/vulkan/shader_packing.h"

namespace {

using namespace sluice;
using Words = std::vector<uint32_t>;
using Bytes = std::vector<uint8_t>;

Words readModule(const std::string& path)
{
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) throw std::runtime_error(path + " cannot be read");
    Words words;
    uint8_t bytes[4];
    size_t size = 0;
    while ((size = std::fread(bytes, 1, 4, file)) == 4)
        words.push_back(uint32_t(bytes[0]) | uint32_t(bytes[1]) << 8 | uint32_t(bytes[2]) << 16 |
                        uint32_t(bytes[3]) << 24);
    std::fclose(file);
    if (size != 0 || words.size() < kModuleHeaderWords || words[0] != 0x07230203)
        throw std::runtime_error(path + " is no SPIR-V module of this byte order");
    return words;
}

uint32_t codeOf(uint32_t word, uint32_t newest, uint32_t opcode)
{
    const uint32_t distance = zigzag(newest - word);
    // A word's code is its distance from the newest value, or the word itself. Values are mostly
    // used soon after they are computed, so small distances repeat often, and compress well. Of the
    // limits tried, a quarter of the word gave the smallest files.
    if (distance < word / 4 && distance < 1u << 31) return distance << 1 | 1;
    if (word >= 1u << 31)
        throw std::runtime_error("an operand of instruction " + std::to_string(opcode) +
                                 " has no code: is it one for isPlain in shader_packing.h?");
    return word << 1;
}

void appendCodes(const Words& module, Words& codes)
{
    codes.insert(codes.end(), module.begin(), module.begin() + kModuleHeaderWords);
    uint32_t newest = 0;
    for (size_t at = kModuleHeaderWords; at < module.size();) {
        const uint32_t length = module[at] >> 16, opcode = module[at] & 0xffff;
        if (length == 0 || length > module.size() - at)
            throw std::runtime_error("a module ends within an instruction");
        const uint32_t result = resultPlace(opcode) < length ? resultPlace(opcode) : 0;
        const uint32_t before = newest;
        if (result != 0) newest = module[at + result];
        codes.push_back(module[at]);
        for (uint32_t i = 1; i < length; ++i) {
            const uint32_t word = module[at + i];
            if (i == result)
                codes.push_back(zigzag(word - before));
            else
                codes.push_back(isPlain(opcode) ? word : codeOf(word, newest, opcode));
        }
        at += length;
    }
}

uint32_t numberSize(uint32_t value)
{
    uint32_t size = 1;
    for (; value >= 0x80; value >>= 7)
        ++size;
    return size;
}

void putNumber(Bytes& bytes, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        bytes.push_back(uint8_t(value | 0x80));
    bytes.push_back(uint8_t(value));
}

struct Match {
    uint32_t length = 0; // 0: a literal
    uint32_t distance = 0;
};

// For each place the matches that are longer than all nearer ones.
class MatchFinder {
public:
    explicit MatchFinder(const Words& codes)
        : m_codes(codes), m_head(size_t(1) << kHashBits, kNone), m_previous(codes.size(), kNone)
    {
    }

    void find(uint32_t at, std::vector<Match>& matches)
    {
        matches.clear();
        if (at + 2 > m_codes.size()) return;
        uint32_t& head = m_head[hash(at)];
        uint32_t longest = 1;
        uint32_t tries = 256;
        for (uint32_t from = head; from != kNone && tries != 0; from = m_previous[from], --tries) {
            const uint32_t length = lengthOf(from, at);
            if (length <= longest) continue;
            longest = length;
            matches.push_back({length, at - from});
        }
        m_previous[at] = head;
        head = at;
    }

private:
    static constexpr uint32_t kNone = UINT32_MAX, kHashBits = 18, kMaxLength = 4096;

    uint32_t hash(uint32_t at) const
    {
        return (m_codes[at] * 2654435761u ^ m_codes[at + 1] * 2246822519u) >> (32 - kHashBits);
    }

    uint32_t lengthOf(uint32_t from, uint32_t at) const
    {
        uint32_t length = 0;
        while (at + length < m_codes.size() && length < kMaxLength &&
               m_codes[from + length] == m_codes[at + length])
            ++length;
        return length;
    }

    const Words& m_codes;
    Words m_head, m_previous;
};

// Chooses a literal or a match at each place so that all codes from there on take the fewest bytes.
// The byte of a token is counted with its match.
std::vector<Match> chooseMatches(const Words& codes)
{
    const uint32_t count = uint32_t(codes.size());
    std::vector<std::vector<Match>> found(count);
    MatchFinder finder(codes);
    for (uint32_t at = 0; at < count; ++at)
        finder.find(at, found[at]);
    std::vector<uint32_t> cost(size_t(count) + 1, 0);
    std::vector<Match> best(count);
    for (uint32_t at = count; at-- > 0;) {
        cost[at] = numberSize(codes[at]) + cost[at + 1];
        for (const Match& match : found[at]) {
            // A match of more than 64 codes is tried whole, a shorter one at every length.
            for (uint32_t length = match.length > 64 ? match.length : 2; length <= match.length;
                 ++length) {
                const uint32_t rest = length < 17 ? 0 : numberSize(length - 17);
                const uint32_t with = 1 + rest + numberSize(match.distance) + cost[at + length];
                if (with >= cost[at]) continue;
                cost[at] = with;
                best[at] = {length, match.distance};
            }
        }
    }
    return best;
}

Bytes packCodes(const Words& codes)
{
    const std::vector<Match> matches = chooseMatches(codes);
    Bytes bytes;
    for (size_t at = 0; at < codes.size();) {
        const size_t first = at;
        while (at < codes.size() && matches[at].length == 0)
            ++at;
        const uint32_t literals = uint32_t(at - first);
        const bool isEnd = at == codes.size();
        const uint32_t length = isEnd ? 0 : matches[at].length - 2;
        bytes.push_back(uint8_t(std::min(literals, 15u) << 4 | std::min(length, 15u)));
        if (literals >= 15) putNumber(bytes, literals - 15);
        for (size_t i = first; i < at; ++i)
            putNumber(bytes, codes[i]);
        if (isEnd) break;
        if (length >= 15) putNumber(bytes, length - 15);
        putNumber(bytes, matches[at].distance);
        at += matches[at].length;
    }
    return bytes;
}

struct Variant {
    std::string name;
    std::string constants; // as an initializer of PipelineConstants
    Words words;
    uint32_t firstWord = 0;
};

void writeHeader(const std::string& path, const std::string& kernel, const Bytes& packed,
                 const std::vector<Variant>& variants)
{
    std::string text =
        "// Generated by sluice_pack_shaders.\nstatic const uint8_t " + kernel + "_packed[] = {";
    for (size_t i = 0; i < packed.size(); ++i)
        text += (i % 32 == 0 ? "\n" : "") + std::to_string(packed[i]) + ",";
    text += "};\nstatic const ShaderRow " + kernel + "_rows[] = {\n";
    for (const Variant& one : variants)
        text += "    {\"" + kernel + "\", ShaderVariant::" + one.name + ", {" + kernel +
                "_packed, sizeof(" + kernel + "_packed), " + std::to_string(one.firstWord) + ", " +
                std::to_string(one.words.size()) + "}, " + one.constants + "},\n";
    text += "};\n";
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) throw std::runtime_error(path + " cannot be written");
    const bool isWritten = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (std::fclose(file) != 0 || !isWritten) {
        std::remove(path.c_str());
        throw std::runtime_error(path + " cannot be written");
    }
}

// "0:64,3:true" is "{{{0, 64}, {3, true}}, 2}".
std::string initializerOf(const std::string& constants)
{
    std::string text;
    int count = 0;
    for (size_t at = 0; at < constants.size();) {
        const size_t end = std::min(constants.find(',', at), constants.size());
        const size_t colon = constants.find(':', at);
        if (colon == std::string::npos || colon >= end)
            throw std::runtime_error(constants + " is no list of ID:VALUE");
        text += (count++ == 0 ? "{" : ", {") + constants.substr(at, colon - at) + ", " +
                constants.substr(colon + 1, end - colon - 1) + "}";
        at = end + 1;
    }
    return "{{" + text + "}, " + std::to_string(count) + "}";
}

void pack(const std::string& kernel, const std::string& output, char** files, int count)
{
    std::vector<Variant> variants;
    Words codes;
    for (int i = 0; i < count; ++i) {
        const std::string argument = files[i];
        const size_t equals = argument.find('=');
        if (equals == std::string::npos) throw std::runtime_error(argument + " is no VARIANT=FILE");
        Variant one;
        const size_t nameEnd = std::min(argument.find('@'), equals);
        one.name = argument.substr(0, nameEnd);
        one.constants = initializerOf(
            nameEnd == equals ? "" : argument.substr(nameEnd + 1, equals - nameEnd - 1));
        one.words = readModule(argument.substr(equals + 1));
        const auto same = std::find_if(variants.begin(), variants.end(),
                                       [&](const Variant& v) { return v.words == one.words; });
        one.firstWord = same != variants.end() ? same->firstWord : uint32_t(codes.size());
        if (same == variants.end()) appendCodes(one.words, codes);
        variants.push_back(one);
    }
    const Bytes packed = packCodes(codes);
    for (const Variant& one : variants) {
        Words back(one.words.size());
        if (!unpackShader({packed.data(), packed.size(), one.firstWord, uint32_t(back.size())},
                          back.data()) ||
            back != one.words)
            throw std::runtime_error(one.name + " does not come back as it was");
    }
    writeHeader(output, kernel, packed, variants);
}

} // namespace

int main(int count, char** arguments)
{
    if (count < 4) {
        std::fprintf(
            stderr, "usage: sluice_pack_shaders KERNEL OUT.h VARIANT[@ID:VALUE,...]=FILE.spv...\n");
        return 1;
    }
    try {
        pack(arguments[1], arguments[2], arguments + 3, count - 3);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "sluice_pack_shaders: %s: %s\n", arguments[1], failure.what());
        return 1;
    }
    return 0;
}
