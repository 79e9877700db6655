// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the parts of DDS and KTX2 files. Each mip level is a part, whose records are texels or the
// blocks of a compressed format.
#include "encode/filter/filter_plan.h"

#include <sluice/sluice_image.h>

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

enum class Blocks {
    none,
    bc1,
    bc2,
    bc3,
    bc4,
    bc5,
    other
};

// Returns the kind of a format's blocks.
Blocks blocksOf(const SluiceImageFormat& format)
{
    if (format.compressed == 0) return Blocks::none;
    const std::string_view kind = std::string_view(format.name).substr(0, 3);
    const std::string_view known[] = {"BC1", "BC2", "BC3", "BC4", "BC5"};
    for (uint32_t i = 0; i < 5; ++i)
        if (kind == known[i]) return Blocks(uint32_t(Blocks::bc1) + i);
    return Blocks::other;
}

// Adds the columns of an alpha block of BC3, BC4 or BC5: two end points of 8 bits, then 48 bits of
// indices.
void addAlphaBlock(FilterPart& part)
{
    addColumns(part.section, 2, 1);
    addColumns(part.section, 1, 2);
    addColumns(part.section, 1, 4);
    part.choices.groups.insert(part.choices.groups.end(), {2, 2});
}

// Adds the columns of a colour block of BC1 to BC3: two end points of 16 bits, then 32 bits of
// indices.
void addColourBlock(FilterPart& part)
{
    part.choices.firstBase = part.choices.firstBlock = part.section.columnCount;
    part.choices.baseCount = 1;
    part.choices.blockCount = 3;
    addColumns(part.section, 2, 2);
    addColumns(part.section, 1, 4);
    part.choices.groups.insert(part.choices.groups.end(), {2, 1});
}

// Adds a column for each channel of a texel. Green may be subtracted from red and blue.
void addTexel(const SluiceImageFormat& format, FilterPart& part)
{
    const uint32_t bytes = std::min(format.unitBytes, 4u);
    addColumns(part.section, format.blockBytes / bytes, uint8_t(bytes));
    part.choices.firstBase = 1; // green
    part.choices.baseCount = format.blockBytes / format.unitBytes >= 3 ? 1 : 0;
    part.choices.floats = format.unitBytes == 4 &&
                          std::string_view(format.name).find("_SFLOAT") != std::string_view::npos;
}

void addRecordColumns(const SluiceImageFormat& format, FilterPart& part)
{
    switch (blocksOf(format)) {
    case Blocks::none: addTexel(format, part); break;
    case Blocks::bc1: addColourBlock(part); break;
    case Blocks::bc2:
        addColumns(part.section, 2, 4); // 64 bits of explicit alpha
        part.choices.groups = {2};
        addColourBlock(part);
        break;
    case Blocks::bc3:
        addAlphaBlock(part);
        addColourBlock(part);
        break;
    case Blocks::bc4: addAlphaBlock(part); break;
    case Blocks::bc5:
        addAlphaBlock(part);
        addAlphaBlock(part);
        break;
    case Blocks::other: addColumns(part.section, format.blockBytes, 1); break;
    }
}

FilterParts imageParts(const ImageFile& file, uint64_t size)
{
    SluiceImageFormat format;
    if (sluiceGetImageFormat(file.info.format, &format) != SLUICE_OK) return {};
    FilterPart model;
    addRecordColumns(format, model);
    model.choices.predictors = kRows;
    FilterParts parts;
    for (const ImageRun& run : file.runs()) {
        if (parts.size() == kMaxParts) break;
        FilterPart part = model;
        part.begin = run.offset;
        part.size = run.size;
        part.group = run.image + 1;
        const uint64_t width = file.levels[run.level].rowSize / format.blockBytes;
        part.section.width = width <= kFilterMaxTile ? uint32_t(width) : 0;
        parts.push_back(std::move(part));
    }
    FilterPartList list(size);
    list.addUnordered(std::move(parts));
    return list.finish();
}

} // namespace

bool ImageFile::parse(const uint8_t* bytes, uint64_t size)
{
    const size_t start = size_t(std::min<uint64_t>(size, SLUICE_IMAGE_START_SIZE));
    return sluiceParseImage(bytes, start, size, &info, levels, nullptr) == SLUICE_OK &&
           info.scheme == SLUICE_IMAGE_SCHEME_NONE;
}

std::vector<ImageRun> ImageFile::runs() const
{
    std::vector<ImageRun> runs;
    // KTX2 stores all images of a level together, so one run covers them.
    const bool together = info.container == SLUICE_IMAGE_KTX2;
    const uint64_t images = uint64_t(info.layers) * info.faces, count = together ? 1 : images;
    for (uint64_t image = 0; image < count && runs.size() < kMaxParts; ++image)
        for (uint32_t level = 0; level < info.levels; ++level)
            runs.push_back({levels[level].offset + image * levels[level].imageStride,
                            levels[level].imageSize * (together ? images : 1), uint32_t(image),
                            level});
    return runs;
}

std::vector<uint64_t> ImageFile::cuts(uint64_t size) const
{
    std::vector<ImageRun> inOrder = runs();
    std::sort(inOrder.begin(), inOrder.end(),
              [](const ImageRun& a, const ImageRun& b) { return a.offset < b.offset; });
    std::vector<uint64_t> cuts;
    uint64_t last = 0; // size of the previous run in bytes
    for (const ImageRun& run : inOrder) {
        const uint64_t cut = run.offset & ~uint64_t(3);
        const bool wanted = run.size >= kImageTile || last >= kImageTile;
        if (wanted && cut < size && cut > (cuts.empty() ? 0 : cuts.back())) cuts.push_back(cut);
        last = run.size;
    }
    return cuts;
}

// DDS files are filtered even if no option says that they are images. In that case only the formats
// that DDS was made for are filtered: BC1 to BC5 and BC7.
FilterParts findDdsParts(const uint8_t* bytes, uint64_t size)
{
    ImageFile file;
    const bool found = file.parse(bytes, size) && file.info.container == SLUICE_IMAGE_DDS;
    constexpr uint32_t firstBc = 131, lastBc = 146, firstBc6h = 143, lastBc6h = 144; // VkFormats
    const uint32_t format = file.info.format;
    if (!found || format < firstBc || format > lastBc ||
        (format >= firstBc6h && format <= lastBc6h))
        return {};
    return imageParts(file, size);
}

FilterParts findImageParts(const uint8_t* bytes, uint64_t size)
{
    ImageFile file;
    return file.parse(bytes, size) ? imageParts(file, size) : FilterParts();
}

} // namespace sluice
