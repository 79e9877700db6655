// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes Zstandard frames by the reference and by libzstd.
#pragma once

#include "tests/support/zstd_writer.h"

#include "cpu/zstd.h"

#include <doctest/doctest.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>

namespace sluice::test {

struct ZstdDecoded {
    cpu::ZstdOutcome outcome;
    Bytes bytes; // unspecified where it is not OK
};

// The source begins at an odd place and ends where its memory does; the output lies between guards.
inline ZstdDecoded decodeZstd(const Bytes& frames, size_t size,
                              const zstd::Dictionary* dictionary = nullptr, bool checksums = true)
{
    constexpr size_t kGuard = 64;
    constexpr uint8_t kGuardByte = 0xA7;
    const size_t shift = 1 + frames.size() % 3;
    const std::unique_ptr<uint8_t[]> source(new uint8_t[shift + frames.size()]);
    std::copy(frames.begin(), frames.end(), source.get() + shift);
    Bytes output(size + 2 * kGuard, kGuardByte);
    cpu::ZstdRegion region = {};
    region.source = source.get() + shift;
    region.sourceSize = frames.size();
    region.destination = output.data() + kGuard;
    region.size = size;
    region.checksums = checksums;
    region.dictionary = dictionary;
    ZstdDecoded decoded = {cpu::decodeZstd(region), {}};
    const auto begin = output.begin() + ptrdiff_t(kGuard), end = begin + ptrdiff_t(size);
    const auto untouched = [](uint8_t byte) { return byte == kGuardByte; };
    CHECK(std::all_of(output.begin(), begin, untouched));
    CHECK(std::all_of(end, output.end(), untouched));
    decoded.bytes.assign(begin, end);
    return decoded;
}

struct LibzstdDecoded {
    ZSTD_ErrorCode error; // srcSize_wrong where it makes fewer bytes of it
    Bytes bytes;
};

inline LibzstdDecoded decodeByLibzstd(const Bytes& frames, size_t size,
                                      const Bytes& dictionary = {})
{
    const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
    LibzstdDecoded decoded = {ZSTD_error_no_error, Bytes(size)};
    const size_t got =
        ZSTD_decompress_usingDict(context.get(), decoded.bytes.data(), size, frames.data(),
                                  frames.size(), dictionary.data(), dictionary.size());
    decoded.error = ZSTD_getErrorCode(got);
    if (decoded.error == ZSTD_error_no_error && got != size)
        decoded.error = ZSTD_error_srcSize_wrong;
    return decoded;
}

} // namespace sluice::test
