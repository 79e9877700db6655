// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how long groups take that arrive at random times, how long batches take compared with
// the streamer's prediction, and how much is read in vain if most groups are cancelled.
#pragma once

#include "tools/bench/stream/stream_ours.h"

namespace sluice {

struct LatencyRow {
    BenchRow row;
    double p99 = 0; // milliseconds
};

class LatencyBench {
public:
    // readRate is how many bytes a second one thread of the streamer reads.
    LatencyBench(StreamEngine& engine, const StreamContent& content, SluiceBuffer destination,
                 const std::vector<std::string>& paths, uint32_t threads, double readRate,
                 SluiceStreamSides sides);
    ~LatencyBench();
    LatencyBench(const LatencyBench&) = delete;
    LatencyBench& operator=(const LatencyBench&) = delete;

    // Measures urgent groups alone, then beside bulk groups that arrive at 10, 50 and 90 % of the
    // rate that the device reaches with batches of 1 ms.
    void addLatencies(BenchReport& report);
    // Adds rows about all batches so far.
    void addBatches(BenchReport& report, bool isListed);
    void addCancelStorm(BenchReport& report);

private:
    struct Class;
    struct Load;
    SluiceStatus submit(Class& one, double arrival);
    void end(const SluiceStreamEvent& event);
    std::vector<BenchRow> run(const std::string& size, double bulkRate, double urgentRate);
    BenchRow rowOf(const Class& one, const std::string& size, const std::string& who) const;

    StreamEngine& m_engine;
    const StreamContent& m_content;
    SluiceBuffer m_destination;
    double m_readRate;
    const std::string m_end; // what rows' names end with
    BenchStreamer m_streamer;
    std::vector<SluiceStreamFile> m_files;
    std::vector<StreamBatchTime> m_times;
    std::unique_ptr<Class> m_urgent, m_bulk;
    uint64_t m_cancelled = 0, m_ended = 0;
};

} // namespace sluice
