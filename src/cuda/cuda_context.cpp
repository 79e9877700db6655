// SPDX-License-Identifier: MIT OR Apache-2.0
// A context on a CUDA device. Commands are enqueued on the caller's stream; nothing here allocates
// device memory or waits.
#include <sluice/sluice_cuda.h>

#ifdef SLUICE_HAVE_CUDA

#include <cuda_runtime_api.h>

#include <algorithm>
#include <new>

#include "../api/backend.h"
#include "../api/compact_params.h"
#include "../api/df11_params.h"
#include "../api/filter_params.h"
#include "../api/float_params.h"
#include "../api/fse_params.h"
#include "../api/gstd_params.h"
#include "../api/interval_params.h"
#include "../api/scan_params.h"
#include "../api/tile_streams_params.h"
#include "kernels.h"

namespace sluice {
namespace {

SluiceStatus statusFrom(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return SLUICE_OK;
    case cudaErrorMemoryAllocation: return SLUICE_ERROR_OUT_OF_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorStubLibrary: return SLUICE_ERROR_UNSUPPORTED;
    case cudaErrorInvalidDevice: return SLUICE_ERROR_ARGUMENT;
    default: return SLUICE_ERROR_DEVICE;
    }
}

cudaStream_t streamFrom(SluiceCommands commands)
{
    return reinterpret_cast<cudaStream_t>(commands);
}

// An empty range is passed as address 0, whatever its handle says.
uint64_t address(const SluiceBuffer& buffer)
{
    return buffer.size == 0 ? 0 : buffer.handle + buffer.offset;
}

u64pair addressOf(const SluiceBuffer& buffer) { return pair(address(buffer)); }

ScanOperation scanOperation(SluiceOperation operation, SluiceValueType type)
{
    const bool sum = operation == SLUICE_OPERATION_SUM;
    return type == SLUICE_VALUE_U64    ? (sum ? ScanOperation::sumU64 : ScanOperation::maxU64)
           : isF32Sum(operation, type) ? ScanOperation::sumF32
           : sum                       ? ScanOperation::sumU32
                                       : ScanOperation::maxU32;
}

class CudaBackend final : public Backend {
public:
    CudaBackend(const ScanDevice& scan, const CompactDevice& compact, const FloatDevice& floats,
                u32 df11Blocks, bool early)
        : scanDevice(scan), compactDevice(compact), floatDevice(floats), df11AtOnce(df11Blocks),
          earlySymbols(early)
    {
    }

    void contextInfo(SluiceContextInfo& info) const override
    {
        info.backend = SLUICE_BACKEND_CUDA;
        info.tier = "native";
        info.subgroupSize = 32;
        info.byteStores = 1;
        info.report = "";
        info.driverRegionLimit = 0;
        info.kernels = SLUICE_KERNELS_ALL;
    }

    Rings rings() const override
    {
        return {scanDevice.ring ? (scanDevice.blocks + 1) * scanTileElements(4) : 0,
                compactDevice.ring ? (compactDevice.blocks + 1) * compactTileElements(4) : 0};
    }

    SluiceStatus cmdBarrier(SluiceCommands) override { return SLUICE_OK; } // a stream runs in order

    SluiceRequirements scanRequirements(const SluiceScanInfo& info) const override
    {
        return lookbackScratch(scanTiles(info.maxCount, scanTileElements(valueBytes(info.type))),
                               valueBytes(info.type));
    }

    SluiceStatus cmdScan(SluiceCommands commands, const SluiceScanInfo& info) override
    {
        ScanParams params = scanParams(info, polls);
        params.input_ = addressOf(info.input);
        params.output_ = addressOf(info.output);
        params.heads = addressOf(info.heads);
        params.countBuffer = addressOf(info.count);
        params.total = addressOf(info.total);
        params.scratch = addressOf(info.scratch);
        const bool f32Sum = isF32Sum(info.operation, info.type);
        const uint64_t tiles = scanTiles(info.maxCount, scanTileElements(valueBytes(info.type)));
        const bool aligned = ((params.input_.lo | params.output_.lo) & 15) == 0;
        params.scanner = !f32Sum && hasScanner(params.polls, tiles) ? 1 : 0;
        params.workgroups = static_cast<uint32_t>(
            f32Sum ? tiles : std::min<uint64_t>(tiles, scanDevice.blocks) + params.scanner);
        params.share = f32Sum || tiles <= scanDevice.blocks ? 1 : UINT32_MAX;
        params.schedule = params.share == 1            ? SLUICE_SCAN_BY_NUMBER
                          : scanDevice.ring && aligned ? SLUICE_SCAN_BY_RING
                                                       : SLUICE_SCAN_BY_TICKET;
        if (f32Sum && params.workgroups > 1) {
            const cudaError_t error = launchPartials(streamFrom(commands), params);
            if (error != cudaSuccess) return statusFrom(error);
        }
        return statusFrom(launchScan(streamFrom(commands), scanOperation(info.operation, info.type),
                                     params, scanDevice.early));
    }

    SluiceRequirements reduceRequirements(const SluiceReduceInfo& info) const override
    {
        return lookbackScratch(reduceBlocksOf(info), 4);
    }

    SluiceStatus cmdReduce(SluiceCommands commands, const SluiceReduceInfo& info) override
    {
        ScanParams params = reduceParams(info);
        params.input_ = addressOf(info.input);
        params.countBuffer = addressOf(info.count);
        params.total = addressOf(info.result);
        params.scratch = addressOf(info.scratch);
        params.workgroups = reduceBlocksOf(info);
        return statusFrom(launchReduce(streamFrom(commands),
                                       scanOperation(info.operation, info.type), params,
                                       scanDevice.early));
    }

    SluiceRequirements compactRequirements(const SluiceCompactInfo& info) const override
    {
        return compactScratch(
            info, std::min(compactTileElements(4), compactTileElements(requiredBytes(info))));
    }

    SluiceStatus cmdCompact(SluiceCommands commands, const SluiceCompactInfo& info) override
    {
        const cudaStream_t stream = streamFrom(commands);
        const uint32_t size = compactedBytes(info);
        const uint64_t tiles = scanTiles(info.maxCount, compactTileElements(size));
        const bool inPlace = isInPlace(info), empty = info.maxCount == 0;
        CompactParams params = compactParams(info, polls);
        params.input_ = addressOf(info.input);
        params.selectors = addressOf(info.selectors);
        params.output_ = addressOf(empty ? SluiceBuffer{} : info.output);
        params.indices = addressOf(empty ? SluiceBuffer{} : info.indices);
        params.countBuffer = addressOf(info.count);
        params.resultCount = addressOf(info.resultCount);
        params.argument = addressOf(info.argument);
        params.scratch = addressOf(info.scratch);
        if (isSerial(params, inPlace, true)) {
            params.mode |= SLUICE_COMPACT_MODE_SERIAL;
            params.workgroups = 1;
            return statusFrom(launchCompact(stream, size, params, compactDevice.early));
        }
        if (inPlace) {
            params.mode |= SLUICE_COMPACT_MODE_IN_PLACE;
            params.polls = SLUICE_COMPACT_POLLS_IN_PLACE;
        }
        const bool partition = (info.flags & SLUICE_COMPACT_PARTITION) != 0;
        if (partition && tiles > 1) {
            CompactParams counting = params;
            counting.mode |= SLUICE_COMPACT_MODE_COUNT;
            counting.workgroups =
                static_cast<uint32_t>(std::min<uint64_t>(tiles, compactDevice.blocks));
            const cudaError_t error = launchCompact(stream, size, counting, false);
            if (error != cudaSuccess) return statusFrom(error);
        }
        const bool single =
            !partition && !inPlace && (info.output.size == 0) != (info.indices.size == 0);
        if (hasScanner(params.polls, tiles)) params.mode |= SLUICE_COMPACT_MODE_SCANNER;
        const uint32_t scanner = (params.mode & SLUICE_COMPACT_MODE_SCANNER) != 0 ? 1 : 0;
        if (tiles + scanner <= compactDevice.blocks && !inPlace) {
            params.mode |= SLUICE_COMPACT_MODE_DIRECT;
        } else if (scanner != 0 && single && compactDevice.ring && (params.input_.lo & 15) == 0) {
            if (size == 4) turnAround(params);
            if (size == 4 && compactsWords(params)) {
                params.workgroups =
                    static_cast<uint32_t>(std::min<uint64_t>(tiles, compactDevice.wordBlocks)) + 1;
                return statusFrom(launchCompactWords(stream, params));
            }
            params.mode |= SLUICE_COMPACT_MODE_AHEAD;
        }
        params.workgroups =
            static_cast<uint32_t>(std::min<uint64_t>(tiles, compactDevice.blocks)) + scanner;
        return statusFrom(launchCompact(stream, size, params, compactDevice.early));
    }

    SluiceRequirements intervalRequirements(const SluiceIntervals& intervals) const override
    {
        return SluiceRequirements{intervalScratchBytes(intervals), 4, 0};
    }

    SluiceStatus cmdIntervalExpand(SluiceCommands commands,
                                   const SluiceIntervalExpandInfo& info) override
    {
        IntervalParams params = expandParams(info);
        setList(params, info.intervals, info.scratch, info.result);
        params.source = addressOf(info.values);
        params.sourceSize = pair(info.values.size);
        params.destination = addressOf(info.destination);
        return runIntervals(commands, launchIntervalExpand, params);
    }

    SluiceStatus cmdIntervalMove(SluiceCommands commands,
                                 const SluiceIntervalMoveInfo& info) override
    {
        IntervalParams params = moveParams(info);
        setList(params, info.intervals, info.scratch, info.result);
        params.gather = addressOf(info.gather);
        params.scatter = addressOf(info.scatter);
        setEnds(params, info.source, info.destination);
        return runIntervals(commands, launchIntervalMove, params);
    }

    SluiceStatus cmdIntervalSearch(SluiceCommands commands,
                                   const SluiceIntervalSearchInfo& info) override
    {
        IntervalParams params = searchParams(info);
        setList(params, info.intervals, info.scratch, info.result);
        params.destination = addressOf(info.sources);
        params.gather = addressOf(info.ranks);
        return runIntervals(commands, launchIntervalSearch, params);
    }

    SluiceStatus cmdBulkRemove(SluiceCommands commands, const SluiceBulkInfo& info) override
    {
        return runBulk(commands, info, false);
    }

    SluiceStatus cmdBulkInsert(SluiceCommands commands, const SluiceBulkInfo& info) override
    {
        return runBulk(commands, info, true);
    }

    SluiceRequirements gdeflateRequirements(const SluiceGdeflateInfo&) const override
    {
        return SluiceRequirements{0, 4, 0};
    }

    SluiceStatus cmdGdeflate(SluiceCommands commands, const SluiceGdeflateInfo& info) override
    {
        RegionParams params = regionParams(checksumOf(info), address);
        params.source = addressOf(info.source);
        params.sourceSize = pair(info.source.size);
        params.flags = info.flags;
        cudaError_t error = launchStatus(streamFrom(commands), params);
        if (error == cudaSuccess && info.maxRegionCount != 0)
            error = launchGdeflate(streamFrom(commands), params);
        if (error == cudaSuccess && info.expected.size != 0)
            error = launchChecksum(streamFrom(commands), params);
        return statusFrom(error);
    }

    SluiceRequirements gstdRequirements(const SluiceGstdInfo& info) const override
    {
        return gstdScratch(info);
    }

    SluiceStatus cmdGstd(SluiceCommands commands, const SluiceGstdInfo& info) override
    {
        bool byPart;
        return statusFrom(decodeGstd(streamFrom(commands), info, byPart));
    }

    SluiceStatus cmdGstdFilter(SluiceCommands commands, const SluiceGstdInfo& decode,
                               const SluiceFilterInfo& filter) override
    {
        const cudaStream_t stream = streamFrom(commands);
        FilterLaunchParams params = filterLaunchParams(filter);
        bool byPart = false;
        cudaError_t error = clearFilterTicket(stream, params);
        if (error == cudaSuccess) error = decodeGstd(stream, decode, byPart);
        if (byPart && decode.maxRegionCount != 0 && decode.expected.size == 0) {
            params.decodeCount = addressOf(decode.regionCount);
            params.decodeMaxCount = decode.maxRegionCount;
        }
        return statusFrom(error == cudaSuccess ? launchFilterFor(stream, params) : error);
    }

    SluiceStatus cmdFseTables(SluiceCommands commands, const SluiceFseTablesInfo& info) override
    {
        const cudaError_t error = resetStatus(commands, info.status, info.maxRegionCount);
        if (error != cudaSuccess || info.maxRegionCount == 0) return statusFrom(error);
        const FseTablesParams params = fseTablesParams(info, address);
        return statusFrom(launchFseTables(streamFrom(commands), params, fseTablesGroups(params)));
    }

    SluiceRequirements floatDecodeRequirements(const SluiceFloatDecodeInfo&) const override
    {
        return SluiceRequirements{0, 4, 0};
    }

    SluiceStatus cmdFloatDecode(SluiceCommands commands, const SluiceFloatDecodeInfo& info) override
    {
        const cudaError_t error = resetStatus(commands, info.status, info.tileCount);
        if (error != cudaSuccess || info.tileCount == 0 || info.tensorCount == 0)
            return statusFrom(error);
        constexpr u32 mostTiles = 6; // of a warp
        FloatDecodeParams params =
            floatDecodeParams(info, floatDevice.warps, mostTiles, floatDevice.blocks, address);
        // Few tiles: a block with 8 and a processor for itself makes its table sooner than two with
        // 4 each.
        constexpr u32 fewTiles = 8;
        const u32 share = (info.tileCount + floatDevice.processors - 1) / floatDevice.processors;
        params.tilesPerWorkgroup = std::max(params.tilesPerWorkgroup, std::min(share, fewTiles));
        return statusFrom(launchFloatDecode(streamFrom(commands), params, floatDevice.early));
    }

    SluiceRequirements df11Requirements(const SluiceDf11Info&) const override
    {
        return SluiceRequirements{0, 4, 0};
    }

    SluiceStatus cmdDf11(SluiceCommands commands, const SluiceDf11Info& info) override
    {
        const cudaError_t error = resetStatus(commands, info.status, info.maxBlockCount);
        if (error != cudaSuccess || info.maxBlockCount == 0 || info.maxUnitCount == 0)
            return statusFrom(error);
        const Df11Params params = df11Params(info, address, df11AtOnce);
        return statusFrom(launchDf11(streamFrom(commands), params, df11Workgroups(params)));
    }

    SluiceRequirements filterRequirements(const SluiceFilterInfo& info) const override
    {
        return filterScratch(info);
    }

    SluiceStatus cmdFilter(SluiceCommands commands, const SluiceFilterInfo& info) override
    {
        const FilterLaunchParams params = filterLaunchParams(info);
        const cudaError_t error = clearFilterTicket(streamFrom(commands), params);
        return statusFrom(error == cudaSuccess ? launchFilterFor(streamFrom(commands), params)
                                               : error);
    }

    SluiceStatus cmdChecksum(SluiceCommands commands, const SluiceChecksumInfo& info) override
    {
        return statusFrom(launchChecksum(streamFrom(commands), regionParams(info, address)));
    }

    SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo& info) const override
    {
        return tileStreamsPlan(*this, info).requirements;
    }

    SluiceStatus cmdTileStreams(SluiceCommands commands, const SluiceTileStreamsInfo& info) override
    {
        const TileStreamsPlan plan = tileStreamsPlan(*this, info);
        TileStreamsParams params = tileStreamsParams(info, plan, address);
        const auto pass = [&](u32 which) {
            params.pass = which;
            return statusFrom(launchTileStreams(streamFrom(commands), params));
        };
        SluiceStatus status = pass(SLUICE_STREAMS_CHECK);
        if (status == SLUICE_OK) status = cmdScan(commands, plan.scan);
        if (status == SLUICE_OK) status = pass(SLUICE_STREAMS_WRITE);
        if (status == SLUICE_OK) status = cmdGdeflate(commands, plan.decode);
        return status == SLUICE_OK ? pass(SLUICE_STREAMS_VERDICT) : status;
    }

private:
    ScanDevice scanDevice;
    CompactDevice compactDevice;
    FloatDevice floatDevice;
    u32 df11AtOnce;    // blocks of DFloat11's kernel
    bool earlySymbols; // of Gstd, see launch.cuh

    // byPart: whether launchGstdExpand by part came last, unless checksums did.
    cudaError_t decodeGstd(cudaStream_t stream, const SluiceGstdInfo& info, bool& byPart) const
    {
        const RegionParams list = regionParams(checksumOf(info), address);
        cudaError_t error = launchStatus(stream, list);
        const GstdTurns turns(gstdParams(info, address), gstdSlots(info));
        const bool expands = (info.flags & kGstdSymbolsOnly) == 0;
        const bool single = turns.count() == 1;
        // A mark never comes again: words of a turn long ago may still be in a slot.
        byPart = expands && earlySymbols &&
                 (single || (turns.overlapping() && turns.count() <= 2 * (~0u / kGstdMark)));
        if (error == cudaSuccess && byPart) {
            void* const slots =
                reinterpret_cast<void*>(static_cast<uintptr_t>(fromPair(turns[0].scratch)));
            error = cudaMemset2DAsync(slots, SLUICE_GSTD_SLOT_SIZE, 0,
                                      SLUICE_GS_SEQUENCES_AT * sizeof(uint32_t),
                                      single ? turns[0].tileCount : 2 * turns[0].tileCount, stream);
        }
        for (uint32_t i = 0; i < turns.count() && error == cudaSuccess; ++i) {
            GstdTurnParams turn = {};
            static_cast<GstdParams&>(turn) = turns[i];
            if (byPart) turn.before = i / 2 * kGstdMark; // every other turn has the same slots
            if (byPart) turn.mark = turn.before + kGstdMark;
            error = launchGstdSymbols(stream, turn,
                                      earlySymbols && i != 0 && turns.overlapping() && expands);
            if (error == cudaSuccess && expands) error = launchGstdExpand(stream, turn);
        }
        if (error == cudaSuccess && info.expected.size != 0 && info.maxRegionCount != 0) {
            error = launchChecksum(stream, list);
        }
        return error;
    }

    static FilterLaunchParams filterLaunchParams(const SluiceFilterInfo& info)
    {
        FilterLaunchParams params = {};
        static_cast<FilterParams&>(params) = filterParams(info, address);
        params.tickets = params.maxTileCount > params.workgroups ? 1 : 0;
        return params;
    }
    cudaError_t launchFilterFor(cudaStream_t stream, const FilterLaunchParams& params) const
    {
        // Blocks for few tiles are two to a processor; with twice as many tiles they still take
        // less time than the others.
        const bool few = params.maxTileCount <= 4 * scanDevice.processors;
        return few ? launchFilterFew(stream, params) : launchFilter(stream, params);
    }

    u32 reduceBlocksOf(const SluiceReduceInfo& info) const
    {
        return reduceBlocks(uint64_t(info.maxCount) * valueBytes(info.type), scanDevice.processors);
    }

    // All of `count` tiles PENDING, none failed.
    static cudaError_t resetStatus(SluiceCommands commands, const SluiceBuffer& status,
                                   uint32_t count)
    {
        RegionParams params = {};
        params.status = addressOf(status);
        params.maxRegionCount = count;
        return launchStatus(streamFrom(commands), params);
    }

    static void setList(IntervalParams& params, const SluiceIntervals& intervals,
                        const SluiceBuffer& scratch, const SluiceBuffer& result)
    {
        params.counts =
            addressOf(intervals.counts.size != 0 ? intervals.counts : intervals.offsets);
        params.countBuffer = addressOf(intervals.count);
        params.prefixes = addressOf(scratch);
        params.result_ = addressOf(result);
    }

    static void setEnds(IntervalParams& params, const SluiceBuffer& source,
                        const SluiceBuffer& destination)
    {
        params.source = addressOf(source);
        params.sourceSize = pair(source.size);
        params.destination = addressOf(destination);
        params.destinationSize = pair(destination.size);
    }

    using IntervalLaunch = cudaError_t (*)(cudaStream_t, const IntervalParams&, uint32_t);
    static SluiceStatus runIntervals(SluiceCommands commands, IntervalLaunch launch,
                                     const IntervalParams& params)
    {
        const cudaError_t planned = launchIntervalPlan(streamFrom(commands), params);
        const uint64_t blocks = intervalDivideUp(intervalShares(params), SLUICE_INTERVAL_SHARES);
        if (planned != cudaSuccess || blocks == 0) return statusFrom(planned);
        return statusFrom(launch(streamFrom(commands), params, static_cast<uint32_t>(blocks)));
    }

    static SluiceStatus runBulk(SluiceCommands commands, const SluiceBulkInfo& info, bool insert)
    {
        IntervalParams params = bulkParams(info, insert);
        params.counts = addressOf(info.indices);
        params.countBuffer = addressOf(info.indexCount);
        params.gather = addressOf(insert ? info.inserted : SluiceBuffer{});
        params.scatter = addressOf(info.itemCount);
        params.result_ = addressOf(info.result);
        setEnds(params, info.source, info.destination);
        return runIntervals(commands, launchIntervalMove, params);
    }
};

// Loads every kernel into the device, so that a later command is a launch and nothing else.
cudaError_t loadKernels(ScanDevice& scanDevice, CompactDevice& compactDevice,
                        FloatDevice& floatDevice, u32& df11AtOnce, bool& earlySymbols)
{
    for (const auto load :
         {loadStatus, loadReduce, loadGdeflate, loadChecksum, loadGstdExpand, loadFseTables,
          loadFilter, loadFilterFew, loadTileStreams, loadIntervalPlan, loadIntervalExpand,
          loadIntervalMove, loadIntervalSearch}) {
        const cudaError_t error = load();
        if (error != cudaSuccess) return error;
    }
    cudaError_t error = loadGstdSymbols(earlySymbols);
    if (error == cudaSuccess) error = loadCompact(compactDevice);
    if (error == cudaSuccess) error = loadDf11(df11AtOnce);
    if (error == cudaSuccess) error = loadFloatDecode(floatDevice);
    return error != cudaSuccess ? error : loadScan(scanDevice);
}

SluiceStatus checkDevice(int device)
{
    int deviceCount = 0;
    cudaError_t error = cudaGetDeviceCount(&deviceCount);
    if (error != cudaSuccess) return statusFrom(error);
    if (device < 0 || device >= deviceCount) return SLUICE_ERROR_ARGUMENT;

    int major = 0;
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return statusFrom(error);
    return major < 7 ? SLUICE_ERROR_UNSUPPORTED : SLUICE_OK;
}

} // namespace
} // namespace sluice

extern "C" SluiceStatus sluiceCreateCudaContext(int device, SluiceContext* context)
{
    using namespace sluice;
    if (context == nullptr) return SLUICE_ERROR_ARGUMENT;
    *context = nullptr;
    const SluiceStatus usable = checkDevice(device);
    if (usable != SLUICE_OK) return usable;

    // The caller's current device is the caller's business: it is put back.
    int before = 0;
    ScanDevice scanDevice = {};
    CompactDevice compactDevice = {};
    FloatDevice floatDevice = {};
    bool earlySymbols = false;
    u32 df11AtOnce = 0;
    cudaError_t error = cudaGetDevice(&before);
    if (error == cudaSuccess) error = cudaSetDevice(device);
    if (error == cudaSuccess) {
        error = loadKernels(scanDevice, compactDevice, floatDevice, df11AtOnce, earlySymbols);
        const cudaError_t restored = cudaSetDevice(before);
        if (error == cudaSuccess) error = restored;
    }
    if (error != cudaSuccess) return statusFrom(error);

    Backend* backend = new (std::nothrow)
        CudaBackend(scanDevice, compactDevice, floatDevice, df11AtOnce, earlySymbols);
    SluiceContext created = new (std::nothrow) SluiceContext_T{backend};
    if (backend == nullptr || created == nullptr) {
        delete backend;
        delete created;
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    *context = created;
    return SLUICE_OK;
}

#endif // SLUICE_HAVE_CUDA
