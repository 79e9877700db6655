// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that frames are written anew with the same content, in short blocks, and with a table.
#include "encode/zstd/zstd_reblock.h"

#include <sluice/sluice_encode.h>

#include "tests/support/filters.h"
#include "tests/support/packed_archives.h"

#include <zstd.h>

#include <algorithm>

#include "formats/little_endian.h"

namespace sluice::test {
namespace {

struct Outcome {
    uint32_t status;
    uint64_t offset;
    Bytes bytes;
};

Outcome reblock(const Bytes& file, uint32_t frameSize = 0, uint64_t maxWindow = uint64_t(1) << 27)
{
    Outcome outcome = {};
    zstd::ReblockInfo info;
    info.size = file.size();
    info.read = [&](uint64_t offset, void* to, size_t size) {
        REQUIRE(offset <= file.size());
        REQUIRE(size <= file.size() - offset);
        std::copy_n(file.data() + offset, size, static_cast<uint8_t*>(to));
    };
    info.write = [&](const void* bytes, size_t size) {
        const auto* begin = static_cast<const uint8_t*>(bytes);
        outcome.bytes.insert(outcome.bytes.end(), begin, begin + size);
    };
    info.frameSize = frameSize;
    info.level = 3;
    info.maxWindow = maxWindow;
    zstd::Reblocker reblocker(info);
    outcome.status = reblocker.run();
    outcome.offset = reblocker.offset();
    if (outcome.status == SLUICE_ST_OK) CHECK(reblocker.bytesOut() == outcome.bytes.size());
    return outcome;
}

// Returns text-like bytes with many matches.
Bytes content(std::mt19937& random, size_t size)
{
    Bytes bytes = smoothBytes(random, size / 2 + 1);
    while (bytes.size() < size) {
        const size_t from = random() % bytes.size(), count = 3 + random() % 40;
        for (size_t i = 0; i < count; ++i)
            bytes.push_back(bytes[from + i < bytes.size() ? from + i : from]);
        bytes.push_back(uint8_t(random()));
    }
    bytes.resize(size);
    return bytes;
}

Bytes frameOf(const Bytes& bytes, int level, bool hasSize, bool checksum)
{
    Bytes frame(ZSTD_compressBound(bytes.size()) + 64);
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, hasSize ? 1 : 0);
    ZSTD_outBuffer out = {frame.data(), frame.size(), 0};
    for (size_t at = 0; !hasSize && at < bytes.size(); at += 50000) {
        ZSTD_inBuffer in = {bytes.data() + at, std::min<size_t>(50000, bytes.size() - at), 0};
        REQUIRE(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush)) == 0);
    }
    ZSTD_inBuffer in = {bytes.data(), hasSize ? bytes.size() : 0, 0};
    REQUIRE(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) == 0);
    ZSTD_freeCCtx(context);
    frame.resize(out.pos);
    return frame;
}

// Returns what libzstd decodes, which must be `size` bytes.
Bytes decoded(const Bytes& file, size_t size)
{
    Bytes bytes(size + 1);
    const size_t got = ZSTD_decompress(bytes.data(), bytes.size(), file.data(), file.size());
    CHECK(ZSTD_isError(got) == 0);
    CHECK(got == size);
    bytes.resize(size);
    return bytes;
}

void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

Bytes skippable(uint32_t number, const Bytes& content)
{
    Bytes frame(8);
    storeLe32(frame.data(), SLUICE_ZS_SKIPPABLE_MAGIC + number);
    storeLe32(frame.data() + 4, uint32_t(content.size()));
    append(frame, content);
    return frame;
}

// Follows the table at the end of a file and decodes each frame by itself. Returns all content.
Bytes byTable(const Bytes& file)
{
    REQUIRE(file.size() > 17);
    const uint8_t* const end = file.data() + file.size();
    CHECK(loadLe32(end - 4) == 0x8f92eab1);
    CHECK(end[-5] == 0);
    const uint32_t count = loadLe32(end - 9);
    const uint8_t* entry = end - 9 - 8 * size_t(count);
    CHECK(loadLe32(entry - 8) == 0x184d2a5e);
    CHECK(loadLe32(entry - 4) == 8 * count + 9);
    const uint8_t* at = file.data();
    Bytes content;
    for (uint32_t i = 0; i < count; ++i, entry += 8) {
        const size_t stored = loadLe32(entry), size = loadLe32(entry + 4);
        append(content, decoded(Bytes(at, at + stored), size));
        at += stored;
    }
    CHECK(at == end - 17 - 8 * size_t(count));
    return content;
}

uint32_t longestBlock(const Bytes& file, size_t size)
{
    zstd::StructureReader reader(file.data(), file.size(), size, {});
    uint32_t longest = 0;
    zstd::Block block;
    while (reader.next(block))
        longest = std::max(longest, block.sequences);
    CHECK(reader.status() == SLUICE_ST_OK);
    return longest;
}

} // namespace

TEST_CASE("zstd reblock: frames of every kind keep their content, with short blocks and a table")
{
    std::mt19937 random = makeRandom(71);
    for (const size_t size :
         {size_t(0), size_t(1), size_t(1000), size_t(300000), size_t(2500000)}) {
        const Bytes bytes = content(random, size);
        for (const int level : {1, 7, 19}) {
            if (level == 19 && size > 1000000) continue;
            for (uint32_t form = 0; form < 4; ++form) {
                CAPTURE(size);
                CAPTURE(level);
                CAPTURE(form);
                const Bytes file = frameOf(bytes, level, form % 2 == 0, form / 2 == 0);
                const Outcome made = reblock(file);
                REQUIRE(made.status == SLUICE_ST_OK);
                CHECK((decoded(made.bytes, size) == bytes));
                CHECK(longestBlock(made.bytes, size) <= zstd::kMostSequences);
                CHECK(double(made.bytes.size()) <= 1.01 * double(file.size()) + 25);
                CHECK(ZSTD_getFrameContentSize(made.bytes.data(), made.bytes.size()) ==
                      ZSTD_getFrameContentSize(file.data(), file.size()));
                if (form % 2 == 0) CHECK((byTable(made.bytes) == bytes));
                // Once more changes nothing but what the first time could not know.
                const Outcome again = reblock(made.bytes);
                CHECK(again.status == SLUICE_ST_OK);
                CHECK((decoded(again.bytes, size) == bytes));
            }
        }
    }
}

TEST_CASE("zstd reblock: several frames, skippable ones, an old table, and other sizes of frames")
{
    std::mt19937 random = makeRandom(72);
    Bytes all, file = skippable(3, {1, 2, 3});
    for (uint32_t i = 0; i < 3; ++i) {
        const Bytes bytes = content(random, 90001 + 50000 * i);
        append(all, bytes);
        append(file, frameOf(bytes, 5, true, i == 1));
    }
    append(file, skippable(14, {5, 6})); // has a table's magic number, but is none
    const Outcome made = reblock(file);
    REQUIRE(made.status == SLUICE_ST_OK);
    CHECK((byTable(made.bytes) == all));
    CHECK(std::equal(made.bytes.begin(), made.bytes.begin() + 11, file.begin()));
    // The table is made anew, not twice.
    CHECK((reblock(made.bytes).bytes == made.bytes));
    // So is one that is all that a file has.
    const Bytes none = skippable(14, {0, 0, 0, 0, 0, 0xb1, 0xea, 0x92, 0x8f});
    CHECK((reblock(none).bytes == none));
    for (const uint32_t frameSize : {1000u, 65536u, 90001u, 1u << 20}) {
        CAPTURE(frameSize);
        const Outcome cut = reblock(file, frameSize);
        REQUIRE(cut.status == SLUICE_ST_OK);
        CHECK((byTable(cut.bytes) == all));
        CHECK(longestBlock(cut.bytes, all.size()) <= zstd::kMostSequences);
    }
}

TEST_CASE("zstd reblock: what is wrong in a file is told")
{
    std::mt19937 random = makeRandom(73);
    const Bytes bytes = content(random, 200000),
                first = frameOf(content(random, 500), 3, true, true);
    Bytes file = first;
    append(file, frameOf(bytes, 3, true, true));
    Bytes wrong = file;
    wrong.back() ^= 1;
    CHECK(reblock(wrong).status == SLUICE_ST_BAD_CHECKSUM);
    CHECK(reblock(wrong).offset == first.size());
    wrong = file;
    wrong.pop_back();
    CHECK(reblock(wrong).status == SLUICE_ST_TRUNCATED);
    CHECK(reblock({1, 2, 3, 4, 5}).status == SLUICE_ST_BAD_CODE);
    CHECK(reblock(file, 0, 1000).status == SLUICE_ST_LIMIT);
    wrong = file;
    wrong[4] |= 1; // an id of a dictionary
    CHECK(reblock(wrong).status == SLUICE_ST_UNSUPPORTED);
    for (uint32_t i = 0; i < 300; ++i) {
        wrong = file;
        wrong[random() % wrong.size()] ^= uint8_t(1 << random() % 8);
        const Outcome made = reblock(wrong);
        if (made.status == SLUICE_ST_OK) CHECK(longestBlock(made.bytes, 300000) <= 2048);
    }
}

} // namespace sluice::test
