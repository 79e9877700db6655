// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Parses files from disk: the DirectStorage tile stream and the .sluice archive, both specified bit
// by bit in docs/format.md. Part of library `sluice`. The functions work on bytes that the caller
// has read, allocate nothing, keep no pointers, read nothing outside the ranges they are given, and
// need no alignment. All of them are thread-safe.
//
// Every function that parses returns OK, ARGUMENT (a NULL or a contradiction between arguments), or
//   FORMAT       the bytes break a rule of the format
//   CHECKSUM     a checksum of a header or table does not match
//   VERSION      well-formed, but of a newer version, or with a codec, filter or required parameter
//                unknown here
//   BUFFER_SIZE  fewer bytes than the structure has: the file is cut off, or more must be read
//                first
// On failure the output structures are unspecified.
#ifndef SLUICE_FORMATS_H
#define SLUICE_FORMATS_H

#include <sluice/sluice.h>
#include <sluice/sluice_float.h>

#ifdef __cplusplus
extern "C" {
#endif

// -----------------------------------------------------------------------------------------------
// DirectStorage tile stream: an 8-byte header, one u32 per tile, then the GDeflate tiles back to
// back.

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
    uint32_t size;           // bytes after decoding: 65,536, less for the last tile
} SluiceTileStreamTile;

// Parses the header.
//   bytes, size   the start of the stream; 8 bytes are read
// Errors: ARGUMENT, FORMAT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceParseTileStreamHeader(const void* bytes, size_t size,
                                                    SluiceTileStream* stream);

// Parses the table: for every tile its place, checked against the neighbours and the end of the
// stream.
//   table, tableSize   the bytes after the header, 4 * tileCount of them are read
//   streamSize         bytes in the whole stream, header and table included; tiles end there
//                      exactly
//   tiles              receives stream->tileCount entries
// Errors: ARGUMENT, FORMAT (bytes after the last tile too), BUFFER_SIZE (the table, or the stream,
// ends too early).
SLUICE_API SluiceStatus sluiceParseTileStreamTable(const SluiceTileStream* stream,
                                                   const void* table, size_t tableSize,
                                                   uint64_t streamSize,
                                                   SluiceTileStreamTile* tiles);

// -----------------------------------------------------------------------------------------------
// .sluice archive
//
//   header | per asset: tile records, tile data | index: asset table, parameter blocks, names
//
// To read one asset: header, index, then the asset's extent (its tile records and its data lie
// together; small assets may share one), or any part of it. A tile's data starts 16-byte aligned in
// the extent, so an extent can be uploaded as it is.

#define SLUICE_ARCHIVE_HEADER_SIZE 64u
#define SLUICE_ARCHIVE_RECORD_SIZE 24u
#define SLUICE_ARCHIVE_ALIGNMENT 16u
#define SLUICE_ARCHIVE_MAX_ASSETS 1048576u       // 2^20
#define SLUICE_ARCHIVE_MAX_NAME_BYTES 67108864u  // 2^26, all names together
#define SLUICE_ARCHIVE_MAX_BLOCK_BYTES 67108864u // 2^26, all parameter blocks together
#define SLUICE_ARCHIVE_MAX_NAME_LENGTH 4096u
#define SLUICE_ARCHIVE_MIN_TILE_LOG2 16u
#define SLUICE_ARCHIVE_MAX_TILE_LOG2 20u

// Says what the bytes of an asset are, if they are more than plain bytes.
#define SLUICE_ASSET_IMAGE 1u // a KTX2 or DDS file, see sluiceGetArchiveImage (sluice_image.h)

typedef enum SluiceCodec {
    SLUICE_CODEC_STORE = 0,
    SLUICE_CODEC_GDEFLATE = 1,
    SLUICE_CODEC_FLOAT = 2, // see sluiceParseFloatTile
    SLUICE_CODEC_GSTD = 3,
    SLUICE_CODEC_MAX_ENUM = 0x7fffffff
} SluiceCodec;

typedef struct SluiceArchive {
    uint32_t versionMajor;  // 1; 2: extents have an order of their own; 3: assets share tiles
    uint32_t versionMinor;  // 0, or more if a newer version has written it
    uint32_t assetCount;    // at most SLUICE_ARCHIVE_MAX_ASSETS
    uint32_t nameBytes;     // size of the names
    uint32_t blockBytes;    // size of the parameter blocks
    uint32_t indexChecksum; // XXH32 (seed 0) of the index as it is stored
    uint64_t indexOffset;   // bytes from the start of the file
    uint64_t indexSize;     // bytes that the index takes in memory
    uint64_t fileSize;      // bytes
    uint64_t tileCount;     // of all assets
    // Bytes of the index in the file, which it ends: indexSize in versions 1 and 2.
    uint64_t storedIndexSize;
    uint32_t shareCount;     // shares: tiles that several small assets have together
    uint32_t codedIndexSize; // bytes of indexSize that sluiceUnpackArchiveIndex works in
} SluiceArchive;

#define SLUICE_ARCHIVE_NO_SHARE 0xffffffffu

// An asset of its own is all that its tiles decode to. Small assets may share an extent: each is
// size bytes from tilesOffset on of the tilesSize bytes that the share's tiles decode to, in one
// tile or over several. Then offset, extentSize, tileCount, tileSizeLog2 and tileChecksum are the
// share's.
typedef struct SluiceArchiveAsset {
    const char* name;    // UTF-8, not 0-terminated; points into the index
    uint32_t nameLength; // bytes
    // Says what the bytes are: 0 = plain bytes, SLUICE_ASSET_IMAGE, or of a newer version.
    uint32_t type;
    uint64_t size;          // bytes of the asset
    uint64_t offset;        // of the extent, from the start of the file, a multiple of 16
    uint64_t extentSize;    // bytes: tile records, padding, data, padding
    uint32_t tileCount;     // tiles of the extent
    uint32_t tileSizeLog2;  // 16 .. 20: no tile decodes to more than 1 << tileSizeLog2 bytes
    uint32_t tileChecksum;  // XXH32 (seed 0) of the tile records
    const void* parameters; // the parameter block; points into the index; NULL if there is none
    uint32_t parameterSize; // bytes
    uint32_t share;       // its number, 0 .. shareCount - 1; SLUICE_ARCHIVE_NO_SHARE: there is none
    uint64_t tilesOffset; // a multiple of 16; 0 without a share
    uint64_t tilesSize;   // bytes; the same as size without a share
    // The parameters that describe the tiles' filters; without a share the same as parameters.
    const void* tileParameters;
    uint32_t tileParameterSize; // bytes
} SluiceArchiveAsset;

typedef struct SluiceArchiveTile {
    uint64_t offset;       // bytes from the start of the asset's extent, a multiple of 16
    uint64_t outputOffset; // bytes from the start of what the tiles decode to, a multiple of 4
    uint32_t storedSize;   // bytes: size if codec is STORE, less otherwise
    // Bytes after decoding, 1 .. 1 << tileSizeLog2; GDEFLATE at most 65,536, GSTD at most 262,144.
    uint32_t size;
    uint32_t codec;        // SluiceCodec
    uint32_t checksum;     // sluiceTileChecksum of the decoded bytes
    uint32_t filterOffset; // 0: no filter; else the place of its description, see docs/format.md
} SluiceArchiveTile;

// Parses the header.
//   bytes, size   the start of the file; 64 bytes are read
//   fileSize      bytes in the whole file
// Errors: ARGUMENT, FORMAT, CHECKSUM, VERSION, BUFFER_SIZE (the file is shorter than its header
// says).
SLUICE_API SluiceStatus sluiceParseArchiveHeader(const void* bytes, size_t size, uint64_t fileSize,
                                                 SluiceArchive* archive);

// Makes the index from its stored form: archive->storedIndexSize bytes of the file from
// archive->indexOffset on. In versions 1 and 2 the two are the same, and it only copies.
//   index, indexSize   receives archive->indexSize bytes; must not overlap stored
// Errors: ARGUMENT, FORMAT, CHECKSUM, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceUnpackArchiveIndex(const SluiceArchive* archive, const void* stored,
                                                 size_t storedSize, void* index, size_t indexSize);

// Checks the whole index once: its checksum, every asset entry, every name, every parameter block,
// and that assets that share tiles lie in them one behind the other.
//   index, indexSize   archive->indexSize bytes, as sluiceUnpackArchiveIndex made them; in versions
//                      1 and 2 the file's may be given as they are
//   badAsset           may be NULL; on failure the number of the asset at fault, or 0xffffffff if
//                      it is none of them
// Time: bytes of the index * log2(assets). Errors: ARGUMENT, FORMAT, CHECKSUM, VERSION,
// BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCheckArchiveIndex(const SluiceArchive* archive, const void* index,
                                                size_t indexSize, uint32_t* badAsset);

// Reads entry `asset` of an index that sluiceCheckArchiveIndex found OK. name and parameters point
// into index. Errors: ARGUMENT (asset >= assetCount too), BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceGetArchiveAsset(const SluiceArchive* archive, const void* index,
                                              size_t indexSize, uint32_t asset,
                                              SluiceArchiveAsset* info);

// Gives the assets in the order of their extents, for an index that sluiceCheckArchiveIndex found
// OK. This is the order of their names, unless the archive was packed in another one.
//   assets   receives assetCount numbers
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceGetArchiveOrder(const SluiceArchive* archive, const void* index,
                                              size_t indexSize, uint32_t* assets);

// Finds an asset by its name, by binary search in an index that sluiceCheckArchiveIndex found OK.
//   asset   receives its number, or 0xffffffff if there is none (then too the call returns OK)
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceFindArchiveAsset(const SluiceArchive* archive, const void* index,
                                               size_t indexSize, const char* name,
                                               size_t nameLength, uint32_t* asset);

// Reads an asset's tile records, in one piece or in several. The state is plain data in the
// caller's memory.
typedef struct SluiceArchiveTileReader {
    uint32_t next;      // the record that the next call starts with
    uint32_t state[31]; // for the reader only
} SluiceArchiveTileReader;

// Starts with record 0; assets of one share have the same records. The reader keeps
// asset->tileParameters, which descriptions of filters are in: the index stays as it is until the
// last record is parsed. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceBeginArchiveTiles(const SluiceArchiveAsset* asset,
                                                SluiceArchiveTileReader* reader);

// Gives a reader memory to note in which descriptions of filters it has checked. Without it, each
// record whose description differs from its neighbour's has it checked, which may take long in a
// hostile file.
//   memory, size  a byte for each 4 of asset->tileParameters, asset->tileParameterSize / 4, all of
//                 them 0 at first. They stay until the last record is parsed. Assets that share a
//                 block of parameters may share the memory
// Call it before the first sluiceParseArchiveTiles. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceRememberArchiveFilters(SluiceArchiveTileReader* reader, void* memory,
                                                     size_t size);

// Parses the next `count` records, which follow those of the last call.
//   records, size   count * 24 bytes: from offset 24 * reader->next of the asset's extent
//   tiles           receives count entries
// The call that parses the last record also compares the sum of sizes and the checksum, and only
// then are codecs and filters that are unknown here reported (VERSION), so that a damaged record is
// never taken for a new version. A caller that decodes before that call looks at codec and
// filterOffset itself. After a failure reader->next is the number of the record at fault, or of the
// last record where all of them together are. An asset without tiles needs no call. Errors:
// ARGUMENT (more records than the asset has too), FORMAT, CHECKSUM, VERSION, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceParseArchiveTiles(SluiceArchiveTileReader* reader,
                                                const void* records, size_t size, uint32_t count,
                                                SluiceArchiveTile* tiles);

// Reads the head of a tile with codec FLOAT and makes an entry for sluiceCmdFloatDecode of it.
//   bytes        the tile's first 16 bytes; no more are read
//   storedSize   as its record says
//   size         as its record says: bytes after decoding
//   tensor       receives type, count and wordsSize; words, index, lengths and raw count from the
//                tile's first byte, which must lie at a multiple of 16 in memory: the caller adds
//                its address to each of them. output and firstTile are 0. The entry has
//                (count + 8,191) / 8,192 statuses
// All four parts lie inside the storedSize bytes, and count elements are size bytes. Code lengths,
// index and words are not looked at: the decoder bounds every access by this entry and gives a
// status for what is wrong in them. Errors: ARGUMENT, FORMAT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceParseFloatTile(const void* bytes, size_t storedSize, uint32_t size,
                                             SluiceFloatTensor* tensor);

// Says whether an archive may hold this name: 1 to 4,096 bytes of UTF-8; components separated by
// '/', none of them empty, "." or ".."; no control characters, no '\', no drive letter in front.
// Returns 1 or 0. Such a name cannot leave the folder it is appended to, if the folder holds no
// links.
SLUICE_API int sluiceIsArchiveName(const char* name, size_t length);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_FORMATS_H
