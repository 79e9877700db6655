// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads JPEG by libjpeg.
#include "tools/sluice/pack/picture_readers.h"

#if SLUICE_HAVE_JPEG

#include <csetjmp>
#include <cstdio> // jpeglib.h needs it

#include <jerror.h>
#include <jpeglib.h>

namespace sluice {
namespace {

constexpr int kMaxScans = 200;             // a file of tiny scans would take minutes
constexpr long kMaxMemory = long(1) << 30; // for the coefficients of a progressive file

// The first member is libjpeg's structure, so that callbacks find this one. No object with a
// destructor may be created between setjmp and the calls that may jump.
struct JpegReader {
    jpeg_error_mgr errors;
    std::jmp_buf jump;
    char problem[JMSG_LENGTH_MAX];
    jpeg_progress_mgr progress;
    jpeg_decompress_struct jpeg;

    static JpegReader& of(j_common_ptr jpeg) { return *reinterpret_cast<JpegReader*>(jpeg->err); }
};

[[noreturn]] void onError(j_common_ptr jpeg)
{
    JpegReader& reader = JpegReader::of(jpeg);
    reader.errors.format_message(jpeg, reader.problem);
    std::longjmp(reader.jump, 1);
}

// Level -1 is a warning, after which libjpeg continues and invents the missing data. So all
// warnings except harmless ones count as errors here.
void onMessage(j_common_ptr jpeg, int level)
{
    const int code = jpeg->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_JFIF_MAJOR) onError(jpeg);
}

void onProgress(j_common_ptr jpeg)
{
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMaxScans) return;
    JpegReader& reader = JpegReader::of(jpeg);
    std::snprintf(reader.problem, sizeof reader.problem, "it has more than %d scans", kMaxScans);
    std::longjmp(reader.jump, 1);
}

void refuse(JpegReader& reader, const char* problem)
{
    std::snprintf(reader.problem, sizeof reader.problem, "%s", problem);
}

bool readHead(JpegReader& reader, const Bytes& file)
{
    if (setjmp(reader.jump) != 0) return false;
    jpeg_create_decompress(&reader.jpeg);
    reader.jpeg.mem->max_memory_to_use = kMaxMemory;
    reader.jpeg.progress = &reader.progress;
    jpeg_mem_src(&reader.jpeg, file.data(), static_cast<unsigned long>(file.size()));
    (void)jpeg_read_header(&reader.jpeg, TRUE);
    if (reader.jpeg.image_width > kMaxTextureExtent ||
        reader.jpeg.image_height > kMaxTextureExtent) {
        refuse(reader, "it is larger than 16384 texels a side");
        return false;
    }
    if (reader.jpeg.num_components != 1 && reader.jpeg.num_components != 3) {
        refuse(reader, "its colours are those of print (CMYK)");
        return false;
    }
    reader.jpeg.out_color_space = reader.jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    reader.jpeg.dct_method = JDCT_ISLOW; // the same on every machine
    return true;
}

// While rows of 1 or 3 channels are read, they are at the end of the RGBA8 rows.
bool readRows(JpegReader& reader, uint8_t* rgba, uint32_t width, uint32_t height, uint32_t channels)
{
    if (setjmp(reader.jump) != 0) return false;
    (void)jpeg_start_decompress(&reader.jpeg);
    for (uint32_t y = 0; y < height; ++y) {
        uint8_t* const to = rgba + size_t(y) * width * 4;
        JSAMPROW row = to + size_t(width) * (4 - channels);
        (void)jpeg_read_scanlines(&reader.jpeg, &row, 1);
        for (uint32_t x = 0; x < width; ++x) { // ascending: no texel overwrites a later pixel
            const uint8_t* const from = row + size_t(x) * channels;
            const uint8_t red = from[0], green = from[channels == 1 ? 0 : 1],
                          blue = from[channels == 1 ? 0 : 2];
            uint8_t* const texel = to + size_t(x) * 4;
            texel[0] = red;
            texel[1] = green;
            texel[2] = blue;
            texel[3] = 255;
        }
    }
    (void)jpeg_finish_decompress(&reader.jpeg);
    return true;
}

} // namespace

std::string readJpeg(const Bytes& file, uint64_t limit, Pixels& pixels)
{
    JpegReader reader = {};
    reader.jpeg.err = jpeg_std_error(&reader.errors);
    reader.errors.error_exit = onError;
    reader.errors.emit_message = onMessage;
    reader.progress.progress_monitor = onProgress;
    bool good = readHead(reader, file);
    if (good) {
        pixels.width = reader.jpeg.image_width;
        pixels.height = reader.jpeg.image_height;
        pixels.channels = uint32_t(reader.jpeg.num_components);
        // If there are several scans, libjpeg keeps all coefficients in memory, two bytes each.
        const uint64_t kept = jpeg_has_multiple_scans(&reader.jpeg) ? 2 * pixels.channels : 0;
        const std::string why =
            whyTooLarge(uint64_t(pixels.width) * pixels.height * (4 + kept), limit);
        if (!why.empty()) {
            jpeg_destroy_decompress(&reader.jpeg);
            return why;
        }
        try {
            pixels.rgba.resize(size_t(pixels.width) * pixels.height * 4);
        } catch (...) {
            jpeg_destroy_decompress(&reader.jpeg);
            throw;
        }
        good = readRows(reader, pixels.rgba.data(), pixels.width, pixels.height, pixels.channels);
    }
    jpeg_destroy_decompress(&reader.jpeg);
    return good ? "" : reader.problem;
}

} // namespace sluice

#else

std::string sluice::readJpeg(const Bytes&, uint64_t, Pixels&)
{
    return "this build has no libjpeg";
}

#endif
