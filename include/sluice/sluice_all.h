// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The contract and every command family: sluice.h and its siblings. An engine that wants textures
// alone includes the headers that it uses, sluice_gstd.h and sluice_filter.h for instance.
#ifndef SLUICE_ALL_H
#define SLUICE_ALL_H

#include <sluice/sluice.h>

#include <sluice/sluice_compact.h>
#include <sluice/sluice_df11.h>
#include <sluice/sluice_filter.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_fse.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>
#include <sluice/sluice_interval.h>
#include <sluice/sluice_scan.h>
#include <sluice/sluice_self_test.h>
#include <sluice/sluice_tile_streams.h>
#include <sluice/sluice_tiles.h>

#endif // SLUICE_ALL_H
