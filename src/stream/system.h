// SPDX-License-Identifier: MIT OR Apache-2.0
// What the streamer asks of the operating system to read files, in one place, so that tests can
// make it fail.
#pragma once

#include <sluice/sluice_stream.h>

#include <cstdint>

namespace sluice::stream {

// Results below 0 are negative errnos.
class System {
public:
    virtual ~System() = default;
    // Of a path, for reading. isDirect: past the page cache; EINVAL where the system has no such
    // way.
    virtual int open(const char* path, bool isDirect) const;
    virtual int64_t read(int descriptor, void* bytes, uint64_t size, uint64_t offset) const;
    // What offset, size and memory of direct reads are multiples of: a power of two, or 0: there
    // are none.
    virtual uint32_t directAlignment(int descriptor) const;
};

const System& operatingSystem();

// As sluiceCreateStreamer. The system outlives the streamer.
SluiceStatus createStreamer(const SluiceStreamerInfo* info, const System& system,
                            SluiceStreamer* streamer);

} // namespace sluice::stream
