// SPDX-License-Identifier: MIT OR Apache-2.0
#include "kernels.h"

namespace sluice::cpu {

void scan(const SluiceScanInfo& info)
{
    const uint32_t* input = pointer<const uint32_t>(info.input);
    uint32_t* output = pointer<uint32_t>(info.output);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < info.count; ++i) {
        const uint32_t value = input[i]; // read first: input and output may be the same memory
        output[i] = info.kind == SLUICE_SCAN_INCLUSIVE ? sum + value : sum;
        sum += value;
    }
    if (info.total.size != 0) *pointer<uint32_t>(info.total) = sum;
}

} // namespace sluice::cpu
