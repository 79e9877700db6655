// SPDX-License-Identifier: MIT OR Apache-2.0
// Gstd, one tile at a time, step by step as docs/format.md has it: 32 lanes, each with an rANS
// state that is its bit buffer too. Slow and plain on purpose; the GPU kernels are compared with
// it, statuses included.
#include "gstd.h"

#include "../../shaders/lib/formulas/gstd.h"
#include "regions.h"

#include <memory>
#include <vector>

namespace sluice::cpu {
namespace {

constexpr u32 laneCount = SLUICE_GS_LANES;

u32 word(const uint8_t* bytes, size_t index)
{
    return u32(bytes[2 * index] | bytes[2 * index + 1] << 8);
}

u32 word32(const uint8_t* bytes) { return word(bytes, 0) | word(bytes, 1) << 16; }

// Frequencies of symbols that add up to 2^log, and where each symbol's slots begin.
struct Frequencies {
    u32 count = 0, log = 0;
    u32 frequency[256] = {};
    u32 start[256] = {};

    bool build() // false: the sum is wrong
    {
        u32 sum = 0;
        for (u32 i = 0; i < count; ++i) {
            start[i] = sum;
            sum += frequency[i];
        }
        return sum == 1u << log;
    }
    u32 symbolAt(u32 slot) const
    {
        u32 symbol = 0;
        while (slot - start[symbol] >= frequency[symbol])
            ++symbol;
        return symbol;
    }
};

// A canonical Huffman code whose bits are used from the lowest on.
struct HuffmanCode {
    u32 count[SLUICE_GS_MAX_CODE_LENGTH + 1] = {};
    uint8_t symbol[256] = {};

    bool build(const u32* lengths) // false: over-subscribed or incomplete
    {
        u32 first[SLUICE_GS_MAX_CODE_LENGTH + 2] = {}, space = 0;
        for (u32 i = 0; i < 256; ++i) {
            if (lengths[i] > SLUICE_GS_MAX_CODE_LENGTH) return false;
            ++count[lengths[i]];
        }
        count[0] = 0;
        for (u32 length = 1; length <= SLUICE_GS_MAX_CODE_LENGTH; ++length) {
            first[length + 1] = first[length] + count[length];
            space += count[length] << (SLUICE_GS_MAX_CODE_LENGTH - length);
        }
        if (space != 1u << SLUICE_GS_MAX_CODE_LENGTH) return false;
        for (u32 i = 0; i < 256; ++i) {
            if (lengths[i] != 0) symbol[first[lengths[i]]++] = uint8_t(i);
        }
        return true;
    }
};

// The lanes of one part and the words that they share.
class Lanes {
public:
    Lanes(const uint8_t* bytes, u32 firstWord, u32 endWord)
        : source(bytes), next(firstWord), end(endWord)
    {
        for (u32 lane = 0; lane < laneCount; ++lane)
            refill(lane);
    }

    // All three refill the lane first. They are called for lanes in their order, which is the order
    // of the words then.
    u32 bits(u32 lane, u32 n)
    {
        if (n == 0) return 0;
        refill(lane);
        return take(lane, n);
    }
    u32 symbol(u32 lane, const Frequencies& table)
    {
        refill(lane);
        const u32 slot = state[lane] & ((1u << table.log) - 1), symbol = table.symbolAt(slot);
        state[lane] =
            table.frequency[symbol] * (state[lane] >> table.log) + slot - table.start[symbol];
        return symbol;
    }
    u32 symbol(u32 lane, const HuffmanCode& code)
    {
        refill(lane);
        u32 value = 0, first = 0, index = 0;
        for (u32 length = 1;; ++length) {
            value = value << 1 | take(lane, 1);
            first <<= 1;
            if (value - first < code.count[length]) return code.symbol[index + value - first];
            first += code.count[length];
            index += code.count[length];
        }
    }

    bool finished() const { return next == end; }

private:
    void refill(u32 lane)
    {
        if (state[lane] < 0x10000 && next < end)
            state[lane] = state[lane] << 16 | word(source, next++);
    }
    u32 take(u32 lane, u32 n)
    {
        const u32 value = state[lane] & ((1u << n) - 1);
        state[lane] >>= n;
        return value;
    }

    const uint8_t* source;
    u32 next, end;
    u32 state[laneCount] = {};
};

struct Sequence {
    u32 literals, length, offset;
};

struct Part {
    u32 firstWord, words; // in units of 2 bytes from the start of the tile
    u32 begin, size;      // output
    // The header of a coded part
    u32 kind, literalMode, literalLog, sequenceLog, literalCount, sequenceCount, modulus,
        oneLiteral;
    bool oldLiterals, oldSequences; // tables of an earlier part
    std::vector<uint8_t> literals;
    std::vector<Sequence> sequences;

    bool hasLiteralTable() const
    {
        return kind == SLUICE_GS_CODED && !oldLiterals && literalMode <= SLUICE_GS_LITERALS_HUFFMAN;
    }
    bool hasSequenceTables() const
    {
        return kind == SLUICE_GS_CODED && !oldSequences && sequenceCount != 0;
    }
};

struct LiteralTable {
    u32 mode = SLUICE_GS_LITERALS_PLAIN;
    Frequencies frequencies;
    HuffmanCode code;
};

struct SequenceTables {
    u32 modulus = 1;
    Frequencies literalLength, matchLength, offset, remainder;
};

// A row at a time: the classes of all symbols, then the bits that make them frequencies; or code
// lengths.
class TableReader {
public:
    explicit TableReader(Lanes& readFrom) : lanes(readFrom) {}

    bool readClasses()
    {
        classes.count = SLUICE_GS_CLASSES;
        classes.log = SLUICE_GS_CLASS_LOG;
        u32 kinds[SLUICE_GS_CLASSES];
        for (u32 lane = 0; lane < SLUICE_GS_CLASSES; ++lane)
            kinds[lane] = lanes.bits(lane, 3);
        for (u32 lane = 0; lane < SLUICE_GS_CLASSES; ++lane)
            classes.frequency[lane] = frequency(lane, kinds[lane]);
        return classes.build();
    }
    void readRows(u32* values, u32 count)
    {
        for (u32 symbol = 0; symbol < count; ++symbol)
            values[symbol] = lanes.symbol(symbol % laneCount, classes);
    }
    void completeRows(u32* values, u32 count)
    {
        for (u32 symbol = 0; symbol < count; ++symbol)
            values[symbol] = frequency(symbol % laneCount, values[symbol]);
    }

private:
    u32 frequency(u32 lane, u32 kind) // class 0: 0; class c: 2^(c-1) and c - 1 bits more
    {
        return kind < 2 ? kind : 1u << (kind - 1) | lanes.bits(lane, kind - 1);
    }

    Lanes& lanes;
    Frequencies classes;
};

bool readLiteralTable(Lanes& lanes, const Part& part, LiteralTable& table)
{
    TableReader reader(lanes);
    if (!reader.readClasses()) return false;
    u32 values[256];
    reader.readRows(values, 256);
    table = {};
    table.mode = part.literalMode;
    if (table.mode == SLUICE_GS_LITERALS_HUFFMAN) return table.code.build(values);
    reader.completeRows(values, 256);
    table.frequencies.count = 256;
    table.frequencies.log = part.literalLog;
    std::copy_n(values, 256, table.frequencies.frequency);
    return table.frequencies.build();
}

bool readSequenceTables(Lanes& lanes, const Part& part, SequenceTables& tables)
{
    TableReader reader(lanes);
    if (!reader.readClasses()) return false;
    tables = {};
    tables.modulus = part.modulus;
    tables.literalLength.count = SLUICE_GS_LITERAL_LENGTHS;
    tables.matchLength.count = SLUICE_GS_MATCH_LENGTHS;
    tables.offset.count = SLUICE_GS_OFFSETS;
    tables.remainder.count = part.modulus;
    Frequencies* const all[] = {&tables.literalLength, &tables.matchLength, &tables.offset,
                                &tables.remainder};
    const u32 used = part.modulus > 1 ? 4 : 3;
    for (u32 i = 0; i < used; ++i)
        reader.readRows(all[i]->frequency, all[i]->count);
    bool good = true;
    for (u32 i = 0; i < used; ++i)
        reader.completeRows(all[i]->frequency, all[i]->count);
    for (u32 i = 0; i < used; ++i) {
        all[i]->log = part.sequenceLog;
        good = all[i]->build() && good;
    }
    return good;
}

class TileDecoder {
public:
    TileDecoder(const uint8_t* compressed, size_t compressedSize, uint8_t* output, size_t size)
        : source(compressed), sourceSize(compressedSize), destination(output), outputSize(u32(size))
    {
    }

    u32 decode()
    {
        if (const u32 status = readHeader(); status != SLUICE_ST_OK) return status;
        for (u32 i = 0; i < partCount; ++i) {
            if (const u32 status = readPart(parts[i]); status != SLUICE_ST_OK) return status;
        }
        for (u32 i = 0; i < partCount; ++i) {
            if (!expandPart(parts[i])) return SLUICE_ST_BAD_OFFSET;
        }
        return tooDeep ? SLUICE_ST_LIMIT : SLUICE_ST_OK;
    }

private:
    u32 readHeader()
    {
        if (sourceSize < 8) return SLUICE_ST_TRUNCATED;
        const u32 header = word32(source);
        partCount = (header & 15) + 1;
        depth = (header >> 4 & 7) + 1;
        if (header >> 7 != 0) return SLUICE_ST_BAD_CODE;
        if (sourceSize < 4 + 4 * partCount) return SLUICE_ST_TRUNCATED;
        u32 begin = 0, firstWord = 2 + 2 * partCount;
        for (u32 i = 0; i < partCount; ++i) {
            const u32 entry = word32(source + 4 + 4 * i);
            Part& part = parts[i];
            part = {};
            part.begin = begin;
            part.size = (entry & 0xffff) + 1;
            part.firstWord = firstWord;
            part.words = (entry >> 16) + 1;
            begin += part.size;
            firstWord += part.words;
            if (i + 1 < partCount && part.size % SLUICE_GS_GROUP != 0) return SLUICE_ST_BAD_CODE;
        }
        if (begin != outputSize)
            return begin > outputSize ? SLUICE_ST_TOO_LONG : SLUICE_ST_TOO_SHORT;
        if (uint64_t(firstWord) * 2 > sourceSize) return SLUICE_ST_TRUNCATED;
        return SLUICE_ST_OK;
    }

    u32 readPartHeader(Part& part) const
    {
        const u32 w0 = word(source, part.firstWord);
        part.kind = w0 & 3;
        if (part.kind == SLUICE_GS_PLAIN)
            return w0 == SLUICE_GS_PLAIN && part.words == 1 + (part.size + 1) / 2
                       ? SLUICE_ST_OK
                       : SLUICE_ST_BAD_CODE;
        if (part.kind == SLUICE_GS_RUN) {
            part.oneLiteral = w0 >> 8;
            return (w0 & 0xfc) == 0 && part.words == 1 ? SLUICE_ST_OK : SLUICE_ST_BAD_CODE;
        }
        if (part.kind != SLUICE_GS_CODED || part.words < SLUICE_GS_PART_HEADER)
            return SLUICE_ST_BAD_CODE;
        part.literalMode = w0 >> 2 & 3;
        part.oldLiterals = (w0 >> 4 & 1) != 0;
        part.oldSequences = (w0 >> 5 & 1) != 0;
        part.literalLog = SLUICE_GS_MIN_LOG + (w0 >> 6 & 7);
        part.sequenceLog = SLUICE_GS_MIN_LOG + (w0 >> 9 & 7);
        part.literalCount = word(source, part.firstWord + 1) | (w0 >> 12 & 1) << 16;
        part.sequenceCount = word(source, part.firstWord + 2);
        const u32 w3 = word(source, part.firstWord + 3);
        part.modulus = (w3 & 63) + 1;
        part.oneLiteral = w3 >> 8;
        if (w0 >> 13 != 0 || (w3 >> 6 & 3) != 0 || part.literalLog > SLUICE_GS_MAX_LITERAL_LOG ||
            part.sequenceLog > SLUICE_GS_MAX_SEQUENCE_LOG)
            return SLUICE_ST_BAD_CODE;
        if (part.sequenceCount * SLUICE_GS_BYTES_PER_SEQUENCE > part.size) return SLUICE_ST_LIMIT;
        return part.literalCount > part.size ? SLUICE_ST_TOO_LONG : SLUICE_ST_OK;
    }

    // All symbols of a part.
    u32 readPart(Part& part)
    {
        if (const u32 status = readPartHeader(part); status != SLUICE_ST_OK) return status;
        if (part.kind != SLUICE_GS_CODED) return SLUICE_ST_OK;
        // Tables of an earlier part are those that were read last.
        if (part.oldLiterals && !haveLiterals) return SLUICE_ST_BAD_CODE;
        if (part.oldSequences && !haveSequences) return SLUICE_ST_BAD_CODE;
        Lanes lanes(source, part.firstWord + SLUICE_GS_PART_HEADER, part.firstWord + part.words);
        if (part.hasLiteralTable()) {
            if (!readLiteralTable(lanes, part, literalTable)) return SLUICE_ST_BAD_CODE;
            haveLiterals = true;
        }
        if (part.hasSequenceTables()) {
            if (!readSequenceTables(lanes, part, sequenceTables)) return SLUICE_ST_BAD_CODE;
            haveSequences = true;
        }
        part.literals.resize(part.literalCount);
        readLiterals(lanes, part, part.literals);
        part.sequences.resize(part.sequenceCount);
        readSequences(lanes, part.sequences);
        uint64_t literalSum = 0, size = part.literalCount;
        for (const Sequence& sequence : part.sequences) {
            literalSum += sequence.literals;
            size += sequence.length;
        }
        if (size != part.size) return size > part.size ? SLUICE_ST_TOO_LONG : SLUICE_ST_TOO_SHORT;
        return literalSum <= part.literalCount && lanes.finished() ? SLUICE_ST_OK
                                                                   : SLUICE_ST_BAD_CODE;
    }

    // 128 at a time, four a lane.
    void readLiterals(Lanes& lanes, const Part& part, std::vector<uint8_t>& literals) const
    {
        const u32 mode = part.oldLiterals ? literalTable.mode : part.literalMode;
        if (mode == SLUICE_GS_LITERALS_ONE) {
            std::fill(literals.begin(), literals.end(), uint8_t(part.oneLiteral));
            return;
        }
        for (u32 first = 0; first < part.literalCount; first += 4 * laneCount) {
            for (u32 k = 0; k < 4; ++k) {
                for (u32 lane = 0; lane < laneCount; ++lane) {
                    const u32 at = first + 4 * lane + k;
                    if (at >= part.literalCount) continue;
                    literals[at] = uint8_t(mode == SLUICE_GS_LITERALS_RANS
                                               ? lanes.symbol(lane, literalTable.frequencies)
                                           : mode == SLUICE_GS_LITERALS_HUFFMAN
                                               ? lanes.symbol(lane, literalTable.code)
                                               : lanes.bits(lane, 8));
                }
            }
        }
    }

    // 32 at a time: each step for all of them, then the next step.
    void readSequences(Lanes& lanes, std::vector<Sequence>& sequences) const
    {
        const SequenceTables& t = sequenceTables;
        u32 repeats[SLUICE_GS_REPEATS];
        for (u32 i = 0; i < SLUICE_GS_REPEATS; ++i)
            repeats[i] = SLUICE_GS_FIRST_REPEATS >> 8 * i & 0xff;
        for (size_t first = 0; first < sequences.size(); first += laneCount) {
            const u32 count = u32(std::min<size_t>(laneCount, sequences.size() - first));
            u32 symbol[laneCount], literals[laneCount], length[laneCount], offset[laneCount] = {};
            for (u32 lane = 0; lane < count; ++lane)
                symbol[lane] = lanes.symbol(lane, t.offset);
            for (u32 lane = 0; lane < count; ++lane) {
                if (symbol[lane] < SLUICE_GS_REPEATS) continue;
                const u32 place = symbol[lane] - SLUICE_GS_REPEATS, bits = gstdOffsetBits(place);
                offset[lane] =
                    (gstdOffsetBase(place, bits) + lanes.bits(lane, bits) - 1) * t.modulus;
            }
            for (u32 lane = 0; lane < count && t.modulus > 1; ++lane) {
                if (symbol[lane] >= SLUICE_GS_REPEATS)
                    offset[lane] += lanes.symbol(lane, t.remainder);
            }
            for (u32 lane = 0; lane < count; ++lane)
                literals[lane] = lanes.symbol(lane, t.literalLength);
            for (u32 lane = 0; lane < count; ++lane)
                length[lane] = lanes.symbol(lane, t.matchLength);
            for (u32 lane = 0; lane < count; ++lane) {
                const u32 bits = gstdExtraBits(literals[lane], SLUICE_GS_LITERAL_DIRECT_LOG);
                literals[lane] = gstdBase(literals[lane], SLUICE_GS_LITERAL_DIRECT_LOG, bits) +
                                 lanes.bits(lane, bits);
            }
            for (u32 lane = 0; lane < count; ++lane) {
                const u32 bits = gstdExtraBits(length[lane], SLUICE_GS_MATCH_DIRECT_LOG);
                length[lane] = gstdBase(length[lane], SLUICE_GS_MATCH_DIRECT_LOG, bits) +
                               lanes.bits(lane, bits) + SLUICE_GS_MIN_MATCH;
            }
            for (u32 lane = 0; lane < count; ++lane) {
                u32 place = SLUICE_GS_REPEATS - 1; // what leaves its place for the first one
                if (symbol[lane] < SLUICE_GS_REPEATS) {
                    place = (symbol[lane] + (literals[lane] == 0 ? 1 : 0)) % SLUICE_GS_REPEATS;
                    offset[lane] = repeats[place];
                }
                for (; place > 0; --place)
                    repeats[place] = repeats[place - 1];
                repeats[0] = offset[lane];
                sequences[first + lane] = {literals[lane], length[lane], offset[lane]};
            }
        }
    }

    // The bytes of a part; false: a match begins before the tile.
    bool expandPart(const Part& part)
    {
        uint8_t* const out = destination + part.begin;
        std::fill_n(hops + part.begin, part.size, uint8_t(0));
        if (part.kind == SLUICE_GS_RUN) {
            std::fill_n(out, part.size, uint8_t(part.oneLiteral));
            return true;
        }
        if (part.kind == SLUICE_GS_PLAIN) {
            std::copy_n(source + 2 * size_t(part.firstWord + 1), part.size, out);
            return true;
        }
        u32 position = part.begin, literal = 0;
        for (const Sequence& sequence : part.sequences) {
            std::copy_n(part.literals.begin() + literal, sequence.literals, destination + position);
            literal += sequence.literals;
            position += sequence.literals;
            if (sequence.offset == 0 || sequence.offset > position) return false;
            for (u32 k = 0; k < sequence.length; ++k) {
                // Of a match that overlaps itself, the bytes before it.
                const u32 from = position - sequence.offset + k % sequence.offset,
                          to = position + k;
                destination[to] = destination[from];
                if (from / SLUICE_GS_GROUP == to / SLUICE_GS_GROUP)
                    hops[to] = uint8_t(std::min(hops[from] + 1, 255));
                tooDeep = tooDeep || hops[to] > depth;
            }
            position += sequence.length;
        }
        std::copy(part.literals.begin() + literal, part.literals.end(), destination + position);
        return true;
    }

    const uint8_t* source;
    size_t sourceSize;
    uint8_t* destination;
    u32 outputSize;
    u32 partCount = 0, depth = 0;
    bool tooDeep = false;
    Part parts[SLUICE_GS_MAX_PARTS];
    bool haveLiterals = false, haveSequences = false;
    LiteralTable literalTable;
    SequenceTables sequenceTables;
    uint8_t hops[SLUICE_GS_TILE_BYTES]; // copies of copies inside a group
};

u32 decodeRegion(const SluiceGstdInfo& info, const SluiceRegion& tile)
{
    if (!validSource(info.source, tile, SLUICE_GS_MAX_COMPRESSED) ||
        !validDestination(linearChecksumOf(info), tile, SLUICE_GS_TILE_BYTES))
        return SLUICE_ST_BAD_REGION;
    const uint8_t* source = reinterpret_cast<const uint8_t*>(uintptr_t(tile.srcAddress));
    uint8_t* destination = reinterpret_cast<uint8_t*>(uintptr_t(tile.dstAddress));
    const size_t sourceSize = size_t(tile.compressedSize), size = size_t(tile.decompressedSize);
    if ((info.flags & SLUICE_FLAG_STORED_IF_EQUAL) == 0 || sourceSize != size)
        return decodeGstdTile(source, sourceSize, destination, size);
    std::copy_n(source, size, destination);
    return SLUICE_ST_OK;
}

} // namespace

uint32_t decodeGstdTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                        size_t destinationSize)
{
    const auto decoder =
        std::make_unique<TileDecoder>(source, sourceSize, destination, destinationSize);
    return decoder->decode();
}

void gstd(const SluiceGstdInfo& info)
{
    StatusWords status(info.status, info.maxRegionCount);
    status.reset();
    const u32 count = regionCount(info);
    for (u32 i = 0; i < count; ++i)
        status.set(i, decodeRegion(info, region(info, i)));
}

} // namespace sluice::cpu
