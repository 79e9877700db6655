// SPDX-License-Identifier: MIT OR Apache-2.0
// The work that `sluice tune` measures: commands with made-up input, for lists of any length. Tests
// run the commands under odd tuning rows and compare the output with the CPU reference.
#pragma once

#include <sluice/sluice_device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace sluice {

struct WorkFailure : std::runtime_error {
    WorkFailure(SluiceStatus failed, const std::string& what)
        : std::runtime_error(what + ": " + sluiceGetStatusText(failed)), status(failed)
    {
    }
    SluiceStatus status;
};

inline void check(SluiceStatus status, const char* what)
{
    if (status != SLUICE_OK) throw WorkFailure(status, what);
}

// A command on a device, with its buffers. A length counts items of the kind that `unit` names.
class Work {
public:
    explicit Work(SluiceDevice on) : device(on) {}
    ~Work();
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    const SluiceDevice device;
    const char* unit = "elements";
    uint32_t most = 0;             // the longest possible list
    std::vector<uint32_t> lengths; // the possible lengths; empty: all up to `most`
    std::function<SluiceStatus(SluiceCommands commands, uint32_t length)> record;
    // A status word for each tile; size 0 if the command has none.
    SluiceBuffer status = {};

    // Uploads the inputs again, and fills the outputs with a pattern.
    void reset();
    // Returns what the command wrote: all outputs, one after the other, and buffers that it changes
    // in place. Throws if an input or a guard byte around any buffer has changed.
    std::vector<uint8_t> written() const;
    // Throws unless the first `length` tiles are OK.
    void checkStatus(uint32_t length) const;

    // The functions below are for code that makes a Work. Their buffers live as long as the Work,
    // and are aligned to 256 bytes.
    SluiceContext context() const { return sluiceGetDeviceContext(device); }
    SluiceBuffer input(const void* bytes, uint64_t size);
    template <typename T>
    SluiceBuffer input(const std::vector<T>& list)
    {
        return input(list.data(), list.size() * sizeof(T));
    }
    SluiceBuffer inPlace(const std::vector<uint32_t>& words);
    SluiceBuffer output(uint64_t size);
    SluiceBuffer tileStatus(); // a word for each of `most` tiles, then the summary
    uint64_t address(SluiceBuffer buffer) const { return sluiceGetAddress(device, buffer); }
    // Records a command with as much scratch as it needs for this `info`.
    template <typename Info, typename Asked>
    SluiceStatus withScratch(SluiceCommands commands, Info info, const Asked& asked,
                             SluiceStatus (*requirementsOf)(SluiceContext, const Asked*,
                                                            SluiceRequirements*),
                             SluiceStatus (*command)(SluiceContext, SluiceCommands, const Info*))
    {
        SluiceRequirements wanted = {};
        const SluiceStatus failed = requirementsOf(context(), &asked, &wanted);
        if (failed != SLUICE_OK) return failed;
        info.scratch = scratch(wanted);
        return command(context(), commands, &info);
    }
    template <typename Info, typename RequirementsOf, typename Command>
    SluiceStatus withScratch(SluiceCommands commands, const Info& info,
                             RequirementsOf requirementsOf, Command command)
    {
        return withScratch(commands, info, info, requirementsOf, command);
    }

private:
    struct Memory {
        SluiceBuffer whole; // with the guard bytes around it
        std::vector<uint8_t> content;
        uint64_t size;
        bool isWritten;
    };
    SluiceBuffer allocate(Memory memory);
    SluiceBuffer scratch(const SluiceRequirements& wanted);

    std::vector<Memory> m_memory;
    SluiceBuffer m_scratch = {};
};

inline SluiceBuffer first(SluiceBuffer buffer, uint64_t size)
{
    buffer.size = size;
    return buffer;
}

struct WorkLimits {
    uint64_t bytes;     // about how many bytes of device memory to use
    uint32_t tileBytes; // bytes that a tile decodes to, 4,096 to 65,536
};

struct WorkKind {
    const char* name;
    uint32_t kernels; // set of SluiceKernels
    std::unique_ptr<Work> (*make)(SluiceDevice device, const WorkLimits& limits);
};

const std::vector<WorkKind>& works();
std::vector<WorkKind> primitiveWorks();
std::vector<WorkKind> codecWorks();

class Random {
public:
    explicit Random(uint32_t seed) : m_state(seed * 2654435769u + 1) {}
    uint32_t operator()()
    {
        m_state = m_state * 1664525u + 1013904223u;
        return (m_state >> 16) * 0x9E3779B9u ^ m_state;
    }

private:
    uint32_t m_state;
};

} // namespace sluice
