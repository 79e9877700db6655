// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters undone with blocks of twice as many threads, for few tiles: each tile takes less time, as
// nothing but its waves is left for a warp to wait for.
#define SLUICE_FILTER_THREADS 512
#define SLUICE_FILTER_FORM filterOfFew
#define SLUICE_FILTER_FEW
#include "filter.cu"
