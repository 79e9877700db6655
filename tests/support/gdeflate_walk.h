// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a good GDeflate stream symbol by symbol, as the text of the format describes it, and counts
// what a decoder has to do. It shares no code with the encoder or the decoders.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

struct GdeflateWork {
    uint32_t blocks = 0;
    uint32_t literals = 0;
    uint32_t matches = 0;
    uint32_t waits = 0;         // countWaits says what these are
    uint32_t longestLitLen = 0; // bits of the longest code of a dynamic block
    uint32_t longestDistance = 0;

    uint32_t symbols() const { return literals + 2 * matches; }
};

class GdeflateWalk {
public:
    explicit GdeflateWalk(const std::vector<uint8_t>& stream) : m_stream(stream)
    {
        for (Lane& lane : m_lanes) {
            refill(lane);
        }
    }

    // Throws if the stream is not good.
    GdeflateWork run()
    {
        for (bool final = false; !final;) {
            final = take(0, 1) != 0;
            const uint32_t type = take(0, 2);
            endStep(0);
            ++m_work.blocks;
            if (type == 0) {
                walkStored();
            } else {
                walkCodes(type == 2);
            }
        }
        countWaits();
        return m_work;
    }

private:
    struct Lane {
        uint64_t bits = 0;
        uint32_t count = 0;
    };
    struct Match {
        size_t at;
        uint32_t length, distance;
    };
    // A canonical code: how many codes each length has, and the symbols in the order of their
    // codes.
    struct Code {
        std::array<uint32_t, 16> counts = {};
        std::vector<uint32_t> symbols;

        Code(const uint8_t* lengths, uint32_t count)
        {
            for (uint32_t length = 1; length < 16; ++length) {
                for (uint32_t symbol = 0; symbol < count; ++symbol) {
                    if (lengths[symbol] == length) {
                        symbols.push_back(symbol);
                        ++counts[length];
                    }
                }
            }
        }
    };

    static void require(bool condition)
    {
        if (!condition) {
            throw std::runtime_error("not a good GDeflate stream");
        }
    }

    void refill(Lane& lane)
    {
        require(m_read + 4 <= m_stream.size());
        for (uint32_t byte = 0; byte < 4; ++byte) {
            lane.bits |= uint64_t{m_stream[m_read++]} << (lane.count + 8 * byte);
        }
        lane.count += 32;
    }
    uint32_t take(uint32_t lane, uint32_t count)
    {
        const uint64_t bits = m_lanes[lane].bits & ((uint64_t{1} << count) - 1);
        m_lanes[lane].bits >>= count;
        m_lanes[lane].count -= count;
        return static_cast<uint32_t>(bits);
    }
    void endStep(uint32_t lane)
    {
        if (m_lanes[lane].count < 32) {
            refill(m_lanes[lane]);
        }
    }
    uint32_t takeSymbol(uint32_t lane, const Code& code)
    {
        uint32_t value = 0, first = 0, index = 0;
        for (uint32_t length = 1; length < 16; ++length) {
            value = value << 1 | take(lane, 1);
            first <<= 1;
            if (value - first < code.counts[length]) {
                return code.symbols[index + value - first];
            }
            index += code.counts[length];
            first += code.counts[length];
        }
        require(false);
        return 0;
    }

    void walkStored()
    {
        const uint32_t size = take(0, 16);
        for (uint32_t i = 0; i < size; ++i) {
            take(i % 32, 8);
            endStep(i % 32);
        }
        m_work.literals += size;
        m_size += size;
    }

    void walkCodes(bool dynamic)
    {
        std::array<uint8_t, 288> litLen = {};
        std::array<uint8_t, 32> distance = {};
        if (dynamic) {
            readLengths(litLen.data(), distance.data());
            m_work.longestLitLen = std::max<uint32_t>(
                m_work.longestLitLen, *std::max_element(litLen.begin(), litLen.end()));
            m_work.longestDistance = std::max<uint32_t>(
                m_work.longestDistance, *std::max_element(distance.begin(), distance.end()));
        } else {
            std::fill(litLen.begin(), litLen.end(), uint8_t{8});
            std::fill(litLen.begin() + 144, litLen.begin() + 256, uint8_t{9});
            std::fill(litLen.begin() + 256, litLen.begin() + 280, uint8_t{7});
            distance.fill(5);
        }
        const Code litLenCode(litLen.data(), 288), distanceCode(distance.data(), 32);
        std::array<bool, 32> pending = {};
        std::array<size_t, 32> match = {}; // the match whose distance a lane has to send
        for (bool ended = false;;) {
            for (uint32_t lane = 0; lane < 32; ++lane) {
                if (pending[lane]) {
                    pending[lane] = false;
                    const uint32_t slot = takeSymbol(lane, distanceCode);
                    const uint32_t extra = slot < 4 ? 0 : slot / 2 - 1;
                    const uint32_t base = slot < 4 ? slot : (2 + slot % 2) << extra;
                    m_matches[match[lane]].distance = base + take(lane, extra) + 1;
                    endStep(lane);
                } else if (!ended) {
                    const uint32_t symbol = takeSymbol(lane, litLenCode);
                    require(symbol < 286);
                    ended = symbol == 256;
                    pending[lane] = symbol > 256;
                    if (symbol > 256) {
                        const uint32_t slot = symbol - 257;
                        const uint32_t extra = slot < 8 ? 0 : slot == 28 ? 16 : slot / 4 - 1;
                        const uint32_t base = slot < 8     ? slot
                                              : slot == 28 ? 0
                                                           : (4 + slot % 4) << extra;
                        const uint32_t length = 3 + base + take(lane, extra);
                        match[lane] = m_matches.size();
                        m_matches.push_back({m_size, length, 0});
                        m_size += length;
                        ++m_work.matches;
                    } else if (symbol < 256) {
                        ++m_size;
                        ++m_work.literals;
                    }
                    endStep(lane);
                }
            }
            if (ended && std::none_of(pending.begin(), pending.end(), [](bool p) { return p; })) {
                return;
            }
        }
    }

    void readLengths(uint8_t* litLen, uint8_t* distance)
    {
        const uint32_t litLenCount = take(0, 5) + 257;
        const uint32_t distanceCount = take(0, 5) + 1;
        const uint32_t precodeCount = take(0, 4) + 4;
        endStep(0);
        constexpr uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                       11, 4,  12, 3, 13, 2, 14, 1, 15};
        uint8_t precode[19] = {};
        for (uint32_t i = 0; i < precodeCount; ++i) {
            precode[order[i]] = static_cast<uint8_t>(take(i, 3));
            endStep(i);
        }
        const Code code(precode, 19);
        std::vector<uint8_t> lengths;
        for (uint32_t lane = 0; lengths.size() < litLenCount + distanceCount;
             lane = (lane + 1) % 32) {
            const uint32_t symbol = takeSymbol(lane, code);
            if (symbol < 16) {
                lengths.push_back(static_cast<uint8_t>(symbol));
            } else {
                require(symbol != 16 || !lengths.empty());
                const uint8_t value = symbol == 16 ? lengths.back() : uint8_t{0};
                const uint32_t run = symbol == 16   ? 3 + take(lane, 2)
                                     : symbol == 17 ? 3 + take(lane, 3)
                                                    : 11 + take(lane, 7);
                lengths.insert(lengths.end(), run, value);
            }
            endStep(lane);
        }
        require(lengths.size() == litLenCount + distanceCount && litLenCount <= 288 &&
                distanceCount <= 32);
        std::copy(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(litLenCount),
                  litLen);
        std::copy(lengths.begin() + static_cast<std::ptrdiff_t>(litLenCount), lengths.end(),
                  distance);
    }

    // Counts waits of a decoder that makes 128 bytes at a time. A byte whose source is among these
    // 128 must wait, perhaps for a byte that waits itself. Each step of pointer jumping halves such
    // chains. The result is the sum of steps of all groups.
    void countWaits()
    {
        constexpr size_t group = 128;
        std::vector<uint32_t> depth(m_size, 0), deepest(m_size / group + 1, 0);
        for (const Match& match : m_matches) {
            require(match.distance <= match.at);
            for (size_t i = match.at; i < match.at + match.length; ++i) {
                const size_t source = i - match.distance;
                if (source / group == i / group) {
                    depth[i] = depth[source] + 1;
                    deepest[i / group] = std::max(deepest[i / group], depth[i]);
                }
            }
        }
        for (const uint32_t links : deepest) {
            for (uint32_t reach = 1; reach < 2 * links; reach *= 2) {
                ++m_work.waits;
            }
        }
    }

    const std::vector<uint8_t>& m_stream;
    size_t m_read = 0;
    size_t m_size = 0;            // bytes of output so far
    std::vector<Match> m_matches; // in the order of the output
    std::array<Lane, 32> m_lanes;
    GdeflateWork m_work;
};
