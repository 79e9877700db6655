// SPDX-License-Identifier: MIT OR Apache-2.0
// The names in this file are those of ambientCG, Poly Haven, Quixel, Poliigon, Substance, and of
// the conventions of Unreal, Unity, CryEngine, Source and idTech: "Bricks075A_1K-PNG_NormalGL.png",
// "rock_nor_gl_1k.png", "T_Rock_ORM.tga", "Wall_MetallicSmoothness.png".
#include "tools/sluice/pack/texture_kind.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "tools/common/tool.h"

namespace sluice {
namespace {

// Some words also stand in names of colour pictures. Such a word counts only with this proof.
enum class Proof {
    none,
    vectors, // the texels are normals
    grey,    // they are grey, or a resolution follows the word
    size     // a resolution follows the word: "metal_1k"
};

constexpr struct {
    std::string_view word;
    TextureKind kind;
    Proof proof;
} kWords[] = {
    {"n", TextureKind::normal, Proof::vectors},
    {"nm", TextureKind::normal, Proof::vectors},
    {"nml", TextureKind::normal, Proof::vectors},
    {"nor", TextureKind::normal, Proof::vectors},
    {"norm", TextureKind::normal, Proof::vectors},
    {"normal", TextureKind::normal, Proof::vectors},
    {"normals", TextureKind::normal, Proof::vectors},
    {"nrm", TextureKind::normal, Proof::vectors},
    {"nrml", TextureKind::normal, Proof::vectors},
    {"nmap", TextureKind::normal, Proof::vectors},
    {"ddn", TextureKind::normal, Proof::vectors},
    {"ddna", TextureKind::normal, Proof::vectors},
    {"local", TextureKind::normal, Proof::vectors},
    {"bump", TextureKind::data, Proof::none}, // unless it has normals
    {"ssbump", TextureKind::data, Proof::none},
    {"height", TextureKind::data, Proof::none},
    {"depth", TextureKind::data, Proof::grey},
    {"disp", TextureKind::data, Proof::none},
    {"displ", TextureKind::data, Proof::none},
    {"displace", TextureKind::data, Proof::none},
    {"displacement", TextureKind::data, Proof::none},
    {"parallax", TextureKind::data, Proof::none},
    {"rough", TextureKind::data, Proof::none},
    {"roughness", TextureKind::data, Proof::none},
    {"rgh", TextureKind::data, Proof::none},
    {"gloss", TextureKind::data, Proof::none},
    {"glossiness", TextureKind::data, Proof::none},
    {"smoothness", TextureKind::data, Proof::none},
    {"metallic", TextureKind::data, Proof::none},
    {"metallness", TextureKind::data, Proof::none},
    {"metalness", TextureKind::data, Proof::none},
    {"mtl", TextureKind::data, Proof::grey},
    {"met", TextureKind::data, Proof::grey},
    {"metal", TextureKind::data, Proof::size},
    {"ao", TextureKind::data, Proof::none},
    {"occ", TextureKind::data, Proof::none},
    {"occlusion", TextureKind::data, Proof::none},
    {"cavity", TextureKind::data, Proof::none},
    {"curvature", TextureKind::data, Proof::none},
    {"thickness", TextureKind::data, Proof::none},
    {"opacity", TextureKind::data, Proof::none},
    {"refl", TextureKind::data, Proof::grey},
    {"exponent", TextureKind::data, Proof::grey},
    {"transparency", TextureKind::data, Proof::grey},
    {"alpha", TextureKind::data, Proof::grey},
    {"mask", TextureKind::data, Proof::grey},
    {"maskmap", TextureKind::data, Proof::none},
    {"arm", TextureKind::data, Proof::size},
    {"orm", TextureKind::data, Proof::none},
    {"ormh", TextureKind::data, Proof::none},
    {"aorm", TextureKind::data, Proof::none},
    {"ord", TextureKind::data, Proof::none},
    {"ordp", TextureKind::data, Proof::none},
    {"rma", TextureKind::data, Proof::none},
    {"rmao", TextureKind::data, Proof::none},
    {"rom", TextureKind::data, Proof::none},
    {"mra", TextureKind::data, Proof::none},
    {"mrao", TextureKind::data, Proof::none},
    {"mro", TextureKind::data, Proof::none},
    {"mroh", TextureKind::data, Proof::none},
};

bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

// Cuts "Wall_01-NormalGL" into Wall, 01, Normal, GL.
std::vector<std::string> wordsOf(std::string stem)
{
    for (const char* const brand : {"DirectX", "OpenGL"}) { // each is one word
        const size_t at = stem.find(brand);
        if (at != std::string::npos)
            std::transform(&stem[at] + 1, &stem[at] + std::strlen(brand), &stem[at] + 1,
                           [](char c) { return char(std::tolower(static_cast<uint8_t>(c))); });
    }
    std::vector<std::string> words;
    bool begins = true;
    for (size_t i = 0; i < stem.size(); ++i) {
        const char c = stem[i], before = i != 0 ? stem[i - 1] : ' ',
                   after = i + 1 < stem.size() ? stem[i + 1] : ' ';
        if (!isUpper(c) && !isLower(c) && !isDigit(c)) {
            begins = true;
            continue;
        }
        const bool turn = (isUpper(c) && isLower(before)) ||
                          (isUpper(c) && isUpper(before) && isLower(after)) ||
                          (isDigit(c) && !isDigit(before));
        if (begins || turn || words.empty()) words.emplace_back();
        words.back() += c;
        begins = false;
    }
    return words;
}

// The last word of a name that says something about the kind: "normal" in "NormalGL_1K-PNG".
struct NameEnd {
    std::string word;       // the word in lower case
    std::string text;       // the word as it stands in the name
    bool hasSize = false;   // a resolution follows
    const char* green = ""; // where green points in normals, if the name says it
};

NameEnd endOf(const std::string& name)
{
    const std::string base = name.substr(name.rfind('/') + 1),
                      stem = base.substr(0, base.rfind('.'));
    std::vector<std::string> words = wordsOf(stem);
    NameEnd end;
    static constexpr std::string_view ignored[] = {"png", "jpg", "jpeg", "tga", "tif", "exr",
                                                   "lod", "var", "map",  "bit", "v"};
    while (words.size() > 1) {
        const std::string word = lower(words.back());
        const bool up = word == "gl" || word == "ogl" || word == "opengl",
                   down = word == "dx" || word == "directx" || word == "d3d";
        if (up) end.green = "OpenGL: green points up";
        if (down) end.green = "DirectX: green points down";
        const bool isNumber = isDigit(word[0]);
        if (isNumber && word.size() > 1 && (word.back() == 'k' || word.size() >= 3))
            end.hasSize = true;
        // "MaskMap" is a word of its own.
        const bool isMaskMap = word == "map" && lower(words[words.size() - 2]) == "mask";
        if (isMaskMap) {
            words.pop_back();
            words.back() += "Map";
            break;
        }
        if (!up && !down && !isNumber &&
            std::find(std::begin(ignored), std::end(ignored), word) == std::end(ignored))
            break;
        words.pop_back();
    }
    if (words.empty()) return end;
    end.text = words.back();
    end.word = lower(end.text);
    // In names without capitals, endings such as "gl" and "map" are part of the word: "normalgl".
    const auto strip = [&](std::string_view tail, const char* green) {
        if (end.word.size() <= tail.size() || end.word == "maskmap" ||
            end.word.compare(end.word.size() - tail.size(), tail.size(), tail) != 0)
            return;
        const std::string shorter = end.word.substr(0, end.word.size() - tail.size());
        const bool known = std::any_of(std::begin(kWords), std::end(kWords),
                                       [&](const auto& one) { return one.word == shorter; });
        if (!known || shorter.size() < 2) return;
        end.word = shorter;
        if (*green != 0) end.green = green;
    };
    strip("map", "");
    strip("opengl", "OpenGL: green points up");
    strip("ogl", "OpenGL: green points up");
    strip("gl", "OpenGL: green points up");
    strip("directx", "DirectX: green points down");
    strip("dx", "DirectX: green points down");
    return end;
}

// Returns whether nine texels in ten, at least, satisfy a condition.
template <typename Condition>
bool mostly(const Pixels& pixels, const Condition& holds)
{
    const size_t texels = pixels.rgba.size() / 4;
    size_t count = 0;
    for (size_t i = 0; i < texels; ++i)
        count += holds(&pixels.rgba[4 * i]) ? 1 : 0;
    return count >= texels - texels / 10;
}

bool hasNormals(const Pixels& pixels)
{
    return mostly(pixels, [](const uint8_t* texel) {
        int squares = 0;
        for (size_t c = 0; c < 3; ++c)
            squares += (2 * texel[c] - 255) * (2 * texel[c] - 255);
        constexpr int one = 255 * 255;
        return squares > one * 72 / 100 && squares < one * 132 / 100 && texel[2] >= 120;
    });
}

bool isGrey(const Pixels& pixels)
{
    return mostly(pixels, [](const uint8_t* texel) {
        constexpr int most = 8; // JPEG changes greys a little
        return std::abs(texel[0] - texel[1]) <= most && std::abs(texel[1] - texel[2]) <= most;
    });
}

} // namespace

bool isKindName(const std::string& name)
{
    return std::find(std::begin(kKindNames), std::end(kKindNames), name) != std::end(kKindNames);
}

KindChoice chooseKind(const std::string& name, const Pixels& pixels, const std::string& wanted)
{
    const NameEnd end = endOf(name);
    const std::string green = *end.green != 0 ? std::string(", ") + end.green : "";
    for (size_t i = 0; wanted != "auto" && i < std::size(kKindNames); ++i)
        if (wanted == kKindNames[i])
            return {TextureKind(i),
                    "by --kind or a rule" + (wanted == "normal" ? green : std::string())};
    const auto* const known = std::find_if(std::begin(kWords), std::end(kWords),
                                           [&](const auto& one) { return one.word == end.word; });
    if (known == std::end(kWords)) return {TextureKind::color, ""};
    const std::string said = "its name says '" + end.text + "'";
    // Some call normals a bump map.
    const bool maybeNormals = known->kind == TextureKind::normal || end.word == "bump";
    if (maybeNormals && hasNormals(pixels)) return {TextureKind::normal, said + green};
    switch (known->proof) {
    case Proof::none: return {known->kind, said};
    case Proof::vectors:
        return {TextureKind::color, "though " + said + ": its texels are no unit vectors"};
    case Proof::size:
        if (end.hasSize) return {known->kind, said + " and a resolution"};
        return {TextureKind::color, ""};
    case Proof::grey:
        if (end.hasSize || isGrey(pixels)) return {known->kind, said};
        return {TextureKind::color, "though " + said + ": its texels are not grey"};
    }
    return {TextureKind::color, ""};
}

} // namespace sluice
