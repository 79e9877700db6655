// SPDX-License-Identifier: MIT OR Apache-2.0
// What tests of streaming from KTX2 files share.
#pragma once

#include <sluice/sluice_image.h>
#include <sluice/sluice_stream.h>

#include "tests/support/images.h"
#include "tests/support/streams.h"

#include <doctest/doctest.h>

#include <cstring>

namespace sluice::test {

// The asset of a KTX2 file that a streamer has opened.
struct Ktx2Asset {
    explicit Ktx2Asset(SluiceStreamFile opened) : file(opened)
    {
        const char* const name = SLUICE_STREAM_KTX2_NAME;
        REQUIRE(sluiceStreamFindImage(file, name, std::strlen(name), &number, &found) == SLUICE_OK);
        REQUIRE(number == 0);
        REQUIRE(sluiceStreamGetAsset(file, number, &about) == SLUICE_OK);
        REQUIRE(sluiceGetArchiveImage(&about, &info, levels) == SLUICE_OK);
        REQUIRE(info.container == SLUICE_IMAGE_KTX2);
    }
    SluiceStreamRequest levelTo(uint32_t level, void* host) const
    {
        return fromArchive(file, number, levels[level].offset, levels[level].decodedSize, host);
    }

    SluiceStreamFile file;
    uint32_t number = 0;
    SluiceArchiveAsset about{};
    SluiceImageInfo found{}; // as sluiceStreamFindImage describes it
    SluiceImageInfo info{};  // as the asset's parameters describe it
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS] = {};
};

// The schemes of files that a streamer opens.
struct Ktx2Scheme {
    uint32_t number;
    Bytes (*pack)(const Bytes&); // NULL: the levels are stored as they are
};
inline std::vector<Ktx2Scheme> ktx2Schemes()
{
    return {{SLUICE_IMAGE_SCHEME_NONE, nullptr}, {SLUICE_IMAGE_SCHEME_ZSTD, packZstd}};
}
inline Bytes makeKtx2(const TestImage& image, const Ktx2Scheme& scheme)
{
    return makeKtx2(image, scheme.number, scheme.pack);
}

} // namespace sluice::test
