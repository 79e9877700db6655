// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes units of DFloat11 and ECF8: the check of their tables, and the CPU's decoder with any
// input. The input has kind and number of rows, element count, position entries and stream bytes,
// and then the tables one after the other; bytes that are missing count as 0.
#include <sluice/sluice_df11.h>

#include "formats/df11_form.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

using namespace sluice;

namespace {

// The bytes of the input, followed by zeros.
struct Input {
    const uint8_t* data;
    size_t size;

    std::vector<uint8_t> take(size_t count)
    {
        std::vector<uint8_t> bytes(count);
        const size_t had = std::min(count, size);
        std::copy_n(data, had, bytes.begin());
        data += had;
        size -= had;
        return bytes;
    }
    uint32_t number(uint32_t bytes)
    {
        uint32_t value = 0;
        for (const uint8_t byte : take(bytes))
            value = value << 8 | byte;
        return value;
    }
};

uint64_t place(std::vector<uint8_t>& source, const std::vector<uint8_t>& table)
{
    const uint64_t offset = source.size();
    source.insert(source.end(), table.begin(), table.end());
    source.resize((source.size() + 15) / 16 * 16);
    return offset;
}

SluiceBuffer rangeOf(std::vector<uint8_t>& bytes)
{
    return {uint64_t(uintptr_t(bytes.data())), 0, bytes.size()};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    Input input = {data, size};
    SluiceDf11Unit unit = {};
    const uint32_t first = input.number(1);
    unit.kind = first % 2 == 0 ? SLUICE_DF11_BF16 : SLUICE_DF11_FP8_E4M3;
    unit.lutRows = first / 2 % 20;
    unit.elementCount = input.number(2);
    const uint32_t entries = input.number(1) % 8;
    unit.encodedSize = input.number(2) % 20000;
    const Df11Form& form = df11Form(unit.kind);
    const uint64_t blocks = df11Blocks(unit.encodedSize);
    const std::vector<uint8_t> luts = input.take(unit.lutRows * kDf11RowBytes);
    const std::vector<uint8_t> positions =
        input.take(size_t(std::max<uint64_t>(entries, blocks)) * form.positionBytes);
    const std::vector<uint8_t> encoded = input.take(unit.encodedSize);
    const std::vector<uint8_t> gaps = input.take(size_t(blocks * df11BlockGapBytes(form)));
    const std::vector<uint8_t> signMantissa = input.take(size_t(df11SignMantissaBytes(unit)));

    const SluiceDf11Tables tables = {
        luts.data(), luts.size(),    positions.data(),   entries * form.positionBytes,
        gaps.size(), encoded.size(), signMantissa.size()};
    SluiceDf11Unit checked = {};
    if (sluiceCheckDf11Unit(&tables, &checked, nullptr) == SLUICE_OK && blocks != 0 &&
        (checked.kind != unit.kind || checked.lutRows != unit.lutRows ||
         checked.encodedSize != unit.encodedSize)) {
        std::abort();
    }

    std::vector<uint8_t> source, destination(size_t(unit.elementCount) * form.elementBytes);
    unit.lutsOffset = place(source, luts);
    unit.encodedOffset = place(source, encoded);
    unit.outputPositionsOffset = place(source, positions);
    unit.gapsOffset = place(source, gaps);
    unit.signMantissaOffset = place(source, signMantissa);
    std::vector<uint8_t> status(size_t(blocks + 2) * 4);
    SluiceDf11Info info = {};
    info.maxUnitCount = 1;
    info.maxBlockCount = uint32_t(blocks);
    info.units = {uint64_t(uintptr_t(&unit)), 0, sizeof unit};
    info.source = rangeOf(source);
    info.destination = rangeOf(destination);
    info.status = rangeOf(status);
    SluiceContext context = nullptr;
    if (sluiceCreateCpuContext(&context) != SLUICE_OK ||
        sluiceCmdDf11(context, nullptr, &info) != SLUICE_OK) {
        std::abort();
    }
    sluiceDestroyContext(context);
    return 0;
}
