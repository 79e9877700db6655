// SPDX-License-Identifier: MIT OR Apache-2.0
// How SPIR-V modules are stored in the library: in a tenth of their size, with a decoder of one
// page. The build packs them (pack_shaders.cpp). A context unpacks a module whenever it makes a
// pipeline.
//
// All variants of a shader are stored as one sequence of codes, one code per word of their modules:
//   - The five words of a module's header, each instruction's first word and the operands of
//     instructions that have literals of 32 bits (isPlain) are their own codes.
//   - A result id is coded as the difference to the result id before it.
//   - Of any other operand, bit 0 of the code says how it is coded. 0: the upper bits are the word.
//     1: they are how far it lies from the newest result id. Constants and types stay the same all
//     over a module, while values are used near to where they are made. So two copies of an inlined
//     function have the same codes.
// The codes are packed by an LZ77 without entropy coding, similar to LZ4, with matches of any
// distance. A sequence consists of:
//   - A byte. Its upper 4 bits are the number of literals, its lower 4 bits the length of a match
//     minus 2. If one of these is 15, a number follows that is added to it.
//   - That number for the literals, if any, and then the literals.
//   - That number for the match, if any, and then the distance.
// Literals are numbers too, and lengths and distances count codes. A sequence may end after its
// literals, without a match. Numbers have 7 bits per byte, the lowest bits first; bit 7 says that
// more bytes follow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

// Maps a signed difference to an unsigned number, which is small if the difference is.
inline uint32_t zigzag(uint32_t difference)
{
    return (difference << 1) ^ (0u - (difference >> 31));
}
inline uint32_t unzigzag(uint32_t value) { return (value >> 1) ^ (0u - (value & 1)); }

// Returns the index of an instruction's result id among its words, 1 or 2; 0 if it has none.
// Packing is correct with any answer, but a good one makes the result small. Names and decorations
// refer to ids that are not results.
inline uint32_t resultPlace(uint32_t opcode)
{
    switch (opcode) {
    case 7:   // OpString
    case 11:  // OpExtInstImport
    case 73:  // OpDecorationGroup
    case 248: // OpLabel
        return 1;
    case 39:  // OpTypeForwardPointer
    case 56:  // OpFunctionEnd
    case 62:  // OpStore
    case 63:  // OpCopyMemory
    case 224: // OpControlBarrier
    case 225: // OpMemoryBarrier
    case 228: // OpAtomicStore
    case 317: // OpNoLine
        return 0;
    default:
        if (opcode < 19) return opcode == 12 || opcode == 1 ? 2 : 0;      // OpExtInst, OpUndef
        if (opcode < 39) return 1;                                        // types
        if (opcode >= 71 && opcode <= 75) return 0;                       // decorations
        if (opcode >= 245 && opcode <= 255) return opcode == 245 ? 2 : 0; // control flow, OpPhi
        return 2;
    }
}

// Returns whether an instruction's operands are literals, or constants composed of literals.
inline bool isPlain(uint32_t opcode)
{
    return (opcode < 19 && opcode != 12) || (opcode >= 41 && opcode <= 51) ||
           (opcode >= 71 && opcode <= 75) || opcode == 251;
}

constexpr uint32_t kModuleHeaderWords = 5;

struct PackedShader {
    const uint8_t* packed; // of all variants of the shader; NULL if there is no such shader
    size_t packedBytes;
    uint32_t firstWord; // index of the variant's first word in the words of all variants
    uint32_t wordCount;

    size_t bytes() const { return size_t(wordCount) * 4; }
};

// Writes the module's `wordCount` words. While it runs it allocates memory for firstWord +
// wordCount words, and throws std::bad_alloc if there is none. Returns false if the packed bytes
// are damaged.
bool unpackShader(const PackedShader& shader, uint32_t* words);

} // namespace sluice
