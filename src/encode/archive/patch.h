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

constexpr uint32_t kPatchPieceBytes = 4u << 20;   // of one difference or sum
constexpr uint32_t kPatchPrefixBytes = 16u << 20; // of the old file, for a difference
constexpr uint32_t kPatchStartBytes = 64;         // of the old file, by which it is recognised
constexpr uint32_t kPatchMaxListBytes = 1u << 26; // of operations, not compressed

// Reads exactly `size` bytes, which lie inside the file. May throw; so may the writer.
using PatchRead = std::function<void(uint64_t offset, void* bytes, size_t size)>;
using PatchWrite = std::function<void(uint64_t offset, const void* bytes, size_t size)>;

struct PatchFile {
    uint64_t size;
    PatchRead read;
};

// Some bytes of a file that may occur elsewhere in the other one. The parts of a file follow each
// other without gaps, and each has at most kPatchPieceBytes.
struct PatchPart {
    uint64_t offset;
    uint32_t size;
    bool isTable; // of the new file: the bytes at likeOffset differ from it by few small numbers
    // For a part of the new file, where similar bytes are in the old one; likeSize 0: nowhere. With
    // isTable it is as many bytes as the part has.
    uint64_t likeOffset, likeSize;
};

struct PatchStats {
    uint64_t copied = 0, carried = 0; // bytes of the new file: from the old one; the others
    uint64_t patchSize = 0;
    uint32_t operations = 0;
};

// `level` is zstd's, for carried bytes. `progress` gets bytes of the new file. Errors: UNSUPPORTED
// (the list of operations is longer than a patch may hold), OUT_OF_MEMORY.
SluiceStatus makePatch(const PatchFile& oldFile, const std::vector<PatchPart>& oldParts,
                       const PatchFile& newFile, const std::vector<PatchPart>& newParts, int level,
                       const PatchWrite& write, const std::function<void(uint64_t)>& progress,
                       PatchStats& stats);

struct PatchHeader {
    uint16_t versionMajor, versionMinor;
    uint32_t operationCount;
    uint64_t oldSize, newSize;
    uint64_t oldStart;       // XXH3 of the old file's first bytes
    uint8_t newChecksum[16]; // XXH3 of 128 bits of the new file
    uint64_t listOffset;
    uint32_t listStored, listSize;
    uint32_t listChecksum;
};

// `reason` says what is wrong. Errors: FORMAT, CHECKSUM, VERSION.
SluiceStatus readPatchHeader(const PatchFile& patch, PatchHeader& header, std::string& reason);

// Makes the new file; it is right only if this returns OK. Errors: FORMAT and CHECKSUM (the patch
// is damaged), ARGUMENT (the patch is not for this old file), VERSION, OUT_OF_MEMORY.
SluiceStatus applyPatch(const PatchFile& oldFile, const PatchFile& patch, const PatchWrite& write,
                        const std::function<void(uint64_t)>& progress, PatchStats& stats,
                        std::string& reason);

} // namespace sluice
