// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds missing barriers: places where two dispatches of a command buffer touch the same memory, at
// least one of them writes, and no barrier is between them. Synchronization validation cannot find
// these, because it does not see memory that is accessed through device addresses.
#pragma once

#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include <sluice/sluice_vulkan.h>

#include "formats/integers.h"

namespace sluice {

// Looks for missing barriers in one command buffer at a time.
class BarrierCheck {
public:
    // Begins a command buffer.
    void begin() { m_pending.clear(); }

    // Takes the arguments of one call of a SluiceVulkanRecorder: a dispatch of `kernel` with the
    // `count` ranges of memory that it reads or writes, or a barrier, which has no ranges. Returns
    // a description of the first conflict, or "" if there is none.
    std::string record(const char* kernel, const SluiceVulkanAccess* ranges, uint32_t count)
    {
        if (ranges == nullptr && count == 0) {
            // This is a barrier.
            m_pending.clear();
            return "";
        }
        std::string conflict;
        for (uint32_t i = 0; i < count && conflict.empty(); ++i) {
            for (const Pending& earlier : m_pending) {
                if ((ranges[i].write != 0 || earlier.access.write != 0) &&
                    overlap(ranges[i], earlier.access) && !isShared(ranges[i], earlier.access)) {
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
    // An access of an earlier dispatch.
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

    // Returns whether this is one range that two chains of commands share. That is no conflict,
    // because each chain writes bytes of its own in it. Chain 0 means no chain.
    static bool isShared(const SluiceVulkanAccess& a, const SluiceVulkanAccess& b)
    {
        return a.chain != 0 && b.chain != 0 && a.chain != b.chain && a.address == b.address &&
               a.size == b.size;
    }

    std::vector<Pending> m_pending; // all accesses since the last barrier
};

} // namespace sluice
