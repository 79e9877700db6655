// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decodes tiles of any codec, undoes their filters and compares their checksums, all in one call:
// it turns an archive's tile records (sluice_formats.h) into recorded commands. Part of the
// component `codecs`; tiles of codec FLOAT need the component `weights` too, and those of codec
// ZSTD the component `zstd`.
//
// A batch is a list of tiles on the host. Decoding it takes four steps. No step allocates memory,
// waits or keeps a pointer:
//   1. sluiceAddTile counts a tile, and sluiceGetTilesRequirements says what the tiles counted so
//      far need, both in constant time. So a batch can be filled until the memory is used up;
//   2. sluicePrepareTiles writes the lists that the device reads;
//   3. sluiceCmdTiles records the decode, the filters and the checksums;
//   4. when the device has run them, sluiceGetTileResults returns a SluiceTileStatus per tile.
//
// A tile whose result is OK has the bytes that match its checksum.
#ifndef SLUICE_TILES_H
#define SLUICE_TILES_H

#include <sluice/sluice.h>
#include <sluice/sluice_formats.h>

#ifdef __cplusplus
extern "C" {
#endif

// One tile to decode. sluiceGetArchiveTile takes all members except the two offsets from the
// archive's record of the tile and from the asset's parameters.
typedef struct SluiceTile {
    uint64_t sourceOffset; // bytes into source, a multiple of 16
    // Bytes into destination: a multiple of 4, or of 16 for codec FLOAT without a filter.
    uint64_t destinationOffset;
    uint32_t storedSize; // bytes
    // Bytes after decoding, within the limits of SluiceArchiveTile::size. A ZSTD tile that does not
    // come from an archive may have up to 2^20 bytes, or without filter and checksum up to
    // SLUICE_ZSTD_MAX_REGION_SIZE.
    uint32_t size;
    uint32_t codec;    // SluiceCodec
    uint32_t checksum; // of the decoded bytes
    // The description of the tile's filter; NULL: the tile has no filter. The description must not
    // change until sluicePrepareTiles has returned. Neighbouring tiles with the same description
    // should have the same pointer.
    const void* filter;
    // Bytes of the description: a multiple of 4, 4 .. SLUICE_FILTER_MAX_DESCRIPTION; 0 without a
    // filter.
    uint32_t filterSize;
} SluiceTile;

// Makes the tile of a record.
//   asset               the asset that the tile belongs to. If the asset shares tiles, its tiles
//                       also hold bytes of other assets: decode them into memory of your own and
//                       copy the asset's bytes from there, as the streaming layer does
//   sourceOffset        where the tile's stored bytes will be in source
//   destinationOffset   where the tile's decoded bytes go in destination
// Errors: ARGUMENT; FORMAT (the filter's description would be outside the parameters; a tile reader
// that has read all records has already checked this).
SLUICE_API SluiceStatus sluiceGetArchiveTile(const SluiceArchiveAsset* asset,
                                             const SluiceArchiveTile* record, uint64_t sourceOffset,
                                             uint64_t destinationOffset, SluiceTile* tile);

#define SLUICE_TILE_KINDS 5u // GDeflate, Gstd, Zstandard, float, stored tiles of more than 256 KiB
#define SLUICE_TILE_FILTERS 8u // recent descriptions that are kept, so that tiles can share them

// Holds the totals of a batch's tiles. This is plain data that starts as zeros. To undo
// sluiceAddTile, restore a copy made before the call.
typedef struct SluiceTileTotals {
    uint32_t tileCount;                    // tiles counted so far
    uint32_t counts[SLUICE_TILE_KINDS][2]; // tiles of each kind, without and with a filter
    // Kernels decode float tiles and large stored tiles in several parts. These are the parts of
    // all tiles of a kind, without and with a filter; 0 for the other kinds.
    uint32_t parts[SLUICE_TILE_KINDS][2];
    uint32_t largestFiltered[SLUICE_TILE_KINDS]; // bytes of the largest tile with a filter
    uint32_t largestGstd;                        // bytes of the largest Gstd tile
    uint32_t largestZstd;                        // bytes of the largest Zstandard tile
    uint32_t recentCount;                        // descriptions put into recent so far
    uint64_t filteredSize;                       // bytes of the tiles with a filter
    uint64_t descriptionSize;                    // bytes of all descriptions
    uint64_t bytesIn;                            // sum of storedSize
    uint64_t bytesOut;                           // sum of size
    // A ring of the descriptions that were added last. A tile whose description is in the ring does
    // not add it again.
    const void* recent[SLUICE_TILE_FILTERS];    // their addresses
    uint32_t recentSize[SLUICE_TILE_FILTERS];   // bytes of each of them
    uint32_t recentOffset[SLUICE_TILE_FILTERS]; // offset of each among all descriptions
} SluiceTileTotals;

// Counts a tile. After an error nothing has been counted. Errors: ARGUMENT (an alignment, a size
// that tiles of the codec cannot have, or a batch of more than 2^20 tiles or 2^30 bytes of
// descriptions), VERSION (an unknown codec), UNSUPPORTED (a component that this build leaves out).
SLUICE_API SluiceStatus sluiceAddTile(SluiceTileTotals* totals, const SluiceTile* tile);

// Returns the SluiceKernels that a batch dispatches, for sluiceCreatePipelines.
SLUICE_API uint32_t sluiceGetTilesKernels(const SluiceTileTotals* totals);

typedef enum SluiceTilesFlags {
    // The tiles have no checksums (SluiceTile::checksum is not read). OK then only says that a tile
    // decoded to its size. Checksums inside the frames of Zstandard tiles are compared.
    SLUICE_TILES_UNCHECKED = 1,
    // A tile with size == storedSize is decoded like any other, not copied as a stored tile (tile
    // streams never store tiles).
    SLUICE_TILES_NEVER_STORED = 2,
    SLUICE_TILES_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceTilesFlags;

// A batch. The caller makes the host's writes visible to the device. Coherent memory needs nothing
// before a queue submission; other memory needs a flush, or an upload of control and results.
typedef struct SluiceTilesInfo {
    const SluiceTile* tiles; // tileCount of them
    uint32_t tileCount;      // 0 .. 2^20
    uint32_t flags;          // SluiceTilesFlags, or-ed
    // The number of Gstd tiles of 256 KiB that are decoded at the same time. A larger number needs
    // more scratch and is faster. If all tiles of a batch are below 256 KiB, the same scratch is
    // enough to decode more of them at the same time. 0 stands for SLUICE_GSTD_SLOTS. Zstandard
    // tiles get the same amount of scratch: as many as fit into it are decoded at the same time, at
    // least one.
    uint32_t gstdTilesAtOnce;
    // The stored bytes, at an address that is a multiple of 16. Reads are whole words, so the
    // handle must reach to the next multiple of 4 after each tile's end.
    SluiceBuffer source;
    // The bytes of source on the host, from which the call reads the first 16 bytes of each tile of
    // codec FLOAT. It may be NULL if there are no such tiles.
    const void* sourceHost;
    // Receives the tiles, at an address that is a multiple of 4 (of 16 if there are float tiles
    // without filters). It must not overlap source, control, results or scratch.
    SluiceBuffer destination;
    // controlSize bytes, 16-byte aligned: the lists and filter descriptions that the device reads.
    SluiceBuffer control;
    // The bytes of control on the host, 16-byte aligned. sluicePrepareTiles writes each byte at
    // most once and reads none, so write-combined memory is suitable.
    void* controlHost;
    // resultsSize bytes, 16-byte aligned: the results that the device writes.
    SluiceBuffer results;
    // The bytes of results on the host. sluicePrepareTiles writes some of them, and
    // sluiceGetTileResults reads them.
    void* resultsHost;
    // scratchSize bytes, aligned to scratchAlignment.
    SluiceBuffer scratch;
    // The totals of exactly these tiles, added with sluiceAddTile in the same order, so that the
    // calls need not count the tiles again. NULL: each call counts the tiles.
    const SluiceTileTotals* totals;
} SluiceTilesInfo;

typedef struct SluiceTilesRequirements {
    uint64_t controlSize;      // bytes
    uint64_t resultsSize;      // bytes
    uint64_t scratchSize;      // bytes; the contents need no initialisation
    uint64_t scratchAlignment; // bytes, a power of two
} SluiceTilesRequirements;

// Reads only info->flags and info->gstdTilesAtOnce; the tiles are those counted in totals. Takes
// constant time. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetTilesRequirements(SluiceContext context,
                                                   const SluiceTilesInfo* info,
                                                   const SluiceTileTotals* totals,
                                                   SluiceTilesRequirements* requirements);

// Writes the batch's lists to controlHost and the initial statuses to resultsHost. The device must
// not be using control or results. A tile outside source or destination, or a float tile with an
// invalid head, is no error of the call: the tile's result is BAD_REGION. Errors: those of
// sluiceAddTile for each tile; ARGUMENT (totals belong to other tiles); BUFFER_SIZE.
SLUICE_API SluiceStatus sluicePrepareTiles(SluiceContext context, const SluiceTilesInfo* info);

// Records the decode of a batch that sluicePrepareTiles has prepared with the same info: all
// codecs, filters and checksums, and the barriers between them. Record sluiceCmdBarrier after it
// before the host reads results: that barrier reaches the host, too. Errors: ARGUMENT, BUFFER_SIZE,
// NOT_READY (a pipeline of sluiceGetTilesKernels is missing). After an error nothing has been
// recorded.
SLUICE_API SluiceStatus sluiceCmdTiles(SluiceContext context, SluiceCommands commands,
                                       const SluiceTilesInfo* info);

#define SLUICE_TILES_TOGETHER 16u // the most batches of sluiceCmdTilesTogether

// Records several batches, as sluiceCmdTiles does, so that they run at the same time on Vulkan. A
// batch of few tiles takes as long as its slowest tile. Several such batches recorded by this call
// take about as long as one; recorded one after the other, they would take the sum of their times.
// An engine has several batches, for example, if tiles go to several destination buffers.
//   infos      infoCount batches, each prepared. Their ranges of scratch must not overlap, and
//              neither must their ranges of results and the bytes of their tiles in destinations
//   infoCount  0 .. SLUICE_TILES_TOGETHER
// Errors: those of sluiceCmdTiles; ARGUMENT (ranges of scratch or results overlap). After an error
// nothing has been recorded.
SLUICE_API SluiceStatus sluiceCmdTilesTogether(SluiceContext context, SluiceCommands commands,
                                               const SluiceTilesInfo* infos, uint32_t infoCount);

// Returns the result of each tile. Call it when the device has run the commands and the results are
// visible to the host in resultsHost.
//   info      the info that was prepared and recorded
//   statuses  receives tileCount SluiceTileStatus values
//   failed    may be NULL; receives the number of tiles whose status is not OK
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceGetTileResults(const SluiceTilesInfo* info, uint32_t* statuses,
                                             uint32_t* failed);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_TILES_H
