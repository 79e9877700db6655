// SPDX-License-Identifier: MIT OR Apache-2.0
// All layout headers at once.
#ifndef SLUICE_LAYOUT_H
#define SLUICE_LAYOUT_H

#include "layout/base.h"
#include "layout/compact.h"
#include "layout/constants.h"
#include "layout/df11.h"
#include "layout/filter.h"
#include "layout/float.h"
#include "layout/fse.h"
#include "layout/gdeflate.h"
#include "layout/gstd.h"
#include "layout/interval.h"
#include "layout/lookback.h"
#include "layout/regions.h"
#include "layout/scan.h"
#include "layout/tile_streams.h"

#endif
