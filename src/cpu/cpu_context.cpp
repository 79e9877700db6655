// SPDX-License-Identifier: MIT OR Apache-2.0
// The CPU backend: every command has run when it returns.
#include "../api/backend.h"
#include "../api/plan_tile_streams.h"
#include "kernels.h"

#include <new>

namespace {

class CpuBackend final : public sluice::Backend {
public:
    void contextInfo(SluiceContextInfo& info) const override
    {
        info.backend = SLUICE_BACKEND_CPU;
        info.tier = "ref";
        info.subgroupSize = 1;
        info.byteStores = 1;
        info.report = "";
        info.driverRegionLimit = 0;
        info.kernels = SLUICE_KERNELS_ALL;
    }

    SluiceStatus cmdBarrier(SluiceCommands) override { return SLUICE_OK; }

    SluiceRequirements scanRequirements(const SluiceScanInfo&) const override { return noScratch; }
    SluiceRequirements reduceRequirements(const SluiceReduceInfo&) const override
    {
        return noScratch;
    }
    SluiceRequirements compactRequirements(const SluiceCompactInfo&) const override
    {
        return noScratch;
    }
    SluiceRequirements intervalRequirements(const SluiceIntervals&) const override
    {
        return noScratch;
    }
    SluiceRequirements gdeflateRequirements(const SluiceGdeflateInfo&) const override
    {
        return noScratch;
    }
    SluiceRequirements floatDecodeRequirements(const SluiceFloatDecodeInfo&) const override
    {
        return noScratch;
    }

    SluiceStatus cmdFloatDecode(SluiceCommands, const SluiceFloatDecodeInfo& info) override
    {
        sluice::cpu::floatDecode(info);
        return SLUICE_OK;
    }

    SluiceRequirements filterRequirements(const SluiceFilterInfo&) const override
    {
        return noScratch;
    }
    SluiceStatus cmdFilter(SluiceCommands, const SluiceFilterInfo& info) override
    {
        sluice::cpu::filter(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdScan(SluiceCommands, const SluiceScanInfo& info) override
    {
        sluice::cpu::scan(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdReduce(SluiceCommands, const SluiceReduceInfo& info) override
    {
        sluice::cpu::reduce(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdCompact(SluiceCommands, const SluiceCompactInfo& info) override
    {
        sluice::cpu::compact(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdIntervalExpand(SluiceCommands, const SluiceIntervalExpandInfo& info) override
    {
        sluice::cpu::intervalExpand(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdIntervalMove(SluiceCommands, const SluiceIntervalMoveInfo& info) override
    {
        sluice::cpu::intervalMove(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdIntervalSearch(SluiceCommands, const SluiceIntervalSearchInfo& info) override
    {
        sluice::cpu::intervalSearch(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdBulkRemove(SluiceCommands, const SluiceBulkInfo& info) override
    {
        sluice::cpu::bulkRemove(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdBulkInsert(SluiceCommands, const SluiceBulkInfo& info) override
    {
        sluice::cpu::bulkInsert(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo& info) override
    {
        sluice::cpu::gdeflate(info);
        if (info.expected.size != 0) sluice::cpu::checksum(sluice::checksumOf(info));
        return SLUICE_OK;
    }

    SluiceRequirements gstdRequirements(const SluiceGstdInfo&) const override { return noScratch; }
    SluiceStatus cmdGstd(SluiceCommands, const SluiceGstdInfo& info) override
    {
        sluice::cpu::gstd(info);
        if (info.expected.size != 0) sluice::cpu::checksum(sluice::checksumOf(info));
        return SLUICE_OK;
    }

    SluiceStatus cmdFseTables(SluiceCommands, const SluiceFseTablesInfo& info) override
    {
        sluice::cpu::fseTables(info);
        return SLUICE_OK;
    }

    SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo& info) const override
    {
        return sluice::tileStreamsPlan(*this, info).requirements;
    }

    SluiceStatus cmdTileStreams(SluiceCommands commands, const SluiceTileStreamsInfo& info) override
    {
        const sluice::TileStreamsPlan plan = sluice::tileStreamsPlan(*this, info);
        sluice::cpu::tileStreamsCheck(info, plan.counts);
        sluice::cpu::scan(plan.scan);
        sluice::cpu::tileStreamsWrite(info, plan.counts, plan.decode.regions);
        cmdGdeflate(commands, plan.decode);
        sluice::cpu::tileStreamsVerdict(info);
        return SLUICE_OK;
    }

    SluiceRequirements df11Requirements(const SluiceDf11Info&) const override { return noScratch; }

    SluiceStatus cmdDf11(SluiceCommands, const SluiceDf11Info& info) override
    {
        sluice::cpu::df11(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdChecksum(SluiceCommands, const SluiceChecksumInfo& info) override
    {
        sluice::cpu::checksum(info);
        return SLUICE_OK;
    }

private:
    static constexpr SluiceRequirements noScratch = {0, 1, 0};
};

} // namespace

SluiceStatus sluiceCreateCpuContext(SluiceContext* context)
{
    if (context == nullptr) return SLUICE_ERROR_ARGUMENT;
    *context = nullptr;
    CpuBackend* backend = new (std::nothrow) CpuBackend;
    SluiceContext created = new (std::nothrow) SluiceContext_T{backend};
    if (backend == nullptr || created == nullptr) {
        delete backend;
        delete created;
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    *context = created;
    return SLUICE_OK;
}
