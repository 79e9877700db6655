// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Writes the .sluice archive and the DirectStorage tile stream; docs/format.md specifies both.
// Library: sluice_encode. Bytes come from and go to callbacks of the caller, in pieces, and the
// same assets give the same bytes, whatever the thread count.
//
// Memory is bounded whatever the size of an asset. With T = max(1, threadCount) threads, 64 at
// most, tiles of at most S bytes (of the largest segment so far), and Q = 1 if T = 1, else
// Q = 4 * T, it is the sum of
//   Q * 2 * (S + 256)      for tiles
//   Q * (S + 16 KiB)       for filters; with trials Q * (2 * S + 17 KiB)
//   Q * 12 * S             for known matches (readMatches, sluiceAddArchiveZstd)
//   T times one encoder    GDEFLATE 1 to 6 MiB, GSTD up to 11 (sluice_encode.h), FLOAT 128 KiB, of
//                          those that were used
//   96 KiB                 for records
//   41 bytes               for each asset, with its name and its parameters
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
// bytes) of everything that a tile's encoding depends on: its bytes, the segment's parameters, its
// filter and the version of the encoders. So nobody can make two tiles with the same key. The
// result of `find` goes into the archive unchecked, so a cache is responsible for its contents.
#define SLUICE_TILE_KEY_SIZE 32u
typedef struct SluiceTileCache {
    void* user; // the `user` of the functions
    // Gives the tile of this key, which has `size` bytes when decoded: its stored bytes to `bytes`,
    // where `size` bytes have room, and to *filtered whether it keeps its filter (1) or not (0).
    // Returns how many they are; `size` if the tile is stored; 0: there is none. Called by worker
    // threads, several at a time.
    uint32_t (*find)(void* user, const uint8_t* key, uint32_t size, void* bytes,
                     uint32_t* filtered);
    // Takes a tile that find did not have; with storedSize == size it is stored. Called like find.
    void (*keep)(void* user, const uint8_t* key, uint32_t size, const void* bytes,
                 uint32_t storedSize, uint32_t filtered);
    // Reports the result for each tile, in the order of the archive; may be NULL. `asset` is how
    // many assets, shares and parts of shares were added before it. `key` is NULL if the tile was
    // not looked up (codec STORE, known matches, assets that are encoded already). Called in the
    // calling thread.
    void (*wrote)(void* user, uint32_t asset, const SluiceArchiveTile* tile, const uint8_t* key);
} SluiceTileCache;

typedef struct SluiceArchiveWriter_T* SluiceArchiveWriter;

typedef struct SluiceArchiveWriterInfo {
    // The codec of assets without segments, in tiles of 64 KiB, with GSTD of tileSize, with FLOAT
    // of 1 MiB and as FLOAT_BYTES. Tiles that do not get smaller are stored.
    SluiceCodec codec;
    uint32_t level;         // GDEFLATE and GSTD: 1 .. 12
    uint32_t decodeSpeed;   // GDEFLATE: as in SluiceGdeflateEncoderInfo
    uint32_t threadCount;   // 0 .. any, see the top of this file
    SluiceWriteBytes write; // takes the archive
    void* writeUser;        // the `user` of `write`
    uint32_t copyDepth;     // GSTD: depth in SluiceGstdEncoderInfo
    // GSTD: the tile size of assets without segments, as in SluiceArchiveSegment; 0: 262,144. With
    // smaller ones short lists decode faster, and archives are larger (docs/performance.md).
    uint32_t tileSize;
    // NULL: there is none. It outlives the writer. The archive is the same with it.
    const SluiceTileCache* cache;
    // 1: assets come in the order that their extents are to have, whatever their names. Readers of
    // version 1 refuse the archive unless that is the order of the names.
    uint32_t anyOrder;
} SluiceArchiveWriterInfo;

// Some bytes of an asset and how they are encoded. A segment starts a new tile; a tile that does
// not get smaller is stored. Parameters of other codecs are ignored.
typedef struct SluiceArchiveSegment {
    uint64_t size;     // bytes; a multiple of 4 if anything follows in the asset
    SluiceCodec codec; // of its tiles
    // Bytes of each tile but the last: a multiple of 4, 4 .. 2^20. GDEFLATE: at most 65,536; GSTD:
    // at most 262,144; FLOAT: each tile has about 190 bytes of tables, so 2^20 is best.
    uint32_t tileSize;
    uint32_t level;       // GDEFLATE and GSTD: 1 .. 12
    uint32_t decodeSpeed; // GDEFLATE: as in SluiceGdeflateEncoderInfo
    // 0: no filter; else where the filter that its tiles get is described in the asset's
    // parameters, in bytes + 4 (sluice_filter_encode.h finds segments with filters). Tiles that are
    // stored stay as they are.
    uint32_t filterOffset;
    // FLOAT: SluiceFloatType. A last part that is no whole element is stored.
    uint32_t floatType;
    uint32_t copyDepth; // GSTD: depth in SluiceGstdEncoderInfo
    // 0, or 1: each tile is encoded with and without its filter, and keeps it only if it gets
    // smaller by more than the description. If no tile of an asset keeps one, and its parameters
    // are nothing but filters, they are left out.
    uint32_t filterTrial;
} SluiceArchiveSegment;

// Delivers the matches that are known of the `size` bytes from `position` of the asset on, which
// have just been read, as sluiceEncodeGstdTileWithMatches wants them; matches has room for size of
// them.
typedef SluiceStatus (*SluiceReadMatches)(void* user, uint64_t position, uint32_t size,
                                          SluiceGstdMatch* matches, uint32_t* count);

typedef struct SluiceArchiveAssetInfo {
    // sluiceIsArchiveName says which names are allowed. It is greater, byte by byte, than the name
    // of the asset before (unless anyOrder), and no folder in it is an asset ("a" and "a/b"). With
    // anyOrder, sluiceFinishArchive finds violations and returns ARGUMENT.
    const char* name;
    size_t nameLength; // bytes
    // 0: plain bytes; SLUICE_ASSET_IMAGE, with what sluiceMakeArchiveImageItem makes among the
    // parameters.
    uint32_t type;
    uint64_t size;        // bytes, exactly as many as read delivers; 0 .. 2^48 - 2^16
    SluiceReadBytes read; // delivers its bytes
    void* readUser;       // the `user` of `read` and `readMatches`
    const SluiceArchiveSegment* segments; // in order; their sizes add up to size
    uint32_t segmentCount;                // 0: one segment, with the writer's codec
    uint32_t parameterSize;               // bytes of the parameter block, a multiple of 4; 0: none
    // The block's items (docs/format.md, 4.5), without the length in front. Items that only a newer
    // version knows are written too; readers of this version report VERSION.
    const void* parameters;
    // GSTD; NULL: matches are searched, as they are in filtered tiles.
    SluiceReadMatches readMatches;
} SluiceArchiveAssetInfo;

typedef struct SluiceArchiveStats {
    uint64_t assetCount;  // in the archive
    uint64_t bytesIn;     // sum of the asset sizes
    uint64_t bytesOut;    // the archive
    uint64_t tileCount;   // of all assets
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
    const char* name;       // as in SluiceArchiveAssetInfo
    size_t nameLength;      // bytes
    uint32_t type;          // as in SluiceArchiveAssetInfo
    uint32_t tileSizeLog2;  // 16 .. 20: no tile decodes to more than 1 << tileSizeLog2 bytes
    uint64_t size;          // bytes of the asset
    const void* parameters; // as in SluiceArchiveAssetInfo
    uint32_t parameterSize; // bytes of them
    // 1: some segment had filterTrial and a filter, so that parameters may be left out as there.
    uint32_t filterTrial;
    uint32_t tileCount; // of the asset
    // tileCount records that keep the rules of docs/format.md 4.3; offset and outputOffset are not
    // read.
    const SluiceArchiveTile* tiles;
    // Delivers the storedSize bytes of a tile, in the order of the tiles.
    SluiceStatus (*readTile)(void* user, uint32_t tile, void* bytes, uint32_t storedSize);
    void* readUser; // the `user` of `readTile`
} SluiceEncodedAssetInfo;

// Adds an asset without encoding it. The archive is the one that sluiceAddArchiveAsset made of the
// same asset, byte for byte, when the tiles are those that it made. Stored bytes are not decoded;
// the caller is responsible for the checksums being right. Errors: as sluiceAddArchiveAsset.
SLUICE_API SluiceStatus sluiceAddEncodedArchiveAsset(SluiceArchiveWriter writer,
                                                     const SluiceEncodedAssetInfo* info);

// A small asset that shares tiles with others.
typedef struct SluiceArchivePart {
    const char* name;       // as in SluiceArchiveAssetInfo
    size_t nameLength;      // bytes
    uint32_t type;          // as in SluiceArchiveAssetInfo
    uint32_t parameterSize; // bytes of parameters
    const void* parameters; // as in SluiceArchiveAssetInfo, but without filters of the tiles
    uint64_t size;          // bytes, at least 1
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

// An asset that is made of Zstandard frames. Frames may follow each other, skippable ones among
// them; checksums are checked.
typedef struct SluiceArchiveZstdInfo {
    const char* name;  // as in SluiceArchiveAssetInfo
    size_t nameLength; // bytes
    // All frames, which the caller keeps. Their content is decoded once, or twice if a frame does
    // not say how large it is, and held a block at a time, next to the tiles.
    const void* frames;
    size_t framesSize;  // bytes of all of them
    uint32_t level;     // as in SluiceGstdEncoderInfo; says how thoroughly the tables are chosen
    uint32_t copyDepth; // depth in SluiceGstdEncoderInfo
} SluiceArchiveZstdInfo;
// Adds the frames' content as an asset of codec GSTD, whatever the writer's codec. Matches inside a
// tile are kept; matches from before the tile are searched again. Errors: as sluiceAddArchiveAsset;
// FORMAT (also: more or less content than a frame says), CHECKSUM; UNSUPPORTED (a frame needs a
// dictionary, or a window above 128 MiB, libzstd's default limit).
SLUICE_API SluiceStatus sluiceAddArchiveZstd(SluiceArchiveWriter writer,
                                             const SluiceArchiveZstdInfo* info);

// Writes what is left, the index and, last of all, the header at offset 0. stats may be NULL. Then
// only destroy is left. Errors: ARGUMENT, OUT_OF_MEMORY, whatever a callback returned.
SLUICE_API SluiceStatus sluiceFinishArchive(SluiceArchiveWriter writer, SluiceArchiveStats* stats);

typedef struct SluiceTileStreamWriteInfo {
    uint64_t size;          // bytes to encode, at most 65,535 * 65,536
    uint32_t level;         // 1 .. 12
    uint32_t decodeSpeed;   // as in SluiceGdeflateEncoderInfo
    uint32_t threadCount;   // 0 .. any, see the top of this file
    SluiceReadBytes read;   // gives the bytes
    void* readUser;         // the `user` of `read`
    SluiceWriteBytes write; // takes the stream
    void* writeUser;        // the `user` of `write`
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
