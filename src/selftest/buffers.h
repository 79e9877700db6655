// SPDX-License-Identifier: MIT OR Apache-2.0
// The buffers of one self-test on one device, and the results that the test takes from them.
// Outputs are filled with *poison*, a fixed byte, and lie between *guards*, bytes that no command
// may write. Results include the guards and what is left of the poison, so that a write to a wrong
// place, or a missing write, changes the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <sluice/sluice_device.h>

namespace sluice::selftest {

using Bytes = std::vector<uint8_t>;
using Words = std::vector<uint32_t>;

// A linear congruential generator, which gives the same numbers on every machine.
class Random {
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

// Allocates the buffers of a test, runs its commands and collects its results. The first error is
// kept in `status`; after it, all calls do nothing.
class CaseBuffers {
public:
    // out: receives the results. The caller takes only bytes that the specification fixes, since
    // only these are equal on every device.
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

    // Returns a buffer with these values.
    template <typename T>
    SluiceBuffer input(const std::vector<T>& values)
    {
        return input(values, values.size() * sizeof(T));
    }
    // Returns a buffer with the first `size` bytes of `values`.
    template <typename T>
    SluiceBuffer input(const std::vector<T>& values, uint64_t size)
    {
        SluiceBuffer range = allocate(size);
        if (status == SLUICE_OK && size != 0)
            status = sluiceUpload(m_device, range, values.data(), size);
        return range;
    }
    // Returns a buffer for an output of `size` bytes. It is filled with poison and lies between
    // guards. It begins `misaligned` bytes behind a multiple of 64.
    SluiceBuffer output(uint64_t size, uint32_t misaligned = 0)
    {
        return guarded(Bytes(size, kPoison), misaligned);
    }
    // Returns a buffer for memory that a command reads and writes. It lies between guards like an
    // output, but is filled with `contents`.
    SluiceBuffer guarded(const Bytes& contents, uint32_t misaligned = 0);
    // Returns a buffer for scratch. All its bytes are `fill`, or 0 if the command needs zeros.
    SluiceBuffer scratch(const SluiceRequirements& need, uint8_t fill = kPoison);

    // Allocates info.scratch, with the size that the function `require` returns for `info`.
    template <typename Info>
    void addScratch(Info& info,
                    SluiceStatus (*require)(SluiceContext, const Info*, SluiceRequirements*),
                    uint8_t fill = kPoison)
    {
        SluiceRequirements need = {};
        if (status == SLUICE_OK) status = require(context(), &info, &need);
        if (status == SLUICE_OK) info.scratch = scratch(need, fill);
        if (need.zeroedScratch != 0) m_zeroed = info.scratch;
    }

    // Records commands with record(context, commands), submits them and waits. If addScratch() made
    // zeroed scratch for them, appends a word to the results that says whether it is zero again.
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
    // Runs a single command.
    template <typename Info>
    void run(SluiceStatus (*command)(SluiceContext, SluiceCommands, const Info*), const Info& info)
    {
        run([&](SluiceContext on, SluiceCommands commands) {
            return command(on, commands, &info);
        });
    }

    // Returns the bytes of a range, or none after an error.
    Bytes read(const SluiceBuffer& range);
    // Appends an output, with its guards, to the results.
    void take(const SluiceBuffer& range) { append(readWhole(range)); }
    // Appends an output that has unspecified bytes. The caller's blank(bytes) gets the output
    // without guards, and overwrites the unspecified bytes with a fixed value.
    template <typename Blank>
    void take(const SluiceBuffer& range, Blank blank)
    {
        Bytes whole = readWhole(range);
        if (status != SLUICE_OK) return;
        blank(whole.data() + (range.offset - wholeOf(range).offset));
        append(whole);
    }
    // Appends bytes to the results, with zeros after them up to a whole word.
    void append(const Bytes& bytes);

    SluiceStatus status = SLUICE_OK;

    static constexpr uint8_t kPoison = 0xa5;

private:
    static constexpr uint64_t kGuard = 64; // bytes
    // A buffer (`used`), and the allocation around it, which also holds the guards (`whole`).
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
    SluiceBuffer m_zeroed = {0, 0, 0}; // the scratch of the next run(), if it must be zero
};

inline Bytes bytesOf(const Words& words)
{
    Bytes bytes(words.size() * 4);
    if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}

// Returns the words of a list of plain structures.
template <typename T>
Words wordsOf(const std::vector<T>& list)
{
    static_assert(sizeof(T) % 4 == 0, "whole words");
    Words words(list.size() * sizeof(T) / 4);
    if (!words.empty()) std::memcpy(words.data(), list.data(), words.size() * 4);
    return words;
}

} // namespace sluice::selftest
