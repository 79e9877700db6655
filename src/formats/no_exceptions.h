// SPDX-License-Identifier: MIT OR Apache-2.0
// No exception may leave a C function.
#pragma once

#include <sluice/sluice.h>

#include <new>
#include <system_error>

namespace sluice {

// Returns the status of call(), or OUT_OF_MEMORY where there is no memory or no thread to be had.
template <typename Call>
SluiceStatus withoutExceptions(Call call)
{
    try {
        return call();
    } catch (const std::bad_alloc&) {
    } catch (const std::system_error&) {
    }
    return SLUICE_ERROR_OUT_OF_MEMORY;
}

} // namespace sluice
