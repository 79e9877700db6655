// SPDX-License-Identifier: MIT OR Apache-2.0
// Packs files into an archive, one after the other, and takes results from the cache if there is
// one.
#pragma once

#include <string>

#include "tools/sluice/pack/against.h"
#include "tools/common/archive_writer.h"
#include "tools/common/codecs.h"
#include "tools/sluice/pack/pack_cache.h"
#include "tools/common/progress.h"

namespace sluice {

// Plans how a file goes into the archive. The plan has at least one segment unless the file is
// empty. Appends what the user should know to `notes`. `against` is an older archive by which the
// asset `name` is cut, or null.
PackPlan planAsset(const InputFile& file, const std::string& name, const AssetOptions& options,
                   const OldTiles* against, std::vector<PackNote>& notes);

class AssetPacker {
public:
    // `write` receives the archive's bytes. `cache` and `against` may be null. All of them must
    // outlive this object. All functions throw a Failure.
    AssetPacker(std::function<void(uint64_t, const void*, size_t)> write,
                const PackOptions& options, PackCache* cache, const OldTiles* against,
                Progress& progress, const CommonOptions& common);

    void add(const ArchiveSource& source, const AssetOptions& options);
    // Adds files that share tiles. They are sorted by name, and `options` hold for all of them.
    void addShare(const ArchiveSource* sources, size_t count, const AssetOptions& options);
    SluiceArchiveStats finish(const std::string& output);

    // Numbers of files that other options would suit better. packedImages and pictures count files
    // that --images, which was not given, would change. models counts weights that were packed with
    // a codec that is not for weights.
    uint32_t packedImages = 0, pictures = 0, models = 0;

private:
    struct CacheName {
        Digest key, content;
    };

    using Parts = std::vector<SluiceArchivePart>;

    // Packs a file, through the cache if there is one. If `source` stands for files that share
    // tiles, `parts` are these files; otherwise `parts` is empty.
    void addFile(const ArchiveSource& source, const InputFile& file, const AssetOptions& options,
                 const Parts& parts);
    bool addFromCache(const ArchiveSource& source, const InputFile& file, const AssetEntry& entry,
                      const Parts& parts);
    // Packs a file that was not found in the cache. `name` is the cache entry that receives the
    // result, or null.
    void addAnew(const ArchiveSource& source, const InputFile& file, const AssetOptions& options,
                 const Parts& parts, const CacheName* name);
    // Adds an asset with these segments to the archive's writer. Only the first `counted` bytes of
    // `content` move the progress line.
    SluiceStatus addSegments(const ArchiveSource& source, const InputFile& content,
                             const Parts& parts, uint64_t counted, uint32_t type,
                             const std::vector<SluiceArchiveSegment>& segments,
                             const Bytes& parameters);
    void countUnsuited(const InputFile& file, const std::string& name, const AssetOptions& options);
    void say(const std::string& path, const std::vector<PackNote>& notes) const;

    Transfer m_transfer;
    ArchiveWriter m_writer{nullptr, sluiceDestroyArchiveWriter};
    PackCache* m_cache;
    const OldTiles* m_against;
    Progress& m_progress;
    const CommonOptions& m_common;
    uint32_t m_added = 0;
};

} // namespace sluice
