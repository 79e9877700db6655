// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the model that predicts what batches cost, on made-up devices.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "stream/cost_model.h"

using namespace sluice::stream;

namespace {

enum class Sizes {
    small, // like textures that arrive one by one
    any,   // from 0.01 MiB to 100 MiB
    two    // half of them very small, the others mostly large
};

// How a device does several things at once: side by side as far as there is room, or one after the
// other.
enum class Overlap {
    sideBySide,
    none
};

// A device whose costs are not those with which the model starts.
class MadeUpDevice {
public:
    MadeUpDevice(double scale, Overlap overlap) : m_scale(scale), m_overlap(overlap) {}

    void setScale(double scale) { m_scale = scale; }
    // Gstd costs `factor` times as much from now on.
    void setGstd(double factor) { m_gstd = factor; }
    // Makes one batch: the model predicts its cost and learns from a measurement with 5 % noise.
    // Returns the prediction's error in relation to the measurement.
    double batch(CostModel& model, Sizes sizes, double disturbance = 1)
    {
        const double mib = sizes == Sizes::small ? 0.1 + uniform() * 4
                           : sizes == Sizes::any ? std::exp(uniform() * 9 - 4.5)
                           : uniform() < 0.5     ? 0.2
                                                 : 30 * uniform();
        const uint32_t number = m_batches++;
        CostInputs inputs;
        const auto size = [&] { return uint32_t(1024 + uniform() * 64512); };
        for (double left = mib * 1048576; left > 0;) {
            const uint32_t bytes = size();
            const uint32_t stored = 1 + uint32_t(uniform() * bytes);
            if (number % 3 == 2)
                inputs.addGstdTile(stored, 4 * bytes, uniform() < 0.7);
            else
                inputs.addGdeflateTile(stored, bytes, false);
            left -= number % 3 == 2 ? 4 * bytes : bytes;
        }
        if (number % 4 == 0)
            for (uint32_t i = 0; i < 1 + number % 16; ++i)
                inputs.addCopy(size());
        const double measured =
            time(inputs.features()) * m_scale * (0.95 + 0.1 * uniform()) * disturbance;
        const double error = std::abs(model.predict(inputs) - measured) / measured;
        model.learn(inputs, measured);
        return error;
    }
    // Makes batches and returns the error that only a tenth of them exceeds.
    double error(CostModel& model, Sizes sizes, uint32_t batches)
    {
        std::vector<double> errors;
        for (uint32_t i = 0; i < batches; ++i)
            errors.push_back(batch(model, sizes));
        std::sort(errors.begin(), errors.end());
        return errors[errors.size() * 9 / 10];
    }

private:
    double time(const CostFeatures& x) const
    {
        const double slowest = 0.03 + x[kCostPasses] * 0.015 + x[kCostSlowestGdeflate] * 1.2 +
                               x[kCostSlowestGstd] * 0.7 * m_gstd + x[kCostSlowestFilter] * 2;
        const double bytes = x[kCostGdeflate] * 0.007 + x[kCostGstd] * 0.02 * m_gstd;
        const double copies = x[kCostCopy] * 0.002 + x[kCostCopies] * 0.004;
        return copies + (m_overlap == Overlap::sideBySide
                             ? std::sqrt(slowest * slowest + bytes * bytes)
                             : slowest + bytes);
    }
    double uniform() { return std::uniform_real_distribution<double>(0, 1)(m_random); }

    double m_scale, m_gstd = 1;
    Overlap m_overlap;
    uint32_t m_batches = 0;
    std::mt19937 m_random{20261124};
};

constexpr uint32_t kBatchesToLearn = 50;
constexpr double kGoal = 0.2;

} // namespace

TEST_CASE("cost model: devices of any speed are learnt in fifty batches")
{
    for (const double scale : {0.02, 1.0, 100.0, 5000.0}) {
        for (const Sizes sizes : {Sizes::small, Sizes::any, Sizes::two}) {
            for (const Overlap overlap : {Overlap::sideBySide, Overlap::none}) {
                CAPTURE(scale);
                CAPTURE(int(sizes));
                CAPTURE(int(overlap));
                CostModel model;
                MadeUpDevice device(scale, overlap);
                for (uint32_t i = 0; i < kBatchesToLearn; ++i)
                    device.batch(model, sizes);
                CHECK(device.error(model, sizes, 300) < kGoal);
                CHECK(model.error() < kGoal);
            }
        }
    }
}

TEST_CASE(
    "cost model: a clock that changes is learnt anew, and one disturbed batch is not believed")
{
    CostModel model;
    MadeUpDevice device(1, Overlap::sideBySide);
    for (uint32_t i = 0; i < 500; ++i)
        device.batch(model, Sizes::any);
    for (const double scale : {3.0, 0.5}) {
        device.setScale(scale);
        for (uint32_t i = 0; i < 2 * kBatchesToLearn; ++i)
            device.batch(model, Sizes::any);
        CHECK(device.error(model, Sizes::any, 200) < kGoal);
    }
    device.batch(model, Sizes::any, 20);
    CHECK(device.error(model, Sizes::any, kBatchesToLearn) < kGoal);
}

TEST_CASE("cost model: whatever came before, 32 batches that agree are enough")
{
    struct History {
        const char* name;
        void (*run)(CostModel& model, MadeUpDevice& device, Sizes sizes, double scale);
    };
    const History histories[] = {
        {"the first batch takes a thousand times as long",
         [](CostModel& model, MadeUpDevice& device, Sizes sizes, double) {
             device.batch(model, sizes, 1000);
         }},
        {"the first ones compile something",
         [](CostModel& model, MadeUpDevice& device, Sizes sizes, double) {
             for (const double disturbance : {1000.0, 300.0, 100.0, 30.0, 10.0})
                 device.batch(model, sizes, disturbance);
         }},
        {"each hundredth batch takes a hundred times as long",
         [](CostModel& model, MadeUpDevice& device, Sizes sizes, double) {
             for (uint32_t i = 0; i < 1000; ++i)
                 device.batch(model, sizes, i % 100 == 0 ? 100 : 1);
         }},
        {"the clock falls to a sixth",
         [](CostModel& model, MadeUpDevice& device, Sizes sizes, double scale) {
             for (uint32_t i = 0; i < 200; ++i)
                 device.batch(model, sizes);
             device.setScale(6 * scale);
         }},
        {"the clock falls to a sixth and returns",
         [](CostModel& model, MadeUpDevice& device, Sizes sizes, double scale) {
             for (uint32_t i = 0; i < 300; ++i) {
                 device.setScale(i < 200 ? scale : 6 * scale);
                 device.batch(model, sizes);
             }
             device.setScale(scale);
         }},
        {"a debugger stops the process in many batches",
         [](CostModel& model, MadeUpDevice& device, Sizes sizes, double) {
             for (uint32_t i = 0; i < 200; ++i)
                 device.batch(model, sizes, 1e6);
         }},
    };
    for (const History& history : histories) {
        for (const double scale : {0.02, 1.0, 5000.0}) {
            for (const Sizes sizes : {Sizes::small, Sizes::any, Sizes::two}) {
                CAPTURE(history.name);
                CAPTURE(scale);
                CAPTURE(int(sizes));
                CostModel model;
                MadeUpDevice device(scale, Overlap::sideBySide);
                history.run(model, device, sizes, scale);
                for (uint32_t i = 0; i < 32; ++i)
                    device.batch(model, sizes);
                CHECK(device.error(model, sizes, 100) < 0.3);
            }
        }
    }
}

TEST_CASE("cost model: a codec that becomes dearer or cheaper alone is learnt anew")
{
    for (const double factor : {0.1, 10.0}) {
        CAPTURE(factor);
        CostModel model;
        MadeUpDevice device(1, Overlap::sideBySide);
        for (uint32_t i = 0; i < 200; ++i)
            device.batch(model, Sizes::any);
        device.setGstd(factor);
        for (uint32_t i = 0; i < 3 * kBatchesToLearn; ++i)
            device.batch(model, Sizes::any);
        CHECK(device.error(model, Sizes::any, 200) < kGoal);
    }
}

TEST_CASE("cost model: a stored tile costs no more than its bytes in tiles that are decoded")
{
    const CostModel model;
    CostInputs stored, decoded;
    stored.addStoredTile(1 << 20, false);
    for (uint32_t i = 0; i < 16; ++i)
        decoded.addGdeflateTile(32768, 65536, false);
    CHECK(model.predict(stored) < model.predict(decoded));
    CHECK(model.predict(stored) > model.predict(CostInputs()));
}

TEST_CASE("cost model: what makes no sense is not learnt")
{
    CostModel model;
    CostInputs x;
    x.addFloatTile(1 << 20, true);
    CHECK(model.predict(CostInputs()) > 0);
    const double before = model.predict(x);
    for (const double measured : {0.0, -1.0, double(NAN), double(INFINITY)})
        model.learn(x, measured);
    CHECK(model.predict(x) == before);
    for (uint32_t i = 0; i < 200; ++i)
        model.learn(x, 1e-5);
    CHECK(model.predict(x) >= 0);
    for (uint32_t i = 0; i < CostKind::kCostKinds; ++i)
        CHECK(model.weight(CostKind(i)) >= 0);
}
