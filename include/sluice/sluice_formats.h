// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Parses files: the DirectStorage tile stream and the .sluice archive. docs/format.md specifies
// both bit by bit. Part of library `sluice`. The functions work on bytes that the caller has read.
// They allocate nothing, keep no pointers, read nothing outside the ranges that they are given, and
// need no alignment. All of them are thread-safe.
//
// Every function that parses returns OK, ARGUMENT (a NULL or a contradiction between arguments), or
//   FORMAT       the bytes break a rule of the format
//   CHECKSUM     a checksum of a header or table does not match
//   VERSION      well-formed, but of a newer version, or with an unknown codec, filter or required
//                parameter
//   BUFFER_SIZE  there are fewer bytes than the structure needs: the file is cut off, or the caller
//                must read more first
// After a failure the output structures are unspecified.
#ifndef SLUICE_FORMATS_H
#define SLUICE_FORMATS_H

#include <sluice/sluice.h>
#include <sluice/sluice_float.h>

#ifdef __cplusplus
extern "C" {
#endif

// -----------------------------------------------------------------------------------------------
// DirectStorage tile stream: an 8-byte header, one u32 per tile, then the GDeflate tiles,
// contiguous.

#define SLUICE_TILE_STREAM_HEADER_SIZE 8u
#define SLUICE_TILE_STREAM_MAX_TILES 65535u

typedef struct SluiceTileStream {
    uint32_t tileCount;  // 0 .. 65,535
    uint64_t size;       // bytes after decoding
    uint64_t dataOffset; // bytes from the start of the stream to tile 0: 8 + 4 * tileCount
} SluiceTileStream;

typedef struct SluiceTileStreamTile {
    uint64_t offset;         // bytes from the start of the stream, a multiple of 4
    uint32_t compressedSize; // 1 .. 131,072
    uint32_t size;           // bytes after decoding: 65,536; the last tile may have fewer
} SluiceTileStreamTile;

// Parses the header. Its identifier may be any byte followed by its complement; a reader that
// recognises files by their first bytes should ask for 04 FB, as the tool does.
//   bytes, size   the start of the stream; 8 bytes are read
// Errors: ARGUMENT, FORMAT, BUFFER_SIZE, VERSION (the tile size index is not 1).
SLUICE_API SluiceStatus sluiceParseTileStreamHeader(const void* bytes, size_t size,
                                                    SluiceTileStream* stream);

// Parses the table and returns the location of every tile, checked against its neighbours and the
// end of the stream.
//   table, tableSize   the bytes after the header, of which 4 * tileCount are read
//   streamSize         bytes in the whole stream, including header and table; the last tile must
//                      end exactly there
//   tiles              receives stream->tileCount entries
// Errors: ARGUMENT, FORMAT (also if bytes follow the last tile), BUFFER_SIZE (the table or the
// stream ends too early).
SLUICE_API SluiceStatus sluiceParseTileStreamTable(const SluiceTileStream* stream,
                                                   const void* table, size_t tableSize,
                                                   uint64_t streamSize,
                                                   SluiceTileStreamTile* tiles);

// -----------------------------------------------------------------------------------------------
// .sluice archive
//
//   header | per asset: tile records, tile data | index: asset table, parameter blocks, names
//
// To read one asset, read the header, the index, and then the asset's extent or any part of it. The
// extent holds the asset's tile records and data contiguously; small assets may share an extent,
// and tiles that are equal to earlier ones may be left out (sluiceTakeEqualArchiveTiles).
// The data of each tile are 16-byte aligned within the extent, so an extent can be uploaded
// unchanged.

#define SLUICE_ARCHIVE_HEADER_SIZE 64u
#define SLUICE_ARCHIVE_RECORD_SIZE 24u
#define SLUICE_ARCHIVE_ALIGNMENT 16u
#define SLUICE_ARCHIVE_MAX_ASSETS 1048576u       // 2^20
#define SLUICE_ARCHIVE_MAX_NAME_BYTES 67108864u  // 2^26, for all names together
#define SLUICE_ARCHIVE_MAX_BLOCK_BYTES 67108864u // 2^26, for all parameter blocks together
#define SLUICE_ARCHIVE_MAX_NAME_LENGTH 4096u
#define SLUICE_ARCHIVE_MIN_TILE_LOG2 16u
#define SLUICE_ARCHIVE_MAX_TILE_LOG2 20u

// Type of an asset whose bytes are more than plain bytes.
#define SLUICE_ASSET_IMAGE 1u // a KTX2 or DDS file, see sluiceGetArchiveImage (sluice_image.h)

typedef enum SluiceCodec {
    SLUICE_CODEC_STORE = 0,
    SLUICE_CODEC_GDEFLATE = 1,
    SLUICE_CODEC_FLOAT = 2, // see sluiceParseFloatTile
    SLUICE_CODEC_GSTD = 3,
    SLUICE_CODEC_ZSTD = 4, // one or more Zstandard frames
    SLUICE_CODEC_MAX_ENUM = 0x7fffffff
} SluiceCodec;

typedef struct SluiceArchive {
    // 1: basic; 2: extents have their own order; 3: assets share tiles; 4: equal tiles are stored
    // once.
    uint32_t versionMajor;
    uint32_t versionMinor;  // 0; more if a newer version has written the file
    uint32_t assetCount;    // at most SLUICE_ARCHIVE_MAX_ASSETS
    uint32_t nameBytes;     // bytes of all names
    uint32_t blockBytes;    // bytes of all parameter blocks
    uint32_t indexChecksum; // XXH32 (seed 0) of the index as it is stored
    uint64_t indexOffset;   // bytes from the start of the file
    uint64_t indexSize;     // bytes of the index in memory
    uint64_t fileSize;      // bytes
    uint64_t tileCount;     // tiles of all assets
    // Bytes of the index as it is stored, at the end of the file; equal to indexSize in versions 1
    // and 2.
    uint64_t storedIndexSize;
    uint32_t shareCount;     // number of shares: extents whose tiles hold several small assets
    uint32_t codedIndexSize; // bytes of a form in between, for sluiceUnpackArchiveIndex only
} SluiceArchive;

#define SLUICE_ARCHIVE_NO_SHARE 0xffffffffu

// An asset normally has an extent of its own and consists of all bytes that its tiles decode to.
// Small assets may share an extent, which is then called a share. The tiles of a share decode to
// tilesSize bytes, and the asset is the `size` bytes at tilesOffset of these, in one tile or
// several. offset, extentSize, tileCount, tileSizeLog2 and tileChecksum then describe the share.
typedef struct SluiceArchiveAsset {
    const char* name;    // UTF-8, not 0-terminated; points into the index
    uint32_t nameLength; // bytes
    // Kind of the bytes: 0 for plain bytes, SLUICE_ASSET_IMAGE, or a type of a newer version.
    uint32_t type;
    uint64_t size;          // bytes of the asset
    uint64_t offset;        // offset of the extent from the start of the file, a multiple of 16
    uint64_t extentSize;    // bytes: tile records, padding, data, padding
    uint32_t tileCount;     // tiles of the extent
    uint32_t tileSizeLog2;  // 16 .. 20: no tile decodes to more than 1 << tileSizeLog2 bytes
    uint32_t tileChecksum;  // XXH32 (seed 0) of the tile records
    const void* parameters; // the parameter block; points into the index; NULL if there is none
    uint32_t parameterSize; // bytes
    uint32_t share;         // the share's index, 0 .. shareCount - 1; SLUICE_ARCHIVE_NO_SHARE: none
    uint64_t tilesOffset;   // a multiple of 16; 0 if there is no share
    uint64_t tilesSize;     // bytes; equal to size if there is no share
    // The parameters that describe the tiles' filters; equal to parameters if there is no share.
    const void* tileParameters;
    uint32_t tileParameterSize; // bytes
    // 1: Equal tiles of the archive may be stored once, see sluiceTakeEqualArchiveTiles.
    uint32_t hasEqualTiles;
} SluiceArchiveAsset;

typedef struct SluiceArchiveTile {
    // Bytes from the start of the asset's extent, a multiple of 16. The tile lies in the extent,
    // unless sluiceTakeEqualArchiveTiles was called.
    uint64_t offset;
    uint64_t outputOffset; // offset among all bytes that the tiles decode to, a multiple of 4
    uint32_t storedSize;   // bytes: size if codec is STORE, less otherwise
    // Bytes after decoding, 1 .. 1 << tileSizeLog2; GDEFLATE at most 65,536, GSTD and ZSTD at most
    // 262,144.
    uint32_t size;
    uint32_t codec;        // SluiceCodec
    uint32_t checksum;     // sluiceTileChecksum of the decoded bytes
    uint32_t filterOffset; // 0: no filter; else the location of its description, see docs/format.md
} SluiceArchiveTile;

// Parses the header.
//   bytes, size   the start of the file; 64 bytes are read
//   fileSize      bytes in the whole file
// Errors: ARGUMENT, FORMAT, CHECKSUM, VERSION, BUFFER_SIZE (the file is shorter than its header
// says).
SLUICE_API SluiceStatus sluiceParseArchiveHeader(const void* bytes, size_t size, uint64_t fileSize,
                                                 SluiceArchive* archive);

// Unpacks the index from its stored form, which is the archive->storedIndexSize bytes at
// archive->indexOffset of the file. In versions 1 and 2 the two forms are equal, and the call only
// copies.
//   index, indexSize   receives archive->indexSize bytes; must not overlap stored
// Errors: ARGUMENT, FORMAT, CHECKSUM, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceUnpackArchiveIndex(const SluiceArchive* archive, const void* stored,
                                                 size_t storedSize, void* index, size_t indexSize);

// Checks the whole index once: its checksum, every asset entry, every name and every parameter
// block, and that assets that share tiles follow each other in the share.
//   index, indexSize   archive->indexSize bytes from sluiceUnpackArchiveIndex; in versions 1 and 2
//                      the bytes of the file may be passed unchanged
//   badAsset           may be NULL; after a failure the index of the asset at fault, or 0xffffffff
//                      if no single asset is at fault
// The time is proportional to bytes of the index * log2(assets). Errors: ARGUMENT, FORMAT,
// CHECKSUM, VERSION, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCheckArchiveIndex(const SluiceArchive* archive, const void* index,
                                                size_t indexSize, uint32_t* badAsset);

// Reads entry `asset` of an index that sluiceCheckArchiveIndex found OK. name and parameters point
// into index. Errors: ARGUMENT (also if asset >= assetCount), BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceGetArchiveAsset(const SluiceArchive* archive, const void* index,
                                              size_t indexSize, uint32_t asset,
                                              SluiceArchiveAsset* info);

// Lists the assets in the order of their extents, for an index that sluiceCheckArchiveIndex found
// OK. This is the order of their names, unless the archive was packed in another order.
//   assets   receives assetCount asset indices
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceGetArchiveOrder(const SluiceArchive* archive, const void* index,
                                              size_t indexSize, uint32_t* assets);

// Finds an asset by its name, by binary search in an index that sluiceCheckArchiveIndex found OK.
//   asset   receives the asset's index, or 0xffffffff if there is none; the call returns OK in both
//           cases
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceFindArchiveAsset(const SluiceArchive* archive, const void* index,
                                               size_t indexSize, const char* name,
                                               size_t nameLength, uint32_t* asset);

// Reads an asset's tile records, in one call or in several. The state is plain data in the caller's
// memory.
typedef struct SluiceArchiveTileReader {
    uint32_t next;      // index of the record that the next call starts with
    uint32_t state[37]; // for the reader only
} SluiceArchiveTileReader;

// Starts at record 0; assets of one share have the same records. The reader keeps the pointer
// asset->tileParameters, where the descriptions of filters are, so the index must stay valid and
// unchanged until the last record is parsed. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceBeginArchiveTiles(const SluiceArchiveAsset* asset,
                                                SluiceArchiveTileReader* reader);

// Allows tiles whose stored bytes lie elsewhere. Archives of version 4 store equal tiles once. The
// bytes of a tile that is equal to an earlier one lie in an earlier extent, or earlier in the
// asset's own extent: at asset->offset + tile.offset of the file, modulo 2^64. They always lie
// between the header and the end of the asset's extent. By this call the caller promises to read
// each tile at that offset. Without the call every tile lies in the asset's extent, and records
// that say otherwise are reported as UNSUPPORTED. Call it before the first sluiceParseArchiveTiles.
// Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceTakeEqualArchiveTiles(SluiceArchiveTileReader* reader);

// Gives a reader memory in which it notes which descriptions of filters it has checked. Without
// this memory the reader checks a record's description unless the record before it has the same
// one. That takes long in a hostile file whose records alternate between large descriptions.
//   memory, size  one byte per 4 bytes of asset->tileParameters: asset->tileParameterSize / 4
//                 bytes, all 0 at first. They must stay valid until the last record is parsed.
//                 Assets that share a parameter block may share the memory
// Call it before the first sluiceParseArchiveTiles. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceRememberArchiveFilters(SluiceArchiveTileReader* reader, void* memory,
                                                     size_t size);

// Parses the next `count` records, which follow those of the previous call.
//   records, size   count * 24 bytes, which start at offset 24 * reader->next of the asset's extent
//   tiles           receives count entries
// The call that parses the last record also checks the sum of sizes and the checksum. Only that
// call reports unknown codecs and filters (VERSION), so that a damaged record is never taken for a
// newer version. A caller that decodes tiles before that call must check codec and filterOffset
// itself. After a failure reader->next is the index of the record at fault, or of the last record
// if the fault is in all of them together. An asset without tiles needs no call. Errors: ARGUMENT
// (also if the asset has fewer records), FORMAT, CHECKSUM, VERSION, BUFFER_SIZE, UNSUPPORTED (see
// sluiceTakeEqualArchiveTiles).
SLUICE_API SluiceStatus sluiceParseArchiveTiles(SluiceArchiveTileReader* reader,
                                                const void* records, size_t size, uint32_t count,
                                                SluiceArchiveTile* tiles);

// Reads the head of a tile with codec FLOAT and makes an entry for sluiceCmdFloatDecode from it.
//   bytes        the tile's first 16 bytes; no more are read
//   storedSize   from the tile's record
//   size         from the tile's record: bytes after decoding
//   tensor       receives type, count and wordsSize. words, index, lengths and raw are offsets from
//                the tile's first byte; the caller must add that byte's address, a multiple of 16,
//                to each of them. output and firstTile are 0. The entry has (count + 8,191) / 8,192
//                statuses
// All four parts are inside the storedSize bytes, and count elements have size bytes. The function
// does not check code lengths, index and words: the decoder bounds every access by this entry and
// reports what is wrong in them with a status. Errors: ARGUMENT, FORMAT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceParseFloatTile(const void* bytes, size_t storedSize, uint32_t size,
                                             SluiceFloatTensor* tensor);

// Returns 1 if an archive may hold this name, else 0. A name has 1 to 4,096 bytes of UTF-8. Its
// components are separated by '/', and none of them is empty, "." or "..". It has no control
// characters, no '\' and no drive letter at the start. Such a name, appended to a folder without
// links, cannot leave that folder.
SLUICE_API int sluiceIsArchiveName(const char* name, size_t length);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_FORMATS_H
