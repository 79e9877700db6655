// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of DFloat11 and ECF8: decoding made-up, normally distributed weights or the units of a
// file, and the speed of our encoder. A unit is a set of tensors under one code.
#include <sluice/sluice_df11.h>

#include "encode/weights/df11_encoder.h"
#include "tools/bench/weight_rows.h"

namespace sluice {
namespace {

constexpr WeightKind kKinds[] = {{SLUICE_DF11_BF16, "df11 bf16", "DFloat11 bf16", {8, 7}, 0.02f},
                                 {SLUICE_DF11_FP8_E4M3, "df11 ecf8", "ECF8 e4m3", {4, 3}, 75.0f}};

constexpr uint64_t kMade = 1u << 22; // number of made-up weights; larger units repeat them

void benchUnit(const BenchDevice& device, const WeightKind& kind, uint64_t count,
               BenchReport& report)
{
    const uint64_t made = std::min(count, kMade), repeats = count / made;
    const Bytes plain = makeWeights(kind.format, kind.sigma, made);
    Df11Set set = {};
    set.entries.resize(1);
    set.encodedBytes = encodeDf11Unit(SluiceDf11Kind(kind.kind), plain.data(), made, repeats,
                                      set.source, set.entries[0]);
    set.statusCount = blocksOf(set.entries[0]);
    const uint64_t size = plain.size() * repeats;
    const WeightScene<SluiceDf11Unit> scene(device, set, size, 1);
    benchDecode(scene, "df11", kind.name, size, set.encodedBytes, plain, repeats, report);
}

// Encodes as `pack` does: counts symbols, makes the code, encodes in pieces. The result is
// discarded.
void encodeUnit(const WeightKind& which, const uint8_t* plain, uint64_t count)
{
    const SluiceDf11Kind kind = SluiceDf11Kind(which.kind);
    uint64_t histogram[256] = {};
    countDf11Symbols(kind, plain, count, histogram);
    Df11Code code;
    makeDf11Code(kind, histogram, 1, code);
    Df11Encoder encoder(kind, code);
    constexpr uint64_t piece = 1u << 20;
    for (uint64_t at = 0; at < count; at += piece) {
        encoder.add(plain + at * df11Form(kind).elementBytes, std::min(piece, count - at));
        for (Bytes* part :
             {&encoder.encoded, &encoder.signMantissa, &encoder.positions, &encoder.gaps})
            part->clear();
    }
    encoder.finish();
}

} // namespace

template <>
void WeightScene<SluiceDf11Unit>::record(SluiceCommands commands) const
{
    SluiceDf11Info info = {};
    info.maxUnitCount = entryCount;
    info.maxBlockCount = statusCount;
    info.units = list.whole();
    info.source = source.whole();
    info.destination = destination.whole();
    info.status = status.whole();
    require(sluiceCmdDf11(device.context(), commands, &info), "df11");
}

template <>
void WeightScene<SluiceDf11Unit>::place(SluiceDf11Unit& unit, uint64_t sourceBytes,
                                        uint64_t outputBytes, uint32_t statuses) const
{
    for (uint64_t* offset : offsetsOf(unit))
        *offset += sourceBytes;
    unit.destinationOffset += outputBytes;
    unit.firstBlock += statuses;
}

void benchDf11(const BenchDevice& device, const Wanted& wanted, BenchReport& report)
{
    std::vector<uint64_t> counts = {1u << 18};
    // On a GPU: 16 MB of bf16, then the number of weights that a large layer has.
    if (device.isGpu()) counts = {1u << 23, device.isBrief() ? 1u << 26 : 1u << 28};
    for (const WeightKind& kind : kKinds) {
        for (const uint64_t count : report.budget().ordered(counts)) {
            if (wanted(kind.filter) && report.hasTime(kind.filter, std::to_string(count)))
                benchUnit(device, kind, count, report);
        }
        if (wanted("df11 encode") && report.hasTime("df11 encode", kind.name)) {
            const Bytes plain = makeWeights(kind.format, kind.sigma, kMade);
            const auto encode = [&] {
                for (uint32_t i = 0; i < kEncodes; ++i)
                    encodeUnit(kind, plain.data(), kMade);
            };
            benchEncode("df11 encode", kind.name, kEncodes * plain.size(), encode, report);
        }
    }
}

bool benchDf11File(const BenchDevice& device, const std::string& path, const Wanted& wanted,
                   BenchReport& report)
{
    const auto encode = [](const WeightKind& kind, const uint8_t* plain,
                           const SluiceDf11Unit& unit) {
        encodeUnit(kind, plain + unit.destinationOffset, unit.elementCount);
    };
    return benchFile<SluiceDf11Unit>(device, path, "df11", "df11 encode", kKinds, encode, wanted,
                                     report);
}

} // namespace sluice
