// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice bench: which rows it prints, from which inputs, and what it refuses.
#include <regex>
#include <algorithm>

#include <zstd.h>

#include "tests/tool/json_schema.h"
#include "tests/tool/tool_run.h"

using namespace sluice::test;

TEST_CASE("tool: the benchmark's rows of decoders")
{
    Tool tool;
    tool.write("f/picture.tga", picture());
    REQUIRE(tool("pack --filters median f -o s.sluice") == 0);
    REQUIRE(tool("pack -c gdeflate f -o d.sluice") == 0);
    CHECK(tool("bench -q --device cpu --filter gstd,filter,gdeflate --input s.sluice --input "
               "d.sluice --json -") == 0);
    const std::string rows = tool.output();
    CHECK(contains(rows, "\"kernel\": \"gstd\", \"size\": \"96.0 kB\""));
    CHECK(contains(rows, "\"kernel\": \"gstd filters\", \"size\": \"96.0 kB\""));
    CHECK(contains(rows, "\"kernel\": \"filter\", \"size\": \"96.0 kB\""));
    CHECK(contains(rows, "\"kernel\": \"gdeflate\", \"size\": \"96.0 kB\""));
    // This archive has no tile of GDeflate.
    CHECK(tool.onCpu("bench -q --filter gdeflate --input s.sluice") == 3);
    CHECK(tool.onCpu("bench -q --filter gstd --input f/picture.tga") == 0); // it is packed first
    CHECK(tool.onCpu("bench -q --filter nothing") == 1);
    tool.damage("s.sluice");
    // Wrong bytes give no figures.
    CHECK(tool.onCpu("bench -q --filter gstd --input s.sluice") == 3);
}

TEST_CASE("tool: the benchmark's rows of the frames of a Zstandard file")
{
    Tool tool;
    const auto frame = [](const std::string& bytes, bool hasSize, const std::string& dictionary) {
        ZSTD_CCtx* const context = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, hasSize ? 1 : 0);
        ZSTD_CCtx_loadDictionary(context, dictionary.data(), dictionary.size());
        std::string out(ZSTD_compressBound(bytes.size()), 0);
        out.resize(ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size()));
        ZSTD_freeCCtx(context);
        return out;
    };
    const std::string skippable("\x50\x2a\x4d\x18\3\0\0\0abc", 11),
        good = skippable + frame(picture(), true, "") + frame("", true, "") + skippable +
               frame(sound(), false, "");
    tool.write("x.zst", good);
    // Also without a filter, which an archive of other tiles needs for these rows.
    for (const char* filter : {"--filter zstd", "--filter =zstd,=copy", "--seconds 5"}) {
        REQUIRE(tool("bench -q --device cpu --input x.zst --json - " + std::string(filter)) == 0);
        const std::string rows = tool.output(), row = rows.substr(rows.find("\"zstd\""));
        CHECK(numberAfter(row, "bytes") == picture().size() + sound().size());
        CHECK(contains(row, "\"input\": \"x.zst\""));
    }
    const auto refused = [&](const std::string& file, int code, const std::string& message) {
        tool.write("bad.zst", file);
        CHECK(tool.onCpu("bench -q --filter zstd --input bad.zst") == code);
        CHECK_MESSAGE(contains(tool.errors(), message), tool.errors());
    };
    refused(skippable, 3, "holds no frame with content");
    refused(good.substr(0, good.size() - 1), 3, "frame 4 at byte ");
    refused(good + "more", 3, "frame 5 at byte ");
    const std::string head("\x28\xb5\x2f\xfd", 4), block("\x09\0\0x", 4);
    refused(head + std::string("\x21\7\1", 3) + block, 5,
            "bad.zst: frame 0 at byte 0 needs the dictionary 7, and the benchmark takes none");
    // These frames are larger than a region may be: one says so, one has too many blocks, one is so
    // without a word.
    const std::string most = ": frame 0 at byte 0 has more than ";
    refused(head + std::string("\xa0\0\0\0\x40", 5) + block, 5, most + "1073479680 bytes");
    std::string bomb = head + std::string("\0\x58", 2), many = head + std::string("\x20\0", 2);
    for (uint32_t i = 0; i < 8192; ++i)
        bomb += std::string("\x02\0\x10z", 4);
    refused(bomb + block, 5, most + "1073479680 bytes");
    for (uint32_t i = 0; i < 4096; ++i)
        many += std::string("\0\0\0", 3);
    refused(many + std::string("\1\0\0", 3), 5, most + "4096 blocks");
    CHECK(tool.onCpu("bench -q --filter scan --input x.zst") == 3);
}

TEST_CASE("tool: the benchmark reads all inputs first, and pipes once")
{
    Tool tool;
    tool.write("f.tga", picture());
    CHECK(tool("bench --device cpu --filter gstd --input f.tga --input none") == 2);
    CHECK(contains(tool.errors(), "none: "));
    CHECK(tool.output().empty());
    const auto hasRows = [&](const std::string& name) {
        const std::string rows = tool.output();
        for (const char* kernel : {"gdeflate", "gstd"})
            CHECK(contains(rows, "{\"kernel\": \"" + std::string(kernel) + "\""));
        CHECK(contains(rows, "\"input\": \"" + name));
    };
    const std::string bench = "bench -q --device cpu --filter gdeflate,gstd --json - --input ";
    REQUIRE(tool(bench + "- <f.tga") == 0);
    hasRows("stdin");
    tool.write("none.zst", std::string("\x50\x2a\x4d\x18\0\0\0\0", 8));
    CHECK(tool("bench -q --device cpu --filter zstd --input - <none.zst") == 3);
    CHECK(contains(tool.errors(), "holds no frame with content"));
    if (isWindowsTool("the commands are those of a POSIX shell")) return;
    REQUIRE(tool(after("cat f.tga | \"$SLUICE\" " + bench + "/dev/stdin")) == 0);
    hasRows("/dev/stdin");
}

TEST_CASE("tool: the benchmark's rows of an archive of Zstandard frames")
{
    Tool tool;
    tool.write("f/picture.tga", picture());
    tool.write("f/sound.wav", sound());
    for (const char* filters : {"none", "median", "auto"}) {
        CAPTURE(filters);
        REQUIRE(tool("pack -f -c zstd -o x.sluice f --filters " + std::string(filters)) == 0);
        for (const char* filter : {"--filter zstd", "--filter =zstd,=copy", "--seconds 5"}) {
            REQUIRE(tool("bench -q --device cpu --input x.sluice --json - " +
                         std::string(filter)) == 0);
            const std::string rows = tool.output(), row = rows.substr(rows.find("\"zstd\""));
            CHECK(numberAfter(row, "bytes") == picture().size() + sound().size());
            CHECK(contains(row, "\"input\": \"x.sluice\""));
        }
        CHECK(tool.onCpu("bench -q --filter gstd --input x.sluice") == 3);
    }
    tool.damage("x.sluice"); // wrong bytes give no figures
    CHECK(tool.onCpu("bench -q --filter zstd --input x.sluice") == 3);
}

TEST_CASE("tool: the benchmark's JSON keeps to its schema, whose members the page lists")
{
    Tool tool;
    tool.write("f.tga", picture());
    // The rows have inputs and peers; then all but the copy are left out.
    REQUIRE(tool("bench -q --device cpu --filter '=copy,gstd,cpu decode' --input f.tga "
                 "--json all.json") == 0);
    REQUIRE(tool("bench -q --device cpu --seconds 0.000001 --json cut.json") == 0);
    nlohmann::json all = checkedJson("schemas/bench.json", tool.read("all.json"));
    CHECK(checkedJson("schemas/bench.json", tool.read("cut.json")).at("cut").size() > 10);
    const nlohmann::json schema = schemaOf("schemas/bench.json");
    checkMembersListed("bench", schema);
    checkMembersListed("bench", schema.at("$defs").at("row"));
    // A figure that has a name of its own is a number.
    all.at("rows").at(0)["more"] = "text";
    all.erase("tier");
    CHECK(schemaErrors(schema, all).size() == 2);
}

TEST_CASE("tool: the benchmark's rows of primitives, each checked")
{
    Tool tool;
    CHECK(tool("bench --help") == 0);
    for (const char* kernel : {"scan kinds", "reduce", "compact sweep", "interval gather",
                               "interval scatter", "bulk sweep"})
        CHECK(contains(tool.output(), kernel));
    CHECK(tool("bench -q --device cpu --filter 'scan,reduce,compact kinds,compact "
               "sweep,interval,bulk' --json -") == 0);
    const std::string rows = tool.output();
    for (const char* row :
         {"scan\", \"size\": \"2^10", "scan\", \"size\": \"2^20",
          "scan kinds: inclusive\", \"size\": \"2^20", "scan kinds: segments f32",
          "reduce: max u64", "compact kinds\", \"size\": \"less u16",
          "compact kinds\", \"size\": \"non-zero", "compact sweep: partition\", \"size\": \"2^20",
          "interval gather\", \"size\": \"64 B", "interval kinds\", \"size\": \"expand 3 B",
          "interval kinds\", \"size\": \"move offsets",
          "interval hard: scatter\", \"size\": \"one huge",
          "interval sweep: search\", \"size\": \"2^10 B",
          "bulk insert\", \"size\": \"1 in 10, 16 B"}) {
        CAPTURE(row);
        CHECK(contains(rows, "\"kernel\": \"" + std::string(row)));
    }
}

TEST_CASE("tool: the benchmark ends when its time is over, and says what it left out")
{
    Tool tool;
    REQUIRE(tool("bench --help") == 0);
    // A name may stand on two lines.
    const std::string help = std::regex_replace(tool.output(), std::regex("\\s+"), " ");
    // There is no time at all: only the copy is measured, and every kernel of a run without filters
    // is named as left out.
    REQUIRE(tool("bench --device cpu --seconds 0.000001 --json x.json") == 0);
    CHECK(contains(tool.output(), "copy "));
    CHECK(contains(tool.output(), "cut short to end within 0 s, --seconds 0 measures everything:"));
    const std::string none = tool.read("x.json");
    for (const char* kernel :
         {"scan", "reduce", "compact calls", "interval hard", "bulk sweep", "gdeflate",
          "tile streams", "cpu decode", "gstd", "fse tables", "float bf16", "float encode",
          "df11 ecf8", "df11 encode", "stream host"}) {
        CAPTURE(kernel);
        CHECK(contains(help, kernel));
        const std::string listed =
            std::string("{\"kernel\": \"") + kernel + "\", \"all\": true, \"sizes\": [";
        const std::string variant = std::string("{\"kernel\": \"") + kernel + ": ";
        CHECK((contains(none, listed) || contains(none, variant)));
        CHECK_FALSE(contains(tool.output(), std::string("\n") + kernel + " "));
    }
    // With a little time, the first row of a kernel is the largest size. Sizes without a row are
    // listed.
    REQUIRE(tool("bench -q --device cpu --filter reduce --seconds 2 --json -") == 0);
    const std::string some = tool.output();
    const auto count = [&](const std::string& text) {
        size_t found = 0;
        for (size_t at = 0; (at = some.find(text, at)) != std::string::npos; ++at)
            ++found;
        return found;
    };
    size_t cut = 0; // how many sizes the lists have
    for (size_t at = 0; (at = some.find("\"sizes\": [", at)) != std::string::npos; ++at)
        cut += size_t(std::count(some.begin() + std::ptrdiff_t(at),
                                 some.begin() + std::ptrdiff_t(some.find(']', at)), '^'));
    const bool isWhole = contains(some, "{\"kernel\": \"reduce\", \"all\": true");
    CHECK(count("\", \"size\": \"2^") + cut == (isWhole ? 0 : 6 * 4));
    if (count("\"kernel\": \"reduce: sum u32\", \"size\": \"2^") != 0)
        CHECK(count("\"kernel\": \"reduce: sum u32\", \"size\": \"2^20\"") == 1);
    // Without a limit, nothing is left out.
    REQUIRE(tool("bench -q --device cpu --filter reduce --json -") == 0);
    CHECK_FALSE(contains(tool.output(), "\"cut\""));
    CHECK(tool("bench --device cpu --seconds -1") == 1);
}

TEST_CASE("tool: the benchmark's filters take parts of names, or with = whole ones")
{
    Tool tool;
    REQUIRE(tool("bench -q --device cpu --filter =scan --json -") == 0);
    CHECK(contains(tool.output(), "\"kernel\": \"scan\", \"size\": \"2^20"));
    CHECK_FALSE(contains(tool.output(), "scan kinds"));
    CHECK_FALSE(contains(tool.output(), "reduce: "));
    CHECK(tool.onCpu("bench -q --filter =sca") == 1);
    CHECK(tool.onCpu("bench -q --filter =") == 1);
}

TEST_CASE("tool: the benchmark opens its outputs before it measures")
{
    Tool tool;
    tool.write("there", "content");
    for (const char* output : {"--json missing/x", "--html missing/x", "--json there",
                               "--json y --html there", "--html a"}) {
        CAPTURE(output);
        CHECK(tool(std::string("bench --device cpu --filter copy ") + output) == 2);
        CHECK(tool.output() == "");
    }
    // These outputs are refused before the tool notices that the CPU has no tuning.
    for (const char* output : {"missing/x", "there"})
        CHECK(tool(std::string("tune --device cpu --json ") + output) == 2);
    CHECK(tool("tune --device cpu --json y") != 2);
    CHECK(tool.read("there") == "content");
    CHECK_FALSE(tool.has("y"));
    CHECK_FALSE(tool.hasTemporaries());
    CHECK(tool("bench -f --device cpu --filter copy --json there --html y") == 0);
    CHECK(contains(tool.read("there"), "\"kernel\": \"copy\""));
    CHECK(contains(tool.read("y"), "\"kernel\": \"copy\""));
}

TEST_CASE("tool: a signal ends the benchmark, and neither of its outputs is left behind")
{
    if (isWindowsTool("Windows has no signals that a shell could send")) return;
    Tool tool;
    // The tool runs beside a shell, which waits until the tool has both of its outputs open and
    // then sends signals. The files have a temporary name or, on systems that can do so, none.
    const auto interrupted = [&](const std::string& before, const std::string& signals) {
        tool.environment =
            before +
            "opened() { ls -A; ls -l /proc/$p/fd 2>/dev/null; }; "
            "sluice() { \"$SLUICE\" bench --device cpu --seconds 30 --json x --html y "
            "& p=$!; for i in $(seq 2000); do "
            "[ \"$(opened | grep -c -e '^\\.sluice-' -e '(deleted)')\" -ge 2 ] && break; sleep "
            "0.01; "
            "done; for s in " +
            signals + "; do kill -$s $p; done; wait $p; };";
        return tool("--version; sluice");
    };
    CHECK(interrupted("", "TERM") == 143);
    CHECK_FALSE(tool.hasTemporaries());
    CHECK(interrupted("", "HUP") == 129);
    CHECK_FALSE(tool.hasTemporaries());
    CHECK(interrupted("trap '' HUP;", "HUP TERM") == 143); // as under nohup
    CHECK_FALSE(tool.hasTemporaries());
    CHECK_FALSE(tool.has("x"));
    CHECK_FALSE(tool.has("y"));
}

TEST_CASE("tool: the benchmark's rows of decoding on the CPU")
{
    Tool tool;
    CHECK(tool("pack -q -o x.sluice a") == 0);
    CHECK(tool("pack -q -c gdeflate -o y.sluice a") == 0);
    CHECK(tool("bench -q --device cpu --filter \"cpu decode\" --input x.sluice --input y.sluice "
               "--json -") == 0);
    const std::string rows = tool.output();
    CHECK(contains(rows, "\"kernel\": \"cpu decode\""));
    for (const char* who : {"sluice\"", "sluice, tier ref\"", "zstd -19", "libdeflate -12"})
        CHECK_MESSAGE(contains(rows, who), who);
}

TEST_CASE("tool: the benchmark's rows of streaming")
{
    Tool tool;
    CHECK(tool("bench -q --device cpu --filter stream --json -") == 0);
    const std::string rows = tool.output();
    for (const char* row : {"submit 1\"", "submit 16\"", "submit 256\"", "record\"", "poll idle\"",
                            "poll busy\"", "poll waits\"", "cancel waits\""}) {
        CAPTURE(row);
        CHECK(contains(rows, "\"kernel\": \"stream host\", \"size\": \"" + std::string(row)));
    }
    CHECK(contains(rows, "\"ns_per_request\": "));
    CHECK(contains(rows, "not run: needs Vulkan"));
    CHECK(!contains(rows, "tile streams"));
}

TEST_CASE("tool weights: the benchmark reads weights of files")
{
    std::mt19937 random = makeRandom(106);
    const Folder folder("out");
    Model model;
    const auto add = [&](const std::string& name, const std::string& type, uint64_t rows) {
        model.add(name, type, {rows, 100}, random);
    };
    add("a.weight", "BF16", 300);
    add("b.weight", "BF16", 200);
    add("c", "F16", 123);
    add("d", "F32", 77);
    add("e.weight", "F8_E4M3", 500);
    folder.write("m.safetensors", model);
    // Returns the rows except those of several threads, as "what: bytes", with "encode" before it
    // for rows of encoders.
    const auto bench = [&](const std::string& arguments) {
        REQUIRE(folder("bench -q --device cpu --json - " + arguments) == 0);
        const std::string json = folder.output(), key = "\"who\": \"sluice, ";
        std::vector<std::string> rows;
        for (size_t begin = json.find("{\"kernel\""); begin != std::string::npos;
             begin = json.find("{\"kernel\"", begin + 1)) {
            const std::string row = json.substr(begin, json.find('}', begin) - begin);
            const size_t who = row.find(key);
            // Rows of the copy are left out, too.
            if (who == std::string::npos || row.find(" threads\"") != std::string::npos) continue;
            const std::string what =
                row.substr(who + key.size(), row.find(", ", who + key.size()) - who - key.size());
            CHECK(contains(row, "\"input\": "));
            rows.push_back((row.find("encode\"") != std::string::npos ? "encode " : "") + what +
                           ": " + std::to_string(numberAfter(row, "bytes")));
        }
        return rows;
    };
    using Rows = std::vector<std::string>;
    const Rows floats = {"bf16: 100000", "f16: 24600", "f32: 30800", "e4m3: 50000",
                         "e4m3 dense: 50000"};
    CHECK((bench("--filter 'float bf16,float f,float e4' --input m.safetensors") == floats));
    CHECK((bench("--filter float --input m.safetensors").size() == 2 * floats.size()));
    CHECK((bench("--filter encode --input m.safetensors") ==
           Rows{"encode bf16: 100000", "encode f16: 24600", "encode f32: 30800",
                "encode e4m3: 50000", "encode e4m3 dense: 50000", "encode DFloat11 bf16: 100000",
                "encode ECF8 e4m3: 50000"}));
    CHECK((bench("--filter F16 --input m.safetensors") ==
           // "bf16" contains "f16".
           Rows{"bf16: 100000", "f16: 24600", "DFloat11 bf16: 100000"}));
    CHECK((bench("--filter df11 --input m.safetensors") ==
           Rows{"encode DFloat11 bf16: 100000", "DFloat11 bf16: 100000", "encode ECF8 e4m3: 50000",
                "ECF8 e4m3: 50000"}));
    REQUIRE(folder("pack --raw -c df11 m.safetensors -o out/p.safetensors") == 0);
    CHECK((bench("--filter DFloat11 --input out/p.safetensors") == Rows{"DFloat11 bf16: 100000"}));
    REQUIRE(folder("pack -f --raw -c ecf8 m.safetensors -o out/e.safetensors") == 0);
    CHECK((bench("--filter ECF8 --input out/e.safetensors") == Rows{"ECF8 e4m3: 50000"}));
    CHECK((bench("--filter f16,f32,ecf8 --input out/e.safetensors") ==
           // Plain tensors, and the unit.
           Rows{"bf16: 100000", "f16: 24600", "f32: 30800", "ECF8 e4m3: 50000"}));
    REQUIRE(folder("pack -c float -l 12 m.safetensors -o m.sluice") == 0);
    CHECK((bench("--filter 'float bf,float f,e4m3' --input m.sluice") ==
           Rows{"bf16: 100000", "f16: 24600", "f32: 30800", "e4m3 dense: 50000"}));
    folder.write("text", std::string(5000, 'x') + std::string(3000, 'y'));
    CHECK((bench("--filter huff --input text") == Rows{"huff: 8000"}));
    CHECK((bench("--filter huff,e4m3 --input text --input m.sluice") ==
           Rows{"huff: 8000", "e4m3 dense: 50000"}));

    // These filters have nothing to measure in these inputs.
    const auto refused = [&](const std::string& arguments) {
        CHECK(folder("bench -q --device cpu " + arguments) == 3);
        return folder.errors();
    };
    const std::string useless = ": holds nothing that the chosen kernels take\n";
    CHECK(refused("--filter e5m2 --input m.safetensors") == "sluice: m.safetensors" + useless);
    CHECK(refused("--filter df11 --input m.sluice") == "sluice: m.sluice" + useless);
    CHECK(refused("--filter df11 --input text") == "sluice: text" + useless);
    CHECK(refused("--filter ecf8 --input out/p.safetensors") ==
          "sluice: out/p.safetensors" + useless);
    CHECK(refused("--filter scan --input text") == "sluice: text" + useless);
    CHECK(refused("--filter float,df11 --input m.sluice") ==
          "sluice: no input holds what the chosen rows of DFloat11 or ECF8 take\n");
    folder.damage("m.sluice");
    CHECK(refused("--filter float --input m.sluice") != "");
    CHECK(folder.onCpu("bench -q --filter frob") == 1);
    CHECK(folder.errors().find(
              "sluice: --filter frob: no kernel's name contains that; they are copy, ") == 0);
}
