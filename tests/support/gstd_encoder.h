// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes Gstd tiles for tests.
#pragma once

#include "tests/support/devices.h"

#include <sluice/sluice_encode.h>

namespace sluice::test {

class GstdEncoder {
public:
    GstdEncoder(uint32_t level, uint32_t depth)
    {
        const SluiceGstdEncoderInfo info = {level, depth};
        REQUIRE(sluiceCreateGstdEncoder(&info, &m_handle) == SLUICE_OK);
    }
    ~GstdEncoder() { sluiceDestroyGstdEncoder(m_handle); }
    GstdEncoder(const GstdEncoder&) = delete;
    GstdEncoder& operator=(const GstdEncoder&) = delete;

    Bytes encode(const Bytes& bytes)
    {
        Bytes out(sluiceGstdTileBound(bytes.size()));
        size_t size = 0;
        REQUIRE(sluiceEncodeGstdTile(m_handle, bytes.data(), bytes.size(), out.data(), out.size(),
                                     &size) == SLUICE_OK);
        out.resize(size);
        return out;
    }

private:
    SluiceGstdEncoder m_handle = nullptr;
};

} // namespace sluice::test
