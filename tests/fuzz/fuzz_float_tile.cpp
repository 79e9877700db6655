// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes stored tiles of codec FLOAT: four bytes of decoded size, then the tile. What the parser
// accepts lies inside the tile, and the reference decoder reads nothing else.
#include <sluice/sluice_float.h>
#include <sluice/sluice_formats.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/fuzz/fuzzing.h"

using sluice::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    uint32_t decodedSize = 0;
    if (size < 4) {
        return 0;
    }
    std::memcpy(&decodedSize, data, 4);
    const size_t storedSize = size - 4;
    alignas(16) SluiceFloatTensor tensor = {};
    if (sluiceParseFloatTile(data + 4, storedSize, decodedSize, &tensor) != SLUICE_OK) {
        return 0;
    }
    require(decodedSize <= 1u << 20 &&
            tensor.count * sluiceFloatElementSize(tensor.type) == decodedSize);
    const uint64_t tiles = (tensor.count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE;
    require(tensor.lengths + SLUICE_FLOAT_LENGTHS_SIZE <= tensor.index &&
            tensor.index + (tiles + 1) * 4 <= tensor.raw &&
            tensor.raw + sluiceFloatRawSize(tensor.type, tensor.count) <= tensor.words &&
            tensor.words + tensor.wordsSize == storedSize);

    // Memory aligned to 16 bytes, whose ends the sanitizer watches.
    const auto aligned = [](size_t bytes) {
        return std::unique_ptr<void, decltype(&std::free)>(
            std::aligned_alloc(16, (bytes + 15) / 16 * 16), std::free);
    };
    const auto source = aligned(storedSize), output = aligned(decodedSize);
    std::memcpy(source.get(), data + 4, storedSize);
    const uint64_t from = reinterpret_cast<uintptr_t>(source.get()),
                   to = reinterpret_cast<uintptr_t>(output.get());
    for (uint64_t* part : {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw}) {
        *part += from;
    }
    tensor.output = to;
    std::vector<uint32_t> status(size_t(tiles) + 2);
    SluiceFloatDecodeInfo info = {};
    info.tensorCount = 1;
    info.tileCount = uint32_t(tiles);
    info.tensors = {reinterpret_cast<uintptr_t>(&tensor), 0, sizeof(tensor)};
    info.source = {from, 0, storedSize};
    info.destination = {to, 0, decodedSize};
    info.status = {reinterpret_cast<uintptr_t>(status.data()), 0, status.size() * 4};
    SluiceContext context = nullptr;
    require(sluiceCreateCpuContext(&context) == SLUICE_OK);
    const SluiceStatus result = sluiceCmdFloatDecode(context, nullptr, &info);
    sluiceDestroyContext(context);
    require(result == SLUICE_OK);
    return 0;
}
