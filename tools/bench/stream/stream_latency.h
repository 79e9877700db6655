// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures three things: how long groups take that arrive at random times, how well the streamer
// predicts the time of a batch, and how many bytes are read in vain if most groups are cancelled.
#pragma once

#include "tools/bench/stream/stream_ours.h"

namespace sluice {

class LatencyBench {
public:
    // `readRate` is the rate in bytes a second at which one thread of the streamer reads files.
    LatencyBench(StreamEngine& engine, const StreamContent& content, SluiceBuffer destination,
                 const std::vector<std::string>& paths, uint32_t threads, double readRate,
                 SluiceStreamSides sides);
    ~LatencyBench();
    LatencyBench(const LatencyBench&) = delete;
    LatencyBench& operator=(const LatencyBench&) = delete;

    // Measures urgent groups alone, then beside bulk groups that arrive at 10, 50 and 90 % of the
    // rate that the device reaches with batches of 1 ms.
    void addLatencies(BenchReport& report);
    // Adds rows about how well the times of all batches so far were predicted. If isListed is set,
    // also prints a line for each batch.
    void addBatches(BenchReport& report, bool isListed);
    void addCancelStorm(BenchReport& report);

private:
    struct Class;
    SluiceStatus submit(Class& one, double arrival);
    void end(const SluiceStreamEvent& event);
    std::vector<BenchRow> run(const std::string& size, double bulkRate, double urgentRate);
    BenchRow rowOf(const Class& one, const std::string& size, const std::string& who) const;

    StreamEngine& m_engine;
    const StreamContent& m_content;
    SluiceBuffer m_destination;
    double m_readRate;
    const std::string m_end; // suffix of the rows' names
    BenchStreamer m_streamer;
    std::vector<SluiceStreamFile> m_files;
    std::vector<StreamBatchTime> m_times;
    std::unique_ptr<Class> m_urgent, m_bulk;
    uint64_t m_cancelled = 0, m_ended = 0;
};

} // namespace sluice
