// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice pack --images`: KTX2 and DDS files, and pictures, which become KTX2.
#pragma once

#include "tools/common/codecs.h"

namespace sluice {

// Returns whether this is a KTX2 file whose supercompression --images would undo. Looks only at its
// name and its first bytes.
bool isPackedKtx2(const InputFile& input);

// Plans how an image goes into an archive, under `name`: without supercompression, with tiles of
// its own for each large level, and described in plan.parameters. A picture is packed as a texture.
// Returns false if the file is to be packed like any other; then, if its name is that of an image,
// plan.reason says why. plan.reason also says why an image has no filters.
bool planImage(const InputFile& input, const std::string& name, const AssetOptions& options,
               const Codec& codec, PackPlan& plan);

} // namespace sluice
