// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice join`: puts the shards of pack --shard together into the archive that one run would have
// made.
#include <cstdio>

#include "tools/common/progress.h"
#include "tools/common/shard.h"
#include "tools/common/summary.h"

namespace sluice {

int runJoin(const JoinOptions& options, const CommonOptions& common)
{
    const Summary summary(common);
    checkOutput(options.output, common.force, options.inputs);
    std::vector<std::unique_ptr<ShardFile>> shards;
    uint64_t total = 0;
    for (const std::string& input : options.inputs) {
        shards.push_back(std::make_unique<ShardFile>(input));
        total += shards.back()->head().archiveBytes;
    }
    OutputFile output(options.output, common.force);
    Progress progress("joining", total, common.quiet);
    const SluiceArchiveStats stats = joinShards(std::move(shards), output.writer(),
                                                [&](uint64_t bytes) { progress.advance(bytes); });
    progress.clear();
    if (stats.assetCount == 0)
        throw Failure{exitUsage, "there is nothing to join: no shard holds a file"};
    output.commit();
    summary.print(stats.assetCount, stats.bytesIn, stats.bytesOut);
    return exitOk;
}

} // namespace sluice
