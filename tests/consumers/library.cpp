// SPDX-License-Identifier: MIT OR Apache-2.0
// The programs of library.c, compiled as C++.
#include "library.c"
