// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests a device that has just been opened: lets each of its decoders decode tiles whose results
// are known.
#include "device/device.h"

#include <sluice/sluice_self_test.h>

namespace sluice {

#if SLUICE_HAVE_CODECS
namespace {

// The name of a decoder in error messages.
struct Name {
    uint32_t kernels;
    const char* name;
};
constexpr Name kNames[] = {{SLUICE_KERNELS_GDEFLATE_LINEAR, "GDeflate"},
                           {SLUICE_KERNELS_GSTD, "Gstd"},
                           {SLUICE_KERNELS_FLOAT, "the float codec"},
                           {SLUICE_KERNELS_FILTER, "filters"}};

// Device memory that is released when this object goes out of scope.
struct Memory {
    Device& device;
    SluiceBuffer buffer{};
    ~Memory()
    {
        if (buffer.handle != 0) device.release(buffer);
    }
};

} // namespace

SluiceStatus testDevice(Device& device, std::string& failed)
{
    SluiceSelfTestInfo info = {};
    info.kernels = SLUICE_KERNELS_ALL;
    SluiceSelfTestRequirements required = {};
    SluiceStatus status = sluiceGetSelfTestRequirements(device.context, &info, &required);
    if (status != SLUICE_OK || required.kernels == 0) return status;
    info.kernels = required.kernels;
    std::vector<uint8_t> bytes(size_t(required.memorySize));
    info.bytes = bytes.data();
    Memory memory{device};
    status = device.allocate(required.memorySize, memory.buffer);
    info.memory = memory.buffer;
    if (status == SLUICE_OK) status = sluiceWriteSelfTest(device.context, &info);
    if (status == SLUICE_OK) status = device.upload(info.memory, bytes.data(), bytes.size());
    SluiceCommands commands = nullptr;
    if (status == SLUICE_OK) status = device.begin(commands);
    // The recording has begun, so it must be submitted even if recording the test fails.
    if (status != SLUICE_OK) return status;
    const SluiceStatus recorded = sluiceCmdSelfTest(device.context, commands, &info);
    double milliseconds = 0;
    status = device.submit(commands, milliseconds);
    if (recorded != SLUICE_OK) status = recorded;
    if (status == SLUICE_OK) status = device.download(info.memory, bytes.data(), bytes.size());
    uint32_t kernels = 0;
    if (status == SLUICE_OK) status = sluiceReadSelfTest(device.context, &info, &kernels);
    for (const Name& one : kNames)
        if ((kernels & one.kernels) != 0)
            failed += (failed.empty() ? "" : ", ") + std::string(one.name);
    return status;
}
#else
// This build has no decoders, so there is nothing to test.
SluiceStatus testDevice(Device&, std::string&) { return SLUICE_OK; }
#endif

} // namespace sluice
