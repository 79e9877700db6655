// SPDX-License-Identifier: MIT OR Apache-2.0
// What a batch costs the GPU: a floor, so much for each MiB of a kind and for each copy, and so much
// for its slowest tiles, which all others wait for. Learnt from timestamps by recursive least
// squares with a forgetting factor (Haykin, Adaptive Filter Theory, chapter on RLS). The first
// batch says how fast the device is as a whole, so that one that is a thousand times slower than
// expected is learnt as soon as any other.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace sluice::stream {

enum CostKind : uint32_t {
    kCostFloor,
    kCostGdeflate,
    kCostGstd,
    kCostFloat,
    kCostCopy,
    kCostCopies,          // how many
    kCostSlowestGdeflate, // slownessOf a tile of GDeflate, stored or of floats
    kCostSlowestGstd,
    kCostKinds
};

// One, MiB of each kind, copies, and the slowest tiles.
using CostFeatures = std::array<float, kCostKinds>;

// How long a tile takes whatever else there is, in units that the model learns. The shape was
// fitted to 2,544 batches of one tile of GDeflate on an H100 (docs/notes/streaming.md): a tenth is
// off by more than 19 %.
inline float slownessOf(uint32_t storedSize, uint32_t size)
{
    const float stored = float(storedSize) / 1024, decoded = float(size) / 1024;
    return 0.0154f * std::sqrt(stored) + 0.0074f * std::sqrt(decoded) + 0.0027f * stored +
           0.0014f * decoded;
}

class CostModel {
public:
    CostModel()
    {
        // Before the first measurement: what a middling GPU takes.
        m_weights = {0.1, 0.02, 0.03, 0.02, 0.005, 0.003, 1, 2};
    }

    double predict(const CostFeatures& x) const
    {
        double sum = 0;
        for (uint32_t i = 0; i < kCostKinds; ++i)
            sum += std::max(m_weights[i], 0.0) * double(x[i]);
        return sum;
    }

    // What one more unit would add, beyond the floor.
    double weight(CostKind kind) const { return std::max(m_weights[kind], 0.0); }
    double error() const { return m_error; }

    // A batch that was predicted with these features took so many milliseconds. Errors count in
    // relation to the measurement, so that large batches do not drown small ones.
    void learn(const CostFeatures& features, double measured)
    {
        if (!(measured > 0) || !std::isfinite(measured)) return;
        const double predicted = predict(features);
        m_error += 0.1 * (std::abs(predicted - measured) / measured - m_error);
        if (!m_hasLearnt)
            start(predicted > 0 ? measured / predicted : 1);
        else
            followClock(measured / std::max(predicted, kLeastMilliseconds));
        const double scale = 1 / std::max(measured, kLeastMilliseconds);
        std::array<double, kCostKinds> x, gain;
        for (uint32_t i = 0; i < kCostKinds; ++i)
            x[i] = double(features[i]) * scale;
        double denominator = kForgetting;
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            gain[i] = 0;
            for (uint32_t k = 0; k < kCostKinds; ++k)
                gain[i] += m_covariance[i][k] * x[k];
        }
        for (uint32_t i = 0; i < kCostKinds; ++i)
            denominator += x[i] * gain[i];
        double residual = measured * scale;
        for (uint32_t i = 0; i < kCostKinds; ++i)
            residual -= m_weights[i] * x[i];
        for (uint32_t i = 0; i < kCostKinds; ++i)
            m_weights[i] += gain[i] / denominator * residual;
        update(gain, denominator);
    }

private:
    static constexpr double kForgetting = 0.97, kMostVariance = 1e3, kLeastMilliseconds = 1e-3;
    static constexpr double kSameClock = 1.4;

    // A weight may well be wrong by as much as itself.
    void start(double scale)
    {
        m_hasLearnt = true;
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            m_weights[i] *= scale;
            m_covariance[i][i] = m_weights[i] * m_weights[i];
            m_mostVariance[i] = kMostVariance * m_covariance[i][i];
        }
    }

    // A clock that changes makes everything slower or faster at once, which least squares would
    // take long to learn weight by weight. Three batches in a row that are off in one direction
    // make it likely: then all weights may change together.
    void followClock(double ratio)
    {
        const int direction = ratio > kSameClock ? 1 : ratio < 1 / kSameClock ? -1 : 0;
        m_sameDirection = direction != 0 && direction == m_direction ? m_sameDirection + 1 : 1;
        m_direction = direction;
        if (direction == 0 || m_sameDirection < 3) return;
        for (uint32_t i = 0; i < kCostKinds; ++i)
            for (uint32_t k = 0; k < kCostKinds; ++k)
                m_covariance[i][k] += m_weights[i] * m_weights[k];
    }

    // A kind that no batch has for long must not gain variance without end.
    void update(const std::array<double, kCostKinds>& gain, double denominator)
    {
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            for (uint32_t k = 0; k < kCostKinds; ++k) {
                double& entry = m_covariance[i][k];
                entry = (entry - gain[i] * gain[k] / denominator) / kForgetting;
            }
        }
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            if (m_covariance[i][i] <= m_mostVariance[i]) continue;
            const double shrink = std::sqrt(m_mostVariance[i] / m_covariance[i][i]);
            for (uint32_t k = 0; k < kCostKinds; ++k) {
                m_covariance[i][k] *= shrink;
                m_covariance[k][i] *= shrink;
            }
        }
    }

    std::array<double, kCostKinds> m_weights{};
    std::array<std::array<double, kCostKinds>, kCostKinds> m_covariance{};
    std::array<double, kCostKinds> m_mostVariance{};
    int m_direction = 0;          // 1: the last batch took longer than predicted by kSameClock
    uint32_t m_sameDirection = 0; // batches in a row
    double m_error = 0;
    bool m_hasLearnt = false;
};

} // namespace sluice::stream
