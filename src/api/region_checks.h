// SPDX-License-Identifier: MIT OR Apache-2.0
// The checks that decodes and checksums of region lists have in common.
#pragma once

#include "api/checks.h"

namespace sluice {

constexpr uint32_t kMaxRegionCount = 1u << 24;
constexpr uint32_t kMaxRowBytes = 1u << 30;
constexpr uint64_t kRegionBytes = sizeof(SluiceRegion);

// Checks a destination and its rows. The rows of a pitched destination must consist of whole words.
template <typename Info>
void checkDestination(RangeChecker& check, const Info& info)
{
    if (info.rowBytes == 0) {
        check.require(SLUICE_NAMED(info.rowPitch), info.rowPitch == 0, "is 0 if rowBytes is 0");
    } else {
        check.multipleOf(SLUICE_NAMED(info.rowBytes), 4);
        check.atMost(SLUICE_NAMED(info.rowBytes), kMaxRowBytes);
        check.multipleOf(SLUICE_NAMED(info.rowPitch), 4);
        check.atLeast(SLUICE_NAMED(info.rowPitch), info.rowBytes);
    }
    check.buffer(SLUICE_NAMED(info.destination), 0, info.rowBytes != 0 ? 4 : 1);
}

// Checks a list of regions and their statuses.
template <typename Info>
void checkRegions(RangeChecker& check, const Info& info)
{
    const uint64_t count = info.maxRegionCount;
    check.atMost(SLUICE_NAMED(info.maxRegionCount), kMaxRegionCount);
    check.atLeast(SLUICE_NAMED(info.regionStride), kRegionBytes);
    check.multipleOf(SLUICE_NAMED(info.regionStride), 4);
    check.buffer(SLUICE_NAMED(info.regions),
                 count == 0 ? 0 : (count - 1) * info.regionStride + kRegionBytes, 8);
    check.optionalBuffer(SLUICE_NAMED(info.regionCount), 4, 4);
    check.buffer(SLUICE_NAMED(info.status), (count + 2) * 4, 4);
}

// Checks the members on which a decode's requirements depend. allowedFlags: the flags that this
// command knows; regionCount: the member of the info that limits the number of regions.
template <typename Count>
void checkDecode(CallChecker& check, const Named<uint32_t>& flags, uint32_t allowedFlags,
                 const Named<Count>& regionCount)
{
    check.flags(flags, allowedFlags);
    check.atMost(regionCount, kMaxRegionCount);
    if ((flags.value & SLUICE_DECODE_BY_DRIVER) == 0) return;
    check.require(flags, (flags.value & SLUICE_DECODE_STORED_IF_EQUAL) == 0,
                  "does not have both STORED_IF_EQUAL and BY_DRIVER");
    const uint32_t limit = check.contextInfo().driverRegionLimit;
    check.require(flags, limit != 0, "has BY_DRIVER only where the driver decodes",
                  SLUICE_ERROR_UNSUPPORTED);
    check.require(regionCount, regionCount.value <= limit, "is at most the limit, the driver's",
                  SLUICE_ERROR_UNSUPPORTED, limit);
}

// Refuses a row pitch with BY_DRIVER, because the driver's decoder writes linear memory only.
inline void checkDriverRows(RangeChecker& check, uint32_t flags, const Named<uint32_t>& rowBytes)
{
    check.require(rowBytes, (flags & SLUICE_DECODE_BY_DRIVER) == 0 || rowBytes.value == 0,
                  "is 0 with BY_DRIVER");
}

} // namespace sluice
