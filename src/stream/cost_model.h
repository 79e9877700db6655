// SPDX-License-Identifier: MIT OR Apache-2.0
// A model of how long a batch takes on the GPU, learnt from timestamps. Tiles are decoded side by
// side, so a batch of few takes as long as the slowest of them, and a batch of many as long as its
// bytes do; in between the root of the sum of both squares is near. Copies come after that. Weights are
// learnt by recursive least squares with a forgetting factor, linearised at the present weights
// (an extended Kalman filter: Haykin, Adaptive Filter Theory). The first batch says how fast the
// device is as a whole, so that one that is a thousand times slower than expected is learnt as soon
// as any other. The shapes were fitted to batches on an H100 (docs/notes/streaming.md).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace sluice::stream {

enum CostKind : uint32_t {
    // The slowest tiles.
    kCostFloor,
    kCostPasses, // dispatches one after the other
    kCostSlowestGdeflate,
    kCostSlowestGstd,
    kCostSlowestFilter,
    // Bytes, in MiB that are decoded.
    kCostGdeflate,
    kCostGstd,
    kCostFloat,
    // Copies.
    kCostCopy, // MiB
    kCostCopies,
    kCostKinds
};
using CostFeatures = std::array<double, kCostKinds>;

// The properties of a batch that its time depends on.
class CostInputs {
public:
    // Bytes that GDeflate's kernel copies, at most 64 KiB at a time.
    void addStoredTile(uint32_t size, bool isFiltered)
    {
        m_features[kCostGdeflate] += mib(size);
        note(m_slowest[0][isFiltered], 0.0014 * kib(std::min(size, 65536u)));
        noteFilter(size, isFiltered);
    }
    void addGdeflateTile(uint32_t storedSize, uint32_t size, bool isFiltered)
    {
        m_features[kCostGdeflate] += mib(size);
        noteFilter(size, isFiltered);
        if (!mayBeSlowest(m_largest[0][isFiltered], storedSize, size)) return;
        const double stored = kib(storedSize), decoded = kib(size);
        note(m_slowest[0][isFiltered], 0.0154 * std::sqrt(stored) + 0.0074 * std::sqrt(decoded) +
                                           0.0027 * stored + 0.0014 * decoded);
    }
    // Parts of 64 KiB are decoded side by side, and then written one after the other.
    void addGstdTile(uint32_t storedSize, uint32_t size, bool isFiltered)
    {
        m_features[kCostGstd] += mib(size);
        noteFilter(size, isFiltered);
        const uint32_t parts = (size + 65535) / 65536;
        if (!mayBeSlowest(m_largest[1][isFiltered], storedSize / parts, size)) return;
        const double ofPart = kib(storedSize) / parts;
        note(m_slowest[1][isFiltered],
             0.0072 * ofPart + 0.0267 * std::sqrt(ofPart) + 0.00075 * kib(size));
    }
    void addFloatTile(uint32_t size, bool isFiltered)
    {
        m_features[kCostFloat] += mib(size);
        m_hasFloats[isFiltered] = true;
        noteFilter(size, isFiltered);
    }
    void addCopy(uint64_t size)
    {
        m_features[kCostCopy] += mib(size);
        m_features[kCostCopies] += 1;
    }

    // Lists of tiles with and without filters come one after the other.
    CostFeatures features() const
    {
        CostFeatures result = m_features;
        result[kCostFloor] = 1;
        for (uint32_t filtered = 0; filtered < 2; ++filtered) {
            result[kCostSlowestGdeflate] += m_slowest[0][filtered];
            result[kCostSlowestGstd] += m_slowest[1][filtered];
            const bool lists[] = {m_slowest[0][filtered] > 0, m_slowest[1][filtered] > 0,
                                  m_hasFloats[filtered]};
            constexpr uint32_t kPasses[] = {1, 2, 1};
            for (uint32_t i = 0; i < 3; ++i)
                result[kCostPasses] += lists[i] ? kPasses[i] + filtered : 0;
        }
        return result;
    }

private:
    static double kib(uint64_t bytes) { return double(bytes) / 1024; }
    static double mib(uint64_t bytes) { return double(bytes) / 1048576; }
    static void note(double& slowest, double time) { slowest = std::max(slowest, time); }
    // A tile is not slower than an earlier one that is at least as large in each size: this check
    // spares most tiles the square roots.
    struct Sizes {
        uint32_t stored = 0, decoded = 0;
    };
    static bool mayBeSlowest(Sizes& largest, uint32_t stored, uint32_t decoded)
    {
        if (stored <= largest.stored && decoded <= largest.decoded) return false;
        if (stored >= largest.stored && decoded >= largest.decoded) largest = {stored, decoded};
        return true;
    }
    void noteFilter(uint32_t size, bool isFiltered)
    {
        if (isFiltered) note(m_features[kCostSlowestFilter], 0.0005 * kib(size));
    }

    CostFeatures m_features{};
    // By codec (GDeflate, Gstd), then without and with filters.
    double m_slowest[2][2] = {};
    Sizes m_largest[2][2] = {};
    bool m_hasFloats[2] = {};
};

// Milliseconds for one of each feature.
struct CostWeights {
    CostFeatures of{};

    struct Time {
        double sum;
        double slowestShare, bytesShare; // of a millisecond more, what the sum grows by
    };
    Time timeOf(const CostFeatures& features) const
    {
        double slowest = 0, bytes = 0, copies = 0;
        for (uint32_t i = 0; i < kCostKinds; ++i)
            (i < kCostGdeflate ? slowest : i < kCostCopy ? bytes : copies) += of[i] * features[i];
        const double decodes = std::sqrt(slowest * slowest + bytes * bytes);
        if (!(decodes > 0)) return {copies, 1, 1};
        return {decodes + copies, slowest / decodes, bytes / decodes};
    }
    double predict(const CostInputs& inputs) const { return timeOf(inputs.features()).sum; }
};

class CostModel {
public:
    CostWeights weights() const
    {
        CostWeights result;
        for (uint32_t i = 0; i < kCostKinds; ++i)
            result.of[i] = weight(CostKind(i));
        return result;
    }
    double predict(const CostInputs& inputs) const { return weights().predict(inputs); }

    // Milliseconds that one more of this kind adds to large batches.
    double weight(CostKind kind) const { return m_scale * kStart[kind] * m_factors[kind]; }
    // Predicts a batch of one tile of 64 KiB, of the codec that came last.
    double floor() const
    {
        CostInputs one;
        if (m_lastIsGstd)
            one.addGstdTile(32768, 65536, false);
        else
            one.addGdeflateTile(32768, 65536, false);
        return predict(one);
    }
    double error() const { return m_error; }

    // Learns that a batch with these inputs took `measured` milliseconds. Errors count in relation
    // to the measurement, so that large batches do not drown small ones.
    void learn(const CostInputs& inputs, double measured)
    {
        if (!(measured > 0) || !std::isfinite(measured)) return;
        const CostFeatures features = inputs.features();
        const double predicted = weights().timeOf(features).sum;
        m_error += 0.1 * (std::abs(predicted - measured) / measured - m_error);
        m_lastIsGstd = features[kCostGstd] > features[kCostGdeflate];
        if (m_hasLearnt)
            followClock(measured / std::max(predicted, measured * 1e-3));
        else
            start(predicted > 0 ? measured / predicted : 1);

        // The derivatives of the prediction by each factor, relative to the measurement.
        const CostWeights::Time time = weights().timeOf(features);
        std::array<double, kCostKinds> slope, gain;
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            const double share = i < kCostGdeflate ? time.slowestShare
                                 : i < kCostCopy   ? time.bytesShare
                                                   : 1;
            slope[i] = share * features[i] * m_scale * kStart[i] / measured;
        }
        double denominator = kForgetting;
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            gain[i] = 0;
            for (uint32_t k = 0; k < kCostKinds; ++k)
                gain[i] += m_covariance[i][k] * slope[k];
            denominator += slope[i] * gain[i];
        }
        const double residual =
            std::min(std::max((measured - time.sum) / measured, -kMostResidual), kMostResidual);
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            m_factors[i] += gain[i] / denominator * residual;
            m_factors[i] = std::min(std::max(m_factors[i], 1 / kMostFactor), kMostFactor);
        }
        update(gain, denominator);
    }

private:
    static constexpr double kForgetting = 0.995, kMostResidual = 3;
    static constexpr double kMostFactor = 50;  // by which a weight may differ from what it began as
    static constexpr double kMostVariance = 4; // of a factor of one: so much is never known better
    static constexpr double kSameClock = 1.4;
    // Milliseconds, on a middling GPU.
    static constexpr CostFeatures kStart = {0.01, 0.01, 1, 1, 1, 0.01, 0.02, 0.015, 0.005, 0.003};

    // A weight may well be wrong by as much as itself.
    void start(double scale)
    {
        m_hasLearnt = true;
        m_scale = scale;
        for (uint32_t i = 0; i < kCostKinds; ++i)
            m_covariance[i][i] = 1;
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
                m_covariance[i][k] += m_factors[i] * m_factors[k];
    }

    // A kind that is in no batch for a long time must not gain variance without end.
    void update(const std::array<double, kCostKinds>& gain, double denominator)
    {
        for (uint32_t i = 0; i < kCostKinds; ++i)
            for (uint32_t k = 0; k < kCostKinds; ++k)
                m_covariance[i][k] =
                    (m_covariance[i][k] - gain[i] * gain[k] / denominator) / kForgetting;
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            const double most = kMostVariance * std::max(m_factors[i] * m_factors[i], 1.0);
            if (m_covariance[i][i] <= most) continue;
            const double shrink = std::sqrt(most / m_covariance[i][i]);
            for (uint32_t k = 0; k < kCostKinds; ++k) {
                m_covariance[i][k] *= shrink;
                m_covariance[k][i] *= shrink;
            }
        }
    }

    double m_scale = 1; // of all weights, from the first batch
    std::array<double, kCostKinds> m_factors = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    std::array<double, kCostKinds> m_covariance[kCostKinds] = {}; // of the factors
    int m_direction = 0;          // 1: the last batch took longer than predicted by kSameClock
    uint32_t m_sameDirection = 0; // batches in a row
    double m_error = 0;
    bool m_hasLearnt = false, m_lastIsGstd = false;
};

} // namespace sluice::stream
