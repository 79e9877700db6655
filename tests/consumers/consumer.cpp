// SPDX-License-Identifier: MIT OR Apache-2.0
// The program of consumer.c, compiled as C++.
#include "consumer.c"
