// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what tests of buffers above 4 GiB share: memory that is filled and read piece by piece.
#pragma once

#include "tests/support/devices.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace sluice::test {

constexpr uint64_t kGib = uint64_t(1) << 30;
inline bool wanted() { return environmentNumber("SLUICE_TEST_LARGE", 0) != 0; }
// Returns how many of something a test uses. If SLUICE_TEST_LARGE is above 1, only that fraction of
// `count`, so that the tests can be tried out with less memory.
inline uint32_t sized(uint64_t count)
{
    return uint32_t(count / std::max(1u, environmentNumber("SLUICE_TEST_LARGE", 1)));
}

inline uint32_t hashOf(uint64_t index)
{
    uint64_t x = (index + 1) * 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    return uint32_t((x * 0xBF58476D1CE4E5B9u) >> 32);
}

// Runs work(begin, end) for parts of 0 .. count on all cores.
template <typename Work>
void onAllCores(uint64_t count, const Work& work)
{
    const uint64_t threads = std::max(1u, std::thread::hardware_concurrency()),
                   each = count / threads + 1;
    std::vector<std::thread> running;
    for (uint64_t begin = 0; begin < count; begin += each)
        running.emplace_back(
            [&work, begin, end = std::min(count, begin + each)] { work(begin, end); });
    for (std::thread& thread : running)
        thread.join();
}

// Device memory that is never copied to the host as a whole: it is filled and read piece by piece.
class LargeBuffer {
public:
    explicit LargeBuffer(uint64_t size) : m_size(size)
    {
        REQUIRE(sluiceAllocate(device().get(), size, &m_range) == SLUICE_OK);
    }
    ~LargeBuffer() { sluiceRelease(device().get(), m_range); }
    LargeBuffer(const LargeBuffer&) = delete;
    LargeBuffer& operator=(const LargeBuffer&) = delete;

    SluiceBuffer range() const { return part(0, m_size); }
    SluiceBuffer part(uint64_t at, uint64_t size) const
    {
        return {m_range.handle, m_range.offset + at, size};
    }
    uint64_t address() const { return sluiceGetAddress(device().get(), m_range); }

    void write(uint64_t at, const void* bytes, uint64_t size)
    {
        REQUIRE(sluiceUpload(device().get(), part(at, size), bytes, size) == SLUICE_OK);
    }
    // Fills the memory. wordAt(i) must return word i.
    template <typename WordAt>
    void fill(const WordAt& wordAt)
    {
        Words piece;
        for (uint64_t at = 0; at < m_size; at += 4 * piece.size()) {
            piece.resize(std::min(m_size - at, kPieceSize) / 4);
            onAllCores(piece.size(), [&](uint64_t begin, uint64_t end) {
                for (uint64_t i = begin; i < end; ++i)
                    piece[i] = wordAt(at / 4 + i);
            });
            write(at, piece.data(), 4 * piece.size());
        }
    }
    // Calls look(first, words) for pieces of the first `size` bytes, in order.
    template <typename Look>
    void read(uint64_t size, const Look& look) const
    {
        Words piece;
        for (uint64_t at = 0; at < size; at += kPieceSize) {
            piece.resize(std::min(size - at, kPieceSize) / 4);
            REQUIRE(sluiceDownload(device().get(), part(at, 4 * piece.size()), piece.data(),
                                   4 * piece.size()) == SLUICE_OK);
            look(at / 4, piece);
        }
    }
    // Returns whether the first `size` bytes are the words that wordAt returns.
    template <typename WordAt>
    bool holds(uint64_t size, const WordAt& wordAt) const
    {
        std::atomic<bool> good{true};
        read(size, [&](uint64_t first, const Words& words) {
            onAllCores(words.size(), [&](uint64_t begin, uint64_t end) {
                bool same = true;
                for (uint64_t i = begin; i < end; ++i)
                    same = same && words[i] == wordAt(first + i);
                if (!same) good = false;
            });
        });
        return good;
    }

private:
    static constexpr uint64_t kPieceSize = 256 << 20;

    SluiceBuffer m_range = {};
    uint64_t m_size;
};

// Returns words that compress well, but not into a single match.
inline Words someWords(size_t count)
{
    Words words(count);
    for (size_t i = 0; i < count; ++i)
        words[i] = hashOf(i / 3 % 500) & 0x00ff00ffu;
    return words;
}

} // namespace sluice::test
