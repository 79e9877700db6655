// SPDX-License-Identifier: MIT OR Apache-2.0
// The test cases that the registry's rows name. Hot reload and the tool run them. Each case runs
// commands on a device through the public API alone, and returns all specified results as words, so
// that the words of two devices can be compared. A kernel that does nothing, flips one bit of its
// output or is right only for the first 4 KiB must give different words. So every output, list and
// plan is longer than 8 KiB, and every mode, type and kind of data has its own output.
#pragma once

#include <map>
#include <string>

#include "selftest/buffers.h"
#include "vulkan/registry.h"

namespace sluice::selftest {

// Tiles for a decoder. Addresses are offsets from the beginning of source and destination.
struct TileList {
    Bytes source;
    std::vector<SluiceRegion> regions;
    Words checksums;
    uint64_t outputSize = 0;

    // Adds a tile that decodes, or claims to decode, to `size` bytes.
    void add(const Bytes& stream, uint64_t size, uint32_t checksum);
    // Adds `count` empty regions.
    void addEmpty(uint32_t count);
    // Adds `count` regions of `list` again, each with its own output.
    void repeat(const TileList& list, size_t first, size_t count);
};

class SelfTestCases {
public:
    // Appends the results to `out`. UNSUPPORTED means that the device cannot run the case.
    SluiceStatus run(SelfTestCase which, SluiceDevice device, Words& out);

    // Runs the case on the device and on the CPU reference. `difference` receives a text that says
    // which word differs first; it is empty if no word differs.
    SluiceStatus compare(SelfTestCase which, SluiceDevice device, std::string& difference);

private:
    // Runs one case. There is one specialization per case, which the registry's table declares.
    template <SelfTestCase Which>
    void test(CaseBuffers& on);
    const TileList& gdeflateTiles(SluiceStatus& status);
    const TileList& gstdTiles(SluiceStatus& status);

    TileList m_gdeflate, m_gstd;            // made when first needed
    std::map<SelfTestCase, Words> m_wanted; // the CPU's result words of each case
};

#define SLUICE_CASE(name, ...)                                                                     \
    template <>                                                                                    \
    void SelfTestCases::test<SelfTestCase::name>(CaseBuffers & on);
SLUICE_SELF_TESTS(SLUICE_CASE)
#undef SLUICE_CASE

// A row of the registry's table of cases.
struct SelfTestRow {
    SelfTestCase which;
    const char* kernel;
    uint32_t kernels;
    uint32_t checksum;
};
#define SLUICE_CASE(name, ...) {SelfTestCase::name, __VA_ARGS__},
constexpr SelfTestRow kSelfTests[] = {SLUICE_SELF_TESTS(SLUICE_CASE)};
#undef SLUICE_CASE

// Returns the kernels (SluiceKernels) that a context needs for a case.
uint32_t kernelsOf(SelfTestCase which);

} // namespace sluice::selftest
