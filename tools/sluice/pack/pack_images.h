// SPDX-License-Identifier: MIT OR Apache-2.0
// Does sluice pack --images for KTX2 and DDS files and for pictures.
#pragma once

#include "tools/common/codecs.h"

namespace sluice {

// Returns whether a file is a KTX2 file with a supercompression scheme that --images would undo.
// Only its name and its first bytes are looked at.
bool isPackedKtx2(const InputFile& input);

// Plans how an image goes into an archive: without a supercompression scheme, with a tile for each
// large level, and with the image's description in plan.parameters. A picture is packed as its
// texture. Returns false if the file is to be packed like any other; if its name is that of an
// image, plan.reason then says why. plan.reason also says why an image has no filters.
bool planImage(const InputFile& input, const AssetOptions& options, const Codec& codec,
               PackPlan& plan);

} // namespace sluice
