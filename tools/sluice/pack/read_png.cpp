// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads PNG files, by libpng.
#include "tools/sluice/pack/picture_readers.h"

#if SLUICE_HAVE_PNG

#include <csetjmp>
#include <cstring>

#include <png.h>

namespace sluice {
namespace {

// The state that must survive a longjmp out of libpng. Between setjmp and calls that may jump, no
// object may be created that has a destructor.
struct PngReader {
    const Bytes& file;
    Pixels& pixels;
    PictureMetadata metadata;
    bool isWide = false; // 16 bits a channel
    size_t at = 0;
    std::vector<png_bytep> rows;
    char problem[128] = {};
    png_structp png = nullptr;
    png_infop info = nullptr;

    PngReader(const Bytes& bytes, Pixels& result)
        : file(bytes), pixels(result), metadata(readPngMetadata(bytes))
    {
    }
    ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;
};

[[noreturn]] void onError(png_structp png, png_const_charp message)
{
    PngReader& reader = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(reader.problem, message, sizeof reader.problem - 1);
    png_longjmp(png, 1);
}

void onWarning(png_structp, png_const_charp) {}

void onRead(png_structp png, png_bytep bytes, size_t size)
{
    PngReader& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
    // If the file is cut off, libpng gets its whole chunks and then a made-up IEND. So libpng
    // itself finds out whether pixels are missing.
    static constexpr uint8_t end[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    const size_t whole = reader.metadata.wholeBytes;
    const bool isCut = !reader.metadata.hasEnd && reader.at >= whole && whole != 0;
    const uint8_t* const from = isCut ? end : reader.file.data();
    const size_t at = reader.at - (isCut ? whole : 0),
                 left = (isCut ? sizeof end : reader.file.size()) - at;
    if (size > left) png_error(png, "it ends too early");
    std::memcpy(bytes, from + at, size);
    reader.at += size;
}

// Reads the header, and asks for the transformations by which every kind of PNG becomes RGBA8.
// Returns false after an error.
bool readHead(PngReader& reader)
{
    if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
    png_set_read_fn(reader.png, &reader, onRead);
    png_set_user_limits(reader.png, kMaxTextureExtent, kMaxTextureExtent);
    // Texts and profiles are skipped, since a small file may contain very large ones.
    png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(reader.png, reader.info);
    const int type = png_get_color_type(reader.png, reader.info);
    reader.isWide = png_get_bit_depth(reader.png, reader.info) == 16;
    const bool transparency = png_get_valid(reader.png, reader.info, PNG_INFO_tRNS) != 0;
    png_set_expand(reader.png);
    png_set_scale_16(reader.png);
    png_set_gray_to_rgb(reader.png);
    png_set_add_alpha(reader.png, 255, PNG_FILLER_AFTER);
    (void)png_set_interlace_handling(reader.png);
    png_read_update_info(reader.png, reader.info);
    reader.pixels.width = png_get_image_width(reader.png, reader.info);
    reader.pixels.height = png_get_image_height(reader.png, reader.info);
    const bool alpha = (type & PNG_COLOR_MASK_ALPHA) != 0 || transparency;
    reader.pixels.channels = ((type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1) + (alpha ? 1 : 0);
    if (png_get_rowbytes(reader.png, reader.info) != size_t(reader.pixels.width) * 4)
        png_error(reader.png, "its rows are not understood");
    return true;
}

bool readRows(PngReader& reader)
{
    if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
    png_read_image(reader.png, reader.rows.data());
    png_read_end(reader.png, nullptr);
    return true;
}

} // namespace

std::string readPng(const Bytes& file, uint64_t limit, Pixels& pixels)
{
    PngReader reader(file, pixels);
    reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, onError, onWarning);
    if (reader.png != nullptr) reader.info = png_create_info_struct(reader.png);
    if (reader.info == nullptr) throw std::bad_alloc();
    if (!readHead(reader)) return reader.problem;
    const size_t rowBytes = size_t(pixels.width) * 4;
    const uint32_t copies = reader.metadata.orientation >= 5 ? 2 : 1; // turning takes a copy
    if (std::string why = whyTooLarge(uint64_t(rowBytes) * pixels.height * copies, limit);
        !why.empty())
        return why;
    pixels.rgba.resize(rowBytes * pixels.height);
    reader.rows.resize(pixels.height);
    for (uint32_t y = 0; y < pixels.height; ++y)
        reader.rows[y] = &pixels.rgba[y * rowBytes];
    if (!readRows(reader)) return reader.problem;
    if (reader.isWide) addRemark(pixels.obeyed, "its 16 bits a channel are rounded to 8");
    if (!reader.metadata.hasEnd)
        addRemark(pixels.ignored, "it is cut off behind its last pixel (no IEND)");
    obey(reader.metadata, pixels);
    return "";
}

} // namespace sluice

#else

std::string sluice::readPng(const Bytes&, uint64_t, Pixels&) { return "this build has no libpng"; }

#endif
