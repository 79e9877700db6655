// SPDX-License-Identifier: MIT OR Apache-2.0
#include "self_test_cases.h"

namespace sluice::dev {

SluiceStatus SelfTestCases::run(SelfTestCase which, SluiceDevice device, Words& out)
{
    CaseBuffers on(device, out);
    switch (which) {
    case SelfTestCase::none: return SLUICE_ERROR_ARGUMENT;
#define SLUICE_CASE(name, kernels, call)                                                           \
    case SelfTestCase::name: call; break;
        SLUICE_SELF_TESTS(SLUICE_CASE)
#undef SLUICE_CASE
    }
    return on.status;
}

uint32_t SelfTestCases::kernels(SelfTestCase which)
{
    switch (which) {
    case SelfTestCase::none: break;
#define SLUICE_CASE(name, kernels, call)                                                           \
    case SelfTestCase::name: return kernels;
        SLUICE_SELF_TESTS(SLUICE_CASE)
#undef SLUICE_CASE
    }
    return SLUICE_KERNELS_ALL;
}

} // namespace sluice::dev
