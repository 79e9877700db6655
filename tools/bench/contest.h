// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of the primitives compare the same work by us and by CUB, possibly on two devices. The
// results are checked on all cores of the host, then the work is timed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/peers.h"
#include "tools/bench/report.h"

namespace sluice {

// A buffer that the work writes. expect gets `size` bytes of it from `offset` on, as the device
// wrote them, and overwrites those that the work must have written with their right values. offset
// and size are multiples of elementSize.
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
    const BenchDevice* cub; // `ours` itself, another device, or nullptr: there is no CUB
    BenchReport& report;

    // Runs the work over poisoned results and checks them, then times the work. If the device has
    // graphs, the work runs in a graph. Between two of our commands there are the barriers that an
    // engine would record.
    BenchRow measure(const BenchDevice& device, const std::string& kernel, const std::string& size,
                     const std::string& who, uint64_t bytes, const TimedWork& work) const;
    // Reports once why there is no row of CUB for `kernel`.
    void sayMissing(const std::string& kernel) const;
};

// Holds data on our device and, if CUB runs on another device, the same data there. Data's
// constructor takes the device first.
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
// Calls body(first, last) for parts of the range 0 .. count, on all cores of the host. Rethrows a
// Failure of body.
void inParallel(uint64_t count, const std::function<void(uint64_t first, uint64_t last)>& body);

// Words in host memory that is not cleared before they are generated.
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

// Returns the number of words of the largest arrays. `arrays` of them must easily fit in the
// device's memory. It is a power of two and at most 2^30 (2^20 without a GPU, 2^26 with isBrief).
uint64_t maxWords(const BenchDevice& device, uint64_t arrays);
// Returns the sizes of a sweep: they grow from 2^10 by `factor`; the last one is `limit`, a power
// of two.
std::vector<uint64_t> sweepSizes(uint64_t limit, uint64_t factor);
// Returns how many calls for a size go into one command buffer or graph, at most `limit`. There are
// many for a small size, so that a row gives the cost of one call.
uint32_t callsFor(uint64_t count, uint64_t limit);

} // namespace sluice
