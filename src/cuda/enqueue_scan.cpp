// SPDX-License-Identifier: MIT OR Apache-2.0
// Enqueues scans and reductions: one launch each, and before a scan that sums f32 a launch that
// computes the prefixes of its tiles.
#include <sluice/sluice_scan.h>

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

ScanMachine CudaBackend::scanMachine(const SluiceScanInfo& info) const
{
    const uint32_t elements = scanTileElements(valueBytes(info.type));
    const CudaTuning::Scan& tuning = m_tuning.scan;
    return {m_tuning.lookback, elements, tuning.blocks, 0, true, tuning.ring != 0 ? elements : 0,
            tuning.blocks + 1, 0};
}

SluiceStatus CudaBackend::cmdScan(SluiceCommands commands, const SluiceScanInfo& info)
{
    const cudaStream_t stream = streamFrom(commands);
    const CudaTuning::Scan& tuning = m_tuning.scan;
    ScanParams params = scanParams(info, m_tuning.lookback.polls);
    setAddresses(params, info, addressOf);
    const ScanPlan plan = planScan(info, params, scanMachine(info));
    params.scanner = plan.scanner ? 1 : 0;
    params.workgroups = plan.workgroups;
    params.schedule = plan.schedule;
    params.share = plan.tilesPerWorkgroup;
    cudaError_t error = plan.partials ? launchPartials(stream, params) : cudaSuccess;
    if (error == cudaSuccess)
        error = launchScan(stream, params, scanOperation(info.operation, info.type),
                           tuning.programmaticLaunch != 0);
    return statusFrom(error);
}

SluiceStatus CudaBackend::cmdReduce(SluiceCommands commands, const SluiceReduceInfo& info)
{
    ScanParams params = reduceParams(info);
    setAddresses(params, info, addressOf);
    params.workgroups = reduceBlocksFor(info);
    return statusFrom(launchReduce(streamFrom(commands), params,
                                   scanOperation(info.operation, info.type),
                                   m_tuning.reduce.programmaticLaunch != 0));
}

} // namespace sluice
