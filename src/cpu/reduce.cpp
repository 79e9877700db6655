// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of reductions, which compute the sum, minimum or maximum of an array.
#include <sluice/sluice_scan.h>

#include "cpu/context.h"
#include "cpu/values.h"

namespace sluice::cpu {
namespace {

// Combines the first `count` elements and writes the result.
template <typename T, SluiceOperation operation>
void reduceValues(const SluiceReduceInfo& info)
{
    using A = Accumulator<T, operation>;
    const T* input = pointer<const T>(info.input);
    const uint32_t count = countOf(info.count, info.maxCount);
    A all = identity<A, operation>();
    for (uint32_t i = 0; i < count; ++i)
        all = combine<A, operation>(all, input[i]);
    *pointer<T>(info.result) = T(all);
}

} // namespace

SluiceStatus ReferenceBackend::cmdReduce(SluiceCommands, const SluiceReduceInfo& info)
{
    visitValues(info.operation, info.type, [&](auto value, auto operation) {
        reduceValues<decltype(value), operation()>(info);
    });
    return SLUICE_OK;
}

} // namespace sluice::cpu
