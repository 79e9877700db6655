// SPDX-License-Identifier: MIT OR Apache-2.0

#include "formats/float_format.h"

using namespace sluice::floats;

uint64_t sluiceFloatRawSize(uint32_t type, uint64_t count)
{
    return type < SLUICE_FLOAT_TYPE_COUNT && count <= kMaxCount ? rawBytes(layoutOf(type), count)
                                                                : 0;
}

uint32_t sluiceFloatElementSize(uint32_t type)
{
    return type < SLUICE_FLOAT_TYPE_COUNT ? layoutOf(type).bytes : 0;
}
