// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The float codec compresses weights of models, and bytes that LZ does not help, with Huffman
// codes. It codes the exponent of each floating-point number. Sign and mantissa are close to random
// and stored as they are (but see F8_E4M3_DENSE). Every value is restored bit for bit, including
// Inf, NaN and subnormals. docs/format.md, section 6, describes the format.
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
    SLUICE_FLOAT_BYTES = 5,         // plain bytes, coded completely (the codec `huff`)
    SLUICE_FLOAT_F8_E4M3_DENSE = 6, // E4M3 whose two highest mantissa bits are coded, too: smaller,
                                    // but slower to decode
    SLUICE_FLOAT_TYPE_COUNT = 7,
    SLUICE_FLOAT_TYPE_MAX_ENUM = 0x7fffffff
} SluiceFloatType;

#define SLUICE_FLOAT_TILE 8192 // elements per tile
// Bytes of the code lengths of 256 symbols, 4 bits each; the even symbol is in the low 4 bits.
#define SLUICE_FLOAT_LENGTHS_SIZE 128

// The descriptor of one encoded tensor, as a list in GPU memory holds it. Addresses are device
// addresses (CPU: host pointers). Each is a multiple of 16, except index, which is a multiple of 4.
// Tile i of the tensor holds the elements from 8,192 * i on. Its status is word firstTile + i.
//
// A list may also hold a descriptor for only the tiles a .. b - 1 of a tensor, with these members:
//   words, wordsSize, lengths, type   the same as for the whole tensor
//   index                             index + 4 * a
//   raw                               raw + a * sluiceFloatRawSize(type, SLUICE_FLOAT_TILE)
//   output                            address for element 8,192 * a
//   count                             8,192 * (b - a), or fewer at the end of the tensor
typedef struct SluiceFloatTensor {
    uint64_t words;     // the code words of all tiles
    uint64_t wordsSize; // bytes of words, a multiple of 8; index can address at most 32 GiB - 8
    // (tiles + 1) * 4 bytes: the start of each tile's words, in units of 8 bytes, and then the end
    // of the last tile's words.
    uint64_t index;
    uint64_t lengths; // SLUICE_FLOAT_LENGTHS_SIZE bytes
    uint64_t raw;     // sluiceFloatRawSize bytes: signs and mantissas
    uint64_t output;  // count * element size bytes
    uint64_t count;   // elements, 0 .. 2^40
    uint32_t type;    // SluiceFloatType
    // Number of tiles of all tensors before this one in the list. With any other value the statuses
    // are unspecified.
    uint32_t firstTile;
} SluiceFloatTensor;

// Returns the bytes that the signs and mantissas of `count` elements take; 0 for an unknown type.
SLUICE_API uint64_t sluiceFloatRawSize(uint32_t type, uint64_t count);
// Returns the bytes per element; 0 for an unknown type.
SLUICE_API uint32_t sluiceFloatElementSize(uint32_t type);

// Decodes a list of tensors, with a group of 32 lanes per tile. If a tile fails, the bytes of its
// own part of the output are unspecified; other tiles are not affected. Outputs that overlap have
// undefined values. The memory of the list, the indices and the lengths must not change during the
// decode.
//
// Errors in a tile's status:
//   BAD_REGION   the tensor has an unknown type, an address that is not aligned or not inside its
//                buffer, or an index that is not in order
//   BAD_CODE     the code lengths are not those of a complete code of at most 12 bits (a single
//                symbol with a code of 1 bit also counts as complete)
//   TRUNCATED    the tile's words end before its symbols
typedef struct SluiceFloatDecodeInfo {
    uint32_t tensorCount; // tensors in the list, 0 .. 2^20
    uint32_t tileCount;   // tiles of all tensors together, 0 .. 2^31 - 1
    SluiceBuffer tensors; // tensorCount * 64 bytes, 16-byte aligned: SluiceFloatTensors
    // All words, indices, lengths and raw bytes must lie inside this range, which is 16-byte
    // aligned.
    SluiceBuffer source;
    SluiceBuffer destination; // all outputs must lie inside this range
    // (tileCount + 2) * 4 bytes, 4-byte aligned: a SluiceTileStatus per tile, then the number of
    // tiles that failed, and the index of the first failed tile or 0xffffffff.
    SluiceBuffer status;
    SluiceBuffer scratch; // size and alignment as in sluiceGetFloatDecodeRequirements
} SluiceFloatDecodeInfo;

// Reads only tensorCount and tileCount. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetFloatDecodeRequirements(SluiceContext context,
                                                         const SluiceFloatDecodeInfo* info,
                                                         SluiceRequirements* requirements);
// The call records its own barrier between setting the statuses and the decode. Errors: ARGUMENT,
// BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdFloatDecode(SluiceContext context, SluiceCommands commands,
                                             const SluiceFloatDecodeInfo* info);

#ifdef __cplusplus
}
#endif

#endif
