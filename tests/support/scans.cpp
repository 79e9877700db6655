// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_scan.h>

#include "tests/support/scans.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace sluice::test {
namespace {

template <typename T>
T valueAt(const Words& words, size_t index)
{
    T value;
    std::memcpy(&value, words.data() + index * sizeof(T) / 4, sizeof value);
    return value;
}

template <typename T>
void append(Words& words, T value)
{
    uint32_t parts[2] = {};
    std::memcpy(parts, &value, sizeof value);
    words.insert(words.end(), parts, parts + sizeof(T) / 4);
}

bool isHead(const Words& heads, size_t index)
{
    return !heads.empty() && (heads[index / 32] >> index % 32 & 1) != 0;
}

template <typename T>
bool comesBefore(T a, T b)
{
    return a < b;
}
template <>
bool comesBefore(float a, float b)
{
    return a < b || (a == 0 && b == 0 && std::signbit(a) && !std::signbit(b));
}

template <typename T>
HostScan scanValues(SluiceScanKind kind, SluiceOperation operation, const Words& input,
                    const Words& heads)
{
    constexpr bool isFloat = std::is_same_v<T, float>;
    T least = std::numeric_limits<T>::lowest(), greatest = std::numeric_limits<T>::max();
    if (isFloat) {
        greatest = std::numeric_limits<T>::infinity();
        least = T(-greatest);
    }
    const T nothing = operation == SLUICE_OPERATION_SUM   ? T(0)
                      : operation == SLUICE_OPERATION_MIN ? greatest
                                                          : least;
    HostScan result;
    T before = nothing;
    double exact = 0, magnitude = 0;
    for (size_t i = 0; i < input.size() * 4 / sizeof(T); ++i) {
        const T element = valueAt<T>(input, i);
        if (isHead(heads, i)) {
            before = nothing;
            exact = magnitude = 0;
        }
        if (kind == SLUICE_SCAN_EXCLUSIVE) {
            append(result.output, before);
            result.exact.push_back(exact);
            result.bound.push_back(magnitude * 512 / 16777216);
        }
        if (operation == SLUICE_OPERATION_SUM) {
            before = T(before + element);
        } else if (element == element) { // not NaN
            if (operation == SLUICE_OPERATION_MIN ? comesBefore(element, before)
                                                  : comesBefore(before, element))
                before = element;
        }
        exact += double(element);
        magnitude += std::abs(double(element));
        if (kind == SLUICE_SCAN_INCLUSIVE) {
            append(result.output, before);
            result.exact.push_back(exact);
            result.bound.push_back(magnitude * 512 / 16777216);
        }
    }
    append(result.total, before);
    result.exactTotal = exact;
    result.totalBound = magnitude * 512 / 16777216;
    return result;
}

} // namespace

Words randomWords(size_t count, std::mt19937& random)
{
    Words words(count);
    for (uint32_t& word : words)
        word = uint32_t(random());
    return words;
}

size_t wordsOf(SluiceValueType type) { return type == SLUICE_VALUE_U64 ? 2 : 1; }

Words randomValues(SluiceValueType type, size_t count, bool special, std::mt19937& random)
{
    if (type != SLUICE_VALUE_F32) return randomWords(count * wordsOf(type), random);
    constexpr float specials[] = {0.0f,
                                  -0.0f,
                                  std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::quiet_NaN(),
                                  -std::numeric_limits<float>::quiet_NaN()};
    Words words;
    for (size_t i = 0; i < count; ++i) {
        const float small = float(int32_t(random())) / 65536.0f;
        const float value = random() % 16 == 0 ? small * 1e6f : small;
        append(words, special && random() % 8 == 0 ? specials[random() % 6] : value);
    }
    return words;
}

Words randomHeads(size_t count, uint32_t every, std::mt19937& random)
{
    Words heads((count + 31) / 32);
    for (size_t i = 0; i < count; ++i) {
        const bool head =
            random() % every == 0 || (i != 0 && isHead(heads, i - 1) && random() % 4 == 0);
        heads[i / 32] |= head ? 1u << i % 32 : 0u;
    }
    return heads;
}

HostScan scanOnHost(SluiceScanKind kind, SluiceOperation operation, SluiceValueType type,
                    const Words& input, const Words& heads)
{
    switch (type) {
    case SLUICE_VALUE_I32:
        if (operation != SLUICE_OPERATION_SUM)
            return scanValues<int32_t>(kind, operation, input, heads);
        // Unsigned sums have the same bits and cannot overflow.
        return scanValues<uint32_t>(kind, operation, input, heads);
    case SLUICE_VALUE_U64: return scanValues<uint64_t>(kind, operation, input, heads);
    case SLUICE_VALUE_F32: return scanValues<float>(kind, operation, input, heads);
    default: return scanValues<uint32_t>(kind, operation, input, heads);
    }
}

void checkF32(const Words& got, const HostScan& expected)
{
    REQUIRE(got.size() == expected.exact.size());
    size_t bad = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        const double error = std::abs(double(valueAt<float>(got, i)) - expected.exact[i]);
        bad += error <= expected.bound[i] ? 0 : 1; // this counts NaN as bad, too
    }
    CHECK(bad == 0);
}

} // namespace sluice::test
