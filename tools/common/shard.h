// SPDX-License-Identifier: MIT OR Apache-2.0
// Shards: the parts of an archive that `sluice pack --shard K/N` makes, each on its own machine,
// and `sluice join` puts together. docs/format.md, section 10, describes the file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/common/archive_writer.h"
#include "tools/common/container.h"
#include "encode/archive/blake2b.h"
#include "tools/common/files.h"

namespace sluice {

constexpr uint64_t kShardHeadBytes = 128;
constexpr uint32_t kMaxShards = 65535;

// Shard `number`, 1 .. count.
struct ShardNumber {
    uint32_t number = 0, count = 0; // 0: all in one archive

    std::string text() const { return std::to_string(number) + " of " + std::to_string(count); }
};
// Reads "3/8". Throws a Failure.
ShardNumber shardFromText(const std::string& text);

// Returns which of the files, in the order of their extents, belong to a shard: the first one, and
// the one after the last. The ranges of the shards follow each other and have about the same number
// of bytes. The same list gives the same shards.
std::pair<size_t, size_t> shardRange(const std::vector<ArchiveSource>& files, ShardNumber shard);

// A digest of what all shards of an archive have in common: names, sizes, how each file is encoded,
// by which version of the encoders, and how many shards there are.
Digest shardPlan(const std::vector<ArchiveSource>& files, uint32_t count,
                 const std::function<std::string(const ArchiveSource&)>& encodingOf);

struct ShardHead {
    ShardNumber shard;
    uint32_t allAssets = 0, firstAsset = 0, assetCount = 0;
    Digest plan = {};
    uint64_t archiveBytes = 0;
    uint64_t sumsCheck = 0; // XXH3-64 of the blocks' checksums
};
Bytes writeShardHead(const ShardHead& head);
bool isShard(const InputFile& file);

// Completes a shard. Its archive of this many bytes is already in the file, after the space for the
// head.
void finishShard(OutputFile& output, ShardHead head, uint64_t archiveBytes);

// A shard that was packed. Each block of its archive is checked when it is read.
class ShardFile {
public:
    // Throws a Failure if anything is wrong in head, checksums or index.
    explicit ShardFile(std::unique_ptr<InputFile> file);
    explicit ShardFile(const std::string& path) : ShardFile(std::make_unique<InputFile>(path)) {}

    const std::string& name() const { return m_name; }
    const ShardHead& head() const { return m_head; }
    const Container& archive() const { return *m_archive; }

private:
    std::string m_name;
    ShardHead m_head;
    std::unique_ptr<Container> m_archive;
};

// Adds the shards' assets to a writer, in order. Throws a Failure if a shard is missing, occurs
// twice, belongs to another archive or is damaged.
SluiceArchiveStats joinShards(std::vector<std::unique_ptr<ShardFile>> shards,
                              const std::function<void(uint64_t, const void*, size_t)>& write,
                              const std::function<void(uint64_t bytes)>& advance);

} // namespace sluice
