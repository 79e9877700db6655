// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes filter plans of files of realistic size. The input says where records are: it is the JSON
// of a .glb, or the beginning of another file. Made-up bytes follow, as many as textures and models
// have.
//   byte 0     bits 0-3: 2^(6 + this) made-up bytes, at most 2^20; bits 4-5: tiles of
//              2^(12 + 2 * this) bytes; bit 6: filters are forced; bit 7: the layout of images
//   byte 1     bits 0-1: the kind of made-up bytes; bit 7: a .glb
#include "tests/fuzz/filter_plan_check.h"

#include <cstring>
#include <string>

#include "formats/little_endian.h"

using namespace sluice;
using namespace sluice::fuzz;

namespace {

// Returns numbers from which filters gain something.
std::vector<uint8_t> makeContent(size_t size, uint32_t kind)
{
    std::vector<uint8_t> bytes(size);
    uint32_t random = 1;
    for (size_t i = 0; i < size; i += 4) {
        random = random * 1664525 + 1013904223;
        const uint32_t noise = random >> 24;
        uint32_t word = random;
        if (kind == 1) { // floats that rise
            const float value = float(i) * 0.01f + float(noise) * 0.001f;
            std::memcpy(&word, &value, 4);
        } else if (kind == 2) { // pixels
            word = uint32_t(i / 64 + noise % 4) * 0x010101u;
        } else if (kind == 3) { // indices
            word = uint32_t(i / 4) | uint32_t(i / 4 + 2) << 16;
        }
        std::memcpy(&bytes[i], &word, 4);
    }
    return bytes;
}

void append32(std::vector<uint8_t>& file, uint32_t value)
{
    file.resize(file.size() + 4);
    storeLe32(&file[file.size() - 4], value);
}

std::vector<uint8_t> makeGlb(std::string document, const std::vector<uint8_t>& content)
{
    document.resize((document.size() + 3) / 4 * 4, ' ');
    std::vector<uint8_t> file;
    append32(file, 0x46546C67);
    append32(file, 2);
    append32(file, uint32_t(28 + document.size() + content.size()));
    append32(file, uint32_t(document.size()));
    append32(file, 0x4E4F534A);
    file.insert(file.end(), document.begin(), document.end());
    append32(file, uint32_t(content.size()));
    append32(file, 0x004E4942);
    file.insert(file.end(), content.begin(), content.end());
    return file;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 2) return 0;
    const std::vector<uint8_t> content =
        makeContent(size_t(1) << std::min(6 + (data[0] & 15), 20), data[1] & 3);
    std::vector<uint8_t> file(data + 2, data + size);
    if ((data[1] & 0x80) != 0)
        file = makeGlb({file.begin(), file.end()}, content);
    else
        file.insert(file.end(), content.begin(), content.end());
    const CostLimit cost(file.size());
    SluiceFilterPlanInfo info = {};
    info.maxTileSize = 4096u << 2 * (data[0] >> 4 & 3);
    info.features = SLUICE_FILTER_ALL;
    info.force = data[0] >> 6 & 1;
    info.layout = (data[0] & 0x80) != 0 ? SLUICE_FILTER_LAYOUT_IMAGE : SLUICE_FILTER_LAYOUT_AUTO;
    checkFilterPlan(file.data(), file.size(), info);
    return 0;
}
