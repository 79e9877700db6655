// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/script.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace viewer {

namespace {

using Line = std::vector<std::string>; // words of a line; each brace is a line of its own

// Returns the lines of a script as words in lower case, without comments.
std::vector<Line> linesOf(const std::string& text)
{
    std::vector<Line> lines;
    Line line;
    std::string word;
    const auto endWord = [&] {
        if (!word.empty()) line.push_back(std::move(word));
        word.clear();
    };
    const auto endLine = [&] {
        endWord();
        if (!line.empty()) lines.push_back(std::move(line));
        line.clear();
    };
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (text.compare(i, 2, "//") == 0) {
            i = std::min(text.find('\n', i), text.size());
            endLine();
        } else if (text.compare(i, 2, "/*") == 0) {
            const size_t end = text.find("*/", i + 2);
            i = end == std::string::npos ? text.size() : end + 1;
            endWord();
        } else if (c == '\n' || c == '\r') {
            endLine();
        } else if (c == '{' || c == '}') {
            endLine();
            lines.push_back({std::string(1, c)});
        } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == 0) {
            endWord();
        } else if (c != '"') {
            word += char(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    endLine();
    return lines;
}

struct Stage {
    std::string texture;
    Cover cover = Cover::opaque;
};

Cover coverOf(const Line& line)
{
    const std::string& source = line[1];
    if (source == "add") return Cover::added;
    if (source == "blend") return Cover::blended;
    if (source == "filter") return Cover::filtered;
    if (line.size() < 3) return Cover::opaque;
    if (source == "gl_one" && line[2] == "gl_zero") return Cover::opaque;
    if (source == "gl_dst_color" || line[2] == "gl_src_color") return Cover::filtered;
    if (source == "gl_src_alpha" && line[2] == "gl_one_minus_src_alpha") return Cover::blended;
    return Cover::added;
}

// Reads materials. A material shows the first of its stages that has an image, with that stage's
// cover. If a lightmap stage comes before that stage, its blending applies to the lightmap and not
// to what is behind the surface, so the material is opaque unless it is masked.
class Reader {
public:
    void take(const Line& line)
    {
        if (line[0] == "surfaceparm" && line.size() > 1) {
            m_isHidden = m_isHidden || line[1] == "sky" || line[1] == "nodraw";
        } else if (line[0] == "skyparms") {
            m_isHidden = true;
        } else if ((line[0] == "map" || line[0] == "clampmap") && line.size() > 1) {
            m_stage.texture = line[1];
        } else if (line[0] == "animmap" && line.size() > 2) {
            m_stage.texture = line[2];
        } else if (line[0] == "alphafunc") {
            m_stage.cover = Cover::masked;
        } else if (line[0] == "blendfunc" && line.size() > 1 && m_stage.cover != Cover::masked) {
            m_stage.cover = coverOf(line);
        } else if (line[0] == "qer_editorimage" && line.size() > 1) {
            m_editorTexture = line[1];
        }
    }
    void endStage()
    {
        if (m_stage.texture == "$lightmap") m_hasLightmap = true;
        const bool isImage = !m_stage.texture.empty() && m_stage.texture[0] != '$';
        if (isImage && m_first.texture.empty()) {
            m_first = m_stage;
            if (m_hasLightmap && m_first.cover != Cover::masked) m_first.cover = Cover::opaque;
        }
        m_stage = {};
    }
    Material result(const std::string& name) const
    {
        if (m_isHidden) return {};
        if (!m_first.texture.empty()) return {textureName(m_first.texture), m_first.cover};
        return {textureName(m_editorTexture.empty() ? name : m_editorTexture), Cover::opaque};
    }

private:
    Stage m_stage, m_first;
    std::string m_editorTexture;
    bool m_isHidden = false, m_hasLightmap = false;
};

} // namespace

std::string textureName(std::string path)
{
    for (char& c : path)
        c = c == '\\' ? '/' : char(std::tolower(static_cast<unsigned char>(c)));
    const size_t dot = path.rfind('.'), slash = path.rfind('/');
    if (dot != std::string::npos && (slash == std::string::npos || dot > slash)) path.resize(dot);
    return path;
}

void readScript(const std::string& text, Materials& materials)
{
    std::string name;
    Reader reader;
    uint32_t depth = 0;
    for (const Line& line : linesOf(text)) {
        if (line[0] == "{") {
            if (++depth == 1) reader = {};
        } else if (line[0] == "}") {
            if (depth == 2) reader.endStage();
            if (depth == 1 && !name.empty()) materials[name] = reader.result(name);
            depth -= depth != 0 ? 1 : 0;
        } else if (depth == 0) {
            name = textureName(line[0]);
        } else {
            reader.take(line);
        }
    }
}

} // namespace viewer
