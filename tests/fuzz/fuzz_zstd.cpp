// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes Zstandard frames that become Gstd: the result must be an archive or an error.
#include <sluice/sluice_archive.h>

#include <cstdint>

static SluiceStatus writeNowhere(void*, uint64_t, const void*, size_t) { return SLUICE_OK; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const SluiceArchiveWriterInfo info = {SLUICE_CODEC_GSTD, 1, 0, 0, writeNowhere, nullptr, 0, 0,
                                          nullptr,           0, 0};
    SluiceArchiveWriter writer = nullptr;
    if (sluiceCreateArchiveWriter(&info, &writer) != SLUICE_OK) return 0;
    const SluiceArchiveZstdInfo asset = {"a", 1, data, size, 1, 0};
    if (sluiceAddArchiveZstd(writer, &asset) == SLUICE_OK)
        (void)sluiceFinishArchive(writer, nullptr);
    sluiceDestroyArchiveWriter(writer);
    return 0;
}
