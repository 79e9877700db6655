// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The float codec packs weights of models, and bytes that LZ does not help, by Huffman codes. The
// exponent of a floating-point number is coded; sign and mantissa, which are close to random, are
// stored as they are (but see F8_E4M3_DENSE). Every value comes back bit for bit: Inf, NaN and
// subnormals too. docs/format.md, section 6, describes the format.
#ifndef SLUICE_FLOAT_H
#define SLUICE_FLOAT_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SluiceFloatType {
    SLUICE_FLOAT_BF16 = 0,
    SLUICE_FLOAT_F16 = 1,
    SLUICE_FLOAT_F32 = 2,
    SLUICE_FLOAT_F8_E4M3 = 3,
    SLUICE_FLOAT_F8_E5M2 = 4,
    SLUICE_FLOAT_BYTES = 5,         // plain bytes, coded whole (the codec `huff`)
    SLUICE_FLOAT_F8_E4M3_DENSE = 6, // E4M3 with its two highest bits of mantissa in the code:
                                    // smaller, slower to decode
    SLUICE_FLOAT_TYPE_COUNT = 7,
    SLUICE_FLOAT_TYPE_MAX_ENUM = 0x7fffffff
} SluiceFloatType;

#define SLUICE_FLOAT_TILE 8192 // elements of a tile
// Bytes of the code lengths of 256 symbols, 4 bits each, the even symbol in the low ones.
#define SLUICE_FLOAT_LENGTHS_SIZE 128

// One encoded tensor, as a list in GPU memory holds it. Addresses are device addresses (CPU: host
// pointers), each a multiple of 16, that of the index a multiple of 4. Tile i of the tensor has the
// elements from 8,192 * i on and status firstTile + i.
//
// Tiles a .. b - 1 of a tensor alone are a tensor of the list with these members:
//   words, wordsSize, lengths, type   the same
//   index                             index + 4 * a
//   raw                               raw + a * sluiceFloatRawSize(type, SLUICE_FLOAT_TILE)
//   output                            where element 8,192 * a is to go
//   count                             8,192 * (b - a), or what is left of the tensor
typedef struct SluiceFloatTensor {
    uint64_t words;     // the code words of all tiles
    uint64_t wordsSize; // their bytes, a multiple of 8; the index reaches 32 GiB - 8 of them
    // (tiles + 1) * 4 bytes: where each tile's words begin, in units of 8 bytes; then where they
    // end.
    uint64_t index;
    uint64_t lengths; // SLUICE_FLOAT_LENGTHS_SIZE bytes
    uint64_t raw;     // sluiceFloatRawSize bytes: signs and mantissas
    uint64_t output;  // count * element size bytes
    uint64_t count;   // elements, 0 .. 2^40
    uint32_t type;    // SluiceFloatType
    // Number of tiles of all tensors before this one in the list; with any other number, statuses
    // are unspecified.
    uint32_t firstTile;
} SluiceFloatTensor;

// Returns the bytes of signs and mantissas of `count` elements; 0 for an unknown type.
SLUICE_API uint64_t sluiceFloatRawSize(uint32_t type, uint64_t count);
// Returns the bytes of an element; 0 for an unknown type.
SLUICE_API uint32_t sluiceFloatElementSize(uint32_t type);

// Decodes a list of tensors, a lane group of 32 lanes a tile. A tile that fails leaves unspecified
// bytes inside its own part of the output; others are not affected. Outputs that overlap have
// undefined values. Memory that the list, the index or the lengths lie in must not change
// meanwhile.
//
// Statuses of a tile:
//   BAD_REGION   the tensor has an unknown type, an address that is not aligned or not inside its
//                buffer, or an index that is not in order
//   BAD_CODE     the code lengths make no complete code of at most 12 bits (one symbol with a code
//                of 1 bit is complete too)
//   TRUNCATED    the tile's words end before its symbols
typedef struct SluiceFloatDecodeInfo {
    uint32_t tensorCount; // tensors in the list, 0 .. 2^20
    uint32_t tileCount;   // tiles of all tensors together, 0 .. 2^31 - 1
    SluiceBuffer tensors; // tensorCount * 64 bytes, 16-byte aligned: SluiceFloatTensors
    // All words, indices, lengths and raw bytes must lie inside it. It is 16-byte aligned.
    SluiceBuffer source;
    SluiceBuffer destination; // all outputs must lie inside it
    // (tileCount + 2) * 4 bytes, 4-byte aligned: statuses, as in SluiceGdeflateInfo.
    SluiceBuffer status;
    SluiceBuffer scratch; // as sluiceGetFloatDecodeRequirements says
} SluiceFloatDecodeInfo;

// Reads tensorCount and tileCount. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetFloatDecodeRequirements(SluiceContext context,
                                                         const SluiceFloatDecodeInfo* info,
                                                         SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE. Contains a barrier of its own between setting the statuses and the
// decode.
SLUICE_API SluiceStatus sluiceCmdFloatDecode(SluiceContext context, SluiceCommands commands,
                                             const SluiceFloatDecodeInfo* info);

#ifdef __cplusplus
}
#endif

#endif
