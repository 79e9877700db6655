// SPDX-License-Identifier: MIT OR Apache-2.0
// Packs files into an archive, one after the other, through the cache if there is one.
#pragma once

#include <memory>
#include <string>

#include "tools/sluice/pack/against.h"
#include "tools/common/archive_writer.h"
#include "tools/common/codecs.h"
#include "tools/sluice/pack/pack_cache.h"
#include "tools/common/progress.h"

namespace sluice {

// Plans how a file goes into the archive, with at least one segment unless it is empty. Appends to
// `notes` what to report about it. `against` is an older archive that influences the cuts of the
// asset `name`; it may be null.
PackPlan planAsset(const InputFile& file, const std::string& name, const AssetOptions& options,
                   const OldTiles* against, std::vector<PackNote>& notes);

class AssetPacker {
public:
    // `write` receives the archive. `cache` and `against` may be null. All of them must outlive the
    // packer. Throws a Failure, as all member functions do.
    AssetPacker(std::function<void(uint64_t, const void*, size_t)> write, uint32_t threads,
                PackCache* cache, const OldTiles* against, Progress& progress,
                const CommonOptions& common);

    void add(const ArchiveSource& source, const AssetOptions& options);
    // Adds files that share tiles. They are in the order of their names and all have these options.
    void addShare(const ArchiveSource* sources, size_t count, const AssetOptions& options);
    SluiceArchiveStats finish(const std::string& output);

    // How many files --images would change, counted if it was not given.
    uint32_t packedImages = 0, pictures = 0;

private:
    struct CacheName {
        Digest key, content;
    };

    using Parts = std::vector<SluiceArchivePart>;

    // Packs through the cache if there is one. If `source` stands for a share, `parts` are the
    // files of the share; otherwise it is empty.
    void addFile(const ArchiveSource& source, const InputFile& file, const AssetOptions& options,
                 const Parts& parts);
    bool addFromCache(const ArchiveSource& source, const InputFile& file, const AssetEntry& entry,
                      const Parts& parts);
    // `name` is the cache entry for the result; null: the result is not cached.
    void addAnew(const ArchiveSource& source, const InputFile& file, const AssetOptions& options,
                 const Parts& parts, const CacheName* name);
    // `counted` is as in InputReader.
    SluiceStatus addSegments(const ArchiveSource& source, const InputFile& content,
                             const Parts& parts, uint64_t counted, uint32_t type,
                             const std::vector<SluiceArchiveSegment>& segments,
                             const Bytes& parameters);
    void countImages(const InputFile& file, const AssetOptions& options);
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
