// SPDX-License-Identifier: MIT OR Apache-2.0
// Predicts how long a batch takes on the GPU, and learns from timestamps. Tiles are decoded in
// parallel. So a batch of few tiles takes as long as its slowest tile, and the time of a batch of
// many tiles is proportional to its bytes. The model combines both times as the square root of the
// sum of their squares, and adds the time of the copies. The formulas were fitted to batches on an
// H100 (docs/notes/streaming.md).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace sluice::stream {

enum CostKind : uint32_t {
    // Terms of the latency: a constant, sequential dispatches, and the slowest tile of each codec.
    kCostFloor,
    kCostPasses, // dispatches that run one after the other
    kCostSlowestGdeflate,
    kCostSlowestGstd,
    kCostSlowestZstd,
    kCostSlowestFilter,
    // Terms that grow with the bytes of each codec, in decoded MiB.
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
    // Stored tiles count as GDeflate, whose kernel copies them in pieces of at most 64 KiB.
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
    // The parts of a tile, 64 KiB each, are decoded in parallel, and then written one after the
    // other.
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
    // A tile is decoded in passes, one after the other. Some passes take as long as the tile's
    // longest block. The time of the other passes depends only on the logarithm of the tile's size.
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
    // Transcoding follows all decodes. size: bytes of UASTC blocks. work: the time for a block,
    // relative to transcoding it to BC7.
    void addTranscode(uint64_t size, double work) { m_features[kCostUastc] += work * mib(size); }
    void addCopy(uint64_t size)
    {
        m_features[kCostCopy] += mib(size);
        m_features[kCostCopies] += 1;
    }

    // A batch has a list of tiles for each kind. The lists run side by side, so the batch takes as
    // many sequential passes as the list that needs most.
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
    // A tile cannot be slower than an earlier tile that is at least as large, both stored and
    // decoded. This check avoids computing the square roots for most tiles.
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

    // GDeflate and Zstandard have two lists each: [0] for tiles without filters, [1] for tiles with
    // filters. Gstd has one list.
    double m_slowestGdeflate[2] = {}, m_slowestGstd = 0, m_slowestZstd[2] = {};
    Sizes m_largestGdeflate[2] = {}, m_largestGstd;
    bool m_hasFilteredGstd = false;
    bool m_hasFloats[2] = {};
};

// The weight of each feature, in milliseconds per unit of the feature.
struct CostWeights {
    CostFeatures of{};

    // The milliseconds that each of the three groups of terms contributes (CostKind).
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
        double slowestShare, bytesShare; // partial derivatives of the sum
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
    // scale: how many times as long the device takes as the GPU that kStart describes.
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
    // Raises the uncertainty of all weights that this batch depends on, so that they adapt faster.
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
    static constexpr double kMostDeviations = 4; // errors are clamped to this many sigmas
    static constexpr double kVariance = 2;       // of a weight's logarithm, initially and at most
    // The initial weights in milliseconds, of an average GPU.
    static constexpr CostFeatures kStart = {0.01, 0.01, 1,     1,     1,     1,    0.01,
                                            0.02, 0.1,  0.015, 0.002, 0.005, 0.003};

    // Returns d log(time) / d log(weight) for each weight.
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
    // Division by kForgetting raises all variances. The variance of a weight that no batch uses for
    // a long time must not grow without limit.
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
    std::array<double, kCostKinds> m_covariance[kCostKinds] = {}; // of the weights' logarithms
};

// Predicts batches by a robust fit. A batch whose time is far from the prediction, for example
// because a driver compiled something or a debugger stopped the process, is an outlier, and the fit
// does not learn from it. If most of the recent batches are off, the fit is discarded and a new one
// is made from them.
class CostModel {
public:
    const CostWeights& weights() const { return m_fit.weights(); }
    double predict(const CostInputs& inputs) const { return weights().predict(inputs); }
    // Returns the milliseconds that one more of this feature, for example a MiB, adds to a large
    // batch.
    double weight(CostKind kind) const { return weights().of[kind]; }
    // Predicts a batch of one 64 KiB tile of the codec that had the most bytes in the last batch.
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
    // isOff() judges a fit by the last kRecent batches, so it waits until kRecent batches have been
    // measured since the fit was made. A fit that was made before the model had kRecent batches may
    // be judged after kFirst.
    static constexpr uint32_t kRecent = 8, kFirst = 3;
    // Factors between measurement and prediction. kOff: a new fit is made if the median batch is
    // off by more than this. kOutlier: a batch that is off by more than this is an outlier.
    // kSpread: if the recent batches are all off by nearly the same factor, within this, the GPU's
    // clock has changed.
    static constexpr double kOff = 1.5, kOutlier = 3, kSpread = 1.2;
    static constexpr double kMostOutliers = 0.15; // above this fraction, outliers are learnt too

    struct Batch {
        CostFeatures features;
        double measured;
        double logRatio; // log(measurement / prediction)
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
    // Learns from a batch unless it is an outlier. If outliers are frequent, the fit must be wrong
    // for such batches, so it learns from them, and faster.
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
    uint32_t m_count = 0, m_fitSince = 0; // batches measured: in all; when the fit was made
    double m_outliers = 0;                // fraction of recent batches that were outliers
    double m_error = 0;
    CostKind m_lastCodec = kCostGdeflate;
};

} // namespace sluice::stream
