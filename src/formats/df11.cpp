// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks a DF11 unit as far as possible before it is decoded.
#include <sluice/sluice_df11.h>

#include "formats/df11_form.h"
#include "formats/little_endian.h"

#include <initializer_list>

using namespace sluice;

namespace {

// The rows of `luts` that a look-up can reach, and their depth: the number of bytes that a look-up
// has taken when it reads an entry there. Rows are visited in the order of their depth. An entry
// that no code reaches may hold a stray pointer from a deeper row to a shallower one; it comes
// later and so cannot change the depth of the shallower row.
class Rows {
public:
    Rows(const uint8_t* luts, uint32_t rowCount, const Df11Form& form)
        : m_luts(luts), m_rowCount(rowCount), m_form(form)
    {
        visit(0, 1);
    }

    // Follows all pointers. Returns false if one leads to a row that does not exist.
    bool follow()
    {
        for (uint32_t i = 0; i < m_visited; ++i) {
            const uint32_t row = m_order[i];
            for (uint32_t byte = 0; byte < kDf11RowBytes && m_depth[row] < m_form.maxCodeBytes;
                 ++byte) {
                const uint32_t entry = at(row, byte);
                if (entry < kDf11Pointer) continue;
                if (256 - entry >= m_rowCount) return false;
                if (m_depth[256 - entry] == 0) visit(256 - entry, m_depth[row] + 1);
            }
        }
        return true;
    }

    // Returns whether the symbol has a code of this length: in some row, all entries that begin
    // with the code's bits hold the symbol.
    bool hasCode(uint32_t symbol, uint32_t length) const
    {
        const uint32_t bytes = divideUp(length, 8u), run = 1u << (bytes * 8 - length);
        for (uint32_t i = 0; i < m_visited; ++i) {
            if (m_depth[m_order[i]] != bytes) continue;
            for (uint32_t start = 0; start < kDf11RowBytes; start += run) {
                uint32_t equal = 0;
                while (equal < run && at(m_order[i], start + equal) == symbol)
                    ++equal;
                if (equal == run) return true;
            }
        }
        return false;
    }

private:
    uint32_t at(uint32_t row, uint32_t byte) const { return m_luts[row * kDf11RowBytes + byte]; }
    void visit(uint32_t row, uint32_t depth)
    {
        m_depth[row] = depth;
        m_order[m_visited++] = row;
    }

    const uint8_t* m_luts;
    uint32_t m_rowCount;
    const Df11Form& m_form;
    uint32_t m_depth[SLUICE_DF11_MAX_ROWS] = {}; // 0: not reached
    uint32_t m_order[SLUICE_DF11_MAX_ROWS] = {};
    uint32_t m_visited = 0;
};

const char* checkLuts(const SluiceDf11Tables& tables, const SluiceDf11Unit& unit)
{
    const Df11Form& form = df11Form(unit.kind);
    const uint8_t* luts = static_cast<const uint8_t*>(tables.luts);
    const uint8_t* lengths = luts + size_t(unit.lutRows - 1) * kDf11RowBytes;
    Rows rows(luts, unit.lutRows - 1, form);
    if (!rows.follow()) return "luts: a pointer leads to a row that is not there";
    uint64_t space = 0; // the code space in use, in units of 2^-32
    for (uint32_t symbol = 0; symbol < kDf11RowBytes; ++symbol) {
        const uint32_t length = lengths[symbol];
        if (length == 0) continue;
        if (symbol > form.maxSymbol)
            return unit.kind == SLUICE_DF11_BF16
                       ? "luts: an exponent of 240 or more, which the format cannot hold"
                       : "luts: an exponent of 16 or more";
        if (length > form.maxCodeBytes * 8)
            return unit.kind == SLUICE_DF11_BF16 ? "luts: a code is longer than 32 bits"
                                                 : "luts: a code is longer than 16 bits";
        if (!rows.hasCode(symbol, length))
            return "luts: an exponent has a length, but no code of that length";
        space += uint64_t(1) << (32 - length);
    }
    // Together with the end code, which no table lists, the codes are complete.
    const uint64_t whole = uint64_t(1) << 32, free = space < whole ? whole - space : 0;
    if (free == 0 || (free & (free - 1)) != 0)
        return "luts: the lengths do not make a complete code";
    return nullptr;
}

const char* checkPositions(const SluiceDf11Tables& tables, const SluiceDf11Unit& unit)
{
    const Df11Form& form = df11Form(unit.kind);
    const uint64_t blocks = df11Blocks(unit.encodedSize);
    const uint64_t entries = tables.outputPositionsSize / form.positionBytes;
    if (tables.outputPositionsSize % form.positionBytes != 0 || entries > blocks + 1 ||
        entries < blocks || entries == 0)
        return "output_positions does not have an entry for each 4096 bytes of encoded_exponent "
               "and one more";
    const uint8_t* bytes = static_cast<const uint8_t*>(tables.outputPositions);
    const auto position = [&](uint64_t i) {
        return loadLe(bytes + i * form.positionBytes, form.positionBytes);
    };
    if (position(0) != 0) return "output_positions does not start with 0";
    if (position(entries - 1) != unit.elementCount)
        return "output_positions does not end with the number of elements";
    for (uint64_t i = 1; i < entries; ++i) {
        if (position(i) < position(i - 1)) return "output_positions runs backwards";
        if (position(i) - position(i - 1) > kDf11MaxBlockElements)
            return "output_positions gives a block too many elements";
    }
    return nullptr;
}

// Derives kind and sizes from the sizes of the tensors.
const char* measure(const SluiceDf11Tables& tables, SluiceDf11Unit& unit)
{
    const uint64_t rows = tables.lutsSize / kDf11RowBytes, blocks = df11Blocks(tables.encodedSize);
    if (tables.lutsSize % kDf11RowBytes != 0 || rows < SLUICE_DF11_MIN_ROWS ||
        rows > SLUICE_DF11_MAX_ROWS)
        return "luts is not 2 to 18 rows of 256 bytes";
    if (tables.encodedSize > SLUICE_DF11_MAX_SIZE)
        return "encoded_exponent has more than 2^31 - 1 bytes";
    for (const SluiceDf11Kind kind : {SLUICE_DF11_BF16, SLUICE_DF11_FP8_E4M3}) {
        const Df11Form& form = df11Form(kind);
        const bool fits = blocks != 0 || tables.outputPositionsSize == form.positionBytes;
        if (fits && tables.gapsSize == blocks * df11BlockGapBytes(form)) unit.kind = kind;
    }
    if (unit.kind == 0)
        return "gaps does not have 320 bytes (fp8: 256) for each 4096 bytes of encoded_exponent";
    const uint64_t perByte = unit.kind == SLUICE_DF11_BF16 ? 1 : 2;
    if (tables.signMantissaSize > SLUICE_DF11_MAX_SIZE / perByte)
        return "sign_mantissa has more than 2^31 - 1 elements";
    unit.lutRows = uint32_t(rows);
    unit.encodedSize = uint32_t(tables.encodedSize);
    unit.elementCount = uint32_t(tables.signMantissaSize * perByte);
    if (unit.elementCount > tables.encodedSize * 8)
        return "encoded_exponent has fewer bits than there are elements";
    return nullptr;
}

} // namespace

SluiceStatus sluiceCheckDf11Unit(const SluiceDf11Tables* tables, SluiceDf11Unit* unit,
                                 const char** reason)
{
    const char* ignored = nullptr;
    const char*& wrong = reason != nullptr ? *reason : ignored;
    wrong = nullptr;
    if (tables == nullptr || unit == nullptr ||
        (tables->luts == nullptr && tables->lutsSize != 0) ||
        (tables->outputPositions == nullptr && tables->outputPositionsSize != 0))
        return SLUICE_ERROR_ARGUMENT;
    *unit = {};
    wrong = measure(*tables, *unit);
    if (wrong == nullptr) wrong = checkPositions(*tables, *unit);
    if (wrong == nullptr && unit->elementCount != 0) wrong = checkLuts(*tables, *unit);
    return wrong == nullptr ? SLUICE_OK : SLUICE_ERROR_FORMAT;
}
