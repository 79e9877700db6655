// SPDX-License-Identifier: MIT OR Apache-2.0
// A device on which single members of its tuning row can be read and changed, and which measures
// time.
#pragma once

#include "api/tuning_text.h"
#include "tools/common/device.h"
#include "tools/sluice/tune/tune_work.h"
#include "vulkan/traits.h"

namespace sluice {

struct TuneTraits {
    bool isVulkan = false;
    bool isGpu = false;
    uint32_t processors = 0; // 0: the driver does not say
    uint32_t subgroupSize = 0;
    DeviceTraits vulkan;             // Vulkan only
    bool hasDependentLaunch = false; // CUDA only: compute capability 9.0
};

class TuneDevice : public ToolDevice {
public:
    // `row` replaces values of the device's tuning, by a line "NAME=VALUE" each. `kernels` is a set
    // of SluiceKernels. Throws a Failure.
    TuneDevice(const DeviceOptions& options, uint32_t kernels, const std::string& row);

    const TuneTraits& traits() const { return m_traits; }

    const std::vector<TuningField>& fields() const { return m_fields; }
    const TuningField* field(const std::string& name) const; // null: there is no such field
    uint32_t value(const TuningField& field) const;
    void set(const TuningField& field, uint32_t value);
    // scanTile returns how many elements a tile of a scan has, compactCallTile those of a
    // compaction by compact_call.comp (0 if the device does not use that shader).
    uint32_t scanTile() const;
    uint32_t compactCallTile() const;

    // Returns the milliseconds of one run of the work, by the device's clock if it has one.
    // `passes` runs are timed together.
    double time(const Work& work, uint32_t length, uint32_t passes) const;

private:
    template <typename Function>
    void withBackend(const Function& function) const;

    TuneTraits m_traits;
    std::vector<TuningField> m_fields;
};

} // namespace sluice
