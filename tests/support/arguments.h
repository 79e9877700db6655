// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what tests of sluice.h share that pass bad arguments.
#pragma once

#include "tests/support/devices.h"

#include <sluice/sluice_cuda.h>

namespace sluice::test {

// Holds a CPU context, and host memory for buffers.
struct Cpu {
    Cpu() { REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK); }
    ~Cpu() { sluiceDestroyContext(context); }
    Cpu(const Cpu&) = delete;
    Cpu& operator=(const Cpu&) = delete;

    SluiceBuffer range(uint64_t offset, uint64_t size)
    {
        return {uint64_t(uintptr_t(memory)), offset, size};
    }
    bool untouched() const
    {
        for (const uint64_t value : memory) {
            if (value != 0) return false;
        }
        return true;
    }

    SluiceContext context = nullptr;
    alignas(64) uint64_t memory[128] = {};
};

inline SluiceCommands someCommands()
{
    static int target;
    return sluiceCudaCommands(&target);
}

constexpr uint64_t kNearlyAll = ~uint64_t(0) - 8;

// Checks that `call`, which uses the buffer `member`, refuses bad sizes, offsets and alignments of
// it. `minimum` is the size that it needs; 0: any size will do.
template <typename Call>
void checkBuffer(SluiceBuffer& member, uint64_t minimum, uint64_t alignment, bool optional,
                 Call call)
{
    const SluiceBuffer good = member;
    const auto result = [&](uint64_t handle, uint64_t offset, uint64_t size) {
        member = {handle, offset, size};
        const SluiceStatus status = call();
        member = good;
        return status;
    };
    if (minimum != 0) {
        CHECK(result(good.handle, good.offset, minimum - 1) == SLUICE_ERROR_BUFFER_SIZE);
        if (!optional) CHECK(result(good.handle, good.offset, 0) == SLUICE_ERROR_BUFFER_SIZE);
    }
    CHECK(result(0, good.offset, good.size) == SLUICE_ERROR_ARGUMENT);
    if (alignment > 1) {
        CHECK(result(good.handle, good.offset + alignment / 2, good.size) == SLUICE_ERROR_ARGUMENT);
        CHECK(result(good.handle + alignment / 2, good.offset, good.size) == SLUICE_ERROR_ARGUMENT);
    }
    CHECK(result(good.handle, kNearlyAll - kNearlyAll % 8, good.size) == SLUICE_ERROR_ARGUMENT);
    CHECK(result(good.handle, good.offset, ~uint64_t(0)) == SLUICE_ERROR_ARGUMENT);
}

// Checks that a command refuses bad rowBytes and rowPitch. Its destination must have no rows when
// this begins.
template <typename Info, typename Call>
void checkRows(Info& info, Call call)
{
    const Info good = info;
    const auto rows = [&](uint32_t rowBytes, uint32_t rowPitch, uint64_t offset) {
        info.rowBytes = rowBytes;
        info.rowPitch = rowPitch;
        info.destination.offset += offset;
        const SluiceStatus status = call();
        info = good;
        return status;
    };
    constexpr SluiceStatus wrong = SLUICE_ERROR_ARGUMENT;
    CHECK(rows(0, 4, 0) == wrong);
    CHECK(rows(4, 0, 0) == wrong);
    CHECK(rows(6, 8, 0) == wrong);
    CHECK(rows(4, 6, 0) == wrong);
    CHECK(rows(8, 4, 0) == wrong);
    CHECK(rows((1u << 30) + 4, (1u << 30) + 4, 0) == wrong);
    CHECK(rows(16, 32, 2) == wrong); // a destination with rows must be 4-byte aligned
}

} // namespace sluice::test
