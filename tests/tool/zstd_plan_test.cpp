// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests how the tool divides the frames of a Zstandard file among threads.
#include <set>
#include <stdexcept>

#include "formats/little_endian.h"
#include "tests/support/devices.h"
#include "tools/common/zstd/zstd_decoder.h"

using namespace sluice::test;
using sluice::cpu::fast::ZstdWindow;

namespace {

void add(Bytes& bytes, uint64_t value, size_t size)
{
    bytes.resize(bytes.size() + size);
    sluice::storeLe(bytes.data() + bytes.size() - size, value, size);
}

// Appends a frame of RLE blocks. A size that it does not say is that of its blocks all the same.
void addFrame(Bytes& bytes, uint32_t windowLog, bool hasSize, uint32_t size)
{
    constexpr uint32_t kBlock = 128 << 10;
    add(bytes, SLUICE_ZS_MAGIC, 4);
    add(bytes, hasSize ? 0x80 : 0, 1);
    add(bytes, (windowLog - 10) << 3, 1);
    if (hasSize) add(bytes, size, 4);
    while (size > 0) {
        const uint32_t block = std::min(size, kBlock);
        size -= block;
        add(bytes, block << 3 | 2 | (size == 0 ? 1 : 0), 3);
        add(bytes, 'r', 1);
    }
}

struct Planned {
    explicit Planned(const Bytes& bytes)
        : none(""), file(std::make_unique<sluice::InputFile>("x.zst", bytes), &none),
          plan(file, UINT64_MAX, 0, false)
    {
    }

    sluice::ZstdDictionary none;
    sluice::ZstdFile file;
    sluice::ZstdPlan plan;
};

// Fails at one run.
class FailingSink : public sluice::ZstdSink {
public:
    explicit FailingSink(size_t at) : m_at(at) {}
    void write(size_t run, uint64_t, const uint8_t*, size_t) override
    {
        if (run == m_at) throw std::runtime_error("this run fails");
    }
    void end(size_t run) override
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        ended.insert(run);
    }
    void stop(size_t run) override
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        stopped.insert(run);
    }

    std::set<size_t> ended, stopped;

private:
    const size_t m_at;
    std::mutex m_mutex;
};

} // namespace

TEST_CASE("zstd plan: a small frame does not get the memory of a large one")
{
    constexpr uint32_t kLarge = 100 << 20;
    Bytes bytes;
    addFrame(bytes, 27, false, 10);
    const size_t second = bytes.size();
    addFrame(bytes, 17, true, kLarge);
    const size_t third = bytes.size();
    addFrame(bytes, 27, false, 10);
    const Planned planned(bytes);
    const std::vector<sluice::ZstdRun>& runs = planned.plan.runs();
    REQUIRE(runs.size() == 3);
    CHECK(runs[1].begin == second);
    CHECK(runs[2].begin == third);
    CHECK(runs[2].output == kLarge + 10);
    CHECK(runs[0].size == 10);
    CHECK(planned.plan.size() == kLarge + 20);
    CHECK(planned.plan.memory() < 2 << 20); // the window of 2^17 bytes, and room to slide
}

TEST_CASE("zstd plan: memory is that of the whole run for frames that do not say their size")
{
    Bytes bytes;
    addFrame(bytes, 27, false, 10);
    addFrame(bytes, 17, true, 1900 << 10);
    addFrame(bytes, 20, false, 20);
    const Planned planned(bytes);
    REQUIRE(planned.plan.runs().size() == 1);
    const uint64_t size = planned.plan.runs()[0].size;
    CHECK(size == (1900 << 10) + 30);
    sluice::zstd::Frame header;
    header.window = 1 << 27;
    CHECK(planned.plan.memory() >= ZstdWindow::memoryFor(header, size));
}

TEST_CASE("zstd plan: runs before one that fails are decoded")
{
    constexpr size_t kRuns = 12, kBad = 7;
    Bytes bytes;
    for (size_t i = 0; i < kRuns; ++i)
        addFrame(bytes, 17, true, 2 << 20);
    const Planned planned(bytes);
    REQUIRE(planned.plan.runs().size() == kRuns);
    for (uint32_t i = 0; i < 20; ++i) {
        FailingSink sink(kBad);
        CHECK_THROWS_AS(sluice::ZstdDecoder(planned.file, planned.plan, sink, false).run(4),
                        std::runtime_error);
        CHECK(sink.stopped == std::set<size_t>{kBad});
        for (size_t run = 0; run < kBad; ++run)
            CHECK(sink.ended.count(run) == 1);
        CHECK(sink.ended.count(kBad) == 0);
    }
}
