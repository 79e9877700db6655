// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/tune/tune_measure.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

// A run of this length is long compared with the time to submit it. Shorter runs are repeated in
// one submission.
constexpr double kPassesMilliseconds = 0.2;
constexpr uint32_t kMostPasses = 16, kMostRounds = 25;
// The least relative noise that is assumed: kLeastNoise for a median of 5 runs or more, kNoiseOfOne
// for fewer runs. Slow devices have time for only one run.
constexpr double kLeastNoise = 0.01, kNoiseOfOne = 0.1;
constexpr uint64_t kMostBytes = 512u << 20;

const WorkKind& workNamed(const std::string& name)
{
    const auto found = std::find_if(works().begin(), works().end(),
                                    [&](const WorkKind& one) { return one.name == name; });
    if (found == works().end()) throw WorkFailure(SLUICE_ERROR_ARGUMENT, name);
    return *found;
}

double at(const std::vector<double>& sorted, double part)
{
    return sorted[size_t(part * double(sorted.size() - 1) + 0.5)];
}

bool isFaster(const TunePoint::Time& a, const TunePoint::Time& b)
{
    return a.milliseconds < b.milliseconds * (1 - std::max(a.noise, b.noise));
}

} // namespace

struct Tuner::Entrant {
    uint32_t value;
    TuneDevice* device;
    const Work* work;
    const TuningField* field; // set before each run; null: the value is compiled in
};

Tuner::Tuner(const DeviceOptions& options, double seconds)
    : m_options(options), m_usual(options, SLUICE_KERNELS_FSE, ""),
      m_end(Clock::now() +
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)))
{
}

std::string Tuner::row() const
{
    std::string text;
    for (const auto& [name, value] : m_chosen)
        text += name + "=" + std::to_string(value) + "\n";
    return text;
}

WorkLimits Tuner::limits(const Knob& knob, size_t devices) const
{
    if (!m_usual.traits().isGpu) return {256u << 10, 4096};
    const uint64_t memory = std::min(m_usual.properties().memorySize / 4, kMostBytes);
    return {memory / devices, knob.tileBytes != 0 ? knob.tileBytes : 65536u};
}

std::vector<uint32_t> Tuner::valuesOf(const Knob& knob, uint32_t usual) const
{
    const TuningField& field = *m_usual.field(knob.field);
    const uint32_t processors = m_usual.traits().processors;
    std::vector<uint32_t> values = {usual};
    const auto add = [&](uint32_t value) {
        if (field.allows(value) && std::find(values.begin(), values.end(), value) == values.end())
            values.push_back(value);
    };
    for (const uint32_t value : knob.values)
        if (!knob.perProcessor || value == 0 || processors != 0)
            add(knob.perProcessor ? value * processors : value);
    if (knob.perProcessor && processors == 0)
        for (uint32_t value = 16; value <= 1024; value *= 2)
            add(value);
    return values;
}

TuneResult Tuner::candidatesOf(const Knob& knob) const
{
    const TuningField& field = *m_usual.field(knob.field);
    TuneResult result = {field, m_usual.value(field), m_usual.value(field), "", {}, {}};
    if (field.least == field.most) {
        result.why = "the only value there is";
        return result;
    }
    if (knob.whyNot != nullptr && knob.whyNot(m_usual.traits()) != nullptr) {
        result.why = std::string("left alone: ") + knob.whyNot(m_usual.traits());
        return result;
    }
    result.candidates = knob.kind == Knob::Kind::choose ? valuesOf(knob, result.usual)
                                                        : std::vector{knob.off, knob.on};
    return result;
}

TuneResult Tuner::measure(const Knob& knob, uint32_t laterKnobs)
{
    TuneResult result = candidatesOf(knob);
    if (result.candidates.empty()) return result;
    const TuningField& field = result.field;
    const Clock::time_point now = Clock::now();
    m_knobEnd = now + std::max(m_end - now, Clock::duration()) / (laterKnobs + 1);
    if (knob.kind == Knob::Kind::choose)
        choose(knob, result);
    else
        findThreshold(knob, result);
    if (result.chosen != result.usual) m_chosen.emplace_back(field.name, result.chosen);
    return result;
}

TunePoint Tuner::contest(std::vector<Entrant>& entrants, const char* work, uint32_t length,
                         Clock::time_point until) const
{
    TunePoint point = {work, entrants[0].work->unit, length, {}};
    std::vector<std::vector<double>> samples(entrants.size());
    const auto run = [&](const Entrant& one, uint32_t passes) {
        if (one.field != nullptr) one.device->set(*one.field, one.value);
        return one.device->time(*one.work, length, passes);
    };
    // The first run of each entrant (a value to compare) allocates scratch and, with some drivers,
    // compiles. Further runs show how many must be timed together.
    const bool isGpu = m_usual.traits().isGpu;
    double shortest = kPassesMilliseconds;
    for (uint32_t i = 0; i < (isGpu ? 3u : 1u); ++i)
        for (const Entrant& one : entrants) {
            const double milliseconds = run(one, 1);
            if (i == 0) one.work->checkStatus(length);
            if (i != 0) shortest = std::min(shortest, std::max(milliseconds, 1e-3));
        }
    const uint32_t passes =
        isGpu ? std::clamp(uint32_t(kPassesMilliseconds / shortest), 1u, kMostPasses) : 1u;
    const uint32_t leastRounds = isGpu ? 5 : 1;
    for (uint32_t round = 0; round < leastRounds || (round < kMostRounds && Clock::now() < until);
         ++round)
        for (size_t i = 0; i < entrants.size(); ++i)
            samples[i].push_back(run(entrants[i], passes));
    for (size_t i = 0; i < entrants.size(); ++i) {
        std::vector<double>& times = samples[i];
        std::sort(times.begin(), times.end());
        const double median = at(times, 0.5);
        const double spread = (at(times, 0.75) - at(times, 0.25)) / 2 / median;
        point.times.push_back({entrants[i].value, median,
                               std::max(spread, times.size() < 5 ? kNoiseOfOne : kLeastNoise)});
    }
    return point;
}

// Chooses the value that is fastest on average over all works, each measured with its longest list
// and with one of an eighth of that length. The usual value stays unless another one is clearly
// faster.
void Tuner::choose(const Knob& knob, TuneResult& result)
{
    std::vector<uint32_t> values = result.candidates;
    const TuningField& field = result.field;
    std::vector<std::unique_ptr<TuneDevice>> devices;
    for (size_t i = 0; i < (knob.isMade ? values.size() : 1);) {
        std::string text = knob.row + ("\n" + row());
        if (knob.isMade) text += std::string(field.name) + "=" + std::to_string(values[i]);
        devices.push_back(std::make_unique<TuneDevice>(m_options, knob.kernels, text));
        const auto at = values.begin() + std::ptrdiff_t(i);
        if (knob.isMade) *at = devices.back()->value(field); // the device may have rounded it
        if (std::find(values.begin(), at, *at) == at) {
            ++i;
        } else {
            devices.pop_back();
            values.erase(at);
        }
    }
    std::vector<double> scores(values.size()); // sums of log(time / time of the usual value)
    std::vector<double> noise(values.size());
    const auto share = (m_knobEnd - Clock::now()) / (2 * knob.works.size());
    for (const char* name : knob.works) {
        std::vector<std::unique_ptr<Work>> work;
        for (const auto& device : devices)
            work.push_back(workNamed(name).make(device->handle(), limits(knob, devices.size())));
        std::vector<Entrant> entrants;
        for (size_t i = 0; i < values.size(); ++i) {
            const size_t which = knob.isMade ? i : 0;
            entrants.push_back({values[i], devices[which].get(), work[which].get(),
                                knob.isMade ? nullptr : &field});
        }
        for (const uint32_t length : {work[0]->most, std::max(work[0]->most / 8, 1u)}) {
            const TunePoint point = contest(entrants, name, length, Clock::now() + share);
            for (size_t i = 0; i < values.size(); ++i) {
                scores[i] += std::log(point.times[i].milliseconds / point.times[0].milliseconds);
                noise[i] = std::max(noise[i], point.times[i].noise);
            }
            result.points.push_back(point);
        }
    }
    const size_t best = size_t(std::min_element(scores.begin(), scores.end()) - scores.begin());
    const double lists = double(2 * knob.works.size());
    const double least = std::max(noise[0], noise[best]);
    result.chosen = scores[best] / lists < -least ? values[best] : values[0];
    const TunePoint& first = result.points[0];
    result.why = formatText("%u takes %.3g ms for %u %s of %s; times relative to that:", values[0],
                            first.times[0].milliseconds, first.length, first.unit.c_str(),
                            first.work.c_str());
    for (size_t i = 1; i < values.size(); ++i)
        result.why +=
            formatText("%s %u: %.2f", i == 1 ? "" : ",", values[i], std::exp(scores[i] / lists));
}

// Chooses a threshold: measures lists of growing length with the pipeline in question and without
// it.
void Tuner::findThreshold(const Knob& knob, TuneResult& result)
{
    const bool isUpTo = knob.kind == Knob::Kind::upTo;
    TuneDevice device(m_options, knob.kernels, knob.row + ("\n" + row()));
    const auto work = workNamed(knob.works[0]).make(device.handle(), limits(knob, 1));
    std::vector<Entrant> entrants = {{knob.on, &device, work.get(), &result.field},
                                     {knob.off, &device, work.get(), &result.field}};
    const double each = knob.elementsEach != nullptr ? knob.elementsEach(device) : 1;
    if (each == 0) {
        result.why = "left alone: its pipeline is not used";
        return;
    }
    std::vector<uint32_t> lengths = work->lengths;
    const double step = m_usual.traits().isGpu ? std::sqrt(2.0) : 4;
    for (double value = std::max(1.0, 1 / each); lengths.empty() || work->lengths.empty();
         value *= step) {
        const double length = std::floor(value + 0.5) * each;
        const bool isAllowed = !isUpTo || result.field.allows(uint32_t(value + 0.5));
        if (length > work->most || !isAllowed) break;
        if (lengths.empty() || lengths.back() != uint32_t(length))
            lengths.push_back(uint32_t(length));
    }
    const auto valueOf = [&](uint32_t length) {
        return std::max(uint32_t(length / each + 0.5), result.field.least);
    };
    uint32_t lost = 0;   // how many times in a row the pipeline was slower
    size_t decisive = 0; // 1 + index of the point that decides; 0: none so far
    for (size_t i = 0; i < lengths.size(); ++i) {
        const auto share = (m_knobEnd - Clock::now()) / int(lengths.size() - i);
        result.points.push_back(contest(entrants, knob.works[0], lengths[i], Clock::now() + share));
        const TunePoint& point = result.points.back();
        const bool wins = isFaster(point.times[0], point.times[1]);
        const bool loses = isFaster(point.times[1], point.times[0]);
        lost = loses ? lost + 1 : 0;
        if (isUpTo) {
            if (wins) decisive = i + 1;
            if (lost == 3) break;
        } else {
            if (loses) decisive = 0;
            if (wins && decisive == 0) decisive = i + 1;
        }
    }
    if (result.points.empty()) {
        result.why = "left alone: there is no memory for lists that are long enough";
        return;
    }
    const TunePoint& last = result.points.back();
    const TunePoint& point = decisive != 0 ? result.points[decisive - 1] : last;
    result.why =
        formatText("with it %.3g ms, without %.3g ms at %u %s", point.times[0].milliseconds,
                   point.times[1].milliseconds, point.length, point.unit.c_str());
    if (decisive != 0) {
        result.chosen = valueOf(point.length);
        // The pipeline was faster even for the longest list that could be measured. So a usual
        // threshold that is higher stays.
        if (isUpTo && decisive == lengths.size())
            result.chosen = std::max(result.chosen, result.usual);
    } else if (isUpTo || result.usual == knob.off || result.usual <= valueOf(last.length)) {
        result.chosen = knob.off;
        result.why += ", and nowhere faster";
    } else {
        result.why += "; longer lists do not fit";
    }
}

} // namespace sluice
