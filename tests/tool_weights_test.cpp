// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice pack, unpack and info of .safetensors files: names, shapes, plain tensors, damaged files.
// SLUICE_TOOL_PATH is the built tool; the environment variable SLUICE_TOOL names another one.
#include <sluice/sluice_df11.h>

#include "df11_units.h"
#include "formats/safetensors.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <tuple>

#include <sys/wait.h>

namespace fs = std::filesystem;
using namespace sluice;
using namespace sluice::test;

namespace {

std::string readFile(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file, path.string());
    return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string text(const Bytes& bytes) { return std::string(bytes.begin(), bytes.end()); }

std::string integers(const std::vector<uint64_t>& values)
{
    std::string bytes;
    for (const uint64_t value : values) {
        for (uint32_t i = 0; i < 8; ++i)
            bytes += char(value >> 8 * i);
    }
    return bytes;
}

// A .safetensors file: tensors in order, with their bytes.
class Model {
public:
    void add(const std::string& name, const std::string& dtype, const std::vector<uint64_t>& shape,
             const std::string& bytes)
    {
        header.tensors.push_back({name, dtype, shape, 0, 0});
        data += bytes;
    }
    // By the names of ECF8's own packer.
    void addEcf8Unit(const std::string& module, const Df11Tensors& unit,
                     const std::vector<uint64_t>& splits)
    {
        add(module + ".luts", "U8", {unit.luts.size() / 256, 256}, text(unit.luts));
        add(module + ".encoded", "U8", {unit.encoded.size()}, text(unit.encoded));
        add(module + ".packed_other_4bits", "U8", {unit.signMantissa.size()},
            text(unit.signMantissa));
        add(module + ".output_positions", "U8", {unit.outputPositions.size()},
            text(unit.outputPositions));
        add(module + ".gaps", "U8", {unit.gaps.size()}, text(unit.gaps));
        add(module + ".split_positions", "I64", {splits.size()}, integers(splits));
    }
    void addUnit(const std::string& module, const Df11Tensors& unit,
                 const std::vector<uint64_t>& splits)
    {
        const bool bf16 = unit.kind == SLUICE_DF11_BF16;
        add(module + ".luts", "U8", {unit.luts.size() / 256, 256}, text(unit.luts));
        add(module + ".encoded_exponent", "U8", {unit.encoded.size()}, text(unit.encoded));
        add(module + ".sign_mantissa", "U8", {unit.signMantissa.size()}, text(unit.signMantissa));
        add(module + ".output_positions", bf16 ? "U8" : "I64",
            {unit.outputPositions.size() / (bf16 ? 1 : 8)}, text(unit.outputPositions));
        add(module + ".gaps", "U8", {unit.gaps.size()}, text(unit.gaps));
        if (bf16) add(module + ".split_positions", "I64", {splits.size()}, integers(splits));
    }
    std::string bytes() const
    {
        SafetensorsHeader placed = header;
        std::string start, error;
        REQUIRE(makeSafetensors(placed, start, error) == SLUICE_OK);
        REQUIRE((placed.tensors.empty() ? 0 : placed.tensors.back().end) == data.size());
        return start + data;
    }

    SafetensorsHeader header;
    std::string data;
};

// A folder of its own for each test, and the tool run in it.
class Folder {
public:
    Folder()
    {
        std::string pattern = (fs::temp_directory_path() / "sluice-weights-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        path = pattern;
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    void write(const std::string& name, const std::string& bytes) const
    {
        std::ofstream(path / name, std::ios::binary) << bytes;
    }
    std::string read(const std::string& name) const { return readFile(path / name); }
    int run(const std::string& arguments) const
    {
        const char* other = std::getenv("SLUICE_TOOL");
        const std::string tool = other != nullptr ? other : SLUICE_TOOL_PATH;
        const std::string line = "cd '" + path.string() + "' && '" + tool + "' </dev/null " +
                                 arguments + " >.out 2>.err";
        const int result = std::system(line.c_str());
        REQUIRE(WIFEXITED(result));
        return WEXITSTATUS(result);
    }
    // Runs unpack, which must fail because of the file; returns what it says after "sluice: ".
    std::string unpackError(const std::string& arguments) const
    {
        CHECK(run("unpack " + arguments + " --device cpu") == 3);
        const std::string errors = read(".err");
        return errors.substr(std::min<size_t>(errors.size(), 8), errors.find('\n') - 8);
    }

    fs::path path;
};

// A model of one plain tensor, a unit of three weights, a single one, and one of fp8.
struct Sample {
    Sample()
    {
        std::mt19937 random = makeRandom(91);
        const auto pack = [&](SluiceDf11Kind kind, size_t count) {
            const Bytes exponents = weightExponents(kind, count, random);
            return packDf11("", kind, exponents, huffmanLengths(exponents), random);
        };
        block = pack(SLUICE_DF11_BF16, 40000);
        head = pack(SLUICE_DF11_BF16, 6000);
        small = pack(SLUICE_DF11_FP8_E4M3, 2000);
        model.header.hasMetadata = true;
        model.header.metadata = {{"format", "pt"}};
        model.addUnit("model.layers.7", block, {10000, 25000});
        model.add("model.norm.weight", "F32", {2}, "12345678");
        model.addUnit("lm_head", head, {});
        model.addUnit("other", small, {});
    }
    // What the tool makes of it, with these names and shapes for the weights.
    std::string expected(const std::vector<std::string>& names,
                         const std::vector<std::vector<uint64_t>>& shapes) const
    {
        const std::string bytes = text(block.expected);
        Model plain;
        plain.header.hasMetadata = true;
        plain.header.metadata = model.header.metadata;
        plain.add(names[0], "BF16", shapes[0], bytes.substr(0, 20000));
        plain.add(names[1], "BF16", shapes[1], bytes.substr(20000, 30000));
        plain.add(names[2], "BF16", shapes[2], bytes.substr(50000));
        plain.add("model.norm.weight", "F32", {2}, "12345678");
        plain.add("lm_head.weight", "BF16", shapes[3], text(head.expected));
        plain.add("other.weight", "F8_E4M3", shapes[4], text(small.expected));
        return plain.bytes();
    }

    Df11Tensors block, head, small;
    Model model;
};

const std::vector<std::vector<uint64_t>> flat = {{10000}, {15000}, {15000}, {6000}, {2000}};
const std::vector<std::string> numbers = {"model.layers.7.0", "model.layers.7.1",
                                          "model.layers.7.2"};
const std::vector<std::string> attributes = {
    "model.layers.7.q.weight", "model.layers.7.mlp.up.weight", "model.layers.7.mlp.down.weight"};
// Why a module that lacks something is one at all.
std::string though(const char* encoded)
{
    return std::string(", though it has luts and ") + encoded +
           ", as units of DFloat11 and ECF8 have";
}
const char* const config =
    "{\"a\": 1, \"dfloat11_config\": {\"version\": \"0.5.0\", \"pattern_dict\": {"
    "\"model\\\\.layers\\\\.\\\\d+\": [\"q\", \"mlp.up\", \"mlp.down\"], \"lm_head\": []}}}";

} // namespace

TEST_CASE("tool weights: tensors of a unit are numbered where nothing names them")
{
    const Sample sample;
    const Folder folder;
    folder.write("m.safetensors", sample.model.bytes());
    CHECK(folder.run("unpack m.safetensors --device cpu -o out.safetensors") == 0);
    CHECK(folder.read(".err") == "");
    CHECK((folder.read("out.safetensors") == sample.expected(numbers, flat)));
    CHECK(folder.run("unpack m.safetensors --device cpu -C sub") == 0);
    CHECK((folder.read("sub/m.safetensors") == folder.read("out.safetensors")));
    CHECK(folder.run("unpack m.safetensors --device cpu -o out.safetensors") == 2); // exists
    CHECK(folder.run("unpack - --device cpu -o piped.safetensors < m.safetensors") == 0);
    CHECK((folder.read("piped.safetensors") == folder.read("out.safetensors")));
    CHECK(folder.run("unpack m.safetensors --device cpu -o -") == 0);
    CHECK((folder.read(".out") == folder.read("out.safetensors")));
    CHECK(folder.run("unpack m.safetensors --device cpu") == 1); // no name for the output
    CHECK(folder.run("verify m.safetensors --device cpu") == 0);
    CHECK(folder.read(".out") == "m.safetensors: ok, 3 units, 94.0 kB\n");
    CHECK(folder.run("info m.safetensors") == 0);
    CHECK(folder.read(".out").find("DFloat11  model.layers.7\n") != std::string::npos);
    CHECK(folder.read(".out").find("ECF8      other\n") != std::string::npos);
    CHECK(folder.run("info --json m.safetensors") == 0);
    CHECK(folder.read(".out").find("\"tensors\": [10000, 15000, 15000]") != std::string::npos);
}

TEST_CASE("tool weights: a config.json names them")
{
    const Sample sample;
    const Folder folder;
    folder.write("m.safetensors", sample.model.bytes());
    folder.write("config.json", config);
    CHECK(folder.run("unpack m.safetensors --device cpu -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == sample.expected(attributes, flat)));
    folder.write("config.json", "{}");
    CHECK(folder.run("unpack m.safetensors --device cpu -f -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == sample.expected(numbers, flat)));

    const auto error = [&](const std::string& json) {
        folder.write("config.json", json);
        return folder.unpackError("m.safetensors -f -o out.safetensors");
    };
    CHECK(error("{") == "config.json: is no JSON");
    const char* lists = "config.json: pattern_dict does not map patterns to lists of names";
    CHECK(error("{\"pattern_dict\": []}") == lists);
    CHECK(error("{\"pattern_dict\": {\"a\": 1}}") == lists);
    CHECK(error("{\"pattern_dict\": {\"a\": [1]}}") == lists);
    CHECK(error("{\"pattern_dict\": {\"(a+\": []}}") ==
          "config.json: pattern_dict: cannot use the pattern \"(a+\": Unmatched ( or \\(");
    CHECK(error("{\"pattern_dict\": {\"(a)\\\\1\": []}}") ==
          "config.json: pattern_dict: cannot use the pattern \"(a)\\\\1\": of escaped letters and "
          "digits "
          "only \\d and \\w are understood");
    CHECK(error("{\"pattern_dict\": {\"a{9}\": []}}") ==
          "config.json: pattern_dict: cannot use the pattern \"a{9}\": repetition counts, {}, are "
          "not understood");
    CHECK(error("{\"pattern_dict\": {\"[\\\\d]\": []}}") ==
          "config.json: pattern_dict: cannot use the pattern \"[\\\\d]\": escapes in [] are not "
          "understood");
    CHECK(error("{\"pattern_dict\": {\"model.*7\": [\"q\"]}}") ==
          "config.json: pattern_dict names 1 tensors for module 'model.layers.7', which has 3");
    CHECK(error("{\"pattern_dict\": {\"model.*7\": [\"q\", \"q\", \"r\"]}}") ==
          "m.safetensors: the output: tensor 'model.layers.7.q.weight' stands twice in the header");
    CHECK(error(std::string(2000000, ' ')) == "config.json: is larger than 1 MiB");
}

TEST_CASE("tool weights: --like restores shapes, names and order")
{
    const Sample sample;
    const Folder folder;
    folder.write("m.safetensors", sample.model.bytes());
    folder.write("config.json", config);
    const std::string bytes = text(sample.block.expected);
    const auto original = [&](uint64_t columns) {
        Model like;
        like.header.hasMetadata = true;
        like.header.metadata = {{"format", "pt"}};
        like.add("lm_head.weight", "BF16", {60, 100}, text(sample.head.expected));
        like.add("model.layers.7.mlp.down.weight", "BF16", {15000 / columns, columns},
                 bytes.substr(50000));
        like.add("model.layers.7.mlp.up.weight", "BF16", {columns, 15000 / columns},
                 bytes.substr(20000, 30000));
        like.add("model.layers.7.q.weight", "BF16", {100, 100}, bytes.substr(0, 20000));
        like.add("model.norm.weight", "F32", {2}, "12345678");
        like.add("other.weight", "F8_E4M3", {2, 1000}, text(sample.small.expected));
        return like.bytes();
    };
    folder.write("like.safetensors", original(50));
    CHECK(folder.run(
              "unpack m.safetensors --device cpu --like like.safetensors -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == original(50)));

    fs::remove(folder.path / "config.json");
    CHECK(folder.unpackError("m.safetensors --like like.safetensors -o x") ==
          "like.safetensors: several tensors of module 'model.layers.7' have the same size; a "
          "config.json with "
          "pattern_dict "
          "beside the input would tell them apart");
    Model other;
    other.add("lm_head.weight", "BF16", {1}, "xx");
    folder.write("other.safetensors", other.bytes());
    folder.write("text", "0123456789 no model at all");
    CHECK(folder.unpackError("m.safetensors --like text -o x") == "text: is no .safetensors file");
    CHECK(folder.unpackError("m.safetensors --like other.safetensors -o x") ==
          "other.safetensors: has no tensor of 10000 elements in module 'model.layers.7'");
    Model head;
    head.addUnit("lm_head", sample.head, {});
    folder.write("head.safetensors", head.bytes());
    CHECK(folder.unpackError("head.safetensors --like other.safetensors -o x") ==
          "other.safetensors: tensor 'lm_head.weight' has another type or size");
    CHECK(folder.unpackError("head.safetensors --like m.safetensors -o x") ==
          "m.safetensors: has no tensor 'lm_head.weight'");
}

TEST_CASE("tool weights: a unit of more elements than one part holds")
{
    std::mt19937 random = makeRandom(92);
    const Folder folder;
    for (const SluiceDf11Kind kind : {SLUICE_DF11_BF16, SLUICE_DF11_FP8_E4M3}) {
        Bytes exponents(18'000'000, 3); // one bit each, and so more elements than 2,048 blocks of
                                        // weights have
        for (size_t i = 0; i < exponents.size(); i += 1 + random() % 9)
            exponents[i] = uint8_t(random() % 6);
        const Df11Tensors unit = packDf11("", kind, exponents, huffmanLengths(exponents), random);
        Model model;
        model.addUnit("a", unit, {5, 17'000'001});
        folder.write("m.safetensors", model.bytes());
        CHECK(folder.run("unpack -f m.safetensors --device cpu -o out.safetensors") == 0);
        const std::string output = folder.read("out.safetensors");
        REQUIRE(output.size() > unit.expected.size());
        CHECK((output.substr(output.size() - unit.expected.size()) == text(unit.expected)));
    }
}

TEST_CASE("tool weights: damaged files")
{
    const Sample sample;
    const Folder folder;
    const auto error = [&](const std::string& bytes) {
        folder.write("m.safetensors", bytes);
        const std::string result = folder.unpackError("m.safetensors -o out.safetensors");
        CHECK(!fs::exists(folder.path / "out.safetensors"));
        return result;
    };
    const std::string good = sample.model.bytes();
    CHECK(error(good.substr(0, good.size() - 1)) ==
          "m.safetensors: tensor 'other.gaps' reaches past the end of the file");
    CHECK(error(good.substr(0, 300)) == "m.safetensors: the file is cut off");
    CHECK(error(good + "x") == "m.safetensors: there are bytes after the last tensor");
    CHECK(error(std::string(4, '\xff') + std::string(4, '\0') + "{}") ==
          "m.safetensors: the header is larger than 100,000,000 bytes");

    Model model;
    model.addUnit("a", sample.head, {});
    const Model whole = model;
    model.header.tensors[2].name = "a.something";
    CHECK(error(model.bytes()) ==
          "m.safetensors: module 'a' lacks sign_mantissa" + though("encoded_exponent"));
    model = whole;
    model.data[0] = '\xf0';
    std::fill_n(model.data.begin(), 256, '\xf0');
    CHECK(error(model.bytes()) ==
          "m.safetensors: module 'a': luts: a pointer leads to a row that is not there");
    model = whole;
    const size_t stream = sample.head.luts.size();
    std::fill_n(model.data.begin() + std::ptrdiff_t(stream) + 100, 64, '\0');
    CHECK(error(model.bytes()).find("m.safetensors: module 'a', block 0: ") == 0);
    CHECK(folder.run("verify m.safetensors --device cpu") == 3);
    for (const auto& splits : std::vector<std::vector<uint64_t>>{{4, 3}, {6001}, {~uint64_t(0)}}) {
        Model split;
        split.addUnit("a", sample.head, splits);
        CHECK(error(split.bytes()) ==
              "m.safetensors: module 'a': split_positions runs backwards or past the last element");
    }
    Model large; // a table that cannot be one
    large.addUnit("a", sample.head, {});
    large.header.tensors[0].shape = {40, 256};
    large.data.insert(0, std::string((40 - sample.head.luts.size() / 256) * 256, 'x'));
    CHECK(error(large.bytes()) ==
          "m.safetensors: module 'a': luts is not 2 to 18 rows of 256 bytes");
}

TEST_CASE("tool weights: units of ECF8 by the names of its own packer")
{
    std::mt19937 random = makeRandom(102);
    const auto pack = [&](SluiceDf11Kind kind, size_t count) {
        const Bytes exponents = weightExponents(kind, count, random);
        return packDf11("", kind, exponents, huffmanLengths(exponents), random);
    };
    const Df11Tensors block = pack(SLUICE_DF11_FP8_E4M3, 40000),
                      head = pack(SLUICE_DF11_FP8_E4M3, 3000), bf16 = pack(SLUICE_DF11_BF16, 3000);
    const Folder folder;
    Model model;
    model.addEcf8Unit("layers.7", block, {10000, 25000});
    model.addEcf8Unit("lm_head", head, {});
    model.addUnit("old", head, {});            // both kinds of names in one file
    model.add("vq.encoded", "U8", {3}, "abc"); // no luts: plain
    folder.write("m.safetensors", model.bytes());
    const auto expected = [&](const std::vector<std::string>& names) {
        const std::string bytes = text(block.expected);
        Model plain;
        plain.add(names[0], "F8_E4M3", {10000}, bytes.substr(0, 10000));
        plain.add(names[1], "F8_E4M3", {15000}, bytes.substr(10000, 15000));
        plain.add(names[2], "F8_E4M3", {15000}, bytes.substr(25000));
        plain.add("lm_head.weight", "F8_E4M3", {3000}, text(head.expected));
        plain.add("old.weight", "F8_E4M3", {3000}, text(head.expected));
        plain.add("vq.encoded", "U8", {3}, "abc");
        return plain.bytes();
    };
    CHECK(folder.run("unpack m.safetensors --device cpu -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == expected({"layers.7.0", "layers.7.1", "layers.7.2"})));
    CHECK(folder.run("verify m.safetensors --device cpu") == 0);
    CHECK(folder.run("info m.safetensors") == 0);
    CHECK(folder.read(".out").find("ECF8      layers.7\n") != std::string::npos);

    // Names come from the pattern_dict.json that its packer writes; "" is the module itself, null a
    // form without modules.
    const std::string patterns =
        "{\"fp8\": {\"layers\\\\.\\\\d+\": [\"q\", \"mlp.up\", \"mlp.down\"], \"lm_head\": [\"\"], "
        "\"x\": null}, \"bf16\": {\"embed\": []}}";
    const std::vector<std::string> named = {"layers.7.q.weight", "layers.7.mlp.up.weight",
                                            "layers.7.mlp.down.weight"};
    folder.write("config.json", "{\"dfloat_config\": {\"version\": \"0.2.0\"}}");
    folder.write("pattern_dict.json", patterns);
    CHECK(folder.run("unpack -f m.safetensors --device cpu -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == expected(named)));
    folder.write("config.json", "{\"dfloat_config\": {\"pattern_dict\": " + patterns + "}}");
    folder.write("pattern_dict.json", "{");
    CHECK(folder.run("unpack -f m.safetensors --device cpu -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == expected(named)));
    fs::remove(folder.path / "config.json");
    CHECK(folder.unpackError("m.safetensors -f -o x") == "pattern_dict.json: is no JSON");
    folder.write("pattern_dict.json", "{\"fp8\": {\"a\": 1}}");
    CHECK(folder.unpackError("m.safetensors -f -o x") ==
          "pattern_dict.json: pattern_dict does not map patterns to lists of names");
    fs::remove(folder.path / "pattern_dict.json");

    const auto error = [&](const Model& damaged) {
        folder.write("d.safetensors", damaged.bytes());
        const std::string result = folder.unpackError("d.safetensors -o damaged");
        CHECK(!fs::exists(folder.path / "damaged"));
        CHECK(folder.run("info d.safetensors") == 3);
        return result;
    };
    const auto changed = [&](const std::function<void(Model&)>& change) {
        Model damaged;
        damaged.addEcf8Unit("a", head, {});
        change(damaged);
        return error(damaged);
    };
    enum Part {
        luts,
        encoded,
        other,
        positions,
        gaps,
        splits
    };
    const auto renamed = [&](Part part, const char* name) {
        return changed([&](Model& damaged) { damaged.header.tensors[part].name = name; });
    };
    CHECK(renamed(other, "a.x") ==
          "d.safetensors: module 'a' lacks packed_other_4bits" + though("encoded"));
    CHECK(renamed(other, "a.sign_mantissa") ==
          "d.safetensors: module 'a' lacks packed_other_4bits" + though("encoded"));
    CHECK(renamed(encoded, "a.encoded_exponent") ==
          "d.safetensors: module 'a' lacks sign_mantissa" + though("encoded_exponent"));
    CHECK(renamed(positions, "a.x") ==
          "d.safetensors: module 'a' lacks output_positions" + though("encoded"));
    CHECK(renamed(gaps, "a.x") == "d.safetensors: module 'a' lacks gaps" + though("encoded"));
    CHECK(changed([&](Model& damaged) { damaged.add("a.encoded_exponent", "U8", {1}, "x"); }) ==
          "d.safetensors: module 'a' has both encoded_exponent and encoded");
    for (const Part part : {luts, encoded, other, gaps}) {
        const std::string place =
            changed([&](Model& damaged) { damaged.header.tensors[part].dtype = "I8"; });
        CHECK(place.find("d.safetensors: tensor 'a.") == 0);
        CHECK(place.find("' is not of U8") != std::string::npos);
    }
    const auto asType = [&](const char* dtype, uint64_t bytes) {
        return [=](Model& damaged) {
            damaged.header.tensors[positions].dtype = dtype;
            damaged.header.tensors[positions].shape = {head.outputPositions.size() / bytes};
        };
    };
    CHECK(changed(asType("I32", 4)) ==
          "d.safetensors: tensor 'a.output_positions' is not of U8, I64 or U64");
    CHECK(changed(asType("F64", 8)) ==
          "d.safetensors: tensor 'a.output_positions' is not of U8, I64 or U64");
    for (const char* dtype : {"I64", "U64"}) {
        Model good;
        good.addEcf8Unit("a", head, {});
        asType(dtype, 8)(good);
        folder.write("d.safetensors", good.bytes());
        CHECK(folder.run("verify d.safetensors --device cpu") == 0);
    }
    CHECK(changed([&](Model& damaged) { damaged.header.tensors[splits].dtype = "U64"; }) ==
          "d.safetensors: module 'a': split_positions is not a list of I64");
    for (const auto& places : std::vector<std::vector<uint64_t>>{{4, 3}, {3001}, {~uint64_t(0)}}) {
        Model split;
        split.addEcf8Unit("a", head, places);
        CHECK(error(split) ==
              "d.safetensors: module 'a': split_positions runs backwards or past the last element");
    }
    Model kind;
    kind.addEcf8Unit("a", bf16, {});
    CHECK(error(kind) ==
          "d.safetensors: module 'a' has the names of ECF8 and the sizes of DFloat11");
    CHECK(changed([&](Model& damaged) { // more rows than there can be
              damaged.header.tensors[luts].shape = {40, 256};
              damaged.data.insert(0, std::string((40 - head.luts.size() / 256) * 256, 'x'));
          }) == "d.safetensors: module 'a': luts is not 2 to 18 rows of 256 bytes");
    // Sizes that contradict each other, told by the names that the file has.
    Df11Tensors wrong = head;
    wrong.encoded.resize(4 * head.encoded.size() + 5000);
    const auto ofWrong = [&] {
        Model damaged;
        damaged.addEcf8Unit("a", wrong, {});
        return error(damaged);
    };
    CHECK(ofWrong() == "d.safetensors: module 'a': gaps does not have 320 bytes (fp8: 256) for "
                       "each 4096 bytes of encoded");
    wrong = head;
    wrong.signMantissa.resize(1000000);
    CHECK(ofWrong().find("d.safetensors: module 'a': ") == 0);
    CHECK(ofWrong().find("encoded_exponent") == std::string::npos);
}

TEST_CASE("tool weights: mutated files")
{
    std::mt19937 random = makeRandom(93);
    const Folder folder;
    const Bytes exponents = weightExponents(SLUICE_DF11_BF16, 3000, random);
    Model model;
    model.addUnit("a", packDf11("", SLUICE_DF11_BF16, exponents, huffmanLengths(exponents), random),
                  {1000});
    const std::string good = model.bytes();
    const size_t header = good.size() - model.data.size();
    uint32_t decoded = 0;
    const uint32_t total = 60; // each starts a process; the parser and the kernel have their own,
                               // by the thousand
    for (uint32_t i = 0; i < total; ++i) {
        std::string bytes = good;
        for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
            const size_t at = random() % (i % 2 == 0 ? header : bytes.size());
            bytes[at] = char(bytes[at] ^ 1 << random() % 8);
        }
        folder.write("m.safetensors", bytes);
        const int code = folder.run("unpack -f m.safetensors --device cpu -o out.safetensors");
        CAPTURE(i);
        CHECK((code == 0 || code == 3));
        decoded += code == 0;
    }
    CHECK(decoded < total);
}

namespace {

// Numbers of N(0, 0.02), the upper bytes of their floats: BF16, F32, and fp8 that looks like them.
std::string normalBytes(const std::string& dtype, size_t size, std::mt19937& random)
{
    std::normal_distribution<float> normal(0, 0.02f);
    std::string bytes;
    while (bytes.size() < size) {
        const float number = normal(random);
        uint32_t value = 0;
        std::memcpy(&value, &number, 4);
        const uint32_t exponent = (value >> 23 & 255) - 112;
        if (dtype == "BF16") value >>= 16;
        if (dtype == "F16")
            value = (value >> 16 & 0x8000) | (exponent & 31) << 10 | (value >> 13 & 0x3ff);
        if (dtype == "F8_E4M3")
            value = (value >> 24 & 0x80) | (exponent & 15) << 3 | (value >> 20 & 7);
        if (dtype == "F8_E5M2")
            value = (value >> 24 & 0x80) | (exponent & 31) << 2 | (value >> 21 & 3);
        bytes.append(reinterpret_cast<const char*>(&value), safetensorsBits(dtype) / 8);
    }
    return bytes;
}

std::string randomBytes(size_t size, uint32_t values, std::mt19937& random)
{
    std::string bytes(size, '\0');
    for (char& byte : bytes)
        byte = char(random() % values * random() % values);
    return bytes;
}

// One tensor of each kind that the plan treats differently.
Model mixedModel(std::mt19937& random)
{
    Model model;
    model.header.hasMetadata = true;
    model.header.metadata = {{"format", "pt"}};
    const auto add = [&](const std::string& name, const std::string& dtype, uint64_t count) {
        model.add(name, dtype, {count},
                  normalBytes(dtype, size_t(count) * safetensorsBits(dtype) / 8, random));
    };
    add("a", "BF16", 700001); // the next one starts 2 bytes past a multiple of 4
    add("b", "BF16", 300000);
    add("c.bias", "BF16", 20);
    add("d.bias", "BF16", 4000);
    add("e", "F32", 40000); // not aligned either
    add("f", "F16", 50003);
    add("g", "F8_E4M3", 100001);
    add("h", "F8_E5M2", 100003);
    model.add("empty", "BF16", {0}, "");
    model.add("i", "U8", {200000}, randomBytes(200000, 5, random));         // Huffman codes
    model.add("j", "I8", {100000}, std::string(100000, 'x'));               // GDeflate
    model.add("k", "I64", {12500}, normalBytes("F8_E4M3", 100000, random)); // whatever is smaller
    model.add("l", "U8", {80000}, text([&] {
                  Bytes bytes(80000);
                  for (uint8_t& byte : bytes)
                      byte = uint8_t(random());
                  return bytes;
              }()));
    add("m", "F32", 30001);
    return model;
}

// Rounded to fp8 E4M3 such that few are cut off at its largest number.
std::string scaledE4m3(size_t count, std::mt19937& random)
{
    std::normal_distribution<float> normal(0, 75);
    std::string bytes;
    while (bytes.size() < count) {
        const float number = normal(random), magnitude = std::min(std::fabs(number), 448.0f);
        const int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : -6, -6);
        // 8 .. 16, below 8 if subnormal
        const int steps = int(std::lrint(std::ldexp(magnitude, 3 - exponent)));
        bytes.push_back(char((number < 0 ? 128 : 0) | (steps + (exponent + 6) * 8)));
    }
    return bytes;
}

uint64_t numberAfter(const std::string& json, const std::string& key)
{
    const size_t at = json.find("\"" + key + "\": ");
    REQUIRE(at != std::string::npos);
    return std::stoull(json.substr(at + key.size() + 4));
}

} // namespace

TEST_CASE("tool weights: fp8 gets smaller from level 10 on")
{
    std::mt19937 random = makeRandom(95);
    const Folder folder;
    Model model;
    model.add("a", "F8_E4M3", {1000, 1000}, scaledE4m3(1000000, random));
    folder.write("m.safetensors", model.bytes());
    const auto packedSize = [&](const std::string& level) {
        REQUIRE(folder.run("pack -f -c float -l " + level + " m.safetensors -o m.sluice") == 0);
        REQUIRE(folder.run("unpack -f m.sluice --device cpu -o out.safetensors") == 0);
        CHECK(folder.read("out.safetensors") == model.bytes());
        return folder.read("m.sluice").size();
    };
    const size_t nine = packedSize("9"), ten = packedSize("10");
    CHECK(nine < 832000);
    CHECK(ten < 820000);
    CHECK(packedSize("12") == ten);
    CHECK(packedSize("1") == nine);
}

TEST_CASE("tool weights: pack -c float and unpack give the identical file")
{
    std::mt19937 random = makeRandom(94);
    const Folder folder;
    const std::string bytes = mixedModel(random).bytes();
    const auto roundTrip = [&](const std::string& model) {
        folder.write("m.safetensors", model);
        REQUIRE(folder.run("pack -f -c float -l 3 -j 1 m.safetensors -o m.sluice") == 0);
        CHECK(folder.read(".err") == "");
        REQUIRE(folder.run("pack -f -c float -l 3 -j 3 m.safetensors -o n.sluice") == 0);
        CHECK(folder.read("m.sluice") == folder.read("n.sluice"));
        REQUIRE(folder.run("unpack -f m.sluice --device cpu -o out.safetensors") == 0);
        CHECK(folder.read("out.safetensors") == model);
        CHECK(folder.run("verify m.sluice --device cpu") == 0);
        REQUIRE(folder.run("info --json m.sluice") == 0);
        return folder.read(".out");
    };
    const std::string info = roundTrip(bytes);
    CHECK(numberAfter(info, "size") == bytes.size());
    CHECK(numberAfter(info, "tileSize") == 1 << 20);
    CHECK(numberAfter(info, "floatTiles") >= 8);
    CHECK(numberAfter(info, "storedTiles") >= 1); // l
    CHECK(numberAfter(info, "storedSize") < bytes.size() * 3 / 4);

    // A header that is not padded moves all tensors to odd places.
    uint64_t headerSize = 0;
    std::memcpy(&headerSize, bytes.data(), 8);
    for (const size_t spaces : std::initializer_list<size_t>{1, 2, 3}) {
        const uint64_t size = headerSize + spaces;
        std::string moved(reinterpret_cast<const char*>(&size), 8);
        moved += bytes.substr(8, size_t(headerSize)) + std::string(spaces, ' ') +
                 bytes.substr(8 + size_t(headerSize));
        roundTrip(moved);
    }
    roundTrip(Model().bytes());
}

TEST_CASE("tool weights: pack -c float keeps what is no good safetensors file, and folders")
{
    std::mt19937 random = makeRandom(95);
    const Folder folder;
    std::string bytes = mixedModel(random).bytes();
    bytes.pop_back();
    fs::create_directory(folder.path / "in");
    folder.write("in/bad.safetensors", bytes);
    folder.write("in/config.json", "{}");
    folder.write("in/empty", "");
    REQUIRE(folder.run("pack -c float -l 1 in -o m.sluice") == 0);
    CHECK(folder.read(".err").find("sluice: in/bad.safetensors: packed as plain bytes: ") == 0);
    CHECK(folder.read(".err").find("config.json") == std::string::npos);
    folder.write("blank.safetensors", bytes.substr(0, 8) + " " + bytes.substr(8));
    folder.write("size.safetensors", bytes.substr(0, 7) + "x" + bytes.substr(8));
    folder.write("short.safetensors", bytes.substr(0, 5));
    for (const std::string name : {"blank.safetensors", "size.safetensors", "short.safetensors"}) {
        REQUIRE(folder.run("pack -f -c float -l 1 " + name + " -o p.sluice") == 0);
        CHECK(folder.read(".err") ==
              "sluice: " + name +
                  ": packed as plain bytes: it does not begin as a .safetensors file does\n");
        CHECK(folder.unpackError(name + " -o x") ==
              name + ": neither a .sluice archive, a tile stream nor a .safetensors file");
    }
    REQUIRE(folder.run("unpack m.sluice --device cpu -C out") == 0);
    for (const char* name : {"in/bad.safetensors", "in/config.json", "in/empty"})
        CHECK(folder.read("out/" + std::string(name)) == folder.read(name));
}

TEST_CASE("tool weights: pack -c huff")
{
    std::mt19937 random = makeRandom(96);
    const Folder folder;
    for (const size_t size : std::initializer_list<size_t>{0, 1, 1000, 100000, (1 << 20) + 5000}) {
        folder.write("file", randomBytes(size, 7, random));
        REQUIRE(folder.run("pack -f -c huff file -o file.sluice") == 0);
        REQUIRE(folder.run("unpack -f file.sluice --device cpu -o back") == 0);
        CHECK(folder.read("back") == folder.read("file"));
        if (size >= 100000) CHECK(folder.read("file.sluice").size() < size * 3 / 4);
    }
    CHECK(folder.run("pack -c nothing file -o x") == 1);
}

TEST_CASE("tool weights: damaged tiles of an archive of weights are found, and named")
{
    std::mt19937 random = makeRandom(97);
    const Folder folder;
    Model model;
    model.add("a", "BF16", {600000}, normalBytes("BF16", 1200000, random));
    folder.write("m.safetensors", model.bytes());
    REQUIRE(folder.run("pack -c float m.safetensors -o m.sluice") == 0);
    const std::string good = folder.read("m.sluice");
    // Tile 0 is the header of the model; tile 1's own header says BF16, 524,288 elements.
    const std::string head = std::string("\0\0\0\0\0\0\x08\0", 8);
    const size_t tile = good.find(head, 64);
    REQUIRE(tile != std::string::npos);
    REQUIRE(tile % 16 == 0);
    const auto damaged = [&](size_t at, char change) {
        std::string bytes = good;
        bytes[tile + at] = char(bytes[tile + at] ^ change);
        folder.write("m.sluice", bytes);
        CHECK(folder.run("verify m.sluice --device cpu") == 3);
        return folder.read(".err");
    };
    const std::string place = "sluice: m.sluice: asset 'm.safetensors', tile 1: ";
    for (const size_t at :
         std::initializer_list<size_t>{0, 4, 8, 12, 16 + 60, 144 + 4, 160 + 4096, 160 + 600000})
        CHECK(damaged(at, 1).find(place) == 0);
    CHECK(damaged(12, 1) == place + sluiceGetTileStatusText(SLUICE_TILE_BAD_REGION) + "\n");
    CHECK(damaged(16 + 60, 8) == place + sluiceGetTileStatusText(SLUICE_TILE_BAD_CODE) + "\n");
    CHECK(damaged(160 + 600, 1).find(place) == 0);
}

namespace {

// 2-D weights of two layers and an embedding; what stays plain: a vector, another dtype, a name
// without ".weight".
Model plainModel(const std::string& dtype, std::mt19937& random)
{
    Model model;
    model.header.hasMetadata = true;
    model.header.metadata = {{"format", "pt"}};
    const auto add = [&](const std::string& name, const std::string& type,
                         const std::vector<uint64_t>& shape) {
        uint64_t size = safetensorsBits(type) / 8;
        for (const uint64_t dimension : shape)
            size *= dimension;
        model.add(name, type, shape, normalBytes(type, size_t(size), random));
    };
    add("embed.weight", dtype, {100, 64});
    for (const char* layer : {"model.layers.0.", "model.layers.1."}) {
        add(std::string(layer) + "mlp.up.weight", dtype, {80, 64});
        add(std::string(layer) + "norm.weight", dtype, {64});
        add(std::string(layer) + "q.weight", dtype, {31, 33});
        add(std::string(layer) + "v.weight", dtype, {33, 31});
    }
    add("model.scale", "F32", {3});
    add("other.matrix", dtype, {4, 4});
    return model;
}

// Packs, checks how many units there are, unpacks with the names and shapes of the original, and
// compares.
void packAndBack(const Folder& folder, const std::string& arguments, size_t units)
{
    CAPTURE(arguments);
    REQUIRE(folder.run("pack -f --raw " + arguments + " m.safetensors -o out/p.safetensors") == 0);
    REQUIRE(folder.run("verify out/p.safetensors --device cpu") == 0);
    CHECK(folder.read(".out").find(": ok, " + std::to_string(units) + " units, ") !=
          std::string::npos);
    REQUIRE(
        folder.run(
            "unpack -f out/p.safetensors --device cpu --like m.safetensors -o back.safetensors") ==
        0);
    CHECK((folder.read("back.safetensors") == folder.read("m.safetensors")));
}

} // namespace

namespace {

// The names and types that ECF8's loader looks for, with what it counts in u64 at a multiple of
// that.
void checkEcf8Tensors(const std::string& file)
{
    SafetensorsHeader header;
    std::string error;
    uint64_t size = 0;
    REQUIRE(readSafetensorsSize(reinterpret_cast<const uint8_t*>(file.data()), file.size(), size,
                                error) == SLUICE_OK);
    REQUIRE(parseSafetensors(std::string_view(file).substr(8, size), file.size() - 8 - size, header,
                             error) == SLUICE_OK);
    std::map<std::string, std::string> types;
    for (const SafetensorsTensor& tensor : header.tensors) {
        types[tensor.name] = tensor.dtype;
        if (tensor.name.find(".output_positions") != std::string::npos) {
            CHECK(tensor.size() % 8 == 0);
            CHECK((8 + size + tensor.begin) % 8 == 0);
        }
        CHECK(tensor.name.find("encoded_exponent") == std::string::npos);
        CHECK(tensor.name.find("sign_mantissa") == std::string::npos);
    }
    for (const char* part : {"luts", "encoded", "packed_other_4bits", "output_positions", "gaps"})
        CHECK(types[std::string("embed.") + part] == "U8");
    CHECK(types["embed.split_positions"] == "I64");
}

} // namespace

TEST_CASE("tool weights: modules of many different names")
{
    std::mt19937 random = makeRandom(99);
    const Folder folder;
    fs::create_directory(folder.path / "out");
    Model model;
    for (size_t i = 0; i < 150; ++i)
        model.add("part" + std::string(i, 'x') + ".weight", "BF16", {8, 8},
                  normalBytes("BF16", 128, random));
    folder.write("m.safetensors", model.bytes());
    packAndBack(folder, "-c df11", 150);
}

TEST_CASE("tool weights: groups whose expression also matches other modules")
{
    std::mt19937 random = makeRandom(102);
    for (const auto& [codec, dtype] : {std::pair("df11", "BF16"), std::pair("ecf8", "F8_E4M3")}) {
        const Folder folder;
        fs::create_directory(folder.path / "out");
        Model model;
        for (const char* name :
             {"lm_head", "emb", "layer.0.q", "layer.0.v", "layer.1.q", "layer.1.v", "layer.7",
              "visual.a.q", "visual.a.v", "visual.b", "a.", ".b.c"})
            model.add(std::string(name) + ".weight", dtype, {8, 8},
                      normalBytes(dtype, dtype[0] == 'B' ? 128 : 64, random));
        folder.write("m.safetensors", model.bytes());
        const std::string arguments = std::string("-c ") + codec + " --group ";
        packAndBack(folder, arguments + "'visual.*|emb' --group 'lay.*'", 6);
        packAndBack(folder, arguments + "'layer\\.[01]'", 10);
        packAndBack(folder, arguments + "'layer\\.[0-9]' --group 'layer|visual'", 8);
        packAndBack(folder, arguments + "'visual\\.a'", 11);
        // Loaders of DFloat11 act on every pattern that matches: none may be left that matches what
        // is not meant.
        packAndBack(folder, arguments + "'.*'", 6); // layer, visual and .b; emb, lm_head and a.
                                                    // alone
        const std::string name =
            std::string(codec) == "df11" ? "out/config.json" : "out/pattern_dict.json";
        CHECK(folder.read(name).find("\".*\"") == std::string::npos);
        CHECK(folder.read(name).find("\"layer\": [") != std::string::npos);
    }
}

TEST_CASE("tool weights: files of both formats in a folder, each with its own dictionary")
{
    std::mt19937 random = makeRandom(107);
    const Folder folder;
    fs::create_directory(folder.path / "out");
    const auto write = [&](const std::string& name, const char* dtype,
                           std::initializer_list<const char*> attributes) {
        Model model;
        for (const char* layer : {"l.0.", "l.1."}) {
            for (const char* attribute : attributes)
                model.add(std::string(layer) + attribute + ".weight", dtype, {8, 8},
                          normalBytes(dtype, dtype[0] == 'B' ? 128 : 64, random));
        }
        folder.write(name, model.bytes());
    };
    write("b.safetensors", "BF16", {"q", "v"});
    write("f.safetensors", "F8_E4M3", {"x", "y", "z"});
    folder.write("config.json",
                 "{\"pattern_dict\": {\"l.*\": [\"of\", \"something\", \"else\", \"here\"]}}");
    for (const char* codec : {"df11", "ecf8", "df11"}) {
        const std::string name = codec[0] == 'd' ? "b" : "f";
        const std::string file = name + ".safetensors";
        REQUIRE(folder.run(std::string("pack -f --raw -c ") + codec + " --group 'l\\.\\d' " + file +
                           " -o out/" + file) == 0);
    }
    for (const std::string name : {"b", "f"}) {
        const std::string file = name + ".safetensors";
        CHECK(folder.run("unpack -f out/" + file + " --device cpu --like " + file +
                         " -o back.safetensors") == 0);
        CHECK((folder.read("back.safetensors") == folder.read(file)));
    }
}

TEST_CASE("tool weights: --group that joins nothing, or cannot be used, says so")
{
    std::mt19937 random = makeRandom(103);
    const Folder folder;
    fs::create_directory(folder.path / "out");
    folder.write("m.safetensors", plainModel("BF16", random).bytes());
    const auto error = [&](const std::string& groups) {
        CHECK(folder.run("pack --raw -c df11 " + groups + " m.safetensors -o out/p.safetensors") ==
              1);
        CHECK(fs::is_empty(folder.path / "out"));
        return folder.read(".err");
    };
    const std::string none =
        ": matches no module above a two-dimensional weight of BF16 that is in no other group\n";
    CHECK(error("--group nomatch") == "sluice: --group nomatch" + none);
    CHECK(error("--group ''") == "sluice: --group " + none);
    CHECK(error("--group 'model.*' --group 'model\\.layers'") ==
          "sluice: --group model\\.layers" + none);
    const std::string manual = " (docs/format.md, 5.5, says what is)\n";
    CHECK(error("--group '\\d{2}'") == "sluice: --group \\d{2}: cannot use this expression: "
                                       "repetition counts, {}, are not understood" +
                                           manual);
    CHECK(error("--group '[\\d]+'") ==
          "sluice: --group [\\d]+: cannot use this expression: escapes in [] are not understood" +
              manual);
    CHECK(error("--group " + std::string(257, 'a'))
              .find("cannot use this expression: it is longer than 256 bytes") !=
          std::string::npos);
}

TEST_CASE("tool weights: modules whose names no pattern can hold stay plain")
{
    std::mt19937 random = makeRandom(104);
    for (const auto& [codec, dtype] : {std::pair("df11", "BF16"), std::pair("ecf8", "F8_E4M3")}) {
        const Folder folder;
        fs::create_directory(folder.path / "out");
        Model model;
        const std::string weights = dtype;
        const auto add = [&](const std::string& name, const std::string& type = "",
                             uint64_t rows = 8) {
            const std::string& kind = type.empty() ? weights : type;
            model.add(name, kind, {rows, 8},
                      normalBytes(kind, rows * 8 * safetensorsBits(kind) / 8, random));
        };
        add("good.weight");
        add(std::string(256, 'x') + ".weight");
        add(std::string(257, 'y') + ".weight");
        add(std::string(600, 'z') + ".weight");
        add(std::string("n\0l.weight", 10));
        add("1.2.3" + std::string(83, '.') + ".weight"); // each dot is escaped
        add("0" + std::string(100, '1') + ".2.3.4.5.6.7.8.9.0.1.2.3.4.5.6.7.8.9.weight");
        for (int i = 0; i < 2; ++i) { // shorter as it is than with an expression in the place of
                                      // each digit
            std::string digits = std::to_string(i);
            for (int k = 0; k < 60; ++k)
                digits += "." + std::to_string(k % 10);
            add(digits + ".weight");
        }
        add("has.weight");
        add("has.gaps", "U8");
        add("other.weight");
        add("other.encoded", "U8");
        add("third.weight");
        add("third.encoded_exponent", "U8");
        folder.write("m.safetensors", model.bytes());
        packAndBack(folder, std::string("-c ") + codec, 6);
    }
}

TEST_CASE("tool weights: nothing is packed whose config.json could not be read again")
{
    std::mt19937 random = makeRandom(105);
    const Folder folder;
    fs::create_directory(folder.path / "out");
    const auto refused = [&] {
        CHECK(folder.run("pack -f --raw -c df11 m.safetensors -o out/p.safetensors") == 3);
        CHECK_FALSE(fs::exists(folder.path / "out/p.safetensors"));
        return folder.read(".err");
    };
    Model model;
    const std::string bytes = normalBytes("BF16", 8, random);
    for (uint32_t i = 0; i <= 4096; ++i)
        model.add("part" + std::to_string(i) + ".weight", "BF16", {2, 2}, bytes);
    folder.write("m.safetensors", model.bytes());
    CHECK(refused().find("sluice: the modules have more than 4096 forms of names") == 0);
    model.header.tensors.pop_back();
    model.data.resize(model.data.size() - bytes.size());
    folder.write("m.safetensors", model.bytes());
    packAndBack(folder, "-c df11", 4096);

    const std::string full = "{\"a\": \"" + std::string((1 << 20) - 50000, 'a') + "\"}";
    folder.write("config.json", full);
    fs::remove(folder.path / "out/config.json");
    fs::remove(folder.path / "out/p.safetensors");
    CHECK(refused() ==
          "sluice: out/config.json: would be larger than 1 MiB, and then not be read\n");
    CHECK_FALSE(fs::exists(folder.path / "out/config.json"));
    CHECK(folder.run("pack --raw -c df11 m.safetensors -o - > piped") == 0); // has none beside it
}

TEST_CASE("tool weights: pack --raw -c df11 and ecf8, and back")
{
    std::mt19937 random = makeRandom(98);
    for (const auto& [codec, dtype, key] : {std::tuple("df11", "BF16", "dfloat11_config"),
                                            std::tuple("ecf8", "F8_E4M3", "dfloat_config")}) {
        const Folder folder;
        const std::string name = codec;
        const bool df11 = name == "df11";
        fs::create_directory(folder.path / "out");
        folder.write("m.safetensors", plainModel(dtype, random).bytes());
        folder.write("config.json", "{\"model_type\": \"x\", \"hidden_size\": 64}");
        packAndBack(folder, "-c " + name, df11 ? 7 : 3); // ECF8 has no odd counts: 31 * 33
        CHECK((folder.read(".err") == ""));
        const std::string written = folder.read("out/config.json");
        CHECK(written.find("\"model_type\": \"x\"") != std::string::npos);
        CHECK(written.find("\"" + std::string(key) + "\"") != std::string::npos);
        const std::string dictionary = df11 ? "config.json" : "pattern_dict.json";
        const auto patterns = [&] { // without the spaces
            std::string json = folder.read("out/" + dictionary);
            json.erase(std::remove_if(json.begin(), json.end(),
                                      [](char c) { return c == ' ' || c == '\n'; }),
                       json.end());
            return json;
        };
        const std::string own = df11 ? "[]" : "[\"\"]";
        CHECK(patterns().find("\"embed\":" + own) != std::string::npos);
        CHECK(patterns().find("\"model\\\\.layers\\\\.\\\\d+\\\\.mlp\\\\.up\":" + own) !=
              std::string::npos);
        if (!df11) {
            CHECK(patterns().find("{\"fp8\":{") == 0);
            CHECK(written.find("pattern_dict") == std::string::npos);
            CHECK(written.find("\"threads_per_block\": 512") != std::string::npos);
            CHECK(folder.read("out/dfloat_config.json").find("\"version\": \"0.2.0\"") !=
                  std::string::npos);
            checkEcf8Tensors(folder.read("out/p.safetensors"));
            // None of the three is overwritten unasked.
            fs::create_directory(folder.path / "other");
            folder.write("other/" + dictionary, "{}");
            CHECK(folder.run("pack --raw -c ecf8 -q m.safetensors -o other/p.safetensors") == 2);
            CHECK_FALSE(fs::exists(folder.path / "other/p.safetensors"));
            CHECK_FALSE(fs::exists(folder.path / "other/config.json"));
        }
        CHECK((folder.read("config.json") == "{\"model_type\": \"x\", \"hidden_size\": 64}"));

        // A layer as one unit, with all its odd tensors: an even number of elements together.
        packAndBack(folder, "-c " + name + " --group 'model\\.layers\\.\\d+'", 3);
        CHECK((folder.read(".err") == ""));
        CHECK(folder.read("out/" + dictionary).find("\"mlp.up\",\n") != std::string::npos);
        REQUIRE(folder.run("info --json out/p.safetensors") == 0);
        CHECK(folder.read(".out").find("\"tensors\": [5120, 1023, 1023]") != std::string::npos);
        // Config files are not overwritten unasked.
        CHECK(folder.run("pack --raw -c " + name + " m.safetensors -o out/q.safetensors") == 2);
        CHECK(folder.read(".err") == "sluice: out/config.json: would be changed; -f allows it\n");
        CHECK_FALSE(fs::exists(folder.path / "out/q.safetensors"));
        // To stdout there is none.
        CHECK(folder.run("pack --raw -c " + name + " m.safetensors -o - > piped") == 0);
    }
}

TEST_CASE("tool weights: pack --raw -c df11 of tensors at the edge")
{
    const Folder folder;
    fs::create_directory(folder.path / "out");
    const auto elements = [](size_t count, const std::function<uint32_t(size_t)>& element) {
        std::string bytes;
        for (size_t i = 0; i < count; ++i) {
            bytes += char(element(i));
            bytes += char(element(i) >> 8);
        }
        return bytes;
    };
    Model model;
    const auto add = [&](const std::string& name, size_t count,
                         const std::function<uint32_t(size_t)>& element) {
        model.add(name + ".weight", "BF16", {1, count}, elements(count, element));
    };
    add("one", 1, [](size_t) { return 0x3f80u; });
    add("equal", 100000, [](size_t) { return 0x3f80u; }); // needs codes of 2 bits
    add("zeros", 70000,
        [](size_t i) { return i % 50 == 0 ? 0x3f80u + uint32_t(i % 512) : 0x8000u; });
    // dense in places
    add("runs", 200000, [](size_t i) { return i < 100000 ? 0u : 0x3f80u + uint32_t(i % 64 << 7); });
    // subnormal
    add("lowest", 500, [](size_t i) { return uint32_t(i % 128); });
    add("highest", 999, [](size_t i) { return 239u << 7 | uint32_t(i % 128); });
    add("all", 2400, [](size_t i) { return uint32_t(i % 240) << 7; });
    folder.write("m.safetensors", model.bytes());
    packAndBack(folder, "-c df11", 7);
    CHECK((folder.read(".err") == ""));

    // Exponents that the format cannot hold stay plain, and are told; others of that form get
    // patterns of their own.
    add("layer.0", 300, [](size_t i) { return i == 77 ? 0x7f80u : 0x3f80u; });
    add("layer.1", 300, [](size_t) { return 0x3f80u; });
    model.add("empty.weight", "BF16", {0, 4}, "");
    folder.write("m.safetensors", model.bytes());
    REQUIRE(folder.run("pack -f --raw -c df11 m.safetensors -o out/p.safetensors") == 0);
    CHECK((
        folder.read(".err") ==
        "sluice: 'layer.0' stays plain: an exponent of 240 or more, which DFloat11 cannot hold\n"));
    CHECK(folder.read("out/config.json").find("\"layer\\\\.1\": []") != std::string::npos);
    packAndBack(folder, "-c df11 -q", 8);

    CHECK(folder.run("pack -c df11 m.safetensors -o x") == 1);
    CHECK(folder.run("pack --raw -c huff m.safetensors -o x") == 1);
    CHECK(folder.run("pack --group a m.safetensors -o x") == 1);
    CHECK(folder.run("pack --raw -c df11 --group '(a' m.safetensors -o x") == 1);
    CHECK(folder.run("pack --raw -c df11 m.safetensors m.safetensors -o x") == 1);
    folder.write("text", "no safetensors");
    CHECK(folder.run("pack -f --raw -c df11 text -o x") == 3);
}

TEST_CASE("tool weights: the benchmark reads weights of files")
{
    std::mt19937 random = makeRandom(106);
    const Folder folder;
    fs::create_directory(folder.path / "out");
    Model model;
    const auto add = [&](const std::string& name, const std::string& type, uint64_t rows) {
        model.add(name, type, {rows, 100},
                  normalBytes(type, size_t(rows * 100 * safetensorsBits(type) / 8), random));
    };
    add("a.weight", "BF16", 300);
    add("b.weight", "BF16", 200);
    add("c", "F16", 123);
    add("d", "F32", 77);
    add("e.weight", "F8_E4M3", 500);
    folder.write("m.safetensors", model.bytes());
    // The rows but those of several threads, as "what: bytes", with "encode" in front where a row
    // is about that.
    const auto bench = [&](const std::string& arguments) {
        REQUIRE(folder.run("bench -q --device cpu --json - " + arguments) == 0);
        const std::string json = folder.read(".out"), key = "\"who\": \"sluice, ";
        std::vector<std::string> rows;
        for (size_t begin = json.find("{\"kernel\""); begin != std::string::npos;
             begin = json.find("{\"kernel\"", begin + 1)) {
            const std::string row = json.substr(begin, json.find('}', begin) - begin);
            const size_t who = row.find(key);
            // the copy
            if (who == std::string::npos || row.find(" threads\"") != std::string::npos) continue;
            const std::string what =
                row.substr(who + key.size(), row.find(", ", who + key.size()) - who - key.size());
            CHECK(row.find("\"input\": ") != std::string::npos);
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
           // bf16 has f16 in its name
           Rows{"bf16: 100000", "f16: 24600", "DFloat11 bf16: 100000"}));
    CHECK((bench("--filter df11 --input m.safetensors") ==
           Rows{"encode DFloat11 bf16: 100000", "DFloat11 bf16: 100000", "encode ECF8 e4m3: 50000",
                "ECF8 e4m3: 50000"}));
    REQUIRE(folder.run("pack --raw -c df11 m.safetensors -o out/p.safetensors") == 0);
    CHECK((bench("--filter DFloat11 --input out/p.safetensors") == Rows{"DFloat11 bf16: 100000"}));
    REQUIRE(folder.run("pack -f --raw -c ecf8 m.safetensors -o out/e.safetensors") == 0);
    CHECK((bench("--filter ECF8 --input out/e.safetensors") == Rows{"ECF8 e4m3: 50000"}));
    CHECK((bench("--filter f16,f32,ecf8 --input out/e.safetensors") ==
           // what stayed plain, and the unit
           Rows{"bf16: 100000", "f16: 24600", "f32: 30800", "ECF8 e4m3: 50000"}));
    REQUIRE(folder.run("pack -c float -l 12 m.safetensors -o m.sluice") == 0);
    CHECK((bench("--filter 'float bf,float f,e4m3' --input m.sluice") ==
           Rows{"bf16: 100000", "f16: 24600", "f32: 30800", "e4m3 dense: 50000"}));
    folder.write("text", std::string(5000, 'x') + std::string(3000, 'y'));
    CHECK((bench("--filter huff --input text") == Rows{"huff: 8000"}));
    CHECK((bench("--filter huff,e4m3 --input text --input m.sluice") ==
           Rows{"huff: 8000", "e4m3 dense: 50000"}));

    // Inputs and filters that have nothing to do with each other.
    const auto refused = [&](const std::string& arguments) {
        CHECK(folder.run("bench -q --device cpu " + arguments) == 3);
        return folder.read(".err");
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
    std::string bytes = folder.read("m.sluice");
    bytes[bytes.size() / 2] = char(bytes[bytes.size() / 2] ^ 4);
    folder.write("m.sluice", bytes);
    CHECK(refused("--filter float --input m.sluice") != "");
    CHECK(folder.run("bench -q --device cpu --filter frob") == 1);
    CHECK(folder.read(".err").find(
              "sluice: --filter frob: no kernel's name contains that; they are copy, ") == 0);
}

TEST_CASE(
    "tool weights: blocks that pack -c df11 makes fit into the reference kernel's shared memory")
{
    const Folder folder;
    // Long runs of one exponent among others: a code of 1 bit would give some blocks 32,768
    // elements.
    std::mt19937 random = makeRandom(100);
    std::string bytes;
    for (size_t i = 0; i < 400000; ++i) {
        const uint32_t element = i / 50000 % 2 == 0 ? 0 : 0x3f80u + uint32_t(random() % 16 << 7);
        bytes += char(element);
        bytes += char(element >> 8);
    }
    Model model;
    model.add("a.weight", "BF16", {1, 400000}, bytes);
    folder.write("m.safetensors", model.bytes());
    fs::create_directory(folder.path / "out");
    packAndBack(folder, "-c df11", 1);
    const std::string packed = folder.read("out/p.safetensors");
    SafetensorsHeader header;
    std::string error;
    uint64_t size = 0;
    const uint8_t* start = reinterpret_cast<const uint8_t*>(packed.data());
    REQUIRE(readSafetensorsSize(start, packed.size(), size, error) == SLUICE_OK);
    const std::string_view json = std::string_view(packed).substr(8, size);
    REQUIRE(parseSafetensors(json, packed.size() - 8 - size, header, error) == SLUICE_OK);
    for (const SafetensorsTensor& tensor : header.tensors) {
        if (tensor.name != "a.output_positions") continue;
        std::vector<uint32_t> positions(tensor.size() / 4);
        std::memcpy(positions.data(), packed.data() + 8 + size + tensor.begin, tensor.size());
        for (size_t i = 1; i < positions.size(); ++i)
            CHECK(512 * 4 + 4 + 2 * (positions[i] - positions[i - 1]) <= 48 * 1024);
        return;
    }
    FAIL("no positions");
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tool weights: an archive of several codecs is decoded and checked on the device")
{
    std::mt19937 random = makeRandom(101);
    const Folder folder;
    Model model;
    model.add("a", "BF16", {40000}, normalBytes("BF16", 80000, random));
    model.add("b", "F32", {20000}, normalBytes("F32", 80000, random));
    model.add("c", "U8", {70000}, randomBytes(70000, 5, random));
    model.add("d", "U8", {200000}, text([&] {
                  Bytes bytes(200000); // stored in a tile that is too large for a region
                  for (uint8_t& byte : bytes)
                      byte = uint8_t(random());
                  return bytes;
              }()));
    model.add("e", "F8_E5M2", {70001}, normalBytes("F8_E5M2", 70001, random));
    fs::create_directory(folder.path / "in");
    folder.write("in/m.safetensors", model.bytes());
    folder.write("in/text", std::string(100000, 'x'));
    REQUIRE(folder.run("pack -c float in -o m.sluice") == 0);
    const std::string where =
        " --device " + device().selector() + " --tier " + device().info().tier;
    CHECK(folder.run("verify m.sluice --compare ." + where) == 0);
    CHECK((folder.read(".err") == ""));
    const std::string good = folder.read("m.sluice");
    const auto damaged = [&](size_t at) {
        std::string bytes = good;
        bytes[at] = char(bytes[at] ^ 4);
        folder.write("m.sluice", bytes);
        CHECK(folder.run("verify m.sluice" + where) == 3);
        const std::string place = "sluice: m.sluice: asset 'in/m.safetensors', tile ",
                          error = folder.read(".err");
        CHECK(error.find(place) == 0);
        return error;
    };
    damaged(good.size() / 2);
    // The float tile of "a", BF16: only the checksum sees a mantissa that has changed.
    const size_t tile = good.find(std::string("\0\0\0\0\x40\x9c\0\0", 8), 64);
    REQUIRE(tile != std::string::npos);
    REQUIRE(tile % 16 == 0);
    CHECK(damaged(tile + 176 + 1000).find(sluiceGetTileStatusText(SLUICE_TILE_BAD_CHECKSUM)) !=
          std::string::npos);
}

TEST_SUITE_END();
