// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice unpack, verify and info of .safetensors files with units of DFloat11 or ECF8: names,
// shapes, plain tensors, damaged files.
#include <algorithm>
#include <functional>

#include "tests/tool/tool_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// Holds a model with one plain tensor, a unit of three weights, a unit of one weight, and one of
// fp8.
struct Sample {
    Sample()
    {
        std::mt19937 random = makeRandom(91);
        block = weightUnit(SLUICE_DF11_BF16, 40000, random);
        head = weightUnit(SLUICE_DF11_BF16, 6000, random);
        small = weightUnit(SLUICE_DF11_FP8_E4M3, 2000, random);
        model.addUnit("model.layers.7", block, {10000, 25000});
        model.add("model.norm.weight", "F32", {2}, "12345678");
        model.addUnit("lm_head", head, {});
        model.addUnit("other", small, {});
    }
    // Returns the file that unpack must make, with these names and shapes of the weights.
    std::string expected(const std::vector<std::string>& names,
                         const std::vector<std::vector<uint64_t>>& shapes) const
    {
        const std::string bytes = text(block.expected);
        Model plain = taggedModel();
        plain.add(names[0], "BF16", shapes[0], bytes.substr(0, 20000));
        plain.add(names[1], "BF16", shapes[1], bytes.substr(20000, 30000));
        plain.add(names[2], "BF16", shapes[2], bytes.substr(50000));
        plain.add("model.norm.weight", "F32", {2}, "12345678");
        plain.add("lm_head.weight", "BF16", shapes[3], text(head.expected));
        plain.add("other.weight", "F8_E4M3", shapes[4], text(small.expected));
        return plain.bytes();
    }

    Df11Tensors block, head, small;
    Model model = taggedModel();
};

const std::vector<std::vector<uint64_t>> kFlat = {{10000}, {15000}, {15000}, {6000}, {2000}};
const std::vector<std::string> kNumbers = {"model.layers.7.0", "model.layers.7.1",
                                           "model.layers.7.2"};
const std::vector<std::string> kAttributes = {
    "model.layers.7.q.weight", "model.layers.7.mlp.up.weight", "model.layers.7.mlp.down.weight"};
// Returns the end of a message: why a module counts as a unit although it lacks a tensor.
std::string though(const char* encoded)
{
    return std::string(", though it has luts and ") + encoded +
           ", as units of DFloat11 and ECF8 have";
}
const char* const kConfig =
    "{\"a\": 1, \"dfloat11_config\": {\"version\": \"0.5.0\", \"pattern_dict\": {"
    "\"model\\\\.layers\\\\.\\\\d+\": [\"q\", \"mlp.up\", \"mlp.down\"], \"lm_head\": []}}}";

} // namespace

TEST_CASE("tool weights: tensors of a unit are numbered where nothing names them")
{
    const Sample sample;
    const Folder folder;
    folder.write("m.safetensors", sample.model);
    CHECK(folder.onCpu("unpack m.safetensors -o out.safetensors") == 0);
    CHECK(folder.errors() == "");
    CHECK((folder.read("out.safetensors") == sample.expected(kNumbers, kFlat)));
    CHECK(folder.onCpu("unpack m.safetensors -C sub") == 0);
    CHECK((folder.read("sub/m.safetensors") == folder.read("out.safetensors")));
    CHECK(folder.onCpu("unpack m.safetensors -o out.safetensors") == 2); // the output exists
    CHECK(folder("unpack - --device cpu -o piped.safetensors < m.safetensors") == 0);
    CHECK((folder.read("piped.safetensors") == folder.read("out.safetensors")));
    CHECK(folder.onCpu("unpack m.safetensors -o -") == 0);
    CHECK((folder.output() == folder.read("out.safetensors")));
    CHECK(folder.onCpu("unpack m.safetensors") == 1); // there is no name for the output
    CHECK(folder.onCpu("verify m.safetensors") == 0);
    CHECK(folder.output() == "m.safetensors: ok, 3 units, 94.0 kB\n");
    CHECK(folder("info m.safetensors") == 0);
    CHECK(contains(folder.output(), "DFloat11  model.layers.7\n"));
    CHECK(contains(folder.output(), "ECF8      other\n"));
    CHECK(folder("info --json m.safetensors") == 0);
    CHECK(contains(folder.output(), "\"tensors\": [10000, 15000, 15000]"));
}

TEST_CASE("tool weights: a config.json names them")
{
    const Sample sample;
    const Folder folder;
    folder.write("m.safetensors", sample.model);
    folder.write("config.json", kConfig);
    CHECK(folder.onCpu("unpack m.safetensors -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == sample.expected(kAttributes, kFlat)));
    folder.write("config.json", "{}");
    CHECK(folder.onCpu("unpack m.safetensors -f -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == sample.expected(kNumbers, kFlat)));

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
          "config.json: pattern_dict: cannot use the pattern \"(a+\": missing ): (a+");
    CHECK(error("{\"pattern_dict\": {\"(a)\\\\1\": []}}") ==
          "config.json: pattern_dict: cannot use the pattern \"(a)\\\\1\": of escaped letters and "
          "digits only \\d and \\w are understood");
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
    // Nested repetitions. A matcher that goes back, or expands them, would never end.
    std::string nested = std::string(80, '(') + "model.*7";
    for (int i = 0; i < 80; ++i)
        nested += ")+";
    CHECK(error("{\"pattern_dict\": {\"" + nested + "\": [\"q\"]}}") ==
          "config.json: pattern_dict names 1 tensors for module 'model.layers.7', which has 3");
    CHECK(error(std::string(2000000, ' ')) == "config.json: is larger than 1 MiB");
}

TEST_CASE("tool weights: --like restores shapes, names and order")
{
    const Sample sample;
    const Folder folder;
    folder.write("m.safetensors", sample.model);
    folder.write("config.json", kConfig);
    const std::string bytes = text(sample.block.expected);
    const auto original = [&](uint64_t columns) {
        Model like = taggedModel();
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
    CHECK(folder.onCpu("unpack m.safetensors --like like.safetensors -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == original(50)));

    fs::remove(folder.path / "config.json");
    CHECK(folder.unpackError("m.safetensors --like like.safetensors -o x") ==
          "like.safetensors: several tensors of module 'model.layers.7' have the same size; a "
          "config.json with pattern_dict beside the input would tell them apart");
    Model other;
    other.add("lm_head.weight", "BF16", {1}, "xx");
    folder.write("other.safetensors", other);
    folder.write("text", "0123456789 no model at all");
    CHECK(folder.unpackError("m.safetensors --like text -o x") == "text: is no .safetensors file");
    CHECK(folder.unpackError("m.safetensors --like other.safetensors -o x") ==
          "other.safetensors: has no tensor of 10000 elements in module 'model.layers.7'");
    Model head;
    head.addUnit("lm_head", sample.head, {});
    folder.write("head.safetensors", head);
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
        // Most exponents take one bit. So the unit has more elements than 2,048 blocks of weights.
        Bytes exponents(18'000'000, 3);
        for (size_t i = 0; i < exponents.size(); i += 1 + random() % 9)
            exponents[i] = uint8_t(random() % 6);
        const Df11Tensors unit = weightUnit(kind, exponents, random);
        Model model;
        model.addUnit("a", unit, {5, 17'000'001});
        folder.write("m.safetensors", model);
        CHECK(folder.onCpu("unpack -f m.safetensors -o out.safetensors") == 0);
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
        CHECK_FALSE(folder.has("out.safetensors"));
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
    CHECK(folder.onCpu("verify m.safetensors") == 3);
    for (const auto& splits : std::vector<std::vector<uint64_t>>{{4, 3}, {6001}, {~uint64_t(0)}}) {
        Model split;
        split.addUnit("a", sample.head, splits);
        CHECK(error(split.bytes()) ==
              "m.safetensors: module 'a': split_positions runs backwards or past the last element");
    }
    Model large; // with an impossible table
    large.addUnit("a", sample.head, {});
    large.header.tensors[0].shape = {40, 256};
    large.data.insert(0, std::string((40 - sample.head.luts.size() / 256) * 256, 'x'));
    CHECK(error(large.bytes()) ==
          "m.safetensors: module 'a': luts is not 2 to 18 rows of 256 bytes");
}

namespace {

// Checks what the tool says of files whose unit of ECF8 is damaged.
void checkEcf8Errors(const Folder& folder, const Df11Tensors& head, const Df11Tensors& bf16)
{
    const auto error = [&](const Model& damaged) {
        folder.write("d.safetensors", damaged);
        const std::string result = folder.unpackError("d.safetensors -o damaged");
        CHECK_FALSE(folder.has("damaged"));
        CHECK(folder("info d.safetensors") == 3);
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
        CHECK(contains(place, "' is not of U8"));
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
        folder.write("d.safetensors", good);
        CHECK(folder.onCpu("verify d.safetensors") == 0);
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
    CHECK(changed([&](Model& damaged) { // more rows than possible
              damaged.header.tensors[luts].shape = {40, 256};
              damaged.data.insert(0, std::string((40 - head.luts.size() / 256) * 256, 'x'));
          }) == "d.safetensors: module 'a': luts is not 2 to 18 rows of 256 bytes");
    // Sizes that contradict each other. The message has the names that the file has.
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
    CHECK_FALSE(contains(ofWrong(), "encoded_exponent"));
}

} // namespace

TEST_CASE("tool weights: units of ECF8 by the names of its own packer")
{
    std::mt19937 random = makeRandom(102);
    const Df11Tensors block = weightUnit(SLUICE_DF11_FP8_E4M3, 40000, random),
                      head = weightUnit(SLUICE_DF11_FP8_E4M3, 3000, random),
                      bf16 = weightUnit(SLUICE_DF11_BF16, 3000, random);
    const Folder folder;
    Model model;
    model.addEcf8Unit("layers.7", block, {10000, 25000});
    model.addEcf8Unit("lm_head", head, {});
    model.addUnit("old", head, {});            // a file may have both kinds of names
    model.add("vq.encoded", "U8", {3}, "abc"); // it has no luts, so it is plain
    folder.write("m.safetensors", model);
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
    CHECK(folder.onCpu("unpack m.safetensors -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == expected({"layers.7.0", "layers.7.1", "layers.7.2"})));
    CHECK(folder.onCpu("verify m.safetensors") == 0);
    CHECK(folder("info m.safetensors") == 0);
    CHECK(contains(folder.output(), "ECF8      layers.7\n"));

    // Names come from pattern_dict.json, which ECF8's packer writes. "" is the module itself; null
    // stands for a form of names without modules.
    const std::string patterns =
        "{\"fp8\": {\"layers\\\\.\\\\d+\": [\"q\", \"mlp.up\", \"mlp.down\"], \"lm_head\": [\"\"], "
        "\"x\": null}, \"bf16\": {\"embed\": []}}";
    const std::vector<std::string> named = {"layers.7.q.weight", "layers.7.mlp.up.weight",
                                            "layers.7.mlp.down.weight"};
    folder.write("config.json", "{\"dfloat_config\": {\"version\": \"0.2.0\"}}");
    folder.write("pattern_dict.json", patterns);
    CHECK(folder.onCpu("unpack -f m.safetensors -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == expected(named)));
    folder.write("config.json", "{\"dfloat_config\": {\"pattern_dict\": " + patterns + "}}");
    folder.write("pattern_dict.json", "{");
    CHECK(folder.onCpu("unpack -f m.safetensors -o out.safetensors") == 0);
    CHECK((folder.read("out.safetensors") == expected(named)));
    fs::remove(folder.path / "config.json");
    CHECK(folder.unpackError("m.safetensors -f -o x") == "pattern_dict.json: is no JSON");
    folder.write("pattern_dict.json", "{\"fp8\": {\"a\": 1}}");
    CHECK(folder.unpackError("m.safetensors -f -o x") ==
          "pattern_dict.json: pattern_dict does not map patterns to lists of names");
    fs::remove(folder.path / "pattern_dict.json");
    checkEcf8Errors(folder, head, bf16);
}

TEST_CASE("tool weights: mutated files")
{
    std::mt19937 random = makeRandom(93);
    const Folder folder;
    Model model;
    model.addUnit("a", weightUnit(SLUICE_DF11_BF16, 3000, random), {1000});
    const std::string good = model.bytes();
    const size_t header = good.size() - model.data.size();
    uint32_t decoded = 0;
    // Each one starts a process. The parser and the kernel have tests of their own, with thousands.
    const uint32_t total = 60;
    for (uint32_t i = 0; i < total; ++i) {
        std::string bytes = good;
        for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
            const size_t at = random() % (i % 2 == 0 ? header : bytes.size());
            bytes[at] = char(bytes[at] ^ 1 << random() % 8);
        }
        folder.write("m.safetensors", bytes);
        const int code = folder.onCpu("unpack -f m.safetensors -o out.safetensors");
        CAPTURE(i);
        CHECK((code == 0 || code == 3));
        decoded += code == 0;
    }
    CHECK(decoded < total);
}
