// SPDX-License-Identifier: MIT OR Apache-2.0
// These macros tell the compiler whether to unroll the loop that follows them. They hide the
// attribute's brackets from clang-format, which would take the attribute and the loop's head for an
// expression and leave the loop's body on the same line.
#ifndef SLUICE_LOOPS_GLSL
#define SLUICE_LOOPS_GLSL

#define SLUICE_UNROLL [[unroll]]
#define SLUICE_DONT_UNROLL [[dont_unroll]]

#endif
