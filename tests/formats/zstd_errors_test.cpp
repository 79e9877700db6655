// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests headers of Zstandard frames, and frames that break exactly one rule of docs/format.md,
// section 12, or two of them. Each has its status.
#include "tests/support/zstd_maker.h"

#include <functional>

using namespace sluice::test;

namespace {

constexpr uint32_t kOk = SLUICE_TILE_OK, kTruncated = SLUICE_TILE_TRUNCATED,
                   kBadCode = SLUICE_TILE_BAD_CODE, kBadOffset = SLUICE_TILE_BAD_OFFSET,
                   kTooLong = SLUICE_TILE_TOO_LONG, kTooShort = SLUICE_TILE_TOO_SHORT,
                   kLimit = SLUICE_TILE_LIMIT, kBadChecksum = SLUICE_TILE_BAD_CHECKSUM,
                   kUnsupported = SLUICE_TILE_UNSUPPORTED;

// Returns a frame of one raw block.
Bytes rawFrame(const ZstdHeader& header, const Bytes& bytes)
{
    ZstdMaker maker;
    maker.raw(bytes);
    return maker.frame(header);
}
ZstdHeader sized(uint64_t size, uint32_t bytes, bool singleSegment = false)
{
    ZstdHeader header;
    header.contentSize = size;
    header.contentSizeBytes = bytes;
    header.singleSegment = singleSegment;
    return header;
}
Bytes cut(Bytes bytes, size_t size)
{
    bytes.resize(size);
    return bytes;
}
Bytes joined(Bytes first, const Bytes& second)
{
    append(first, second);
    return first;
}

// Returns the status of a frame with one compressed block of 20 letters and two sequences, after
// `change` has changed the block's parts.
uint32_t changedStatus(const std::function<void(ZstdBlockParts&)>& change,
                       uint32_t literalKind = SLUICE_ZS_LITERALS_RAW, uint32_t streams = 1,
                       const ZstdTable* tables = nullptr)
{
    ZstdMaker maker;
    ZstdBlockParts parts =
        maker.parts(fewLetters(20), {{4, 7, 10}, {3, 1, 3}}, tables, literalKind, streams);
    change(parts);
    maker.add(SLUICE_ZS_COMPRESSED, parts.joined());
    return zstdStatus(maker.frame(), maker.content.size());
}

} // namespace

ZSTD_TEST_CASE("zstd errors: magic numbers and cut headers")
{
    const Bytes bytes = counting(300);
    ZstdHeader header = sized(300, 8);
    header.dictionaryIdBytes = 4;
    header.checksum = true;
    const Bytes frame = rawFrame(header, bytes);
    checkZstd(frame, bytes);
    CHECK(zstdStatus({}, 0) == SLUICE_TILE_BAD_REGION);
    for (size_t size = 1; size < frame.size(); ++size) {
        CAPTURE(size);
        CHECK(zstdStatus(cut(frame, size), bytes.size()) == kTruncated);
    }
    for (uint32_t byte = 0; byte < 4; ++byte) {
        Bytes other = frame;
        other[byte] ^= 1;
        CHECK(zstdStatus(other, bytes.size()) == kBadCode);
    }
    // Formats of Zstandard before version 0.8 are refused.
    for (uint32_t version = 0x1e; version < 0x28; ++version) {
        Bytes legacy = frame;
        legacy[0] = uint8_t(version);
        CHECK(zstdStatus(legacy, bytes.size()) == kBadCode);
    }
}

ZSTD_TEST_CASE("zstd errors: descriptor, window and content size")
{
    ZstdHeader header;
    header.otherBits = 1 << 3; // a reserved bit
    CHECK(zstdStatus(rawFrame(header, counting(5)), 5) == kBadCode);
    header.otherBits = 1 << 4; // an unused bit
    checkZstd(rawFrame(header, counting(5)), counting(5));
    for (uint32_t window = 1; window < 256; ++window) { // windows up to 3.75 TiB
        header = {};
        header.window = window;
        checkZstd(rawFrame(header, counting(5)), counting(5));
    }
    for (const uint32_t width : {2u, 4u, 8u}) {
        CAPTURE(width);
        checkZstd(rawFrame(sized(300, width), counting(300)), counting(300));
        CHECK(zstdStatus(rawFrame(sized(299, width), counting(300)), 300) == kTooLong);
        CHECK(zstdStatus(rawFrame(sized(301, width), counting(300)), 300) == kTooShort);
        CHECK(zstdStatus(rawFrame(sized(300, width), counting(300)), 299) == kTooLong);
        CHECK(zstdStatus(rawFrame(sized(300, width), counting(300)), 301) == kTooShort);
    }
    for (const size_t size : {0, 1, 255})
        checkZstd(rawFrame(sized(size, 1, true), counting(size)), counting(size));
    for (const size_t size : {256, 257, 65791})
        checkZstd(rawFrame(sized(size, 2, true), counting(size)), counting(size));
    // The largest size is accepted, but then that much content is missing. Larger sizes are
    // refused.
    constexpr uint64_t kMost = SLUICE_ZS_MAX_HISTORY;
    CHECK(zstdStatus(rawFrame(sized(kMost, 4), counting(5)), 5) == kTooShort);
    CHECK(zstdStatus(rawFrame(sized(kMost + 1, 4), counting(5)), 5) == kLimit);
    CHECK(zstdStatus(rawFrame(sized((uint64_t(1) << 32) + 5, 8), counting(5)), 5) == kLimit);
    CHECK(zstdStatus(rawFrame(sized(UINT64_MAX, 8), counting(5)), 5) == kLimit);
    Bytes dictionaryBytes(100);
    sluice::zstd::Dictionary dictionary;
    REQUIRE(sluice::zstd::readDictionary(dictionaryBytes.data(), 100, dictionary) == kOk);
    const auto withDictionary = [&](uint64_t size) {
        return decodeZstd(rawFrame(sized(size, 4), counting(5)), 5, &dictionary).outcome.status;
    };
    CHECK(withDictionary(kMost - 100) == kTooShort);
    CHECK(withDictionary(kMost - 99) == kLimit);
}

ZSTD_TEST_CASE("zstd errors: dictionary ids")
{
    for (const uint32_t width : {1u, 2u, 4u}) {
        ZstdHeader header;
        header.dictionaryIdBytes = width;
        checkZstd(rawFrame(header, counting(5)), counting(5)); // id 0 means no dictionary
        header.dictionaryId = 200;
        CHECK(zstdStatus(rawFrame(header, counting(5)), 5) == kUnsupported);
    }
}

ZSTD_TEST_CASE("zstd errors: blocks")
{
    ZstdMaker maker;
    maker.add(3, counting(5));
    CHECK(zstdStatus(maker.frame(), 5) == kBadCode);
    for (const uint32_t kind : {SLUICE_ZS_RAW, SLUICE_ZS_RLE, SLUICE_ZS_COMPRESSED}) {
        CAPTURE(kind);
        Bytes frame = zstdHeader(ZstdHeader{{}, 0, false, false, 7 << 3});
        const size_t header = frame.size();
        append(frame, zstdBlockHeader(kind, SLUICE_ZS_BLOCK_BYTES + 1, true));
        append(frame, Bytes(SLUICE_ZS_BLOCK_BYTES + 1));
        CHECK(zstdStatus(frame, SLUICE_ZS_BLOCK_BYTES + 1) == kLimit);
        const size_t content = kind == SLUICE_ZS_RLE ? 1 : 5;
        frame = cut(frame, header);
        append(frame, zstdBlockHeader(kind, 5, true));
        append(frame, Bytes(content - 1));
        CHECK(zstdStatus(frame, 5) == kTruncated);
        // The window has 1 KiB here.
        frame = zstdHeader({});
        append(frame, zstdBlockHeader(kind, SLUICE_ZS_MIN_WINDOW + 1, true));
        append(frame, Bytes(SLUICE_ZS_MIN_WINDOW + 1));
        CHECK(zstdStatus(frame, SLUICE_ZS_MIN_WINDOW + 1) == kLimit);
    }
    // No block says that it is the last one.
    Bytes frame = zstdHeader({});
    append(frame, zstdBlock(SLUICE_ZS_RAW, counting(5), false));
    CHECK(zstdStatus(frame, 5) == kTruncated);
}

ZSTD_TEST_CASE("zstd errors: checksums, and bytes behind the frame")
{
    ZstdHeader header;
    header.checksum = true;
    for (const size_t size : {0, 1, 3, 4, 7, 8, 31, 32, 33, 100}) {
        const Bytes bytes = counting(size);
        Bytes frame = rawFrame(header, bytes);
        checkZstd(frame, bytes);
        for (size_t k = 1; k <= 4; ++k) {
            Bytes wrong = frame;
            wrong[wrong.size() - k] ^= 0x40;
            CHECK(zstdStatus(wrong, size) == kBadChecksum);
            CHECK(decodeZstd(wrong, size, nullptr, false).outcome.status == kOk);
            CHECK(zstdStatus(cut(frame, frame.size() - k), size) == kTruncated);
        }
    }
    const Bytes frame = rawFrame({}, counting(5));
    for (size_t k = 1; k <= 3; ++k)
        CHECK(zstdStatus(joined(frame, Bytes(k)), 5) == kTruncated);
    CHECK(zstdStatus(joined(frame, zstdChecksum(counting(5))), 5) == kBadCode);
}

ZSTD_TEST_CASE("zstd errors: skippable frames")
{
    const Bytes frame = rawFrame({}, counting(5));
    for (uint32_t number = 0; number < 16; ++number) {
        const Bytes skippable = zstdSkippable(number, Bytes(number));
        checkZstd(joined(skippable, frame), counting(5));
        checkZstd(joined(frame, skippable), counting(5));
        checkZstd(joined(joined(frame, skippable), frame), joined(counting(5), counting(5)));
        for (size_t size = 1; size < skippable.size(); ++size)
            CHECK(zstdStatus(joined(frame, cut(skippable, size)), 5) == kTruncated);
    }
    CHECK(zstdStatus(zstdSkippable(0, Bytes(10)), 0) == kOk);
    CHECK(zstdStatus(zstdSkippable(0, Bytes(10)), 1) == kTooShort);
    Bytes longest = zstdSkippable(0, Bytes(100));
    std::fill_n(longest.begin() + 4, 4, uint8_t(0xff));
    CHECK(zstdStatus(longest, 0) == kTruncated);
    // Neither is one of the 16 magic numbers.
    for (const char* magic : {"4f 2a 4d 18", "60 2a 4d 18"})
        CHECK(zstdStatus(joined(fromHex(magic), Bytes(4)), 0) == kBadCode);
}

ZSTD_TEST_CASE("zstd errors: literals")
{
    const auto header = [](const char* hex) {
        return [hex](ZstdBlockParts& parts) { parts.literalsHeader = fromHex(hex); };
    };
    CHECK(changedStatus([](ZstdBlockParts&) {}) == kOk);
    // Cuts the block after the header of the literals, inside it, or before it.
    const auto only = [](const Bytes& bytes) {
        return [bytes](ZstdBlockParts& parts) {
            parts = {};
            parts.literalsHeader = bytes;
        };
    };
    CHECK(changedStatus(only({})) == kTruncated);
    for (uint32_t kind = 0; kind < 4; ++kind) {
        for (uint32_t format = 0; format < 4; ++format) {
            const Bytes whole = zstdLiteralsHeader(kind, format, 0, 0);
            for (size_t size = 1; size < whole.size(); ++size)
                CHECK(changedStatus(only(cut(whole, size))) == kTruncated);
        }
    }
    CHECK(changedStatus(header("0c ff 1f")) == kTruncated);   // raw, 131,056 literals
    CHECK(changedStatus(header("1c 00 20")) == kLimit);       // raw, 131,073 literals
    CHECK(changedStatus(header("1d 00 20")) == kLimit);       // RLE, 131,073 literals
    CHECK(changedStatus(header("fc ff ff")) == kLimit);       // raw, 2^20 - 1 literals
    CHECK(changedStatus(header("1e 00 60 00 00")) == kLimit); // coded, 131,073 literals
    CHECK(changedStatus(header("56 00 00")) == kBadCode);     // 5 literals in four streams
    CHECK(changedStatus(header("57 00 00")) == kBadCode);     // treeless, without an earlier tree
    CHECK(changedStatus(header("43 01 00")) == kBadCode);     // the same in one stream
}

ZSTD_TEST_CASE("zstd errors: trees")
{
    constexpr uint32_t kHuffman = SLUICE_ZS_LITERALS_HUFFMAN;
    const auto tree = [](const Bytes& bytes) {
        return [bytes](ZstdBlockParts& parts) {
            parts.tree = bytes;
            const size_t size = bytes.size() + parts.jumps.size() + parts.streams.size();
            parts.literalsHeader = zstdLiteralsHeader(kHuffman, 0, 20, size);
        };
    };
    CHECK(changedStatus([](ZstdBlockParts&) {}, kHuffman) == kOk);
    const auto onlyTree = [](const Bytes& bytes) {
        return [bytes](ZstdBlockParts& parts) {
            parts.tree = bytes;
            parts.streams.clear();
            parts.literalsHeader = zstdLiteralsHeader(kHuffman, 0, 20, bytes.size());
        };
    };
    CHECK(changedStatus(onlyTree({}), kHuffman) == kTruncated);
    CHECK(changedStatus(onlyTree({0}), kHuffman) == kTruncated); // there is no FSE description
    const Bytes direct = zstdTree(fewWeights(), true), coded = zstdTree(fewWeights(), false);
    for (const Bytes* bytes : {&direct, &coded}) {
        for (size_t size = 1; size < bytes->size(); ++size)
            CHECK(changedStatus(onlyTree(cut(*bytes, size)), kHuffman) == kTruncated);
        CHECK(changedStatus(onlyTree(*bytes), kHuffman) == kBadCode); // there is no stream
        CHECK(changedStatus(tree(*bytes), kHuffman) == kOk);
    }
    CHECK(changedStatus(tree({129, 0x00}), kHuffman) == kBadCode); // there is no weight except 0
    CHECK(changedStatus(tree({128, 0x20}), kHuffman) == kBadCode); // there is no weight of 1
    // They add up to 9; the missing 7 is no power of 2.
    CHECK(changedStatus(tree({129, 0x41}), kHuffman) == kBadCode);
    CHECK(changedStatus(tree({129, 0xc1}), kHuffman) == kBadCode); // a weight of 12 is too large
    CHECK(changedStatus(tree({129, 0xf1}), kHuffman) == kBadCode);
    // The last byte of the weights' bits is 0, so the mark is missing.
    Bytes unmarked = coded;
    unmarked.back() = 0;
    CHECK(changedStatus(tree(unmarked), kHuffman) == kBadCode);
}

ZSTD_TEST_CASE("zstd errors: streams of literals")
{
    for (const uint32_t streams : {1u, 4u}) {
        CAPTURE(streams);
        CHECK(changedStatus([](ZstdBlockParts& parts) { parts.streams.back() = 0; },
                            SLUICE_ZS_LITERALS_HUFFMAN, streams) == kBadCode);
        // Bits are left over or missing: the streams are those of more or of fewer letters.
        for (const size_t letters : {16u, 19u, 21u, 24u}) {
            const uint32_t status = changedStatus(
                [&](ZstdBlockParts& parts) {
                    zstdStreams(parts, fewWeights(), fewLetters(letters), streams);
                    parts.literalsHeader = zstdLiteralsHeader(
                        SLUICE_ZS_LITERALS_HUFFMAN, streams == 1 ? 0 : 3, 20,
                        parts.tree.size() + parts.jumps.size() + parts.streams.size());
                },
                SLUICE_ZS_LITERALS_HUFFMAN, streams);
            CHECK(status == kBadCode);
        }
    }
    const auto jump = [](uint32_t index, int by) {
        return changedStatus(
            [&](ZstdBlockParts& parts) {
                parts.jumps[2 * index] = uint8_t(parts.jumps[2 * index] + by);
            },
            SLUICE_ZS_LITERALS_HUFFMAN, 4);
    };
    for (uint32_t i = 0; i < 3; ++i) {
        for (const int by : {-1, 1, 2, 3, 100})
            CHECK(jump(i, by) == kBadCode);
    }
    CHECK(changedStatus([](ZstdBlockParts& parts) { parts.jumps[1] = 255; },
                        SLUICE_ZS_LITERALS_HUFFMAN, 4) == kBadCode);
    // The sizes of the streams take all bytes, so that none is left for the fourth one. Or there is
    // no room for the sizes.
    for (const size_t left : {0u, 1u, 5u, 6u, 7u, 9u}) {
        const uint32_t status = changedStatus(
            [&](ZstdBlockParts& parts) {
                Bytes rest = parts.jumps;
                append(rest, parts.streams);
                parts.jumps.clear();
                parts.streams = cut(rest, left);
                parts.literalsHeader =
                    zstdLiteralsHeader(SLUICE_ZS_LITERALS_HUFFMAN, 3, 20, parts.tree.size() + left);
            },
            SLUICE_ZS_LITERALS_HUFFMAN, 4);
        CHECK(status == kBadCode);
    }
}

ZSTD_TEST_CASE("zstd errors: headers and tables of sequences")
{
    const auto header = [](const char* hex) {
        return changedStatus(
            [hex](ZstdBlockParts& parts) { parts.sequencesHeader = fromHex(hex); });
    };
    const auto end = [](const char* hex) {
        return changedStatus([hex](ZstdBlockParts& parts) {
            parts.sequencesHeader = fromHex(hex);
            parts.tables.clear();
            parts.bits.clear();
        });
    };
    CHECK(end("") == kTruncated);
    CHECK(end("80") == kTruncated);
    CHECK(end("ff 00") == kTruncated);
    CHECK(end("02") == kTruncated);
    CHECK(end("ff ab 2b") == kLimit); // decided before the modes are read
    CHECK(end("00 00") == kBadCode);
    CHECK(end("80 00 00") == kBadCode);
    CHECK(end("02 00") == kBadCode); // there are no bits
    CHECK(header("02 01") == kBadCode);
    CHECK(header("02 02") == kBadCode);
    for (const char* repeat : {"02 c0", "02 30", "02 0c"})
        CHECK(header(repeat) == kBadCode);
    for (const char* one : {"02 40", "02 10", "02 04"}) // a table of one symbol, which is missing
        CHECK(end(one) == kTruncated);
    for (const char* one : {"02 40 24", "02 10 20", "02 04 35", "02 40 ff", "02 10 ff", "02 04 ff"})
        CHECK(end(one) == kBadCode);
    // Tables in FSE: a log above the limit, nothing at all, and counts that go on after the last
    // symbol.
    for (const char* coded : {"02 80 05", "02 20 04", "02 08 05"})
        CHECK(end(coded) == kBadCode);
    for (const char* coded : {"02 80", "02 20", "02 08", "02 80 00"})
        CHECK(end(coded) == kTruncated);
}

ZSTD_TEST_CASE("zstd errors: bits of sequences")
{
    const auto changed = [](const std::function<void(Bytes&)>& change) {
        return changedStatus([&](ZstdBlockParts& parts) { change(parts.bits); });
    };
    CHECK(changed([](Bytes& bits) { bits.clear(); }) == kBadCode);
    CHECK(changed([](Bytes& bits) { bits.back() = 0; }) == kBadCode);
    CHECK(changed([](Bytes& bits) { bits.push_back(1); }) == kBadCode);
    CHECK(changed([](Bytes& bits) { bits.erase(bits.begin()); }) == kBadCode);
    CHECK(changed([](Bytes& bits) { bits.insert(bits.begin(), 0); }) == kBadCode);
}

ZSTD_TEST_CASE("zstd errors: sizes and offsets")
{
    const auto made = [](const Bytes& literals, const ZstdSequences& sequences) {
        return changedStatus([&](ZstdBlockParts& parts) {
            ZstdStates tables[3];
            for (uint32_t kind = 0; kind < 3; ++kind)
                tables[kind] = zstdStates(kind, {}, {});
            parts = {};
            parts.literalsHeader =
                zstdLiteralsHeader(SLUICE_ZS_LITERALS_RAW, 3, literals.size(), 0);
            parts.streams = literals;
            parts.sequencesHeader = {uint8_t(sequences.size()), 0};
            parts.bits = zstdSequenceBits(sequences, tables);
        });
    };
    // The frame's content must have 33 bytes.
    CHECK(made(counting(20), {{4, 7, 13}}) == kOk);
    CHECK(made(counting(20), {{20, 7, 13}}) == kOk);
    CHECK(made(counting(20), {{21, 7, 13}}) == kBadCode); // more literals than there are
    CHECK(made(counting(20), {{4, 7, 14}}) == kTooLong);
    CHECK(made(counting(20), {{4, 7, 12}}) == kTooShort);
    CHECK(made(counting(20), {{4, 8, 13}}) == kBadOffset); // offset 5 after 4 bytes
    CHECK(made(counting(20), {{0, 4, 13}}) == kBadOffset); // there is no byte yet
    CHECK(made(counting(20), {{0, 3, 13}}) == kBadOffset); // the first offset minus 1
    CHECK(made(counting(20), {{4, 7, 131052}}) == kTooLong);
    CHECK(made(counting(20), {{4, 7, 131053}}) == kLimit);
    CHECK(made(counting(20), {{4, 1u << 28, 13}}) == kBadOffset);
}

ZSTD_TEST_CASE("zstd errors: the first phase with a fault decides, in it the first block")
{
    struct Fault {
        const char* name;
        uint32_t status;
        sluice::cpu::ZstdPhase phase;
        Bytes block;
    };
    using sluice::cpu::ZstdPhase;
    const auto block = [](const Bytes& content) {
        return zstdBlock(SLUICE_ZS_COMPRESSED, content, false);
    };
    ZstdStates tables[3];
    for (uint32_t kind = 0; kind < 3; ++kind)
        tables[kind] = zstdStates(kind, {}, {});
    const auto sequence = [&](const ZstdSequence& one) {
        Bytes content = {0x20, 'a', 'b', 'c', 'd', 1, 0}; // four raw literals
        append(content, zstdSequenceBits({one}, tables));
        return block(content);
    };
    const std::vector<Fault> faults = {
        {"literals above a block's maximum", kLimit, ZstdPhase::structure,
         block({0xfc, 0xff, 0xff, 0})},
        {"no sequence count", kTruncated, ZstdPhase::structure, block({0x08, 'a'})},
        {"a symbol is missing", kTruncated, ZstdPhase::tables, block({0x00, 1, 0x40})},
        {"a symbol that there is not", kBadCode, ZstdPhase::tables, block({0x00, 1, 0x40, 36})},
        {"no bits", kBadCode, ZstdPhase::symbols, block({0x00, 1, 0})},
        {"more literals than there are", kBadCode, ZstdPhase::output, sequence({5, 4, 3})},
        {"above a block's maximum", kLimit, ZstdPhase::output, sequence({4, 4, 131069})},
        {"above the region's size", kTooLong, ZstdPhase::output, sequence({4, 4, 1000})},
        {"an offset too far", kBadOffset, ZstdPhase::output, sequence({4, 900, 3})},
    };
    const Bytes good = zstdRleBlock('x', 10, false);
    for (const Fault& first : faults) {
        for (const Fault& second : faults) {
            CAPTURE(first.name);
            CAPTURE(second.name);
            Bytes frame = zstdHeader(ZstdHeader{{}, 0, false, false, 7 << 3});
            for (const Bytes* one : {&good, &first.block, &good, &second.block})
                append(frame, *one);
            append(frame, zstdRleBlock('y', 10, true));
            const bool secondDecides = second.phase < first.phase;
            const Fault& expected = secondDecides ? second : first;
            const sluice::cpu::ZstdOutcome outcome = decodeZstd(frame, 100).outcome;
            CHECK(outcome.status == expected.status);
            CHECK((outcome.phase == expected.phase));
            CHECK(outcome.block == (secondDecides ? 3 : 1));
        }
    }
    // With two frames in a region, a wrong checksum of the first one comes before a wrong offset in
    // the second one, but after a wrong table there.
    ZstdHeader header;
    header.checksum = true;
    Bytes wrong = rawFrame(header, counting(5));
    wrong.back() ^= 1;
    for (const Fault& fault : faults) {
        CAPTURE(fault.name);
        Bytes frames = joined(wrong, zstdHeader(ZstdHeader{{}, 0, false, false, 7 << 3}));
        append(frames, fault.block);
        append(frames, zstdRleBlock('y', 10, true));
        CHECK(zstdStatus(frames, 30) ==
              (fault.phase == ZstdPhase::output ? kBadChecksum : fault.status));
    }
}
