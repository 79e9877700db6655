// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Encoders. They run on the CPU in the calling thread and need no device; library: sluice_encode.
#ifndef SLUICE_ENCODE_H
#define SLUICE_ENCODE_H

#include <sluice/sluice.h>
#include <sluice/sluice_float.h>

#ifdef __cplusplus
extern "C" {
#endif

// -----------------------------------------------------------------------------------------------
// GDeflate

// Holds the working memory of one encoder: 1 MiB below level 8, 6 MiB from level 8. One thread at a
// time may use an encoder; different threads need different encoders.
typedef struct SluiceGdeflateEncoder_T* SluiceGdeflateEncoder;

#define SLUICE_GDEFLATE_MAX_DECODE_SPEED 6u

// Says how an encoder works.
typedef struct SluiceGdeflateEncoderInfo {
    // 1 (fastest) .. 12 (smallest). Levels 1 to 4 take the longest match that they find at each
    // byte. Levels 5 and 6 take a match that begins one byte later if it is better. Level 7 looks
    // up to one and up to two bytes ahead, and keeps the smaller result. Levels 8 to 12 search for
    // the cheapest encoding of the tile; higher levels try more matches in more passes.
    uint32_t level;
    // 0 (smallest) .. SLUICE_GDEFLATE_MAX_DECODE_SPEED (fastest to decode): how many more bytes the
    // encoder may use to save work in the decoder. From 1 on, no code of a dynamic block is longer
    // than 10 bits (literals and lengths) or 8 bits (distances). So a decoder with tables of 2^10
    // and 2^8 entries finds every symbol in one look-up. Higher values give fewer blocks and, at
    // level 8 and above, fewer symbols and fewer matches whose source is less than 128 bytes back,
    // in particular fewer that overlap their source. Every value gives standard GDeflate 1.0.
    // docs/performance.md shows size and speed for each value.
    uint32_t decodeSpeed;
} SluiceGdeflateEncoderInfo;

// Creates an encoder; destroy it with sluiceDestroyGdeflateEncoder.
// Errors: ARGUMENT, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateGdeflateEncoder(const SluiceGdeflateEncoderInfo* info,
                                                    SluiceGdeflateEncoder* encoder);

// Destroys an encoder; NULL is allowed.
SLUICE_API void sluiceDestroyGdeflateEncoder(SluiceGdeflateEncoder encoder);

// Returns an upper bound for the encoded size of a tile of `size` bytes at any level: the size of
// stored blocks, which the encoder falls back to. It is a multiple of 4; 65,672 for a full tile.
// size: 1 .. 65,536; any other value returns 0. Thread-safe.
SLUICE_API size_t sluiceGdeflateTileBound(size_t size);

// Encodes one tile as a GDeflate 1.0 stream.
//   bytes     size bytes, any alignment
//   size      1 .. 65,536
//   out       capacity bytes, any alignment; sluiceGdeflateTileBound(size) bytes are always enough
//   outSize   receives the number of bytes written, a multiple of 4: exactly the words that a
//             decoder's refills read
// The result depends only on the bytes, level and decodeSpeed, not on earlier tiles or the machine.
// Errors: ARGUMENT, BUFFER_SIZE (out is too small; nothing was written).
SLUICE_API SluiceStatus sluiceEncodeGdeflateTile(SluiceGdeflateEncoder encoder, const void* bytes,
                                                 size_t size, void* out, size_t capacity,
                                                 size_t* outSize);

// -----------------------------------------------------------------------------------------------
// Float codec. Encoding takes three steps, so that tiles can be encoded in parallel and tensors
// larger than memory in pieces.

// Adds the symbols of `count` elements to histogram[256]. A symbol is the coded part of an element,
// usually its exponent. type: SluiceFloatType. Thread-safe for different histograms. Errors:
// ARGUMENT.
SLUICE_API SluiceStatus sluiceFloatCountSymbols(uint32_t type, const void* elements, uint64_t count,
                                                uint64_t histogram[256]);

// Computes the code lengths for a histogram. The code is the best one whose longest code has at
// most 12 bits (package-merge; Larmore, Hirschberg: A Fast Algorithm for Optimal Length-Limited
// Huffman Codes, JACM 1990). The lengths are packed as in a SluiceFloatTensor. All symbols that
// occur in the tensor must be in the histogram. Errors: ARGUMENT (the histogram is empty).
SLUICE_API SluiceStatus sluiceFloatCodeLengths(const uint64_t histogram[256],
                                               uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE]);

// Encodes one tile into words of 4 bytes. Their number is even, because SluiceFloatTensor::index
// gives the place of each tile's words in units of 8 bytes.
//   elements   the tile's first element
//   count      1 .. 8,192; only the last tile of a tensor may have fewer than 8,192
//   words      capacity * 4 bytes; SLUICE_FLOAT_TILE_BOUND words are always enough
//   wordCount  receives the number of words written
// Thread-safe. Errors: ARGUMENT (also if a symbol has no code), BUFFER_SIZE.
#define SLUICE_FLOAT_TILE_BOUND 3200
SLUICE_API SluiceStatus sluiceFloatEncodeTile(uint32_t type,
                                              const uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE],
                                              const void* elements, uint32_t count, uint32_t* words,
                                              uint32_t capacity, uint32_t* wordCount);

// Writes the signs and mantissas of elements [first, first + count) of a tensor of `total` elements
// to their place in raw, which has sluiceFloatRawSize(type, total) bytes. first and count must be
// multiples of 8, or first + count must be total. Thread-safe for different ranges. Errors:
// ARGUMENT.
SLUICE_API SluiceStatus sluiceFloatPackRaw(uint32_t type, uint64_t total, const void* elements,
                                           uint64_t first, uint64_t count, void* raw);

// -----------------------------------------------------------------------------------------------
// Gstd

#define SLUICE_GSTD_MAX_LEVEL 12u
#define SLUICE_ZSTD_MAX_LEVEL 12u // of tiles with codec ZSTD (sluice_archive.h)
#define SLUICE_GSTD_MAX_DEPTH 8u

// Holds the working memory of one encoder: up to 9 MiB, above level 9 up to 11 MiB. One thread at a
// time may use an encoder; different threads need different encoders.
typedef struct SluiceGstdEncoder_T* SluiceGstdEncoder;

// Says how an encoder works.
typedef struct SluiceGstdEncoderInfo {
    uint32_t level; // 1 (fastest) .. 12 (smallest)
    // 1 .. SLUICE_GSTD_MAX_DEPTH: the longest chain of copies inside 512 bytes of output in which
    // each copy reads the result of the one before; 0: 4, the default. A decoder that makes 512
    // bytes at once must resolve such a chain step by step.
    uint32_t depth;
} SluiceGstdEncoderInfo;

// Creates an encoder; destroy it with sluiceDestroyGstdEncoder.
// Errors: ARGUMENT, OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceCreateGstdEncoder(const SluiceGstdEncoderInfo* info,
                                                SluiceGstdEncoder* encoder);
SLUICE_API void sluiceDestroyGstdEncoder(SluiceGstdEncoder encoder); // NULL is allowed

// Returns an upper bound for the encoded size of a tile of `size` bytes at any level: size rounded
// up to an even number, plus 4 bytes, plus 6 per started 512 bytes. The two additions are at most
// 100 bytes together. size: 1 .. 262,144; any other value returns 0. Thread-safe.
SLUICE_API size_t sluiceGstdTileBound(size_t size);

// Encodes one tile as a Gstd stream, docs/format.md section 7.
//   bytes     size bytes, any alignment
//   size      1 .. 262,144
//   out       capacity bytes, any alignment; sluiceGstdTileBound(size) bytes are always enough
//   outSize   receives the number of bytes written, which is even
// The result depends only on the bytes, level, depth and the version of libzstd, not on earlier
// tiles or the machine. Errors: ARGUMENT, BUFFER_SIZE (out is too small; nothing was written),
// OUT_OF_MEMORY.
SLUICE_API SluiceStatus sluiceEncodeGstdTile(SluiceGstdEncoder encoder, const void* bytes,
                                             size_t size, void* out, size_t capacity,
                                             size_t* outSize);

typedef struct SluiceGstdMatch {
    uint32_t position; // offset of the match's first byte in the tile
    uint32_t length;   // bytes; they equal the bytes that lie `offset` bytes earlier
    // Distance in bytes from the source to the match. If it is more than position, the source is
    // before the tile, and the encoder searches for another match.
    uint32_t offset;
} SluiceGstdMatch;

// Encodes a tile like sluiceEncodeGstdTile, but with known matches, for example those of another
// codec's stream. The encoder makes only a quick search, for the bytes that no known match covers.
//   matches      matchCount entries in order, which neither overlap each other nor pass the end
// Errors: as sluiceEncodeGstdTile; ARGUMENT also if matches break a rule, or their bytes are not
// equal.
SLUICE_API SluiceStatus sluiceEncodeGstdTileWithMatches(SluiceGstdEncoder encoder,
                                                        const void* bytes, size_t size,
                                                        const SluiceGstdMatch* matches,
                                                        uint32_t matchCount, void* out,
                                                        size_t capacity, size_t* outSize);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_ENCODE_H
