// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of prefix sums and other scans of an array.
#include <sluice/sluice_scan.h>

#include "cpu/context.h"
#include "cpu/values.h"

namespace sluice::cpu {
namespace {

// Scans the elements with one operation. The scan starts anew at each element whose bit in `heads`
// is set.
template <typename T, SluiceOperation operation>
void scanValues(const SluiceScanInfo& info)
{
    using A = Accumulator<T, operation>;
    const T* input = pointer<const T>(info.input);
    T* output = pointer<T>(info.output);
    const uint32_t* heads = info.heads.size != 0 ? pointer<const uint32_t>(info.heads) : nullptr;
    const uint32_t count = countOf(info.count, info.maxCount);
    A sum = identity<A, operation>(); // the combined elements before i
    for (uint32_t i = 0; i < count; ++i) {
        if (heads != nullptr && (heads[i / 32] >> i % 32 & 1) != 0) sum = identity<A, operation>();
        // Read the input before writing the output, since both may be the same memory.
        const A next = combine<A, operation>(sum, input[i]);
        output[i] = T(info.kind == SLUICE_SCAN_INCLUSIVE ? next : sum);
        sum = next;
    }
    if (info.total.size != 0) *pointer<T>(info.total) = T(sum);
}

} // namespace

SluiceStatus ReferenceBackend::cmdScan(SluiceCommands, const SluiceScanInfo& info)
{
    visitValues(info.operation, info.type, [&](auto value, auto operation) {
        scanValues<decltype(value), operation()>(info);
    });
    return SLUICE_OK;
}

} // namespace sluice::cpu
