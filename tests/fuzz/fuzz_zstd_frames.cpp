// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes Zstandard frames, with a dictionary before them or without. If the reference decoder
// accepts frames, libzstd must accept them, too, and decode them to the same bytes. The first five
// bytes are the sizes of the output and of the dictionary.
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cpu/fast/zstd.h"
#include "formats/little_endian.h"
#include "tests/fuzz/fuzzing.h"

using namespace sluice;
using sluice::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 5) return 0;
    const size_t decodedSize = loadLe24(data), dictionarySize = loadLe16(data + 3);
    if (dictionarySize > size - 5) return 0;
    fuzz::CostLimit limit(size);
    limit.moreBytes(decodedSize);
    // These are copies of the exact size, so that sanitizers notice reads after their ends.
    const std::vector<uint8_t> dictionaryBytes(data + 5, data + 5 + dictionarySize),
        source(data + 5 + dictionarySize, data + size);
    std::vector<uint8_t> output(decodedSize);
    const auto dictionary = std::make_unique<zstd::Dictionary>();
    if (zstd::readDictionary(dictionaryBytes.data(), dictionarySize, *dictionary) != SLUICE_ST_OK)
        return 0;
    cpu::ZstdRegion region = {};
    region.source = source.data();
    region.sourceSize = source.size();
    region.destination = output.data();
    region.size = decodedSize;
    region.checksums = size % 2 == 0;
    region.dictionary = dictionary.get();
    const cpu::ZstdOutcome outcome = cpu::decodeZstd(region);
    require(outcome.status >= SLUICE_ST_OK && outcome.status <= SLUICE_ST_UNSUPPORTED);
    require(outcome.bytes <= decodedSize);
    std::vector<uint8_t> fast(decodedSize);
    region.destination = fast.data();
    const cpu::ZstdOutcome same = cpu::fast::decodeZstd(region);
    require(same.status == outcome.status && same.phase == outcome.phase &&
            same.block == outcome.block && same.bytes == outcome.bytes);
    require(std::equal(fast.begin(), fast.begin() + std::ptrdiff_t(same.bytes), output.begin()));
    if (outcome.status != SLUICE_ST_OK) return 0;

    const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
    std::vector<uint8_t> theirs(decodedSize);
    const size_t got =
        ZSTD_decompress_usingDict(context.get(), theirs.data(), decodedSize, source.data(),
                                  source.size(), dictionaryBytes.data(), dictionarySize);
    // libzstd has windows of at most 2 GiB, and checks checksums even if the region does not.
    // Version 1.5.4 refuses a sequence count of 0 in two bytes.
    const ZSTD_ErrorCode error = ZSTD_getErrorCode(got);
    if (error == ZSTD_error_frameParameter_windowTooLarge) return 0;
    // Debian's 1.5.4+dfsg2-5+deb12u1 refuses compressed blocks that are larger than the most that
    // a block of their frame may decode to.
    if (error == ZSTD_error_srcSize_wrong) return 0;
    if (error == ZSTD_error_checksum_wrong && !region.checksums) return 0;
    require(error == ZSTD_error_no_error && got == decodedSize && theirs == output);
    return 0;
}
