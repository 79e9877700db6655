// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the lists of a batch and records its commands. No other thread touches the units of a
// batch, so these functions need no lock.
#pragma once

#include "stream/batch.h"
#include "stream/gpu.h"

namespace sluice::stream {

class BatchCommands {
public:
    // The arguments must outlive the object.
    BatchCommands(const SluiceStreamerInfo& info, Gpu& gpu, const Slots<Request>& requests,
                  const Slots<Unit>& units)
        : m_info(info), m_gpu(gpu), m_requests(requests), m_units(units)
    {
    }
    // prepare() writes the batch's lists to memory that the GPU reads, and record() records its
    // commands. slot: the index of the batch's slot in control, results and timestamps. Errors:
    // NOT_READY (a pipeline that the batch needs does not exist yet), and those of
    // sluicePrepareTiles.
    SluiceStatus prepare(Batch& batch, uint32_t slot) const;
    SluiceStatus record(const Batch& batch, uint32_t slot, SluiceCommands commands) const;

private:
    SluiceStatus copySome(uint32_t& at, SluiceCommands commands) const;
    SluiceStatus copyUnit(const Unit& unit, SluiceCommands commands) const;

    const SluiceStreamerInfo& m_info;
    Gpu& m_gpu;
    const Slots<Request>& m_requests;
    const Slots<Unit>& m_units;
};

} // namespace sluice::stream
