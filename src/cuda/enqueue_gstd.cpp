// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the Gstd decode: for each turn (plan_gstd.h) a launch that decodes symbols and one that
// makes bytes. With programmatic dependent launch, the bytes of a part are made while symbols of
// other parts are still being decoded.
#include <sluice/sluice_gstd.h>

#include "api/plan_gstd.h"
#include "cuda/enqueue.h"

namespace sluice {

SluiceRequirements CudaBackend::gstdRequirements(const SluiceGstdInfo& info) const
{
    return gstdScratch(info);
}

SluiceStatus CudaBackend::cmdGstd(SluiceCommands commands, const SluiceGstdInfo& info)
{
    bool byPart;
    return statusFrom(decodeGstd(streamFrom(commands), info, byPart));
}

cudaError_t CudaBackend::decodeGstd(cudaStream_t stream, const SluiceGstdInfo& info,
                                    bool& byPart) const
{
    const CudaTuning::Gstd& tuning = m_tuning.gstd;
    const RegionParams list = regionParams(checksumOf(info), addressOf);
    cudaError_t error = launchStatus(stream, list);
    const GstdTurns turns(gstdParams(info, addressOf), gstdSlots(info));
    const bool expands = tuning.symbolsOnly == 0;
    const bool programmatic = tuning.programmaticLaunch != 0 && expands;
    const bool single = turns.count() == 1;
    // If turns run by part (GstdTurnParams), their kernels wait for words in scratch. A turn's
    // words have its epoch, which tells them from the words that earlier turns have left in the
    // same slots. So turns with the same slots need different epochs. The number of
    // epochs is limited, and so is that of turns.
    byPart = programmatic &&
             (single || (turns.overlapping() && turns.count() <= 2 * (~0u / kGstdFirstEpoch)));
    if (error == cudaSuccess && byPart) {
        void* const slots =
            reinterpret_cast<void*>(static_cast<uintptr_t>(fromPair(turns[0].scratch)));
        error =
            cudaMemset2DAsync(slots, turns.slotSize(), 0, SLUICE_GS_SEQUENCES_AT * sizeof(uint32_t),
                              single ? turns[0].tileCount : 2 * turns[0].tileCount, stream);
    }
    for (uint32_t i = 0; i < turns.count() && error == cudaSuccess; ++i) {
        GstdTurnParams turn = {};
        static_cast<GstdParams&>(turn) = turns[i];
        if (byPart) {
            // Turns use the two halves of the slots alternately, so turns i and i - 2 share their
            // slots.
            turn.previousEpoch = i / 2 * kGstdFirstEpoch;
            turn.epoch = turn.previousEpoch + kGstdFirstEpoch;
        }
        error = launchGstdSymbols(stream, turn, programmatic && i != 0 && turns.overlapping());
        if (error == cudaSuccess && expands)
            error = launchGstdExpand(stream, turn, turn.tileCount <= tuning.fewTiles);
    }
    if (error == cudaSuccess && info.expected.size != 0 && info.maxRegionCount != 0)
        error = launchChecksum(stream, list);
    return error;
}

} // namespace sluice
