// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/png.h"

#include <zlib.h>

#include "tests/support/images.h"

namespace sluice::test {
namespace {

void append32(Bytes& to, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        to.push_back(uint8_t(value >> shift));
}

void addChunk(Bytes& file, const char* kind, const Bytes& content)
{
    append32(file, uint32_t(content.size()));
    const size_t begin = file.size();
    file.insert(file.end(), kind, kind + 4);
    file.insert(file.end(), content.begin(), content.end());
    append32(file, uint32_t(crc32(0, &file[begin], uInt(file.size() - begin))));
}

} // namespace

Bytes makePng(uint32_t width, uint32_t height, uint8_t bits, uint8_t type, const Bytes& rows,
              const Bytes& palette, const Bytes& transparency,
              const std::vector<std::pair<std::string, Bytes>>& more)
{
    Bytes head, filtered, file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    append32(head, width);
    append32(head, height);
    head.insert(head.end(), {bits, type, 0, 0, 0});
    addChunk(file, "IHDR", head);
    for (const auto& [name, content] : more)
        addChunk(file, name.c_str(), content);
    if (!palette.empty()) addChunk(file, "PLTE", palette);
    if (!transparency.empty()) addChunk(file, "tRNS", transparency);
    const size_t rowBytes = rows.size() / height;
    for (uint32_t y = 0; y < height; ++y) {
        filtered.push_back(0);
        filtered.insert(filtered.end(), rows.begin() + ptrdiff_t(y * rowBytes),
                        rows.begin() + ptrdiff_t((y + 1) * rowBytes));
    }
    addChunk(file, "IDAT", packZlib(filtered));
    addChunk(file, "IEND", {});
    return file;
}

} // namespace sluice::test
