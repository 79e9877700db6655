// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Lossless filters: transformations of a tile's bytes that keep their number and make an entropy
// coder's work easier: differences and predictions over records of any stride, bytes of wider
// values split into planes, packets of run-length coded images taken apart. A tile is undone from
// its own bytes and its filter's description alone. docs/format.md, 8, specifies both;
// docs/format.md, 4.5, says where descriptions stand in an archive.
//
// Choosing and applying is the encoder's side (library: sluice_encode), undoing the decoder's
// (library: sluice).
#ifndef SLUICE_FILTER_H
#define SLUICE_FILTER_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// A description and a tile with a filter have at most this many bytes.
#define SLUICE_FILTER_MAX_DESCRIPTION 16384u
#define SLUICE_FILTER_MAX_TILE 1048576u

// All sections together have at most this many columns, where each section counts as
// SLUICE_FILTER_SECTION_COLUMNS more (docs/format.md, 8.6). A description with more is refused,
// since it would hold up a GPU.
#define SLUICE_FILTER_MAX_COLUMNS 4096u
#define SLUICE_FILTER_SECTION_COLUMNS 24u
// At most this many steps of a tile wait for each other, for the same reason.
#define SLUICE_FILTER_MAX_STEPS 9216u

// Checks every rule of docs/format.md, 8, that does not depend on a tile.
//   description   size bytes, any alignment and contents
// Errors: ARGUMENT, FORMAT, VERSION (another version, or something that this version does not
// know). Thread-safe.
SLUICE_API SluiceStatus sluiceCheckFilter(const void* description, size_t size);

// Undoes a filter on the CPU.
//   filtered   tileSize bytes, any alignment and contents
//   tile       receives tileSize bytes, any alignment; does not overlap filtered. Unspecified after
//              an error
//   tileSize   1 .. SLUICE_FILTER_MAX_TILE
// The work is proportional to tileSize and the description's size, whatever their contents.
// Errors: ARGUMENT, FORMAT (also: the sections do not fit the tile, or take more than
// SLUICE_FILTER_MAX_STEPS), VERSION. Thread-safe.
SLUICE_API SluiceStatus sluiceUndoFilter(const void* description, size_t size, const void* filtered,
                                         void* tile, size_t tileSize);

// Writes one line of text that says what a description does, for people:
// "18: plain | rest: width 128 u8 median -1, u8 median, u8 median -1".
//   text       capacity bytes, at least 1; always ends with a 0, cut short if need be
// Errors: ARGUMENT, FORMAT, VERSION (text is then empty). Thread-safe.
SLUICE_API SluiceStatus sluiceGetFilterText(const void* description, size_t size, char* text,
                                            size_t capacity);

// -----------------------------------------------------------------------------------------------
// On the device

// A decoded tile whose filter is to be undone. Addresses are device addresses, as in SluiceRegion.
typedef struct SluiceFilterTile {
    uint64_t srcAddress;        // multiple of 4: the filtered bytes
    uint64_t dstAddress;        // multiple of 4: where the tile's own bytes go
    uint32_t size;              // bytes, 1 .. maxTileSize
    uint32_t descriptionOffset; // bytes into descriptions, a multiple of 4
    uint32_t descriptionSize;   // bytes, a multiple of 4
    uint32_t statusIndex;       // of the tile's status word; no two tiles of a list have the same
} SluiceFilterTile;

// Undoes the filters of a list of tiles, a workgroup a tile. Run it after the decode that wrote
// `source`, with a barrier between, on the decode's own status words: a tile whose status is OK or
// UNVERIFIED is undone, and if its filter cannot be it gets BAD_REGION, BAD_FILTER or INTERNAL and
// is added to the summary; otherwise its status stays. Tiles with another status are left alone,
// and so are their destinations. Checksums, which are of the final bytes, come after it.
//
// Whatever the descriptions and bytes are, the work is bounded by a constant times the tile's size
// and the description's, and nothing is written outside the tile's destination, whose bytes are
// unspecified after an error.
typedef struct SluiceFilterInfo {
    // The list has at most this many tiles, 0 .. 2^24.
    uint32_t maxTileCount;
    // Bytes of the largest tile: a multiple of 4, 4 .. SLUICE_FILTER_MAX_TILE. A larger tile gets
    // BAD_REGION.
    uint32_t maxTileSize;
    // Number of status words, 0 .. 2^24. A tile whose statusIndex is not below it is left alone.
    uint32_t statusCount;
    // maxTileCount * 32 bytes, 8-byte aligned: SluiceFilterTiles.
    SluiceBuffer tiles;
    // 4 bytes in GPU memory, 4-byte aligned: how many tiles there are, clamped to maxTileCount. If
    // its size is 0, there are maxTileCount.
    SluiceBuffer tileCount;
    // Filter descriptions, 4-byte aligned (an archive's parameter blocks can be used as they are).
    // Every tile's must lie wholly inside it, else the tile gets BAD_REGION.
    SluiceBuffer descriptions;
    // Every tile's filtered bytes must lie wholly inside it, else the tile gets BAD_REGION. Reads
    // are whole words: the handle must reach to the next multiple of 4 after each tile's end.
    SluiceBuffer source;
    // Every tile must lie wholly inside it, else the tile gets BAD_REGION. Tiles must not overlap
    // each other or source (values are undefined then, still inside destination).
    SluiceBuffer destination;
    // (statusCount + 2) * 4 bytes, 4-byte aligned: the decode's status words and the two summary
    // words, as in SluiceGdeflateInfo.
    SluiceBuffer status;
    // As sluiceGetFilterRequirements says: about
    // min(maxTileCount, 512) * (9/4 * maxTileSize + 2400) bytes, nothing on the CPU.
    SluiceBuffer scratch;
} SluiceFilterInfo;

// Reads maxTileCount, maxTileSize and statusCount only. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetFilterRequirements(SluiceContext context,
                                                    const SluiceFilterInfo* info,
                                                    SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdFilter(SluiceContext context, SluiceCommands commands,
                                        const SluiceFilterInfo* info);

// Decodes Gstd tiles and undoes the filters of some or all of them, as sluiceCmdGstd,
// sluiceCmdBarrier and sluiceCmdFilter do in this order, with the same statuses. Where the backend
// can (CUDA, compute capability 9.0 and later, without decode->expected), a tile is undone as soon
// as it is decoded, while others still are, which saves up to a sixth of the time of short lists
// (docs/performance.md). So nothing that the filters write, tiles and scratch, may overlap anything
// that the decode reads or writes (undefined values, still inside what the two commands may write).
//   decode, filter   as those commands want them. status is the same range in both, and
//                    filter->statusCount is decode->maxRegionCount: a tile's statusIndex is the
//                    number of its region
// Errors: ARGUMENT, BUFFER_SIZE.
struct SluiceGstdInfo; // sluice_gstd.h
SLUICE_API SluiceStatus sluiceCmdGstdFilter(SluiceContext context, SluiceCommands commands,
                                            const struct SluiceGstdInfo* decode,
                                            const SluiceFilterInfo* filter);

#ifdef __cplusplus
}
#endif

#endif // SLUICE_FILTER_H
