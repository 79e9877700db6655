// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <sluice/sluice.h>

#include <stdexcept>
#include <string>

inline void require(SluiceStatus status, const char* what)
{
    if (status != SLUICE_OK)
        throw std::runtime_error(std::string(what) + ": " + sluiceGetStatusText(status));
}
