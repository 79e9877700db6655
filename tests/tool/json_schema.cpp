// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/tool/json_schema.h"
#include "test_paths.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace sluice::test {
namespace {

using Json = nlohmann::json;

class Validator {
public:
    explicit Validator(const Json& schema) : m_schema(schema) {}

    void check(const Json& schema, const Json& value, const std::string& place)
    {
        for (const auto& [word, wanted] : schema.items())
            checkWord(schema, word, wanted, value, place);
    }

    std::vector<std::string> errors;

private:
    static bool isOf(const Json& value, const std::string& type)
    {
        return type == "integer"   ? value.is_number_integer()
               : type == "number"  ? value.is_number()
               : type == "string"  ? value.is_string()
               : type == "boolean" ? value.is_boolean()
               : type == "array"   ? value.is_array()
                                   : type == "object" && value.is_object();
    }

    void checkWord(const Json& schema, const std::string& word, const Json& wanted,
                   const Json& value, const std::string& place)
    {
        const auto fail = [&](const std::string& what) { errors.push_back(place + ": " + what); };
        if (word == "type") {
            const Json types = wanted.is_array() ? wanted : Json::array({wanted});
            if (std::none_of(types.begin(), types.end(),
                             [&](const Json& type) { return isOf(value, type); }))
                fail("is not of type " + wanted.dump());
        } else if (word == "enum") {
            if (std::find(wanted.begin(), wanted.end(), value) == wanted.end())
                fail(value.dump() + " is none of " + wanted.dump());
        } else if (word == "required") {
            for (const Json& name : wanted)
                if (!value.is_object() || !value.contains(name.get<std::string>()))
                    fail("has no " + name.dump());
        } else if (word == "items") {
            for (size_t i = 0; value.is_array() && i < value.size(); ++i)
                check(wanted, value[i], place + "[" + std::to_string(i) + "]");
        } else if (word == "properties") {
            for (const auto& [name, inner] : wanted.items())
                if (value.is_object() && value.contains(name))
                    check(inner, value.at(name), place + "." + name);
        } else if (word == "additionalProperties") {
            const Json known = schema.value("properties", Json::object());
            for (const auto& [name, inner] : value.items()) {
                if (known.contains(name)) continue;
                if (wanted == false)
                    fail("has " + name + ", which the schema does not name");
                else
                    check(wanted, inner, place + "." + name);
            }
        } else if (word == "$ref") {
            // The part after "#/$defs/".
            const std::string name = wanted.get<std::string>().substr(8);
            check(m_schema.at("$defs").at(name), value, place);
        } else if (word != "$schema" && word != "$defs" && word != "title") {
            fail("the schema has " + word + ", which is not checked");
        }
    }

    const Json& m_schema;
};

} // namespace

std::vector<std::string> schemaErrors(const nlohmann::json& schema, const nlohmann::json& value)
{
    Validator validator(schema);
    validator.check(schema, value, "report");
    return validator.errors;
}

namespace {

std::string documentText(const std::string& path)
{
    std::ifstream file(SLUICE_TEST_DATA_DIR "/../../docs/" + path, std::ios::binary);
    REQUIRE_MESSAGE(file, path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

} // namespace

Json schemaOf(const char* path) { return Json::parse(documentText(path)); }

Json checkedJson(const char* schema, const std::string& text)
{
    const Json json = Json::parse(text, nullptr, false);
    REQUIRE_FALSE(json.is_discarded());
    for (const std::string& error : schemaErrors(schemaOf(schema), json))
        CHECK_MESSAGE(false, error);
    return json;
}

void checkMembersListed(const char* verb, const Json& object)
{
    const std::string page = documentText("tool.md");
    const size_t begin = page.find(std::string("\n## ") + verb + "\n");
    REQUIRE(begin != std::string::npos);
    const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
    for (const auto& member : object.at("properties").items())
        CHECK_MESSAGE(section.find("`" + member.key() + "`") != std::string::npos, member.key());
}

} // namespace sluice::test
