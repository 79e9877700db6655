// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the encoder of Zstandard frames: the strict decoder and libzstd read every frame, blocks
// are short, and frames are hardly larger than libzstd's.
#include "encode/zstd/zstd_encoder.h"

#include <sluice/sluice_encode.h>

#include "tests/support/filters.h"
#include "tests/support/packed_archives.h"

#include <zstd.h>

#include <algorithm>

#include "cpu/zstd.h"
#include "encode/zstd/zstd_blocks.h"
#include "encode/zstd/zstd_fse.h"
#include "encode/zstd/zstd_literals.h"
#include "formats/archive_layout.h"

namespace sluice::test {
namespace {

// Checks that a frame decodes to the content, and that its blocks are short. Returns their number.
uint32_t checkFrame(const Bytes& frame, const Bytes& content)
{
    CAPTURE(content.size());
    Bytes out(content.size() + 1, 0x5a);
    const size_t got = ZSTD_decompress(out.data(), content.size(), frame.data(), frame.size());
    CHECK(ZSTD_isError(got) == 0);
    CHECK(got == content.size());
    CHECK(std::equal(content.begin(), content.end(), out.begin()));
    CHECK(ZSTD_getFrameContentSize(frame.data(), frame.size()) == content.size());
    std::fill(out.begin(), out.end(), uint8_t(0x5a));
    cpu::ZstdRegion region = {};
    region.source = frame.data();
    region.sourceSize = frame.size();
    region.destination = out.data();
    region.size = content.size();
    const cpu::ZstdOutcome outcome = cpu::decodeZstd(region);
    CHECK(outcome.status == SLUICE_ST_OK);
    CHECK(std::equal(content.begin(), content.end(), out.begin()));
    CHECK(out.back() == 0x5a);
    zstd::StructureReader reader(frame.data(), frame.size(), content.size(), {});
    zstd::Block block;
    while (reader.next(block))
        CHECK(block.sequences <= zstd::kMostSequences);
    return reader.blocks();
}

Bytes encode(const Bytes& content, uint32_t level)
{
    zstd::TileEncoder encoder;
    Bytes frame = {1, 2, 3}; // is replaced
    encoder.encode(level, content.data(), uint32_t(content.size()), frame);
    return frame;
}

// Returns bytes of which many are copies of earlier ones.
Bytes copies(std::mt19937& random, size_t size, uint32_t letters, uint32_t longest)
{
    Bytes bytes;
    while (bytes.size() < size) {
        for (uint32_t i = uint32_t(random() % 12); i > 0; --i)
            bytes.push_back(uint8_t(random() % letters));
        if (bytes.empty()) continue;
        const size_t offset = 1 + random() % std::min<size_t>(bytes.size(), 1 + random() % 5000);
        for (uint32_t i = 3 + uint32_t(random() % longest); i > 0; --i)
            bytes.push_back(bytes[bytes.size() - offset]);
    }
    bytes.resize(size);
    return bytes;
}

// Holds bytes and matches of them that no search would give: lengths, runs of literals and offsets
// at the ends of their ranges, and offsets that were used before.
struct Matched {
    Bytes bytes;
    std::vector<zstd::Match> matches;

    // before: the bytes that stand before these in the frame.
    Matched(std::mt19937& random, Bytes before, size_t size)
    {
        const size_t begin = before.size();
        bytes = std::move(before);
        std::vector<uint32_t> offsets = {1, 4, 8};
        while (bytes.size() - begin < size) {
            const size_t left = size - (bytes.size() - begin);
            const uint32_t literals = random() % 50 == 0  ? uint32_t(random() % 40000)
                                      : random() % 3 == 0 ? 0
                                                          : uint32_t(random() % 20);
            for (size_t i = std::min<size_t>(literals, left); i > 0; --i)
                bytes.push_back(uint8_t(random() % (random() % 40 == 0 ? 256 : 9)));
            const size_t room = size - (bytes.size() - begin);
            if (room < 3 || bytes.empty()) continue;
            const uint32_t length =
                uint32_t(std::min<size_t>(room, random() % 40 == 0   ? 3 + random() % 131070
                                                : random() % 40 == 0 ? 131072
                                                                     : 3 + random() % 30));
            uint32_t offset =
                offsets[offsets.size() - 1 - random() % 3] - uint32_t(random() % 4 / 3);
            if (random() % 3 == 0) offset = 1 + uint32_t(random() % bytes.size());
            if (offset == 0 || offset > bytes.size()) offset = uint32_t(bytes.size());
            offsets.push_back(offset);
            matches.push_back({uint32_t(bytes.size() - begin), length, offset});
            for (uint32_t i = 0; i < length; ++i)
                bytes.push_back(bytes[bytes.size() - offset]);
        }
        m_size = uint32_t(bytes.size() - begin);
    }

    // Returns some places at which blocks can end, and the end of the bytes.
    std::vector<uint32_t> ends(std::mt19937& random) const
    {
        std::vector<uint32_t> ends;
        for (const zstd::Match& match : matches)
            if (random() % 2000 == 0 && match.position != 0) ends.push_back(match.position);
        ends.push_back(m_size);
        return ends;
    }

private:
    uint32_t m_size;
};

} // namespace

TEST_CASE("zstd encoder: frames of every size and kind of content, at every level")
{
    std::mt19937 random = makeRandom(61);
    std::vector<Bytes> contents = {{}, {7}, {7, 7}, Bytes(3, 0), soft(4), Bytes(262144, 9)};
    for (size_t size = 5; size < 700; size += 1 + random() % 20)
        contents.push_back(size % 2 == 0 ? soft(size) : randomBytes(random, size));
    for (const size_t size : {255, 256, 257, 1023, 1024, 1025, 65791, 65792, 65793, 131071, 131072,
                              131073, 262143, 262144})
        contents.push_back(copies(random, size, 40, 20));
    contents.push_back(randomBytes(random, 262144));
    contents.push_back(smoothBytes(random, 200000));
    Bytes mixed = soft(100000);
    const Bytes noise = randomBytes(random, 60000);
    mixed.insert(mixed.end(), noise.begin(), noise.end());
    mixed.insert(mixed.end(), 50000, 3);
    contents.push_back(mixed);
    for (const Bytes& content : contents) {
        for (const uint32_t level : {1u, 6u, 12u})
            if (content.size() < 10000 || level != 1) checkFrame(encode(content, level), content);
    }
    for (uint32_t level = 1; level <= SLUICE_ZSTD_MAX_LEVEL; ++level)
        checkFrame(encode(contents.back(), level), contents.back());
}

TEST_CASE("zstd encoder: many sequences are cut into blocks of equal shares")
{
    std::mt19937 random = makeRandom(62);
    const Bytes content = copies(random, 262144, 200, 6);
    const Bytes frame = encode(content, 12);
    CHECK(checkFrame(frame, content) > 5);
    CHECK(frame.size() < content.size());
}

TEST_CASE("zstd encoder: frames are at most 1 % larger than those of libzstd")
{
    std::mt19937 random = makeRandom(63);
    for (const Bytes& content : {soft(262144), smoothBytes(random, 262144),
                                 copies(random, 262144, 30, 10), copies(random, 262144, 250, 8),
                                 copies(random, 262144, 4, 200), randomBytes(random, 9999)}) {
        Bytes theirs(ZSTD_compressBound(content.size()));
        theirs.resize(
            ZSTD_compress(theirs.data(), theirs.size(), content.data(), content.size(), 19));
        const Bytes ours = encode(content, 12);
        CAPTURE(ours.size());
        CAPTURE(theirs.size());
        CHECK(double(ours.size()) <= 1.01 * double(theirs.size()) + 8);
    }
}

TEST_CASE("zstd encoder: blocks of any matches, in frames that are written piece by piece")
{
    std::mt19937 random = makeRandom(64);
    for (uint32_t round = 0; round < 30; ++round) {
        CAPTURE(round);
        zstd::BlockWriter writer;
        writer.begin(SLUICE_ZS_BLOCK_BYTES);
        // A frame with a window of 8 MiB, whose size is not in its header.
        Bytes frame = {0x28, 0xb5, 0x2f, 0xfd, 0, (23 - 10) << 3}, content;
        const uint32_t pieces = 1 + uint32_t(random() % 3);
        for (uint32_t i = 0; i < pieces; ++i) {
            const size_t begin = content.size(), size = random() % 4 == 0 ? 0 : random() % 400000;
            Matched made(random, std::move(content), size);
            content = std::move(made.bytes);
            writer.write(content.data() + begin, made.ends(random), made.matches, i + 1 == pieces,
                         1 + uint32_t(random() % 9), frame);
        }
        Bytes out(content.size());
        ZSTD_DCtx* const context = ZSTD_createDCtx();
        const size_t got =
            ZSTD_decompressDCtx(context, out.data(), out.size(), frame.data(), frame.size());
        ZSTD_freeDCtx(context);
        CHECK(ZSTD_isError(got) == 0);
        CHECK(got == content.size());
        CHECK((out == content));
        cpu::ZstdRegion region = {};
        region.source = frame.data();
        region.sourceSize = frame.size();
        region.destination = out.data();
        region.size = content.size();
        std::fill(out.begin(), out.end(), uint8_t(0));
        CHECK(cpu::decodeZstd(region).status == SLUICE_ST_OK);
        CHECK((out == content));
    }
}

TEST_CASE("zstd encoder: tables and trees are read back as they were chosen")
{
    std::mt19937 random = makeRandom(65);
    for (uint32_t round = 0; round < 2000; ++round) {
        CAPTURE(round);
        const uint32_t kind = uint32_t(random() % SLUICE_ZS_TABLES),
                       symbols = 1 + uint32_t(random() % (kind == SLUICE_ZS_OFFSETS ? 32 : 36));
        zstd::Histogram histogram;
        for (uint32_t i = 1 + uint32_t(random() % (random() % 2 == 0 ? 20 : 3000)); i > 0; --i)
            histogram.add(std::min(uint32_t(random() % symbols), uint32_t(random() % symbols)));
        uint64_t cost = 0;
        const auto code = zstd::bestFse(kind, histogram, cost);
        REQUIRE(code != nullptr);
        auto table = std::make_unique<zstd::SequenceTable>();
        uint32_t used = 0;
        CHECK(zstd::readSequenceTable(kind, code->mode, code->description.data(),
                                      code->description.size(), *table, used) == SLUICE_ST_OK);
        CHECK(used == code->description.size());
        CHECK(table->log == code->states.log);
        CHECK(code->cost(histogram) < zstd::kNever);
        zstd::LiteralCounts literals;
        const uint32_t letters = 2 + uint32_t(random() % 255);
        for (uint32_t i = 2 + uint32_t(random() % 5000); i > 0; --i)
            ++literals.count[random() % 3 == 0 ? random() % letters
                                               : random() % (1 + random() % letters)];
        const auto tree = zstd::fitLiterals(literals);
        if (literals.used() < 2) continue;
        REQUIRE(tree != nullptr);
        auto read = std::make_unique<zstd::Tree>();
        CHECK(zstd::readTree(tree->description.data(), tree->description.size(),
                             SLUICE_ZS_MAX_CODE_LENGTH, *read) == SLUICE_ST_OK);
        CHECK(read->bytes == tree->description.size());
    }
}

TEST_CASE("zstd encoder: an archive is the same with any number of threads, and stores noise")
{
    std::mt19937 random = makeRandom(66);
    PackedAsset asset;
    asset.name = "a";
    asset.add(copies(random, 600000, 100, 12), SLUICE_CODEC_ZSTD, 65536);
    asset.add(randomBytes(random, 70000), SLUICE_CODEC_ZSTD, 65536);
    asset.add(smoothBytes(random, 100000), SLUICE_CODEC_ZSTD, 32768, true);
    const Bytes file = packArchive({asset}, {}, false, 0);
    for (const uint32_t threads : {1u, 2u, 5u})
        CHECK((packArchive({asset}, {}, false, threads) == file));
    uint32_t coded = 0, stored = 0;
    for (const SluiceArchiveTile& tile : ParsedArchive(file).records(0))
        ++(tile.codec == SLUICE_CODEC_ZSTD ? coded : stored);
    CHECK(coded == 10 + 4);
    CHECK(stored == 2);
    // An item says that there are such tiles, only if there are any.
    const auto codecsIn = [](const Bytes& archive) {
        const SluiceArchiveAsset info = ParsedArchive(archive).asset(0);
        const auto* const items = static_cast<const uint8_t*>(info.parameters);
        if (info.parameterSize < kItemHead + 4) return 0u;
        const uint8_t* const item = items + info.parameterSize - kItemHead - 4;
        return loadLe16(item) == kCodecsItem ? loadLe32(item + kItemHead) : 0u;
    };
    CHECK(codecsIn(file) == 1u << SLUICE_CODEC_ZSTD);
    PackedAsset noise;
    noise.name = "b";
    noise.add(randomBytes(random, 70000), SLUICE_CODEC_ZSTD, 65536);
    CHECK(ParsedArchive(packArchive({noise})).asset(0).parameterSize == 0);
    noise.add(Bytes(1000), SLUICE_CODEC_ZSTD, 65536);
    CHECK(codecsIn(packArchive({asset, noise})) != 0);
}

} // namespace sluice::test
