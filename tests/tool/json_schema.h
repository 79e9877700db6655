// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of JSON Schema that docs/reports/schema.json uses: type, enum, required, properties,
// additionalProperties, items, and $ref to #/$defs/NAME.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::test {

// Returns what is wrong, a line each: "devices[0].name: is no string". A schema with other words in
// it is wrong too.
std::vector<std::string> schemaErrors(const nlohmann::json& schema, const nlohmann::json& value);

} // namespace sluice::test
