// SPDX-License-Identifier: MIT OR Apache-2.0
// Wraps the library's archive writer so that the functions that supply and take its bytes may
// throw.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <sluice/sluice_archive.h>

#include "tools/common/tool.h"

namespace sluice {

// The two callbacks of an archive writer, which get this object as their `user`. No exception may
// pass through the library, whose interface is C. So the callbacks keep a Failure, and rethrow()
// throws the Failure once the library has returned.
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
// Creates a writer that gives the archive's bytes to transfer.onWrite. Returns the status of
// sluiceCreateArchiveWriter.
SluiceStatus createArchive(SluiceArchiveWriterInfo info, Transfer& transfer, ArchiveWriter& writer);

// If a callback of `transfer` failed, throws the callback's Failure. Otherwise, if `status` is not
// OK, throws a Failure that names `what`.
void checkPacking(const Transfer& transfer, SluiceStatus status, const std::string& what);

constexpr uint32_t kNoShare = 0xffffffff;

struct ArchiveSource {
    std::string name; // name in the archive
    std::string path;
    bool executable = false;
    uint64_t size = 0;
    uint32_t share = kNoShare; // consecutive files with the same number share tiles
    bool isLink = false;       // the path is a link that is followed
};
// Sorts the sources by name. Throws a Failure if two have the same name.
void sortSources(std::vector<ArchiveSource>& sources);

// Returns an archive with one asset, whose bytes are `content`. The function sets asset.name,
// asset.size and asset.read; the caller sets the other members. Throws a Failure.
Bytes packInMemory(const Bytes& content, const SluiceArchiveWriterInfo& info,
                   SluiceArchiveAssetInfo asset);

} // namespace sluice
