// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/file_mode.h"

#include "formats/archive_layout.h"

namespace sluice {
namespace {

constexpr uint32_t kExecutable = 1;
constexpr uint32_t kModeBytes = 4;

} // namespace

void addExecutableItem(Bytes& parameters)
{
    const size_t at = parameters.size();
    parameters.resize(at + kItemHead + kModeBytes);
    uint8_t* item = parameters.data() + at;
    storeLe16(item, kModeItem);
    storeLe16(item + 2, 0);
    storeLe32(item + 4, kModeBytes);
    storeLe32(item + kItemHead, kExecutable);
}

bool isExecutable(const SluiceArchiveAsset& asset)
{
    const uint8_t* items = static_cast<const uint8_t*>(asset.parameters);
    for (uint64_t at = 0; at + kItemHead <= asset.parameterSize;) {
        const uint8_t* item = items + at;
        const uint64_t size = itemSize(item);
        if (size > asset.parameterSize - at - kItemHead) return false;
        if (loadLe16(item) == kModeItem)
            return size >= kModeBytes && (loadLe32(item + kItemHead) & kExecutable) != 0;
        at += kItemHead + alignUp(size, 4);
    }
    return false;
}

} // namespace sluice
