// SPDX-License-Identifier: MIT OR Apache-2.0
// The CPU backend: every command has run when it returns.
#include <sluice/sluice_all.h>

#include <new>

#include "../api/backend.h"
#include "../api/components.h"
#include "../api/plan_tile_streams.h"
#include "kernels.h"

namespace sluice {
namespace {

class CpuBackend final : public Backend {
public:
    void contextInfo(SluiceContextInfo& info) const override
    {
        info.backend = SLUICE_BACKEND_CPU;
        info.tier = "ref";
        info.subgroupSize = 1;
        info.byteStores = 1;
        info.report = "";
        info.driverRegionLimit = 0;
        info.kernels = kBuiltKernels;
    }

    SluiceStatus cmdBarrier(SluiceCommands) override { return SLUICE_OK; }
    SluiceStatus cmdChecksum(SluiceCommands, const SluiceChecksumInfo& info) override
    {
        cpu::checksum(info);
        return SLUICE_OK;
    }

#if SLUICE_HAVE_PRIMITIVES
    SluiceStatus cmdScan(SluiceCommands, const SluiceScanInfo& info) override
    {
        cpu::scan(info);
        return SLUICE_OK;
    }
    SluiceStatus cmdReduce(SluiceCommands, const SluiceReduceInfo& info) override
    {
        cpu::reduce(info);
        return SLUICE_OK;
    }
    SluiceStatus cmdCompact(SluiceCommands, const SluiceCompactInfo& info) override
    {
        cpu::compact(info);
        return SLUICE_OK;
    }
    SluiceStatus cmdIntervalExpand(SluiceCommands, const SluiceIntervalExpandInfo& info) override
    {
        cpu::intervalExpand(info);
        return SLUICE_OK;
    }
    SluiceStatus cmdIntervalMove(SluiceCommands, const SluiceIntervalMoveInfo& info) override
    {
        cpu::intervalMove(info);
        return SLUICE_OK;
    }
    SluiceStatus cmdIntervalSearch(SluiceCommands, const SluiceIntervalSearchInfo& info) override
    {
        cpu::intervalSearch(info);
        return SLUICE_OK;
    }
    SluiceStatus cmdBulkRemove(SluiceCommands, const SluiceBulkInfo& info) override
    {
        cpu::bulkRemove(info);
        return SLUICE_OK;
    }
    SluiceStatus cmdBulkInsert(SluiceCommands, const SluiceBulkInfo& info) override
    {
        cpu::bulkInsert(info);
        return SLUICE_OK;
    }
#endif

#if SLUICE_HAVE_CODECS
    SluiceStatus cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo& info) override
    {
        cpu::gdeflate(info);
        if (info.expected.size != 0) cpu::checksum(checksumOf(info));
        return SLUICE_OK;
    }
    SluiceStatus cmdGstd(SluiceCommands, const SluiceGstdInfo& info) override
    {
        cpu::gstd(info);
        if (info.expected.size != 0) cpu::checksum(checksumOf(info));
        return SLUICE_OK;
    }
    SluiceStatus cmdFilter(SluiceCommands, const SluiceFilterInfo& info) override
    {
        cpu::filter(info);
        return SLUICE_OK;
    }
    SluiceStatus cmdFseTables(SluiceCommands, const SluiceFseTablesInfo& info) override
    {
        cpu::fseTables(info);
        return SLUICE_OK;
    }
    SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo& info) const override
    {
        return tileStreamsPlan(*this, info).requirements;
    }
    SluiceStatus cmdTileStreams(SluiceCommands commands, const SluiceTileStreamsInfo& info) override
    {
        const TileStreamsPlan plan = tileStreamsPlan(*this, info);
        cpu::tileStreamsCheck(info, plan.counts);
        cpu::scan(plan.scan);
        cpu::tileStreamsWrite(info, plan.counts, plan.decode.regions);
        cmdGdeflate(commands, plan.decode);
        cpu::tileStreamsVerdict(info);
        return SLUICE_OK;
    }
#endif

#if SLUICE_HAVE_WEIGHTS
    SluiceStatus cmdFloatDecode(SluiceCommands, const SluiceFloatDecodeInfo& info) override
    {
        cpu::floatDecode(info);
        return SLUICE_OK;
    }
    SluiceStatus cmdDf11(SluiceCommands, const SluiceDf11Info& info) override
    {
        cpu::df11(info);
        return SLUICE_OK;
    }
#endif
};

} // namespace
} // namespace sluice

SluiceStatus sluiceCreateCpuContext(SluiceContext* context)
{
    if (context == nullptr) return SLUICE_ERROR_ARGUMENT;
    *context = nullptr;
    sluice::Backend* backend = new (std::nothrow) sluice::CpuBackend;
    SluiceContext created = new (std::nothrow) SluiceContext_T{backend};
    if (backend == nullptr || created == nullptr) {
        delete backend;
        delete created;
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    *context = created;
    return SLUICE_OK;
}
