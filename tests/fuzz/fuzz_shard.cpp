// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes shards, as they are and with repaired checksums: they are refused, or joined to an archive
// that can be read.
#include <sluice/sluice_formats.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <xxhash.h>

#include "tools/common/shard.h"
#include "formats/archive_layout.h"

namespace {

using namespace sluice;

void joinOne(const Bytes& file)
{
    Bytes archive;
    const auto write = [&](uint64_t offset, const void* bytes, size_t size) {
        archive.resize(std::max(archive.size(), size_t(offset) + size));
        std::memcpy(archive.data() + offset, bytes, size);
    };
    try {
        std::vector<std::unique_ptr<ShardFile>> shards;
        shards.push_back(std::make_unique<ShardFile>(std::make_unique<InputFile>("shard", file)));
        joinShards(std::move(shards), write, [](uint64_t) {});
    } catch (const Failure&) {
        return;
    }
    const Container joined(std::make_unique<InputFile>("joined", archive));
    for (uint32_t i = 0; i < joined.assetCount(); ++i)
        joined.records(i);
}

void seal(Bytes& file)
{
    if (file.size() < kShardHeadBytes + 8 + headerBytes) return;
    const size_t size = std::min<size_t>(file.size() - kShardHeadBytes - 8, 1 << 20);
    uint8_t* archive = file.data() + kShardHeadBytes;
    const uint64_t index = loadLe64(archive + headerIndexOffset);
    if (index <= size) {
        for (uint64_t at = index; at + assetBytes <= size && at - index < 1024; at += assetBytes) {
            const uint64_t offset = loadLe64(archive + at + assetOffset);
            const uint64_t records =
                uint64_t(loadLe32(archive + at + assetTileCount)) * recordBytes;
            if (offset <= size && records <= size - offset)
                storeLe32(archive + at + assetTileChecksum,
                          xxh32(archive + offset, size_t(records), 0));
        }
        storeLe32(archive + headerIndexChecksum, xxh32(archive + index, size - size_t(index), 0));
    }
    storeLe32(archive + headerChecksum, xxh32(archive, headerChecksum, 0));
    storeLe64(archive + size, XXH3_64bits(archive, size));
    storeLe64(file.data() + 64, size);
    storeLe64(file.data() + 72, XXH3_64bits(archive + size, 8));
    storeLe32(file.data() + 124, xxh32(file.data(), 124, 0));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    Bytes file(data, data + size);
    joinOne(file);
    seal(file);
    joinOne(file);
    return 0;
}
