// SPDX-License-Identifier: MIT OR Apache-2.0
// Does sluice pack --images for KTX2 and DDS files and for pictures.
#pragma once

#include "tools/common/codecs.h"

namespace sluice {

// Returns whether a file is a KTX2 file with a scheme that --images would undo, judged by its name
// and its first bytes.
bool isPackedKtx2(const InputFile& input);

// Plans how an image goes into an archive: without a scheme, with a tile for each large level, and
// with the description of the image among plan.parameters; a picture goes in as its texture.
// Returns false if the file is to be packed like any other. If its name is an image's, plan.reason
// then says why; it also says why an image has no filters.
bool planImage(const InputFile& input, const AssetOptions& options, const Codec& codec,
               PackPlan& plan);

} // namespace sluice
