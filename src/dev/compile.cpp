// SPDX-License-Identifier: MIT OR Apache-2.0
#include "compile.h"

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

namespace sluice::dev {

namespace {

bool readText(const std::string& path, std::string& text)
{
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return false;
    text.assign(std::istreambuf_iterator<char>(stream), {});
    return !stream.bad();
}

std::string parentOf(const std::string& path)
{
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// "lib/../lib/scan.glsl" and "lib/scan.glsl" are one file.
std::string normalized(const std::string& path)
{
    std::vector<std::string> parts;
    std::stringstream stream(path);
    for (std::string part; std::getline(stream, part, '/');) {
        if (part.empty() || part == ".") continue;
        if (part == ".." && !parts.empty() && parts.back() != "..") {
            parts.pop_back();
        } else {
            parts.push_back(part);
        }
    }
    std::string result;
    for (const std::string& part : parts)
        result += (result.empty() ? "" : "/") + part;
    return result;
}

class Includer final : public glslang::TShader::Includer {
public:
    Includer(const std::string& folder, std::set<std::string>& files)
        : folder_(folder), files_(files)
    {
    }

    IncludeResult* includeLocal(const char* header, const char* includer, size_t depth) override
    {
        if (depth > 64) return nullptr; // a file that includes itself
        for (const std::string& from : {parentOf(includer), std::string(), std::string("lib/")}) {
            const std::string path = normalized(from + header);
            auto text = std::make_unique<std::string>();
            if (!readText(folder_ + "/" + path, *text)) continue;
            files_.insert(path);
            const std::string& kept = *text;
            auto result =
                std::make_unique<IncludeResult>(path, kept.data(), kept.size(), text.get());
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
    std::string folder_;
    std::set<std::string>& files_;
};

// glslang writes "ERROR: file:line: text", then summaries ("ERROR: 2 compilation errors. ..."),
// which are dropped.
std::string errorLines(const char* log)
{
    std::string result;
    std::stringstream stream(log);
    for (std::string line; std::getline(stream, line);) {
        if (line.rfind("ERROR: ", 0) != 0 || line.find("compilation errors") != std::string::npos)
            continue;
        result += (result.empty() ? "" : "\n") + line.substr(7);
    }
    return result.empty() ? log : result;
}

} // namespace

Compiled compileShader(const std::string& folder, const std::string& file,
                       const std::vector<std::string>& defines)
{
    Compiled result;
    result.files.insert(file);
    std::string text;
    if (!readText(folder + "/" + file, text)) {
        result.errors = file + ":1: cannot read the file";
        return result;
    }
    std::string preamble = "#extension GL_GOOGLE_include_directive : enable\n";
    for (const std::string& define : defines) {
        const size_t equals = define.find('=');
        preamble += "#define " + define.substr(0, equals);
        if (equals != std::string::npos) preamble += " " + define.substr(equals + 1);
        preamble += "\n";
    }

    glslang::InitializeProcess(); // counted; pairs with FinalizeProcess
    {
        glslang::TShader shader(EShLangCompute);
        const char* strings[] = {text.data()};
        const int lengths[] = {static_cast<int>(text.size())};
        const char* names[] = {file.c_str()};
        shader.setStringsWithLengthsAndNames(strings, lengths, names, 1);
        shader.setPreamble(preamble.c_str());
        shader.setEntryPoint("main");
        shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
        shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_2);
        shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_5);
        Includer includer(folder, result.files);
        const auto messages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
        glslang::TProgram program;
        if (!shader.parse(GetDefaultResources(), 100, false, messages, includer)) {
            result.errors = errorLines(shader.getInfoLog());
        } else {
            program.addShader(&shader);
            if (!program.link(messages)) {
                result.errors = errorLines(program.getInfoLog());
            } else {
                glslang::SpvOptions options;
                options.disableOptimizer = true; // as glslangValidator without -Os
                glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), result.words,
                                      &options);
                result.ok = !result.words.empty();
            }
        }
    }
    glslang::FinalizeProcess();
    return result;
}

} // namespace sluice::dev
