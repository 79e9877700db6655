// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks a unit of DFloat11 or ECF8 as far as is possible without decoding it.
#include <sluice/sluice_df11.h>

#include "formats/df11_form.h"
#include "formats/little_endian.h"

#include <initializer_list>

using namespace sluice;

namespace {

// The rows of `luts` that a look-up can reach. A look-up takes the stream byte by byte: byte 1 is
// an index into row 0, whose entry may point to the row for byte 2, and so on. A row's depth is the
// number of bytes taken when an entry of the row is read. Rows are visited in the order of depth,
// so a row gets the smallest depth at which a pointer leads to it. Pointers to it from deeper rows
// change nothing.
class Rows {
public:
    Rows(const uint8_t* luts, uint32_t rowCount, const Df11Form& form)
        : m_luts(luts), m_rowCount(rowCount), m_form(form)
    {
        visit(0, 1);
    }

    // Follows the pointers of all rows. Returns false if a pointer leads to a row that does not
    // exist.
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

    // Returns whether the symbol has a code of `length` bits. A look-up uses 8 bits at a time as an
    // index into a row. The last 1 to 8 bits of the code are the highest bits of such an index, and
    // its lower bits may have any value. So the code exists if a row of the right depth has an
    // aligned group of `run` entries that all hold the symbol.
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
    uint64_t space = 0; // Kraft sum of the symbols' codes, in units of 2^-32
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
    // One more code, the end code (docs/format.md, 5.2), is not in the table of lengths. So the
    // code space that the symbols leave must be that of exactly one code, a power of two.
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

// Sets the kind and the sizes of a unit from the sizes of its tables. Returns a text that says what
// is wrong with them, or nullptr.
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
