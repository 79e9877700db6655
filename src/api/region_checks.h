// SPDX-License-Identifier: MIT OR Apache-2.0
// The checks that decodes and checksums of region lists have in common.
#pragma once

#include "api/checks.h"

namespace sluice {

constexpr uint32_t kMaxRegionCount = 1u << 24;
constexpr uint32_t kMaxRowBytes = 1u << 30;
constexpr uint64_t kRegionBytes = sizeof(SluiceRegion);

inline bool validRows(uint32_t rowBytes, uint32_t rowPitch)
{
    if (rowBytes == 0) return rowPitch == 0;
    return rowBytes % 4 == 0 && rowPitch % 4 == 0 && rowBytes <= kMaxRowBytes &&
           rowPitch >= rowBytes;
}

// The rows of a pitched destination must consist of whole words.
template <typename Info>
void checkDestination(RangeChecker& check, const Info& info)
{
    check.require(validRows(info.rowBytes, info.rowPitch), SLUICE_ERROR_ARGUMENT);
    check.buffer(info.destination, 0, info.rowBytes != 0 ? 4 : 1);
}

// Checks what the decode and the checksum have in common (SluiceGdeflateInfo, SluiceChecksumInfo).
template <typename Info>
void checkRegionList(RangeChecker& check, const Info& info)
{
    const uint64_t count = info.maxRegionCount;
    check.require(count <= kMaxRegionCount, SLUICE_ERROR_ARGUMENT);
    check.require(info.regionStride >= kRegionBytes && info.regionStride % 4 == 0,
                  SLUICE_ERROR_ARGUMENT);
    check.buffer(info.regions, count == 0 ? 0 : (count - 1) * info.regionStride + kRegionBytes, 8);
    check.optionalBuffer(info.regionCount, 4, 4);
    checkDestination(check, info);
    check.buffer(info.status, (count + 2) * 4, 4);
}

// Checks the members that the requirements depend on.
inline SluiceStatus checkDecode(SluiceContext context, uint32_t flags, uint32_t allowedFlags,
                                uint32_t regionCount)
{
    if ((flags & ~allowedFlags) != 0 || regionCount > kMaxRegionCount) return SLUICE_ERROR_ARGUMENT;
    if ((flags & SLUICE_DECODE_BY_DRIVER) == 0) return SLUICE_OK;
    if ((flags & SLUICE_DECODE_STORED_IF_EQUAL) != 0) return SLUICE_ERROR_ARGUMENT;
    SluiceContextInfo info = {};
    context->backend->contextInfo(info);
    return info.driverRegionLimit != 0 && regionCount <= info.driverRegionLimit
               ? SLUICE_OK
               : SLUICE_ERROR_UNSUPPORTED;
}

inline bool driverCannotPitch(uint32_t flags, uint32_t rowBytes)
{
    return (flags & SLUICE_DECODE_BY_DRIVER) != 0 && rowBytes != 0;
}

} // namespace sluice
