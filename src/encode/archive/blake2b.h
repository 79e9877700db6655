// SPDX-License-Identifier: MIT OR Apache-2.0
// BLAKE2b with 32 bytes of output and no key (RFC 7693), for names of content-addressed entries. It
// resists collisions, so not even an attacker can make two inputs that have the same name.
#pragma once

#include <array>

#include "formats/little_endian.h"

namespace sluice {

using Digest = std::array<uint8_t, 32>;

class Blake2b {
public:
    Blake2b();
    void add(const void* bytes, size_t size);
    // Adds the number in little-endian order, so that all machines agree.
    void addU32(uint32_t value)
    {
        uint8_t bytes[4];
        storeLe32(bytes, value);
        add(bytes, sizeof bytes);
    }
    void addU64(uint64_t value)
    {
        uint8_t bytes[8];
        storeLe64(bytes, value);
        add(bytes, sizeof bytes);
    }
    // Adds the length before the text, so that "ab", "c" differs from "a", "bc".
    template <class Text>
    void addText(const Text& text)
    {
        addU64(text.size());
        add(text.data(), text.size());
    }
    Digest finish(); // call it only once

private:
    void compress(const uint8_t* block, bool last);

    uint64_t m_state[8];
    uint64_t m_count = 0; // bytes compressed
    uint8_t m_block[128] = {};
    size_t m_used = 0; // bytes of m_block
};

} // namespace sluice
