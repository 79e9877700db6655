// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the sluice command with Zstandard files.
#include <zstd.h>

#include "formats/little_endian.h"
#include "tests/support/devices.h"
#include "tests/support/short_runs.h"
#include "tests/support/zstd_decode.h"
#include "tests/tool/tool_cost.h"
#include "test_paths.h"

using namespace sluice::test;

namespace {

struct FrameOptions {
    int level = 3;
    bool checksum = false, size = true;
    int windowLog = 0;
    std::string dictionary = {};
};

std::string compress(const std::string& bytes, const FrameOptions& options = {})
{
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
    const std::pair<ZSTD_cParameter, int> parameters[] = {{ZSTD_c_compressionLevel, options.level},
                                                          {ZSTD_c_checksumFlag, options.checksum},
                                                          {ZSTD_c_contentSizeFlag, options.size},
                                                          {ZSTD_c_windowLog, options.windowLog}};
    for (const auto& [parameter, value] : parameters)
        REQUIRE(ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), parameter, value)) == 0);
    ZSTD_CCtx_loadDictionary(context.get(), options.dictionary.data(), options.dictionary.size());
    std::string frame(ZSTD_compressBound(bytes.size()), 0);
    const size_t size =
        ZSTD_compress2(context.get(), &frame[0], frame.size(), bytes.data(), bytes.size());
    REQUIRE(ZSTD_isError(size) == 0);
    frame.resize(size);
    return frame;
}

std::string le(uint64_t value, size_t size)
{
    std::string bytes(size, 0);
    sluice::storeLe(&bytes[0], value, size);
    return bytes;
}

std::string skippable(uint32_t number, const std::string& content)
{
    return le(0x184d2a50 + number, 4) + le(content.size(), 4) + content;
}

const std::string kMagic = le(0xfd2fb528, 4);

// A frame of 1,000 RLE blocks of 128 KiB.
std::string bomb(bool hasSize)
{
    std::string frame = kMagic + (hasSize ? le(0xa0, 1) + le(1000 << 17, 4) : le(0x5800, 2));
    for (uint32_t i = 0; i < 1000; ++i)
        frame += le(1u << 20 | 2 | (i == 999 ? 1 : 0), 3) + "b";
    return frame;
}

// A seekable file of these contents, with checksums in its table if they are wanted.
std::string seekable(const std::vector<std::string>& contents, bool checksums)
{
    std::string file, table;
    for (const std::string& content : contents) {
        const std::string frame = compress(content);
        file += frame;
        table += le(frame.size(), 4) + le(content.size(), 4);
        const Bytes bytes(content.begin(), content.end());
        const Bytes checksum = zstdChecksum(bytes);
        if (checksums) table.append(checksum.begin(), checksum.end());
    }
    table += le(contents.size(), 4) + le(checksums ? 0x80 : 0, 1) + le(0x8f92eab1, 4);
    return file + skippable(14, table);
}

} // namespace

TEST_CASE("tool zstd: files come back, whatever frames they have")
{
    Folder tool;
    const std::string bytes = picture() + sound() + picture();
    std::vector<std::pair<std::string, std::string>> files; // of what, and of frames
    for (const int level : {-5, 1, 3, 9, 19, 22})
        files.emplace_back(bytes, compress(bytes, {level, level % 2 != 0, level > 3}));
    for (const int windowLog : {10, 17, 24})
        files.emplace_back(bytes, compress(bytes, {5, true, false, windowLog}));
    files.emplace_back("", compress(""));
    files.emplace_back("", compress("", {3, true, false}));
    files.emplace_back("", skippable(3, "nothing but this"));
    files.emplace_back("x", compress("x"));
    std::string many, contents;
    for (uint32_t i = 0; i < 300; ++i) { // sizes from 0 to some MB
        const std::string part = bytes.substr(0, i % 50 == 0 ? bytes.size() : i * i % 7000);
        if (i % 7 == 0) many += skippable(i % 16, part.substr(0, i));
        many += compress(part, {int(i % 5), i % 2 == 0, i % 3 != 0});
        contents += part;
    }
    files.emplace_back(contents, many);
    files.emplace_back(bytes + "end", seekable({bytes, "", "end"}, false));
    files.emplace_back(bytes + "end", seekable({bytes, "", "end"}, true));
    files.emplace_back(std::string(1000 << 17, 'b'), bomb(true));
    files.emplace_back(std::string(1000 << 17, 'b'), bomb(false));
    for (size_t i = 0; i < files.size(); ++i) {
        CAPTURE(i);
        tool.write("x.zst", files[i].second);
        for (const char* threads : {"1", "3"}) {
            REQUIRE(tool(std::string("unpack -f x.zst -j ") + threads) == 0);
            CHECK((tool.read("x") == files[i].first));
            REQUIRE(tool(std::string("unpack - -o - <x.zst -j ") + threads) == 0);
            CHECK((tool.output() == files[i].first));
        }
        CHECK(tool("verify x.zst") == 0);
        CHECK(contains(tool.output(), "x.zst: ok"));
        CHECK(tool("info x.zst") == 0);
        CHECK(tool("info x.zst --json") == 0);
        CHECK(contains(tool.output(), "\"kind\": \"zstandard\""));
    }
    CHECK_FALSE(tool.hasTemporaries());
}

TEST_CASE("tool zstd: where the output goes")
{
    Folder tool;
    const std::string frame = compress("hello");
    for (const char* name : {"d/a.txt.zst", "d/b.ZSTD", "d/c.tzst", "d/plain", "d/e.bin"})
        tool.write(name, frame);
    CHECK(tool("unpack d/a.txt.zst") == 0); // beside the input, as for tile streams
    CHECK(tool.read("d/a.txt") == "hello");
    CHECK(tool("unpack d/a.txt.zst") == 2); // it exists
    CHECK(tool("unpack -f d/a.txt.zst") == 0);
    CHECK(tool("unpack d/a.txt.zst d/b.ZSTD d/c.tzst -C out") == 0);
    CHECK(tool.read("out/a.txt") == "hello");
    CHECK(tool.read("out/b") == "hello");
    CHECK(tool.read("out/c.tar") == "hello");
    tool.write("d/.zst", frame); // nothing would be left of this name
    for (const char* name : {"d/plain", "d/e.bin", "d/.zst", "- <d/plain"}) {
        CHECK(tool(std::string("unpack ") + name) == 1);
        CHECK(contains(tool.errors(), ": has no suffix .zst, .zstd or .tzst to take off; name "
                                      "the output with -o"));
        CHECK(tool(std::string("unpack -f -o named ") + name) == 0);
        CHECK(tool.read("named") == "hello");
    }
    CHECK(tool("unpack d/plain -f -o d/plain") == 2); // it is the input
    CHECK(tool("unpack d/a.txt.zst d/b.ZSTD -o one") == 1);
    CHECK(tool("unpack d/a.txt.zst d/a.txt") == 1); // is no Zstandard file
    CHECK(tool("unpack d/a.txt.zst --only '*'") == 1);
    CHECK(tool("unpack d/a.txt.zst --list") == 1);
    CHECK(tool("verify d/a.txt.zst --compare d") == 1);
    CHECK(tool("info d/a.txt.zst --html page") == 1);
    CHECK(tool("verify d/a.txt.zst - <d/plain") == 0);
    CHECK(contains(tool.output(), "stdin: ok"));
    tool.write("d/empty", "");
    CHECK(tool("verify d/a.txt.zst d/empty") == 3);
    CHECK(contains(tool.errors(), "d/empty: the file is empty"));
    CHECK(tool("verify d/a.txt.zst --device cpu --tier fast") == 0);
    CHECK(tool("verify d/a.txt.zst --device cpu --tier ref") == 1);
    CHECK(tool("verify d/a.txt.zst --device nonsense") == 1);
    CHECK(tool("verify d/a.txt.zst --device vulkan:99") == 4); // as for archives
    REQUIRE(tool("pack -o x.sluice d") == 0);
    CHECK(tool("verify x.sluice --dictionary d/plain") == 1);
    CHECK(tool("verify x.sluice d/a.txt.zst") == 1);
    CHECK(tool("diff x.sluice d/a.txt.zst") == 3);
    CHECK(contains(tool.errors(), "d/a.txt.zst: is a Zstandard file, and no .sluice archive"));
    tool.write("d/short", frame.substr(0, 3));
    CHECK(tool("verify d/short") == 3);
    CHECK(
        contains(tool.errors(), "neither a .sluice archive, a tile stream, a Zstandard file nor"));
    CHECK(tool("transcode --reblock --frame-size 0 d/plain -o y.zst") == 1);
    CHECK(contains(tool.errors(), "'0' is not between 1024 and 1073741824 bytes\n"));
}

TEST_CASE("tool zstd: what is wrong is told, and no file is left")
{
    Folder tool;
    const std::string first = compress(picture(), {3, true}), second = compress(sound(), {3, true}),
                      third = compress(noise(1000), {3, true});
    const auto damaged = [](std::string frame) {
        frame.back() = char(frame.back() ^ 1);
        return frame;
    };
    const auto fails = [&](const std::string& file, int code, const std::string& message) {
        CAPTURE(message);
        tool.write("bad.zst", file);
        CHECK(tool("verify bad.zst") == code);
        CHECK_MESSAGE(contains(tool.errors(), message), tool.errors());
        CHECK(tool("unpack bad.zst") == code);
        CHECK_MESSAGE(contains(tool.errors(), message), tool.errors());
        CHECK_FALSE(tool.has("bad"));
        CHECK_FALSE(tool.hasTemporaries());
    };
    const std::string at = " at byte " + std::to_string(first.size());
    fails(first + damaged(second) + third, 3, "bad.zst: frame 1" + at);
    fails(first + damaged(second) + third, 3, "do not match their checksum");
    fails(first + second.substr(0, second.size() - 1), 3,
          "bad.zst: frame 1" + at + ": the file is cut off");
    for (const char* behind : {"more", "and more", "x", "\n"})
        fails(first + behind, 3, "bad.zst: frame 1" + at + ": no frame begins there");
    fails(first + kMagic.substr(0, 3), 3, "bad.zst: frame 1" + at + ": the file is cut off");
    fails(first + kMagic.substr(0, 1), 3, "bad.zst: frame 1" + at + ": the file is cut off");
    // All that is damaged is told with --keep-going, and what is right goes on.
    tool.write("bad.zst", damaged(first) + second + damaged(third));
    tool.write("good.zst", second);
    CHECK(tool("verify --keep-going bad.zst good.zst") == 3);
    CHECK(contains(tool.errors(), "bad.zst: frame 0 at byte 0"));
    CHECK(contains(tool.errors(), "bad.zst: frame 2 at byte "));
    CHECK(contains(tool.errors(), "bad.zst: 2 of 3 frames are not right"));
    CHECK(contains(tool.output(), "good.zst: ok"));
    CHECK(tool("unpack --keep-going bad.zst good.zst") == 3);
    CHECK_FALSE(tool.has("bad"));
    CHECK(tool.read("good") == sound());
    // stdout gets what is before the damage.
    for (const char* threads : {"1", "2"}) {
        tool.write("bad.zst", first + damaged(second) + third);
        CHECK(tool(std::string("unpack bad.zst -o - -j ") + threads) == 3);
        CHECK(tool.output() == picture() + sound());
    }

    fails(kMagic + le(0x21 | 7 << 8 | 1 << 16, 3) + le(9, 3) + "x", 5, "needs the dictionary 7");
    // Windows of 2^29 to 2^41 bytes, for more content than they have.
    tool.write("w.zst", compress(std::string(3000000, 'w'), {3, false, true, 27}));
    CHECK(tool("verify w.zst --max-window 1M") == 5);
    CHECK(contains(tool.errors(), "--max-window sets another"));
    CHECK(tool("verify w.zst --max-window 3M") == 0);
    for (uint32_t log = 10; log <= 41; ++log) {
        tool.write("w.zst", kMagic + le((log - 10) << 11, 2) + le(9, 3) + "x");
        CHECK_MESSAGE(tool("verify w.zst") == 0, log); // a window as large as the content will do
    }
    // Sizes.
    tool.write("bomb.zst", bomb(true));
    CHECK(tool("unpack --max-output 100M bomb.zst") == 3);
    CHECK(contains(tool.errors(), "--max-output sets another"));
    tool.write("bomb.zst", bomb(false));
    CHECK(tool("unpack --max-output 100M bomb.zst") == 3);
    CHECK(tool("unpack --max-output 0 bomb.zst") == 1);
    CHECK_FALSE(tool.has("bomb"));
    std::string much;
    for (uint32_t i = 0; i < 5; ++i)
        much += bomb(i % 2 == 0);
    fails(much, 3, "--max-output sets another");
    // Frames of a size that their blocks cannot have.
    for (const uint32_t bits : {20, 32, 40, 62, 63})
        fails(kMagic + le(0xe0, 1) + le(uint64_t(1) << bits, 8) + le(9, 3) + "x", 3, "frame 0");
    // Seek tables that say something else.
    for (const size_t place : {9 + 8, 9 + 12, 9 + 24}) {
        std::string file = seekable({picture(), sound(), "end"}, true);
        file[file.size() - 1 - place] ^= 1;
        tool.write("seek.zst", file);
        CHECK(tool("verify seek.zst") == 3);
        CHECK(tool("info seek.zst") == 0);
    }
}

TEST_CASE("tool zstd: a seek table without entries is for files without frames")
{
    Folder tool;
    for (const bool checksums : {false, true}) {
        const std::string none = seekable({}, checksums);
        for (const std::string& file : {none, skippable(3, "abc") + none}) {
            tool.write("x.zst", file);
            CHECK(tool("verify x.zst") == 0);
            CHECK(tool("unpack -f x.zst") == 0);
            CHECK(tool.read("x").empty());
            CHECK(tool("info x.zst") == 0);
            CHECK(contains(tool.output(), "seekable: a table of 0 entries"));
            CHECK_FALSE(contains(tool.output(), "contradicts"));
        }
        for (const std::string& frame : {compress("a"), compress("")}) {
            tool.write("x.zst", frame + none);
            CHECK(tool("verify x.zst") == 3);
            CHECK(contains(tool.errors(), "x.zst: the seek table at byte " +
                                              std::to_string(frame.size() + 8) +
                                              " contradicts the frames"));
            CHECK(tool("info x.zst") == 0);
            CHECK(contains(tool.output(), "0 entries"));
            CHECK(contains(tool.output(), "which contradicts the frames"));
            CHECK(tool("info x.zst --json") == 0);
            CHECK(contains(tool.output(), "\"seekTable\": {\"entries\": 0, "));
            CHECK(contains(tool.output(), "\"fits\": false"));
        }
    }
}

TEST_CASE("tool zstd: what only looks like a seek table is none")
{
    Folder tool;
    // Its sizes are wrong, as they would be told of a table.
    const std::string table =
        skippable(14, le(1, 4) + le(2, 4) + le(1, 4) + le(0, 1) + le(0x8f92eab1, 4));
    const std::string content = "before" + table;
    tool.write("x.zst", kMagic + le(0x20, 1) + le(content.size(), 1) +
                            le(content.size() << 3 | 1, 3) + content);
    CHECK(tool("verify x.zst") == 0);
    CHECK(tool("unpack x.zst") == 0);
    CHECK(tool.read("x") == content);
    CHECK(tool("info x.zst") == 0);
    CHECK_FALSE(contains(tool.output(), "seekable"));
    tool.write("x.zst", compress("before") + skippable(0, table));
    CHECK(tool("verify x.zst") == 0);
    tool.write("x.zst", compress("before") + table);
    CHECK(tool("verify x.zst") == 3);
    CHECK(contains(tool.errors(), "seek table"));
    CHECK(tool("info x.zst") == 0);
    CHECK(contains(tool.output(), "seekable"));
}

TEST_CASE("tool zstd: --keep-going, with damage that is found before anything is decoded")
{
    Folder tool;
    const std::string first = compress(picture(), {3, true}), third = compress(sound(), {3, true}),
                      tooShort = kMagic + le(0x20, 1) + le(20, 1) + le(9, 3) + "x",
                      other = kMagic + le(0x21 | 7 << 8 | 1 << 16, 3) + le(9, 3) + "x",
                      wide = compress(std::string(3000000, 'w'), {3, false, false, 21});
    for (const std::string& left : {tooShort, other, wide}) {
        const int code = left == tooShort ? 3 : 5;
        CAPTURE(code);
        tool.write("x.zst", first + left + third + first);
        for (const char* threads : {"1 --max-window 1M", "3 --max-window 1M"}) {
            CHECK(tool(std::string("unpack --keep-going x.zst -o - -j ") + threads) == code);
            CHECK((tool.output() == picture()));
            CHECK(contains(tool.errors(), "frame 1 at byte " + std::to_string(first.size())));
            CHECK(contains(tool.errors(), "1 of 4 frames are not right"));
            CHECK(tool(std::string("unpack x.zst -o - -j ") + threads) == code);
            CHECK(tool.output().empty());
        }
    }
    // Frames behind one with another dictionary are found and decoded.
    std::string damaged = third;
    damaged.back() = char(damaged.back() ^ 1);
    tool.write("x.zst", other + first + damaged + other + tooShort);
    CHECK(tool("verify --keep-going x.zst") == 3);
    CHECK(contains(tool.errors(), "frame 0 at byte 0 needs the dictionary 7"));
    CHECK(contains(tool.errors(), "do not match their checksum"));
    CHECK(contains(tool.errors(), "4 of 5 frames are not right"));
    // So are those behind one whose window is too large.
    tool.write("x.zst", first + wide + damaged + wide + third);
    CHECK(tool("verify --keep-going --max-window 1M x.zst") == 3);
    CHECK(contains(tool.errors(), "frame 1 at byte " + std::to_string(first.size()) +
                                      " needs a window of 2097152 bytes, and the limit is 1048576; "
                                      "--max-window sets another"));
    CHECK(contains(tool.errors(), "frame 3 at byte "));
    CHECK(contains(tool.errors(), "do not match their checksum"));
    CHECK(contains(tool.errors(), "3 of 5 frames are not right"));
    tool.write("x.zst", seekable({std::string(2000000, 'w'), "end"}, true));
    CHECK(tool("verify --keep-going --max-window 1M x.zst") == 5);
    CHECK(contains(tool.errors(), "1 of 3 frames are not right"));
    CHECK(tool("verify x.zst") == 0);
    // A frame that is left out has an entry in the seek table, which skippable frames need not
    // have.
    const Bytes yes = {'y', 'e', 's'}, checksum = zstdChecksum(yes);
    const std::string good = compress("yes");
    tool.write("x.zst",
               skippable(1, "") + other + good +
                   skippable(14, le(other.size(), 4) + le(1, 4) + le(0, 4) + le(good.size(), 4) +
                                     le(3, 4) + std::string(checksum.begin(), checksum.end()) +
                                     le(2, 4) + le(0x80, 1) + le(0x8f92eab1, 4)));
    CHECK(tool("verify --keep-going x.zst") == 5);
    CHECK(contains(tool.errors(), "1 of 4 frames are not right"));
    // The first 1,000 are told, and the others are counted.
    const auto repeat = [](const std::string& text, uint32_t count) {
        std::string all;
        for (uint32_t i = 0; i < count; ++i)
            all += text;
        return all;
    };
    const auto lines = [&] {
        const std::string errors = tool.errors();
        return std::count(errors.begin(), errors.end(), '\n');
    };
    std::string small = compress("x", {3, true});
    const size_t end = small.size();
    small.back() = char(small.back() ^ 1);
    for (const std::string& frame : {tooShort, other, small}) {
        tool.write("x.zst", repeat(frame, 1500));
        CHECK(tool("verify --keep-going x.zst -j 3") == (frame == other ? 5 : 3));
        CHECK(contains(tool.errors(), "frame 999 at byte " + std::to_string(999 * frame.size())));
        CHECK_FALSE(contains(tool.errors(), "frame 1000 "));
        CHECK(contains(tool.errors(), "x.zst: and 500 more"));
        CHECK(contains(tool.errors(), "1500 of 1500 frames are not right"));
        CHECK(lines() == 1002);
    }
    CHECK(end == small.size());
    tool.write("x.zst", repeat(other, 1000) + tooShort);
    CHECK(tool("verify --keep-going x.zst") == 3); // by a frame that is not told
}

TEST_CASE("tool zstd: dictionaries")
{
    Folder tool;
    const std::string dictionary = picture().substr(0, 5000), bytes = picture().substr(1000, 3000);
    tool.write("dictionary", dictionary);
    FrameOptions options;
    options.dictionary = dictionary;
    tool.write("x.zst", compress(bytes, options)); // a raw dictionary has no id
    CHECK(tool("unpack x.zst -D dictionary") == 0);
    CHECK(tool.read("x") == bytes);
    CHECK(tool("unpack -f x.zst") == 3);
    CHECK(tool.read("x") == bytes);
    CHECK(tool("unpack -f x.zst -D none") == 2);
    tool.write("dictionary.zst", tool.read("x.zst"));
    CHECK(tool("unpack -f dictionary.zst -D dictionary") == 2); // it is an input
    CHECK(tool.read("dictionary") == dictionary);
    CHECK(tool("unpack -f x.zst -D dictionary -o dictionary") == 2);
    CHECK(tool.read("dictionary") == dictionary);
    tool.write("trained", le(0xec30a437, 4) + "damaged");
    CHECK(tool("unpack -f x.zst -D trained") == 3);
    CHECK(contains(tool.errors(), "damaged dictionary"));
}

TEST_CASE("tool zstd: a file that is cut at any byte, and third parties' vectors")
{
    Folder tool;
    const std::string file = skippable(1, "abc") + compress(noise(40), {3, true}) +
                             compress(std::string(300, 'x') + "yz", {3, false, false});
    for (size_t size = 0; size < file.size(); ++size) {
        CAPTURE(size);
        tool.write("x.zst", file.substr(0, size));
        const int code = tool("unpack x.zst");
        const bool isWhole = size == 11 || size == 11 + compress(noise(40), {3, true}).size();
        CHECK(code == (isWhole ? 0 : 3));
        CHECK(tool.has("x") == isWhole);
        CHECK(tool.errors().size() < 200);
        fs::remove(tool.path / "x");
    }
    const std::pair<const char*, int> vectors[] = {
        {"empty-block.zst", 0},          {"off0.bin.zst", 3},   {"rle-first-block.zst", 0},
        {"truncated_huff_state.zst", 3}, {"zeroSeq_2B.zst", 0}, {"zeroSeq_extraneous.zst", 3}};
    for (const auto& [name, expected] : vectors) {
        CAPTURE(name);
        const std::string vector = readFile(fs::path(SLUICE_TEST_DATA_DIR) / "zstd" / name);
        tool.write("v.zst", vector);
        const int code = tool("unpack -f v.zst -o v");
        CHECK(code == expected);
        CHECK(tool.has("v") == (code == 0));
        if (code != 0) continue;
        const std::string got = tool.read("v");
        const ZstdDecoded decoded = decodeZstd(Bytes(vector.begin(), vector.end()), got.size());
        CHECK(decoded.outcome.status == SLUICE_TILE_OK);
        CHECK((decoded.bytes == Bytes(got.begin(), got.end())));
        fs::remove(tool.path / "v");
    }
}

TEST_CASE("tool zstd: damaged files give the right bytes or none, in bounded memory")
{
    Folder tool;
    std::mt19937 random = makeRandom(895);
    const std::string bytes = picture().substr(0, 3000) + noise(200) + std::string(3000, 'r');
    const std::string files[] = {
        compress(bytes, {19, true}), compress(bytes), compress(bytes, {1, false, false}),
        compress(bytes.substr(0, 500), {3, true}) + skippable(9, "skip") + compress("end"),
        seekable({bytes, "end"}, true)};
    uint32_t good = 0;
    const uint32_t total = environmentNumber("SLUICE_MUTATIONS", 100);
    const uint64_t least = costOf(tool, "--version").bytes; // as checkCost() says
    for (uint32_t i = 0; i < total; ++i) {
        CAPTURE(i);
        std::string file = files[i % std::size(files)];
        for (uint32_t n = 1 + uint32_t(random() % 3); n > 0; --n) {
            const size_t most = random() % 2 != 0 ? std::min<size_t>(file.size(), 40) : file.size();
            file[random() % most] ^= char(1u << random() % 8);
        }
        if (random() % 8 == 0) file.resize(4 + random() % (file.size() - 4));
        tool.write("x.zst", file);
        const Cost cost = costOf(tool, "unpack x.zst -o x");
        const int code = cost.code;
        REQUIRE(code >= 0);
        CHECK(cost.bytes < kMostMemory + least);
        CHECK(tool.has("x") == (code == 0));
        CHECK((code == 0 || code == 3 || code == 5));
        if (code != 0) continue;
        ++good;
        const std::string got = tool.read("x");
        const ZstdDecoded decoded = decodeZstd(Bytes(file.begin(), file.end()), got.size());
        CHECK(decoded.outcome.status == SLUICE_TILE_OK);
        CHECK((decoded.bytes == Bytes(got.begin(), got.end())));
        const LibzstdDecoded other = decodeByLibzstd(Bytes(file.begin(), file.end()), got.size());
        if (other.error == ZSTD_error_no_error) CHECK((other.bytes == decoded.bytes));
        fs::remove(tool.path / "x");
    }
    CHECK(good > 0);
    CHECK(good < total);
    CHECK_FALSE(tool.hasTemporaries());
}

TEST_CASE("tool zstd cost: bombs, many frames, many blocks")
{
    if (kSlow) return;
    Folder tool;
    std::string bombs, frames, blocks = kMagic + le(0x5800, 2);
    for (uint32_t i = 0; i < 4; ++i)
        bombs += bomb(i % 2 == 0);
    while (frames.size() < 9000000) // nothing in a single segment
        frames += kMagic + le(0x20, 2) + le(1, 3);
    while (blocks.size() < 9000000) // raw blocks of nothing
        blocks += le(0, 3);
    tool.write("x.zst", bombs);
    checkCost(tool, "verify -q x.zst -j 1");
    tool.write("x.zst", frames);
    checkCost(tool, "verify -q x.zst");
    tool.write("x.zst", blocks + le(1, 3));
    checkCost(tool, "verify -q x.zst");
    // Blocks of one sequence, for which they describe three tables of all states: what takes most
    // for its bytes, in a frame whose content has to be counted before. They are half of 10 MB.
    const std::string lengths = le(4 | 1022 << 4 | 3 << 14, 2), // 511 states for a symbol, 1
        offsets = le(3 | 510 << 4 | 3 << 13, 2),                // 255, 1
        content = le(0, 1) + le(1, 1) + le(0xa8, 1) + lengths + offsets + lengths + le(1 << 26, 4);
    std::string tables = kMagic + le(0x5000, 2) + le(16 << 3, 3) + noise(16);
    for (uint32_t i = 0; i < 310000; ++i)
        tables += le(content.size() << 3 | 4 | (i == 309999 ? 1 : 0), 3) + content;
    tool.write("x.zst", tables);
    for (const char* arguments : {"verify -q x.zst", "transcode -q -f -o x.sluice x.zst"}) {
        const Cost cost = costOf(tool, arguments);
        CHECK(cost.code == 0);
        CHECK_MESSAGE(cost.seconds < 10, arguments);
    }
    // Skippable frames come first and have no entries in the table. So their place in it runs ahead
    // of that of other frames, and the seconds must not depend on how far.
    const std::string empty = kMagic + le(0x20, 2) + le(1, 3), checksum = le(0x51d8e999, 4);
    const auto secondsWith = [&](uint32_t skippables) {
        constexpr uint32_t kEmpty = 230000;
        std::string file, table;
        for (uint32_t i = 0; i < skippables; ++i)
            file += skippable(0, "s");
        for (uint32_t i = 0; i < kEmpty; ++i) {
            file += empty;
            table += le(empty.size(), 8) + checksum;
        }
        tool.write("x.zst",
                   file + skippable(14, table + le(kEmpty, 4) + le(0x80, 1) + le(0x8f92eab1, 4)));
        const Cost cost = costOf(tool, "verify -q x.zst");
        CHECK(cost.code == 0);
        return cost.seconds;
    };
    CHECK(secondsWith(9000) < 4 * secondsWith(90) + 0.5);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tool zstd: a device gives the bytes, messages and exit codes of the CPU")
{
    if (device().backend() == SLUICE_BACKEND_CPU || skipsSlowCompiler() || skipsOtherSizes())
        return;
    Folder tool;
    const auto isSame = [&](const std::string& arguments, int code) {
        CAPTURE(arguments);
        CHECK(tool(arguments) == code);
        const std::string output = tool.output(), errors = tool.errors();
        CHECK(tool(arguments + onDevice()) == code);
        CHECK((tool.output() == output));
        CHECK(tool.errors() == errors);
    };
    const std::string dictionary = sound().substr(0, 5000), bytes = picture() + sound();
    tool.write("dictionary", dictionary);
    std::string many, contents;
    for (uint32_t i = 0; i < 200; ++i) {
        const std::string part = bytes.substr(0, i % 50 == 0 ? bytes.size() : i * i % 7000);
        if (i % 7 == 0) many += skippable(i % 16, part.substr(0, i));
        many += compress(part, {int(i % 5), i % 2 == 0, i % 3 != 0});
        contents += part;
    }
    const std::pair<std::string, std::string> files[] = {
        {contents, many},
        {"", skippable(3, "nothing but this")},
        {bytes + "end", seekable({bytes, "", "end"}, true)},
        {bytes, compress(bytes, {3, true, false, 0, dictionary})}};
    for (const auto& [content, file] : files) {
        tool.write("x.zst", file);
        isSame("verify x.zst -D dictionary", 0);
        isSame("unpack x.zst -D dictionary -o -", 0);
        CHECK((tool.output() == content));
        REQUIRE(tool("unpack -f x.zst -D dictionary" + onDevice()) == 0);
        CHECK((tool.read("x") == content));
    }

    // Damage of every kind, in frames whose lengths still say where the next one begins.
    std::mt19937 random = makeRandom(896);
    const std::string good[] = {
        compress(bytes, {3, true}), compress(bytes.substr(0, 3000), {19, true}),
        compress(noise(300), {3, true}), compress(std::string(5000, 'r'), {3, true, false})};
    std::string damaged;
    uint32_t frames = 0, changed = 0;
    for (; frames < 100; ++frames) {
        std::string frame = good[frames % std::size(good)];
        const std::string before = frame;
        frame[6 + random() % (frame.size() - 6)] ^= char(1u << random() % 8);
        const bool keeps = frames % 3 != 0 &&
                           ZSTD_findFrameCompressedSize(frame.data(), frame.size()) == frame.size();
        damaged += keeps ? frame : before;
        changed += keeps ? 1 : 0;
    }
    CHECK(changed > 20);
    tool.write("x.zst", damaged);
    isSame("verify --keep-going x.zst", 3);
    CHECK(contains(tool.errors(), " frames are not right"));
    isSame("verify x.zst", 3);
    isSame("unpack x.zst -o -", 3);
    isSame("unpack --keep-going x.zst -o -", 3);
    isSame("unpack x.zst -o damaged", 3);
    CHECK_FALSE(tool.has("damaged"));
    CHECK_FALSE(tool.hasTemporaries());
    tool.write("x.zst", kMagic + le(0x21 | 7 << 8 | 1 << 16, 3) + le(9, 3) + "x");
    isSame("verify x.zst", 5);
    // A checksum that only the table of a seekable file has.
    std::string table = seekable({bytes, "", "end"}, true);
    table[table.size() - 9 - 12 - 1] ^= 1; // of the second frame
    tool.write("x.zst", table);
    isSame("verify x.zst", 3);
    CHECK(contains(tool.errors(), "x.zst: frame 1 at byte "));
    // Larger than a batch of a software device.
    tool.write("x.zst", compress("before") + bomb(true) + compress("behind"));
    REQUIRE(tool("unpack -f x.zst" + onDevice()) == 0);
    CHECK((tool.read("x") == "before" + std::string(1000 << 17, 'b') + "behind"));
    CHECK(contains(tool.errors(), "too large for a batch") == isSoftware());
}

TEST_SUITE_END();
