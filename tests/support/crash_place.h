// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace sluice::test {

// Makes the process print its stack when it crashes, so that a crash that happens once in a hundred
// runs tells whether it was in the library, in a driver or in a validation layer. It leaves
// handlers of sanitizers alone and does nothing where the C library is not glibc.
void printStackOnCrash();

} // namespace sluice::test
