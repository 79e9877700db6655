// SPDX-License-Identifier: MIT OR Apache-2.0
// Reloads sluice's own kernels. It compiles a shader, compares its interface with the one that the
// host code was built for, creates its pipelines and tests each on a separate device. Then it swaps
// in all of them or none.
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
    // Reloads every shader that uses any of these files.
    void reload(const std::set<std::string>& changed, const SendEvent& send);
    void releaseOld();

private:
    struct Made { // a pipeline and its context
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
    bool m_lost = false; // the last test has lost the device
    SelfTest m_selfTest;
    std::map<std::string, std::set<std::string>> m_files; // the files of each shader
    std::mutex m_oldMutex;
    std::vector<VkPipeline> m_old;
};

} // namespace sluice::dev
