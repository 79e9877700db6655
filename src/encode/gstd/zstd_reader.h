// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads Zstandard frames (RFC 8878) and the matches of their sequences.
#pragma once

#include <vector>

#include <sluice/sluice.h>

#include "cpu/fast/zstd_stream.h"

namespace sluice {

struct ZstdMatch {
    uint64_t position; // the position of its first byte in the content of all frames
    uint32_t length, offset;
};

class ZstdReader {
public:
    // `frames` must outlive this object. Throws std::bad_alloc.
    ZstdReader(const uint8_t* frames, size_t size);

    // Computes the size of the content of all frames. Frames that do not state their size are
    // decoded to measure them. Stops once the sum is above `most` bytes. Errors: FORMAT,
    // UNSUPPORTED (a frame needs a dictionary).
    SluiceStatus measure(uint64_t& size, uint64_t most = UINT64_MAX) const;

    // Appends the content of the next block and its matches, or nothing at the end. A block has at
    // most 128 KiB. Errors: FORMAT, CHECKSUM, UNSUPPORTED (a frame needs a dictionary, or a window
    // above 128 MiB).
    SluiceStatus next(std::vector<uint8_t>& content, std::vector<ZstdMatch>& matches);

    // Returns whether a frame needs a dictionary. If measure() or next() has returned UNSUPPORTED
    // and no frame needs a dictionary, the cause is a window that is too large.
    static bool wantsDictionary(const uint8_t* frames, size_t size);

private:
    void addMatches(std::vector<ZstdMatch>& matches) const;

    const uint8_t* const m_bytes;
    const size_t m_bytesSize;
    zstd::Dictionary m_none;
    cpu::fast::ZstdFrames m_frames;
    cpu::fast::ZstdWindow m_window;
    uint64_t m_position = 0;
    bool m_inFrame = false;
};

// Converts a status of the Zstandard decoder (SLUICE_ST_...) to a SluiceStatus.
SluiceStatus statusOfZstd(uint32_t status);

} // namespace sluice
