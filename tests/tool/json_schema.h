// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the part of JSON Schema that the schemas in docs use: type, enum, required,
// properties, additionalProperties, items, and $ref to #/$defs/NAME.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::test {

// Returns what is wrong, such as "devices[0].name: is no string". A schema with other words is
// wrong, too.
std::vector<std::string> schemaErrors(const nlohmann::json& schema, const nlohmann::json& value);

// Checks that a text is JSON that keeps to a schema in docs, such as "schemas/bench.json".
// Returns it.
nlohmann::json checkedJson(const char* schema, const std::string& text);
// Checks that the section on `verb` in docs/tool.md names each member of an object of the schema.
void checkMembersListed(const char* verb, const nlohmann::json& object);
nlohmann::json schemaOf(const char* path); // below docs

} // namespace sluice::test
