// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice transcode --reblock`: writes a Zstandard file anew, in blocks that GPUs decode sooner.
#include <cinttypes>

#include "encode/zstd/zstd_reblock.h"
#include "tools/common/files.h"
#include "tools/common/progress.h"
#include "tools/common/summary.h"
#include "tools/sluice/pack/reblock.h"

namespace sluice {

int runReblock(const TranscodeOptions& options, const CommonOptions& common)
{
    constexpr uint64_t kMostWindow = uint64_t(128) << 20;
    if (options.inputs.size() != 1)
        throw Failure{exitUsage, "--reblock: takes one file, since it makes one"};
    const std::string& path = options.inputs[0];
    const Summary summary(common);
    checkOutput(options.output, common.force, options.inputs);
    const InputFile input(path);
    if (input.size() == 0) throw Failure{exitFormat, path + ": the file is empty"};
    OutputFile output(options.output, common.force);
    Progress progress("reblocking", input.size(), common.quiet);
    uint64_t read = 0, written = 0;
    zstd::ReblockInfo info;
    info.size = input.size();
    info.read = [&](uint64_t offset, void* bytes, size_t size) {
        input.read(offset, bytes, size);
        if (offset + size <= read) return; // has been read before
        progress.advance(offset + size - read);
        read = offset + size;
    };
    info.write = [&](const void* bytes, size_t size) {
        output.write(written, bytes, size);
        written += size;
    };
    info.frameSize = options.frameSize;
    info.level = options.level;
    info.maxWindow = kMostWindow;
    zstd::Reblocker reblocker(info);
    const uint32_t status = reblocker.run();
    const std::string place = path + formatText(": the frame at byte %" PRIu64, reblocker.offset());
    switch (status) {
    case SLUICE_TILE_OK: break;
    case SLUICE_TILE_UNSUPPORTED: throw Failure{exitUnsupported, place + " needs a dictionary"};
    case SLUICE_TILE_LIMIT:
        throw Failure{exitUnsupported, place + " needs a window of more than 128 MiB, or has a "
                                               "block that is too large"};
    default:
        throw Failure{exitFormat, place + ": no Zstandard frame, or damaged: " +
                                      sluiceGetTileStatusText(status)};
    }
    input.checkUnchanged();
    progress.clear();
    if (!reblocker.hasTable() && !common.quiet)
        printMessage("sluice: %s: a frame of 4 GiB or more, so there is no seek table\n",
                     options.output.c_str());
    output.commit();
    if (common.verbosity > 0 && !common.quiet)
        printMessage("bytes in   %llu, %llu decoded\nbytes out  %llu\n", wide(input.size()),
                     wide(reblocker.bytesDecoded()), wide(written));
    summary.print(1, reblocker.bytesDecoded(), written);
    return exitOk;
}

} // namespace sluice
