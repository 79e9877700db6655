// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/weight_rows.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

namespace sluice {
namespace {

// Rounds a number to the format: to the nearest, halves to even.
uint32_t rounded(float number, const NumberFormat& format)
{
    uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    const uint32_t sign = bits >> 31, drop = 23 - format.mantissaBits,
                   bias = (1u << (format.exponentBits - 1)) - 1;
    int32_t exponent = int32_t(bits >> 23 & 255) - 127 + int32_t(bias);
    uint64_t mantissa = (bits & 0x7fffffu) | 0x800000u;
    uint32_t shift = drop;
    if (exponent < 1) { // subnormal
        shift += uint32_t(std::min(1 - exponent, 30));
        exponent = 1;
    }
    const uint64_t half = shift == 0 ? 0 : uint64_t{1} << (shift - 1);
    uint64_t value =
        shift == 0 ? mantissa : (mantissa + half - 1 + (mantissa >> shift & 1)) >> shift;
    value += uint64_t(exponent - 1) << format.mantissaBits;
    const uint64_t largest = (uint64_t{1} << (format.exponentBits + format.mantissaBits)) - 2;
    return uint32_t(std::min(value, largest)) | sign << (format.exponentBits + format.mantissaBits);
}

} // namespace

Bytes makeWeights(const NumberFormat& format, float sigma, uint64_t count)
{
    const uint32_t size = (format.exponentBits + format.mantissaBits + 1) / 8;
    Bytes bytes(count * size);
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, sigma);
    for (uint64_t i = 0; i < count; ++i) {
        const uint32_t value = rounded(normal(random), format);
        std::memcpy(bytes.data() + i * size, &value, size);
    }
    return bytes;
}

void benchDecode(const BenchDevice& device, const WeightDecode& decode, BenchReport& report)
{
    const auto record = [&](SluiceCommands commands, uint32_t) { decode.record(commands); };
    const auto wrong = [&](const std::string& what) {
        return Failure{exitDevice, std::string("bench: ") + decode.kernel + ": " + what};
    };
    device.fill(decode.destination.whole(), kGap);
    device.runOnce(record);
    uint32_t failed = 0;
    device.download(decode.status.part(decode.status.size() - 8, 4), &failed, 4);
    if (failed != 0) throw wrong("the summary counts failures");
    Bytes bytes(decode.plain.size());
    for (uint64_t i = 0; i < decode.copies; ++i) {
        const uint64_t at = i * bytes.size();
        device.download(decode.destination.part(at, bytes.size()), bytes.data(), bytes.size());
        if (bytes != decode.plain) throw wrong("wrong bytes from " + std::to_string(at) + " on");
    }
    const double ratio = double(decode.encodedBytes) / double(decode.outputBytes);
    report.addGroup({{decode.kernel, sizeText(decode.outputBytes),
                      formatText("sluice, %s, %.2f %% of raw", decode.name, 100 * ratio),
                      decode.outputBytes, device.time(1, record)}});
}

std::vector<uint64_t> copiesOf(const BenchDevice& device, uint64_t outputBytes)
{
    const uint64_t most = gpuOutputBudget(device) / outputBytes;
    if (device.isGpu() && most > 1) return {1, most};
    return {1};
}

void benchEncode(const char* kernel, const char* name, uint64_t plainBytes,
                 const std::function<void()>& encode, BenchReport& report)
{
    const uint32_t cores = threadCount(0);
    std::vector<BenchRow> rows;
    for (const uint32_t threadCount : {1u, cores}) {
        std::array<double, 5> times = {};
        for (double& time : times) {
            const auto begin = std::chrono::steady_clock::now();
            std::vector<std::thread> threads;
            for (uint32_t i = 0; i < threadCount; ++i)
                threads.emplace_back(encode);
            for (std::thread& thread : threads)
                thread.join();
            time =
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                    .count();
        }
        std::sort(times.begin(), times.end());
        const uint64_t bytes = plainBytes * threadCount;
        rows.push_back(
            {kernel,
             sizeText(bytes),
             formatText("sluice, %s, %u thread%s", name, threadCount, threadCount == 1 ? "" : "s"),
             bytes,
             {times[2], times[0], times[4], 5}});
        if (cores == 1) break;
    }
    report.addGroup(rows);
}

} // namespace sluice
