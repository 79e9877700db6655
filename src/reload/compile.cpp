// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reload/compile.h"

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

namespace sluice::dev {

namespace {

namespace fs = std::filesystem;

bool isFile(const std::string& path)
{
    std::error_code error;
    return fs::is_regular_file(path, error);
}

bool readText(const std::string& path, std::string& text)
{
    std::ifstream stream(path, std::ios::binary);
    if (!stream || !isFile(path)) return false;
    text.assign(std::istreambuf_iterator<char>(stream), {});
    return !stream.bad();
}

// Returns the paths at which `header` is looked for, in this order. includer: the including file.
std::vector<std::string> placesOf(const std::string& header, const std::string& includer,
                                  const std::vector<std::string>& folders)
{
    std::vector<std::string> places = {(fs::path(includer).parent_path() / header).string()};
    for (const std::string& folder : folders)
        places.push_back((fs::path(folder) / header).string());
    return places;
}

class Includer final : public glslang::TShader::Includer {
public:
    explicit Includer(const std::vector<std::string>& folders) : m_folders(folders) {}

    IncludeResult* includeLocal(const char* header, const char* includer, size_t depth) override
    {
        if (depth > 64) return nullptr; // a file includes itself
        for (const std::string& place : placesOf(header, includer, m_folders)) {
            auto text = std::make_unique<std::string>();
            if (!readText(place, *text)) continue;
            auto result =
                std::make_unique<IncludeResult>(fs::path(place).lexically_normal().generic_string(),
                                                text->data(), text->size(), text.get());
            text.release();
            return result.release();
        }
        return nullptr;
    }

    IncludeResult* includeSystem(const char* header, const char* includer, size_t depth) override
    {
        return includeLocal(header, includer, depth);
    }

    void releaseInclude(IncludeResult* result) override
    {
        if (!result) return;
        delete static_cast<std::string*>(result->userData);
        delete result;
    }

private:
    const std::vector<std::string>& m_folders;
};

// Returns the errors of glslang's log, one per line, as "file:line: text". glslang writes "ERROR: "
// before each, and at the end summaries ("ERROR: 2 compilation errors. ..."), which are left out.
std::string errorLines(const char* log, const std::string& root)
{
    std::string result;
    std::stringstream stream(log);
    for (std::string line; std::getline(stream, line);) {
        if (line.rfind("ERROR: ", 0) != 0 || line.find("compilation errors") != std::string::npos)
            continue;
        line.erase(0, 7);
        if (!root.empty() && line.rfind(root, 0) == 0) line.erase(0, root.size());
        result += (result.empty() ? "" : "\n") + line;
    }
    return result.empty() ? log : result;
}

bool stageOf(const std::string& file, EShLanguage& stage)
{
    struct Known {
        const char* extension;
        EShLanguage stage;
    };
    constexpr Known stages[] = {{".comp", EShLangCompute},     {".vert", EShLangVertex},
                                {".frag", EShLangFragment},    {".geom", EShLangGeometry},
                                {".tesc", EShLangTessControl}, {".tese", EShLangTessEvaluation}};
    for (const Known& known : stages) {
        if (fs::path(file).extension() == known.extension) {
            stage = known.stage;
            return true;
        }
    }
    return false;
}

// Returns the file that an #include line names; empty for any other line.
std::string includedBy(const std::string& line)
{
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') return {};
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) return {};
    const size_t open = line.find_first_of("\"<", at);
    if (open == std::string::npos) return {};
    const size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
    return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

void addFiles(const std::string& file, const std::vector<std::string>& folders,
              std::set<std::string>& files)
{
    constexpr size_t most = 10000; // limit for files that include each other by ever longer paths
    std::string text;
    if (files.size() > most || !files.insert(normalizedPath(file)).second || !readText(file, text))
        return;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        const std::string header = includedBy(line);
        if (header.empty()) continue;
        const std::vector<std::string> places = placesOf(header, file, folders);
        bool found = false;
        for (size_t i = 0; i < places.size() && !found; ++i) {
            found = isFile(places[i]);
            if (found) addFiles(places[i], folders, files);
        }
        for (size_t i = 0; i < places.size() && !found; ++i)
            files.insert(normalizedPath(places[i]));
    }
}

} // namespace

std::string normalizedPath(const std::string& path)
{
    std::error_code error;
    const fs::path normal = fs::absolute(path, error).lexically_normal();
    const fs::path folder = fs::weakly_canonical(normal.parent_path(), error);
    fs::path result = (error ? normal.parent_path() : folder) / normal.filename();
    return result.make_preferred().string();
}

bool isShaderFile(const std::string& file)
{
    EShLanguage stage;
    return stageOf(file, stage);
}

std::set<std::string> filesOf(const ShaderSource& source)
{
    std::set<std::string> files;
    addFiles(source.file, source.folders, files);
    return files;
}

Compiled compileShader(const ShaderSource& source)
{
    Compiled result;
    std::string text;
    EShLanguage stage;
    if (!stageOf(source.file, stage) || !readText(source.file, text)) {
        result.errors =
            errorLines(("ERROR: " + source.file + ":1: cannot read the file").c_str(), source.root);
        return result;
    }
    std::string preamble = "#extension GL_GOOGLE_include_directive : enable\n";
    for (const std::string& define : source.defines) {
        const size_t equals = define.find('=');
        preamble += "#define " + define.substr(0, equals);
        if (equals != std::string::npos) preamble += " " + define.substr(equals + 1);
        preamble += "\n";
    }

    glslang::InitializeProcess(); // glslang counts these calls: each needs a FinalizeProcess
    {
        glslang::TShader shader(stage);
        const char* strings[] = {text.data()};
        const int lengths[] = {int(text.size())};
        const char* names[] = {source.file.c_str()};
        shader.setStringsWithLengthsAndNames(strings, lengths, names, 1);
        shader.setPreamble(preamble.c_str());
        shader.setEntryPoint("main");
        shader.setEnvInput(glslang::EShSourceGlsl, stage, glslang::EShClientVulkan, 100);
        shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_2);
        shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_5);
        Includer includer(source.folders);
        const auto messages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
        glslang::TProgram program;
        if (!shader.parse(GetDefaultResources(), 100, false, messages, includer)) {
            result.errors = errorLines(shader.getInfoLog(), source.root);
        } else {
            program.addShader(&shader);
            if (!program.link(messages)) {
                result.errors = errorLines(program.getInfoLog(), source.root);
            } else {
                glslang::SpvOptions options;
                options.disableOptimizer = true; // compile as glslangValidator does without -Os
                glslang::GlslangToSpv(*program.getIntermediate(stage), result.words, &options);
                result.ok = !result.words.empty();
            }
        }
    }
    glslang::FinalizeProcess();
    return result;
}

} // namespace sluice::dev
