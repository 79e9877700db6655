// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/file_mode.h"

#include "formats/archive_layout.h"

namespace sluice {
namespace {

constexpr u32 kExecutable = 1;
constexpr u32 kModeBytes = 4;

} // namespace

void addExecutableItem(Bytes& parameters)
{
    const size_t at = parameters.size();
    parameters.resize(at + kItemHead + kModeBytes);
    u8* item = parameters.data() + at;
    storeLe16(item, kModeItem);
    storeLe16(item + 2, 0);
    storeLe32(item + 4, kModeBytes);
    storeLe32(item + kItemHead, kExecutable);
}

bool isExecutable(const SluiceArchiveAsset& asset)
{
    const u8* items = static_cast<const u8*>(asset.parameters);
    for (u64 at = 0; at + kItemHead <= asset.parameterSize;) {
        const u8* item = items + at;
        const u64 size = itemSize(item);
        if (size > asset.parameterSize - at - kItemHead) return false;
        if (loadLe16(item) == kModeItem)
            return size >= kModeBytes && (loadLe32(item + kItemHead) & kExecutable) != 0;
        at += kItemHead + alignUp(size, 4);
    }
    return false;
}

} // namespace sluice
