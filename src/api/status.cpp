// SPDX-License-Identifier: MIT OR Apache-2.0
// Version and status texts. It also asserts that the status values in the public headers are the
// values that kernels write.
#include <sluice/sluice.h>
#include <sluice/sluice_df11.h>
#include <sluice/sluice_tile_streams.h>

#include "layout/base.h"
#include "layout/regions.h"
#include "layout/tile_streams.h"

static_assert(SLUICE_TILE_PENDING == SLUICE_ST_PENDING, "");
static_assert(SLUICE_TILE_OK == SLUICE_ST_OK, "");
static_assert(SLUICE_TILE_BAD_REGION == SLUICE_ST_BAD_REGION, "");
static_assert(SLUICE_TILE_TRUNCATED == SLUICE_ST_TRUNCATED, "");
static_assert(SLUICE_TILE_BAD_CODE == SLUICE_ST_BAD_CODE, "");
static_assert(SLUICE_TILE_BAD_OFFSET == SLUICE_ST_BAD_OFFSET, "");
static_assert(SLUICE_TILE_TOO_LONG == SLUICE_ST_TOO_LONG, "");
static_assert(SLUICE_TILE_TOO_SHORT == SLUICE_ST_TOO_SHORT, "");
static_assert(SLUICE_TILE_LIMIT == SLUICE_ST_LIMIT, "");
static_assert(SLUICE_TILE_INTERNAL == SLUICE_ST_INTERNAL, "");
static_assert(SLUICE_TILE_BAD_CHECKSUM == SLUICE_ST_BAD_CHECKSUM, "");
static_assert(SLUICE_TILE_UNVERIFIED == SLUICE_ST_UNVERIFIED, "");
static_assert(SLUICE_TILE_BAD_INDEX == SLUICE_ST_BAD_INDEX, "");
static_assert(SLUICE_TILE_BAD_FILTER == SLUICE_ST_BAD_FILTER, "");
static_assert(SLUICE_TILE_UNSUPPORTED == SLUICE_ST_UNSUPPORTED, "");
static_assert(SLUICE_DECODE_BY_DRIVER == SLUICE_FLAG_BY_DRIVER, "");
static_assert(SLUICE_DECODE_STORED_IF_EQUAL == SLUICE_FLAG_STORED_IF_EQUAL, "");
static_assert(SLUICE_STREAM_PENDING == SLUICE_STREAM_ST_PENDING, "");
static_assert(SLUICE_STREAM_OK == SLUICE_STREAM_ST_OK, "");
static_assert(SLUICE_STREAM_BAD_RANGE == SLUICE_STREAM_ST_BAD_RANGE, "");
static_assert(SLUICE_STREAM_TRUNCATED == SLUICE_STREAM_ST_TRUNCATED, "");
static_assert(SLUICE_STREAM_BAD_HEADER == SLUICE_STREAM_ST_BAD_HEADER, "");
static_assert(SLUICE_STREAM_BAD_TABLE == SLUICE_STREAM_ST_BAD_TABLE, "");
static_assert(SLUICE_STREAM_NO_SPACE == SLUICE_STREAM_ST_NO_SPACE, "");
static_assert(SLUICE_STREAM_NO_TILES == SLUICE_STREAM_ST_NO_TILES, "");
static_assert(SLUICE_STREAM_BAD_TILE == SLUICE_STREAM_ST_BAD_TILE, "");
static_assert(SLUICE_STREAM_UNVERIFIED == SLUICE_STREAM_ST_UNVERIFIED, "");
static_assert(SLUICE_STREAM_INTERNAL == SLUICE_STREAM_ST_INTERNAL, "");
static_assert(SLUICE_STREAM_TILE_SIZE == SLUICE_STREAM_ST_TILE_SIZE, "");
static_assert(sizeof(SluiceStreamRange) == 32 && sizeof(SluiceStreamResult) == 16,
              "as tile_streams.comp has them");
static_assert(sizeof(SluiceStreamSummary) == 16, "");
static_assert(sizeof(sluice::TileStreamsParams) <= 128, "push constants");
static_assert(sizeof(SluiceDf11Unit) == 72 && offsetof(SluiceDf11Unit, kind) == 48,
              "what the header and kernels say");
static_assert(sizeof(SluiceRegion) == 32, "the layout of VkDecompressMemoryRegionEXT");
static_assert(sizeof(sluice::RegionParams) <= 128, "push constants");

const char* sluiceGetStatusText(SluiceStatus status)
{
    switch (status) {
    case SLUICE_OK: return "ok";
    case SLUICE_ERROR_ARGUMENT: return "an argument is outside its contract";
    case SLUICE_ERROR_OUT_OF_MEMORY: return "out of host memory";
    case SLUICE_ERROR_UNSUPPORTED:
        return "not supported by the device, its enabled features or this build";
    case SLUICE_ERROR_DEVICE: return "a driver call failed";
    case SLUICE_ERROR_FORMAT: return "the bytes are not what the format allows";
    case SLUICE_ERROR_VERSION: return "of a newer version, or of an unknown codec or filter";
    case SLUICE_ERROR_BUFFER_SIZE: return "a buffer is smaller than required";
    case SLUICE_ERROR_IO: return "a file could not be read or written";
    case SLUICE_ERROR_CHECKSUM: return "a checksum does not match";
    case SLUICE_ERROR_NOT_READY: return "the command's pipelines are not made yet";
    case SLUICE_ERROR_CANCELLED: return "cancelled";
    case SLUICE_ERROR_FULL: return "the streamer has no room";
    case SLUICE_ERROR_NOT_OPEN: return "the file is still being opened";
    case SLUICE_STATUS_MAX_ENUM: break;
    }
    return "unknown status";
}

const char* sluiceGetTileStatusText(uint32_t tileStatus)
{
    switch (tileStatus) {
    case SLUICE_TILE_PENDING: return "not decoded";
    case SLUICE_TILE_OK: return "ok";
    case SLUICE_TILE_BAD_REGION: return "region outside its buffer, unaligned, empty or too large";
    case SLUICE_TILE_TRUNCATED: return "the compressed bytes end too early";
    case SLUICE_TILE_BAD_CODE: return "reserved block type, invalid code or undefined symbol";
    case SLUICE_TILE_BAD_OFFSET: return "a match reaches before the start of the tile";
    case SLUICE_TILE_TOO_LONG: return "more output than expected";
    case SLUICE_TILE_TOO_SHORT: return "less output than expected";
    case SLUICE_TILE_LIMIT: return "too many blocks";
    case SLUICE_TILE_INTERNAL: return "the kernel stopped early";
    case SLUICE_TILE_BAD_CHECKSUM: return "the decoded bytes do not match their checksum";
    case SLUICE_TILE_UNVERIFIED: return "given to the driver's decoder, which reports nothing";
    case SLUICE_TILE_BAD_INDEX: return "the index contradicts itself or the codes";
    case SLUICE_TILE_BAD_FILTER:
        return "the filter's description breaks a rule or does not fit the tile";
    case SLUICE_TILE_UNSUPPORTED: return "it was made with a dictionary that is not there";
    default: return "unknown tile status";
    }
}

const char* sluiceGetStreamStatusText(uint32_t streamStatus)
{
    switch (streamStatus) {
    case SLUICE_STREAM_PENDING: return "not decoded";
    case SLUICE_STREAM_OK: return "ok";
    case SLUICE_STREAM_BAD_RANGE: return "stream outside its buffers or unaligned";
    case SLUICE_STREAM_TRUNCATED: return "the stream ends too early";
    case SLUICE_STREAM_BAD_HEADER: return "the header is not that of a tile stream";
    case SLUICE_STREAM_BAD_TABLE: return "the tile table contradicts itself or the stream's size";
    case SLUICE_STREAM_NO_SPACE: return "more decoded bytes than the destination has room for";
    case SLUICE_STREAM_NO_TILES: return "more tiles than the command allows";
    case SLUICE_STREAM_BAD_TILE: return "a tile failed";
    case SLUICE_STREAM_UNVERIFIED: return "decoded by the driver, not verified";
    case SLUICE_STREAM_INTERNAL: return "the kernel stopped early";
    case SLUICE_STREAM_TILE_SIZE:
        return "the tile size index is not 1, and only tiles of 65,536 bytes are decoded";
    default: return "unknown stream status";
    }
}

uint32_t sluiceGetVersion(void)
{
    return SLUICE_MAKE_VERSION(SLUICE_VERSION_MAJOR, SLUICE_VERSION_MINOR, SLUICE_VERSION_PATCH);
}
