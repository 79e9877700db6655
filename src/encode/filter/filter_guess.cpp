// SPDX-License-Identifier: MIT OR Apache-2.0
// Bytes of an unknown type: records of the stride at which bytes are most alike, if there is such a
// stride.
#include "encode/filter/filter_plan.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr u64 kSample = 32768;
constexpr u32 kNear = 4; // bytes that differ by no more are alike

// Counts the bytes of a sample that are like those `stride` before them.
u32 countAlike(const u8* bytes, u32 size, u32 stride)
{
    u32 count = 0;
    for (u32 i = kFilterMaxStride; i < size; ++i)
        count += u8(bytes[i] - bytes[i - stride] + kNear) <= 2 * kNear;
    return count;
}

} // namespace

FilterParts guessParts(const u8* bytes, u64 size)
{
    FilterPartList list(size);
    if (size < 1024) return list.finish();
    const u32 sample = u32(std::min(size, kSample));
    const u8* from = bytes + (size - sample) / 2;
    u32 alike[kFilterMaxStride + 1] = {}, best = 1;
    u64 sum = 0;
    for (u32 stride = 1; stride <= kFilterMaxStride; ++stride) {
        sum += alike[stride] = countAlike(from, sample, stride);
        // A multiple of the true stride is equally good apart from chance.
        if (alike[stride] > alike[best] + alike[best] / 16) best = stride;
    }
    if (alike[best] < sum / kFilterMaxStride * 5 / 4) return list.finish();
    FilterPart part;
    part.size = size;
    const u8 columnBytes = best % 4 == 0 ? 4 : best % 2 == 0 ? 2 : 1;
    addColumns(part.section, best / columnBytes, columnBytes);
    part.choices.predictors = kSecondDifferences;
    part.choices.floats = true;
    list.add(std::move(part));
    return list.finish();
}

} // namespace sluice
