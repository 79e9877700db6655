// SPDX-License-Identifier: MIT OR Apache-2.0
// The operations of scans and reductions, for values of each type.
#pragma once

#include <sluice/sluice_scan.h>

#include "cpu/memory.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace sluice::cpu {

// Returns whether a < b, with -0 before 0. Neither value may be NaN.
template <typename T>
bool less(T a, T b)
{
    if constexpr (std::is_same_v<T, float>) {
        return a < b || (a == b && std::signbit(a) && !std::signbit(b));
    } else {
        return a < b;
    }
}

// Returns the identity element of an operation: combined with any value, it gives that value.
template <typename T, SluiceOperation operation>
T identity()
{
    using Limits = std::numeric_limits<T>;
    if (operation == SLUICE_OPERATION_SUM) return T(0);
    const bool isMin = operation == SLUICE_OPERATION_MIN;
    if (Limits::has_infinity) return isMin ? Limits::infinity() : -Limits::infinity();
    return isMin ? Limits::max() : Limits::lowest();
}

// Combines two values. Minimum and maximum ignore `b` if it is NaN; for them, `a` is never NaN.
template <typename T, SluiceOperation operation>
T combine(T a, T b)
{
    if (operation == SLUICE_OPERATION_SUM) return T(a + b);
    if constexpr (std::is_same_v<T, float>) {
        if (std::isnan(b)) return a;
    }
    return less(a, b) == (operation == SLUICE_OPERATION_MAX) ? b : a;
}

// The type in which elements are combined. Sums of f32 use f64, since the error of a plain sum
// grows with the number of elements.
template <typename T, SluiceOperation operation>
using Accumulator =
    std::conditional_t<std::is_same_v<T, float> && operation == SLUICE_OPERATION_SUM, double, T>;

// Calls visit(T(), op), where T is the type of the elements and op stands for `operation`.
template <SluiceOperation operation, typename Visitor>
void visitTypes(SluiceValueType type, Visitor visit)
{
    constexpr auto op = std::integral_constant<SluiceOperation, operation>();
    switch (type) {
    case SLUICE_VALUE_I32: // sums wrap around, so they are computed as u32
        if constexpr (operation == SLUICE_OPERATION_SUM) {
            return visit(uint32_t(), op);
        } else {
            return visit(int32_t(), op);
        }
    case SLUICE_VALUE_U64: return visit(uint64_t(), op);
    case SLUICE_VALUE_F32: return visit(float(), op);
    default: return visit(uint32_t(), op);
    }
}

// Calls visit(T(), std::integral_constant<SluiceOperation, operation>()), where T is the type of
// the elements. So visit gets type and operation at compile time, from the types of its arguments.
template <typename Visitor>
void visitValues(SluiceOperation operation, SluiceValueType type, Visitor visit)
{
    switch (operation) {
    case SLUICE_OPERATION_MIN: return visitTypes<SLUICE_OPERATION_MIN>(type, visit);
    case SLUICE_OPERATION_MAX: return visitTypes<SLUICE_OPERATION_MAX>(type, visit);
    default: return visitTypes<SLUICE_OPERATION_SUM>(type, visit);
    }
}

} // namespace sluice::cpu
