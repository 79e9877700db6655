// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes decoding supercompressed levels of KTX2 files: the first byte selects the scheme, two more
// the size.
#include <sluice/sluice_image_encode.h>

#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 4) return 0;
    const uint32_t scheme =
        (data[0] & 1) != 0 ? SLUICE_IMAGE_SCHEME_ZSTD : SLUICE_IMAGE_SCHEME_ZLIB;
    const std::vector<uint8_t> packed(data + 3, data + size);
    // It has the exact size of the level, so that sanitizers notice writes after its end.
    std::vector<uint8_t> bytes(1u + data[1] + 256u * data[2]);
    (void)sluiceKtx2DecodeLevel(scheme, packed.data(), packed.size(), bytes.data(), bytes.size());
    return 0;
}
