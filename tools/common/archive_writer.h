// SPDX-License-Identifier: MIT OR Apache-2.0
// Wraps the library's archive writer so that the functions that feed it may throw.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <sluice/sluice_archive.h>

#include "tools/common/tool.h"

namespace sluice {

// Holds the two callbacks of a writer, whose user pointer is this object. No exception may
// propagate through the library, so the callbacks catch a Failure, and rethrow() throws it
// afterwards.
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
// Creates a writer whose archive goes to transfer.onWrite. The status says whether that succeeded.
SluiceStatus createArchive(SluiceArchiveWriterInfo info, Transfer& transfer, ArchiveWriter& writer);

// Throws the Failure that a callback threw; otherwise, throws one if the status is not OK.
void checkPacking(const Transfer& transfer, SluiceStatus status, const std::string& what);

constexpr uint32_t kNoShare = 0xffffffff;

struct ArchiveSource {
    std::string name; // in the archive
    std::string path;
    bool executable = false;
    uint64_t size = 0;
    uint32_t share = kNoShare; // consecutive files with the same number share tiles
};
// Sorts by name. Throws a Failure if two sources have the same name.
void sortSources(std::vector<ArchiveSource>& sources);

// Returns an archive with a single asset. The function itself sets asset.name, asset.size and the
// source of the asset's bytes. Throws a Failure.
Bytes packInMemory(const Bytes& content, const SluiceArchiveWriterInfo& info,
                   SluiceArchiveAssetInfo asset);

} // namespace sluice
