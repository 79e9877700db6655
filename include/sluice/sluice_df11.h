// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Model weights with Huffman-coded exponents: DFloat11 (bf16) and ECF8 (fp8 E4M3), the units of
// their .safetensors files decoded as they are. Part of sluice.h, whose rules (ownership, barriers,
// threads, errors) hold here too. docs/format.md has the layout bit by bit. Source: Zhang et al.,
// "70% Size, 100% Accuracy: Lossless LLM Compression for Efficient GPU Inference via Dynamic-Length
// Float" (NeurIPS 2025, arXiv 2504.11651), and its 8-bit form ECF8.
//
// A unit is one or several weight tensors, flattened and joined. Its exponents are one stream of
// prefix codes of 1 to 32 bits (fp8: 16), most significant bit first; sign and mantissa stand aside
// as they are. The stream is cut into blocks of 4,096 bytes and those into 512 windows of 64 bits:
// `outputPositions` says which element a block starts with, `gaps` at which bit of a window its
// first code starts. So a workgroup can decode a block, and a lane a window.
#ifndef SLUICE_DF11_H
#define SLUICE_DF11_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_DF11_BLOCK_BYTES 4096u // bytes of the stream in a block, which has one status word
#define SLUICE_DF11_WINDOWS 512u      // windows in a block
#define SLUICE_DF11_MIN_ROWS 2u       // rows of the tables: one to decode with, and the lengths
#define SLUICE_DF11_MAX_ROWS 18u      // 16 more can be pointed to
#define SLUICE_DF11_MAX_SIZE 0x7fffffffu // elements of a unit, and bytes of its stream

typedef enum SluiceDf11Kind {
    SLUICE_DF11_BF16 = 1,     // DFloat11: codes of up to 32 bits, 2-byte elements
    SLUICE_DF11_FP8_E4M3 = 2, // ECF8: codes of up to 16 bits, 1-byte elements
    SLUICE_DF11_KIND_MAX_ENUM = 0x7fffffff
} SluiceDf11Kind;

// -----------------------------------------------------------------------------------------------
// One unit on the host

// The tensors of a unit as the file has them, in host memory of any alignment. For some, only the
// size is needed.
typedef struct SluiceDf11Tables {
    const void* luts;             // `luts`
    uint64_t lutsSize;            // bytes
    const void* outputPositions;  // `output_positions`
    uint64_t outputPositionsSize; // bytes
    uint64_t gapsSize;            // bytes of `gaps`
    uint64_t encodedSize;      // bytes of `encoded_exponent`, which ECF8's packer calls `encoded`
    uint64_t signMantissaSize; // bytes of `sign_mantissa`, or of ECF8's `packed_other_4bits`
} SluiceDf11Tables;

// Describes a unit for the device: an entry of the list that sluiceCmdDf11 takes. Offsets are bytes
// from the start of the command's source and destination. A unit has B = ceil(encodedSize / 4096)
// blocks. Each table of the source, its size rounded up to a multiple of 16, must lie wholly inside
// source.
//
// A part of a unit is a unit too, so that a large one need not be resident. For the blocks [b, c)
// give
//   the stream         from byte 4,096 * b to 4,096 * c, and the 4 bytes after that (as far as
//                      there are any)
//   outputPositions    b to c, each less outputPositions[b]
//   gaps               of blocks b to c
//   elementCount       outputPositions[c] - outputPositions[b]
// The 4 bytes make one more block, of no element. (fp8 with an odd outputPositions[b]: the nibbles
// have to be moved by one.)
typedef struct SluiceDf11Unit {
    // lutRows * 256 bytes, at a multiple of 16. Rows 0 .. lutRows - 2 are indexed with a byte of
    // the stream and hold a symbol (0 .. 239) or a pointer to row 256 - value (240 .. 255); the
    // last row is indexed with a symbol and holds the length of its code.
    uint64_t lutsOffset;
    // The stream: encodedSize bytes, at a multiple of 16.
    uint64_t encodedOffset;
    // At a multiple of 16. bf16: elementCount bytes, sign in bit 7, mantissa in bits 0 to 6. fp8:
    // (elementCount + 1) / 2 bytes of two elements, the even one in bits 4 to 7, the sign the
    // highest of the four.
    uint64_t signMantissaOffset;
    // At a multiple of 16. bf16: B * 4 bytes; fp8: B * 8 bytes. Entry b is the number of codes that
    // start before block b (the file has one more entry, elementCount, which is not read).
    uint64_t outputPositionsOffset;
    // At a multiple of 16. bf16: B * 320 bytes; fp8: B * 256 bytes. For each window 5 (fp8: 4)
    // bits, most significant bit first and without regard to bytes.
    uint64_t gapsOffset;
    // At a multiple of 4. bf16: elementCount * 2 bytes; fp8: elementCount bytes.
    uint64_t destinationOffset;
    uint32_t kind;         // SluiceDf11Kind
    uint32_t lutRows;      // 2 .. 18
    uint32_t elementCount; // 0 .. 2^31 - 1
    uint32_t encodedSize;  // bytes, 0 .. 2^31 - 1
    // Number of its first block among the status words: the sum of B over the units before.
    uint32_t firstBlock;
    uint32_t reserved; // 0
} SluiceDf11Unit;

// Checks what can be checked without decoding; fills kind, lutRows, elementCount and encodedSize of
// *unit (all else 0).
//   tables   of one unit; lutsSize and outputPositionsSize bytes are read, unless those sizes are
//            wrong already
//   unit     receives the sizes
//   reason   may be NULL; receives NULL or, with FORMAT, one line of English that says what is
//            wrong; never freed
// The kind follows from the size of gaps (320 or 256 bytes a block), that of a unit without blocks
// from that of outputPositions (4 or 8 bytes). Refused are
//   luts             not 2 to 18 rows of 256 bytes; a pointer, where a code leads, to a row that is
//                    not there or that would be a fifth (fp8: third) byte; a code longer than 32
//                    (16) bits; a symbol that no value can have (240 and more, which the format has
//                    no room for; fp8: 16 and more); a symbol with a length for which the rows have
//                    no code, or none of that length; lengths that, with one more code for the end,
//                    make no complete prefix code (a length of zero for a symbol in use among them)
//   outputPositions  neither B + 1 entries nor B with the last block empty (the original packer
//                    leaves one out if its last code spills into a new block); not starting with 0,
//                    not ending with elementCount, running backwards, or more than 32,768 elements
//                    a block
//   gaps             any size but that of B blocks: one byte short too
//   all              more than 2^31 - 1 elements or bytes of stream; more elements than bits;
//                    elements without a stream
// Accepted is what the original packers make: codes that are not canonical, and leaked bytes,
// pointers too, in entries that no code of a symbol reaches. A unit that passes can still hold a
// damaged stream: the status words tell. Time: at most 240 * 17 * 256 steps for the tables, and one
// a block. Errors: ARGUMENT, FORMAT. Thread-safe.
SLUICE_API SluiceStatus sluiceCheckDf11Unit(const SluiceDf11Tables* tables, SluiceDf11Unit* unit,
                                            const char** reason);

// -----------------------------------------------------------------------------------------------
// Decoding

// Decodes a list of units, a block at a time; records two dispatches.
//
// Statuses of a block, the same on every backend and tier:
//   BAD_REGION   the unit breaks a rule stated at SluiceDf11Unit: alignment, range, kind, rows;
//                every block of it
//   BAD_INDEX    outputPositions: block 0 does not start with 0, an entry is less than the one
//                before or more than elementCount, a block has more than 32,768 elements. Or the
//                codes of a window end elsewhere than the next window's (or block's) gap says
//   BAD_CODE     no symbol after 4 (fp8: 2) bytes, a pointer to a row that is not there, a symbol
//                above 15 in fp8, or a length that does not end in the byte where the symbol was
//                found (8 * d - 7 .. 8 * d, d counting from 1): so zero too
//   TRUNCATED    a code starts or ends past the stream's last bit (bits behind it read as 0)
//   TOO_SHORT    fewer codes start in the block than outputPositions say
//   TOO_LONG     more codes start in it
// They are found as if the block's windows were decoded one after the other: in a window from its
// gap while codes start in it. In a block that ends with element elementCount nothing counts that
// comes after that element (there lies the end code, cut off at the end of its byte). In any other
// block all windows are decoded, and the first thing wrong in their order is the status, too long
// or short the last of all. So a unit whose blocks are all OK, with a first gap of 0, is what a
// decoder without any index makes of the stream, bit for bit.
//
// The source may hold anything at all: tables are bounded and need not have passed
// sluiceCheckDf11Unit. A block that fails leaves unspecified bytes inside the range of the
// destination that outputPositions give it. A block takes at most 32,768 codes, each of at most 4
// look-ups, and at most 64 KiB of output, some 24 KiB as a rule.
typedef struct SluiceDf11Info {
    uint32_t maxUnitCount; // the list has at most this many units, 0 .. 2^20
    // All units together have at most this many blocks, 0 .. 2^24; those past it are not decoded.
    uint32_t maxBlockCount;
    // maxUnitCount * 72 bytes, 8-byte aligned: SluiceDf11Units. firstBlock must start with 0 and
    // grow by each unit's B: a block finds its unit by binary search for the last unit with
    // firstBlock not above it. If it does not, it is unspecified which blocks are decoded.
    SluiceBuffer units;
    // 4 bytes in GPU memory, 4-byte aligned: how many units there are, clamped to maxUnitCount. If
    // its size is 0, there are maxUnitCount.
    SluiceBuffer unitCount;
    SluiceBuffer source; // the tables of all units, 16-byte aligned
    // 4-byte aligned. Ranges of units must not overlap. Neighbouring blocks of a unit may share a
    // word.
    SluiceBuffer destination;
    // (maxBlockCount + 2) * 4 bytes, 4-byte aligned. Word firstBlock + b is the SluiceTileStatus of
    // a unit's block b (PENDING for blocks of no unit); then come the two summary words: how many
    // blocks failed, and the index of the first that did, 0xffffffff if none did.
    SluiceBuffer status;
    SluiceBuffer scratch; // as sluiceGetDf11Requirements says
} SluiceDf11Info;

// Reads maxUnitCount and maxBlockCount only. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetDf11Requirements(SluiceContext context, const SluiceDf11Info* info,
                                                  SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdDf11(SluiceContext context, SluiceCommands commands,
                                      const SluiceDf11Info* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_DF11_H
