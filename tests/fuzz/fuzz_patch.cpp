// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the reader of patches. The input is a list of operations, the carried bytes, and a part of
// the header; checksums and sizes are repaired, since nothing else would get past them. What is
// written must lie inside the new file and come in order.
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "encode/archive/patch.h"
#include "encode/archive/patch_layout.h"
#include "formats/xxh32.h"
#include "tests/fuzz/fuzzing.h"

using sluice::fuzz::require;

using namespace sluice;

namespace {

PatchFile fileOf(const std::vector<uint8_t>& bytes)
{
    return {bytes.size(), [&bytes](uint64_t offset, void* to, size_t size) {
                require(offset <= bytes.size() && size <= bytes.size() - offset);
                if (size != 0) std::memcpy(to, bytes.data() + offset, size);
            }};
}

} // namespace

// Bytes 0 to 2: size of the new file; 3: number of operations; 4: bytes of the list; then the list,
// then the carried bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    constexpr size_t head = 5;
    if (size < head) return 0;
    std::vector<uint8_t> old(5000);
    for (size_t i = 0; i < old.size(); ++i)
        old[i] = uint8_t(i * i >> 5);
    const size_t listSize = std::min<size_t>(data[4], size - head), listEnd = head + listSize;
    std::vector<uint8_t> list(ZSTD_compressBound(listSize));
    list.resize(listSize == 0 ? 0
                              : ZSTD_compress(list.data(), list.size(), data + head, listSize, 1));
    std::vector<uint8_t> patch(patchHeaderBytes);
    patch.insert(patch.end(), data + listEnd, data + size);
    const uint64_t newSize = loadLe(data, 3);
    std::memcpy(patch.data(), kPatchMagic, sizeof kPatchMagic);
    storeLe16(&patch[patchVersionMajor], kPatchVersionMajor);
    storeLe32(&patch[patchOperationCount], data[3]);
    storeLe64(&patch[patchOldSize], old.size());
    storeLe64(&patch[patchNewSize], newSize);
    storeLe64(&patch[patchOldStart], XXH3_64bits(old.data(), kPatchStartBytes));
    storeLe64(&patch[patchListOffset], patch.size());
    storeLe32(&patch[patchListStored], uint32_t(list.size()));
    storeLe32(&patch[patchListSize], uint32_t(listSize));
    storeLe32(&patch[patchListChecksum], xxh32(list.data(), list.size(), 0));
    storeLe32(&patch[patchHeaderChecksum], xxh32(patch.data(), patchHeaderChecksum, 0));
    patch.insert(patch.end(), list.begin(), list.end());
    uint64_t written = 0;
    const PatchWrite write = [&](uint64_t offset, const void*, size_t bytes) {
        require(offset == written && bytes <= newSize - written);
        written += bytes;
    };
    PatchStats stats;
    std::string reason;
    const SluiceStatus status = applyPatch(
        fileOf(old), fileOf(patch), write, [](uint64_t) {}, stats, reason);
    require(status != SLUICE_OK || written == newSize);
    return 0;
}
