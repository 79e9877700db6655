// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the header of .safetensors files: two bytes of data size, then the JSON. Tensors of an
// accepted header must cover the data exactly, and a header written from them must give the same
// tensors.
#include "formats/safetensors.h"

#include <cstdlib>

using namespace sluice;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const uint64_t dataSize = data[0] | uint64_t(data[1]) << 8;
    // A copy of the exact size, so that sanitizers notice reads after its end.
    const std::string json(data + 2, data + size);
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
