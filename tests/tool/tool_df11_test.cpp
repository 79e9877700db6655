// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice pack --raw -c df11 and -c ecf8: units, groups, and the files for the loaders of such
// models.
#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <tuple>

#include "tests/tool/tool_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// Returns a model with 2-D weights of two layers and an embedding. Some tensors stay plain: a
// vector, one of another dtype, and one whose name does not end in ".weight".
Model plainModel(const std::string& dtype, std::mt19937& random)
{
    Model model = taggedModel();
    const auto add = [&](const std::string& name, const std::string& type,
                         const std::vector<uint64_t>& shape) {
        model.add(name, type, shape, random);
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

// Packs, checks the number of units, unpacks with the names and shapes of the original, and
// compares.
void packAndBack(const Folder& folder, const std::string& arguments, size_t units)
{
    CAPTURE(arguments);
    REQUIRE(folder("pack -f --raw " + arguments + " m.safetensors -o out/p.safetensors") == 0);
    REQUIRE(folder.onCpu("verify out/p.safetensors") == 0);
    CHECK(contains(folder.output(), ": ok, " + std::to_string(units) + " units, "));
    REQUIRE(folder.onCpu("unpack -f out/p.safetensors --like m.safetensors -o back.safetensors") ==
            0);
    CHECK((folder.read("back.safetensors") == folder.read("m.safetensors")));
}

// Checks the names and types that ECF8's loader looks for. What it reads as u64 must be at a
// multiple of 8 bytes.
void checkEcf8Tensors(const std::string& file)
{
    uint64_t dataOffset = 0;
    const SafetensorsHeader header = parseModel(file, dataOffset);
    std::map<std::string, std::string> types;
    for (const SafetensorsTensor& tensor : header.tensors) {
        types[tensor.name] = tensor.dtype;
        if (contains(tensor.name, ".output_positions")) {
            CHECK(tensor.size() % 8 == 0);
            CHECK((dataOffset + tensor.begin) % 8 == 0);
        }
        CHECK_FALSE(contains(tensor.name, "encoded_exponent"));
        CHECK_FALSE(contains(tensor.name, "sign_mantissa"));
    }
    for (const char* part : {"luts", "encoded", "packed_other_4bits", "output_positions", "gaps"})
        CHECK(types[std::string("embed.") + part] == "U8");
    CHECK(types["embed.split_positions"] == "I64");
}

} // namespace

TEST_CASE("tool weights: modules of many different names")
{
    std::mt19937 random = makeRandom(99);
    const Folder folder("out");
    Model model;
    for (size_t i = 0; i < 150; ++i)
        model.add("part" + std::string(i, 'x') + ".weight", "BF16", {8, 8}, random);
    folder.write("m.safetensors", model);
    packAndBack(folder, "-c df11", 150);
}

TEST_CASE("tool weights: the ratio is that of everywhere, stored bytes to plain ones")
{
    std::mt19937 random = makeRandom(101);
    const Folder folder("out");
    Model model;
    model.add("a.weight", "BF16", {512, 512}, random);
    folder.write("m.safetensors", model);
    REQUIRE(folder("pack -v --raw -c df11 m.safetensors -o out/p.safetensors") == 0);
    const double plain = double(folder.read("m.safetensors").size()),
                 stored = double(folder.read("out/p.safetensors").size());
    CHECK(stored < 0.8 * plain);
    const std::string said = folder.errors();
    const size_t at = said.find("ratio      ");
    REQUIRE(at != std::string::npos);
    CHECK(std::stod(said.substr(at + 11)) == doctest::Approx(100 * stored / plain).epsilon(0.01));
    CHECK(contains(said.substr(at), " %\n"));
}

TEST_CASE("tool weights: groups whose expression also matches other modules")
{
    std::mt19937 random = makeRandom(102);
    for (const auto& [codec, dtype] : {std::pair("df11", "BF16"), std::pair("ecf8", "F8_E4M3")}) {
        const Folder folder("out");
        Model model;
        for (const char* name :
             {"lm_head", "emb", "layer.0.q", "layer.0.v", "layer.1.q", "layer.1.v", "layer.7",
              "visual.a.q", "visual.a.v", "visual.b", "a.", ".b.c"})
            model.add(std::string(name) + ".weight", dtype, {8, 8}, random);
        folder.write("m.safetensors", model);
        const std::string arguments = std::string("-c ") + codec + " --group ";
        packAndBack(folder, arguments + "'visual.*|emb' --group 'lay.*'", 6);
        packAndBack(folder, arguments + "'layer\\.[01]'", 10);
        packAndBack(folder, arguments + "'layer\\.[0-9]' --group 'layer|visual'", 8);
        packAndBack(folder, arguments + "'visual\\.a'", 11);
        // Loaders of DFloat11 use every pattern that matches a module. So no pattern may be written
        // that also matches other modules. Units: layer, visual, .b, emb, lm_head and "a.".
        packAndBack(folder, arguments + "'.*'", 6);
        const std::string name =
            std::string(codec) == "df11" ? "out/config.json" : "out/pattern_dict.json";
        CHECK_FALSE(contains(folder.read(name), "\".*\""));
        CHECK(contains(folder.read(name), "\"layer\": ["));
    }
}

TEST_CASE("tool weights: files of both formats in a folder, each with its own dictionary")
{
    std::mt19937 random = makeRandom(107);
    const Folder folder("out");
    const auto write = [&](const std::string& name, const char* dtype,
                           std::initializer_list<const char*> attributes) {
        Model model;
        for (const char* layer : {"l.0.", "l.1."}) {
            for (const char* attribute : attributes)
                model.add(std::string(layer) + attribute + ".weight", dtype, {8, 8}, random);
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
        REQUIRE(folder(std::string("pack -f --raw -c ") + codec + " --group 'l\\.\\d' " + file +
                       " -o out/" + file) == 0);
    }
    for (const std::string name : {"b", "f"}) {
        const std::string file = name + ".safetensors";
        CHECK(folder("unpack -f out/" + file + " --device cpu --like " + file +
                     " -o back.safetensors") == 0);
        CHECK((folder.read("back.safetensors") == folder.read(file)));
    }
}

TEST_CASE("tool weights: --group that joins nothing, or cannot be used, says so")
{
    std::mt19937 random = makeRandom(103);
    const Folder folder("out");
    folder.write("m.safetensors", plainModel("BF16", random).bytes());
    const auto error = [&](const std::string& groups) {
        CHECK(folder("pack --raw -c df11 " + groups + " m.safetensors -o out/p.safetensors") == 1);
        CHECK(fs::is_empty(folder.path / "out"));
        return folder.errors();
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
    CHECK(contains(error("--group " + std::string(257, 'a')),
                   "cannot use this expression: it is longer than 256 bytes"));
}

TEST_CASE("tool weights: modules whose names no pattern can hold stay plain")
{
    std::mt19937 random = makeRandom(104);
    for (const auto& [codec, dtype] : {std::pair("df11", "BF16"), std::pair("ecf8", "F8_E4M3")}) {
        const Folder folder("out");
        Model model;
        const std::string weights = dtype;
        const auto add = [&](const std::string& name, const std::string& type = "") {
            model.add(name, type.empty() ? weights : type, {8, 8}, random);
        };
        add("good.weight");
        add(std::string(256, 'x') + ".weight");
        add(std::string(257, 'y') + ".weight");
        add(std::string(600, 'z') + ".weight");
        add(std::string("n\0l.weight", 10));
        add("1.2.3" + std::string(83, '.') + ".weight"); // each dot is escaped in the pattern
        add("0" + std::string(100, '1') + ".2.3.4.5.6.7.8.9.0.1.2.3.4.5.6.7.8.9.weight");
        // These names are shorter as they are than with an expression for each digit.
        for (int i = 0; i < 2; ++i) {
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
        folder.write("m.safetensors", model);
        packAndBack(folder, std::string("-c ") + codec, 6);
    }
}

TEST_CASE("tool weights: nothing is packed whose config.json could not be read again")
{
    std::mt19937 random = makeRandom(105);
    const Folder folder("out");
    const auto refused = [&] {
        CHECK(folder("pack -f --raw -c df11 m.safetensors -o out/p.safetensors") == 3);
        CHECK_FALSE(folder.has("out/p.safetensors"));
        return folder.errors();
    };
    Model model;
    const std::string bytes = normalBytes("BF16", 8, random);
    for (uint32_t i = 0; i <= 4096; ++i)
        model.add("part" + std::to_string(i) + ".weight", "BF16", {2, 2}, bytes);
    folder.write("m.safetensors", model);
    CHECK(refused().find("sluice: the modules have more than 4096 forms of names") == 0);
    model.header.tensors.pop_back();
    model.data.resize(model.data.size() - bytes.size());
    folder.write("m.safetensors", model);
    packAndBack(folder, "-c df11", 4096);

    const std::string full = "{\"a\": \"" + std::string((1 << 20) - 50000, 'a') + "\"}";
    folder.write("config.json", full);
    fs::remove(folder.path / "out/config.json");
    fs::remove(folder.path / "out/p.safetensors");
    CHECK(refused() ==
          "sluice: out/config.json: would be larger than 1 MiB, and then not be read\n");
    CHECK_FALSE(folder.has("out/config.json"));
    // To stdout, no config.json is written.
    CHECK(folder("pack --raw -c df11 m.safetensors -o - > piped") == 0);
}

TEST_CASE("tool weights: pack --raw -c df11 and ecf8, and back")
{
    std::mt19937 random = makeRandom(98);
    for (const auto& [codec, dtype, key] : {std::tuple("df11", "BF16", "dfloat11_config"),
                                            std::tuple("ecf8", "F8_E4M3", "dfloat_config")}) {
        const Folder folder("out");
        const std::string name = codec;
        const bool df11 = name == "df11";
        folder.write("m.safetensors", plainModel(dtype, random).bytes());
        folder.write("config.json", "{\"model_type\": \"x\", \"hidden_size\": 64}");
        // ECF8 has no units with an odd number of elements, such as 31 * 33.
        packAndBack(folder, "-c " + name, df11 ? 7 : 3);
        CHECK((folder.errors() == ""));
        const std::string written = folder.read("out/config.json");
        CHECK(contains(written, "\"model_type\": \"x\""));
        CHECK(contains(written, "\"" + std::string(key) + "\""));
        const std::string dictionary = df11 ? "config.json" : "pattern_dict.json";
        const auto patterns = [&] { // returns the dictionary without blanks
            std::string json = folder.read("out/" + dictionary);
            json.erase(std::remove_if(json.begin(), json.end(),
                                      [](char c) { return c == ' ' || c == '\n'; }),
                       json.end());
            return json;
        };
        const std::string own = df11 ? "[]" : "[\"\"]";
        CHECK(contains(patterns(), "\"embed\":" + own));
        CHECK(contains(patterns(), "\"model\\\\.layers\\\\.\\\\d+\\\\.mlp\\\\.up\":" + own));
        if (!df11) {
            CHECK(patterns().find("{\"fp8\":{") == 0);
            CHECK_FALSE(contains(written, "pattern_dict"));
            CHECK(contains(written, "\"threads_per_block\": 512"));
            CHECK(contains(folder.read("out/dfloat_config.json"), "\"version\": \"0.2.0\""));
            checkEcf8Tensors(folder.read("out/p.safetensors"));
            // None of ECF8's three files is overwritten without -f.
            folder.write("other/" + dictionary, "{}");
            CHECK(folder("pack --raw -c ecf8 -q m.safetensors -o other/p.safetensors") == 2);
            CHECK_FALSE(folder.has("other/p.safetensors"));
            CHECK_FALSE(folder.has("other/config.json"));
        }
        CHECK((folder.read("config.json") == "{\"model_type\": \"x\", \"hidden_size\": 64}"));

        // A layer becomes one unit with all its odd tensors. Together they have an even number of
        // elements.
        packAndBack(folder, "-c " + name + " --group 'model\\.layers\\.\\d+'", 3);
        CHECK((folder.errors() == ""));
        CHECK(contains(folder.read("out/" + dictionary), "\"mlp.up\",\n"));
        REQUIRE(folder("info --json out/p.safetensors") == 0);
        CHECK(contains(folder.output(), "\"tensors\": [5120, 1023, 1023]"));
        // Config files are not overwritten without -f.
        CHECK(folder("pack --raw -c " + name + " m.safetensors -o out/q.safetensors") == 2);
        CHECK(folder.errors() == "sluice: out/config.json: would be changed; -f allows it\n");
        CHECK_FALSE(folder.has("out/q.safetensors"));
        // To stdout, no config file is written.
        CHECK(folder("pack --raw -c " + name + " m.safetensors -o - > piped") == 0);
    }
}

TEST_CASE("tool weights: pack --raw -c df11 of tensors at the edge")
{
    const Folder folder("out");
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
    add("equal", 100000, [](size_t) { return 0x3f80u; }); // its codes need 2 bits
    add("zeros", 70000,
        [](size_t i) { return i % 50 == 0 ? 0x3f80u + uint32_t(i % 512) : 0x8000u; });
    // Half of the elements are 0.
    add("runs", 200000, [](size_t i) { return i < 100000 ? 0u : 0x3f80u + uint32_t(i % 64 << 7); });
    // Subnormal numbers.
    add("lowest", 500, [](size_t i) { return uint32_t(i % 128); });
    add("highest", 999, [](size_t i) { return 239u << 7 | uint32_t(i % 128); });
    add("all", 2400, [](size_t i) { return uint32_t(i % 240) << 7; });
    folder.write("m.safetensors", model);
    packAndBack(folder, "-c df11", 7);
    CHECK((folder.errors() == ""));

    // Tensors with exponents that the format cannot hold stay plain, which is reported. Other
    // tensors with such names then get patterns of their own.
    add("layer.0", 300, [](size_t i) { return i == 77 ? 0x7f80u : 0x3f80u; });
    add("layer.1", 300, [](size_t) { return 0x3f80u; });
    model.add("empty.weight", "BF16", {0, 4}, "");
    folder.write("m.safetensors", model);
    REQUIRE(folder("pack -f --raw -c df11 m.safetensors -o out/p.safetensors") == 0);
    CHECK((
        folder.errors() ==
        "sluice: 'layer.0' stays plain: an exponent of 240 or more, which DFloat11 cannot hold\n"));
    CHECK(contains(folder.read("out/config.json"), "\"layer\\\\.1\": []"));
    packAndBack(folder, "-c df11 -q", 8);

    CHECK(folder("pack -c df11 m.safetensors -o x") == 1);
    CHECK(folder("pack --raw -c huff m.safetensors -o x") == 1);
    CHECK(folder("pack --group a m.safetensors -o x") == 1);
    CHECK(folder("pack --raw -c df11 --group '(a' m.safetensors -o x") == 1);
    CHECK(folder("pack --raw -c df11 m.safetensors m.safetensors -o x") == 1);
    folder.write("text", "no safetensors");
    CHECK(folder("pack -f --raw -c df11 text -o x") == 3);
}

TEST_CASE(
    "tool weights: blocks that pack -c df11 makes fit into the reference kernel's shared memory")
{
    const Folder folder("out");
    // Long runs of one exponent are among others. A code of 1 bit would give some blocks 32,768
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
    folder.write("m.safetensors", model);
    packAndBack(folder, "-c df11", 1);
    const std::string packed = folder.read("out/p.safetensors");
    uint64_t dataOffset = 0;
    for (const SafetensorsTensor& tensor : parseModel(packed, dataOffset).tensors) {
        if (tensor.name != "a.output_positions") continue;
        std::vector<uint32_t> positions(tensor.size() / 4);
        std::memcpy(positions.data(), packed.data() + dataOffset + tensor.begin, tensor.size());
        for (size_t i = 1; i < positions.size(); ++i)
            CHECK(512 * 4 + 4 + 2 * (positions[i] - positions[i - 1]) <= 48 * 1024);
        return;
    }
    FAIL("no positions");
}
