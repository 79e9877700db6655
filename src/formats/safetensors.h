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

// Reads the file's first 8 bytes. headerSize receives the bytes of JSON that follow; the tensors'
// bytes start at 8 + headerSize. On failure error says what is wrong, in words that fit behind
// "FILE: ". Errors: FORMAT, BUFFER_SIZE (the file is cut off).
SluiceStatus readSafetensorsSize(const uint8_t bytes[8], uint64_t fileSize, uint64_t& headerSize,
                                 std::string& error);

// Parses the JSON. Every tensor has a known dtype and a size that its shape gives, and the tensors
// cover the dataSize bytes behind the header exactly: no overlap, no hole, nothing left over.
// Memory: what the header names, at most a few times its size. Errors: FORMAT, BUFFER_SIZE,
// OUT_OF_MEMORY.
SluiceStatus parseSafetensors(std::string_view json, uint64_t dataSize, SafetensorsHeader& header,
                              std::string& error);

// Gives the tensors their places one after the other, in order, and makes the file's start: the
// size and the header, padded with spaces so that the data starts at a multiple of 8. Names must be
// UTF-8, dtypes known. Errors: ARGUMENT (those, a name twice, or a size past 2^64), FORMAT (the
// header would be too large), OUT_OF_MEMORY.
SluiceStatus makeSafetensors(SafetensorsHeader& header, std::string& start, std::string& error);

} // namespace sluice
