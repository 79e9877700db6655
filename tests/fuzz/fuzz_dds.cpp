// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the reader of DDS files: whatever it accepts lies inside the file, and reading only the
// beginning gives the same.
#include <sluice/sluice_image.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/support/image_ranges.h"
#include "tests/fuzz/fuzzing.h"

using sluice::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    std::vector<uint8_t> file(data, data + size);
    if (size < 8) return 0;
    std::memcpy(file.data(), "DDS \x7c\0\0\0", 8);
    // The reader needs only the beginning, so the file may claim to be longer. Its last two bytes
    // say by how much.
    const uint64_t fileSize = size + (uint64_t(file[size - 1]) << file[size - 2] % 40);
    SluiceImageInfo info;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    uint64_t needed = 0;
    const SluiceStatus status =
        sluiceParseImage(file.data(), size, fileSize, &info, levels, &needed);
    for (size_t at = 0; at < size;) { // as a reader does that knows only what it is told to read
        const std::vector<uint8_t> start(file.begin(), file.begin() + ptrdiff_t(at));
        SluiceImageInfo other;
        SluiceImageLevel others[SLUICE_IMAGE_MAX_LEVELS];
        const SluiceStatus partial =
            sluiceParseImage(start.data(), at, fileSize, &other, others, &needed);
        if (partial != SLUICE_ERROR_BUFFER_SIZE) {
            require(partial == status);
            break;
        }
        require(needed > at && needed <= fileSize && needed <= SLUICE_IMAGE_START_SIZE);
        at = size_t(needed);
    }
    if (status != SLUICE_OK) return 0;
    require(sluice::test::badRanges(info, levels, fileSize) == nullptr);
    for (uint32_t i = 0; i < info.levels; ++i) {
        uint64_t last = 0;
        require(sluiceGetImageOffset(&info, &levels[i], info.layers - 1, info.faces - 1,
                                     levels[i].depth - 1, &last) == SLUICE_OK);
        require(levels[i].offset + last + levels[i].sliceSize <= fileSize);
    }
    return 0;
}
