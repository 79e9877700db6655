// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds dispatches that conflict with an earlier dispatch of the same command buffer without a
// barrier in between. Synchronization validation cannot find these, because it does not see memory
// that is accessed through device addresses.
#pragma once

#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include <sluice/sluice_vulkan.h>

#include "formats/integers.h"

namespace sluice {

class BarrierCheck {
public:
    void begin() { m_pending.clear(); }

    // Processes one call of a SluiceVulkanRecorder. Returns a description of the first conflict, or
    // "" if there is none.
    std::string record(const char* kernel, const SluiceVulkanAccess* ranges, uint32_t count)
    {
        if (ranges == nullptr && count == 0) {
            m_pending.clear(); // a barrier
            return "";
        }
        std::string conflict;
        for (uint32_t i = 0; i < count && conflict.empty(); ++i) {
            for (const Pending& earlier : m_pending) {
                if ((ranges[i].write != 0 || earlier.access.write != 0) &&
                    overlap(ranges[i], earlier.access)) {
                    conflict = std::string("no barrier: ") + kernel + verb(ranges[i]) +
                               "memory that " + earlier.kernel + verb(earlier.access) + "(range " +
                               std::to_string(i) + ")";
                    break;
                }
            }
        }
        for (uint32_t i = 0; i < count; ++i)
            m_pending.push_back({kernel, ranges[i]});
        return conflict;
    }

private:
    struct Pending {
        std::string kernel;
        SluiceVulkanAccess access;
    };

    static const char* verb(const SluiceVulkanAccess& access)
    {
        return access.write != 0 ? " writes " : " reads ";
    }

    static bool overlap(const SluiceVulkanAccess& a, const SluiceVulkanAccess& b)
    {
        return a.address < b.address ? b.address - a.address < a.size
                                     : a.address - b.address < b.size;
    }

    std::vector<Pending> m_pending; // the accesses since the last barrier
};

} // namespace sluice
