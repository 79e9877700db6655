// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and writes .safetensors files: a u64 with the header's size, a JSON header, the tensors'
// bytes. This is part of the library sluice_encode, since it needs a JSON parser. The functions
// throw nothing and are thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/sluice.h>

#include "formats/integers.h"

namespace sluice {

struct SafetensorsTensor {
    std::string name;
    std::string dtype; // as the file names it: "BF16", "F8_E4M3", "U8", ...
    std::vector<uint64_t> shape;
    uint64_t begin = 0, end = 0; // bytes, from the end of the header

    uint64_t size() const { return end - begin; }
};

struct SafetensorsHeader {
    std::vector<SafetensorsTensor> tensors; // in the header's order, which need not be that of the
                                            // bytes
    bool hasMetadata = false;
    std::vector<std::pair<std::string, std::string>> metadata; // __metadata__, in the same order
};

// Returns the bits of an element, 0 for an unknown dtype.
uint32_t safetensorsBits(std::string_view dtype);
// Computes the elements of a shape. Returns false if they are more than 2^64 - 1.
bool safetensorsElements(const std::vector<uint64_t>& shape, uint64_t& elements);

// Reads the file's first 8 bytes. headerSize receives the size of the JSON header that follows; the
// tensors' bytes start at 8 + headerSize. On failure, `error` says what is wrong, in words that can
// follow "FILE: ". Errors: FORMAT, BUFFER_SIZE (the file is cut off).
SluiceStatus readSafetensorsSize(const uint8_t bytes[8], uint64_t fileSize, uint64_t& headerSize,
                                 std::string& error);

// Parses and checks the JSON header: every tensor has a known dtype and the size that its shape
// gives, and the tensors cover the dataSize bytes after the header exactly, without overlaps or
// gaps. Memory is at most a few times the header's size. Errors: FORMAT, BUFFER_SIZE,
// OUT_OF_MEMORY.
SluiceStatus parseSafetensors(std::string_view json, uint64_t dataSize, SafetensorsHeader& header,
                              std::string& error);

// Places the tensors contiguously in their order, and makes the start of the file: the size and the
// header, padded with spaces so that the data starts at a multiple of 8. Errors: ARGUMENT (a name
// is not UTF-8 or not unique, a dtype is unknown, or a size exceeds 64 bits), FORMAT (the header
// would be too large), OUT_OF_MEMORY.
SluiceStatus makeSafetensors(SafetensorsHeader& header, std::string& start, std::string& error);

} // namespace sluice
