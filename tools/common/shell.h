// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace sluice {

// Does this system run commands by a POSIX shell?
bool hasPosixShell();

} // namespace sluice
