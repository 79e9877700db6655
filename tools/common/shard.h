// SPDX-License-Identifier: MIT OR Apache-2.0
// Shards: `sluice pack --shard K/N` makes one of N pieces of an archive, for example on N machines,
// and `sluice join` puts the pieces together. docs/format.md, section 10, describes the file.
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

// One of `count` shards; `number` is 1 .. count.
struct ShardNumber {
    uint32_t number = 0, count = 0; // both 0: there are no shards, only one archive

    std::string text() const { return std::to_string(number) + " of " + std::to_string(count); }
};
// Reads a text such as "3/8". Throws a Failure.
ShardNumber shardFromText(const std::string& text);

// Returns the range of files that belong to a shard: the index of the first, and of the one after
// the last. `files` are in the order in which the archive stores them. Shards have about the same
// number of bytes, and the same list gives the same shards.
std::pair<size_t, size_t> shardRange(const std::vector<ArchiveSource>& files, ShardNumber shard);

// Returns a digest of what all shards of an archive must have in common: names, sizes, how each
// file is encoded, the version of the encoders, and the number of shards.
Digest shardPlan(const std::vector<ArchiveSource>& files, uint32_t count,
                 const std::function<std::string(const ArchiveSource&)>& encodingOf);

struct ShardHead {
    ShardNumber shard;
    uint32_t allAssets = 0, firstAsset = 0, assetCount = 0;
    Digest plan = {};
    uint64_t archiveBytes = 0;
    uint64_t sumsCheck = 0;      // XXH3-64 of the list of the archive's block checksums
    bool equalTilesOnce = false; // SluiceArchiveWriterInfo::equalTilesOnce of the whole archive
};
Bytes writeShardHead(const ShardHead& head);
bool isShard(const InputFile& file);

// Completes a shard file: writes the checksums and the head. The caller has written the shard's
// archive, of archiveBytes bytes, from offset kShardHeadBytes on.
void finishShard(OutputFile& output, ShardHead head, uint64_t archiveBytes);

// A shard that has been packed. Each block of its archive is checked when it is read.
class ShardFile {
public:
    // Throws a Failure if head, checksums or index are damaged.
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

// Adds the assets of all shards to an archive, in order. `write` receives the archive; `advance` is
// told how many stored bytes have been read, for a progress line. Throws a Failure if a shard is
// missing, occurs twice, belongs to another archive or is damaged.
SluiceArchiveStats joinShards(std::vector<std::unique_ptr<ShardFile>> shards,
                              const std::function<void(uint64_t, const void*, size_t)>& write,
                              const std::function<void(uint64_t bytes)>& advance);

} // namespace sluice
