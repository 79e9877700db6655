// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of the primitives compare the same work by us and by CUB, maybe on two devices. It is
// checked on all of the host's cores, then timed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/peers.h"
#include "tools/bench/report.h"

namespace sluice {

// Something that work writes. expect overwrites, of the `bytes` from offset on, which the device
// wrote, those that the work must have written with what they must be. offset and size are
// multiples of elementSize.
struct Result {
    SluiceBuffer buffer;
    uint32_t elementSize;
    std::function<void(uint64_t offset, uint64_t size, uint8_t* bytes)> expect;
    bool poison = true;
};

extern const char* const kCheckedText;

struct TimedWork {
    std::function<void(SluiceCommands commands, uint32_t call)> record;
    uint32_t calls; // one command buffer or graph records it this often; a row is about one call
    std::vector<Result> results;
};

struct Contest {
    const BenchDevice& ours;
    const BenchDevice* cub; // the device itself, another one, or nullptr: there is no CUB
    BenchReport& report;

    // Runs the work over poisoned results, checks these, then times it: in a graph where the device
    // has graphs, with the barriers that an engine would have between two of our commands.
    BenchRow measure(const BenchDevice& device, const std::string& kernel, const std::string& size,
                     const std::string& who, uint64_t bytes, const TimedWork& work) const;
    // Says once why no CUB is beside `kernel`.
    void sayMissing(const std::string& kernel) const;
};

// Data on our device and, if CUB runs on another one, the same there. Data's constructor takes the
// device first.
template <class Data>
class Twins {
public:
    template <class... Arguments>
    explicit Twins(const Contest& contest, const Arguments&... arguments)
        : ours(contest.ours, arguments...)
    {
        if (contest.cub != nullptr && contest.cub != &contest.ours)
            m_twin = std::make_unique<Data>(*contest.cub, arguments...);
    }
    Data& theirs() { return m_twin ? *m_twin : ours; }

    Data ours;

private:
    std::unique_ptr<Data> m_twin;
};

uint32_t scrambled(uint32_t value);    // a hash
std::string powerText(uint64_t count); // 2^20
// body(first, last) for parts of 0 .. count, on all cores of the host. A Failure of body is thrown
// again.
void inParallel(uint64_t count, const std::function<void(uint64_t first, uint64_t last)>& body);

// Words of the host that nobody clears first.
struct HostWords {
    std::unique_ptr<uint32_t[]> words;
    uint64_t count;

    HostWords(uint64_t words, const std::function<uint32_t(uint32_t index)>& word);
    const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(words.get()); }
    void uploadTo(const BenchDevice& device, SluiceBuffer to) const
    {
        device.upload(to, words.get(), count * 4);
    }
};

// Words of the largest arrays, of which `arrays` must fit easily in the device's memory; a power of
// two, 2^30 at most (2^20 without a GPU, 2^26 where isBrief).
uint64_t maxWords(const BenchDevice& device, uint64_t arrays);
// Sizes of a sweep: from 2^10 on by `factor`, `limit` (a power of two) the last one.
std::vector<uint64_t> sweepSizes(uint64_t limit, uint64_t factor);
// Small sizes are done that often in one command buffer or graph, so that a row says what a call
// costs; at most `limit`.
uint32_t callsFor(uint64_t count, uint64_t limit);

} // namespace sluice
