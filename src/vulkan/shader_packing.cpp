// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vulkan/shader_packing.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace sluice {
namespace {

// Reads from a range of bytes. A read past the end returns 0, and hasFailed() is true from then on.
class Reader {
public:
    Reader(const uint8_t* bytes, size_t size) : m_at(bytes), m_end(bytes + size) {}

    bool hasFailed() const { return m_hasFailed; }

    uint32_t byte()
    {
        if (m_at == m_end) {
            m_hasFailed = true;
            return 0;
        }
        return *m_at++;
    }

    uint32_t number()
    {
        uint32_t result = 0;
        for (uint32_t shift = 0; shift < 32; shift += 7) {
            const uint32_t next = byte();
            result |= (next & 0x7f) << shift;
            if (next < 0x80) return result;
        }
        m_hasFailed = true;
        return 0;
    }

private:
    const uint8_t* m_at;
    const uint8_t* m_end;
    bool m_hasFailed = false;
};

// Decodes the first `count` codes of a shader's packed bytes; a code stands for a word of SPIR-V
// (shader_packing.h). Returns false if the bytes are damaged.
bool unpackCodes(Reader reader, uint32_t* codes, size_t count)
{
    size_t at = 0;
    while (at < count) {
        const uint32_t token = reader.byte();
        size_t literals = token >> 4;
        if (literals == 15) literals += reader.number();
        for (literals = std::min(literals, count - at); literals != 0; --literals)
            codes[at++] = reader.number();
        if (reader.hasFailed()) return false;
        if (at == count) return true;
        size_t length = token & 15;
        if (length == 15) length += reader.number();
        const size_t distance = reader.number();
        if (reader.hasFailed() || distance == 0 || distance > at) return false;
        // A match may overlap its own output, so its codes are copied one after the other.
        for (length = std::min(length + 2, count - at); length != 0; --length, ++at)
            codes[at] = codes[at - distance];
    }
    return true;
}

// Turns the codes of a variant back into the words of its SPIR-V module.
bool decodeModule(const uint32_t* codes, uint32_t* words, uint32_t count)
{
    uint32_t newest = 0; // the newest result id
    uint32_t at = std::min(count, kModuleHeaderWords);
    std::memcpy(words, codes, size_t(at) * sizeof(uint32_t));
    while (at < count) {
        const uint32_t first = words[at] = codes[at];
        const uint32_t length = first >> 16, opcode = first & 0xffff;
        if (length == 0 || length > count - at) return false;
        const uint32_t result = resultPlace(opcode);
        const bool plain = isPlain(opcode);
        if (result != 0 && result < length) newest += unzigzag(codes[at + result]);
        for (uint32_t i = 1; i < length; ++i) {
            const uint32_t code = codes[at + i];
            uint32_t& word = words[at + i];
            if (i == result)
                word = newest;
            else if (plain)
                word = code;
            else
                word = (code & 1) != 0 ? newest - unzigzag(code >> 1) : code >> 1;
        }
        at += length;
    }
    return true;
}

} // namespace

bool unpackShader(const PackedShader& shader, uint32_t* words)
{
    const size_t count = size_t(shader.firstWord) + shader.wordCount;
    std::vector<uint32_t> codes(count);
    return unpackCodes(Reader(shader.packed, shader.packedBytes), codes.data(), count) &&
           decodeModule(codes.data() + shader.firstWord, words, shader.wordCount);
}

} // namespace sluice
