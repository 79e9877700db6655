// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes undoing filters, with a description and a tile from the input. The fast decoder must give
// what the reference gives, and applying the filter to the result must give the input again.
#include "cpu/filter_undo.h"

#include <sluice/sluice_filter.h>
#include <sluice/sluice_filter_encode.h>

#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 2) return 0;
    const size_t words = size_t(data[0]) + 1, bytes = words * 4;
    if (size - 1 <= bytes) return 0;
    const std::vector<uint8_t> description(data + 1, data + 1 + bytes),
        filtered(data + 1 + bytes, data + size);
    char text[64];
    const SluiceStatus status = sluiceCheckFilter(description.data(), bytes);
    if (sluiceGetFilterText(description.data(), bytes, text, sizeof text) != status ||
        std::strlen(text) >= sizeof text)
        std::abort();
    std::vector<uint8_t> tile(filtered.size()), again(filtered.size());
    const SluiceStatus undone =
        sluiceUndoFilter(description.data(), bytes, filtered.data(), tile.data(), tile.size());
    const uint32_t wanted = sluice::cpu::undoFilter(description.data(), bytes, filtered.data(),
                                                    uint32_t(filtered.size()), again.data());
    if ((undone == SLUICE_OK) != (wanted == SLUICE_TILE_OK)) std::abort();
    if (undone != SLUICE_OK) return 0;
    if (status != SLUICE_OK || tile != again) std::abort();
    if (sluiceApplyFilter(description.data(), bytes, tile.data(), again.data(), tile.size()) !=
            SLUICE_OK ||
        again != filtered)
        std::abort();
    return 0;
}
