// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what a test needs to run on any device: the device under test, and buffers with guard
// zones.
//
// Test cases in the suite "device" run once for every (device, tier) pair, against device(); all
// others run once, on the host. Environment:
//   SLUICE_TEST_DEVICES     comma-separated: "host" (tests without a device), or DEV or DEV/TIER
//                           with DEV as in SluiceDeviceInfo::selector; default: host and every
//                           device with every tier
//   SLUICE_TEST_VALIDATION  0, 1 (default) or 2: SluiceDeviceInfo::validation. With 2 every access
//                           searches a list of ranges in a loop; on lavapipe, which leaves all
//                           loops after 65,535 iterations, large tiles then fail with false
//                           reports: leave them out with -tce=*golden*,*worst*
//   SLUICE_TEST_SUMMARY     a file that gets one line for each pair: "pair: DEVICE TIER passed N
//                           failed N" or "pair: DEVICE TIER not run: REASON"
//   SLUICE_MUTATIONS        mutated tiles for each pair (default 100), mutated units and headers on
//                           the host (10,000); 5 times as many random Zstandard frames and 30 times
//                           as many mutated ones, 500 and 3,000 at least
//   SLUICE_TEST_LARGE       1: also the cases of buffers above 4 GiB, which take up to 17 GiB of
//                           device memory each
//   SLUICE_TEST_TUNING      SluiceDeviceInfo::tuning of every device; the pair's name gets "+tuned"
//   SLUICE_TEST_SHADERS     a folder of SHADER.VARIANT.spv that Vulkan devices take instead of the
//                           library's own; a device that can use none of them is not tested, and
//                           the run fails
//   SLUICE_SEED             seed of everything random (default 1)
#pragma once

#include <sluice/sluice_device.h>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace sluice::test {

using Bytes = std::vector<uint8_t>;
using Words = std::vector<uint32_t>;

// Holds an opened device with one of its tiers, with barrier checks and validation.
class Device {
public:
    // tuning: SluiceDeviceInfo::tuning; NULL: SLUICE_TEST_TUNING.
    Device(const std::string& selector, const std::string& tier, uint32_t validation,
           uint32_t kernels = SLUICE_KERNELS_ALL, const char* tuning = nullptr);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    bool isOpen() const { return m_handle != nullptr; }
    const std::string& openError() const { return m_error; }
    SluiceDevice get() const { return m_handle; }
    SluiceContext context() const { return sluiceGetDeviceContext(m_handle); }
    SluiceBackend backend() const { return info().backend; }
    SluiceContextInfo info() const;
    const std::string& selector() const { return m_opened; } // as the constructor was given it
    // Has a line for each shader of SLUICE_TEST_SHADERS that was replaced.
    const std::string& replacedShaders() const { return m_replacedShaders; }

    // Begins, records, submits and waits. The test fails on any error and on any message of a layer
    // or of the barrier checker.
    void run(const std::function<void(SluiceCommands)>& record);
    void checkMessages();
    // Closes the device now, so that takeMessages also returns what validation says about that.
    void close();
    std::string takeMessages();

private:
    std::string m_opened;
    SluiceDevice m_handle = nullptr;
    std::string m_error;
    std::string m_replacedShaders;
    std::string m_messages;
};

// Says why a test case, or the rest of it, cannot run here. The case then does not count as passed.
void skipCase(const char* reason);
bool takeSkippedCase(); // returns whether the last case was skipped, and forgets it
// SwiftShader needs minutes to compile some pipelines that tests make anew, and to decode many
// lists with Zstandard frames, though such cases test what is the same on every device. Returns
// true if the case shall be skipped for this in a short run; skipCase has then been called.
bool skipsSlowCompiler();

// While this object lives, the device plans its commands with these members of its tuning. So a few
// elements are shared out to workgroups as many would be. Members that pipelines depend on are not
// possible. Only the row for the device's own backend is used.
class PlannedBy {
public:
    PlannedBy(Device& device, const char* vulkanRow, const char* cudaRow);
    ~PlannedBy();
    PlannedBy(const PlannedBy&) = delete;
    PlannedBy& operator=(const PlannedBy&) = delete;

private:
    Device& m_device;
    std::string m_before;
};

// While this object lives, a look-back polls a tile that has published nothing `polls` times before
// it computes the tile's value itself. 0: it never waits. SLUICE_LOOKBACK_NEVER: it reads no state
// at all. kUsualPolls changes nothing.
constexpr uint32_t kUsualPolls = 0xfffffffeu;
class LookbackPolls : public PlannedBy {
public:
    LookbackPolls(Device& device, uint32_t polls);
};

// Returns whether the device under test is a software device, on which large tests are slow.
bool isSoftware();

// Returns how many elements of 4 bytes a workgroup of a reduction takes at a time.
uint32_t reduceTileElements(Device& device);

// Sums and compactions of at least so many elements of 4 bytes use rings of tiles, which wait for
// the tiles before them. 0: this device never does.
uint32_t scanRingElements(Device& device);
uint32_t compactRingElements(Device& device);

// Returns the device under test. Only cases of the suite "device" have one.
Device& device();
void setDevice(Device* current);

// Device memory between two guard zones. Bytes that are not uploaded are poison; downloading checks
// the guard zones.
class Buffer {
public:
    Buffer(Device& device, uint64_t size);
    Buffer(Device& device, const Bytes& content);
    Buffer(Device& device, const Words& content);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    SluiceBuffer range() const;
    uint64_t address() const;
    uint64_t size() const { return m_contentSize; }
    Bytes bytes();
    Words words();

    static constexpr uint8_t kPoison = 0xA7;

private:
    void allocate(const void* content, uint64_t size);

    Device& m_owner;
    SluiceBuffer m_whole = {};
    uint64_t m_contentSize = 0;
};

// Makes scratch as required. Its bytes are poison, or zero if that is required.
Buffer makeScratch(Device& device, const SluiceRequirements& requirements);

// Runs one command with the scratch that it requires, and checks that required zeros are zeros
// again afterwards. A command that requires none gets what the info holds. Returns the
// requirements.
template <typename Info>
SluiceRequirements
runWithScratch(Device& device, Info info,
               SluiceStatus (*getRequirements)(SluiceContext, const Info*, SluiceRequirements*),
               SluiceStatus (*command)(SluiceContext, SluiceCommands, const Info*))
{
    SluiceRequirements requirements = {};
    REQUIRE(getRequirements(device.context(), &info, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(device, requirements);
    if (requirements.scratchSize != 0) info.scratch = scratch.range();
    device.run([&](SluiceCommands commands) {
        REQUIRE(command(device.context(), commands, &info) == SLUICE_OK);
    });
    const Bytes left = scratch.bytes(); // this also checks the guard zones
    if (requirements.zeroedScratch != 0) CHECK((left == Bytes(left.size())));
    return requirements;
}

// Returns whether the device may have different kernels for few and for many tiles.
bool hasKernelsByCount(const Device& device);

// Returns a list's memory as bytes, for a Buffer.
template <typename T>
Bytes bytesOf(const std::vector<T>& list)
{
    Bytes bytes(list.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), list.data(), bytes.size());
    return bytes;
}

// Returns the number in an environment variable, or `otherwise`.
uint32_t environmentNumber(const char* name, uint32_t otherwise);
// Returns a generator whose seed comes from SLUICE_SEED and from a number of the test's own.
std::mt19937 makeRandom(uint32_t salt);

} // namespace sluice::test
