// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/codecs.h"

#include <algorithm>
#include <iterator>

#include "formats/archive_layout.h"

namespace sluice {
namespace {

constexpr SluiceCodec kNoTiles = SLUICE_CODEC_MAX_ENUM;

PackPlan planWhole(const InputFile&, const AssetOptions&) { return {}; }

} // namespace

const Codec kCodecs[kCodecCount] = {
    {"gstd", " (default)", kLevelOption | kCopyDepthOption | kTileSizeOption | kFiltersOption,
     SLUICE_CODEC_GSTD, planFiltered, "without filters", nullptr, //
     SLUICE_CODEC_GSTD, SLUICE_KERNELS_GSTD, "gstd", "gstdTiles"},
    {"zstd", ": standard frames", kLevelOption | kTileSizeOption | kFiltersOption, //
     SLUICE_CODEC_ZSTD, planFiltered, "without filters", nullptr,                  //
     SLUICE_CODEC_ZSTD, SLUICE_KERNELS_ZSTD, "zstd", "zstdTiles"},
    {"gdeflate", "", kLevelOption | kDecodeSpeedOption, //
     SLUICE_CODEC_GDEFLATE, planWhole, "", packTileStream, SLUICE_CODEC_GDEFLATE,
     SLUICE_KERNELS_GDEFLATE, nullptr, nullptr},
    {"float", ": for the weights of .safetensors files, gdeflate for the rest", kLevelOption,
     SLUICE_CODEC_GDEFLATE, planFloat, "as plain bytes", nullptr, //
     SLUICE_CODEC_FLOAT, SLUICE_KERNELS_FLOAT, "float", "floatTiles"},
    {"huff", ": Huffman codes of plain bytes", 0, //
     SLUICE_CODEC_FLOAT, planWhole, "", nullptr,  //
     SLUICE_CODEC_FLOAT, SLUICE_KERNELS_FLOAT, nullptr, nullptr},
    {"store", "", 0,                             //
     SLUICE_CODEC_STORE, planWhole, "", nullptr, //
     SLUICE_CODEC_STORE, 0, "raw", "storedTiles"},
    {"df11", "", kGroupOption,        //
     kNoTiles, nullptr, "", packDf11, //
     kNoTiles, 0, nullptr, nullptr},
    {"ecf8", "", kGroupOption,        //
     kNoTiles, nullptr, "", packEcf8, //
     kNoTiles, 0, nullptr, nullptr}};

const Codec& codecNamed(const std::string& name)
{
    return *std::find_if(std::begin(kCodecs), std::end(kCodecs),
                         [&](const Codec& codec) { return codec.name == name; });
}

bool mayFilter(const AssetOptions& options)
{
    return options.filters != "none" && (codecNamed(options.codec).options & kFiltersOption) != 0;
}

SluiceArchiveSegment wholeSegment(const Codec& codec, const AssetOptions& options, uint64_t size)
{
    SluiceArchiveSegment segment = {};
    segment.size = size;
    segment.codec = codec.fileCodec;
    segment.tileSize = (codec.options & kTileSizeOption) != 0  ? tileBytes(options)
                       : codec.fileCodec == SLUICE_CODEC_STORE ? SLUICE_GD_TILE_BYTES
                                                               : maxTileBytes(codec.fileCodec);
    segment.level = options.level;
    segment.decodeSpeed = options.decodeSpeed;
    segment.copyDepth = options.copyDepth;
    segment.floatType = SLUICE_FLOAT_BYTES;
    return segment;
}

const Codec& codecOfTiles(uint32_t tileCodec)
{
    return *std::find_if(std::begin(kCodecs), std::end(kCodecs) - 1, [&](const Codec& codec) {
        return uint32_t(codec.tileCodec) == tileCodec;
    });
}

} // namespace sluice
