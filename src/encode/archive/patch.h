// SPDX-License-Identifier: MIT OR Apache-2.0
// Patches, which make a new file from an old one (docs/format.md, 11).
//
// Memory: both makePatch and applyPatch hold a few buffers of at most kPatchPieceBytes or
// kPatchPrefixBytes, zstd's working memory and the list of operations. makePatch also holds the
// lists of parts of both files, and 24 bytes for each part of the old file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sluice/sluice.h>

#include "formats/integers.h"

namespace sluice {

// Sizes in bytes. PatchKind (patch_layout.h) says what a difference and a sum are.
constexpr uint32_t kPatchPieceBytes = 4u << 20;   // limit: new bytes of one difference or sum
constexpr uint32_t kPatchPrefixBytes = 16u << 20; // limit: old bytes that a difference refers to
constexpr uint32_t kPatchStartBytes = 64;         // first old bytes, which identify the old file
constexpr uint32_t kPatchMaxListBytes = 1u << 26; // limit: the uncompressed list of operations

// PatchRead reads exactly `size` bytes, which lie inside the file. Both functions may throw.
using PatchRead = std::function<void(uint64_t offset, void* bytes, size_t size)>;
using PatchWrite = std::function<void(uint64_t offset, const void* bytes, size_t size)>;

struct PatchFile {
    uint64_t size;
    PatchRead read;
};

// A range of a file that may occur in the other file, at any offset. The parts of a file follow
// each other without gaps, and each has at most kPatchPieceBytes.
struct PatchPart {
    uint64_t offset;
    uint32_t size;
    bool isTable; // new file only: stored as bytewise differences from likeOffset
    // New file only: where the old file has similar bytes; likeSize is 0 if it has none. With
    // isTable, likeSize equals `size`.
    uint64_t likeOffset, likeSize;
};

struct PatchStats {
    uint64_t copied = 0, carried = 0; // bytes of the new file that are copied, and all others
    uint64_t patchSize = 0;
    uint32_t operations = 0;
};

// `level` is zstd's level for carried bytes. `progress` is called with the number of bytes of the
// new file that have been made since its last call. Errors: UNSUPPORTED (the list of operations is
// longer than a patch may hold), OUT_OF_MEMORY.
SluiceStatus makePatch(const PatchFile& oldFile, const std::vector<PatchPart>& oldParts,
                       const PatchFile& newFile, const std::vector<PatchPart>& newParts, int level,
                       const PatchWrite& write, const std::function<void(uint64_t)>& progress,
                       PatchStats& stats);

struct PatchHeader {
    uint16_t versionMajor, versionMinor;
    uint32_t operationCount;
    uint64_t oldSize, newSize;
    uint64_t oldStart;       // 64-bit XXH3 of the old file's first kPatchStartBytes
    uint8_t newChecksum[16]; // 128-bit XXH3 of the new file
    uint64_t listOffset;
    uint32_t listStored, listSize;
    uint32_t listChecksum;
};

// On failure, `reason` says what is wrong. Errors: FORMAT, CHECKSUM, VERSION.
SluiceStatus readPatchHeader(const PatchFile& patch, PatchHeader& header, std::string& reason);

// Writes the new file, which is valid only if this returns OK. Errors: FORMAT and CHECKSUM (the
// patch is damaged), ARGUMENT (the patch is for another old file), VERSION, OUT_OF_MEMORY.
SluiceStatus applyPatch(const PatchFile& oldFile, const PatchFile& patch, const PatchWrite& write,
                        const std::function<void(uint64_t)>& progress, PatchStats& stats,
                        std::string& reason);

} // namespace sluice
