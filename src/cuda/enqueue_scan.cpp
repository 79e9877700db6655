// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues the scan family: one launch each, two for a scan that sums f32.
#include "api/plan_scan.h"
#include "cuda/enqueue.h"

#include <algorithm>

namespace sluice {
namespace {

ScanOperation scanOperation(SluiceOperation operation, SluiceValueType type)
{
    const bool sum = operation == SLUICE_OPERATION_SUM;
    return type == SLUICE_VALUE_U64    ? (sum ? ScanOperation::sumU64 : ScanOperation::maxU64)
           : isF32Sum(operation, type) ? ScanOperation::sumF32
           : sum                       ? ScanOperation::sumU32
                                       : ScanOperation::maxU32;
}

uint64_t tilesOf(const SluiceScanInfo& info)
{
    return scanTiles(info.maxCount, scanTileElements(valueBytes(info.type)));
}

} // namespace

uint32_t CudaBackend::reduceBlocksFor(const SluiceReduceInfo& info) const
{
    const uint64_t bytes = uint64_t(info.maxCount) * valueBytes(info.type);
    return bytes <= m_tuning.reduce.singleBytes ? 1
                                                : static_cast<uint32_t>(std::min<uint64_t>(
                                                      reduceRounds(bytes), m_tuning.reduce.blocks));
}

SluiceRequirements CudaBackend::scanRequirements(const SluiceScanInfo& info) const
{
    return lookbackScratch(tilesOf(info), valueBytes(info.type));
}

SluiceRequirements CudaBackend::reduceRequirements(const SluiceReduceInfo& info) const
{
    return lookbackScratch(reduceBlocksFor(info), 4);
}

SluiceStatus CudaBackend::cmdScan(SluiceCommands commands, const SluiceScanInfo& info)
{
    const cudaStream_t stream = streamFrom(commands);
    const CudaTuning::Scan& tuning = m_tuning.scan;
    const uint64_t tiles = tilesOf(info);
    ScanParams params = scanParams(info, m_tuning.lookback.polls);
    setAddresses(params, info, addressOf);
    cudaError_t error = cudaSuccess;
    if (isF32Sum(info.operation, info.type)) {
        params.workgroups = static_cast<uint32_t>(tiles);
        params.share = 1;
        if (tiles > 1) error = launchPartials(stream, params);
    } else {
        const bool aligned = ((params.input_.lo | params.output_.lo) & 15) == 0;
        params.scanner = hasScanner(params.polls, tiles, m_tuning.lookback.scannerTiles) ? 1 : 0;
        params.workgroups =
            static_cast<uint32_t>(std::min<uint64_t>(tiles, tuning.blocks)) + params.scanner;
        params.share = tiles <= tuning.blocks ? 0 : tuning.ring != 0 && aligned ? 2 : 1;
    }
    if (error == cudaSuccess)
        error = launchScan(stream, scanOperation(info.operation, info.type), params,
                           tuning.programmaticLaunch != 0);
    return statusFrom(error);
}

SluiceStatus CudaBackend::cmdReduce(SluiceCommands commands, const SluiceReduceInfo& info)
{
    ScanParams params = reduceParams(info);
    setAddresses(params, info, addressOf);
    params.workgroups = reduceBlocksFor(info);
    return statusFrom(launchReduce(streamFrom(commands), scanOperation(info.operation, info.type),
                                   params, m_tuning.reduce.programmaticLaunch != 0));
}

} // namespace sluice
