// SPDX-License-Identifier: MIT OR Apache-2.0
// The CUDA backend: context.cpp loads the kernels, enqueue_X.cpp enqueues the commands on the
// caller's stream. Nothing here allocates device memory or waits.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include <sluice/sluice_all.h>
#include <sluice/sluice_cuda.h>

#include "api/backend.h"
#include "api/plan_compact.h"
#include "cuda/kernels.h"
#include "cuda/tuning.h"

namespace sluice {

class CudaBackend final : public Backend {
public:
    static SluiceStatus create(const SluiceCudaContextInfo& info,
                               std::unique_ptr<CudaBackend>& backend);

    const CudaTuning& tuning() const { return m_tuning; }
    // Commands enqueued from now on are planned by `tuning`. Not while other threads enqueue.
    void setTuning(const CudaTuning& tuning) { m_tuning = tuning; }
    // What the plans of scans and compactions are made of; compactions may look ahead where their
    // input is aligned besides.
    ScanMachine scanMachine(const SluiceScanInfo& info) const;
    CompactMachine compactMachine(const SluiceCompactInfo& info) const;

    void contextInfo(SluiceContextInfo& info) const override;
    SluiceStatus cmdBarrier(SluiceCommands commands) override;
    SLUICE_BUILT(COMMANDS, SLUICE_OVERRIDE_COMMAND)
    SLUICE_BUILT(SCRATCH, SLUICE_OVERRIDE_SCRATCH)
#if SLUICE_HAVE_CODECS
    SluiceStatus cmdGstdFilter(SluiceCommands commands, const SluiceGstdInfo& decode,
                               const SluiceFilterInfo& filter) override;
    SluiceStatus cmdTileStreams(SluiceCommands commands,
                                const SluiceTileStreamsInfo& info) override;
#endif

private:
    explicit CudaBackend(const CudaTuning& tuning) : m_tuning(tuning) {}

    uint32_t reduceBlocksFor(const SluiceReduceInfo& info) const;
    // byPart: whether launchGstdExpand by part came last, unless checksums did.
    cudaError_t decodeGstd(cudaStream_t stream, const SluiceGstdInfo& info, bool& byPart) const;
    cudaError_t undoFilters(cudaStream_t stream, const FilterLaunchParams& params) const;

    CudaTuning m_tuning;
};

} // namespace sluice
