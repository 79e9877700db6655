// SPDX-License-Identifier: MIT OR Apache-2.0
// What a batch costs the GPU: a floor, and so much for each MiB of a kind. Learnt from timestamps
// by recursive least squares with a forgetting factor (Haykin, Adaptive Filter Theory, chapter on
// RLS). The first batch says how fast the device is as a whole, so that one that is a thousand
// times slower than expected is learnt as soon as any other.
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
    kCostKinds
};

// One, then MiB of each kind.
using CostFeatures = std::array<float, kCostKinds>;

class CostModel {
public:
    CostModel()
    {
        // Before the first measurement: what a middling GPU takes.
        m_weights = {0.3, 0.03, 0.04, 0.03, 0.005};
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
        if (!m_hasLearnt) start(predicted > 0 ? measured / predicted : 1);
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
    double m_error = 0;
    bool m_hasLearnt = false;
};

} // namespace sluice::stream
