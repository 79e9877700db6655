// SPDX-License-Identifier: MIT OR Apache-2.0
// Writers of the library, fed by functions that may throw.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <sluice/sluice_archive.h>

#include "tools/common/tool.h"

namespace sluice {

// The two callbacks of a writer, with this object as their user pointer. No exception may cross the
// library, so a Failure is kept until rethrow.
struct Transfer {
    std::function<void(void* bytes, size_t size)> onRead;
    std::function<void(uint64_t offset, const void* bytes, size_t size)> onWrite;

    static SluiceStatus read(void* user, void* bytes, size_t size);
    static SluiceStatus write(void* user, uint64_t offset, const void* bytes, size_t size);
    void rethrow() const
    {
        if (failure) throw *failure;
    }

    std::optional<Failure> failure;
};

using ArchiveWriter = std::unique_ptr<SluiceArchiveWriter_T, decltype(&sluiceDestroyArchiveWriter)>;
// Writes an archive to transfer.onWrite. The status says whether the writer could be made.
SluiceStatus createArchive(SluiceArchiveWriterInfo info, Transfer& transfer, ArchiveWriter& writer);

// Throws what a callback threw, or what the status says.
void checkPacking(const Transfer& transfer, SluiceStatus status, const std::string& what);

constexpr uint32_t kNoShare = 0xffffffff;

struct ArchiveSource {
    std::string name; // in the archive
    std::string path;
    bool executable = false;
    uint64_t size = 0;
    uint32_t share = kNoShare; // files in a row with the same number share tiles
};
// Throws a Failure where two have one name.
void sortSources(std::vector<ArchiveSource>& sources);

// The archive of a single asset, in memory. asset.name and where its bytes come from are set here.
// Throws a Failure.
Bytes packInMemory(const Bytes& content, const SluiceArchiveWriterInfo& info,
                   SluiceArchiveAssetInfo asset);

} // namespace sluice
