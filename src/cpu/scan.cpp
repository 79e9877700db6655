// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_scan.h>

#include "values.h"

namespace sluice::cpu {
namespace {

template <typename T, SluiceOperation operation>
void scanValues(const SluiceScanInfo& info)
{
    using A = Accumulator<T, operation>;
    const T* input = pointer<const T>(info.input);
    T* output = pointer<T>(info.output);
    const uint32_t* heads = info.heads.size != 0 ? pointer<const uint32_t>(info.heads) : nullptr;
    const uint32_t count = elementCount(info);
    A before = identity<A, operation>();
    for (uint32_t i = 0; i < count; ++i) {
        if (heads != nullptr && (heads[i / 32] >> i % 32 & 1) != 0)
            before = identity<A, operation>();
        // before output[i], which may be input[i], is written
        const A after = combine<A, operation>(before, input[i]);
        output[i] = T(info.kind == SLUICE_SCAN_INCLUSIVE ? after : before);
        before = after;
    }
    if (info.total.size != 0) *pointer<T>(info.total) = T(before);
}

} // namespace

void scan(const SluiceScanInfo& info)
{
    visitValues(info.operation, info.type, [&](auto value, auto operation) {
        scanValues<decltype(value), operation()>(info);
    });
}

} // namespace sluice::cpu
