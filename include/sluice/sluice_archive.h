// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Writers for the .sluice archive and the DirectStorage tile stream; docs/format.md specifies both.
// Library: sluice_encode. Bytes come from and go to callbacks of the caller, in pieces, and the
// same assets give the same bytes, whatever the thread count.
//
// Memory is bounded whatever the size of an asset. With T threads, max(1, threadCount) up to 64,
// and tiles of at most S bytes (of the largest segment so far): Q * 2 * (S + 256) bytes of tiles, Q
// = 1 if T = 1, else 4 * T, to which filters add Q * (S + 16 KiB), with trials Q * (2 * S + 17
// KiB), and known matches (readMatches, sluiceAddArchiveZstd) Q * 12 * S; T times what the encoders
// that were used take (GDEFLATE 1 to 6 MiB, GSTD up to 11, see sluice_encode.h; FLOAT 128 KiB); 96
// KiB of records; and 41 bytes, the name and the parameters of each asset.
//
// Threads: `threadCount` is how many worker threads a writer may start for encoding; 0 and 1 start
// none and encode in the calling thread. Workers live as long as the writer. Callbacks are only
// ever called in the calling thread. A writer may be used by one thread at a time.
#ifndef SLUICE_ARCHIVE_H
#define SLUICE_ARCHIVE_H

#include <sluice/sluice_encode.h>
#include <sluice/sluice_formats.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_ENCODE_MAX_THREADS 64u // more are not started

// Delivers the next `size` bytes of the input, all of them, or returns an error (SLUICE_ERROR_IO if
// it ends too early).
typedef SluiceStatus (*SluiceReadBytes)(void* user, void* bytes, size_t size);
// Writes `size` bytes at `offset` of the output; offsets go up and down, since headers are written
// last.
typedef SluiceStatus (*SluiceWriteBytes)(void* user, uint64_t offset, const void* bytes,
                                         size_t size);

// Keeps encoded tiles from one run to the next, for instance in a folder. A key is BLAKE2b (32
// bytes) of all that a tile's encoding depends on: its bytes, the segment's parameters, its filter
// and the version of the encoders. So nobody can make two tiles of one key. What find gives goes
// into the archive unseen: a cache answers for its contents.
#define SLUICE_TILE_KEY_SIZE 32u
typedef struct SluiceTileCache {
    void* user;
    // Gives the tile of this key, which has `size` bytes when decoded: its stored bytes to `bytes`,
    // where `size` bytes have room, and to *filtered whether it keeps its filter (1) or not (0).
    // Returns how many they are; `size` if the tile is stored; 0: there is none. Called by worker
    // threads, several at a time.
    uint32_t (*find)(void* user, const uint8_t* key, uint32_t size, void* bytes,
                     uint32_t* filtered);
    // Takes a tile that find did not have; storedSize == size: it is stored. Called as find.
    void (*keep)(void* user, const uint8_t* key, uint32_t size, const void* bytes,
                 uint32_t storedSize, uint32_t filtered);
    // Says what a tile became, tile by tile in the order of the archive; may be NULL. asset: how
    // many assets, shares and parts of shares were added before it; key: NULL if the tile was not
    // looked up (codec STORE, known matches, assets that are encoded already). Called in the
    // calling thread.
    void (*wrote)(void* user, uint32_t asset, const SluiceArchiveTile* tile, const uint8_t* key);
} SluiceTileCache;

typedef struct SluiceArchiveWriter_T* SluiceArchiveWriter;

typedef struct SluiceArchiveWriterInfo {
    SluiceCodec codec;    // of assets without segments, in tiles of 64 KiB, with GSTD of tileSize,
                          // with FLOAT of 1 MiB and as FLOAT_BYTES; tiles that do not get smaller
                          // are stored
    uint32_t level;       // GDEFLATE and GSTD: 1 .. 12
    uint32_t decodeSpeed; // GDEFLATE: as in SluiceGdeflateEncoderInfo
    uint32_t threadCount; // 0 .. any, see above
    SluiceWriteBytes write;
    void* writeUser;
    uint32_t copyDepth; // GSTD: depth in SluiceGstdEncoderInfo
    uint32_t tileSize;  // GSTD: of assets without segments, as in SluiceArchiveSegment; 0: 262,144.
                        // With smaller ones short lists decode faster, and archives are larger
                        // (docs/performance.md)
    // NULL: none; outlives the writer. The archive is the same with it.
    const SluiceTileCache* cache;
    uint32_t anyOrder; // 1: assets come in the order that their extents are to have, whatever their
                       // names; readers of version 1 refuse the archive unless that is the names'
} SluiceArchiveWriterInfo;

// Some bytes of an asset and how they are encoded. A segment starts a new tile; a tile that does
// not get smaller is stored. Parameters of other codecs are ignored.
typedef struct SluiceArchiveSegment {
    uint64_t size; // bytes; a multiple of 4 if anything follows in the asset
    SluiceCodec codec;
    uint32_t tileSize;     // bytes of each tile but the last: a multiple of 4, 4 .. 2^20; GDEFLATE:
                           // at most 65,536; GSTD: at most 262,144; FLOAT: each tile has about 190
                           // bytes of tables, so best 2^20
    uint32_t level;        // GDEFLATE and GSTD: 1 .. 12
    uint32_t decodeSpeed;  // GDEFLATE: as in SluiceGdeflateEncoderInfo
    uint32_t filterOffset; // 0: no filter; else where the filter that its tiles get is described in
                           // the asset's parameters, in bytes + 4 (sluice_filter_encode.h finds
                           // segments with filters). Tiles that are stored stay as they are
    uint32_t floatType;    // FLOAT: SluiceFloatType. A last part that is no whole element is stored
    uint32_t copyDepth;    // GSTD: depth in SluiceGstdEncoderInfo
    uint32_t filterTrial;  // 0; 1: each tile is encoded with and without its filter, and keeps it
                           // only if it gets smaller by more than the description. If no tile of an
                           // asset keeps one, and its parameters are nothing but filters, they are
                           // left out
} SluiceArchiveSegment;

// Delivers the matches that are known of the `size` bytes from `position` of the asset on, which
// have just been read, as sluiceEncodeGstdTileWithMatches wants them; matches has room for size of
// them.
typedef SluiceStatus (*SluiceReadMatches)(void* user, uint64_t position, uint32_t size,
                                          SluiceGstdMatch* matches, uint32_t* count);

typedef struct SluiceArchiveAssetInfo {
    const char* name; // see sluiceIsArchiveName; greater, byte by byte, than the name of the asset
                      // before (unless anyOrder), and with no folder that is an asset ("a" and
                      // "a/b"). With anyOrder sluiceFinishArchive finds what breaks this: ARGUMENT
    size_t nameLength;
    uint32_t
        type; // 0 = plain bytes; SLUICE_ASSET_IMAGE, with what sluiceMakeArchiveImageItem makes
              // among the parameters
    uint64_t size; // bytes, exactly as many as read delivers; 0 .. 2^48 - 2^16
    SluiceReadBytes read;
    void* readUser;
    const SluiceArchiveSegment* segments; // in order; their sizes add up to size
    uint32_t segmentCount;                // 0: one segment, with the writer's codec
    uint32_t parameterSize;               // bytes of the parameter block, a multiple of 4; 0: none
    const void* parameters;               // its items (docs/format.md 4.5), without the length in
                                          // front. Those that only a newer version knows are
                                          // written too: readers of this one say VERSION
    SluiceReadMatches readMatches;        // GSTD; NULL: matches are searched, as they are in
                                          // filtered tiles. Called with readUser
} SluiceArchiveAssetInfo;

typedef struct SluiceArchiveStats {
    uint64_t assetCount;
    uint64_t bytesIn;  // sum of the asset sizes
    uint64_t bytesOut; // the archive
    uint64_t tileCount;
    uint64_t storedTiles; // tiles with codec STORE
} SluiceArchiveStats;

// Creates a writer; destroy it with sluiceDestroyArchiveWriter, finished or not.
// Errors: ARGUMENT, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateArchiveWriter(const SluiceArchiveWriterInfo* info,
                                                  SluiceArchiveWriter* writer);
SLUICE_API void sluiceDestroyArchiveWriter(SluiceArchiveWriter writer); // NULL is allowed

// Adds an asset: reads all of its bytes before it returns, writes some of it later. name, segments
// and parameters need not outlive the call. Errors: ARGUMENT (name, order of names, size, segments,
// parameters, or more than an archive holds), OUT_OF_MEMORY, whatever a callback returned. An asset
// refused with ARGUMENT leaves the writer as it was; after a callback's error every later call
// returns that error.
SLUICE_API SluiceStatus sluiceAddArchiveAsset(SluiceArchiveWriter writer,
                                              const SluiceArchiveAssetInfo* info);

// An asset whose tiles are encoded already: they come from another archive or from a cache.
typedef struct SluiceEncodedAssetInfo {
    const char* name; // name, type, size and parameters as in SluiceArchiveAssetInfo
    size_t nameLength;
    uint32_t type;
    uint32_t tileSizeLog2; // 16 .. 20
    uint64_t size;
    const void* parameters;
    uint32_t parameterSize;
    uint32_t filterTrial; // 1: some segment had filterTrial and a filter, so that parameters may be
                          // left out as there
    uint32_t tileCount;
    const SluiceArchiveTile* tiles; // tileCount records that keep the rules of docs/format.md 4.3;
                                    // offset and outputOffset are not read
    // Delivers the storedSize bytes of a tile, in the order of the tiles.
    SluiceStatus (*readTile)(void* user, uint32_t tile, void* bytes, uint32_t storedSize);
    void* readUser;
} SluiceEncodedAssetInfo;

// Adds an asset without encoding it. The archive is the one that sluiceAddArchiveAsset made of the
// same asset, byte for byte, when the tiles are those that it made. Stored bytes are not decoded:
// whether they decode to what the checksums say is the caller's matter. Errors: as
// sluiceAddArchiveAsset.
SLUICE_API SluiceStatus sluiceAddEncodedArchiveAsset(SluiceArchiveWriter writer,
                                                     const SluiceEncodedAssetInfo* info);

// A small asset that shares tiles with others.
typedef struct SluiceArchivePart {
    const char* name; // name, type, parameters as in SluiceArchiveAssetInfo; the parameters hold no
                      // filters of the tiles
    size_t nameLength;
    uint32_t type;
    uint32_t parameterSize;
    const void* parameters;
    uint64_t size; // bytes, at least 1
} SluiceArchivePart;

// Adds assets that share tiles, in a writer with anyOrder; readers of versions 1 and 2 refuse the
// archive.
//   parts, partCount  1 or more, in the order of their names. Each begins at the next multiple of
//                     16 behind the one before; between them are zeros
//   info              what the tiles decode to as if it were one asset: size is where the last part
//                     ends, and read delivers the zeros too. name and type are not read, and
//                     parameters describe filters alone
// Errors: as sluiceAddArchiveAsset.
SLUICE_API SluiceStatus sluiceAddArchiveShare(SluiceArchiveWriter writer,
                                              const SluiceArchivePart* parts, uint32_t partCount,
                                              const SluiceArchiveAssetInfo* info);
SLUICE_API SluiceStatus sluiceAddEncodedArchiveShare(SluiceArchiveWriter writer,
                                                     const SluiceArchivePart* parts,
                                                     uint32_t partCount,
                                                     const SluiceEncodedAssetInfo* info);

// Adds what Zstandard frames hold as an asset of codec GSTD, whatever the writer's: matches inside
// a tile are kept as they are, those from before it are searched again. Frames may follow each
// other, skippable ones among them; checksums are checked.
//   frames, framesSize   all of them, which the caller keeps. Their content is decoded once, or
//                        twice if a frame does not say how large it is, and held a block at a time,
//                        next to the tiles
//   level, copyDepth     as in SluiceGstdEncoderInfo; the level says how thoroughly the tables are
//                        chosen
// Errors: as sluiceAddArchiveAsset; FORMAT (also: more or less content than a frame says),
// CHECKSUM; UNSUPPORTED (a frame wants a dictionary, or a window above 128 MiB, what libzstd gives
// by default).
typedef struct SluiceArchiveZstdInfo {
    const char* name;
    size_t nameLength;
    const void* frames;
    size_t framesSize;
    uint32_t level;
    uint32_t copyDepth;
} SluiceArchiveZstdInfo;
SLUICE_API SluiceStatus sluiceAddArchiveZstd(SluiceArchiveWriter writer,
                                             const SluiceArchiveZstdInfo* info);

// Writes what is left, the index and, last of all, the header at offset 0. stats may be NULL. Then
// only destroy is left. Errors: ARGUMENT, OUT_OF_MEMORY, whatever a callback returned.
SLUICE_API SluiceStatus sluiceFinishArchive(SluiceArchiveWriter writer, SluiceArchiveStats* stats);

typedef struct SluiceTileStreamWriteInfo {
    uint64_t size;        // bytes to encode, at most 65,535 * 65,536
    uint32_t level;       // 1 .. 12
    uint32_t decodeSpeed; // as in SluiceGdeflateEncoderInfo
    uint32_t threadCount; // 0 .. any, see above
    SluiceReadBytes read;
    void* readUser;
    SluiceWriteBytes write;
    void* writeUser;
} SluiceTileStreamWriteInfo;

// Encodes `size` bytes as a DirectStorage tile stream. streamSize receives its size and may be
// NULL. Errors: ARGUMENT, OUT_OF_MEMORY, UNSUPPORTED (the stream would pass its 32-bit offsets),
// whatever a callback returned.
SLUICE_API SluiceStatus sluiceWriteTileStream(const SluiceTileStreamWriteInfo* info,
                                              uint64_t* streamSize);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_ARCHIVE_H
