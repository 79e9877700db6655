// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes Zstandard frames with the reference and with libzstd.
#pragma once

#include "tests/support/zstd_writer.h"

#include "cpu/fast/zstd.h"

#include <doctest/doctest.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace sluice::test {

// Frames of a test, which devices decode too.
struct ZstdCase {
    Bytes frames;
    size_t size; // what they decode to, or should
    bool checksums;
    const char* test = ""; // the test case that it is from
    std::shared_ptr<const Bytes> dictionary = nullptr;
};
// While this is set, decodeZstd adds what it decodes without a dictionary.
inline std::vector<ZstdCase>*& collectedZstdCases()
{
    static std::vector<ZstdCase>* cases = nullptr;
    return cases;
}
// The test cases whose frames devices decode too (kernels/zstd_test.cpp).
struct ZstdTestCase {
    const char* name;
    void (*run)();
};
inline std::vector<ZstdTestCase>& zstdTestCases()
{
    static std::vector<ZstdTestCase> list;
    return list;
}
inline bool listZstdTestCase(const char* name, void (*run)())
{
    zstdTestCases().push_back({name, run});
    return true;
}
#define ZSTD_TEST_CASE_OF(function, name)                                                          \
    static void function();                                                                        \
    [[maybe_unused]] static const bool DOCTEST_CAT(function, Listed) =                             \
        sluice::test::listZstdTestCase(name, function);                                            \
    TEST_CASE(name) { function(); }                                                                \
    static void function()
#define ZSTD_TEST_CASE(name) ZSTD_TEST_CASE_OF(DOCTEST_ANONYMOUS(zstdTestCase), name)

struct ZstdDecoded {
    cpu::ZstdOutcome outcome;
    Bytes bytes; // unspecified if the status is not OK
};

// The source begins at an unaligned address and ends where its memory ends. There are guard bytes
// around the output.
inline ZstdDecoded decodeZstd(const Bytes& frames, size_t size,
                              const zstd::Dictionary* dictionary = nullptr, bool checksums = true)
{
    constexpr size_t kGuard = 64;
    constexpr uint8_t kGuardByte = 0xA7;
    if (collectedZstdCases() != nullptr && dictionary == nullptr)
        collectedZstdCases()->push_back({frames, size, checksums, ""});
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
    // The fast decoder must give the same status, at the same block, and the same bytes.
    Bytes fastOutput = output;
    region.destination = fastOutput.data() + kGuard;
    const cpu::ZstdOutcome fast = cpu::fast::decodeZstd(region);
    region.destination = output.data() + kGuard;
    ZstdDecoded decoded = {cpu::decodeZstd(region), {}};
    CHECK(fast.status == decoded.outcome.status);
    CHECK(fast.phase == decoded.outcome.phase);
    CHECK(fast.block == decoded.outcome.block);
    CHECK(fast.bytes == decoded.outcome.bytes);
    const size_t same =
        fast.status == SLUICE_TILE_OK ? size + kGuard : size_t(decoded.outcome.bytes);
    CHECK(
        std::equal(output.begin(), output.begin() + ptrdiff_t(kGuard + same), fastOutput.begin()));
    CHECK(std::all_of(fastOutput.end() - ptrdiff_t(kGuard), fastOutput.end(),
                      [](uint8_t byte) { return byte == kGuardByte; }));
    const auto begin = output.begin() + ptrdiff_t(kGuard), end = begin + ptrdiff_t(size);
    const auto untouched = [](uint8_t byte) { return byte == kGuardByte; };
    CHECK(std::all_of(output.begin(), begin, untouched));
    CHECK(std::all_of(end, output.end(), untouched));
    decoded.bytes.assign(begin, end);
    return decoded;
}

struct LibzstdDecoded {
    ZSTD_ErrorCode error; // srcSize_wrong if libzstd decodes to fewer bytes
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
        decoded.error = ZSTD_error_corruption_detected;
    return decoded;
}

// Debian's libzstd 1.5.4+dfsg2-5+deb12u1 refuses compressed blocks that are larger than the most
// that a block of their frame may decode to, with this error. Older versions take them, as we do.
inline bool refusesLargeBlocks(const LibzstdDecoded& decoded)
{
    return decoded.error == ZSTD_error_srcSize_wrong;
}

} // namespace sluice::test
