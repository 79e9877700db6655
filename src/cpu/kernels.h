// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference kernels of the CPU backend: one file per kernel, the arguments already checked by
// src/api.
#pragma once

#include <sluice/sluice_all.h>

namespace sluice::cpu {

void scan(const SluiceScanInfo& info);
void reduce(const SluiceReduceInfo& info);
void compact(const SluiceCompactInfo& info);
void intervalExpand(const SluiceIntervalExpandInfo& info);
void intervalMove(const SluiceIntervalMoveInfo& info);
void intervalSearch(const SluiceIntervalSearchInfo& info);
void bulkRemove(const SluiceBulkInfo& info);
void bulkInsert(const SluiceBulkInfo& info);
void gdeflate(const SluiceGdeflateInfo& info);
void gstd(const SluiceGstdInfo& info);
void fseTables(const SluiceFseTablesInfo& info);
void checksum(const SluiceChecksumInfo& info);
void df11(const SluiceDf11Info& info);
void floatDecode(const SluiceFloatDecodeInfo& info);
void filter(const SluiceFilterInfo& info);
// The passes of sluiceCmdTileStreams around scan and decode; counts: a word a stream.
void tileStreamsCheck(const SluiceTileStreamsInfo& info, const SluiceBuffer& counts);
void tileStreamsWrite(const SluiceTileStreamsInfo& info, const SluiceBuffer& firstTiles,
                      const SluiceBuffer& regions);
void tileStreamsVerdict(const SluiceTileStreamsInfo& info);

// The host memory of a buffer.
template <typename T>
T* pointer(const SluiceBuffer& buffer)
{
    return reinterpret_cast<T*>(uintptr_t(buffer.handle + buffer.offset));
}

} // namespace sluice::cpu
