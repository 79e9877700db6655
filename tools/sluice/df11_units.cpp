// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_df11.h>

#include "df11_units.h"

#include "encode/df11_encoder.h"

namespace sluice {

uint64_t packDf11Unit(SluiceDf11Kind kind, const uint8_t* elements, uint64_t count,
                      uint64_t repeats, Bytes& source, SluiceDf11Unit& unit)
{
    uint64_t histogram[256] = {};
    countDf11Symbols(kind, elements, count, histogram);
    for (uint64_t& number : histogram)
        number *= repeats;
    Df11Code code;
    if (!makeDf11Code(kind, histogram, 1, code)) return 0;
    Df11Encoder encoder(kind, code);
    for (uint64_t i = 0; i < repeats; ++i)
        encoder.add(elements, count);
    encoder.finish();
    const Bytes* parts[] = {&code.luts, &encoder.encoded, &encoder.signMantissa, &encoder.positions,
                            &encoder.gaps};
    const SluiceDf11Tables tables = {parts[0]->data(), parts[0]->size(), parts[3]->data(),
                                     parts[3]->size(), parts[4]->size(), parts[1]->size(),
                                     parts[2]->size()};
    const SluiceStatus status = sluiceCheckDf11Unit(&tables, &unit, nullptr);
    if (status != SLUICE_OK)
        throw Failure{exitCodeOf(status),
                      std::string("a df11 unit: ") + sluiceGetStatusText(status)};
    uint64_t size = 0;
    for (size_t i = 0; i < std::size(parts); ++i) {
        *offsetsOf(unit)[i] = source.size();
        source.insert(source.end(), parts[i]->begin(), parts[i]->end());
        source.resize((source.size() + 255) / 256 * 256);
        size += parts[i]->size();
    }
    return size;
}

} // namespace sluice
