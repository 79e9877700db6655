// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/picture_metadata.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

namespace sluice {
namespace {

// A range of bytes of a file. No function reads beyond its end.
struct Part {
    const uint8_t* bytes;
    size_t size;

    bool begins(std::string_view text) const
    {
        return size >= text.size() && std::memcmp(bytes, text.data(), text.size()) == 0;
    }
    bool contains(std::string_view text) const
    {
        return std::search(bytes, bytes + size, text.begin(), text.end()) != bytes + size;
    }
    // Returns a number of `count` bytes at an offset; 0 if the range ends before.
    uint32_t number(size_t at, size_t count, bool isBigEndian) const
    {
        uint32_t value = 0;
        if (at > size || count > size - at) return 0;
        for (size_t i = 0; i < count; ++i)
            value = value << 8 | bytes[at + (isBigEndian ? i : count - 1 - i)];
        return value;
    }
};

// Returns the orientation that EXIF data name, or 1 if they name none. EXIF data are a TIFF file
// with one directory of tags.
uint32_t orientationOf(const Part& exif)
{
    constexpr uint32_t orientationTag = 0x112, shortType = 3, entryBytes = 12;
    if (!exif.begins("II") && !exif.begins("MM")) return 1;
    const bool big = exif.bytes[0] == 'M';
    const size_t directory = exif.number(4, 4, big);
    const uint32_t entries = exif.number(directory, 2, big);
    for (uint32_t i = 0; i < entries; ++i) {
        const size_t entry = directory + 2 + size_t(i) * entryBytes;
        if (entry + entryBytes > exif.size) break;
        if (exif.number(entry, 2, big) != orientationTag) continue;
        const uint32_t value =
            exif.number(entry + 2, 2, big) == shortType ? exif.number(entry + 8, 2, big) : 0;
        return value >= 1 && value <= 8 ? value : 1;
    }
    return 1;
}

bool isSrgbProfile(const Part& profile)
{
    // The name is ASCII in old profiles and UTF-16 in new ones.
    using namespace std::string_view_literals;
    return profile.contains("sRGB"sv) || profile.contains("s\0R\0G\0B"sv);
}

} // namespace

PictureMetadata readPngMetadata(const Bytes& file)
{
    constexpr size_t signatureBytes = 8, chunkBytes = 12; // length, type and checksum
    PictureMetadata found;
    std::string gamma, profile, coding;
    bool isSrgb = false;
    size_t at = signatureBytes;
    while (file.size() >= chunkBytes && at <= file.size() - chunkBytes) {
        const Part chunk = {&file[at], file.size() - at};
        const uint32_t length = chunk.number(0, 4, true);
        if (length > chunk.size - chunkBytes) break;
        const Part type = {&file[at + 4], 4}, data = {&file[at + 4] + 4, length};
        if (type.begins("sRGB")) isSrgb = true;
        if (type.begins("eXIf")) found.orientation = orientationOf(data);
        if (type.begins("gAMA") && length == 4) {
            const uint32_t value = data.number(0, 4, true);
            // 1 / 2.2, within a hundredth
            if (value < 45000 || value > 45910)
                gamma = formatText("gamma of %.5f (gAMA)", value / 100000.0);
        }
        if (type.begins("iCCP")) {
            const size_t most = std::min<size_t>(length, 79);
            const auto* const end = std::find(data.bytes, data.bytes + most, 0);
            const std::string name(data.bytes, end);
            profile = lower(name).find("srgb") != std::string::npos
                          ? ""
                          : "colour profile '" + printable(name) + "' (iCCP)";
            isSrgb = isSrgb || profile.empty();
        }
        if (type.begins("cICP") && length == 4 &&
            !(data.bytes[0] == 1 && data.bytes[1] == 13 && data.bytes[3] == 1))
            coding = formatText("coding, primaries %u and transfer %u (cICP)", data.bytes[0],
                                data.bytes[1]);
        at += chunkBytes + length;
        found.wholeBytes = at;
        found.hasEnd = type.begins("IEND");
        if (found.hasEnd) break;
    }
    // The standard's order: cICP, then iCCP, then sRGB, then gAMA.
    found.colourSpace = !coding.empty() ? coding : !profile.empty() ? profile : isSrgb ? "" : gamma;
    return found;
}

PictureMetadata readJpegMetadata(const Bytes& file)
{
    PictureMetadata found;
    constexpr uint8_t app1 = 0xe1, app2 = 0xe2, endOfImage = 0xd9, startOfScan = 0xda;
    for (size_t at = 2; at + 4 <= file.size();) {
        if (file[at] != 0xff) break;
        const uint8_t marker = file[at + 1];
        if (marker == 0xff) { // a fill byte
            ++at;
            continue;
        }
        if (marker == startOfScan || marker == endOfImage) break;
        const Part rest = {&file[at + 2], file.size() - at - 2};
        const uint32_t length = rest.number(0, 2, true);
        if (length < 2 || length > rest.size) break;
        using namespace std::string_view_literals;
        const Part data = {rest.bytes + 2, length - 2};
        if (marker == app1 && data.begins("Exif\0\0"sv))
            found.orientation = orientationOf({data.bytes + 6, data.size - 6});
        if (marker == app2 && data.begins("ICC_PROFILE\0\1"sv) && !isSrgbProfile(data))
            found.colourSpace = "colour profile (ICC)";
        at += 2 + length;
    }
    return found;
}

} // namespace sluice
