// SPDX-License-Identifier: MIT OR Apache-2.0
// These macros stand on a line of their own before a loop and tell the compiler how to treat it.
// clang-format takes an attribute in brackets for an expression, and hides the loop's body behind
// its closing bracket.
#ifndef SLUICE_LOOPS_GLSL
#define SLUICE_LOOPS_GLSL

#define SLUICE_UNROLL [[unroll]]
#define SLUICE_DONT_UNROLL [[dont_unroll]]

#endif
