// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <sluice/sluice.h>

#include <new>
#include <string>
#include <system_error>

namespace sluice {

// Calls call() and returns its status, or OUT_OF_MEMORY if memory or threads run out. Functions of
// the C interface use it, since no exception may leave them.
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

// Returns `status`, and stores the reason in `error`.
inline SluiceStatus fail(SluiceStatus status, const std::string& reason, std::string& error)
{
    error = reason;
    return status;
}

} // namespace sluice
