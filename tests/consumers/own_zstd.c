// SPDX-License-Identifier: MIT OR Apache-2.0
// An engine's own library with the name zstd. It has nothing of what sluice_encode links, so a
// program that gets this one in its place does not link.
int engineZstd(void);
int engineZstd(void) { return 1; }
