// SPDX-License-Identifier: MIT OR Apache-2.0
// A model of how long a batch takes on the GPU, learnt from timestamps. Tiles are decoded in
// parallel. A batch of few tiles therefore takes as long as its slowest tile, and a batch of many
// as long as its bytes need. In between, the square root of the sum of both squares is a good
// approximation. The time of the copies is added. The shapes of these functions were fitted to
// batches on an H100 (docs/notes/streaming.md).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace sluice::stream {

enum CostKind : uint32_t {
    // Terms of the slowest tiles.
    kCostFloor,
    kCostPasses, // dispatches that run one after the other
    kCostSlowestGdeflate,
    kCostSlowestGstd,
    kCostSlowestZstd,
    kCostSlowestFilter,
    // Terms of bytes, in decoded MiB.
    kCostGdeflate,
    kCostGstd,
    kCostZstd,
    kCostFloat,
    kCostUastc, // MiB of blocks that are transcoded
    // Terms of copies.
    kCostCopy, // MiB
    kCostCopies,
    kCostKinds
};
using CostFeatures = std::array<double, kCostKinds>;

// The properties of a batch that its time depends on.
class CostInputs {
public:
    // GDeflate's kernel copies stored tiles, at most 64 KiB at a time.
    void addStoredTile(uint32_t size, bool isFiltered)
    {
        m_features[kCostGdeflate] += mib(size);
        note(m_slowestGdeflate[isFiltered], 0.0014 * kib(std::min(size, 65536u)));
        noteFilter(size, isFiltered);
    }
    void addGdeflateTile(uint32_t storedSize, uint32_t size, bool isFiltered)
    {
        m_features[kCostGdeflate] += mib(size);
        noteFilter(size, isFiltered);
        if (!mayBeSlowest(m_largestGdeflate[isFiltered], storedSize, size)) return;
        const double stored = kib(storedSize), decoded = kib(size);
        note(m_slowestGdeflate[isFiltered], 0.0154 * std::sqrt(stored) +
                                                0.0074 * std::sqrt(decoded) + 0.0027 * stored +
                                                0.0014 * decoded);
    }
    // Parts of 64 KiB are decoded in parallel, and then written one after the other.
    void addGstdTile(uint32_t storedSize, uint32_t size, bool isFiltered)
    {
        m_features[kCostGstd] += mib(size);
        noteFilter(size, isFiltered);
        const uint32_t parts = (size + 65535) / 65536;
        m_hasFilteredGstd |= isFiltered;
        if (!mayBeSlowest(m_largestGstd, storedSize / parts, size)) return;
        const double ofPart = kib(storedSize) / parts;
        note(m_slowestGstd, 0.0072 * ofPart + 0.0267 * std::sqrt(ofPart) + 0.00075 * kib(size));
    }
    // The passes run one after the other. Some take as long as the tile's longest block, others
    // depend on the logarithm of its size alone.
    void addZstdTile(uint32_t storedSize, uint32_t size, bool isFiltered)
    {
        m_features[kCostZstd] += mib(size);
        noteFilter(size, isFiltered);
        note(m_slowestZstd[isFiltered], 1.5 + 0.03 * kib(std::min(storedSize, 131072u)));
    }
    void addFloatTile(uint32_t size, bool isFiltered)
    {
        m_features[kCostFloat] += mib(size);
        m_hasFloats[isFiltered] = true;
        noteFilter(size, isFiltered);
    }
    // Transcoding follows all decodes. work: times as much as BC7 takes.
    void addTranscode(uint64_t size, double work) { m_features[kCostUastc] += work * mib(size); }
    void addCopy(uint64_t size)
    {
        m_features[kCostCopy] += mib(size);
        m_features[kCostCopies] += 1;
    }

    // The lists of a batch, one for each kind of tile, run side by side. So the batch takes as many
    // passes one after the other as the list that needs most.
    CostFeatures features() const
    {
        CostFeatures result = m_features;
        result[kCostFloor] = 1;
        result[kCostSlowestGstd] = m_slowestGstd;
        if (m_slowestGstd > 0) result[kCostPasses] = m_hasFilteredGstd ? 3 : 2;
        for (uint32_t filtered = 0; filtered < 2; ++filtered) {
            note(result[kCostSlowestZstd], m_slowestZstd[filtered]);
            if (m_slowestZstd[filtered] > 0) note(result[kCostPasses], kZstdPasses + filtered);
            note(result[kCostSlowestGdeflate], m_slowestGdeflate[filtered]);
            if (m_slowestGdeflate[filtered] > 0 || m_hasFloats[filtered])
                note(result[kCostPasses], 1 + filtered);
        }
        if (result[kCostUastc] > 0) result[kCostPasses] += 1;
        return result;
    }

private:
    static double kib(uint64_t bytes) { return double(bytes) / 1024; }
    static double mib(uint64_t bytes) { return double(bytes) / 1048576; }
    static void note(double& slowest, double time) { slowest = std::max(slowest, time); }
    // A tile cannot be slower than an earlier tile that is at least as large both stored and
    // decoded. This check saves the square roots for most tiles.
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
    static constexpr uint32_t kZstdPasses = 14; // for a tile of 256 KiB (plan_zstd.h)

    // Tiles of GDeflate and Zstandard without filters, and with them, are two lists; Gstd tiles are
    // one.
    double m_slowestGdeflate[2] = {}, m_slowestGstd = 0, m_slowestZstd[2] = {};
    Sizes m_largestGdeflate[2] = {}, m_largestGstd;
    bool m_hasFilteredGstd = false;
    bool m_hasFloats[2] = {};
};

// Milliseconds per unit of each feature.
struct CostWeights {
    CostFeatures of{};

    // The milliseconds of the three groups of terms.
    struct Parts {
        double slowest = 0, bytes = 0, copies = 0;
    };
    Parts partsOf(const CostFeatures& features) const
    {
        Parts parts;
        for (uint32_t i = 0; i < kCostKinds; ++i)
            (i < kCostGdeflate ? parts.slowest
             : i < kCostCopy   ? parts.bytes
                               : parts.copies) += of[i] * features[i];
        return parts;
    }
    struct Time {
        double sum;
        double slowestShare, bytesShare; // growth of the sum per millisecond of each
    };
    Time timeOf(const CostFeatures& features) const
    {
        const auto [slowest, bytes, copies] = partsOf(features);
        const double decodes = std::sqrt(slowest * slowest + bytes * bytes);
        if (!(decodes > 0)) return {copies, 1, 1};
        return {decodes + copies, slowest / decodes, bytes / decodes};
    }
    double predict(const CostInputs& inputs) const { return timeOf(inputs.features()).sum; }
};

// Learns the weights by an extended Kalman filter (Haykin, Adaptive Filter Theory). The filter
// works on logarithms of weights and times. Weights therefore stay positive, and errors are
// relative to the measurement, so that large batches do not drown small ones.
class CostFit {
public:
    // scale: how many times as slow the device is as the one that the initial weights describe.
    explicit CostFit(double scale)
    {
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            m_weights.of[i] = scale * kStart[i];
            m_covariance[i][i] = kVariance;
        }
    }

    const CostWeights& weights() const { return m_weights; }
    // Scales all weights after a change of the GPU's clock: everything takes `factor` times as
    // long.
    void rescale(double factor)
    {
        for (double& weight : m_weights.of)
            weight *= factor;
    }
    // Raises the uncertainty of all weights that this batch depends on.
    void doubt(const CostFeatures& features)
    {
        const CostFeatures slopes = slopesOf(features);
        for (uint32_t i = 0; i < kCostKinds; ++i)
            m_covariance[i][i] += kVariance * slopes[i];
    }
    // Learns from a batch that took `measured` milliseconds.
    void learn(const CostFeatures& features, double measured)
    {
        const CostFeatures slopes = slopesOf(features);
        std::array<double, kCostKinds> gain;
        double variance = kNoise;
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            gain[i] = 0;
            for (uint32_t k = 0; k < kCostKinds; ++k)
                gain[i] += m_covariance[i][k] * slopes[k];
            variance += slopes[i] * gain[i];
        }
        const double error = std::log(measured / m_weights.timeOf(features).sum);
        const double most = kMostDeviations * std::sqrt(variance);
        const double believed = std::min(std::max(error, -most), most);
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            m_weights.of[i] *= std::exp(gain[i] / variance * believed);
            for (uint32_t k = 0; k < kCostKinds; ++k)
                m_covariance[i][k] =
                    (m_covariance[i][k] - gain[i] * gain[k] / variance) / kForgetting;
        }
        limitVariance();
    }

private:
    static constexpr double kForgetting = 0.98;
    static constexpr double kNoise = 0.01;       // variance of a measurement's logarithm
    static constexpr double kMostDeviations = 4; // errors are clamped to this many deviations
    static constexpr double kVariance = 2;       // of a weight's logarithm, initially and at most
    // The initial weights in milliseconds, of an average GPU.
    static constexpr CostFeatures kStart = {0.01, 0.01, 1,     1,     1,     1,    0.01,
                                            0.02, 0.1,  0.015, 0.002, 0.005, 0.003};

    // Returns the relative growth of the time per relative growth of each weight.
    CostFeatures slopesOf(const CostFeatures& features) const
    {
        const CostWeights::Time time = m_weights.timeOf(features);
        CostFeatures slopes;
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            const double share = i < kCostGdeflate ? time.slowestShare
                                 : i < kCostCopy   ? time.bytesShare
                                                   : 1;
            slopes[i] = share * features[i] * m_weights.of[i] / time.sum;
        }
        return slopes;
    }
    // If a feature appears in no batch for a long time, the variance of its weight must not grow
    // without limit.
    void limitVariance()
    {
        for (uint32_t i = 0; i < kCostKinds; ++i) {
            if (m_covariance[i][i] <= kVariance) continue;
            const double shrink = std::sqrt(kVariance / m_covariance[i][i]);
            for (uint32_t k = 0; k < kCostKinds; ++k) {
                m_covariance[i][k] *= shrink;
                m_covariance[k][i] *= shrink;
            }
        }
    }

    CostWeights m_weights;
    std::array<double, kCostKinds> m_covariance[kCostKinds] = {}; // of the logarithms of weights
};

// Predicts batches by a robust fit. Outliers are not learnt: they are batches that are off by far
// more than their neighbours, for example because a driver compiled something or a debugger stopped
// the process. If most of the recent batches are off, the fit is discarded and a new one is made
// from them.
class CostModel {
public:
    const CostWeights& weights() const { return m_fit.weights(); }
    double predict(const CostInputs& inputs) const { return weights().predict(inputs); }
    // Returns the milliseconds that one more unit of this feature adds to a large batch.
    double weight(CostKind kind) const { return weights().of[kind]; }
    // Predicts a batch of one 64 KiB tile, of the codec that dominated the last batch.
    double floor() const
    {
        CostInputs one;
        if (m_lastCodec == kCostGstd)
            one.addGstdTile(32768, 65536, false);
        else if (m_lastCodec == kCostZstd)
            one.addZstdTile(32768, 65536, false);
        else
            one.addGdeflateTile(32768, 65536, false);
        return predict(one);
    }
    // Returns the recent mean error of predictions, relative to the measurement.
    double error() const { return m_error; }

    void learn(const CostInputs& inputs, double measured)
    {
        if (!(measured > kLeast && measured < kMost)) return; // also refuses NaN
        const CostFeatures features = inputs.features();
        m_lastCodec = kCostGdeflate;
        for (const CostKind codec : {kCostGstd, kCostZstd})
            if (features[codec] > features[m_lastCodec]) m_lastCodec = codec;
        const double ratio = measured / m_fit.weights().timeOf(features).sum;
        m_error += 0.1 * (std::abs(1 / ratio - 1) - m_error);
        m_recent[m_count++ % kRecent] = {features, measured, std::log(ratio)};
        const bool isFirst = m_count == 1;
        const bool isJudged = m_count - m_fitSince >= (m_count < kRecent ? kFirst : kRecent);
        if (isFirst || (isJudged && isOff()))
            fitAnew();
        else
            learnUnlessOutlier(features, measured);
    }

private:
    static constexpr double kLeast = 1e-6, kMost = 1e9; // plausible milliseconds
    // A fit is judged by the last kRecent batches, once as many have been measured since it was
    // made; at the beginning, once kFirst have been.
    static constexpr uint32_t kRecent = 8, kFirst = 3;
    // Factors between measurement and prediction. kOff: the fit is discarded if the median of the
    // recent batches is off by more. kOutlier: a batch that is off by more is an outlier. kSpread:
    // if the factors of the recent batches differ by less, the GPU's clock has changed.
    static constexpr double kOff = 1.5, kOutlier = 3, kSpread = 1.2;
    static constexpr double kMostOutliers = 0.15; // if a larger share are outliers, they are learnt

    struct Batch {
        CostFeatures features;
        double measured;
        double logRatio; // of measurement to prediction
    };

    uint32_t recent() const { return std::min(m_count, kRecent); }
    // Returns the median of `value` over the recent batches.
    template <class Function>
    double median(const Function& value) const
    {
        double values[kRecent];
        const uint32_t count = recent();
        for (uint32_t i = 0; i < count; ++i)
            values[i] = value(m_recent[i]);
        std::nth_element(values, values + count / 2, values + count);
        return values[count / 2];
    }
    bool isOff() const
    {
        return median([](const Batch& one) { return std::abs(one.logRatio); }) > std::log(kOff);
    }
    // If the clock has changed, all recent batches are off by the same factor, and the proportions
    // of the weights are still right. Otherwise everything that was learnt is discarded.
    void fitAnew()
    {
        const double factor = median([](const Batch& one) { return one.logRatio; });
        const double spread =
            median([&](const Batch& one) { return std::abs(one.logRatio - factor); });
        m_fitSince = m_count;
        if (m_count > kRecent && spread < std::log(kSpread)) {
            m_fit.rescale(std::exp(factor));
            return;
        }
        const CostWeights begin = CostFit(1).weights();
        m_fit = CostFit(median(
            [&](const Batch& one) { return one.measured / begin.timeOf(one.features).sum; }));
        for (uint32_t i = m_count - recent(); i < m_count; ++i)
            learnUnlessOutlier(m_recent[i % kRecent].features, m_recent[i % kRecent].measured);
    }
    // Outliers are rare. If many batches look like outliers, they are right and the fit is wrong
    // for such batches.
    void learnUnlessOutlier(const CostFeatures& features, double measured)
    {
        const double ratio = measured / m_fit.weights().timeOf(features).sum;
        const bool isOutlier = ratio > kOutlier || ratio < 1 / kOutlier;
        m_outliers += 0.1 * ((isOutlier ? 1 : 0) - m_outliers);
        if (isOutlier && m_outliers < kMostOutliers) return;
        if (isOutlier) m_fit.doubt(features);
        m_fit.learn(features, measured);
    }

    CostFit m_fit{1};
    Batch m_recent[kRecent] = {};         // a ring
    uint32_t m_count = 0, m_fitSince = 0; // batches
    double m_outliers = 0;                // the recent share of outliers
    double m_error = 0;
    CostKind m_lastCodec = kCostGdeflate;
};

} // namespace sluice::stream
