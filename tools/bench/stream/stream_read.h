// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how fast files can be read at all, which limits every way to stream from them.
#pragma once

#include "tools/bench/stream/stream_content.h"
#include "tools/bench/stream/stream_pass.h"

namespace sluice {

// How to read: `threads` threads read one block after another, each block into the next part of a
// ring.
struct ReadPlan {
    uint32_t threads;
    uint64_t blockSize;
    bool isDirect; // O_DIRECT
    bool isCold;   // the files leave the page cache before each pass
};

// Reads all files once. Throws a Failure.
StreamPass readFiles(const StreamFiles& files, const ReadPlan& plan, uint8_t* ring,
                     uint64_t ringSize);
// Returns why a file cannot be read with O_DIRECT; empty if it can.
std::string whyNotDirect(const std::string& path);

// Host memory aligned to 4,096 bytes, all of which has been written once, so that the system has
// really allocated it.
class ReadRing {
public:
    explicit ReadRing(uint64_t size);
    uint8_t* data() const { return m_data; }
    uint64_t size() const { return m_size; }

private:
    std::unique_ptr<uint8_t[]> m_bytes;
    uint8_t* m_data;
    uint64_t m_size;
};

} // namespace sluice
