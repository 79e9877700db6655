// SPDX-License-Identifier: MIT OR Apache-2.0
// The CUDA backend. context.cpp loads the kernels. Each command has a file enqueue_*.cpp, which
// enqueues it on the caller's stream. Nothing here allocates device memory or waits.
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
    // Sets the tuning with which later commands are planned. Must not be called while other threads
    // enqueue.
    void setTuning(const CudaTuning& tuning) { m_tuning = tuning; }
    // These return what the planners of scans and compactions (src/api) need to know about the
    // device. compactMachine sets `lookAhead` (tiles are loaded ahead into a ring) by the tuning
    // alone. cmdCompact then clears it for inputs that the ring cannot take.
    ScanMachine scanMachine(const SluiceScanInfo& info) const;
    CompactMachine compactMachine(const SluiceCompactInfo& info) const;

    void contextInfo(SluiceContextInfo& info) const override;
    SluiceStatus cmdBarrier(SluiceCommands commands) override;
    SluiceStatus cmdChecksum(SluiceCommands, const SluiceChecksumInfo&) override;
#if SLUICE_HAVE_SUMS
    SluiceStatus cmdScan(SluiceCommands, const SluiceScanInfo&) override;
    SluiceStatus cmdReduce(SluiceCommands, const SluiceReduceInfo&) override;
    SluiceRequirements scanRequirements(const SluiceScanInfo&) const override;
    SluiceRequirements reduceRequirements(const SluiceReduceInfo&) const override;
#endif
#if SLUICE_HAVE_PRIMITIVES
    SluiceStatus cmdCompact(SluiceCommands, const SluiceCompactInfo&) override;
    SluiceStatus cmdIntervalExpand(SluiceCommands, const SluiceIntervalExpandInfo&) override;
    SluiceStatus cmdIntervalMove(SluiceCommands, const SluiceIntervalMoveInfo&) override;
    SluiceStatus cmdIntervalSearch(SluiceCommands, const SluiceIntervalSearchInfo&) override;
    SluiceStatus cmdBulkRemove(SluiceCommands, const SluiceBulkInfo&) override;
    SluiceStatus cmdBulkInsert(SluiceCommands, const SluiceBulkInfo&) override;
    SluiceRequirements compactRequirements(const SluiceCompactInfo&) const override;
    SluiceRequirements intervalRequirements(const SluiceIntervals&) const override;
#endif
#if SLUICE_HAVE_CODECS
    SluiceStatus cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo&) override;
    SluiceStatus cmdGstd(SluiceCommands, const SluiceGstdInfo&) override;
    SluiceStatus cmdFilter(SluiceCommands, const SluiceFilterInfo&) override;
    SluiceStatus cmdFseTables(SluiceCommands, const SluiceFseTablesInfo&) override;
    SluiceStatus cmdTileStreams(SluiceCommands, const SluiceTileStreamsInfo&) override;
    SluiceStatus cmdGstdFilter(SluiceCommands, const SluiceGstdInfo&,
                               const SluiceFilterInfo&) override;
    SluiceRequirements gstdRequirements(const SluiceGstdInfo&) const override;
    SluiceRequirements filterRequirements(const SluiceFilterInfo&) const override;
    SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo&) const override;
#endif
#if SLUICE_HAVE_WEIGHTS
    SluiceStatus cmdFloatDecode(SluiceCommands, const SluiceFloatDecodeInfo&) override;
    SluiceStatus cmdDf11(SluiceCommands, const SluiceDf11Info&) override;
#endif
#if SLUICE_HAVE_ZSTD
    SluiceStatus cmdZstd(SluiceCommands, const SluiceZstdInfo&) override;
    SluiceRequirements zstdRequirements(const SluiceZstdInfo&) const override;
#endif
#if SLUICE_HAVE_UASTC
    SluiceStatus cmdUastc(SluiceCommands, const SluiceUastcInfo&) override;
    SluiceRequirements uastcRequirements(const SluiceUastcInfo&) const override;
#endif

private:
    explicit CudaBackend(const CudaTuning& tuning) : m_tuning(tuning) {}

    uint32_t reduceBlocksFor(const SluiceReduceInfo& info) const;
    // Enqueues a Gstd decode. Sets byPart to true if the bytes of each part of a tile are made as
    // soon as that part's symbols are decoded (GstdTurnParams). If byPart is true and no checksums
    // were asked for, the last launch is launchGstdExpand, so a programmatic launch that undoes
    // filters may follow it directly.
    cudaError_t decodeGstd(cudaStream_t stream, const SluiceGstdInfo& info, bool& byPart) const;
    cudaError_t undoFilters(cudaStream_t stream, const FilterLaunchParams& params) const;

    CudaTuning m_tuning;
};

} // namespace sluice
