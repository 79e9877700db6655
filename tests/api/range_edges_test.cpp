// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the ends of ranges for every command that decodes from one range into another. Bytes that
// end exactly where their range ends are decoded. If they reach out by even one byte, the status is
// the one that the headers name. Nothing outside the ranges is read or written.
#include "tests/support/range_subjects.h"
#include "tests/stream/stream_engine.h"

#include <sluice/sluice_interval.h>

#include "tests/support/system.h"

#include <algorithm>
#include <memory>

using namespace sluice::test;

namespace {

constexpr uint64_t kLead = 64; // bytes of the buffer before the tested range

// How much smaller the ranges are than the bytes in them need.
struct Edge {
    std::string name;
    uint32_t beginsLater; // 1: the range begins one alignment step later
    uint32_t endsEarlier; // the range ends this many bytes earlier
};
const Edge kEdges[] = {
    {"exactly", 0, 0},
    {"begins behind the first byte", 1, 0},
    {"ends a byte before the last", 0, 1},
    {"ends four bytes before the last", 0, 4},
};

Bytes between(const Bytes& bytes, uint8_t guard)
{
    Bytes all(bytes.size() + 2 * kLead, guard);
    std::copy(bytes.begin(), bytes.end(), all.begin() + kLead);
    return all;
}

SluiceBuffer rangeAt(const Buffer& buffer, uint64_t size, const Edge& edge, uint32_t step)
{
    SluiceBuffer range = buffer.range();
    range.offset += kLead + edge.beginsLater * step;
    range.size = size - edge.endsEarlier - edge.beginsLater * step;
    return range;
}

void checkEdge(const Subject& subject, const Edge& from, const Edge& to, bool isGood)
{
    CAPTURE(subject.name);
    CAPTURE(from.name);
    CAPTURE(to.name);
    const Bytes poison(subject.expected.size(), Buffer::kPoison);
    const Bytes& before = subject.before.empty() ? poison : subject.before;
    Buffer source(device(), between(subject.source, 0x3C));
    Buffer destination(device(), between(before, Buffer::kPoison));
    Placement at = {};
    at.sourceAddress = source.address() + kLead;
    at.destinationAddress = destination.address() + kLead;
    at.sourceOffset = uint64_t{0} - from.beginsLater * subject.sourceStep;
    at.destinationOffset = uint64_t{0} - to.beginsLater * subject.destinationStep;
    at.source = subject.source.empty()
                    ? SluiceBuffer{}
                    : rangeAt(source, subject.source.size(), from, subject.sourceStep);
    at.destination = rangeAt(destination, before.size(), to, subject.destinationStep);
    const Words statuses = subject.run(device(), at);
    CHECK(statuses == Words(statuses.size(), isGood ? uint32_t(SLUICE_TILE_OK) : subject.refused));
    CHECK((destination.bytes() == between(isGood ? subject.expected : before, Buffer::kPoison)));
}

// Memory with an inaccessible page before it and after it. The bytes of a range begin where it
// begins, or end where it ends, as exactly as their alignment allows.
class FencedMemory {
public:
    explicit FencedMemory(size_t size) : m_size((size + kPage - 1) / kPage * kPage)
    {
        uint8_t* const memory = mapMemory(m_size + 2 * kPage, false);
        REQUIRE(memory != nullptr);
        m_pages = memory + kPage;
        REQUIRE(makeTouchable(m_pages, m_size));
        std::memset(m_pages, Buffer::kPoison, m_size);
    }
    ~FencedMemory() { unmapMemory(m_pages - kPage, m_size + 2 * kPage); }
    FencedMemory(const FencedMemory&) = delete;
    FencedMemory& operator=(const FencedMemory&) = delete;

    uint8_t* data() const { return m_pages; }
    size_t size() const { return m_size; }

    static constexpr size_t kPage = 4096;

private:
    size_t m_size;
    uint8_t* m_pages;
};

// FencedMemory that the device can use as a buffer.
struct FencedBuffer {
    explicit FencedBuffer(size_t size) : memory(size) {}

    // Returns false if the device cannot use memory of the host.
    bool open(Device& on, Engine* engine)
    {
        if (on.backend() == SLUICE_BACKEND_CPU) {
            handle = address = uint64_t(uintptr_t(memory.data()));
            return true;
        }
        SluiceStreamMemory imported = {};
        if (engine == nullptr || !engine->importHost(memory.data(), memory.size(), imported))
            return false;
        handle = imported.buffer.handle;
        address = engine->addressOf(imported.buffer);
        return true;
    }

    FencedMemory memory;
    uint64_t handle = 0, address = 0;
};

// Returns the offset of `size` bytes that begin with the memory or, if atEnd, end with it.
uint64_t placeIn(const FencedMemory& memory, uint64_t size, uint64_t alignment, bool atEnd)
{
    return atEnd ? (memory.size() - size) / alignment * alignment : 0;
}

void checkFenced(const Subject& subject, Engine* engine, bool atEnd)
{
    CAPTURE(subject.name);
    CAPTURE(atEnd);
    FencedBuffer source(std::max<size_t>(subject.source.size(), 1)),
        destination(subject.expected.size());
    REQUIRE(source.open(device(), engine));
    REQUIRE(destination.open(device(), engine));
    const uint64_t from = placeIn(source.memory, subject.source.size(), subject.sourceStep, atEnd);
    // 16, since outputs of float tensors must be aligned to that.
    const uint64_t to = placeIn(destination.memory, subject.expected.size(), 16, atEnd);
    std::copy(subject.source.begin(), subject.source.end(), source.memory.data() + from);
    std::copy(subject.before.begin(), subject.before.end(), destination.memory.data() + to);
    Placement at = {};
    at.sourceAddress = source.address + from;
    at.destinationAddress = destination.address + to;
    if (!subject.source.empty()) at.source = {source.handle, from, subject.source.size()};
    at.destination = {destination.handle, to, subject.expected.size()};
    const Words statuses = subject.run(device(), at);
    CHECK(statuses == Words(statuses.size(), SLUICE_TILE_OK));
    const uint8_t* out = destination.memory.data() + to;
    CHECK(std::equal(subject.expected.begin(), subject.expected.end(), out));
    CHECK(std::all_of(destination.memory.data(), destination.memory.data() + to,
                      [](uint8_t byte) { return byte == Buffer::kPoison; }));
    CHECK(std::all_of(out + subject.expected.size(),
                      static_cast<const uint8_t*>(destination.memory.data()) +
                          destination.memory.size(),
                      [](uint8_t byte) { return byte == Buffer::kPoison; }));
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("range edges: what ends with its range is decoded, what reaches out is refused")
{
    for (const Subject& subject : rangeSubjects()) {
        for (const Edge& edge : kEdges) {
            const bool isGood = &edge == &kEdges[0];
            checkEdge(subject, kEdges[0], edge, isGood);
            if (!isGood && !subject.source.empty()) checkEdge(subject, edge, kEdges[0], false);
        }
    }
}

TEST_CASE("range edges: nothing outside is read, between pages that nobody may touch")
{
    std::unique_ptr<Engine> engine;
    if (device().backend() == SLUICE_BACKEND_VULKAN) engine = std::make_unique<Engine>(device());
    FencedBuffer any(1);
    if (!any.open(device(), engine.get())) return skipCase("the device does not import memory");
    for (const Subject& subject : rangeSubjects()) {
        checkFenced(subject, engine.get(), false);
        checkFenced(subject, engine.get(), true);
    }
    if (engine != nullptr) engine->waitIdle();
}

TEST_SUITE_END();
