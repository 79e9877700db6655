// SPDX-License-Identifier: MIT OR Apache-2.0
// Presents a KTX2 file as an archive with a single asset. The asset's bytes are those of the file
// without supercompression.
#pragma once

#include <sluice/sluice_image.h>
#include <sluice/sluice_stream.h>

#include "stream/records.h"

namespace sluice::stream {

class Ktx2Levels {
public:
    static bool isKtx2(const uint8_t* start, uint64_t size);

    // Reads and checks the start of a file, which has SLUICE_IMAGE_START_SIZE bytes or the whole
    // file. Errors: those of sluiceParseImage; UNSUPPORTED (a scheme that is not decoded).
    SluiceStatus parse(const uint8_t* start, uint64_t size, uint64_t fileSize);

    // Returns whether the file has no supercompression. Then the levels are plain bytes of the
    // file, at the same offsets as in the asset.
    bool isPlain() const { return m_info.scheme == SLUICE_IMAGE_SCHEME_NONE; }
    const SluiceImageInfo& info() const { return m_info; }
    SluiceArchive archive() const;
    SluiceArchiveAsset asset() const;
    // Returns whether these bytes of the asset belong to one level.
    bool isInOneLevel(uint64_t offset, uint64_t size) const;
    // Fills in the records of asset().tileCount tiles, one for each level, the smallest first.
    void fillRecords(TileRecord* records) const;

private:
    SluiceImageInfo m_info{};
    // The levels, with their offsets in the decoded asset (m_levels) and in the file (m_stored).
    SluiceImageLevel m_levels[SLUICE_IMAGE_MAX_LEVELS] = {};
    SluiceImageLevel m_stored[SLUICE_IMAGE_MAX_LEVELS] = {};
    uint64_t m_fileSize = 0, m_assetSize = 0;
    uint8_t m_item[SLUICE_IMAGE_ITEM_SIZE] = {}; // describes the image
    uint32_t m_itemSize = 0;
};

} // namespace sluice::stream
