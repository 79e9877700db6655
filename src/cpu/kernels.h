// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference kernels of the CPU backend, one file a kernel. src/api has checked the arguments.
#pragma once

#include <sluice/sluice_all.h>

#include <algorithm>

#include "api/kernel_table.h"
#include "formats/integers.h"

namespace sluice::cpu {

#define SLUICE_REFERENCE(Name, kernel, Info) void kernel(const Info& info);
SLUICE_ALL(COMMANDS, SLUICE_REFERENCE)
#undef SLUICE_REFERENCE
// The passes of sluiceCmdTileStreams around scan and decode. counts, which the scan turns into
// firstTiles: a word a stream.
void tileStreamsCheck(const SluiceTileStreamsInfo& info, const SluiceBuffer& counts);
void tileStreamsWrite(const SluiceTileStreamsInfo& info, const SluiceBuffer& firstTiles,
                      const SluiceBuffer& regions);
void tileStreamsVerdict(const SluiceTileStreamsInfo& info);

// Device memory is the host's.
template <typename T>
T* pointer(u64 address)
{
    return reinterpret_cast<T*>(uintptr_t(address));
}
template <typename T>
T* pointer(const SluiceBuffer& buffer)
{
    return pointer<T>(buffer.handle + buffer.offset);
}

// A count in GPU memory, at most `most`; `most` where there is none.
inline u32 countOf(const SluiceBuffer& buffer, u32 most)
{
    return buffer.size == 0 ? most : std::min(most, *pointer<const u32>(buffer));
}

} // namespace sluice::cpu
