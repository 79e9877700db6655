// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the header of .safetensors files: what is read, what is written, what is refused and with
// which words.
#include "formats/safetensors.h"

#include "tests/support/devices.h"

using namespace sluice;
using namespace sluice::test;

namespace {

struct Parsed {
    SluiceStatus status = SLUICE_OK;
    SafetensorsHeader header;
    std::string error;
};

Parsed parse(const std::string& json, uint64_t dataSize)
{
    Parsed result;
    result.status = parseSafetensors(json, dataSize, result.header, result.error);
    return result;
}

// Returns the error of parsing a header; "" if it is accepted.
std::string errorOf(const std::string& json, uint64_t dataSize = 0)
{
    const Parsed result = parse(json, dataSize);
    CHECK((result.status == SLUICE_OK) == result.error.empty());
    return result.error;
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets)
{
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape +
           "],\"data_offsets\":[" + offsets + "]}";
}

} // namespace

TEST_CASE("safetensors: a header is read as it stands")
{
    const Parsed result =
        parse("{ \"z\":{\"shape\":[2,3],\"data_offsets\":[8,20],\"dtype\":\"BF16\"},\n"
              "\"__metadata__\":{\"format\":\"pt\",\"a\\u0041\":\"\"}," +
                  tensor("a", "I64", "", "0,8") + "," + tensor("e", "F32", "0,9", "20,20") + "}   ",
              20);
    REQUIRE(result.status == SLUICE_OK);
    REQUIRE(result.header.tensors.size() == 3);
    const SafetensorsTensor& first = result.header.tensors[0];
    CHECK(first.name == "z");
    CHECK(first.dtype == "BF16");
    CHECK(first.shape == std::vector<uint64_t>{2, 3});
    CHECK(first.begin == 8);
    CHECK(first.size() == 12);
    CHECK(result.header.tensors[1].name == "a");
    CHECK(result.header.tensors[1].shape.empty());
    CHECK(result.header.hasMetadata);
    const std::vector<std::pair<std::string, std::string>> metadata = {{"format", "pt"},
                                                                       {"aA", ""}};
    CHECK(result.header.metadata == metadata);
    CHECK(errorOf("{}") == "");
    CHECK(errorOf("{\"__metadata__\":{}}") == "");
    CHECK(errorOf("{" + tensor("four", "F4", "6", "0,3") + "," +
                      tensor("six", "F6_E2M3", "4", "3,6") + "}",
                  6) == "");
}

TEST_CASE("safetensors: what is written is read back")
{
    SafetensorsHeader header;
    header.hasMetadata = true;
    header.metadata = {{"format", "pt"}, {"quote \" and \n", "\xc3\xa9"}};
    header.tensors = {{"b.weight", "BF16", {3, 5}, 0, 0},
                      {"a \\ \"", "F8_E4M3", {7}, 0, 0},
                      {"none", "F32", {0, 4}, 0, 0}};
    std::string start, error;
    REQUIRE(makeSafetensors(header, start, error) == SLUICE_OK);
    CHECK(start.size() % 8 == 0);
    CHECK(header.tensors[1].begin == 30);
    CHECK(header.tensors[2].end == 37);
    uint64_t size = 0;
    REQUIRE(readSafetensorsSize(reinterpret_cast<const uint8_t*>(start.data()), start.size() + 37,
                                size, error) == SLUICE_OK);
    CHECK(size + 8 == start.size());
    const Parsed result = parse(start.substr(8), 37);
    REQUIRE(result.error == "");
    CHECK(result.header.metadata == header.metadata);
    REQUIRE(result.header.tensors.size() == 3);
    for (size_t i = 0; i < 3; ++i) {
        CHECK(result.header.tensors[i].name == header.tensors[i].name);
        CHECK(result.header.tensors[i].shape == header.tensors[i].shape);
        CHECK(result.header.tensors[i].end == header.tensors[i].end);
    }

    header.tensors[2].name = "b.weight";
    CHECK(makeSafetensors(header, start, error) == SLUICE_ERROR_ARGUMENT);
    CHECK(error == "tensor 'b.weight' stands twice in the header");
    header.tensors[2] = {"c", "", {1}, 0, 0};
    CHECK(makeSafetensors(header, start, error) == SLUICE_ERROR_ARGUMENT);
    header.tensors[2] = {"c", "U8", {uint64_t(1) << 40, uint64_t(1) << 40}, 0, 0};
    CHECK(makeSafetensors(header, start, error) == SLUICE_ERROR_ARGUMENT);
    CHECK(error == "tensor 'c' has no dtype or size that a file can hold");
    header.tensors[2] = {"\xff", "U8", {1}, 0, 0};
    CHECK(makeSafetensors(header, start, error) == SLUICE_ERROR_ARGUMENT);
    CHECK(error == "a name is not UTF-8");
}

TEST_CASE("safetensors: a tensor of a dtype that is not known has the bytes that its offsets say")
{
    const std::string json = "{" + tensor("a", "BF16", "2", "0,4") + "," +
                             tensor("b", "F8_E4M3FNUZ", "3,5", "4,11") + "," +
                             tensor("c", "U8", "2", "11,13") + "}";
    const Parsed result = parse(json, 13);
    REQUIRE(result.error == "");
    SafetensorsHeader header = result.header;
    CHECK(header.tensors[1].dtype == "F8_E4M3FNUZ");
    CHECK(header.tensors[1].size() == 7);
    CHECK(errorOf(json, 12) == "tensor 'c' reaches past the end of the file");
    std::swap(header.tensors[0], header.tensors[1]); // written in another order, it keeps its size
    std::string start, error;
    REQUIRE(makeSafetensors(header, start, error) == SLUICE_OK);
    CHECK(header.tensors[0].end == 7);
    CHECK(header.tensors[1].begin == 7);
    CHECK(parse(start.substr(8), 13).error == "");
    for (const char* dtype : {"BOOL", "U8",      "I8",      "F8_E4M3", "F8_E5M2", "F8_E8M0", "F4",
                              "U16",  "F6_E2M3", "F6_E3M2", "I16",     "F16",     "BF16",    "U32",
                              "I32",  "F32",     "U64",     "I64",     "F64",     "C64"})
        CHECK_MESSAGE(safetensorsBits(dtype) != 0, dtype);
}

TEST_CASE("safetensors: the size in front")
{
    uint8_t bytes[8] = {2};
    uint64_t size = 0;
    std::string error;
    CHECK(readSafetensorsSize(bytes, 10, size, error) == SLUICE_OK);
    CHECK(size == 2);
    CHECK(readSafetensorsSize(bytes, 9, size, error) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(error == "the file is cut off");
    CHECK(readSafetensorsSize(bytes, 7, size, error) == SLUICE_ERROR_BUFFER_SIZE);
    bytes[7] = 0x80;
    CHECK(readSafetensorsSize(bytes, ~uint64_t(0), size, error) == SLUICE_ERROR_FORMAT);
    CHECK(error == "the header is larger than 100,000,000 bytes");
    const uint8_t most[8] = {0x01, 0xe1, 0xf5, 0x05}; // one more than allowed
    CHECK(readSafetensorsSize(most, ~uint64_t(0), size, error) == SLUICE_ERROR_FORMAT);
    CHECK(errorOf(std::string(100'000'001, ' ')) == "the header is larger than 100,000,000 bytes");
}

TEST_CASE("safetensors: what is refused, in its words")
{
    const std::string one = tensor("a", "U8", "4", "0,4");
    CHECK(errorOf("", 0) == "the header does not start with '{'");
    CHECK(errorOf(" {}", 0) == "the header does not start with '{'");
    CHECK(errorOf("{" + one, 4) ==
          "the header is no JSON, at byte " + std::to_string(one.size() + 2));
    CHECK(errorOf("{}x", 0) == "the header is no JSON, at byte 3");
    CHECK(errorOf("{\"\xff\":1}", 0) == "the header is no JSON, at byte 3");
    CHECK(errorOf("{\"a\":1}", 0) == "a number stands as the value of 'a'");
    CHECK(errorOf("{\"a\":[1]}", 0) == "an array stands as the value of 'a'");
    CHECK(errorOf("{\"a\x7f\\n\":null}", 0) == "a null stands as the value of 'a?\?'");
    CHECK(errorOf("{\"__metadata__\":{\"a\":{}}}", 0) == "an object stands in __metadata__");
    CHECK(errorOf("{\"__metadata__\":{\"a\":1}}", 0) == "a number stands in __metadata__");
    CHECK(errorOf("{\"__metadata__\":{},\"__metadata__\":{}}", 0) ==
          "__metadata__ stands twice in the header");
    CHECK(errorOf("{" + one + "," + one + "}", 4) == "tensor 'a' stands twice in the header");
    CHECK(errorOf("{\"a\":{\"shape\":[4],\"data_offsets\":[0,4]}}", 4) == "tensor 'a' lacks dtype");
    CHECK(errorOf("{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,4]}}", 4) ==
          "tensor 'a' lacks shape");
    CHECK(errorOf("{\"a\":{\"dtype\":\"U8\",\"shape\":[4]}}", 4) ==
          "tensor 'a' lacks data_offsets");
    CHECK(errorOf("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 4) ==
          "tensor 'a' has dtype twice");
    CHECK(errorOf("{\"a\":{\"shape\":[],\"shape\":[]}}", 4) == "tensor 'a' has shape twice");
    CHECK(errorOf("{\"a\":{\"data_offsets\":[0,4],\"data_offsets\":[0,4]}}", 4) ==
          "tensor 'a' has data_offsets twice");
    CHECK(errorOf("{\"a\":{\"stride\":[1]}}", 4) == "tensor 'a' has the unknown field 'stride'");
    CHECK(errorOf("{" + tensor("a", "", "4", "0,4") + "}", 4) ==
          "tensor 'a' has a dtype of 0 bytes; 1 to 64 are allowed");
    CHECK(errorOf("{" + tensor("a", std::string(65, 'U'), "4", "0,4") + "}", 4) ==
          "tensor 'a' has a dtype of 65 bytes; 1 to 64 are allowed");
    // A byte of 0 ends the text for the JSON parser, but not the header.
    CHECK(errorOf("{" + one + "}" + std::string(1, '\0') + "{}", 4) ==
          "the header has a byte of 0 at byte " + std::to_string(one.size() + 2) +
              ", which JSON does not allow");
    CHECK(errorOf(std::string("{\0}", 3), 0) ==
          "the header has a byte of 0 at byte 1, which JSON does not allow");
    CHECK(errorOf("{\"a\":{\"dtype\":7}}", 4) == "a number stands in tensor 'a'");
    CHECK(errorOf("{\"a\":{\"shape\":\"4\"}}", 4) == "a string stands in tensor 'a'");
    CHECK(errorOf("{\"a\":{\"shape\":{}}}", 4) == "an object stands in tensor 'a'");
    CHECK(errorOf("{\"a\":{\"shape\":[[4]]}}", 4) == "an array stands in tensor 'a'");
    CHECK(errorOf("{\"a\":{\"shape\":[true]}}", 4) == "a boolean stands in tensor 'a'");
    CHECK(errorOf("{" + tensor("a", "U8", "-4", "0,4") + "}", 4) ==
          "a negative number stands in tensor 'a'");
    CHECK(errorOf("{" + tensor("a", "U8", "4.0", "0,4") + "}", 4) ==
          "a fraction or a number past 2^64 stands in tensor 'a'");
    CHECK(errorOf("{" + tensor("a", "U8", "18446744073709551616", "0,4") + "}", 4) ==
          "a fraction or a number past 2^64 stands in tensor 'a'");
    CHECK(errorOf("{" + tensor("a", "U8", "4", "0") + "}", 4) ==
          "tensor 'a' does not have two data_offsets");
    CHECK(errorOf("{" + tensor("a", "U8", "4", "0,4,4") + "}", 4) ==
          "tensor 'a' does not have two data_offsets");
    CHECK(errorOf("{" + tensor("a", "U8", "4", "4,0") + "}", 4) ==
          "tensor 'a' has data_offsets that run backwards");
    CHECK(errorOf("{" + tensor("a", "U8", "5", "0,4") + "}", 4) ==
          "tensor 'a' has a shape that its data_offsets contradict");
    const char* size = "tensor 'a' has a shape whose size overflows or is no whole byte";
    CHECK(errorOf("{" + tensor("a", "U8", "4294967296,4294967296", "0,0") + "}") == size);
    CHECK(errorOf("{" + tensor("a", "U32", "4611686018427387904", "0,0") + "}") == size);
    CHECK(errorOf("{" + tensor("a", "F4", "3", "0,2") + "}", 2) == size);
    std::string rank = "1";
    for (int i = 0; i < 64; ++i)
        rank += ",1";
    CHECK(errorOf("{" + tensor("a", "U8", rank, "0,1") + "}", 1) ==
          "tensor 'a' has more than 64 dimensions");
    CHECK(parse("{" + one + "}", 3).status == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(errorOf("{" + one + "}", 3) == "tensor 'a' reaches past the end of the file");
    CHECK(errorOf("{" + one + "}", 5) == "there are bytes after the last tensor");
    CHECK(errorOf("{" + tensor("b", "U8", "4", "3,7") + "," + one + "}", 7) ==
          "tensor 'b' overlaps another one");
    CHECK(errorOf("{" + tensor("b", "U8", "4", "5,9") + "," + one + "}", 9) ==
          "tensor 'b' has unused bytes before it");
    CHECK(errorOf("{" + one + "," + tensor("b", "U8", "4", "0,4") + "}", 4).find("overlaps") !=
          std::string::npos);
    CHECK(errorOf("{\"" + std::string(300, 'x') + "\":1}") ==
          "a number stands as the value of '" + std::string(200, 'x') + "...'");
}

TEST_CASE("safetensors: nesting has no depth to go to")
{
    const std::string deep(5'000'000, '[');
    CHECK(errorOf("{\"a\":" + deep) == "an array stands as the value of 'a'");
    CHECK(errorOf("{\"a\":{\"shape\":" + deep) == "an array stands in tensor 'a'");
    std::string objects;
    for (int i = 0; i < 1'000'000; ++i)
        objects += "{\"a\":";
    CHECK(errorOf(objects) == "tensor 'a' has the unknown field 'a'");
}

TEST_CASE("safetensors: mutated headers")
{
    std::mt19937 random = makeRandom(81);
    const std::string good = "{\"__metadata__\":{\"format\":\"pt\"}," +
                             tensor("a.luts", "U8", "2,256", "0,512") + "," +
                             tensor("a.gaps", "U8", "320", "512,832") + "," +
                             tensor("b", "BF16", "3,4", "832,856") + "}";
    REQUIRE(errorOf(good, 856) == "");
    const char symbols[] = "{}[],:\"\\0123456789abcdtse_. -+truefalsn\x00\x7f\xff";
    const uint32_t total = environmentNumber("SLUICE_MUTATIONS", 10000);
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < total; ++i) {
        std::string json = good;
        for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
            const size_t at = random() % json.size();
            const char symbol = symbols[random() % (sizeof symbols - 1)];
            switch (random() % 4) {
            case 0: json.erase(at, 1 + random() % 20); break;
            case 1: json.insert(at, 1, symbol); break;
            case 2: json.insert(at, json.substr(random() % json.size(), random() % 60)); break;
            default: json[at] = symbol; break;
            }
            if (json.empty()) json = "{";
        }
        const Parsed result = parse(json, 856);
        CHECK((result.status == SLUICE_OK) == result.error.empty());
        if (result.status != SLUICE_OK) continue;
        ++accepted;
        uint64_t sum = 0;
        for (const SafetensorsTensor& parsed : result.header.tensors) {
            CHECK((parsed.begin <= parsed.end && parsed.end <= 856));
            sum += parsed.size();
        }
        CHECK(sum == 856);
    }
    CHECK(accepted < total);
    if (total >= 100) CHECK(accepted > 0);
}
