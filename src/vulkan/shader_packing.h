// SPDX-License-Identifier: MIT OR Apache-2.0
// The form in which SPIR-V modules are stored in the library. It takes a tenth of their size, and
// its decoder takes one page of code. The build packs modules (cmake/pack_shaders.cpp), and a
// context unpacks a module when it makes a pipeline.
//
// All variants of a shader are stored as one list of *codes*, one code for each word of their
// modules:
// - The five words of a module's header, the first word of each instruction, and all operands of
//   certain instructions (isPlain) have codes that are equal to the words.
// - The code of a result id is its difference from the result id before it.
// - Bit 0 of any other operand's code says what the upper bits are. If it is 0, they are the word;
//   if it is 1, they are the word's distance from the newest result id. Words suit constants and
//   types, which stay the same all over a module; distances suit values, which are used close to
//   where they are made. So two copies of an inlined function have the same codes, and LZ77 finds
//   them.
// The codes are packed by an LZ77 without entropy coding, which is similar to LZ4 but has matches
// of any distance. The packed bytes are sequences. A sequence is:
// - A byte. Its upper 4 bits are the number of literals, its lower 4 bits the length of the match
//   minus 2. Where one of them is 15, a number follows that is added to it.
// - The number that is added to the upper bits, if there is one, and then the literals.
// - The number that is added to the lower bits, if there is one, and then the distance. The last
//   sequence may end before this, without a match.
//
// Literals are numbers too; lengths and distances count codes. A number has 7 bits in each byte,
// the lowest ones first; bit 7 says that another byte follows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

// Maps a signed difference to an unsigned number that is small if the difference is.
inline uint32_t zigzag(uint32_t difference)
{
    return (difference << 1) ^ (0u - (difference >> 31));
}
inline uint32_t unzigzag(uint32_t value) { return (value >> 1) ^ (0u - (value & 1)); }

// Returns the index of an instruction's result id among the instruction's words, 1 or 2, or 0 if it
// has no result. Packing and unpacking are correct whatever this returns, but correct indices make
// the packed bytes fewer. Names and decorations have no results, although they contain ids.
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

// Returns whether the operands of an instruction are coded as they are, because they are literals
// or are mostly constants made of literals.
inline bool isPlain(uint32_t opcode)
{
    return (opcode < 19 && opcode != 12) || (opcode >= 41 && opcode <= 51) ||
           (opcode >= 71 && opcode <= 75) || opcode == 251;
}

constexpr uint32_t kModuleHeaderWords = 5;

struct PackedShader {
    // The packed bytes of all variants of the shader; NULL if there is no such shader.
    const uint8_t* packed;
    size_t packedBytes;
    uint32_t firstWord; // the index of the variant's first word in all variants' words
    uint32_t wordCount;

    size_t bytes() const { return size_t(wordCount) * 4; }
};

// Writes the `wordCount` words of the module. Needs memory for firstWord + wordCount words while it
// runs, and throws std::bad_alloc if there is none. Returns false if the packed bytes are damaged.
bool unpackShader(const PackedShader& shader, uint32_t* words);

} // namespace sluice
