// SPDX-License-Identifier: MIT OR Apache-2.0
// The tests that the registry's pipelines name. Each fills its commands, runs them on a device
// through the public API alone and returns everything that is specified of the results, so that the
// words of two devices can be compared. Hot reload and the tool run them. They are made so that a
// kernel that does nothing, flips one bit of its output or is right for the first 4 KiB only gives
// other words: every output, list and plan is longer than 8 KiB, and every mode, type and kind of
// data has output of its own.
#pragma once

#include <map>
#include <string>

#include "selftest/buffers.h"
#include "vulkan/registry.h"

namespace sluice::selftest {

// Tiles for a decoder, whose addresses count from the begin of source and destination.
struct TileList {
    Bytes source;
    std::vector<SluiceRegion> regions;
    Words checksums;
    uint64_t outputSize = 0;

    // A tile that decodes to `size` bytes, or is said to.
    void add(const Bytes& stream, uint64_t size, uint32_t checksum);
    // `count` regions that are no tiles.
    void addEmpty(uint32_t count);
    // The regions once more, with output of their own.
    void repeat(const TileList& list, size_t first, size_t count);
};

class SelfTestCases {
public:
    // Appends the results to `out`. UNSUPPORTED: the device has nothing that could run the case.
    SluiceStatus run(SelfTestCase which, SluiceDevice device, Words& out);

    // Runs it on the CPU reference too. difference: the first word that differs, as a text; empty
    // if none.
    SluiceStatus compare(SelfTestCase which, SluiceDevice device, std::string& difference);

private:
    // Each case has one, which the registry's table declares.
    template <SelfTestCase Which>
    void test(CaseBuffers& on);
    const TileList& gdeflateTiles(SluiceStatus& status);
    const TileList& gstdTiles(SluiceStatus& status);

    TileList m_gdeflate, m_gstd;            // made when they are first wanted
    std::map<SelfTestCase, Words> m_wanted; // the CPU's words of a case
};

#define SLUICE_CASE(name, ...)                                                                     \
    template <>                                                                                    \
    void SelfTestCases::test<SelfTestCase::name>(CaseBuffers & on);
SLUICE_SELF_TESTS(SLUICE_CASE)
#undef SLUICE_CASE

// What the registry's table says of the cases, in its order.
struct SelfTestRow {
    SelfTestCase which;
    const char* kernel;
    uint32_t kernels;
    uint32_t checksum;
};
#define SLUICE_CASE(name, ...) {SelfTestCase::name, __VA_ARGS__},
constexpr SelfTestRow kSelfTests[] = {SLUICE_SELF_TESTS(SLUICE_CASE)};
#undef SLUICE_CASE

// What a context needs for a case (SluiceKernels).
uint32_t kernelsOf(SelfTestCase which);

} // namespace sluice::selftest
