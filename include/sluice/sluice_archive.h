// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Writes the .sluice archive and the DirectStorage tile stream; docs/format.md specifies both
// formats. Library: sluice_encode. Callbacks of the caller deliver the input and take the output,
// in pieces. The same assets give the same output bytes for every thread count.
//
// The size of an asset does not influence how much memory is needed. Let T = max(1, threadCount)
// threads, at most 64. Let S be the largest tile size of all segments so far. Let Q = 1 if T = 1,
// else Q = 4 * T. The memory is the sum of
//   Q * 2 * (S + 256)      for tiles
//   Q * (S + 16 KiB)       for filters; with trials Q * (2 * S + 17 KiB)
//   Q * 12 * S             for known matches (readMatches, sluiceAddArchiveZstd)
//   T times one encoder    for each encoder that was used: GDEFLATE 1 to 6 MiB, GSTD up to 11 MiB
//                          (sluice_encode.h), FLOAT 128 KiB
//   96 KiB                 for records
//   41 bytes               per asset, plus its name and its parameters
//   120 bytes              per tile with equalTilesOnce
//
// Threads: `threadCount` is the number of worker threads that a writer may start for encoding. With
// 0 or 1 it starts none and encodes in the calling thread. Workers live as long as the writer. The
// callbacks that deliver input and take output are only called in the calling thread. One thread at
// a time may use a writer.
#ifndef SLUICE_ARCHIVE_H
#define SLUICE_ARCHIVE_H

#include <sluice/sluice_encode.h>
#include <sluice/sluice_formats.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_ENCODE_MAX_THREADS 64u // upper limit of worker threads

// Delivers exactly the next `size` bytes of the input, or returns an error (SLUICE_ERROR_IO if the
// input ends too early).
typedef SluiceStatus (*SluiceReadBytes)(void* user, void* bytes, size_t size);
// Writes `size` bytes at `offset` of the output. Offsets do not always ascend, because headers are
// written last.
typedef SluiceStatus (*SluiceWriteBytes)(void* user, uint64_t offset, const void* bytes,
                                         size_t size);

// Functions of the caller that keep encoded tiles from one run to the next, for example in a
// folder. A tile's key is the BLAKE2b hash (32 bytes) of everything that its encoding depends on:
// its bytes, the segment's parameters, its filter and the version of the encoders. The hash is
// cryptographic, so nobody can construct two tiles with the same key. The result of `find` goes
// into the archive unchecked: the cache is responsible for its contents.
#define SLUICE_TILE_KEY_SIZE 32u
typedef struct SluiceTileCache {
    void* user; // the `user` of the functions
    // Looks up the tile with this key, whose decoded size is `size` bytes. Writes its stored bytes
    // to `bytes`, which has room for `size` bytes, and sets *filtered to 1 if the tile keeps its
    // filter, else to 0. Returns the number of stored bytes (`size` if the tile is stored), or 0 if
    // the cache does not have the tile. Called by worker threads, several at a time.
    uint32_t (*find)(void* user, const uint8_t* key, uint32_t size, void* bytes,
                     uint32_t* filtered);
    // Adds a tile that find did not have; storedSize == size means that it is stored. Called by
    // worker threads, several at a time.
    void (*keep)(void* user, const uint8_t* key, uint32_t size, const void* bytes,
                 uint32_t storedSize, uint32_t filtered);
    // Reports the result for each tile, in the order of the archive; may be NULL. `asset` is the
    // number of the asset or share (assets with common tiles) that the tile belongs to, where
    // assets, shares and parts of shares are numbered from 0 in the order in which they were added.
    // `key` is NULL if the tile was not looked up (codec STORE, known matches, assets that are
    // already encoded). Called in the calling thread.
    void (*wrote)(void* user, uint32_t asset, const SluiceArchiveTile* tile, const uint8_t* key);
} SluiceTileCache;

typedef struct SluiceArchiveWriter_T* SluiceArchiveWriter;

typedef struct SluiceArchiveWriterInfo {
    // The codec of assets without segments. Their tiles have 64 KiB; with GSTD and ZSTD they have
    // tileSize bytes, and with FLOAT 1 MiB and the type FLOAT_BYTES. A tile that does not get
    // smaller is stored.
    SluiceCodec codec;
    uint32_t level;         // GDEFLATE, GSTD and ZSTD: 1 .. 12
    uint32_t decodeSpeed;   // GDEFLATE: as in SluiceGdeflateEncoderInfo
    uint32_t threadCount;   // 0 .. any, see the top of this file
    SluiceWriteBytes write; // takes the archive
    void* writeUser;        // the `user` of `write`
    uint32_t copyDepth;     // GSTD: depth in SluiceGstdEncoderInfo
    // GSTD and ZSTD: the tile size of assets without segments, as in SluiceArchiveSegment; 0:
    // 262,144. Smaller tiles make short lists decode faster and archives larger
    // (docs/performance.md).
    uint32_t tileSize;
    // 1: Assets are stored in the order in which they are added, whatever their names. Readers of
    // version 1 refuse the archive unless that is also the order of the names.
    const SluiceTileCache* cache;
    // 1: The order in which assets are added is the order of their extents, whatever their names.
    // Readers of version 1 refuse the archive unless that is also the order of the names.
    uint32_t anyOrder;
    // 1: Tiles whose stored bytes are equal and at least SLUICE_ARCHIVE_LEAST_EQUAL bytes are
    // stored once. If there are any, readers of versions 1 to 3 and readers that do not call
    // sluiceTakeEqualArchiveTiles refuse the archive. If there are none, the archive is the same as
    // with 0.
    uint32_t equalTilesOnce;
} SluiceArchiveWriterInfo;

// A range of an asset's bytes and how it is encoded. A segment starts a new tile. A tile that does
// not get smaller is stored. Parameters that belong to other codecs are ignored.
typedef struct SluiceArchiveSegment {
    uint64_t size;     // bytes; a multiple of 4 if anything follows in the asset
    SluiceCodec codec; // codec of the segment's tiles
    // Bytes of each tile but the last: a multiple of 4, 4 .. 2^20. GDEFLATE: at most 65,536. GSTD
    // and ZSTD: at most 262,144. FLOAT: each tile has about 190 bytes of tables, so 2^20 is best.
    uint32_t tileSize;
    uint32_t level;       // GDEFLATE, GSTD and ZSTD: 1 .. 12
    uint32_t decodeSpeed; // GDEFLATE: as in SluiceGdeflateEncoderInfo
    // 0: no filter. Otherwise 4 plus the byte offset, in the asset's parameters, of the item with
    // the filter's description (sluice_filter_encode.h finds segments with filters). Tiles that are
    // stored are not filtered.
    uint32_t filterOffset;
    // FLOAT: SluiceFloatType. A remainder at the end that is smaller than an element is stored.
    uint32_t floatType;
    uint32_t copyDepth; // GSTD: depth in SluiceGstdEncoderInfo
    // 0 or 1. With 1 each tile is encoded with and without its filter, and keeps the filter only if
    // that saves more than the size of the description. If no tile of an asset keeps a filter, and
    // the asset's parameters are nothing but filters, the parameters are left out.
    uint32_t filterTrial;
} SluiceArchiveSegment;

// Delivers the known matches of the `size` bytes that start at `position` of the asset and that
// have just been read, in the form that sluiceEncodeGstdTileWithMatches takes. matches has room for
// `size` entries; *count receives their number.
typedef SluiceStatus (*SluiceReadMatches)(void* user, uint64_t position, uint32_t size,
                                          SluiceGstdMatch* matches, uint32_t* count);

typedef struct SluiceArchiveAssetInfo {
    // sluiceIsArchiveName says which names are allowed. Unless anyOrder is set, the name must be
    // greater, byte by byte, than that of the asset added before. No folder in the name may be an
    // asset ("a" and "a/b"). With anyOrder, sluiceFinishArchive finds violations and returns
    // ARGUMENT.
    const char* name;
    size_t nameLength; // bytes
    // 0: plain bytes. SLUICE_ASSET_IMAGE: an image, whose parameters include the item that
    // sluiceMakeArchiveImageItem makes.
    uint32_t type;
    uint64_t size;        // bytes, exactly as many as read delivers; 0 .. 2^48 - 2^16
    SluiceReadBytes read; // delivers its bytes
    void* readUser;       // the `user` of `read` and `readMatches`
    const SluiceArchiveSegment* segments; // in order; their sizes add up to size
    uint32_t segmentCount;                // 0: one segment, with the writer's codec
    uint32_t parameterSize;               // bytes of the parameter block, a multiple of 4; 0: none
    // The items of the asset's parameter block (docs/format.md, 4.5), without the length that
    // stands before them in the file. Items that only a newer version knows are written too;
    // readers of this version then report VERSION.
    const void* parameters;
    // GSTD: delivers known matches. NULL: the encoder searches for matches, as it always does in
    // filtered tiles.
    SluiceReadMatches readMatches;
} SluiceArchiveAssetInfo;

// Equal tiles with fewer stored bytes than this are stored again each time. A tile that is stored
// elsewhere costs its reader an additional read, which is not worth it for a small tile.
#define SLUICE_ARCHIVE_LEAST_EQUAL 1024u

typedef struct SluiceArchiveStats {
    uint64_t assetCount;  // assets in the archive
    uint64_t bytesIn;     // sum of the asset sizes
    uint64_t bytesOut;    // size of the archive
    uint64_t tileCount;   // tiles of all assets
    uint64_t storedTiles; // tiles with codec STORE
    uint64_t equalTiles;  // tiles that use the stored bytes of an earlier, equal tile
    uint64_t equalBytes;  // stored bytes of these tiles
} SluiceArchiveStats;

// Creates a writer; destroy it with sluiceDestroyArchiveWriter, finished or not.
// Errors: ARGUMENT, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateArchiveWriter(const SluiceArchiveWriterInfo* info,
                                                  SluiceArchiveWriter* writer);
SLUICE_API void sluiceDestroyArchiveWriter(SluiceArchiveWriter writer); // NULL is allowed

// Adds an asset. The call reads all of the asset's bytes before it returns, but writes some of them
// later. name, segments and parameters need not outlive the call. Errors: ARGUMENT (name, order of
// names, size, segments, parameters, or more than an archive holds), OUT_OF_MEMORY, any error that
// a callback returned. An asset refused with ARGUMENT leaves the writer as it was before the call.
// After a callback's error every later call returns that error.
SLUICE_API SluiceStatus sluiceAddArchiveAsset(SluiceArchiveWriter writer,
                                              const SluiceArchiveAssetInfo* info);

// An asset whose tiles are already encoded; they come from another archive or from a cache.
typedef struct SluiceEncodedAssetInfo {
    const char* name;       // as in SluiceArchiveAssetInfo
    size_t nameLength;      // bytes
    uint32_t type;          // as in SluiceArchiveAssetInfo
    uint32_t tileSizeLog2;  // 16 .. 20: no tile decodes to more than 1 << tileSizeLog2 bytes
    uint64_t size;          // bytes of the asset
    const void* parameters; // as in SluiceArchiveAssetInfo
    uint32_t parameterSize; // bytes of parameters
    // 1: Some segment had filterTrial and a filter, so the parameters may be left out, as
    // SluiceArchiveSegment::filterTrial describes.
    uint32_t filterTrial;
    uint32_t tileCount; // tiles of the asset
    // tileCount records that follow the rules of docs/format.md 4.3; offset and outputOffset are
    // not read.
    const SluiceArchiveTile* tiles;
    // Delivers the storedSize bytes of a tile, in the order of the tiles.
    SluiceStatus (*readTile)(void* user, uint32_t tile, void* bytes, uint32_t storedSize);
    void* readUser; // the `user` of `readTile`
} SluiceEncodedAssetInfo;

// Adds an asset without encoding it. If the tiles are those that sluiceAddArchiveAsset made of the
// same asset, the archive is the same, byte for byte. Stored bytes are not decoded, so the caller
// is responsible for correct checksums. Errors: as sluiceAddArchiveAsset.
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

// Adds assets that share tiles. The writer must have anyOrder; readers of versions 1 and 2 refuse
// the archive.
//   parts, partCount  1 or more parts, in the order of their names. The end of each part is rounded
//                     up to a multiple of 16, where the next part begins; the bytes between parts
//                     are zeros
//   info              describes the decoded content of the tiles as if it were one asset: size is
//                     the end of the last part, and read also delivers the zeros. name and type are
//                     not read, and parameters describe only filters
// Errors: as sluiceAddArchiveAsset.
SLUICE_API SluiceStatus sluiceAddArchiveShare(SluiceArchiveWriter writer,
                                              const SluiceArchivePart* parts, uint32_t partCount,
                                              const SluiceArchiveAssetInfo* info);
SLUICE_API SluiceStatus sluiceAddEncodedArchiveShare(SluiceArchiveWriter writer,
                                                     const SluiceArchivePart* parts,
                                                     uint32_t partCount,
                                                     const SluiceEncodedAssetInfo* info);

// An asset that consists of one or more Zstandard frames, including skippable ones. The frames'
// checksums are checked.
typedef struct SluiceArchiveZstdInfo {
    const char* name;  // as in SluiceArchiveAssetInfo
    size_t nameLength; // bytes
    // All frames. The caller keeps them during the call. Their content is decoded once, or twice if
    // a frame does not state its content size. Besides the tiles, the writer holds only one block
    // of the decoded content at a time.
    const void* frames;
    size_t framesSize;  // bytes of all frames
    uint32_t level;     // as in SluiceGstdEncoderInfo: how thoroughly the tables are chosen
    uint32_t copyDepth; // depth in SluiceGstdEncoderInfo
} SluiceArchiveZstdInfo;
// Adds the frames' content as an asset of codec GSTD, whatever the writer's codec. Matches whose
// source lies in the same tile are kept. For other matches the encoder searches again. Errors: as
// sluiceAddArchiveAsset; FORMAT (also if the content is longer or shorter than a frame says),
// CHECKSUM; UNSUPPORTED (a frame needs a dictionary, or a window above 128 MiB).
SLUICE_API SluiceStatus sluiceAddArchiveZstd(SluiceArchiveWriter writer,
                                             const SluiceArchiveZstdInfo* info);

// Writes what is left, then the index and, last of all, the header at offset 0. stats may be NULL.
// After this call the writer may only be destroyed. Errors: ARGUMENT, OUT_OF_MEMORY, any error that
// a callback returned.
SLUICE_API SluiceStatus sluiceFinishArchive(SluiceArchiveWriter writer, SluiceArchiveStats* stats);

typedef struct SluiceTileStreamWriteInfo {
    uint64_t size;          // bytes to encode, at most 65,535 * 65,536
    uint32_t level;         // 1 .. 12
    uint32_t decodeSpeed;   // as in SluiceGdeflateEncoderInfo
    uint32_t threadCount;   // 0 .. any, see the top of this file
    SluiceReadBytes read;   // delivers the bytes
    void* readUser;         // the `user` of `read`
    SluiceWriteBytes write; // takes the stream
    void* writeUser;        // the `user` of `write`
} SluiceTileStreamWriteInfo;

// Encodes `size` bytes as a DirectStorage tile stream. streamSize receives the stream's size and
// may be NULL. Errors: ARGUMENT, OUT_OF_MEMORY, UNSUPPORTED (the stream would exceed its 32-bit
// offsets), any error that a callback returned.
SLUICE_API SluiceStatus sluiceWriteTileStream(const SluiceTileStreamWriteInfo* info,
                                              uint64_t* streamSize);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_ARCHIVE_H
