// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the reader of KTX2 files: what it accepts lies inside the file, reading only the beginning
// gives the same, and the file can be written without supercompression and read again.
#include <sluice/sluice_image_encode.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/support/image_ranges.h"
#include "tests/fuzz/fuzzing.h"

using sluice::fuzz::require;

namespace {

constexpr uint64_t kMostBytes = 1 << 20; // most decoded bytes of an input

void readPlain(const std::vector<uint8_t>& file, const SluiceImageInfo& info,
               const SluiceImageLevel* levels)
{
    SluiceImageLevel plain[SLUICE_IMAGE_MAX_LEVELS], again[SLUICE_IMAGE_MAX_LEVELS];
    uint64_t startSize = 0, plainSize = 0;
    if (sluiceKtx2PlanPlain(file.data(), file.size(), file.size(), nullptr, 0, &startSize, plain,
                            &plainSize) != SLUICE_OK)
        return; // sizes that no file can have
    require(startSize <= plainSize && startSize <= file.size() + 128);
    std::vector<uint8_t> start(startSize);
    require(sluiceKtx2PlanPlain(file.data(), file.size(), file.size(), start.data(), start.size(),
                                &startSize, plain, &plainSize) == SLUICE_OK);
    SluiceImageInfo read;
    require(sluiceParseImage(start.data(), start.size(), plainSize, &read, again, nullptr) ==
            SLUICE_OK);
    require(read.scheme == SLUICE_IMAGE_SCHEME_NONE && read.flags == info.flags &&
            std::memcmp(plain, again, info.levels * sizeof *plain) == 0);
    std::vector<uint8_t> bytes;
    for (uint32_t i = 0; i < info.levels; ++i) {
        if (levels[i].decodedSize > kMostBytes) continue;
        bytes.resize(levels[i].decodedSize);
        (void)sluiceKtx2DecodeLevel(info.scheme, file.data() + levels[i].offset, levels[i].size,
                                    bytes.data(), bytes.size());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    constexpr uint8_t magic[12] = {0xab, 'K',  'T',  'X',  ' ',  '2',
                                   '0',  0xbb, 0x0d, 0x0a, 0x1a, 0x0a};
    std::vector<uint8_t> file(data, data + size);
    if (size >= sizeof magic) std::memcpy(file.data(), magic, sizeof magic);
    SluiceImageInfo info, other;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS], others[SLUICE_IMAGE_MAX_LEVELS];
    uint64_t needed = 0;
    const SluiceStatus status = sluiceParseImage(file.data(), size, size, &info, levels, &needed);
    require(status != SLUICE_ERROR_BUFFER_SIZE);
    for (size_t at = 0; at < size;) { // as a reader does that knows only what it is told to read
        const std::vector<uint8_t> start(file.begin(), file.begin() + ptrdiff_t(at));
        const SluiceStatus partial =
            sluiceParseImage(start.data(), at, size, &other, others, &needed);
        if (partial != SLUICE_ERROR_BUFFER_SIZE) {
            require(partial == status);
            break;
        }
        require(needed > at && needed <= size && needed <= SLUICE_IMAGE_START_SIZE);
        at = size_t(needed);
    }
    if (status != SLUICE_OK) return 0;
    require(sluice::test::badRanges(info, levels, size) == nullptr);
    readPlain(file, info, levels);
    return 0;
}
