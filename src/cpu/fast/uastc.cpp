// SPDX-License-Identifier: MIT OR Apache-2.0
// Transcodes UASTC with the source code that the GPU kernels use, compiled once for each mode, so
// that field offsets, bit counts and branches are constants. Endpoints are decoded by table
// look-ups, and a block is read as two 64-bit words.
#include "cpu/fast/uastc.h"

#include <array>
#include <cstring>

#include "cpu/uastc_regions.h"
#include "cpu/uastc_words.h"

#if defined(__GNUC__)
#define SLUICE_FLATTEN __attribute__((flatten))
#else
#define SLUICE_FLATTEN
#endif

namespace sluice::cpu::fast {
namespace {

constexpr uint32_t componentsOf(uint32_t mode) { return kUastcKinds[mode] & 15; }
constexpr uint32_t lowBitsOf(uint32_t mode) { return kUastcKinds[mode] >> 8 & 15; }
constexpr uint32_t radixOf(uint32_t mode) { return kUastcKinds[mode] >> 12 & 7; }

// Returns a table from a quantised endpoint value to its 8-bit component. LowBits: the plain low
// bits of a value; Radix: the base of the digit above them, or 0 if there is none.
template <uint32_t LowBits, uint32_t Radix>
constexpr std::array<uint8_t, 256> wideValues()
{
    std::array<uint8_t, 256> wide{};
    for (uint32_t i = 0; i < (Radix == 0 ? 1u : Radix) << LowBits; ++i)
        wide[i] = uint8_t(uastcWiden(i, LowBits, Radix));
    return wide;
}
template <uint32_t LowBits, uint32_t Radix>
constexpr std::array<uint8_t, 256> kWide = wideValues<LowBits, Radix>();

// Returns a table that splits a code into its digits: five digits of base 3 or three of base 5, in
// fields of three bits, the first digit lowest.
template <uint32_t Radix>
constexpr std::array<uint16_t, 256> digitsOfCodes()
{
    std::array<uint16_t, 256> digits{};
    for (uint32_t code = 0; code < 256; ++code) {
        uint32_t left = code, made = 0;
        for (uint32_t i = 0; i < (Radix == 3 ? 5 : 3); ++i, left /= Radix)
            made |= left % Radix << 3 * i;
        digits[code] = uint16_t(made);
    }
    return digits;
}
template <uint32_t Radix>
constexpr std::array<uint16_t, 256> kDigits = digitsOfCodes<Radix>();

struct Long { // the 16 bytes of a block
    uint64_t low, high;

    // Returns `count` bits from bit `at` on. Callers pass constants, so the branches disappear.
    uint32_t bits(uint32_t at, uint32_t count) const
    {
        const uint64_t from = at >= 64  ? high >> (at - 64)
                              : at == 0 ? low
                                        : low >> at | high << (64 - at);
        return uint32_t(from) & ((1u << count) - 1);
    }
};

template <uint32_t Mode, uint32_t Index>
uint32_t valueOf(const Long& block)
{
    constexpr uint32_t low = lowBitsOf(Mode), radix = radixOf(Mode),
                       digitsAt = kUastcPlaces[Mode] >> 8 & 255,
                       lowAt = kUastcPlaces[Mode] >> 16 & 255;
    uint32_t value = block.bits(lowAt + Index * low, low);
    if constexpr (radix != 0) {
        constexpr uint32_t each = radix == 3 ? 5 : 3, bits = radix == 3 ? 8 : 7,
                           at = digitsAt + Index / each * bits;
        const uint32_t code = block.bits(at, at + bits <= lowAt ? bits : lowAt - at);
        value |= (uint32_t(kDigits<radix>[code]) >> Index % each * 3 & 7) << low;
    }
    return kWide<low, radix>[value];
}

template <uint32_t Mode, uint32_t Subset>
UastcEnds endsOf(const Long& block)
{
    constexpr uint32_t components = componentsOf(Mode), first = 2 * components * Subset;
    UastcEnds ends;
    if constexpr (components == 2) {
        ends.low = valueOf<Mode, first>(block) * 0x10101 | valueOf<Mode, first + 2>(block) << 24;
        ends.high = valueOf<Mode, first + 1>(block) * 0x10101 | valueOf<Mode, first + 3>(block)
                                                                    << 24;
    } else {
        ends.low = valueOf<Mode, first>(block) | valueOf<Mode, first + 2>(block) << 8 |
                   valueOf<Mode, first + 4>(block) << 16;
        ends.high = valueOf<Mode, first + 1>(block) | valueOf<Mode, first + 3>(block) << 8 |
                    valueOf<Mode, first + 5>(block) << 16;
        ends.low |= (components == 4 ? valueOf<Mode, first + 6>(block) : 255) << 24;
        ends.high |= (components == 4 ? valueOf<Mode, first + 7>(block) : 255) << 24;
    }
    return ends;
}

// Transcodes a block of this mode: calls make(block, shape, ends), which writes the block of the
// target format. If the block is invalid, returns false and does not call make.
template <uint32_t Mode, typename Make>
SLUICE_FLATTEN bool transcodeMode(UastcBits block, Make make)
{
    UastcShape shape = uastcShapeOfMode(block, Mode);
    if (shape.valid == 0) return false;
    UastcAllEnds all = {};
    if constexpr (Mode != kUastcSolid) {
        constexpr uint32_t subsets = kUastcKinds[Mode] >> 4 & 3;
        const Long words = {uint64_t(block.y) << 32 | block.x, uint64_t(block.w) << 32 | block.z};
        all.first = endsOf<Mode, 0>(words);
        if constexpr (subsets > 1) all.second = endsOf<Mode, 1>(words);
        if constexpr (subsets > 2) all.third = endsOf<Mode, 2>(words);
    }
    make(block, shape, all);
    return true;
}

template <typename Make>
bool transcodeAny(const UastcBits& block, Make make)
{
    switch (uastcMode(block)) {
    case 0: return transcodeMode<0>(block, make);
    case 1: return transcodeMode<1>(block, make);
    case 2: return transcodeMode<2>(block, make);
    case 3: return transcodeMode<3>(block, make);
    case 4: return transcodeMode<4>(block, make);
    case 5: return transcodeMode<5>(block, make);
    case 6: return transcodeMode<6>(block, make);
    case 7: return transcodeMode<7>(block, make);
    case 8: return transcodeMode<8>(block, make);
    case 9: return transcodeMode<9>(block, make);
    case 10: return transcodeMode<10>(block, make);
    case 11: return transcodeMode<11>(block, make);
    case 12: return transcodeMode<12>(block, make);
    case 13: return transcodeMode<13>(block, make);
    case 14: return transcodeMode<14>(block, make);
    case 15: return transcodeMode<15>(block, make);
    case 16: return transcodeMode<16>(block, make);
    case 17: return transcodeMode<17>(block, make);
    case 18: return transcodeMode<18>(block, make);
    default: return false;
    }
}

// Transcodes a block of any mode. Returns false if it is invalid; then magenta is written instead.
template <typename Make>
bool transcodeBlock(const uint8_t* bytes, Make make)
{
    UastcBits block;
    std::memcpy(&block, bytes, sizeof block);
    if (transcodeAny(block, make)) return true;
    (void)transcodeMode<kUastcSolid>({SLUICE_UA_MAGENTA_X, SLUICE_UA_MAGENTA_Y, 0, 0}, make);
    return false;
}

void store(const UastcBits& made, uint32_t bytes, uint8_t* to) { std::memcpy(to, &made, bytes); }

// Transcodes a block for targets that are encoded from texels. The encoder takes most of the time,
// so this function is not specialized by mode.
template <typename Encode>
bool encodeBlock(const uint8_t* bytes, Encode encode)
{
    UastcBits block;
    std::memcpy(&block, bytes, sizeof block);
    UastcShape shape = uastcShape(block);
    uastcReplaceInvalid(block, shape);
    const UastcAllEnds all = uastcAllEnds(block, shape);
    encode(block, shape, all, uastcTexels(block, shape, all));
    return shape.valid != 0;
}

} // namespace

void uastc(const SluiceUastcInfo& info)
{
    const uint32_t target = uastcTarget(info.format, info.flags), bytes = uastcBytes(target);
    switch (uastcGroup(target)) {
    case SLUICE_UA_GROUP_BC7:
        transcodeRegions(info, [](const uint8_t* from, uint8_t* to) {
            return transcodeBlock(from, [to](const UastcBits& block, const UastcShape& shape,
                                             const UastcAllEnds& all) {
                store(uastcBc7(block, shape, all), 16, to);
            });
        });
        break;
    case SLUICE_UA_GROUP_ASTC:
        transcodeRegions(info, [](const uint8_t* from, uint8_t* to) {
            return transcodeBlock(from, [to](const UastcBits& block, const UastcShape& shape,
                                             const UastcAllEnds& all) {
                store(uastcAstc(block, shape, all), 16, to);
            });
        });
        break;
    case SLUICE_UA_GROUP_RGBA8:
        transcodeRegions(info, [](const uint8_t* from, uint8_t* to) {
            return transcodeBlock(from, [to](const UastcBits& block, const UastcShape& shape,
                                             const UastcAllEnds& all) {
                const UastcTexels texels = uastcTexels(block, shape, all);
                std::memcpy(to, texels.t, sizeof texels.t);
            });
        });
        break;
    case SLUICE_UA_GROUP_BC:
        transcodeRegions(info, [=](const uint8_t* from, uint8_t* to) {
            return encodeBlock(from, [=](const UastcBits& block, const UastcShape& shape,
                                         const UastcAllEnds& all, const UastcTexels& texels) {
                store(uastcBc(target, block, shape, all, texels), bytes, to);
            });
        });
        break;
    default:
        transcodeRegions(info, [=](const uint8_t* from, uint8_t* to) {
            return encodeBlock(from, [=](const UastcBits& block, const UastcShape& shape,
                                         const UastcAllEnds&, const UastcTexels& texels) {
                store(uastcEtc(target, block, shape, texels), bytes, to);
            });
        });
    }
}

} // namespace sluice::cpu::fast
