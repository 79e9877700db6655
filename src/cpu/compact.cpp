// SPDX-License-Identifier: MIT OR Apache-2.0
#include "kernels.h"

namespace sluice::cpu {

void compact(const SluiceCompactInfo& info)
{
    const uint32_t* input = pointer<const uint32_t>(info.input);
    const uint32_t* flags = info.flags.size != 0 ? pointer<const uint32_t>(info.flags) : input;
    uint32_t* output = pointer<uint32_t>(info.output);
    const uint64_t capacity = info.output.size / 4;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < info.count; ++i) {
        if (flags[i] == 0) continue;
        if (kept < capacity) output[kept] = input[i];
        ++kept;
    }
    *pointer<uint32_t>(info.resultCount) = kept;
}

} // namespace sluice::cpu
