// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gstd_part.h"

#include <algorithm>

#include "../formats/log2.h"

namespace sluice::gstd {
namespace {

constexpr uint32_t kNoRepeat = SLUICE_GS_REPEATS;

// Two symbols for each power of 2; the bits below the highest two follow.
Symbol splitSymbol(uint32_t value, uint32_t first)
{
    const uint32_t exponent = floorLog2(value), bits = exponent - 1;
    return {first + 2 * exponent + (value >> bits & 1), value & ((1u << bits) - 1), bits};
}

Symbol lengthSymbol(uint32_t value, uint32_t direct)
{
    if (value < direct) return {value, 0, 0};
    return splitSymbol(value, direct - 2 * floorLog2(direct));
}

Symbol offsetSymbol(uint32_t offset, uint32_t modulus)
{
    const uint32_t value = offset / modulus + 1;
    if (value == 1) return {kNoRepeat, 0, 0};
    return splitSymbol(value, kNoRepeat + 1 - 2);
}

// The offsets of the last matches, the latest first.
class Repeats {
public:
    // Which of them the offset is, as the decoder counts, or kNoRepeat; then it is the latest.
    uint32_t use(uint32_t offset, bool literals)
    {
        uint32_t place = 0;
        while (place < kNoRepeat && offsets_[place] != offset)
            ++place;
        const uint32_t symbol =
            place == kNoRepeat ? place : (place + kNoRepeat - (literals ? 0 : 1)) % kNoRepeat;
        for (uint32_t i = std::min(place, kNoRepeat - 1); i > 0; --i)
            offsets_[i] = offsets_[i - 1];
        offsets_[0] = offset;
        return symbol;
    }

private:
    uint32_t offsets_[kNoRepeat] = {SLUICE_GS_FIRST_REPEATS & 0xff,
                                    SLUICE_GS_FIRST_REPEATS >> 8 & 0xff,
                                    SLUICE_GS_FIRST_REPEATS >> 16 & 0xff};
};

uint64_t sumOrMax(uint64_t a, uint64_t b)
{
    return a == UINT64_MAX || b == UINT64_MAX ? UINT64_MAX : a + b;
}

} // namespace

// Splits the part into literals and coded sequences.
void PartEncoder::collect(const uint8_t* tile, const PartSequences& part)
{
    literals_.clear();
    sequences_.clear();
    literalCounts_ = literalLengths_ = matchLengths_ = {};
    lengthBits_ = 0;
    newOffsets_ = 0;
    Repeats repeats;
    const uint8_t* position = tile + part.begin;
    for (const Sequence& sequence : part.sequences) {
        literals_.insert(literals_.end(), position, position + sequence.literals);
        position += sequence.literals + sequence.length;
        Coded coded = {};
        coded.literals = lengthSymbol(sequence.literals, 16);
        coded.length = lengthSymbol(sequence.length - SLUICE_GS_MIN_MATCH, 32);
        coded.offset = sequence.offset;
        coded.repeat = repeats.use(sequence.offset, sequence.literals != 0);
        sequences_.push_back(coded);
        literalLengths_.add(coded.literals.symbol);
        matchLengths_.add(coded.length.symbol);
        lengthBits_ += coded.literals.bits + coded.length.bits;
        newOffsets_ += coded.repeat == kNoRepeat ? 1 : 0;
    }
    literals_.insert(literals_.end(), position, tile + part.begin + part.size);
    for (const uint8_t literal : literals_)
        literalCounts_.add(literal);
}

// Returns the cost of the literals with their table.
uint64_t PartEncoder::chooseLiterals()
{
    const Counts& counts = literalCounts_;
    const uint32_t used = counts.used();
    oldLiterals_ = false;
    literalDescription_.clear();
    literalMode_ = SLUICE_GS_LITERALS_PLAIN;
    if (used <= 1) {
        if (used == 1) literalMode_ = SLUICE_GS_LITERALS_ONE;
        return 0;
    }
    uint64_t best = bitCost(8 * static_cast<uint64_t>(counts.total));
    const auto consider = [&](uint32_t mode, const LiteralTables& tables,
                              const Description& description, uint64_t cost) {
        if (cost >= best) return;
        best = cost;
        literalMode_ = mode;
        literalTables_ = tables;
        literalDescription_ = description;
        oldLiterals_ = false;
    };
    LiteralTables tables;
    Description description;
    tables.mode = SLUICE_GS_LITERALS_HUFFMAN;
    tables.code.fit(counts);
    description.add(tables.code);
    consider(tables.mode, tables, description, tables.code.cost(counts) + description.cost());
    tables.mode = SLUICE_GS_LITERALS_RANS;
    for (uint32_t log = effort_.firstLiteralLog; log <= effort_.lastLiteralLog; ++log) {
        if (used > 1u << log) continue;
        tables.table.fit(counts, 256, log);
        description.clear();
        description.add(tables.table);
        consider(tables.mode, tables, description, tables.table.cost(counts) + description.cost());
    }
    if (haveLiterals_) {
        const bool rans = lastLiterals_.mode == SLUICE_GS_LITERALS_RANS;
        const uint64_t cost =
            rans ? lastLiterals_.table.cost(counts) : lastLiterals_.code.cost(counts);
        if (cost <= best) {
            best = cost;
            literalMode_ = lastLiterals_.mode;
            literalTables_ = lastLiterals_;
            oldLiterals_ = true;
        }
    }
    return best;
}

// Counts what offsets split by this modulus make; returns how many extra bits they have.
uint64_t PartEncoder::countOffsets(uint32_t modulus, Counts& offsets, Counts& remainders) const
{
    uint64_t bits = 0;
    for (const Coded& sequence : sequences_) {
        if (sequence.repeat != kNoRepeat) {
            offsets.add(sequence.repeat);
            continue;
        }
        const Symbol symbol = offsetSymbol(sequence.offset, modulus);
        offsets.add(symbol.symbol);
        remainders.add(sequence.offset % modulus);
        bits += symbol.bits;
    }
    return bits;
}

// Fits tables for offsets that are split by this modulus. Returns the cost of all sequences with
// their tables.
uint64_t PartEncoder::tryModulus(uint32_t modulus, SequenceTables& best)
{
    Counts offsets, remainders;
    const uint64_t bits = lengthBits_ + countOffsets(modulus, offsets, remainders);
    uint64_t bestCost = UINT64_MAX;
    for (uint32_t log = effort_.firstSequenceLog; log <= effort_.lastSequenceLog; ++log) {
        SequenceTables tables;
        tables.modulus = modulus;
        tables.log = log;
        tables.literalLength.fit(literalLengths_, SLUICE_GS_LITERAL_LENGTHS, log);
        tables.matchLength.fit(matchLengths_, SLUICE_GS_MATCH_LENGTHS, log);
        tables.offset.fit(offsets, SLUICE_GS_OFFSETS, log);
        tables.remainder.fit(remainders, modulus, log);
        Description description;
        description.add(tables.literalLength);
        description.add(tables.matchLength);
        description.add(tables.offset);
        uint64_t cost = bitCost(bits) + tables.literalLength.cost(literalLengths_) +
                        tables.matchLength.cost(matchLengths_) + tables.offset.cost(offsets);
        if (modulus > 1) {
            description.add(tables.remainder);
            cost += tables.remainder.cost(remainders);
        }
        cost += description.cost();
        if (cost < bestCost) {
            bestCost = cost;
            best = tables;
        }
    }
    return bestCost;
}

// Returns the cost of the sequences with their tables.
uint64_t PartEncoder::chooseSequences()
{
    oldSequences_ = false;
    sequenceDescription_.clear();
    if (sequences_.empty()) return 0;
    // Offsets inside records and pixels are multiples of their size, or near one.
    static constexpr uint8_t moduli[] = {1,  4,  3,  2,  8,  12, 16, 6,  20, 24, 28, 32,
                                         36, 40, 44, 48, 52, 56, 60, 64, 9,  10, 14, 18};
    const size_t count = effort_.allModuli ? std::size(moduli) : 6;
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < count; ++i) {
        SequenceTables tables;
        const uint64_t cost = tryModulus(moduli[i], tables);
        if (cost < best) {
            best = cost;
            sequenceTables_ = tables;
        }
        if (newOffsets_ == 0) break;
    }
    if (haveSequences_) {
        const SequenceTables& last = lastSequences_;
        Counts offsets, remainders;
        const uint64_t bits = lengthBits_ + countOffsets(last.modulus, offsets, remainders);
        uint64_t cost = sumOrMax(bitCost(bits), last.literalLength.cost(literalLengths_));
        cost = sumOrMax(cost, last.matchLength.cost(matchLengths_));
        cost = sumOrMax(cost, last.offset.cost(offsets));
        cost = sumOrMax(cost, last.modulus > 1 ? last.remainder.cost(remainders) : 0);
        if (cost <= best) {
            oldSequences_ = true;
            sequenceTables_ = last;
            return cost;
        }
    }
    sequenceDescription_.add(sequenceTables_.literalLength);
    sequenceDescription_.add(sequenceTables_.matchLength);
    sequenceDescription_.add(sequenceTables_.offset);
    if (sequenceTables_.modulus > 1) sequenceDescription_.add(sequenceTables_.remainder);
    sequenceDescription_.cost(); // fits the classes
    return best;
}

void PartEncoder::writeLiterals()
{
    if (literalMode_ == SLUICE_GS_LITERALS_ONE) return;
    const size_t count = literals_.size();
    for (size_t first = 0; first < count; first += 4 * kLanes) {
        for (uint32_t k = 0; k < 4; ++k) {
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                const size_t at = first + 4 * lane + k;
                if (at >= count) continue;
                if (literalMode_ == SLUICE_GS_LITERALS_RANS) {
                    literalTables_.table.write(writer_, lane, literals_[at]);
                } else if (literalMode_ == SLUICE_GS_LITERALS_HUFFMAN) {
                    literalTables_.code.write(writer_, lane, literals_[at]);
                } else {
                    writer_.bits(lane, literals_[at], 8);
                }
            }
        }
    }
}

void PartEncoder::writeSequences()
{
    const SequenceTables& t = sequenceTables_;
    for (size_t first = 0; first < sequences_.size(); first += kLanes) {
        const Coded* const batch = sequences_.data() + first;
        const uint32_t count =
            static_cast<uint32_t>(std::min<size_t>(kLanes, sequences_.size() - first));
        Symbol offsets[kLanes];
        for (uint32_t lane = 0; lane < count; ++lane) {
            offsets[lane] = batch[lane].repeat != kNoRepeat
                                ? Symbol{batch[lane].repeat, 0, 0}
                                : offsetSymbol(batch[lane].offset, t.modulus);
            t.offset.write(writer_, lane, offsets[lane].symbol);
        }
        for (uint32_t lane = 0; lane < count; ++lane)
            writer_.bits(lane, offsets[lane].value, offsets[lane].bits);
        for (uint32_t lane = 0; lane < count && t.modulus > 1; ++lane) {
            if (batch[lane].repeat == kNoRepeat)
                t.remainder.write(writer_, lane, batch[lane].offset % t.modulus);
        }
        for (uint32_t lane = 0; lane < count; ++lane)
            t.literalLength.write(writer_, lane, batch[lane].literals.symbol);
        for (uint32_t lane = 0; lane < count; ++lane)
            t.matchLength.write(writer_, lane, batch[lane].length.symbol);
        for (uint32_t lane = 0; lane < count; ++lane)
            writer_.bits(lane, batch[lane].literals.value, batch[lane].literals.bits);
        for (uint32_t lane = 0; lane < count; ++lane)
            writer_.bits(lane, batch[lane].length.value, batch[lane].length.bits);
    }
}

// A run, or plain bytes.
void PartEncoder::encodePlain(const uint8_t* bytes, uint32_t size,
                              std::vector<uint16_t>& words) const
{
    if (std::all_of(bytes, bytes + size, [&](uint8_t byte) { return byte == bytes[0]; })) {
        words.push_back(
            static_cast<uint16_t>(SLUICE_GS_RUN | static_cast<uint32_t>(bytes[0]) << 8));
        return;
    }
    words.push_back(SLUICE_GS_PLAIN);
    for (uint32_t i = 0; i < size; i += 2)
        words.push_back(static_cast<uint16_t>(bytes[i] | (i + 1 < size ? bytes[i + 1] << 8 : 0)));
}

// Returns false, and leaves words and tables as they were, if it takes `most` words or more.
bool PartEncoder::encodeCoded(const PartSequences& part, size_t most, std::vector<uint16_t>& words)
{
    const size_t begin = words.size();
    const uint64_t cost = chooseLiterals() + chooseSequences();
    if ((cost >> (kCostShift + 4)) >= most) return false;
    writer_.clear();
    const bool literalTable = !oldLiterals_ && literalMode_ <= SLUICE_GS_LITERALS_HUFFMAN;
    const bool sequenceTable = !oldSequences_ && !sequences_.empty();
    if (literalTable) literalDescription_.write(writer_);
    if (sequenceTable) sequenceDescription_.write(writer_);
    writeLiterals();
    writeSequences();

    const uint32_t literalCount = static_cast<uint32_t>(literals_.size());
    const bool ownRans = literalTable && literalMode_ == SLUICE_GS_LITERALS_RANS;
    const uint32_t literalLog = ownRans ? literalTables_.table.log - SLUICE_GS_MIN_LOG : 0;
    const uint32_t sequenceLog = sequenceTable ? sequenceTables_.log - SLUICE_GS_MIN_LOG : 0;
    const uint32_t one = literalMode_ == SLUICE_GS_LITERALS_ONE ? literals_[0] : 0;
    words.push_back(static_cast<uint16_t>(SLUICE_GS_CODED | (oldLiterals_ ? 0 : literalMode_) << 2 |
                                          (oldLiterals_ ? 1u : 0u) << 4 |
                                          (oldSequences_ ? 1u : 0u) << 5 | literalLog << 6 |
                                          sequenceLog << 9 | literalCount >> 16 << 12));
    words.push_back(static_cast<uint16_t>(literalCount));
    words.push_back(static_cast<uint16_t>(sequences_.size()));
    words.push_back(
        static_cast<uint16_t>((sequenceTable ? sequenceTables_.modulus - 1 : 0) | one << 8));
    writer_.finish(words);
    if (words.size() - begin >= most || part.size == 0) {
        words.resize(begin);
        return false;
    }
    if (literalTable) {
        haveLiterals_ = true;
        lastLiterals_ = literalTables_;
    }
    if (sequenceTable) {
        haveSequences_ = true;
        lastSequences_ = sequenceTables_;
    }
    return true;
}

void PartEncoder::encode(const uint8_t* tile, const PartSequences& part,
                         std::vector<uint16_t>& words)
{
    std::vector<uint16_t> plain;
    encodePlain(tile + part.begin, part.size, plain);
    if (plain.size() > SLUICE_GS_PART_HEADER) {
        collect(tile, part);
        if (encodeCoded(part, plain.size(), words)) return;
    }
    words.insert(words.end(), plain.begin(), plain.end());
}

} // namespace sluice::gstd
