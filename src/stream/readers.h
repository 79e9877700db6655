// SPDX-License-Identifier: MIT OR Apache-2.0
// The threads that open files, read units, and decode the units that the CPU decodes. Threads of
// the engine do the same in sluiceStreamPump.
#pragma once

#include <thread>
#include <vector>

#include "stream/cpu_decoder.h"
#include "stream/cutter.h"
#include "stream/ledger.h"

namespace sluice::stream {

class Readers {
public:
    // The arguments must outlive the readers.
    Readers(const SluiceStreamerInfo& info, const System& system, Monitor& monitor, Ledger& ledger,
            CpuDecoder& decoder, Cutter& cutter)
        : m_info(info), m_system(system), m_monitor(monitor), m_ledger(ledger), m_decoder(decoder),
          m_cutter(cutter)
    {
    }
    ~Readers();
    Readers(const Readers&) = delete;
    Readers& operator=(const Readers&) = delete;

    void start();
    // Implements sluiceStreamPump. Returns how many jobs were done.
    uint32_t pump(uint32_t jobs);

private:
    struct Job;

    bool pick(Held& held, Job& job, bool mayDecode);
    bool pickRecords(Held& held, Job& job, Group& group);
    void pickDecode(Held& held, Job& job, Unit& unit);
    bool pickFromLine(Held& held, Job& job, Group& group, SluiceStreamReason reason);
    Group* lineFor(Held& held, SluiceStreamReason& reason) const;
    uint32_t pickSome(Held& held, Job* jobs);
    void runThread(uint32_t number);
    void work(Job& job, Workspace* workspace);
    void readTogether(Job* jobs, uint32_t count);
    uint64_t asOneRead(const Job& job, Read& read, uint64_t& needed) const;
    void readUnit(Job& job);
    void readTiles(Job& job);
    void finishRecords(Job& job);
    void finishRead(Held& held, Job& job);
    void finishDecode(Held& held, Job& job, const BadTile& bad, const CpuDecoder::Done& done);

    const SluiceStreamerInfo& m_info;
    const System& m_system;
    Monitor& m_monitor;
    Ledger& m_ledger;
    CpuDecoder& m_decoder;
    Cutter& m_cutter;
    std::vector<std::thread> m_threads;
};

} // namespace sluice::stream
