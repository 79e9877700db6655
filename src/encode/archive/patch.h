// SPDX-License-Identifier: MIT OR Apache-2.0
// Patches: they make a new file from an old one (docs/format.md, 11).
//
// Making and applying hold a few pieces of at most kPatchPieceBytes and kPatchPrefixBytes at a
// time, what zstd needs for them, and the list of operations. Making also holds the parts of the
// two files, and 24 bytes for each part of the old one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sluice/sluice.h>

#include "formats/integers.h"

namespace sluice {

constexpr u32 kPatchPieceBytes = 4u << 20;   // of one difference or sum
constexpr u32 kPatchPrefixBytes = 16u << 20; // of the old file, for a difference
constexpr u32 kPatchStartBytes = 64;         // of the old file, by which it is recognised
constexpr u32 kPatchMaxListBytes = 1u << 26; // of operations, not compressed

// Reads exactly `size` bytes, which lie inside the file. May throw; so may the writer.
using PatchRead = std::function<void(u64 offset, void* bytes, size_t size)>;
using PatchWrite = std::function<void(u64 offset, const void* bytes, size_t size)>;

struct PatchFile {
    u64 size;
    PatchRead read;
};

// Some bytes of a file that may occur elsewhere in the other one. The parts of a file follow each
// other without gaps, and each has at most kPatchPieceBytes.
struct PatchPart {
    u64 offset;
    u32 size;
    bool isTable; // of the new file: the bytes at likeOffset differ from it by few small numbers
    // For a part of the new file, where similar bytes are in the old one; likeSize 0: nowhere. With
    // isTable it is as many bytes as the part has.
    u64 likeOffset, likeSize;
};

struct PatchStats {
    u64 copied = 0, carried = 0; // bytes of the new file: from the old one; the others
    u64 patchSize = 0;
    u32 operations = 0;
};

// `level` is zstd's, for carried bytes. `progress` gets bytes of the new file. Errors: UNSUPPORTED
// (the list of operations is longer than a patch may hold), OUT_OF_MEMORY.
SluiceStatus makePatch(const PatchFile& oldFile, const std::vector<PatchPart>& oldParts,
                       const PatchFile& newFile, const std::vector<PatchPart>& newParts, int level,
                       const PatchWrite& write, const std::function<void(u64)>& progress,
                       PatchStats& stats);

struct PatchHeader {
    u16 versionMajor, versionMinor;
    u32 operationCount;
    u64 oldSize, newSize;
    u64 oldStart;       // XXH3 of the old file's first bytes
    u8 newChecksum[16]; // XXH3 of 128 bits of the new file
    u64 listOffset;
    u32 listStored, listSize;
    u32 listChecksum;
};

// `reason` says what is wrong. Errors: FORMAT, CHECKSUM, VERSION.
SluiceStatus readPatchHeader(const PatchFile& patch, PatchHeader& header, std::string& reason);

// Makes the new file; it is right only if this returns OK. Errors: FORMAT and CHECKSUM (the patch
// is damaged), ARGUMENT (the patch is not for this old file), VERSION, OUT_OF_MEMORY.
SluiceStatus applyPatch(const PatchFile& oldFile, const PatchFile& patch, const PatchWrite& write,
                        const std::function<void(u64)>& progress, PatchStats& stats,
                        std::string& reason);

} // namespace sluice
