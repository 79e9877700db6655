// SPDX-License-Identifier: MIT OR Apache-2.0
// The *cases* of the self-test, which hot reload and the tool run. The registry's table
// (vulkan/pipeline_table.h) lists them. A case runs commands on a device through the public API
// alone. It returns as words all results that the specification fixes, so that the words of two
// devices can be compared.
//
// A case must find every faulty kernel: one that does nothing, one that flips a single bit, and one
// that is right only for the first 4 KiB. So every output, list and plan is longer than 8 KiB, and
// every mode, type and kind of data has an output of its own.
#pragma once

#include <map>
#include <string>

#include "selftest/buffers.h"
#include "vulkan/registry.h"

namespace sluice::selftest {

// A list of tiles for a decoder. Addresses in `regions` are offsets from the start of the source or
// the destination.
struct TileList {
    Bytes source;
    std::vector<SluiceRegion> regions;
    Words checksums;
    uint64_t outputSize = 0;

    // Adds a tile with the compressed bytes `stream`. size: the decoded size that its region
    // states, which is wrong for tiles that test errors.
    void add(const Bytes& stream, uint64_t size, uint32_t checksum);
    // Adds `count` regions of size 0.
    void addEmpty(uint32_t count);
    // Adds copies of `count` tiles of `list`, from tile `first` on. Each copy has an output of its
    // own.
    void repeat(const TileList& list, size_t first, size_t count);
};

// Runs the cases. Keeps encoded tiles and the CPU's results for later runs.
class SelfTestCases {
public:
    // Runs a case and appends its results to `out`. Returns SLUICE_ERROR_UNSUPPORTED if the device
    // cannot run it.
    SluiceStatus run(SelfTestCase which, SluiceDevice device, Words& out);

    // Runs a case on the device and on the CPU's reference. `difference` says which word of the
    // results differs first; it stays empty if none does.
    SluiceStatus compare(SelfTestCase which, SluiceDevice device, std::string& difference);

private:
    // Runs one case. Each case has a specialization; the table of the registry declares them all
    // below.
    template <SelfTestCase Which>
    void test(CaseBuffers& on);
    // The lists of tiles that several cases use. The first call makes them.
    const TileList& gdeflateTiles(SluiceStatus& status);
    const TileList& gstdTiles(SluiceStatus& status);

    TileList m_gdeflate, m_gstd;
    std::map<SelfTestCase, Words> m_wanted; // the CPU's results of each case
};

#define SLUICE_CASE(name, ...)                                                                     \
    template <>                                                                                    \
    void SelfTestCases::test<SelfTestCase::name>(CaseBuffers & on);
SLUICE_SELF_TESTS(SLUICE_CASE)
#undef SLUICE_CASE

// A row of the registry's table.
struct SelfTestRow {
    SelfTestCase which;
    const char* kernel; // the name of the kernel that the case tests
    uint32_t kernels;   // SluiceKernels that a context needs to run it
    uint32_t checksum;  // of the case's results
};
#define SLUICE_CASE(name, ...) {SelfTestCase::name, __VA_ARGS__},
constexpr SelfTestRow kSelfTests[] = {SLUICE_SELF_TESTS(SLUICE_CASE)};
#undef SLUICE_CASE

// Returns the kernels (SluiceKernels) that a context needs to run a case.
uint32_t kernelsOf(SelfTestCase which);

} // namespace sluice::selftest
