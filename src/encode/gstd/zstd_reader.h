// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads Zstandard frames (RFC 8878): libzstd decodes them, and this reads the matches from their
// sequences.
#pragma once

#include <memory>
#include <vector>

#include <sluice/sluice.h>

#include "formats/zstd_tables.h"

namespace sluice {

// Translates libzstd's result. Errors: FORMAT, CHECKSUM, UNSUPPORTED (a frame needs a dictionary,
// or a window that is too large), OUT_OF_MEMORY.
SluiceStatus statusOfZstd(size_t result);

struct ZstdMatch {
    uint64_t position; // of its first byte, in the content of all frames
    uint32_t length, offset;
};

class ZstdReader {
public:
    // The caller keeps the frames. Throws std::bad_alloc.
    ZstdReader(const uint8_t* frames, size_t size);
    ~ZstdReader();

    // Finds the size of all frames together; decodes those that do not tell it. Errors: FORMAT,
    // CHECKSUM, UNSUPPORTED (a frame needs a dictionary, or a window above 128 MiB), OUT_OF_MEMORY.
    SluiceStatus measure(uint64_t& size);

    // Appends the content of the next block and its matches; neither at the end. A block holds at
    // most 128 KiB. Errors: as above.
    SluiceStatus next(std::vector<uint8_t>& content, std::vector<ZstdMatch>& matches);

    // Returns whether a frame needs a dictionary, the cause of UNSUPPORTED if it is not a window.
    static bool wantsDictionary(const uint8_t* frames, size_t size);

private:
    struct Decoder;

    SluiceStatus readFrameHeader();
    SluiceStatus skipFrames();
    SluiceStatus decode(const uint8_t* bytes, size_t size, std::vector<uint8_t>& content);
    static bool skipLiterals(const uint8_t*& at, const uint8_t* end);
    uint64_t readOffset(uint64_t code, bool literals);
    bool readSequences(const uint8_t* block, size_t size, std::vector<ZstdMatch>& matches,
                       uint64_t position);
    bool readTable(uint32_t mode, uint32_t which, const uint8_t*& bytes, const uint8_t* end);

    const uint8_t* const m_begin;
    const uint8_t* const m_end;
    const uint8_t* m_at;
    std::unique_ptr<Decoder> m_decoder;
    uint64_t m_position = 0;
    bool m_inFrame = false, m_hasChecksum = false;
    zstd::SequenceTable m_tables[SLUICE_ZS_TABLES];
    bool m_known[SLUICE_ZS_TABLES] = {};
    std::vector<zstd::Sequence> m_sequences; // of a block
    uint64_t m_repeats[3] = {};
};

} // namespace sluice
