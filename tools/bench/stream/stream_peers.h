// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures what an engine would do without sluice_stream: threads read and decode into host memory,
// and the queue copies from there to the device. Or the queue copies compressed bytes, which the
// driver's own decoder decodes on the device.
#pragma once

#include "tools/bench/stream/stream_content.h"
#include "tools/bench/stream/stream_engine.h"
#include "tools/bench/stream/stream_pass.h"

namespace sluice {

// A slot is a piece of host memory. A thread reads a part of a file into a slot, and decodes it
// there if the CPU decodes. The queue then copies the slot to the device. With isDriver, the driver
// decodes it on the device.
class StreamPeers {
public:
    StreamPeers(StreamEngine& engine, SluiceBuffer destination);
    ~StreamPeers();
    StreamPeers(const StreamPeers&) = delete;
    StreamPeers& operator=(const StreamPeers&) = delete;

    // Reads all files, decodes as pack.decode says, and copies to the device. With isDriver, the
    // driver decodes the pack, which must be GDeflate. Throws a Failure.
    StreamPass run(const StreamPack& pack, const StreamFiles& files, uint32_t threads, bool isCold,
                   bool isDriver = false);
    const std::string& driverName() const { return m_driverName; }
    // Returns why the driver cannot decode; empty if it can.
    const std::string& whyNoDriver() const { return m_whyNoDriver; }

    // Throws a Failure unless the destination begins with the decoded bytes of the first file.
    void check(const Bytes& plain, const std::string& who) const;

private:
    class Pipeline;

    StreamEngine& m_engine;
    SluiceBuffer m_destination;
    std::string m_driverName, m_whyNoDriver;
    std::function<void(SluiceCommands, uint64_t regions, uint64_t count, uint32_t maxCount)>
        m_driver;
    SluiceStreamMemory m_slots{};
    DeviceBuffer m_staging;
};

} // namespace sluice
