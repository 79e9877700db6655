// SPDX-License-Identifier: MIT OR Apache-2.0
// What sluice pack --images makes of KTX2 and DDS files, and of pictures.
#pragma once

#include "tools/common/codecs.h"

namespace sluice {

// Whether a file is a KTX2 file with a scheme that --images would undo; by its name and its first
// bytes.
bool isPackedKtx2(const InputFile& input);

// How an image goes into an archive: without a scheme, with a tile for each large level, and with
// the description of the image among plan.parameters; a picture goes as its texture. False if the
// file is to be packed as any other. plan.reason says why if its name is one of an image, or why an
// image has no filters.
bool planImage(const InputFile& input, const AssetOptions& options, const Codec& codec,
               PackPlan& plan);

} // namespace sluice
