// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and writes .safetensors files. Such a file has a u64 with the size of a JSON header, the
// header, and the bytes of the tensors. This code belongs to the library sluice_encode, because it
// needs a JSON parser. The functions throw nothing and are thread-safe.
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
    uint64_t begin = 0, end = 0; // byte offsets from the end of the header

    uint64_t size() const { return end - begin; }
};

struct SafetensorsHeader {
    // The tensors in the order of the header. Their bytes may have another order.
    std::vector<SafetensorsTensor> tensors;
    bool hasMetadata = false;
    std::vector<std::pair<std::string, std::string>> metadata; // __metadata__, in order
};

// Returns the bits of an element; 0 for an unknown dtype.
uint32_t safetensorsBits(std::string_view dtype);
// Computes the number of elements. Returns false if it exceeds 2^64 - 1.
bool safetensorsElements(const std::vector<uint64_t>& shape, uint64_t& elements);

// Reads the first 8 bytes of a file and sets headerSize, the size of the JSON header. The tensors'
// bytes begin at offset 8 + headerSize of the file. After a failure `error` says what is wrong, in
// words that can follow "FILE: ". Errors: FORMAT, BUFFER_SIZE (the file is cut off).
SluiceStatus readSafetensorsSize(const uint8_t bytes[8], uint64_t fileSize, uint64_t& headerSize,
                                 std::string& error);

// Parses and checks the JSON header, which is all of `json`. Each tensor must have the size that
// its shape and dtype give; a tensor of an unknown dtype has the size that its offsets give. The
// tensors must cover the dataSize bytes after the header exactly, without overlaps or gaps. Takes
// memory of at most a few times the header's size. Errors: FORMAT, BUFFER_SIZE, OUT_OF_MEMORY.
SluiceStatus parseSafetensors(std::string_view json, uint64_t dataSize, SafetensorsHeader& header,
                              std::string& error);

// Sets the tensors' offsets so that the tensors follow each other in their order, and stores the
// beginning of the file in `start`: the header's size and the header, padded with spaces so that
// the tensors begin at a multiple of 8. A tensor of an unknown dtype keeps the size that its
// offsets gave it. Errors: ARGUMENT (a name is not UTF-8 or occurs twice, a dtype is missing, or a
// size exceeds 64 bits), FORMAT (the header would be too large), OUT_OF_MEMORY.
SluiceStatus makeSafetensors(SafetensorsHeader& header, std::string& start, std::string& error);

} // namespace sluice
