// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of the primitives: we and CUB do the same work, possibly on two devices (Vulkan and CUDA
// on one GPU). The host checks the results of both on all cores. Then both are timed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/peers.h"
#include "tools/bench/report.h"

namespace sluice {

// A buffer that the work writes. expect() gets `size` bytes from `offset` on, as the device wrote
// them, and replaces them by the right values; bytes that the work need not write stay. The caller
// then compares: each byte that has changed is an error. offset and size are multiples of
// elementSize.
struct Result {
    SluiceBuffer buffer;
    uint32_t elementSize;
    std::function<void(uint64_t offset, uint64_t size, uint8_t* bytes)> expect;
    bool poison = true;
};

extern const char* const kCheckedText;

struct TimedWork {
    std::function<void(SluiceCommands commands, uint32_t call)> record;
    // How many times one command buffer or graph calls `record`. Rows give the time of one call.
    uint32_t calls;
    std::vector<Result> results;
};

struct Contest {
    const BenchDevice& ours;
    const BenchDevice* cub; // device on which CUB runs, maybe `ours`; nullptr: no CUB
    BenchReport& report;

    // Overwrites the results with a pattern, runs the work, checks the results, then times the
    // work, in a graph if the device has graphs. Our commands have the barriers between them that
    // an engine would record.
    BenchRow measure(const BenchDevice& device, const std::string& kernel, const std::string& size,
                     const std::string& who, uint64_t bytes, const TimedWork& work) const;
    // If there is no CUB, adds a row for `kernel` that says why.
    void sayMissing(const std::string& kernel) const;
};

// Holds the buffers of a benchmark (`Data`) on our device and, if CUB runs on another device, the
// same content there. Data's constructor takes the device first.
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
std::string powerText(uint64_t count); // for example "2^20"
// Divides the numbers 0 to `count` - 1 into ranges, and calls body(first, last) for each on some
// core; `last` is not in the range. Throws the Failure that body threw.
void inParallel(uint64_t count, const std::function<void(uint64_t first, uint64_t last)>& body);

// Words in host memory. The constructor makes them on all cores; word i is word(i).
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

// Returns how many words the largest arrays have, a power of two, such that `arrays` of them fit
// easily into the device's memory: at most 2^30, without a GPU 2^20, and 2^26 if isBrief().
uint64_t maxWords(const BenchDevice& device, uint64_t arrays);
// Returns sizes from 2^10 on, each `factor` times the one before. The last is `limit`, a power of
// two.
std::vector<uint64_t> sweepSizes(uint64_t limit, uint64_t factor);
// Returns how many calls on `count` words go into one command buffer or graph, at most `limit`.
// Small sizes get many, so that starting the command buffer or graph does not count.
uint32_t callsFor(uint64_t count, uint64_t limit);

} // namespace sluice
