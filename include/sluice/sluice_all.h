// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Includes sluice.h and the headers of all command families. An engine may instead include only the
// headers that it uses, for example sluice_gstd.h and sluice_filter.h for textures.
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
#include <sluice/sluice_uastc.h>
#include <sluice/sluice_zstd.h>

#endif // SLUICE_ALL_H
