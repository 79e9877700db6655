// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decodes model weights with Huffman-coded exponents: DFloat11 (bf16) and ECF8 (fp8 E4M3). The
// units of their .safetensors files are decoded unchanged. Part of sluice.h, whose rules
// (ownership, barriers, threads, errors) apply here too. docs/format.md has the layout bit by bit.
// Source: Zhang et al., "70% Size, 100% Accuracy: Lossless LLM Compression for Efficient GPU
// Inference via Dynamic-Length Float" (NeurIPS 2025, arXiv 2504.11651), and its 8-bit form ECF8.
//
// A unit is one or several weight tensors, flattened and joined. Its exponents are one stream of
// prefix codes of 1 to 32 bits (fp8: 16), most significant bit first. Signs and mantissas are
// stored separately and uncompressed. The stream is divided into blocks of 4,096 bytes, and each
// block into 512 windows of 64 bits. `outputPositions` has the index of the first element of each
// block, and `gaps` the bit in each window where its first code starts. So a workgroup can decode a
// block, and a lane a window.
#ifndef SLUICE_DF11_H
#define SLUICE_DF11_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_DF11_BLOCK_BYTES 4096u    // bytes of the stream per block; a block has a status word
#define SLUICE_DF11_WINDOWS 512u         // windows per block
#define SLUICE_DF11_MIN_ROWS 2u          // rows of the tables: one to decode with, one of lengths
#define SLUICE_DF11_MAX_ROWS 18u         // 16 more rows to decode with, to which pointers lead
#define SLUICE_DF11_MAX_SIZE 0x7fffffffu // elements of a unit, and bytes of its stream

typedef enum SluiceDf11Kind {
    SLUICE_DF11_BF16 = 1,     // DFloat11: codes of up to 32 bits, 2-byte elements
    SLUICE_DF11_FP8_E4M3 = 2, // ECF8: codes of up to 16 bits, 1-byte elements
    SLUICE_DF11_KIND_MAX_ENUM = 0x7fffffff
} SluiceDf11Kind;

// -----------------------------------------------------------------------------------------------
// One unit on the host

// The tensors of a unit as the file has them, in host memory of any alignment. Some tensors are
// only described by their size.
typedef struct SluiceDf11Tables {
    const void* luts;             // the bytes of `luts`
    uint64_t lutsSize;            // bytes of `luts`
    const void* outputPositions;  // the bytes of `output_positions`
    uint64_t outputPositionsSize; // bytes of `output_positions`
    uint64_t gapsSize;            // bytes of `gaps`
    uint64_t encodedSize;      // bytes of `encoded_exponent`, which ECF8's packer calls `encoded`
    uint64_t signMantissaSize; // bytes of `sign_mantissa`, or of ECF8's `packed_other_4bits`
} SluiceDf11Tables;

// Describes a unit for the device: an entry of the list that sluiceCmdDf11 takes. Offsets are in
// bytes from the start of the command's source or destination. A unit has B = ceil(encodedSize /
// 4096) blocks. Each table of the source must lie completely inside source, with its size rounded
// up to a multiple of 16.
//
// Some consecutive blocks of a unit can be passed as a unit, so a large unit need not be resident.
// For the blocks [b, c) pass
//   the stream         bytes 4,096 * b to 4,096 * c, and the next 4 bytes (as far as the stream has
//                      them)
//   outputPositions    entries b to c, each minus outputPositions[b]
//   gaps               the gaps of blocks b to c
//   elementCount       outputPositions[c] - outputPositions[b]
// The last 4 bytes count as one more block, in which no element starts. (fp8: a byte holds the
// signs and mantissas of two elements. If outputPositions[b] is odd, they must be moved by half a
// byte.)
typedef struct SluiceDf11Unit {
    // lutRows rows of 256 bytes, at a multiple of 16. All rows but the last decode. The first byte
    // of a code is the index into row 0. An entry below 240 is the symbol; any other entry is a
    // pointer to row 256 - entry, into which the next byte is the index. The last row has the
    // length of each symbol's code.
    uint64_t lutsOffset;
    // The stream: encodedSize bytes, at a multiple of 16.
    uint64_t encodedOffset;
    // At a multiple of 16. bf16: elementCount bytes, with the sign in bit 7 and the mantissa in
    // bits 0 to 6. fp8: (elementCount + 1) / 2 bytes with two elements each, the even one in bits 4
    // to 7; the sign is the highest of an element's four bits.
    uint64_t signMantissaOffset;
    // At a multiple of 16. bf16: B * 4 bytes; fp8: B * 8 bytes. Entry b is the number of codes that
    // start before block b (the file has one more entry, elementCount, which is not read).
    uint64_t outputPositionsOffset;
    // At a multiple of 16. bf16: B * 320 bytes; fp8: B * 256 bytes. Each window has a gap of 5
    // (fp8: 4) bits, the number of the bit where its first code starts. Gaps are stored most
    // significant bit first, and may cross byte boundaries.
    uint64_t gapsOffset;
    // At a multiple of 4. bf16: elementCount * 2 bytes; fp8: elementCount bytes.
    uint64_t destinationOffset;
    uint32_t kind;         // SluiceDf11Kind
    uint32_t lutRows;      // 2 .. 18
    uint32_t elementCount; // 0 .. 2^31 - 1
    uint32_t encodedSize;  // bytes, 0 .. 2^31 - 1
    // Index of the unit's first block among the status words: the sum of B over the units before
    // it.
    uint32_t firstBlock;
    uint32_t reserved; // 0
} SluiceDf11Unit;

// Checks what can be checked without decoding. Fills kind, lutRows, elementCount and encodedSize of
// *unit, and sets the other members to 0.
//   tables   describes one unit; lutsSize and outputPositionsSize bytes are read, unless those
//            sizes are already wrong
//   unit     receives the sizes
//   reason   may be NULL; receives NULL or, with FORMAT, one line of English that says what is
//            wrong; never freed
// The size of gaps (320 or 256 bytes per block) determines the kind. For a unit without blocks the
// size of outputPositions (4 or 8 bytes) does. The function refuses these:
//   luts             a size other than 2 to 18 rows of 256 bytes; a code that reaches a pointer to
//                    a missing row, or still a pointer after 4 (fp8: 2) bytes; a code of more than
//                    32 (fp8: 16) bits; a symbol that no value can have (240 and more, for which
//                    the format has no room; fp8: 16 and more); a symbol with a length but without
//                    a code of that length in the rows; lengths that do not form a complete prefix
//                    code together with one more code for the end (also a length of 0 for a used
//                    symbol)
//   outputPositions  any number of entries except B + 1, or B if the last block is empty (the
//                    original packer leaves out an entry if its last code spills into a new block);
//                    a first entry that is not 0; a last entry that is not elementCount; an entry
//                    that is less than the one before; a block with more than 32,768 elements
//   gaps             any size except that of B blocks
//   all              more than 2^31 - 1 elements, or bytes of stream; more elements than the stream
//                    has bits; elements without a stream
// The function accepts everything that the original packers make. That includes codes that are not
// canonical, and stray bytes or pointers in entries that no symbol's code reaches. A unit that
// passes can still hold a damaged stream, which the status words report. Time: at most 240 * 17 *
// 256 steps for the tables, and one step per block. Errors: ARGUMENT, FORMAT. Thread-safe.
SLUICE_API SluiceStatus sluiceCheckDf11Unit(const SluiceDf11Tables* tables, SluiceDf11Unit* unit,
                                            const char** reason);

// -----------------------------------------------------------------------------------------------
// Decoding

// Decodes a list of units block by block. The call records two dispatches.
//
// Statuses of a block, the same on every backend and tier:
//   BAD_REGION   the unit breaks a rule stated at SluiceDf11Unit: alignment, range, kind, rows; all
//                of its blocks get this status
//   BAD_INDEX    outputPositions: block 0 does not start with 0, an entry is less than the one
//                before or more than elementCount, or a block has more than 32,768 elements. Or the
//                codes of a window do not end where the gap of the next window (or block) says
//   BAD_CODE     no symbol after 4 (fp8: 2) bytes, a pointer to a row that does not exist, a symbol
//                above 15 in fp8, or a length that does not end in the byte where the symbol was
//                found (8 * d - 7 .. 8 * d for byte d, counted from 1), which excludes zero
//   TRUNCATED    a code starts or ends past the stream's last bit (the bits after it read as 0)
//   TOO_SHORT    fewer codes start in the block than outputPositions say
//   TOO_LONG     more codes start in the block than outputPositions say
// The status is the one that a serial decoder finds. It takes the block's windows in order, and in
// each window all codes that start there, from the window's gap on. In the block with the last
// element of the unit nothing after that element is checked, because the end code follows, cut off
// at the end of its byte. In any other block all windows are decoded, and the first error is the
// status; TOO_LONG and TOO_SHORT come last. So if all blocks of a unit are OK and the first gap is
// 0, the result is what a decoder without any index makes of the stream, bit for bit.
//
// The source may have any contents: accesses to the tables are bounded, and the tables need not
// have passed sluiceCheckDf11Unit. If a block fails, the bytes in its range of the destination,
// which outputPositions give, are unspecified. A block takes at most 32,768 codes, each with at
// most 4 look-ups, and at most 64 KiB of output, usually about 24 KiB.
typedef struct SluiceDf11Info {
    uint32_t maxUnitCount; // upper limit of the number of units in the list, 0 .. 2^20
    // Upper limit of the number of blocks of all units, 0 .. 2^24; blocks past it are not decoded.
    uint32_t maxBlockCount;
    // maxUnitCount * 72 bytes, 8-byte aligned: SluiceDf11Units. firstBlock must start with 0 and
    // grow by each unit's B, because a block finds its unit by binary search for the last unit
    // whose firstBlock is not above the block. Otherwise it is unspecified which blocks are
    // decoded.
    SluiceBuffer units;
    // 4 bytes in GPU memory, 4-byte aligned: the number of units, clamped to maxUnitCount. If this
    // range is empty (size 0), there are maxUnitCount units.
    SluiceBuffer unitCount;
    SluiceBuffer source; // the tables of all units, 16-byte aligned
    // The output, 4-byte aligned. The ranges of units must not overlap. Neighbouring blocks of a
    // unit may share a word.
    SluiceBuffer destination;
    // (maxBlockCount + 2) * 4 bytes, 4-byte aligned. Word firstBlock + b is the SluiceTileStatus of
    // a unit's block b (PENDING for blocks of no unit). Two summary words follow: the number of
    // blocks that failed, and the index of the first failed block, or 0xffffffff if none failed.
    SluiceBuffer status;
    SluiceBuffer scratch; // size and alignment as in sluiceGetDf11Requirements
} SluiceDf11Info;

// Reads only maxUnitCount and maxBlockCount. Errors: ARGUMENT.
SLUICE_API SluiceStatus sluiceGetDf11Requirements(SluiceContext context, const SluiceDf11Info* info,
                                                  SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdDf11(SluiceContext context, SluiceCommands commands,
                                      const SluiceDf11Info* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_DF11_H
