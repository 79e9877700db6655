// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs test cases and compares their results with those of the CPU.
#include "selftest/cases.h"

#include <algorithm>

namespace sluice::selftest {

SluiceStatus SelfTestCases::run(SelfTestCase which, SluiceDevice device, Words& out)
{
    CaseBuffers on(device, out);
    switch (which) {
    case SelfTestCase::none: return SLUICE_ERROR_ARGUMENT;
#define SLUICE_CASE(name, ...)                                                                     \
    case SelfTestCase::name: test<SelfTestCase::name>(on); break;
        SLUICE_SELF_TESTS(SLUICE_CASE)
#undef SLUICE_CASE
    }
    return on.status;
}

SluiceStatus SelfTestCases::compare(SelfTestCase which, SluiceDevice device,
                                    std::string& difference)
{
    Words& wanted = m_wanted[which];
    SluiceStatus status = SLUICE_OK;
    if (wanted.empty()) {
        SluiceDeviceInfo info = {};
        info.selector = "cpu";
        info.tier = "ref";
        SluiceDevice cpu = nullptr;
        status = sluiceOpenDevice(&info, &cpu, nullptr);
        if (status == SLUICE_OK) status = run(which, cpu, wanted);
        sluiceCloseDevice(cpu);
        if (status != SLUICE_OK) wanted.clear();
    }
    Words got;
    if (status == SLUICE_OK) status = run(which, device, got);
    if (status != SLUICE_OK || got == wanted) return status;
    const auto at = std::mismatch(got.begin(), got.end(), wanted.begin(), wanted.end());
    difference = got.size() != wanted.size()
                     ? "results of another size than on the CPU"
                     : "word " + std::to_string(at.first - got.begin()) + " of " +
                           std::to_string(got.size()) + " is " + std::to_string(*at.first) +
                           ", the CPU has " + std::to_string(*at.second);
    return SLUICE_OK;
}

uint32_t kernelsOf(SelfTestCase which)
{
    for (const SelfTestRow& row : kSelfTests)
        if (row.which == which) return row.kernels;
    return SLUICE_KERNELS_ALL;
}

} // namespace sluice::selftest
