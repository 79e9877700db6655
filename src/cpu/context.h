// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference backend on the CPU. Each command is plain code that reads like the specification,
// in a file with the command's name. A command has finished when its function returns.
#pragma once

#include <sluice/sluice_all.h>

#include "api/backend.h"

namespace sluice::cpu {

// The backend of CPU contexts of the tier `ref`, the reference. The handle of a buffer is an
// address of host memory.
class ReferenceBackend : public Backend {
public:
    void contextInfo(SluiceContextInfo& info) const override;
    SluiceStatus cmdBarrier(SluiceCommands) override { return SLUICE_OK; }
    SluiceStatus cmdChecksum(SluiceCommands, const SluiceChecksumInfo&) override;
#if SLUICE_HAVE_SUMS
    SluiceStatus cmdScan(SluiceCommands, const SluiceScanInfo&) override;
    SluiceStatus cmdReduce(SluiceCommands, const SluiceReduceInfo&) override;
#endif
#if SLUICE_HAVE_PRIMITIVES
    SluiceStatus cmdCompact(SluiceCommands, const SluiceCompactInfo&) override;
    SluiceStatus cmdIntervalExpand(SluiceCommands, const SluiceIntervalExpandInfo&) override;
    SluiceStatus cmdIntervalMove(SluiceCommands, const SluiceIntervalMoveInfo&) override;
    SluiceStatus cmdIntervalSearch(SluiceCommands, const SluiceIntervalSearchInfo&) override;
    SluiceStatus cmdBulkRemove(SluiceCommands, const SluiceBulkInfo&) override;
    SluiceStatus cmdBulkInsert(SluiceCommands, const SluiceBulkInfo&) override;
#endif
#if SLUICE_HAVE_CODECS
    SluiceStatus cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo&) override;
    SluiceStatus cmdGstd(SluiceCommands, const SluiceGstdInfo&) override;
    SluiceStatus cmdFilter(SluiceCommands, const SluiceFilterInfo&) override;
    SluiceStatus cmdFseTables(SluiceCommands, const SluiceFseTablesInfo&) override;
    SluiceStatus cmdTileStreams(SluiceCommands, const SluiceTileStreamsInfo&) override;
    SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo&) const override;
#endif
#if SLUICE_HAVE_WEIGHTS
    SluiceStatus cmdFloatDecode(SluiceCommands, const SluiceFloatDecodeInfo&) override;
    SluiceStatus cmdDf11(SluiceCommands, const SluiceDf11Info&) override;
#endif
#if SLUICE_HAVE_ZSTD
    SluiceStatus cmdZstd(SluiceCommands, const SluiceZstdInfo&) override;
#endif
#if SLUICE_HAVE_UASTC
    SluiceStatus cmdUastc(SluiceCommands, const SluiceUastcInfo&) override;
#endif
};

} // namespace sluice::cpu
