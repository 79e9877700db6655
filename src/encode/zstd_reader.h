// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads Zstandard frames (RFC 8878): libzstd decodes them, and the matches that their sequences
// tell of are read beside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <sluice/sluice.h>

#include "../formats/fse.h"

namespace sluice {

struct ZstdMatch {
    uint64_t position; // of its first byte, in the content of all frames
    uint32_t length, offset;
};

class ZstdReader {
public:
    // The frames stay the caller's. Throws std::bad_alloc.
    ZstdReader(const uint8_t* frames, size_t size);
    ~ZstdReader();

    // Bytes of all frames together; decodes them if they do not say so. Errors: FORMAT, CHECKSUM,
    // UNSUPPORTED (a dictionary is wanted, or a window above 128 MiB), OUT_OF_MEMORY.
    SluiceStatus measure(uint64_t& size);

    // Appends the content of the next block and its matches; neither at the end. A block holds at
    // most 128 KiB. Errors: as above.
    SluiceStatus next(std::vector<uint8_t>& content, std::vector<ZstdMatch>& matches);

    // Whether a frame wants a dictionary, for messages: the other cause of UNSUPPORTED is a window.
    static bool wantsDictionary(const uint8_t* frames, size_t size);

private:
    struct Table { // of sequences
        uint32_t log = 0;
        fse::State states[512];
    };
    struct Decoder;

    SluiceStatus readFrameHeader();
    SluiceStatus skipFrames();
    SluiceStatus decode(const uint8_t* bytes, size_t size, std::vector<uint8_t>& content);
    bool readSequences(const uint8_t* block, size_t size, std::vector<ZstdMatch>& matches,
                       uint64_t position);
    bool readTable(uint32_t mode, uint32_t which, const uint8_t*& bytes, const uint8_t* end);

    const uint8_t* const begin_;
    const uint8_t* const end_;
    const uint8_t* at_;
    std::unique_ptr<Decoder> decoder_;
    uint64_t position_ = 0;
    bool inFrame_ = false, hasChecksum_ = false;
    Table tables_[3]; // literal lengths, offsets, match lengths
    bool known_[3] = {};
    uint64_t repeats_[3] = {};
};

} // namespace sluice
