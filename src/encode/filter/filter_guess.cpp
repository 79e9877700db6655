// SPDX-License-Identifier: MIT OR Apache-2.0
// Guesses the record size of a file of unknown type: it is the distance at which bytes are most
// often alike, provided that one distance stands out.
#include "encode/filter/filter_plan.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr uint64_t kSample = 32768;
constexpr uint32_t kNear = 4; // bytes that differ by at most this are alike

// Returns how many bytes of a sample differ by at most kNear from the byte `stride` positions
// before.
uint32_t countAlike(const uint8_t* bytes, uint32_t size, uint32_t stride)
{
    uint32_t count = 0;
    for (uint32_t i = kFilterMaxStride; i < size; ++i)
        count += uint8_t(bytes[i] - bytes[i - stride] + kNear) <= 2 * kNear;
    return count;
}

} // namespace

FilterParts guessParts(const uint8_t* bytes, uint64_t size)
{
    FilterPartList list(size);
    if (size < 1024) return list.finish();
    const uint32_t sample = uint32_t(std::min(size, kSample));
    const uint8_t* from = bytes + (size - sample) / 2;
    uint32_t alike[kFilterMaxStride + 1] = {}, best = 1;
    uint64_t sum = 0;
    for (uint32_t stride = 1; stride <= kFilterMaxStride; ++stride) {
        sum += alike[stride] = countAlike(from, sample, stride);
        // Multiples of the true record size score about as well as that size. So a larger distance
        // is taken only if it is clearly better.
        if (alike[stride] > alike[best] + alike[best] / 16) best = stride;
    }
    if (alike[best] < sum / kFilterMaxStride * 5 / 4) return list.finish();
    FilterPart part;
    part.size = size;
    const uint8_t columnBytes = best % 4 == 0 ? 4 : best % 2 == 0 ? 2 : 1;
    addColumns(part.section, best / columnBytes, columnBytes);
    part.choices.predictors = kSecondDifferences;
    part.choices.floats = true;
    list.add(std::move(part));
    return list.finish();
}

} // namespace sluice
