// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads Zstandard frames (RFC 8878): libzstd decodes them, and this reads the matches from their
// sequences.
#pragma once

#include <memory>
#include <vector>

#include <sluice/sluice.h>

#include "formats/fse.h"

namespace sluice {

// Translates libzstd's result. Errors: FORMAT, CHECKSUM, UNSUPPORTED (a frame needs a dictionary,
// or a window that is too large), OUT_OF_MEMORY.
SluiceStatus statusOfZstd(size_t result);

struct ZstdMatch {
    u64 position; // of its first byte, in the content of all frames
    u32 length, offset;
};

class ZstdReader {
public:
    // The caller keeps the frames. Throws std::bad_alloc.
    ZstdReader(const u8* frames, size_t size);
    ~ZstdReader();

    // Finds the size of all frames together; decodes those that do not tell it. Errors: FORMAT,
    // CHECKSUM, UNSUPPORTED (a frame needs a dictionary, or a window above 128 MiB), OUT_OF_MEMORY.
    SluiceStatus measure(u64& size);

    // Appends the content of the next block and its matches; neither at the end. A block holds at
    // most 128 KiB. Errors: as above.
    SluiceStatus next(std::vector<u8>& content, std::vector<ZstdMatch>& matches);

    // Returns whether a frame needs a dictionary, the cause of UNSUPPORTED if it is not a window.
    static bool wantsDictionary(const u8* frames, size_t size);

private:
    struct Table { // of sequences
        u32 log = 0;
        fse::State states[512];
    };
    struct Decoder;

    SluiceStatus readFrameHeader();
    SluiceStatus skipFrames();
    SluiceStatus decode(const u8* bytes, size_t size, std::vector<u8>& content);
    static bool skipLiterals(const u8*& at, const u8* end);
    u64 readOffset(u64 code, bool literals);
    bool readSequences(const u8* block, size_t size, std::vector<ZstdMatch>& matches, u64 position);
    bool readTable(u32 mode, u32 which, const u8*& bytes, const u8* end);

    const u8* const m_begin;
    const u8* const m_end;
    const u8* m_at;
    std::unique_ptr<Decoder> m_decoder;
    u64 m_position = 0;
    bool m_inFrame = false, m_hasChecksum = false;
    Table m_tables[3]; // literal lengths, offsets, match lengths
    bool m_known[3] = {};
    u64 m_repeats[3] = {};
};

} // namespace sluice
