// SPDX-License-Identifier: MIT OR Apache-2.0
// What a batch costs the GPU: a floor, and so much for each MiB of a kind. Learnt from timestamps by
// recursive least squares with a forgetting factor (Haykin, Adaptive Filter Theory, chapter on RLS).
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
        for (uint32_t i = 0; i < kCostKinds; ++i)
            m_covariance[i][i] = kStartVariance;
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
        const double scale = 1 / std::max(measured, 0.02);
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
    static constexpr double kForgetting = 0.97, kStartVariance = 1, kMostVariance = 1e3;

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
            if (m_covariance[i][i] <= kMostVariance) continue;
            const double shrink = std::sqrt(kMostVariance / m_covariance[i][i]);
            for (uint32_t k = 0; k < kCostKinds; ++k) {
                m_covariance[i][k] *= shrink;
                m_covariance[k][i] *= shrink;
            }
        }
    }

    std::array<double, kCostKinds> m_weights{};
    std::array<std::array<double, kCostKinds>, kCostKinds> m_covariance{};
    double m_error = 0;
};

} // namespace sluice::stream
