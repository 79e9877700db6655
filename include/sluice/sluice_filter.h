// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Lossless filters. A filter transforms a tile's bytes without changing their number, so that an
// entropy coder compresses them better. Filters compute differences and predictions over records of
// any stride, split the bytes of wider values into planes, and take packets of run-length coded
// images apart. The tile's filtered bytes and the filter's description are all that is needed to
// undo a filter. docs/format.md, 8, specifies filters and descriptions; docs/format.md, 4.5, says
// where an archive stores descriptions.
//
// Encoders choose and apply filters (library: sluice_encode). Decoders undo them (library: sluice).
#ifndef SLUICE_FILTER_H
#define SLUICE_FILTER_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Largest size, in bytes, of a description and of a tile with a filter.
#define SLUICE_FILTER_MAX_DESCRIPTION 16384u
#define SLUICE_FILTER_MAX_TILE 1048576u

// Upper limit of the number of columns of all sections together. Each section counts as
// SLUICE_FILTER_SECTION_COLUMNS additional columns (docs/format.md, 8.6). A description with more
// columns is refused, because undoing it would keep a GPU busy for too long.
#define SLUICE_FILTER_MAX_COLUMNS 4096u
#define SLUICE_FILTER_SECTION_COLUMNS 24u
// Upper limit of the steps of a tile that must run one after the other, because each needs the
// result of the one before. A tile that needs more is refused, because it would keep a GPU busy for
// too long.
#define SLUICE_FILTER_MAX_STEPS 9216u

// Checks every rule of docs/format.md, 8, that does not depend on a tile.
//   description   size bytes, any alignment and contents
// Errors: ARGUMENT, FORMAT, VERSION (another version, or something that this version does not
// know). Thread-safe.
SLUICE_API SluiceStatus sluiceCheckFilter(const void* description, size_t size);

// Undoes a filter on the CPU.
//   filtered   tileSize bytes, any alignment and contents
//   tile       receives tileSize bytes, any alignment. It must not overlap filtered. Its contents
//              are unspecified after an error
//   tileSize   1 .. SLUICE_FILTER_MAX_TILE
// The work is proportional to tileSize and the description's size, for any contents. Errors:
// ARGUMENT, FORMAT (also if the sections do not fit the tile or need more than
// SLUICE_FILTER_MAX_STEPS), VERSION. Thread-safe.
SLUICE_API SluiceStatus sluiceUndoFilter(const void* description, size_t size, const void* filtered,
                                         void* tile, size_t tileSize);

// Writes one line of text for people that says what a description does:
// "18: plain | rest: width 128 u8 median -1, u8 median, u8 median -1".
//   text       receives the text, ended by a 0 and cut short if it does not fit
//   capacity   bytes of text, at least 1
// Errors: ARGUMENT, FORMAT, VERSION (text is then empty). Thread-safe.
SLUICE_API SluiceStatus sluiceGetFilterText(const void* description, size_t size, char* text,
                                            size_t capacity);

// The transforms of DirectStorage's GACL that filters undo. The values 0 to 4 are those of
// GaclTransformType in a DirectStorage request. A transform moves each part of a compressed block
// (end points, indices) of a chunk to a stream of its own, before zstd compresses the chunk.
typedef enum SluiceGaclTransform {
    SLUICE_GACL_NONE = 0, // the chunk is only compressed
    SLUICE_GACL_BC1 = 1,
    SLUICE_GACL_BC3 = 2,
    SLUICE_GACL_BC4 = 3,
    SLUICE_GACL_BC5 = 4,
    SLUICE_GACL_ZSTD_ONLY = 7, // the same as NONE; this is GACL's own number
    SLUICE_GACL_TRANSFORM_MAX_ENUM = 0x7fffffff
} SluiceGaclTransform;
#define SLUICE_GACL_DESCRIPTION_SIZE 32u // bytes of the longest description of a transform

// Describes the filter that undoes a transform of GACL. A chunk's bytes do not say which transform
// was used; the application must know that.
//   transform    SluiceGaclTransform
//   tileSize     bytes of the decompressed chunk, 1 .. SLUICE_FILTER_MAX_TILE
//   description  receives *size bytes; it has room for SLUICE_GACL_DESCRIPTION_SIZE bytes, with any
//                alignment
//   size         receives the description's size; 0: the transform has left the chunk's bytes as
//                they are, so there is no filter (NONE, ZSTD_ONLY, and chunks of fewer than 2
//                blocks of BC1 or 4 of another format). Decompress such a chunk to its final
//                place, because no filter command copies it there
// Errors: ARGUMENT; UNSUPPORTED (another transform, and *size is 0). Thread-safe.
SLUICE_API SluiceStatus sluiceDescribeGacl(uint32_t transform, uint32_t tileSize, void* description,
                                           uint32_t* size);

// -----------------------------------------------------------------------------------------------
// On the device

// A decoded tile whose filter is to be undone. Addresses are device addresses, as in SluiceRegion.
typedef struct SluiceFilterTile {
    uint64_t srcAddress;        // address of the filtered bytes, a multiple of 4
    uint64_t dstAddress;        // address for the tile's own bytes, a multiple of 4
    uint32_t size;              // bytes, 1 .. maxTileSize
    uint32_t descriptionOffset; // bytes into descriptions, a multiple of 4
    uint32_t descriptionSize;   // bytes, a multiple of 4
    uint32_t statusIndex;       // index of the tile's status word; unique within the list
} SluiceFilterTile;

// Undoes the filters of a list of tiles, with one workgroup per tile. Run it after the decode that
// wrote `source`, with a barrier between them, on the status words of that decode. It processes the
// tiles whose status is OK or UNVERIFIED. If a filter can be undone, the tile's status stays as it
// is. Otherwise the tile gets BAD_REGION, BAD_FILTER or INTERNAL and is added to the summary. Tiles
// with another status are left alone, and so are their destinations. Compare checksums after this
// command, because they belong to the final bytes.
//
// For any descriptions and bytes the work is bounded by a constant times the tile's size and the
// description's size, and nothing is written outside the tile's destination. The destination's
// bytes are unspecified after an error.
typedef struct SluiceFilterInfo {
    // Upper limit of the number of tiles in the list, 0 .. 2^24.
    uint32_t maxTileCount;
    // Bytes of the largest tile: a multiple of 4, 4 .. SLUICE_FILTER_MAX_TILE. A larger tile gets
    // BAD_REGION.
    uint32_t maxTileSize;
    // Number of status words, 0 .. 2^24. A tile whose statusIndex is not below this number is left
    // alone.
    uint32_t statusCount;
    // maxTileCount * 32 bytes, 8-byte aligned: SluiceFilterTiles.
    SluiceBuffer tiles;
    // 4 bytes in GPU memory, 4-byte aligned: the number of tiles, clamped to maxTileCount. If this
    // range is empty (size 0), there are maxTileCount tiles.
    SluiceBuffer tileCount;
    // Filter descriptions, 4-byte aligned (an archive's parameter blocks can be used unchanged).
    // Every tile's description must lie completely inside this range, otherwise the tile gets
    // BAD_REGION.
    SluiceBuffer descriptions;
    // Every tile's filtered bytes must lie completely inside this range, otherwise the tile gets
    // BAD_REGION. Reads are whole words, so the handle must reach to the next multiple of 4 after
    // each tile's end.
    SluiceBuffer source;
    // Every tile must lie completely inside this range, otherwise it gets BAD_REGION. Tiles must
    // not overlap each other or source (values are then undefined, but still inside destination).
    SluiceBuffer destination;
    // (statusCount + 2) * 4 bytes, 4-byte aligned: the decode's SluiceTileStatus words, then the
    // number of tiles that failed, and the index of the first failed tile or 0xffffffff.
    SluiceBuffer status;
    // The size that sluiceGetFilterRequirements returns: about min(maxTileCount, 512) * (9/4 *
    // maxTileSize + 2400) bytes, and 0 on the CPU.
    SluiceBuffer scratch;
} SluiceFilterInfo;

// Reads only maxTileCount, maxTileSize and statusCount. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetFilterRequirements(SluiceContext context,
                                                    const SluiceFilterInfo* info,
                                                    SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdFilter(SluiceContext context, SluiceCommands commands,
                                        const SluiceFilterInfo* info);

// Decodes Gstd tiles and undoes the filters of some or all of them. The effect and the statuses are
// those of sluiceCmdGstd, sluiceCmdBarrier and sluiceCmdFilter in this order. Where the backend
// supports it (CUDA, compute capability 9.0 and later, without decode->expected), a tile's filter
// is undone as soon as the tile is decoded, while other tiles are still being decoded. That saves
// up to a sixth of the time of short lists (docs/performance.md). So the destination and scratch of
// the filter command must not overlap anything that the decode reads or writes. If they do, values
// are undefined, but still inside the ranges that the two commands may write.
//   decode, filter   as for the two commands. status is the same range in both, and
//                    filter->statusCount is decode->maxRegionCount: a tile's statusIndex is the
//                    index of its region
// Errors: ARGUMENT, BUFFER_SIZE.
struct SluiceGstdInfo; // sluice_gstd.h
SLUICE_API SluiceStatus sluiceCmdGstdFilter(SluiceContext context, SluiceCommands commands,
                                            const struct SluiceGstdInfo* decode,
                                            const SluiceFilterInfo* filter);

#ifdef __cplusplus
}
#endif

#endif // SLUICE_FILTER_H
