// SPDX-License-Identifier: MIT OR Apache-2.0
// Does what an engine would do without sluice_stream, by threads that read and decode into memory
// of the system, copies, and the driver's own decoder.
#pragma once

#include "tools/bench/stream/stream_content.h"
#include "tools/bench/stream/stream_engine.h"
#include "tools/bench/stream/stream_pass.h"

namespace sluice {

// A peer works with slots. A thread reads a part of a file into a slot, and decodes it there if the
// CPU decodes. The queue copies the slot to the device, and decodes it there if the driver decodes.
class StreamPeers {
public:
    StreamPeers(StreamEngine& engine, SluiceBuffer destination);
    ~StreamPeers();
    StreamPeers(const StreamPeers&) = delete;
    StreamPeers& operator=(const StreamPeers&) = delete;

    // Reads all files, decodes as pack.decode says, and copies. Throws a Failure.
    StreamPass run(const StreamPack& pack, const StreamFiles& files, uint32_t threads, bool isCold);
    // Streams a GDeflate pack that the driver decodes. whyNot receives why the driver cannot, or an
    // empty text.
    StreamPass runDriver(const StreamPack& pack, const StreamFiles& files, uint32_t threads,
                         bool isCold);
    const std::string& driverName() const { return m_driverName; }
    const std::string& whyNoDriver() const { return m_whyNoDriver; }

    // Throws a Failure unless the destination begins with the decoded bytes of the first file.
    void check(const Bytes& plain, const std::string& who) const;

private:
    class Pipeline;
    StreamPass run(const StreamPack& pack, const StreamFiles& files, uint32_t threads, bool isCold,
                   bool isDriver);

    StreamEngine& m_engine;
    SluiceBuffer m_destination;
    std::string m_driverName, m_whyNoDriver;
    std::function<void(SluiceCommands, uint64_t regions, uint64_t count, uint32_t maxCount)>
        m_driver;
    SluiceStreamMemory m_slots{};
    DeviceBuffer m_staging;
};

} // namespace sluice
