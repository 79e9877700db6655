// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decodes tiles of any codec, with or without filters, and checks them, in one call: it turns an
// archive's tile records (sluice_formats.h) into recorded commands. Part of the component `codecs`;
// tiles of codec FLOAT need the component `weights` too.
//
// A batch is a list of tiles on the host. Four steps, none of which allocates, waits or keeps a
// pointer:
//   1. sluiceAddTile counts a tile, and sluiceGetTilesRequirements says what the tiles counted so
//      far need, in constant time, so that a batch can be filled until memory ends;
//   2. sluicePrepareTiles writes the lists that the device reads;
//   3. sluiceCmdTiles records the decode, the filters and the checksums;
//   4. when the device has done it, sluiceGetTileResults gives a SluiceTileStatus for each tile.
//
// A tile whose result is OK has the bytes that its checksum names.
#ifndef SLUICE_TILES_H
#define SLUICE_TILES_H

#include <sluice/sluice.h>
#include <sluice/sluice_formats.h>

#ifdef __cplusplus
extern "C" {
#endif

// One tile. Everything except the two places comes from its record and its asset's parameters.
typedef struct SluiceTile {
    uint64_t sourceOffset; // bytes into source, a multiple of 16
    // Bytes into destination, a multiple of 4; of 16 for codec FLOAT without a filter.
    uint64_t destinationOffset;
    uint32_t storedSize; // bytes
    uint32_t size;       // bytes after decoding
    uint32_t codec;      // SluiceCodec
    uint32_t checksum;   // of the decoded bytes
    // The description of its filter; NULL: it has none. It must not change until sluicePrepareTiles
    // has returned. A description that neighbours share should be at one address.
    const void* filter;
    // Bytes of the description: a multiple of 4, 4 .. SLUICE_FILTER_MAX_DESCRIPTION; 0 if there is
    // none.
    uint32_t filterSize;
} SluiceTile;

// Makes the tile of a record.
//   asset               the asset that the tile is of. If it shares tiles, a tile holds bytes of
//                       others too: decode it into memory of your own, and copy the asset's bytes
//                       from there, as the streaming layer does
//   sourceOffset        where the tile's stored bytes will lie in source
//   destinationOffset   where its bytes go
// Errors: ARGUMENT; FORMAT (the filter's place, which a tile reader that saw all records has
// checked, is outside the parameters).
SLUICE_API SluiceStatus sluiceGetArchiveTile(const SluiceArchiveAsset* asset,
                                             const SluiceArchiveTile* record, uint64_t sourceOffset,
                                             uint64_t destinationOffset, SluiceTile* tile);

#define SLUICE_TILE_KINDS 4u   // GDeflate, Gstd, float, and stored tiles too large for those
#define SLUICE_TILE_FILTERS 8u // descriptions that are remembered, so that tiles share them

// Holds the totals of a batch's tiles. It is plain data that starts as zeros; restoring a copy made
// before sluiceAddTile undoes the call.
typedef struct SluiceTileTotals {
    uint32_t tileCount;                    // tiles that were counted
    uint32_t counts[SLUICE_TILE_KINDS][2]; // tiles of each kind, without and with a filter
    // Kernels take a tile of the last two kinds for several parts: this many in all.
    uint32_t parts[SLUICE_TILE_KINDS][2];
    uint32_t largestFiltered[SLUICE_TILE_KINDS]; // bytes of the largest tile with a filter
    uint32_t recentCount;                        // how often a description was remembered so far
    uint64_t filteredSize;                       // bytes of tiles whose filters are to be undone
    uint64_t descriptionSize;                    // bytes of all descriptions
    uint64_t bytesIn;                            // sum of storedSize
    uint64_t bytesOut;                           // sum of size
    // Addresses of the descriptions that were remembered last.
    const void* recent[SLUICE_TILE_FILTERS];
    uint32_t recentSize[SLUICE_TILE_FILTERS];   // their bytes
    uint32_t recentOffset[SLUICE_TILE_FILTERS]; // their places among all descriptions
} SluiceTileTotals;

// Counts a tile. Nothing is counted after an error. Errors: ARGUMENT (an alignment, sizes that no
// tile of the codec has, a batch of more than 2^20 tiles or 2^30 bytes of descriptions), VERSION
// (an unknown codec), UNSUPPORTED (a component that this build leaves out).
SLUICE_API SluiceStatus sluiceAddTile(SluiceTileTotals* totals, const SluiceTile* tile);

// Gives the SluiceKernels that a batch dispatches, for sluiceCreatePipelines.
SLUICE_API uint32_t sluiceGetTilesKernels(const SluiceTileTotals* totals);

typedef enum SluiceTilesFlags {
    // The tiles have no checksums (SluiceTile::checksum is not read): OK then says only that a tile
    // decoded to its size.
    SLUICE_TILES_UNCHECKED = 1,
    // No tile counts as stored because its sizes are equal (tile streams never store).
    SLUICE_TILES_NEVER_STORED = 2,
    SLUICE_TILES_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceTilesFlags;

// A batch. The caller makes the host's writes visible to the device: coherent memory needs nothing
// before a queue submission, other memory a flush or an upload of control and results.
typedef struct SluiceTilesInfo {
    const SluiceTile* tiles; // tileCount of them
    uint32_t tileCount;      // 0 .. 2^20
    uint32_t flags;          // SluiceTilesFlags, or-ed
    // As tilesAtOnce in SluiceGstdInfo: memory for speed. 0: SLUICE_GSTD_SLOTS.
    uint32_t gstdTilesAtOnce;
    // The stored bytes, at an address that is a multiple of 16. Reads are whole words: the handle
    // reaches to the next multiple of 4 after each tile's end.
    SluiceBuffer source;
    // source's bytes on the host, for the first 16 bytes of each tile of codec FLOAT. It may be
    // NULL if there are none.
    const void* sourceHost;
    // The tiles go here, at an address that is a multiple of 4 (of 16 if there are float tiles
    // without filters). It must not overlap source, control, results or scratch.
    SluiceBuffer destination;
    // controlSize bytes, 16-byte aligned, which the device reads: lists and filter descriptions.
    SluiceBuffer control;
    // The same bytes on the host, 16-byte aligned. sluicePrepareTiles writes each byte at most once
    // and reads none (write-combined memory will do).
    void* controlHost;
    // resultsSize bytes, 16-byte aligned, which the device writes.
    SluiceBuffer results;
    // The same bytes on the host. sluicePrepareTiles writes some, and sluiceGetTileResults reads
    // them.
    void* resultsHost;
    // scratchSize bytes, aligned to scratchAlignment.
    SluiceBuffer scratch;
    // NULL: the calls count the tiles each time. Otherwise the totals that sluiceAddTile has
    // counted for exactly these tiles, in their order, which saves that.
    const SluiceTileTotals* totals;
} SluiceTilesInfo;

typedef struct SluiceTilesRequirements {
    uint64_t controlSize;      // bytes
    uint64_t resultsSize;      // bytes
    uint64_t scratchSize;      // bytes; contents need no initialisation
    uint64_t scratchAlignment; // bytes, a power of two
} SluiceTilesRequirements;

// Reads info->flags and info->gstdTilesAtOnce only; the tiles are those of totals. Constant time.
// Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetTilesRequirements(SluiceContext context,
                                                   const SluiceTilesInfo* info,
                                                   const SluiceTileTotals* totals,
                                                   SluiceTilesRequirements* requirements);

// Writes the batch's lists to controlHost, and the initial statuses to resultsHost. The device must
// not be using either. A tile that lies outside source or destination, or a float tile whose head
// makes no sense, is no error of the call: its result is BAD_REGION. Errors: as sluiceAddTile of
// each tile; ARGUMENT (totals are of other tiles); BUFFER_SIZE.
SLUICE_API SluiceStatus sluicePrepareTiles(SluiceContext context, const SluiceTilesInfo* info);

// Records the decode of a batch that sluicePrepareTiles has prepared with the same info: all
// codecs, filters and checksums, and the barriers between them. Before the host reads results,
// record sluiceCmdBarrier behind it. Errors: ARGUMENT, BUFFER_SIZE, NOT_READY (a pipeline of
// sluiceGetTilesKernels is missing). Nothing is recorded then.
SLUICE_API SluiceStatus sluiceCmdTiles(SluiceContext context, SluiceCommands commands,
                                       const SluiceTilesInfo* info);

// Gives the result of each tile once the device has run the commands and the host sees resultsHost.
//   info      the same again
//   statuses  receives tileCount SluiceTileStatus
//   failed    may be NULL; receives how many are not OK
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceGetTileResults(const SluiceTilesInfo* info, uint32_t* statuses,
                                             uint32_t* failed);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_TILES_H
