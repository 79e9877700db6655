// SPDX-License-Identifier: MIT OR Apache-2.0
// The .safetensors header: two bytes of data size, then the JSON. Whatever is accepted must cover
// the data exactly, and come back from what is written of it.
#include "formats/safetensors.h"

#include <cstdlib>

using namespace sluice;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const uint64_t dataSize = data[0] | uint64_t(data[1]) << 8;
    const std::string json(data + 2, data + size); // its end is watched
    SafetensorsHeader header, again;
    std::string error, start;
    if (parseSafetensors(json, dataSize, header, error) != SLUICE_OK) {
        if (error.empty()) {
            std::abort();
        }
        return 0;
    }
    uint64_t sum = 0;
    for (const SafetensorsTensor& tensor : header.tensors) {
        if (tensor.begin > tensor.end || tensor.end > dataSize) {
            std::abort();
        }
        sum += tensor.size();
    }
    if (sum != dataSize || makeSafetensors(header, start, error) != SLUICE_OK ||
        parseSafetensors(start.substr(8), dataSize, again, error) != SLUICE_OK ||
        again.tensors.size() != header.tensors.size() || again.metadata != header.metadata) {
        std::abort();
    }
    return 0;
}
