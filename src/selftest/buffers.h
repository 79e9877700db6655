// SPDX-License-Identifier: MIT OR Apache-2.0
// The buffers of one self-test on one device, and the results that the test takes from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <sluice/sluice_device.h>

namespace sluice::selftest {

using Bytes = std::vector<uint8_t>;
using Words = std::vector<uint32_t>;

class Random { // a linear congruential generator, which gives the same numbers on every machine
public:
    explicit Random(uint32_t seed) : m_state(seed) {}

    uint32_t next()
    {
        m_state = m_state * 1664525u + 1013904223u;
        return m_state >> 8;
    }
    uint32_t below(uint32_t end) { return next() % end; }
    Bytes bytes(size_t size)
    {
        Bytes made(size);
        for (uint8_t& byte : made)
            byte = uint8_t(next());
        return made;
    }
    Words words(size_t count)
    {
        Words made(count);
        for (uint32_t& word : made)
            word = next() << 8 ^ next();
        return made;
    }

private:
    uint32_t m_state;
};

// The first error stays in `status`; after it, all calls do nothing.
class CaseBuffers {
public:
    // `out` receives those results that are specified and therefore equal on every device.
    CaseBuffers(SluiceDevice device, Words& out) : m_device(device), m_out(out) {}
    ~CaseBuffers()
    {
        for (const Range& one : m_ranges)
            sluiceRelease(m_device, one.whole);
    }
    CaseBuffers(const CaseBuffers&) = delete;
    CaseBuffers& operator=(const CaseBuffers&) = delete;

    SluiceContext context() const { return sluiceGetDeviceContext(m_device); }
    SluiceContextInfo contextInfo() const
    {
        SluiceContextInfo info = {};
        sluiceGetContextInfo(context(), &info);
        return info;
    }
    uint64_t address(const SluiceBuffer& range) const { return sluiceGetAddress(m_device, range); }

    template <typename T>
    SluiceBuffer input(const std::vector<T>& values)
    {
        return input(values, values.size() * sizeof(T));
    }
    // Uploads the first `size` bytes of `values`.
    template <typename T>
    SluiceBuffer input(const std::vector<T>& values, uint64_t size)
    {
        SluiceBuffer range = allocate(size);
        if (status == SLUICE_OK && size != 0)
            status = sluiceUpload(m_device, range, values.data(), size);
        return range;
    }
    // Allocates an output. It is filled with poison and lies between guards, which take() appends
    // too. It begins `misaligned` bytes after an address that has every alignment.
    SluiceBuffer output(uint64_t size, uint32_t misaligned = 0)
    {
        return guarded(Bytes(size, kPoison), misaligned);
    }
    // Does the same with the given contents, for memory that a command reads and writes.
    SluiceBuffer guarded(const Bytes& contents, uint32_t misaligned = 0);
    // Allocates scratch. It is filled with poison, unless it has to be zero.
    SluiceBuffer scratch(const SluiceRequirements& need);

    // Allocates the scratch that a command requires and sets it in `info`.
    template <typename Info>
    void addScratch(Info& info,
                    SluiceStatus (*require)(SluiceContext, const Info*, SluiceRequirements*))
    {
        SluiceRequirements need = {};
        if (status == SLUICE_OK) status = require(context(), &info, &need);
        if (status == SLUICE_OK) info.scratch = scratch(need);
        if (need.zeroedScratch != 0) m_zeroed = info.scratch;
    }

    // Records with `record(context, commands)`, submits and waits. If the command's scratch has to
    // be zero, appends whether it is zero again.
    template <typename Record>
    void run(Record record)
    {
        SluiceCommands commands = nullptr;
        if (status == SLUICE_OK) status = sluiceBegin(m_device, &commands);
        if (status != SLUICE_OK) return;
        const SluiceStatus recorded = record(context(), commands);
        status = sluiceSubmit(m_device, commands, nullptr);
        if (recorded != SLUICE_OK) status = recorded;
        appendIsZero(m_zeroed);
        m_zeroed = {0, 0, 0};
    }
    template <typename Info>
    void run(SluiceStatus (*command)(SluiceContext, SluiceCommands, const Info*), const Info& info)
    {
        run([&](SluiceContext on, SluiceCommands commands) {
            return command(on, commands, &info);
        });
    }

    // Returns the current contents of a range, or nothing after an error.
    Bytes read(const SluiceBuffer& range);
    // Appends a whole output, including its guards.
    void take(const SluiceBuffer& range) { append(readWhole(range)); }
    // Does the same for an output of which some bytes are unspecified. `blank` is called with the
    // bytes of the range and must overwrite these.
    template <typename Blank>
    void take(const SluiceBuffer& range, Blank blank)
    {
        Bytes whole = readWhole(range);
        if (status != SLUICE_OK) return;
        blank(whole.data() + (range.offset - wholeOf(range).offset));
        append(whole);
    }
    void append(const Bytes& bytes);

    SluiceStatus status = SLUICE_OK;

    static constexpr uint8_t kPoison = 0xa5;

private:
    static constexpr uint64_t kGuard = 64;
    struct Range {
        SluiceBuffer used, whole;
    };

    SluiceBuffer allocate(uint64_t size);
    const SluiceBuffer& wholeOf(const SluiceBuffer& range) const;
    Bytes readWhole(const SluiceBuffer& range);
    void appendIsZero(const SluiceBuffer& range);

    SluiceDevice m_device;
    Words& m_out;
    std::vector<Range> m_ranges;
    SluiceBuffer m_zeroed = {0, 0, 0}; // the next command's scratch if it must be zero
};

inline Bytes bytesOf(const Words& words)
{
    Bytes bytes(words.size() * 4);
    if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}

// Returns the words of a list whose elements are plain structures.
template <typename T>
Words wordsOf(const std::vector<T>& list)
{
    static_assert(sizeof(T) % 4 == 0, "whole words");
    Words words(list.size() * sizeof(T) / 4);
    if (!words.empty()) std::memcpy(words.data(), list.data(), words.size() * 4);
    return words;
}

} // namespace sluice::selftest
