// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <sluice/sluice.h>

#include <new>
#include <string>
#include <system_error>

namespace sluice {

// Returns the status of call(), or OUT_OF_MEMORY if memory or threads run out, since no exception
// may leave a C function.
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

// Returns the status; `error` receives its reason.
inline SluiceStatus fail(SluiceStatus status, const std::string& reason, std::string& error)
{
    error = reason;
    return status;
}

} // namespace sluice
