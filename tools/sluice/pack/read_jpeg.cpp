// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads JPEG files, by libjpeg.
#include "tools/sluice/pack/picture_readers.h"

#if SLUICE_HAVE_JPEG

#include <csetjmp>
#include <cstdio> // jpeglib.h needs it

#include <jerror.h>
#include <jpeglib.h>

namespace sluice {
namespace {

constexpr int kMaxScans = 200;             // a file with many tiny scans would take minutes
constexpr long kMaxMemory = long(1) << 30; // bytes, for the coefficients of a progressive file

// The first member is libjpeg's own structure, so that callbacks, which get a pointer to it, find
// this object. Errors leave libjpeg by longjmp. So between setjmp and calls that may jump, no
// object may be created that has a destructor.
struct JpegReader {
    jpeg_error_mgr errors;
    std::jmp_buf jump;
    char problem[JMSG_LENGTH_MAX];
    bool isCut; // the file ends without a marker that says so
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

// Level -1 is a warning, after which libjpeg goes on and invents the missing data. So warnings
// count as errors here, except those about extraneous bytes and the version of JFIF. Also a missing
// end marker (JWRN_JPEG_EOF) is no error yet: the file may be cut off after its last pixel. If it
// lacks pixels, another warning or lacksScans() says so.
void onMessage(j_common_ptr jpeg, int level)
{
    const int code = jpeg->err->msg_code;
    if (level < 0 && code == JWRN_JPEG_EOF) {
        JpegReader::of(jpeg).isCut = true;
        return;
    }
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_JFIF_MAJOR) onError(jpeg);
}

void onProgress(j_common_ptr jpeg)
{
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMaxScans) return;
    JpegReader& reader = JpegReader::of(jpeg);
    std::snprintf(reader.problem, sizeof reader.problem, "it has more than %d scans", kMaxScans);
    std::longjmp(reader.jump, 1);
}

// Returns whether a file that was cut off may lack pixels without a warning of libjpeg. Only in a
// file of Huffman codes with one scan does libjpeg notice by itself that bits are missing.
bool lacksScans(j_decompress_ptr jpeg)
{
    if (jpeg->arith_code != FALSE) return true;
    if (jpeg_has_multiple_scans(jpeg) == FALSE) return false;
    if (jpeg->coef_bits == nullptr) return true;
    // coef_bits tells, for each coefficient, how many of its bits are still to come.
    for (int c = 0; c < jpeg->num_components; ++c)
        for (int i = 0; i < DCTSIZE2; ++i)
            if (jpeg->coef_bits[c][i] != 0) return true;
    return false;
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
    reader.jpeg.dct_method = JDCT_ISLOW; // gives the same values on every machine
    return true;
}

// Reads all pixels. A row of 1 or 3 channels is first read into the end of the RGBA8 row that it
// becomes, and is then widened in place. Returns false after an error.
bool readRows(JpegReader& reader, uint8_t* rgba, uint32_t width, uint32_t height, uint32_t channels)
{
    if (setjmp(reader.jump) != 0) return false;
    (void)jpeg_start_decompress(&reader.jpeg);
    for (uint32_t y = 0; y < height; ++y) {
        uint8_t* const to = rgba + size_t(y) * width * 4;
        JSAMPROW row = to + size_t(width) * (4 - channels);
        (void)jpeg_read_scanlines(&reader.jpeg, &row, 1);
        // In ascending order, so that no pixel is overwritten before it is read.
        for (uint32_t x = 0; x < width; ++x) {
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
    const bool mayLack = lacksScans(&reader.jpeg); // jpeg_finish_decompress frees coef_bits
    (void)jpeg_finish_decompress(&reader.jpeg);
    if (reader.isCut && mayLack) refuse(reader, "it ends too early");
    return !reader.isCut || !mayLack;
}

} // namespace

std::string readJpeg(const Bytes& file, uint64_t limit, Pixels& pixels)
{
    JpegReader reader = {};
    reader.jpeg.err = jpeg_std_error(&reader.errors);
    reader.errors.error_exit = onError;
    reader.errors.emit_message = onMessage;
    reader.progress.progress_monitor = onProgress;
    const PictureMetadata metadata = readJpegMetadata(file);
    bool good = readHead(reader, file);
    if (good) {
        pixels.width = reader.jpeg.image_width;
        pixels.height = reader.jpeg.image_height;
        pixels.channels = uint32_t(reader.jpeg.num_components);
        // With several scans, libjpeg keeps all coefficients in memory, two bytes each.
        const uint64_t kept = jpeg_has_multiple_scans(&reader.jpeg) ? 2 * pixels.channels : 0,
                       turned = metadata.orientation >= 5 ? 4 : 0;
        const std::string why =
            whyTooLarge(uint64_t(pixels.width) * pixels.height * (4 + kept + turned), limit);
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
    if (!good) return reader.problem;
    if (reader.isCut) addRemark(pixels.ignored, "it is cut off behind its last pixel (no EOI)");
    obey(metadata, pixels);
    return "";
}

} // namespace sluice

#else

std::string sluice::readJpeg(const Bytes&, uint64_t, Pixels&)
{
    return "this build has no libjpeg";
}

#endif
