// SPDX-License-Identifier: MIT OR Apache-2.0
// Reloads sluice's own kernels. It compiles a changed shader, compares its interface with that of
// the shader in the build, creates its pipelines, and tests them on a device of its own. If all
// pass, all are swapped into the program's context, otherwise none.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <sluice/sluice_dev.h>

#include "reload/compile.h"
#include "reload/self_test.h"
#include "reload/test_device.h"

namespace sluice::dev {

using SendEvent = std::function<void(const SluiceReloadEvent&)>;

class KernelReload {
public:
    ~KernelReload() { releaseOld(); }

    SluiceStatus start(const SluiceHotReloadInfo& info, const char*& error);
    // Reloads every shader that uses one of the changed files.
    void reload(const std::set<std::string>& changed, const SendEvent& send);
    void releaseOld();

private:
    struct Made { // a pipeline, and the context for which it was made
        VulkanBackend* backend;
        Pipeline pipeline;
        VkPipeline handle;
    };

    ShaderSource sourceOf(const std::string& shader) const;
    void reloadShader(const std::string& shader, const SendEvent& send);
    SluiceReloadResult testAndSwap(const std::string& shader, const ShaderCode& code,
                                   std::string& text);
    SluiceReloadResult test(const std::string& shader, const ShaderCode& code,
                            std::vector<Made>& replaced, std::string& text);
    SluiceReloadResult testGroup(const Pipelines& group, const ShaderCode& code,
                                 std::vector<Made>& replaced, std::string& text);
    SluiceReloadResult swap(const std::string& shader, const ShaderCode& code, std::string& text);
    bool isUsed(const std::string& shader) const;
    static bool make(VulkanBackend& backend, Pipeline pipeline, const ShaderCode& code,
                     std::vector<Made>& made, std::string& text);

    std::string m_folder, m_selector;
    VulkanBackend* m_program = nullptr; // the caller's context
    TestDevice m_device;
    bool m_lost = false; // the test device was lost in the last test
    SelfTest m_selfTest;
    std::map<std::string, std::set<std::string>> m_files; // for each shader: the files that it uses
    std::mutex m_oldMutex;
    std::vector<VkPipeline> m_old;
};

} // namespace sluice::dev
